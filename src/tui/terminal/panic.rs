//! The panic hook: the interface's thread gives the terminal back before it speaks; other threads report and let the
//! interface stay up.

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
    /// Tell the interface; the screen stays.
    Report,
    /// Nobody holds the terminal: print as usual.
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
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").into()
}

fn describe(info: &PanicHookInfo<'_>) -> WorkerPanic {
    WorkerPanic {
        thread: thread::current().name().unwrap_or("unnamed").into(),
        message: message(info.payload()),
        location: info.location().map(ToString::to_string).unwrap_or_default(),
    }
}

/// Installs the hook; call it on the interface's thread, before the terminal is taken.
///
/// `report` runs on the panicking thread and must not block: send on a channel with room, or drop.
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
