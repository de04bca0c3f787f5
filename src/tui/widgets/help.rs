//! The `?` overlay: the keys that work here, then those that work everywhere.

use super::KeyOutcome;
use super::clicks::ClickAreas;
use super::scroll_box::ScrollBox;
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{KeyChord, Scope};
use crate::tui::text::{pad_right, truncate, width, wrap};
use crate::tui::theme::Theme;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

const WIDTH: u16 = 78;
/// Minimum columns for keys.
const KEYS: usize = 14;

#[derive(Clone, Debug)]
pub struct Help {
    scope: Scope,
    page: ScrollBox,
}

impl Help {
    pub fn new(scope: Scope) -> Self {
        Self {
            scope,
            page: ScrollBox::new("Keys", WIDTH),
        }
    }

    fn lines(&self, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        let here = (self.scope != Scope::Global).then_some(self.scope);
        let scopes = here.into_iter().chain([Scope::Global]);
        let tables: Vec<(Scope, Vec<(String, &'static str)>)> = scopes
            .map(|scope| {
                let entries = scope.own().iter().map(|binding| {
                    let keys = self.keys(scope, binding).join(" ");
                    (keys, binding.command.doc())
                });
                (
                    scope,
                    entries.filter(|(keys, _)| !keys.is_empty()).collect(),
                )
            })
            .collect();
        let entries = tables.iter().flat_map(|(_, entries)| entries);
        let room = entries
            .map(|(keys, _)| width(keys) + 3)
            .max()
            .unwrap_or(0)
            .max(KEYS)
            .min(columns / 2);
        let mut lines = Vec::new();
        for (scope, entries) in tables {
            if !lines.is_empty() {
                lines.push(Line::default());
            }
            lines.push(Line::styled(scope.heading(), theme.title()));
            for (keys, doc) in entries {
                lines.extend(entry(&keys, doc, room, theme, columns));
            }
        }
        lines
    }

    /// The keys of a binding that work here. A command in both tables is listed in the first one,
    /// with the keys of both.
    fn keys(&self, scope: Scope, binding: &Binding) -> Vec<String> {
        let here = self.scope.own();
        let same = |other: &&Binding| other.command == binding.command;
        let free = |key: &&KeyChord| !here.iter().any(|other| other.keys.contains(*key));
        let keys: Vec<&KeyChord> = match scope == self.scope {
            true => {
                let more = Scope::Global
                    .own()
                    .iter()
                    .filter(same)
                    .flat_map(|other| other.keys)
                    .filter(free);
                binding.keys.iter().chain(more).collect()
            }
            false if here.iter().any(|other| same(&other)) => Vec::new(),
            false => binding.keys.iter().filter(free).collect(),
        };
        keys.into_iter().map(ToString::to_string).collect()
    }

    pub(crate) fn clicks(&self) -> &ClickAreas {
        &self.page.clicks
    }

    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome {
        self.page.handle(event)
    }

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let lines = self.lines(theme, self.page.columns(area));
        self.page.render(lines, theme, area, buf);
    }
}

/// A command with its keys in the first `room` columns, on as many lines as its description needs.
fn entry(keys: &str, doc: &str, room: usize, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let ranges = wrap(doc, columns.saturating_sub(room));
    let lines = ranges.into_iter().enumerate();
    lines
        .map(|(at, range)| {
            let lead = match at {
                0 => format!("  {}", truncate(keys, room.saturating_sub(3))),
                _ => String::new(),
            };
            let words = doc.get(range).unwrap_or_default().to_owned();
            Line::from(vec![
                Span::styled(pad_right(&lead, room), theme.key_hint()),
                Span::styled(words, theme.text()),
            ])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::keymap::Screen;
    use crate::tui::testing::{draw, key, text, typed};
    use crossterm::event::KeyCode;

    #[test]
    fn the_page_lists_the_scope_first_and_scrolls_to_the_last_global_key() {
        let mut help = Help::new(Scope::Screen(Screen::BATTLE));
        let theme = Theme::default();
        let shown = |help: &Help| text(&draw(80, 24, |area, buf| help.render(&theme, area, buf)));
        let page = shown(&help);
        assert!(page.contains("Battle") && page.contains("Verdict: A is better."));
        assert!(page.contains(" ↓ more"));
        for _ in 0..100 {
            assert_eq!(help.handle(key(KeyCode::PageDown)), KeyOutcome::Consumed);
        }
        let page = shown(&help);
        assert!(page.contains("Ctrl-z") && page.contains(" ↑ more"));
        for event in typed("k") {
            help.handle(event);
        }
        assert_ne!(shown(&help), page);
    }

    #[test]
    fn a_key_stands_once_and_for_what_it_does_here() {
        for screen in Screen::all() {
            let scope = Scope::Screen(screen);
            let lines = Help::new(scope).lines(&Theme::default(), 60);
            let keys = lines.iter().filter(|line| line.spans.len() == 2);
            let keys = keys.flat_map(|line| line.spans[0].content.split_whitespace());
            let mut keys: Vec<&str> = keys.collect();
            let count = keys.len();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), count, "{screen:?}");
            assert!(lines.iter().all(|line| line.width() <= 60), "{screen:?}");
        }
    }

    #[test]
    fn it_closes_on_any_of_the_closing_keys_and_fits_any_area() {
        for code in [
            KeyCode::Esc,
            KeyCode::Char('q'),
            KeyCode::Char('?'),
            KeyCode::Enter,
        ] {
            assert_eq!(
                Help::new(Scope::Screen(Screen::RUN)).handle(key(code)),
                KeyOutcome::Cancelled
            );
        }
        for (width, height) in [(0, 0), (5, 3), (20, 6), (200, 60)] {
            draw(width, height, |area, buf| {
                Help::new(Scope::Screen(Screen::RUN)).render(&Theme::default(), area, buf)
            });
        }
    }
}
