//! Locks that outlive a panic of whoever held them.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks; what a thread that panicked left behind is a number or a queue, each change of which is whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
