//! Runs the same work for many jobs on all cores.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Runs `work` on each job and returns the results in the order of the jobs, so they do not depend
/// on the number of cores. Each job runs on one thread; the current thread takes part.
pub(crate) fn in_order<T: Sync, R: Send>(jobs: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else {
                return done;
            };
            done.push((at, work(job)));
        }
    };
    let mut found: Vec<(usize, R)> = thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, take);
        // If a thread cannot be started, the remaining threads do its share.
        let others: Vec<_> = (1..threads(jobs.len(), cores)).flat_map(start).collect();
        let mut found = take();
        for other in others {
            found.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        found
    });
    found.sort_unstable_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, result)| result).collect()
}

/// The fewest threads that keep every core busy until the last of equal jobs ends: three for five
/// jobs on two cores, since two threads would leave one core idle during the fifth job.
fn threads(jobs: usize, cores: usize) -> usize {
    let rounds = (jobs / cores).max(1);
    jobs.div_ceil(rounds)
}

/// Runs two pieces of work on two threads, or one after the other if a thread cannot be started.
pub(crate) fn both<A: Send, B>(one: impl Fn() -> A + Sync, other: impl FnOnce() -> B) -> (A, B) {
    thread::scope(
        |scope| match thread::Builder::new().spawn_scoped(scope, &one) {
            Ok(started) => {
                let other = other();
                let one = started.join();
                (one.unwrap_or_else(|panic| resume_unwind(panic)), other)
            }
            Err(_) => (one(), other()),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..1_000).collect();
        let squares: Vec<u64> = jobs.iter().map(|x| x * x).collect();
        assert_eq!(in_order(&jobs, |x| x * x), squares);
        assert!(in_order(&[], |x: &u64| *x).is_empty());
    }

    #[test]
    fn no_core_is_idle_during_the_last_of_equal_jobs() {
        let cases = [
            ((0, 2), 0),
            ((1, 2), 1),
            ((5, 2), 3),
            ((6, 2), 2),
            ((1_000, 2), 2),
            ((3, 8), 3),
            ((9, 8), 9),
        ];
        for ((jobs, cores), expected) in cases {
            assert_eq!(threads(jobs, cores), expected, "{jobs} on {cores}");
        }
    }

    #[test]
    fn both_results_come_in_order() {
        assert_eq!(both(|| 1, || "two"), (1, "two"));
    }

    #[test]
    #[should_panic(expected = "job 3")]
    fn a_job_that_panics_is_not_left_out() {
        in_order(&[1, 2, 3, 4], |job| assert_ne!(*job, 3, "job 3"));
    }
}
