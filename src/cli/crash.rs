//! Reports panics, and whether the project's file is the cause.

use super::command::{CommandFailure, CommandResult};
use crate::domain::caught_panic::panic_message;
use crate::store::{Store, StoreError};
use anyhow::anyhow;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Message and location of the latest panic.
static LATEST: Mutex<String> = Mutex::new(String::new());

/// Sends panics to the log instead of the terminal. With `RUST_BACKTRACE` set, they are also
/// printed.
fn log_panics() {
    let print = panic::take_hook();
    let is_printed = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    panic::set_hook(Box::new(move |info| {
        let text = panic_message(info.payload());
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(%place, "panic: {text}");
        *LATEST.lock().unwrap_or_else(PoisonError::into_inner) = format!("{text} ({place})");
        if is_printed {
            print(info);
        }
    }));
}

/// Runs a command, turning a panic into an error; inconsistent rows can cause one.
pub(crate) fn caught(project: &Path, command: impl FnOnce() -> CommandResult) -> CommandResult {
    log_panics();
    panic::catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|_| Err(explained(project)))
}

fn explained(project: &Path) -> CommandFailure {
    // The cause of the panic may make this check panic too.
    let damage = panic::catch_unwind(|| {
        Store::open_existing(project).and_then(|store| store.read_blocking(|db| db.integrity()))
    });
    match damage.unwrap_or_else(|_| Err(StoreError::Closed)) {
        Ok(found) if found.damage.is_empty() => {}
        Ok(found) => return StoreError::Corrupt(found.damage.join("; ")).into(),
        Err(error @ StoreError::Corrupt(_)) => return error.into(),
        // There is no project, or nothing is known about it.
        Err(_) => {}
    }
    let text = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    anyhow!(
        "internal error: {text}; what was confirmed is kept. Please report this with the command"
    )
    .into()
}
