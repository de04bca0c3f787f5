//! Runs the same work for many queries on many threads.

use crate::app::error::AppError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Runs the work of every query; one result per query, in order. `progress` receives the number of
/// finished queries. By default, there is one thread per processor.
pub(super) fn every<T: Send>(
    queries: usize,
    threads: Option<usize>,
    progress: &mut dyn FnMut(usize),
    work: impl Fn(usize) -> Result<T, AppError> + Sync,
) -> Result<Vec<T>, AppError> {
    let available = || thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or_else(available);
    let next = AtomicUsize::new(0);
    let mut results: Vec<Option<T>> = (0..queries).map(|_| None).collect();
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..threads.min(queries) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= queries || sender.send((index, work(index))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (done, (index, result)) in receiver.into_iter().enumerate() {
            results[index] = Some(result?);
            progress(done + 1);
        }
        Ok::<(), AppError>(())
    })?;
    let results: Option<Vec<T>> = results.into_iter().collect();
    let unfinished = || AppError::Failed("a simulation ended unexpectedly".to_owned());
    results.ok_or_else(unfinished)
}
