//! The `:` overlay: finds a command by its name or description, shows its key, and runs it.

use std::cell::Cell;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::prompt::LinePrompt;
use super::{KeyOutcome, boxed, scroll_to};
use crate::tui::fuzzy::{WordFilter, rank};
use crate::tui::keymap::{Command, Scope, active, key_of};
use crate::tui::layout::{centred, cut_bottom};
use crate::tui::text::{pad_left, truncate, width};
use crate::tui::theme::Theme;

const WIDTH: u16 = 100;
const HEIGHT: u16 = 18;
const NAME: u16 = 22;

#[derive(Clone, Debug)]
pub struct Palette {
    scope: Scope,
    commands: Vec<Command>,
    prompt: LinePrompt,
    /// Index in `commands`, and the matched characters of the name.
    found: Vec<(usize, Vec<usize>)>,
    selected: usize,
    top: Cell<usize>,
    rows: Cell<usize>,
}

impl Palette {
    /// Offers `commands` with the keys they have in `scope`.
    pub fn new(scope: Scope, commands: Vec<Command>) -> Self {
        let mut palette = Self {
            scope,
            commands,
            prompt: LinePrompt::new(": ", "a command"),
            found: Vec::new(),
            selected: 0,
            top: Cell::new(0),
            rows: Cell::new(1),
        };
        palette.search();
        palette
    }

    fn search(&mut self) {
        let words = self.prompt.text().trim().to_lowercase();
        let names = self.commands.iter().map(|command| command.name());
        let mut named = rank(&words, names);
        // The beginning of the name comes first, then that of one of its words, then letters
        // anywhere in it.
        named.sort_by_key(|one| {
            let name = self.commands[one.index].name();
            let begins = name.split('-').any(|part| part.starts_with(&words));
            (!name.starts_with(&words), !begins)
        });
        let mut found: Vec<(usize, Vec<usize>)> = named
            .into_iter()
            .map(|one| (one.index, one.chars))
            .collect();
        let sentence = WordFilter::new(&words);
        for (index, command) in self.commands.iter().enumerate() {
            let known = found.iter().any(|(other, _)| *other == index);
            if !known && sentence.matches(command.doc()) {
                found.push((index, Vec::new()));
            }
        }
        self.found = found;
        self.selected = 0;
        self.top.set(0);
    }

    pub fn selected(&self) -> Option<Command> {
        let (index, _) = self.found.get(self.selected)?;
        self.commands.get(*index).copied()
    }

    pub fn paste(&mut self, text: &str) {
        self.prompt.paste(text);
        self.search();
    }

    fn step(&mut self, by: isize) -> KeyOutcome<Command> {
        let last = self.found.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
        KeyOutcome::Consumed
    }

    /// Edits the text; arrows, Tab, Ctrl-n and Ctrl-p move; Enter runs.
    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome<Command> {
        let page = isize::try_from(self.rows.get()).unwrap_or(1);
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let edited = self.prompt.text().len();
        match self.prompt.handle(event) {
            KeyOutcome::Submitted(_) => self
                .selected()
                .map_or(KeyOutcome::Consumed, KeyOutcome::Submitted),
            KeyOutcome::Cancelled => KeyOutcome::Cancelled,
            KeyOutcome::Pass => match event.code {
                KeyCode::Down | KeyCode::Tab => self.step(1),
                KeyCode::Up | KeyCode::BackTab => self.step(-1),
                KeyCode::PageDown => self.step(page),
                KeyCode::PageUp => self.step(-page),
                _ => KeyOutcome::Pass,
            },
            KeyOutcome::Consumed => {
                match event.code {
                    KeyCode::Char('n') if ctrl => return self.step(1),
                    KeyCode::Char('p') if ctrl => return self.step(-1),
                    _ if edited != self.prompt.text().len() => self.search(),
                    _ => {}
                }
                KeyOutcome::Consumed
            }
        }
    }

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) -> Option<Position> {
        let inner = boxed("Commands", theme, centred(area, WIDTH, HEIGHT), buf);
        let caret = self.prompt.render(theme, inner, buf);
        let mut list = Rect {
            y: inner.y + 1.min(inner.height),
            height: inner.height.saturating_sub(1),
            ..inner
        };
        let keys = self
            .commands
            .iter()
            .filter_map(|command| self.key(*command));
        let key = keys.map(|key| width(&key)).max().unwrap_or(0) as u16 + 1;
        // If the longest descriptions are truncated, that of the selected command is shown in full
        // below the list.
        let longest = self.commands.iter().map(|command| width(command.doc()));
        let space = usize::from(list.width.saturating_sub(NAME + key));
        if longest.max().is_some_and(|longest| longest > space) && list.height > 2 {
            let below = cut_bottom(&mut list, 1);
            if let Some(command) = self.selected() {
                let doc = truncate(command.doc(), usize::from(below.width));
                buf.set_string(below.x, below.y, doc, theme.strong());
            }
        }
        let rows = usize::from(list.height);
        self.rows.set(rows.max(1));
        self.top.set(scroll_to(self.top.get(), self.selected, rows));
        if self.found.is_empty() && rows > 0 {
            let none = truncate("no command matches", usize::from(list.width));
            buf.set_string(list.x, list.y, none, theme.muted());
        }
        let shown = self.found.iter().enumerate().skip(self.top.get());
        for (y, (at, (index, chars))) in (list.y..list.bottom()).zip(shown) {
            if let Some(command) = self.commands.get(*index) {
                let row = Rect {
                    y,
                    height: 1,
                    ..list
                };
                self.row(*command, chars, key, theme, row, buf);
                if at == self.selected {
                    buf.set_style(row, theme.selection());
                }
            }
        }
        caret
    }

    /// The key of a command if it has one here: the key on another screen would do something else,
    /// or nothing.
    fn key(&self, command: Command) -> Option<String> {
        let works = active(self.scope).iter().any(|one| one.command == command);
        let key = key_of(command, self.scope).filter(|_| works)?;
        Some(key.to_string())
    }

    fn row(
        &self,
        command: Command,
        chars: &[usize],
        key: u16,
        theme: &Theme,
        row: Rect,
        buf: &mut Buffer,
    ) {
        let columns = usize::from(row.width);
        buf.set_stringn(row.x, row.y, command.name(), columns, theme.text());
        for at in chars.iter().filter(|at| **at < command.name().len()) {
            let x = row.x.saturating_add(u16::try_from(*at).unwrap_or(u16::MAX));
            if x < row.right() {
                buf.set_style(Rect { x, width: 1, ..row }, theme.match_term());
            }
        }
        if row.width > NAME + key {
            let space = usize::from(row.width - NAME - key);
            let doc = truncate(command.doc(), space);
            buf.set_string(row.x + NAME, row.y, doc, theme.muted());
            if let Some(words) = self.key(command) {
                let words = pad_left(&words, usize::from(key));
                buf.set_string(row.right() - key, row.y, words, theme.key_hint());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::keymap::Screen;
    use crate::tui::testing::{draw, key, text, typed};

    fn palette() -> Palette {
        Palette::new(Scope::Screen(Screen::MATRIX), Command::ALL.to_vec())
    }

    fn shown(palette: &Palette, width: u16, height: u16) -> String {
        text(&draw(width, height, |area, buf| {
            palette.render(&Theme::default(), area, buf);
        }))
    }

    #[test]
    fn typing_finds_a_command_and_enter_runs_it() {
        let mut palette = palette();
        for event in typed("nlay") {
            assert_eq!(palette.handle(event), KeyOutcome::Consumed);
        }
        assert_eq!(palette.selected(), Some(Command::NextLayer));
        let page = shown(&palette, 80, 24);
        let row = page
            .lines()
            .find(|line| line.contains("next-layer"))
            .unwrap();
        assert!(
            row.contains("Show the next layer") && row.contains("v │"),
            "{row}"
        );
        assert_eq!(
            palette.handle(key(KeyCode::Enter)),
            KeyOutcome::Submitted(Command::NextLayer)
        );
    }

    #[test]
    fn a_key_of_another_screen_is_not_shown() {
        let scope = Scope::Screen(Screen::BATTLE);
        let commands = vec![Command::Export, Command::JudgeA];
        let page = shown(&Palette::new(scope, commands), 80, 24);
        let line = |name: &str| page.lines().find(|line| line.contains(name)).unwrap();
        assert!(line("judge-a").contains("a │"), "{page}");
        assert!(!line("export").contains('>'), "{page}");
    }

    #[test]
    fn a_name_that_begins_so_comes_before_other_names_and_these_before_sentences() {
        let found = |words: &str| {
            let mut palette = palette();
            palette.paste(words);
            let names = palette
                .found
                .iter()
                .map(|(index, _)| palette.commands[*index].name());
            names.collect::<Vec<_>>()
        };
        for (words, first) in [
            ("import", "import"),
            ("run", "show-run"),
            ("next", "next-match"),
            ("Export", "export"),
            ("budget", "set-budget"),
        ] {
            let names = found(words);
            let expected = Command::ALL.iter().find(|command| command.name() == first);
            assert!(expected.is_some(), "{first}");
            let begins = |name: &str| {
                name.split('-')
                    .any(|part| part.starts_with(&words.to_lowercase()))
            };
            assert!(begins(names[0]), "{words}: {names:?}");
        }
        let names = found("judge");
        let place = |wanted: &str| names.iter().position(|name| *name == wanted);
        // In the name, and only in the description.
        assert!(place("judge-a") < place("next-judge"), "{names:?}");
        assert!(place("next-judge") < place("expand-reasoning"), "{names:?}");
        assert!(place("expand-reasoning").is_some());
    }

    #[test]
    fn sentences_are_searched_too_and_nothing_found_runs_nothing() {
        let mut palette = palette();
        palette.paste("clipboard");
        assert_eq!(palette.selected(), Some(Command::Copy));
        palette.paste("zzzz");
        assert!(shown(&palette, 80, 24).contains("no command matches"));
        assert_eq!(palette.handle(key(KeyCode::Enter)), KeyOutcome::Consumed);
        assert_eq!(palette.handle(key(KeyCode::Esc)), KeyOutcome::Cancelled);
    }

    #[test]
    fn the_selection_stays_on_screen() {
        let mut palette = palette();
        for _ in 0..200 {
            palette.handle(key(KeyCode::Down));
        }
        assert_eq!(palette.selected(), Command::ALL.last().copied());
        assert!(shown(&palette, 80, 24).contains("cancel"));
        for (width, height) in [(0, 0), (4, 4), (30, 5), (200, 60)] {
            shown(&palette, width, height);
        }
    }

    #[test]
    fn a_description_that_is_cut_stands_in_full_below_the_list() {
        let palette = palette();
        let whole = palette.selected().map_or("", Command::doc);
        let drawn = |columns| {
            text(&draw(columns, 20, |area, buf| {
                palette.render(&Theme::default(), area, buf);
            }))
        };
        let (narrow, wide) = (drawn(60), drawn(120));
        assert!(narrow.contains(whole), "{narrow}");
        assert_eq!(wide.matches(whole).count(), 1, "{wide}");
    }
}
