//! The panic hook: on the interface's thread, it restores the terminal before printing; on other
//! threads, it reports the panic and leaves the interface running.

use std::any::Any;
use std::panic::{self, PanicHookInfo};
use std::thread::{self, ThreadId};

/// A panic in a thread that does not own the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerPanic {
    pub thread: String,
    pub message: String,
    /// File, line and column.
    pub location: String,
}

enum Route {
    /// Restore the terminal, then print.
    Restore,
    /// Report to the interface; the screen stays.
    Report,
    /// The terminal is not in use: print as usual.
    Print,
}

fn route(ui: ThreadId, current: ThreadId, active: bool) -> Route {
    match (active, ui == current) {
        (true, true) => Route::Restore,
        (true, false) => Route::Report,
        (false, _) => Route::Print,
    }
}

fn message(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
        .into()
}

fn describe(info: &PanicHookInfo<'_>) -> WorkerPanic {
    WorkerPanic {
        thread: thread::current().name().unwrap_or("unnamed").into(),
        message: message(info.payload()),
        location: info.location().map(ToString::to_string).unwrap_or_default(),
    }
}

/// Installs the hook; call it on the interface's thread before the terminal is set up.
///
/// `report` runs on the panicking thread and must not block: send on a channel with free capacity,
/// or drop the report.
pub fn install_panic_hook(report: impl Fn(WorkerPanic) + Send + Sync + 'static) {
    let ui = thread::current().id();
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        match route(ui, thread::current().id(), super::is_active()) {
            Route::Restore => {
                let _ = super::restore();
                print(info);
            }
            Route::Report => report(describe(info)),
            Route::Print => print(info),
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_interface_thread_touches_the_terminal() {
        let ui = thread::current().id();
        let other = thread::spawn(|| thread::current().id()).join().unwrap();
        assert!(matches!(route(ui, ui, true), Route::Restore));
        assert!(matches!(route(ui, other, true), Route::Report));
        assert!(matches!(route(ui, other, false), Route::Print));
        assert!(matches!(route(ui, ui, false), Route::Print));
    }

    #[test]
    fn both_kinds_of_message_are_read() {
        assert_eq!(message(&"plain"), "plain");
        assert_eq!(message(&String::from("formatted")), "formatted");
        assert_eq!(message(&7), "no message");
    }
}
