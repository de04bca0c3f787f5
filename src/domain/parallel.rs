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
        let others: Vec<_> = (1..cores.min(jobs.len())).flat_map(start).collect();
        let mut found = take();
        for other in others {
            found.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        found
    });
    found.sort_unstable_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, result)| result).collect()
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
    #[should_panic(expected = "job 3")]
    fn a_job_that_panics_is_not_left_out() {
        in_order(&[1, 2, 3, 4], |job| assert_ne!(*job, 3, "job 3"));
    }
}
