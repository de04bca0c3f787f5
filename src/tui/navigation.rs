//! Cursors in lists, texts that scroll, and rows that match a filter.

use super::keymap::Command;

/// Where a command moves the cursor of a list of `count` rows; a command that does not move leaves it.
pub(crate) fn moved(cursor: usize, command: Command, count: usize, page: usize) -> usize {
    let last = count.saturating_sub(1);
    step(cursor, command, last, page.max(1))
}

/// The first line shown after a command, among `lines` of which `page` fit.
pub(crate) fn scrolled(from: usize, command: Command, lines: usize, page: usize) -> usize {
    let last = lines.saturating_sub(page);
    // A line of the page before stays in sight.
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

/// The one after or before `here` among so many; none at either end.
pub(crate) fn neighbour(here: usize, forward: bool, count: usize) -> Option<usize> {
    match forward {
        true => Some(here + 1).filter(|next| *next < count),
        false => here.checked_sub(1),
    }
}

/// The one after or before `here` in a circle.
pub(crate) fn cycled<T: Copy + PartialEq>(all: &[T], here: T, forward: bool) -> T {
    let at = all.iter().position(|one| *one == here).unwrap_or(0);
    let step = if forward { 1 } else { all.len() - 1 };
    all[(at + step) % all.len()]
}

/// The words of a filter; a name matches when it holds them all.
pub(crate) struct WordFilter(Vec<String>);

impl WordFilter {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_lowercase).collect())
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.0.iter().all(|word| name.contains(word))
    }
}
