//! The terminal as a resource: what is switched on is recorded, and exactly that is switched off again on drop, on a
//! panic of the interface's thread, and for a suspension.

mod backend;
mod background;
mod depth;
mod loss;
mod panic;

use std::io::{self, BufWriter, Write};
use std::sync::atomic::{AtomicU8, Ordering};

use backend::FrugalBackend;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::{Frame, Terminal};

pub use background::{Background, ReplyFilter, detect_background};
pub use depth::detect_depth;
pub use loss::{is_loss, is_lost};
pub use panic::install_panic_hook;

use super::theme::ColourDepth;
use loss::Out;

const RAW: u8 = 1;
const SCREEN: u8 = 1 << 1;
const PASTE: u8 = 1 << 2;
const MOUSE: u8 = 1 << 3;
const CURSOR: u8 = 1 << 4;

/// What is switched on at this moment. The terminal belongs to the process, so this does too: the panic hook needs it.
static ACTIVE: AtomicU8 = AtomicU8::new(0);

/// Enough for a full repaint of a large screen in one write.
const BUFFER_BYTES: usize = 1 << 17;

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
    // A panic inside a frame leaves a synchronised update open, and the terminal frozen.
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
    // Recorded first: half of a failed switch must be undone too.
    ACTIVE.store(modes, Ordering::SeqCst);
    if modes & RAW != 0 {
        enable_raw_mode()?;
    }
    write_enter(&mut io::stdout(), modes)
}

/// Switches off whatever is on. Safe from any thread and any number of times; does nothing when nothing is on.
pub fn restore() -> io::Result<()> {
    switch_off().map(drop)
}

fn switch_off() -> io::Result<u8> {
    let modes = ACTIVE.swap(0, Ordering::SeqCst);
    if modes != 0 {
        let written = write_leave(&mut io::stdout(), modes);
        if modes & RAW != 0 {
            disable_raw_mode()?;
        }
        written?;
    }
    Ok(modes)
}

pub fn is_active() -> bool {
    ACTIVE.load(Ordering::SeqCst) != 0
}

pub struct TerminalGuard {
    terminal: Terminal<FrugalBackend<BufWriter<Out>>>,
}

impl TerminalGuard {
    /// Takes the terminal: raw mode, alternate screen, bracketed paste, no cursor, and the mouse if asked.
    pub fn enter(depth: ColourDepth, mouse: bool) -> io::Result<Self> {
        // crossterm obeys NO_COLOR by itself; a flag that asks for colours is stronger.
        crossterm::style::force_color_output(depth != ColourDepth::None);
        let modes = RAW | SCREEN | PASTE | CURSOR | if mouse { MOUSE } else { 0 };
        let out = BufWriter::with_capacity(BUFFER_BYTES, Out::default());
        let entered = switch_on(modes).and_then(|()| Terminal::new(FrugalBackend::new(out)));
        match entered {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                let _ = restore();
                Err(error)
            }
        }
    }

    /// Draws one frame as one synchronised update.
    pub fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        // Flushed before the view runs: were it still buffered in a panic, it would be written after the terminal is restored.
        execute!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        let drawn = self.terminal.draw(view).map(drop);
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        drawn
    }

    pub fn redraw(&mut self) -> io::Result<()> {
        // Not `clear`: it asks where the cursor is and waits for an answer that the event stream may take.
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())
    }

    pub fn size(&self) -> io::Result<(u16, u16)> {
        self.terminal.size().map(|size| (size.width, size.height))
    }

    /// Gives the terminal back, runs `outside`, takes the terminal again; the next frame repaints everything.
    ///
    /// Drop the event stream before and recreate it after: its reader would take keys from what runs outside.
    pub fn outside<T>(&mut self, outside: impl FnOnce() -> T) -> io::Result<T> {
        let modes = switch_off()?;
        let result = outside();
        switch_on(modes)?;
        self.redraw()?;
        Ok(result)
    }

    /// Stops the process as Ctrl-Z does and comes back when the shell continues it.
    pub fn suspend(&mut self) -> io::Result<()> {
        self.outside(stop_process)?
    }
}

#[cfg(unix)]
fn stop_process() -> io::Result<()> {
    // The whole group, as the terminal's own Ctrl-Z does: a `cargo run` around us must stop too, or the shell never
    // comes back.
    Ok(rustix::process::kill_current_process_group(
        rustix::process::Signal::TSTP,
    )?)
}

#[cfg(not(unix))]
fn stop_process() -> io::Result<()> {
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
        restore().unwrap();
    }
}
