//! Cursor movement in lists, and scrolling of texts.

use super::keymap::Command;

/// Moves the cursor of a list of `count` rows; other commands leave it unchanged.
pub(crate) fn moved(cursor: usize, command: Command, count: usize, page: usize) -> usize {
    let last = count.saturating_sub(1);
    step(cursor, command, last, page.max(1))
}

/// The first visible line after a command, of `lines` lines of which `page` fit.
pub(crate) fn scrolled(from: usize, command: Command, lines: usize, page: usize) -> usize {
    let last = lines.saturating_sub(page);
    // Keep one line of the previous page visible.
    step(from.min(last), command, last, page.saturating_sub(1).max(1))
}

fn step(from: usize, command: Command, last: usize, page: usize) -> usize {
    match command {
        Command::Down => (from + 1).min(last),
        Command::Up => from.saturating_sub(1),
        Command::PageDown => (from + page).min(last),
        Command::PageUp => from.saturating_sub(page),
        Command::First => 0,
        Command::Last => last,
        _ => from,
    }
}

/// The index after or before `here`, below `count`; `None` at either end.
pub(crate) fn neighbor(here: usize, forward: bool, count: usize) -> Option<usize> {
    if forward {
        Some(here + 1).filter(|next| *next < count)
    } else {
        here.checked_sub(1)
    }
}

/// The element after or before `here`, wrapping around.
pub(crate) fn cycled<T: Copy + PartialEq>(all: &[T], here: T, forward: bool) -> T {
    let at = all.iter().position(|one| *one == here).unwrap_or(0);
    let step = if forward { 1 } else { all.len() - 1 };
    all[(at + step) % all.len()]
}
