//! Panics as errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The message of a panic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CaughtPanic(pub String);

/// Runs `work` and catches panics.
///
/// # Errors
/// The panic message.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, CaughtPanic> {
    // State that a panic leaves inconsistent is dropped with the error and never used again.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| CaughtPanic(panic_message(panic.as_ref())))
}

pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}
