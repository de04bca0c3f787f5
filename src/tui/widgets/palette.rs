//! The `:` overlay: finds a command or a screen by its name or description, shows the key, and runs
//! it.

use std::borrow::Cow;
use std::cell::Cell;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::clicks::ClickAreas;
use super::prompt::LinePrompt;
use super::{KeyOutcome, boxed, scroll_to};
use crate::tui::fuzzy::{WordFilter, rank};
use crate::tui::keymap::{Command, Scope, Screen, active, key_of};
use crate::tui::layout::{centred, cut_bottom};
use crate::tui::text::{pad_left, truncate, width};
use crate::tui::theme::Theme;

const WIDTH: u16 = 100;
const HEIGHT: u16 = 18;
const NAME: u16 = 22;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaletteEntry {
    /// A command of the current screen, or of every screen.
    Here(Command),
    /// A command of another screen.
    On(Screen, Command),
    /// The command that opens a screen from every other one.
    Opens(Screen, Command),
    /// A screen without such a command.
    Screen(Screen),
}

impl PaletteEntry {
    fn command(self) -> Option<Command> {
        match self {
            Self::Here(command) | Self::On(_, command) | Self::Opens(_, command) => Some(command),
            Self::Screen(_) => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Here(command) | Self::On(_, command) | Self::Opens(_, command) => command.name(),
            Self::Screen(screen) => screen.name(),
        }
    }

    /// The name of the screen that it opens.
    fn opened(self) -> Option<&'static str> {
        match self {
            Self::Opens(screen, _) | Self::Screen(screen) => Some(screen.name()),
            Self::Here(_) | Self::On(..) => None,
        }
    }

    fn doc(self) -> Cow<'static, str> {
        match self {
            Self::Here(command) | Self::On(_, command) | Self::Opens(_, command) => {
                Cow::Borrowed(command.doc())
            }
            Self::Screen(screen) => Cow::Owned(format!(
                "Go to the {} screen.",
                screen.heading().to_lowercase()
            )),
        }
    }

    /// How well it matches all of the typed words, by its name or by the screen that it opens.
    fn name_match(self, typed: &str) -> Option<NameMatch> {
        let names = [Some(self.name()), self.opened()];
        let of_word = |word: &str| {
            names
                .iter()
                .flatten()
                .filter_map(|name| NameMatch::of(name, word))
                .min()
        };
        let whole = typed.split_whitespace().collect::<Vec<_>>().join("-");
        let exact = of_word(&whole).filter(|found| *found == NameMatch::Whole);
        let of_all = || {
            let words = typed.split_whitespace().map(of_word);
            words.collect::<Option<Vec<_>>>()?.into_iter().max()
        };
        exact.or_else(of_all)
    }
}

/// How a name contains a word, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NameMatch {
    Whole,
    Start,
    WholeWord,
    WordStart,
    Within,
}

impl NameMatch {
    fn of(name: &str, word: &str) -> Option<Self> {
        let mut parts = name.split(['-', ' ']);
        if name == word {
            Some(Self::Whole)
        } else if name.starts_with(word) {
            Some(Self::Start)
        } else if parts.clone().any(|part| part == word) {
            Some(Self::WholeWord)
        } else if parts.any(|part| part.starts_with(word)) {
            Some(Self::WordStart)
        } else {
            name.contains(word).then_some(Self::Within)
        }
    }
}

#[derive(Clone, Debug)]
pub struct Palette {
    scope: Scope,
    entries: Vec<PaletteEntry>,
    prompt: LinePrompt,
    /// Index in `entries`, and the matched characters of the name.
    found: Vec<(usize, Vec<usize>)>,
    selected: usize,
    top: Cell<usize>,
    rows: Cell<usize>,
    pub(crate) clicks: ClickAreas,
}

impl Palette {
    /// Offers entries with the keys they have in `scope`.
    pub fn new(scope: Scope, entries: Vec<PaletteEntry>) -> Self {
        let mut palette = Self {
            scope,
            entries,
            prompt: LinePrompt::new(": ", "a command or a screen"),
            found: Vec::new(),
            selected: 0,
            top: Cell::new(0),
            rows: Cell::new(1),
            clicks: ClickAreas::default(),
        };
        palette.search();
        palette
    }

    /// Finds entries by name, then by description; only if there are none, by letters in order.
    fn search(&mut self) {
        let typed = self.prompt.text().trim().to_lowercase();
        self.selected = 0;
        self.top.set(0);
        let all = self.entries.iter().copied().enumerate();
        if typed.is_empty() {
            self.found = all.map(|(index, _)| (index, Vec::new())).collect();
            return;
        }
        let mut named: Vec<(NameMatch, usize)> = all
            .clone()
            .filter_map(|(index, entry)| Some((entry.name_match(&typed)?, index)))
            .collect();
        named.sort_unstable();
        let sentence = WordFilter::new(&typed);
        let known: Vec<usize> = named.iter().map(|(_, index)| *index).collect();
        let described = all
            .filter(|(index, entry)| !known.contains(index) && sentence.matches(&entry.doc()))
            .map(|(index, _)| (index, Vec::new()));
        let marked = |index: usize| (index, marks(self.entries[index].name(), &typed));
        self.found = known.iter().copied().map(marked).chain(described).collect();
        if self.found.is_empty() {
            let names = self.entries.iter().map(|entry| entry.name());
            let similar = rank(&typed, names).into_iter();
            self.found = similar.map(|one| (one.index, one.chars)).collect();
        }
    }

    pub fn selected(&self) -> Option<PaletteEntry> {
        let (index, _) = self.found.get(self.selected)?;
        self.entries.get(*index).copied()
    }

    pub(crate) fn selected_row(&self) -> usize {
        self.selected
    }

    pub fn paste(&mut self, text: &str) {
        self.prompt.paste(text);
        self.search();
    }

    fn step(&mut self, by: isize) -> KeyOutcome<PaletteEntry> {
        let last = self.found.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
        KeyOutcome::Consumed
    }

    /// Edits the text; arrows, Tab, Ctrl-n and Ctrl-p move; Enter runs.
    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome<PaletteEntry> {
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
        let notes = self.entries.iter().map(|entry| width(&self.note(*entry)));
        let note = notes.max().unwrap_or(0) as u16 + 1;
        // If the longest descriptions are truncated, that of the selected command is shown in full
        // below the list.
        let longest = self.entries.iter().map(|entry| width(&entry.doc()));
        let space = usize::from(list.width.saturating_sub(NAME + note));
        if longest.max().is_some_and(|longest| longest > space) && list.height > 2 {
            let below = cut_bottom(&mut list, 1);
            if let Some(entry) = self.selected() {
                let doc = entry.doc();
                let doc = truncate(&doc, usize::from(below.width));
                buf.set_string(below.x, below.y, doc, theme.strong());
            }
        }
        self.clicks.clear();
        let rows = usize::from(list.height);
        self.rows.set(rows.max(1));
        self.top.set(scroll_to(self.top.get(), self.selected, rows));
        if self.found.is_empty() && rows > 0 {
            let none = truncate("no command or screen matches", usize::from(list.width));
            buf.set_string(list.x, list.y, none, theme.muted());
        }
        let shown = self.found.iter().enumerate().skip(self.top.get());
        for (y, (at, (index, chars))) in (list.y..list.bottom()).zip(shown) {
            if let Some(entry) = self.entries.get(*index) {
                let row = Rect {
                    y,
                    height: 1,
                    ..list
                };
                self.clicks.row(row, at);
                self.row(*entry, chars, note, theme, row, buf);
                if at == self.selected {
                    buf.set_style(row, theme.selection());
                }
            }
        }
        caret
    }

    /// The key of a command if it works here, or the screen that the command belongs to: there, the
    /// key would do something else, or nothing.
    fn note(&self, entry: PaletteEntry) -> String {
        if let PaletteEntry::On(screen, _) = entry {
            return format!("{} ›", screen.name());
        }
        entry
            .command()
            .filter(|command| active(self.scope).iter().any(|one| one.command == *command))
            .and_then(|command| key_of(command, self.scope))
            .map_or(String::new(), |key| key.to_string())
    }

    fn row(
        &self,
        entry: PaletteEntry,
        chars: &[usize],
        note: u16,
        theme: &Theme,
        row: Rect,
        buf: &mut Buffer,
    ) {
        let columns = usize::from(row.width);
        buf.set_stringn(row.x, row.y, entry.name(), columns, theme.text());
        for at in chars.iter().filter(|at| **at < entry.name().len()) {
            let x = row.x.saturating_add(u16::try_from(*at).unwrap_or(u16::MAX));
            if x < row.right() {
                buf.set_style(Rect { x, width: 1, ..row }, theme.match_term());
            }
        }
        if row.width > NAME + note {
            let space = usize::from(row.width - NAME - note);
            let doc = entry.doc();
            let doc = truncate(&doc, space);
            buf.set_string(row.x + NAME, row.y, doc, theme.muted());
            let words = pad_left(&self.note(entry), usize::from(note));
            let style = match entry {
                PaletteEntry::On(..) => theme.muted(),
                _ => theme.key_hint(),
            };
            buf.set_string(row.right() - note, row.y, words, style);
        }
    }
}

/// The positions of the typed words in a name.
fn marks(name: &str, typed: &str) -> Vec<usize> {
    let places = |word: &str| {
        let start = name.find(word);
        start.map_or(0..0, |start| start..start + word.len())
    };
    typed.split_whitespace().flat_map(places).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::keymap::commands;
    use crate::tui::testing::{draw, key, text, typed};

    fn palette() -> Palette {
        let all = commands().into_iter().map(PaletteEntry::Here);
        Palette::new(Scope::Screen(Screen::MATRIX), all.collect())
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
        assert_eq!(
            palette.selected(),
            Some(PaletteEntry::Here(Command::NextLayer))
        );
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
            KeyOutcome::Submitted(PaletteEntry::Here(Command::NextLayer))
        );
    }

    #[test]
    fn a_key_of_another_screen_is_not_shown() {
        let scope = Scope::Screen(Screen::BATTLE);
        let entries = vec![
            PaletteEntry::Here(Command::Export),
            PaletteEntry::Here(Command::JudgeA),
            PaletteEntry::On(Screen::RUN, Command::SetBudget),
        ];
        let page = shown(&Palette::new(scope, entries), 80, 24);
        let line = |name: &str| page.lines().find(|line| line.contains(name)).unwrap();
        assert!(line("judge-a").contains("a │"), "{page}");
        assert!(!line("export").contains('>'), "{page}");
        assert!(line("set-budget").contains("run › │"), "{page}");
    }

    #[test]
    fn a_name_that_begins_so_comes_before_other_names_and_these_before_sentences() {
        let found = |words: &str| {
            let mut palette = palette();
            palette.paste(words);
            let names = palette
                .found
                .iter()
                .map(|(index, _)| palette.entries[*index].name());
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
            let known = commands().iter().any(|command| command.name() == first);
            assert!(known, "{first}");
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
    fn letters_in_order_match_only_if_nothing_contains_the_words() {
        let first = |words: &str| {
            let mut palette = palette();
            palette.paste(words);
            let names = palette.found.iter();
            let names = names.map(|(index, _)| palette.entries[*index].name());
            names.collect::<Vec<_>>()
        };
        assert_eq!(first("undo")[0], "undo");
        assert!(!first("undo").contains(&"column-document"));
        assert_eq!(first("clmndoc"), ["column-document"]);
        assert_eq!(first("layer next")[0], "next-layer");
        assert_eq!(first("next layer")[0], "next-layer");
    }

    #[test]
    fn a_screen_is_found_by_its_name() {
        let entries = vec![
            PaletteEntry::Here(Command::AskJudges),
            PaletteEntry::Opens(Screen::JUDGES, Command::ShowJudges),
            PaletteEntry::Screen(Screen::BATTLE),
        ];
        let mut palette = Palette::new(Scope::Screen(Screen::MATRIX), entries.clone());
        palette.paste("judges");
        assert_eq!(palette.selected(), Some(entries[1]));
        let mut palette = Palette::new(Scope::Screen(Screen::MATRIX), entries.clone());
        palette.paste("battle");
        assert_eq!(palette.selected(), Some(entries[2]));
        assert!(shown(&palette, 80, 24).contains("Go to the battle screen."));
    }

    #[test]
    fn sentences_are_searched_too_and_nothing_found_runs_nothing() {
        let mut palette = palette();
        palette.paste("clipboard");
        assert_eq!(palette.selected(), Some(PaletteEntry::Here(Command::Copy)));
        palette.paste("zzzz");
        assert!(shown(&palette, 80, 24).contains("no command or screen matches"));
        assert_eq!(palette.handle(key(KeyCode::Enter)), KeyOutcome::Consumed);
        assert_eq!(palette.handle(key(KeyCode::Esc)), KeyOutcome::Cancelled);
    }

    #[test]
    fn the_selection_stays_on_screen() {
        let mut palette = palette();
        for _ in 0..200 {
            palette.handle(key(KeyCode::Down));
        }
        let last = commands().last().copied().map(PaletteEntry::Here);
        assert_eq!(palette.selected(), last);
        assert!(shown(&palette, 80, 24).contains("cancel"));
        for (width, height) in [(0, 0), (4, 4), (30, 5), (200, 60)] {
            shown(&palette, width, height);
        }
    }

    #[test]
    fn a_description_that_is_cut_stands_in_full_below_the_list() {
        let palette = palette();
        let whole = palette
            .selected()
            .map(PaletteEntry::doc)
            .unwrap_or_default();
        let drawn = |columns| {
            text(&draw(columns, 20, |area, buf| {
                palette.render(&Theme::default(), area, buf);
            }))
        };
        let (narrow, wide) = (drawn(60), drawn(120));
        assert!(narrow.contains(&*whole), "{narrow}");
        assert_eq!(wide.matches(&*whole).count(), 1, "{wide}");
    }
}
