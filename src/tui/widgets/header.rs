//! The top line: the location on the left, and what is running on the right.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::layout::first_row;
use crate::tui::text::{truncate, width};
use crate::tui::theme::Theme;

const ARROW: &str = " › ";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// From the project to the open item; the last one is kept longest.
    pub crumbs: Vec<String>,
    /// Progress, rate and spending; empty if nothing is running.
    pub status: String,
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

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let line = first_row(area, buf.area);
        if line.is_empty() {
            return;
        }
        buf.set_style(line, theme.header());
        let inside = usize::from(line.width.saturating_sub(2));
        let status = truncate(&self.status, inside * 2 / 3);
        let taken = width(&status);
        let gap = if taken > 0 { 2 } else { 0 };
        let (path, last) = self.trail(inside.saturating_sub(taken + gap));
        let start = line.x + 1.min(line.width - 1);
        let (x, _) = buf.set_stringn(start, line.y, path, inside, theme.muted());
        buf.set_stringn(
            x,
            line.y,
            last,
            usize::from(line.right() - x),
            theme.strong(),
        );
        let taken = u16::try_from(taken).unwrap_or(0);
        let x = line.right().saturating_sub(taken + 1).max(line.x);
        buf.set_stringn(
            x,
            line.y,
            status,
            usize::from(line.right() - x),
            theme.accent(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{draw, text};

    fn shown(header: &Header, columns: u16) -> String {
        let buffer = draw(columns, 1, |area, buf| {
            header.render(&Theme::default(), area, buf)
        });
        text(&buffer).trim_end().to_owned()
    }

    #[test]
    fn outer_crumbs_give_way_before_the_last_and_before_the_run() {
        let header = Header {
            crumbs: ["overrule", "best espresso grinder", "battle 3"]
                .map(str::to_owned)
                .to_vec(),
            status: "120/400  $0.12".to_owned(),
        };
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
    fn nothing_is_shown_for_nothing() {
        assert_eq!(shown(&Header::default(), 20), "");
    }
}
