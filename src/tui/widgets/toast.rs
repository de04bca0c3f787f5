//! One transient line that says how something went.

use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::tui::layout::first_row;
use crate::tui::text::truncate;
use crate::tui::theme::Theme;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Info,
    Good,
    /// Done, but look.
    Warn,
    /// Not done.
    Error,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    pub level: Level,
    pub text: String,
    pub until: Instant,
}

impl Toast {
    /// A message shown from `now`: three seconds, or ten where something is wrong.
    pub fn new(level: Level, text: impl Into<String>, now: Instant) -> Self {
        let seconds = match level {
            Level::Info | Level::Good => 3,
            Level::Warn | Level::Error => 10,
        };
        Self {
            level,
            text: text.into(),
            until: now + Duration::from_secs(seconds),
        }
    }

    pub fn expired(&self, now: Instant) -> bool {
        now >= self.until
    }

    fn mark(&self) -> char {
        match self.level {
            Level::Info => '·',
            Level::Good => '✓',
            Level::Warn => '!',
            Level::Error => '✗',
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

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let line = first_row(area, buf.area);
        if line.is_empty() {
            return;
        }
        let text = format!("{} {}", self.mark(), self.text);
        for x in line.left()..line.right() {
            buf[(x, line.y)].reset();
        }
        let text = truncate(&text, usize::from(line.width));
        buf.set_string(line.x, line.y, text, self.style(theme));
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
        assert_eq!(text(&buffer), "✓ verdict s…\n\n");
    }
}
