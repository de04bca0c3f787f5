//! The terminal as a resource: enabled modes are recorded, and exactly those are disabled again on
//! drop, on a panic of the interface's thread, and for a suspension.

mod backend;
mod background;
mod clusters;
mod depth;
mod loss;
mod output;
mod panic;

use std::io::{self, Write};
use std::sync::atomic::{AtomicU8, Ordering};

use backend::FrugalBackend;
use clusters::Clusters;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{Command, execute, queue};
use ratatui::{Frame, Terminal};

pub use background::{Background, ReplyFilter, detect_background};
pub use depth::detect_depth;
pub use loss::{is_loss, is_lost};
pub use output::{is_idle, print_line, silence, written};
pub use panic::install_panic_hook;

use super::theme::ColorDepth;
use output::Output;

const RAW: u8 = 1;
const SCREEN: u8 = 1 << 1;
const PASTE: u8 = 1 << 2;
const MOUSE: u8 = 1 << 3;
const CURSOR: u8 = 1 << 4;

/// The currently enabled modes. This is global because the terminal is, and because the panic hook
/// needs it.
static ACTIVE: AtomicU8 = AtomicU8::new(0);

fn write_enter(out: &mut impl Write, modes: u8) -> io::Result<()> {
    if modes & SCREEN != 0 {
        queue!(out, EnterAlternateScreen)?;
    }
    if modes & PASTE != 0 {
        queue!(out, EnableBracketedPaste)?;
    }
    if modes & MOUSE != 0 {
        queue!(out, EnableMouseCapture)?;
    }
    if modes & CURSOR != 0 {
        queue!(out, Hide)?;
    }
    out.flush()
}

fn write_leave(out: &mut impl Write, modes: u8) -> io::Result<()> {
    // A panic inside a frame leaves a synchronized update open, and the terminal frozen.
    queue!(out, EndSynchronizedUpdate)?;
    if modes & MOUSE != 0 {
        queue!(out, DisableMouseCapture)?;
    }
    if modes & PASTE != 0 {
        queue!(out, DisableBracketedPaste)?;
    }
    if modes & SCREEN != 0 {
        queue!(out, LeaveAlternateScreen)?;
    }
    if modes & CURSOR != 0 {
        queue!(out, Show)?;
    }
    out.flush()
}

fn switch_on(modes: u8) -> io::Result<()> {
    // Record first, since a partially failed switch must be undone too.
    ACTIVE.store(modes, Ordering::SeqCst);
    if modes & RAW != 0 {
        enable_raw_mode()?;
    }
    write_enter(&mut Output::default(), modes)
}

/// Disables all enabled modes. May be called from any thread and repeatedly; does nothing if none
/// is enabled.
///
/// Returns false if the terminal accepts no output, so that its modes could not be reset.
pub fn restore() -> io::Result<bool> {
    let modes = ACTIVE.swap(0, Ordering::SeqCst);
    if modes == 0 {
        return Ok(true);
    }
    write_leave(&mut Output::default(), modes)?;
    let written = output::drain();
    if modes & RAW != 0 {
        disable_raw_mode()?;
    }
    Ok(written)
}

pub fn is_active() -> bool {
    ACTIVE.load(Ordering::SeqCst) != 0
}

pub struct TerminalGuard {
    terminal: Terminal<FrugalBackend<Output>>,
    clusters: Clusters,
    modes: u8,
}

impl TerminalGuard {
    /// Sets up the terminal: raw mode, alternate screen, bracketed paste, hidden cursor, and the
    /// mouse if requested.
    pub fn enter(depth: ColorDepth, mouse: bool) -> io::Result<Self> {
        output::start()?;
        // crossterm respects NO_COLOR itself; a flag that requests colors takes precedence.
        crossterm::style::force_color_output(depth != ColorDepth::None);
        let modes = RAW | SCREEN | PASTE | CURSOR | if mouse { MOUSE } else { 0 };
        let entered =
            switch_on(modes).and_then(|()| Terminal::new(FrugalBackend::new(Output::default())));
        match entered {
            Ok(terminal) => Ok(Self {
                terminal,
                clusters: Clusters::default(),
                modes,
            }),
            Err(error) => {
                let _ = restore();
                Err(error)
            }
        }
    }

    /// Draws one frame as one synchronized update. Call it only after the previous frame was
    /// written; otherwise frames pile up.
    pub fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        // Do not flush here: if the view panics, this must not be written.
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        let clusters = &mut self.clusters;
        let drawn = self.terminal.draw(|frame| {
            view(frame);
            clusters.mark(frame.buffer_mut());
        });
        let drawn = drawn.map(drop);
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        drawn
    }

    /// Writes something that is no part of a frame.
    pub fn write(&mut self, command: impl Command) -> io::Result<()> {
        execute!(self.terminal.backend_mut(), command)
    }

    pub fn redraw(&mut self) -> io::Result<()> {
        // Not `clear`, which asks for the cursor position and waits for an answer that the event
        // stream may take.
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())
    }

    pub fn size(&self) -> io::Result<(u16, u16)> {
        self.terminal.size().map(|size| (size.width, size.height))
    }

    /// Gives the terminal back to the shell and stops the process, until SIGCONT.
    ///
    /// Stop the event stream first: its reader would take the shell's keys.
    pub fn stop(&mut self) -> io::Result<()> {
        restore()?;
        stop_process()
    }

    /// Sets the terminal up again, no matter what was done to it meanwhile; the next frame repaints
    /// everything.
    pub fn resume(&mut self) -> io::Result<()> {
        if is_active() {
            // crossterm does nothing if it has set raw mode, although the shell may have reset it.
            disable_raw_mode()?;
        }
        switch_on(self.modes)?;
        self.redraw()
    }
}

/// Stops the job as Ctrl-Z does in a shell; false if nobody could resume the process.
#[cfg(unix)]
pub fn ask_to_stop() -> io::Result<bool> {
    use rustix::process::{Signal, getpgrp, getsid, kill_current_process_group};
    // A shell gives each job a process group. Without one, the kernel ignores Ctrl-Z too.
    if getpgrp() == getsid(None)? {
        return Ok(false);
    }
    // The whole group, as the terminal's own Ctrl-Z does: if it did not stop a `cargo run` around
    // this process, the shell would never come back.
    kill_current_process_group(Signal::TSTP)?;
    Ok(true)
}

#[cfg(not(unix))]
pub fn ask_to_stop() -> io::Result<bool> {
    Ok(false)
}

/// Stops this process as SIGTSTP would if it were not caught.
#[cfg(unix)]
pub fn stop_process() -> io::Result<()> {
    use rustix::process::{Signal, getpid, kill_process};
    Ok(kill_process(getpid(), Signal::STOP)?)
}

#[cfg(not(unix))]
pub fn stop_process() -> io::Result<()> {
    Ok(())
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        let _ = restore();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: fn(&mut Vec<u8>, u8) -> io::Result<()>, modes: u8) -> String {
        let mut out = Vec::new();
        write(&mut out, modes).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn leaving_undoes_what_was_entered_and_no_more() {
        let all = RAW | SCREEN | PASTE | MOUSE | CURSOR;
        let entered = written(write_enter, all);
        assert!(entered.starts_with("\x1b[?1049h"));
        assert!(entered.contains("\x1b[?2004h") && entered.contains("\x1b[?1000h"));
        let left = written(write_leave, all);
        let at = |code| left.find(code).unwrap();
        assert!(at("\x1b[?2026l") < at("\x1b[?1000l"));
        assert!(at("\x1b[?1000l") < at("\x1b[?2004l"));
        assert!(at("\x1b[?2004l") < at("\x1b[?1049l"));
        assert!(at("\x1b[?1049l") < at("\x1b[?25h"));
        let left = written(write_leave, SCREEN);
        assert!(
            !left.contains("\x1b[?1000l")
                && !left.contains("\x1b[?2004l")
                && !left.contains("\x1b[?25h")
        );
    }

    #[test]
    fn restoring_what_was_never_taken_does_nothing() {
        assert!(!is_active());
        assert!(restore().unwrap());
    }
}
