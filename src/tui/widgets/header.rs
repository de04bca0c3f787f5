//! The top line: the location on the left, and what is true on every screen on the right.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::tui::layout::{first_row, inset};
use crate::tui::text::{truncate, width};
use crate::tui::theme::Theme;

const ARROW: &str = " › ";
const SEPARATOR: &str = " · ";
/// Columns between the location and the facts.
const GAP: usize = 2;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// From the project to the open item; the last one is kept longest.
    pub crumbs: Vec<String>,
    /// Facts with their styles; the last one is kept longest.
    pub facts: Vec<(String, Style)>,
}

impl Header {
    /// The location in `columns` columns; outer parts are omitted first.
    fn trail(&self, columns: usize) -> (String, String) {
        let Some((last, outer)) = self.crumbs.split_last() else {
            return (String::new(), String::new());
        };
        for dropped in 0..=outer.len() {
            let mut path = outer[dropped..].join(ARROW);
            if dropped > 0 {
                path = if path.is_empty() {
                    "…".into()
                } else {
                    format!("…{ARROW}{path}")
                };
            }
            if !path.is_empty() {
                path.push_str(ARROW);
            }
            if width(&path) + width(last) <= columns {
                return (path, last.clone());
            }
        }
        (String::new(), truncate(last, columns).into_owned())
    }

    /// The last facts that leave room for the last crumb; the very last one is truncated.
    fn fitting(&self, columns: usize) -> Vec<(String, Style)> {
        let last = self.crumbs.last().map_or(0, |crumb| width(crumb) + GAP);
        let room = columns.saturating_sub(last);
        let size = |from: usize| {
            let facts = &self.facts[from..];
            let words: usize = facts.iter().map(|(words, _)| width(words)).sum();
            words + SEPARATOR.chars().count() * facts.len().saturating_sub(1)
        };
        let from = (0..self.facts.len())
            .find(|from| size(*from) <= room)
            .unwrap_or(self.facts.len().saturating_sub(1));
        let mut facts = self.facts[from..].to_vec();
        if let [(words, _)] = facts.as_mut_slice() {
            *words = truncate(words, columns * 2 / 3).into_owned();
        }
        facts
    }

    /// Adds the first of these words that leave room for everything else in `columns` columns; if
    /// there are none, the last ones. Empty words are not added. They give way to the other facts,
    /// unless they are important.
    pub fn add_fitting(
        &mut self,
        words: &[String],
        style: Style,
        columns: usize,
        is_important: bool,
    ) {
        let facts = self.facts.iter().map(|(words, _)| width(words));
        let separators = SEPARATOR.chars().count() * self.facts.len();
        let taken = width(&self.crumbs.join(ARROW)) + GAP + facts.sum::<usize>() + separators;
        let chosen = words.iter().find(|words| taken + width(words) <= columns);
        if let Some(words) = chosen.or(words.last()).filter(|words| !words.is_empty()) {
            let place = if is_important { self.facts.len() } else { 0 };
            self.facts.insert(place, (words.clone(), style));
        }
    }

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let whole = first_row(area, buf.area);
        buf.set_style(whole, theme.header());
        let line = inset(whole);
        if line.is_empty() {
            return;
        }
        let columns = usize::from(line.width);
        let facts = self.fitting(columns);
        let words = facts.iter().map(|(words, _)| words.as_str());
        let taken = width(&words.collect::<Vec<_>>().join(SEPARATOR));
        let gap = if taken > 0 { GAP } else { 0 };
        let (path, last) = self.trail(columns.saturating_sub(taken + gap));
        let (x, _) = buf.set_stringn(line.x, line.y, path, columns, theme.muted());
        let room = usize::from(line.right() - x);
        buf.set_stringn(x, line.y, last, room, theme.strong());
        let mut x = line.right().saturating_sub(taken as u16).max(line.x);
        for (at, (words, style)) in facts.into_iter().enumerate() {
            let parts = [(SEPARATOR, theme.muted()), (words.as_str(), style)];
            for (part, style) in parts.into_iter().skip(usize::from(at == 0)) {
                let room = usize::from(line.right().saturating_sub(x));
                (x, _) = buf.set_stringn(x, line.y, part, room, style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{draw, text};

    fn header(crumbs: &[&str], facts: &[&str]) -> Header {
        let plain = |fact: &&str| ((*fact).to_owned(), Style::default());
        Header {
            crumbs: crumbs.iter().map(|crumb| (*crumb).to_owned()).collect(),
            facts: facts.iter().map(plain).collect(),
        }
    }

    fn shown(header: &Header, columns: u16) -> String {
        let buffer = draw(columns, 1, |area, buf| {
            header.render(&Theme::default(), area, buf)
        });
        text(&buffer).trim_end().to_owned()
    }

    #[test]
    fn outer_crumbs_give_way_before_the_last_and_before_the_run() {
        let header = header(
            &["overrule", "best espresso grinder", "battle 3"],
            &["120/400  $0.12"],
        );
        assert_eq!(
            shown(&header, 64),
            " overrule › best espresso grinder › battle 3     120/400  $0.12"
        );
        assert_eq!(
            shown(&header, 40),
            " … › battle 3            120/400  $0.12"
        );
        assert_eq!(shown(&header, 20), " bat…  120/400  $0…");
        for columns in 0..12 {
            shown(&header, columns);
        }
    }

    #[test]
    fn the_first_facts_give_way_to_the_last_crumb() {
        let header = header(&["bench", "queries"], &["offline", "dana", "1 of 8"]);
        assert_eq!(
            shown(&header, 44),
            " bench › queries    offline · dana · 1 of 8"
        );
        assert_eq!(shown(&header, 28), " … › queries  dana · 1 of 8");
        assert_eq!(shown(&header, 20), " queries     1 of 8");
    }

    #[test]
    fn added_words_are_as_long_as_the_rest_allows() {
        let words = ["synced just now · 2 people here", "synced", ""].map(str::to_owned);
        let shown_with = |words: &[String], columns: u16, is_important| {
            let mut header = header(&["bench", "queries"], &["dana", "1 of 8"]);
            let room = usize::from(columns) - 2;
            header.add_fitting(words, Style::default(), room, is_important);
            shown(&header, columns)
        };
        let added = |words: &[String], columns: u16| shown_with(words, columns, false);
        assert!(added(&words, 70).contains("synced just now · 2 people here · dana · 1 of 8"));
        assert_eq!(
            added(&words, 44),
            " bench › queries     synced · dana · 1 of 8"
        );
        assert_eq!(added(&words, 35), " bench › queries     dana · 1 of 8");
        assert_eq!(
            added(&words[..2], 38),
            " … › queries   synced · dana · 1 of 8"
        );
        assert_eq!(
            shown_with(&words[..2], 30, true),
            " … › queries  1 of 8 · synced"
        );
    }

    #[test]
    fn nothing_is_shown_for_nothing() {
        assert_eq!(shown(&Header::default(), 20), "");
    }
}
