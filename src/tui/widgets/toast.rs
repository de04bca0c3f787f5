//! A transient message that reports a result.

use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::tui::layout::{first_row, inset};
use crate::tui::text::{truncate, wrap};
use crate::tui::theme::Theme;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Info,
    Good,
    /// Done, but needs attention.
    Warn,
    /// Not done.
    Error,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    pub level: Level,
    pub text: String,
    pub until: Instant,
    /// The identifier of the decision that undo removes while this is visible.
    pub asks: Option<String>,
}

/// Maximum number of lines of a message.
const MOST_LINES: usize = 4;

impl Toast {
    /// A message shown from `now` on for three seconds, or for ten if something is wrong.
    pub fn new(level: Level, text: impl Into<String>, now: Instant) -> Self {
        let seconds = match level {
            Level::Info | Level::Good => 3,
            Level::Warn | Level::Error => 10,
        };
        Self {
            level,
            text: text.into(),
            until: now + Duration::from_secs(seconds),
            asks: None,
        }
    }

    pub fn expired(&self, now: Instant) -> bool {
        now >= self.until
    }

    fn mark(&self) -> &'static str {
        match self.level {
            Level::Info => "",
            Level::Good => "✓ ",
            Level::Warn => "! ",
            Level::Error => "✗ ",
        }
    }

    fn style(&self, theme: &Theme) -> Style {
        match self.level {
            Level::Info => theme.text(),
            Level::Good => theme.good(),
            Level::Warn => theme.warn(),
            Level::Error => theme.error(),
        }
    }

    /// Draws the message on the line of `area`; a longer one also uses up to three lines above it.
    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let whole = first_row(area, buf.area);
        let line = inset(whole);
        if line.is_empty() {
            return;
        }
        let columns = usize::from(line.width);
        let text = format!("{}{}", self.mark(), self.text);
        let ranges = wrap(&text, columns);
        let room = usize::from(line.y - buf.area.y + 1).min(MOST_LINES);
        let mut rows: Vec<&str> = ranges.iter().map(|range| &text[range.clone()]).collect();
        if rows.len() > room {
            rows.truncate(room);
            // The last row gets all of the remaining text, so that its truncation marks the
            // omission.
            rows[room - 1] = &text[ranges[room - 1].start..];
        }
        let top = line.y - (rows.len() - 1) as u16;
        for (y, row) in (top..).zip(rows) {
            for x in whole.left()..whole.right() {
                buf[(x, y)].reset();
            }
            buf.set_string(line.x, y, truncate(row, columns), self.style(theme));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{draw, text};

    #[test]
    fn a_toast_covers_its_line_and_goes_away() {
        let now = Instant::now();
        let toast = Toast::new(Level::Good, "verdict saved", now);
        assert!(!toast.expired(now) && toast.expired(now + Duration::from_secs(3)));
        assert!(!Toast::new(Level::Error, "", now).expired(now + Duration::from_secs(3)));
        let buffer = draw(12, 2, |area, buf| {
            buf.set_string(0, 0, "xxxxxxxxxxxx", Style::new());
            toast.render(&Theme::default(), area, buf);
        });
        assert_eq!(text(&buffer), " ✓ verdict…\n\n");
    }

    #[test]
    fn a_long_message_takes_lines_above_its_own() {
        let message = "no key is set, so the offline judges are used";
        let toast = Toast::new(Level::Info, message, Instant::now());
        let shown = |height: u16| {
            text(&draw(20, height, |area, buf| {
                let bottom = Rect {
                    y: height - 1,
                    height: 1,
                    ..area
                };
                toast.render(&Theme::default(), bottom, buf);
            }))
        };
        assert_eq!(
            shown(4),
            "\n no key is set, so\n the offline judges\n are used\n"
        );
        assert_eq!(shown(2), " no key is set, so\n the offline judge…\n");
    }
}
