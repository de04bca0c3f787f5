//! Signals end the program whatever the terminal does, and a program that was stopped and continued
//! has its screen again.

use super::fake_provider::FakeProvider;
use super::leaving::{assert_nothing_lost, running};
use super::{Terminal, demo};
use portable_pty::PtySize;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A stalled terminal is waited for a second at most; the rest is patience with a busy machine.
const PROMPTLY: Duration = Duration::from_secs(10);

impl Terminal {
    /// Reads no more and has the program draw until its terminal is full.
    fn stall(&self) {
        self.held.store(true, Ordering::SeqCst);
        let name = self.master.tty_name().unwrap();
        let full = || {
            let tty = rustix::fs::open(
                &name,
                rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NOCTTY,
                rustix::fs::Mode::empty(),
            );
            let tty = tty.unwrap();
            let mut watched = [rustix::event::PollFd::new(
                &tty,
                rustix::event::PollFlags::OUT,
            )];
            let timeout = rustix::event::Timespec {
                tv_sec: 0,
                tv_nsec: 5_000_000,
            };
            rustix::event::poll(&mut watched, Some(&timeout)).unwrap() == 0
        };
        for cols in (119..121).cycle() {
            let size = PtySize {
                rows: 40,
                cols,
                pixel_width: 0,
                pixel_height: 0,
            };
            self.master.resize(size).unwrap();
            // Twice: a frame that is on its way may find room once more.
            if full() && full() {
                return;
            }
        }
    }

    fn has_ended_within(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    /// What `stty` says, given `arguments`.
    fn stty(&self, arguments: &[&str]) -> String {
        let tty = std::fs::File::open(self.master.tty_name().unwrap()).unwrap();
        let done = Command::new("stty")
            .args(arguments)
            .stdin(Stdio::from(tty))
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    fn is_raw(&self) -> bool {
        self.stty(&["-a"]).contains("-icanon")
    }

    fn wait_for(&self, what: &str, mut enough: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + super::PATIENCE;
        while !enough(self) {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn is_stopped(&self) -> bool {
        let id = self.child.process_id().unwrap().to_string();
        let done = Command::new("ps")
            .args(["-o", "stat=", "-p", &id])
            .output()
            .unwrap();
        done.stdout.starts_with(b"T")
    }
}

#[test]
fn signals_end_the_program_while_its_terminal_takes_no_output() {
    for signal in ["TERM", "HUP", "INT", "QUIT"] {
        let folder = tempfile::tempdir().unwrap();
        let mut terminal = demo(folder.path(), &[], (120, 40));
        terminal.stall();
        terminal.signal(signal);
        assert!(terminal.has_ended_within(PROMPTLY), "{signal}");
        assert!(!terminal.is_raw(), "{signal}");
    }
}

#[test]
fn a_run_ends_with_its_answers_stored_while_the_terminal_takes_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let server = FakeProvider::start();
    // The run is still under way when the terminal takes no more output.
    server.set_latency(Duration::from_secs(2));
    let mut terminal = running(folder.path(), &server);
    terminal.stall();
    terminal.signal("TERM");
    assert!(terminal.has_ended_within(PROMPTLY));
    assert_nothing_lost(folder.path(), &server);
}

#[test]
fn a_program_that_was_stopped_from_outside_takes_the_terminal_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = demo(folder.path(), &[], (120, 40));
    for signal in ["TSTP", "STOP"] {
        terminal.wait_for("raw mode", Terminal::is_raw);
        terminal.signal(signal);
        terminal.wait_for("stopped", Terminal::is_stopped);
        if signal == "TSTP" {
            assert!(!terminal.is_raw(), "SIGTSTP leaves raw mode on");
            let left = |terminal: &Terminal| !terminal.parser.screen().alternate_screen();
            assert!(terminal.until(left));
            terminal.assert_clean();
        } else {
            // As a shell does that finds its job stopped.
            terminal.stty(&["sane"]);
        }
        terminal.raw.clear();
        terminal.parser = vt100::Parser::new(40.try_into().unwrap(), 120.try_into().unwrap(), 0);
        terminal.signal("CONT");
        terminal.wait("scifact-641");
        assert!(terminal.parser.screen().alternate_screen());
        assert!(terminal.parser.screen().bracketed_paste());
        assert!(terminal.parser.screen().hide_cursor());
        terminal.wait_for("raw mode", Terminal::is_raw);
        terminal.keys("?");
        terminal.wait("↓ more");
        terminal.keys("\x1b");
        terminal.wait_gone("↓ more");
    }
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);
    terminal.assert_clean();
}

#[test]
fn a_stopped_program_can_be_ended() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = demo(folder.path(), &[], (120, 40));
    terminal.signal("TSTP");
    terminal.wait_for("stopped", Terminal::is_stopped);
    terminal.signal("TERM");
    terminal.signal("CONT");
    terminal.end();
    terminal.assert_clean();
}
