//! Roles instead of colors: the only module of the interface that names colors.
//!
//! Text keeps the terminal's own foreground; a role adds its distinguishing style, hand-picked for
//! light and dark backgrounds at each depth. Without color, every role that carries meaning is
//! shown by a modifier.

mod choice;
mod color_depth;
mod ramp;
mod swatch;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

use swatch::{ACCENT, BAD, FAINT, GOOD, JUDGES, MATCH, MUTED, PERSON, Swatch, WARN};

pub use choice::ThemeChoice;
pub use color_depth::ColorDepth;
pub use ramp::{Heat, Ramp};

fn rgb(hex: u32) -> Color {
    let [_, red, green, blue] = hex.to_be_bytes();
    Color::Rgb(red, green, blue)
}

/// The color depth, the kind of background and the heat ramp of the screens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    pub depth: ColorDepth,
    pub light: bool,
    /// The diverging ramp of the heatmap.
    pub ramp: Ramp,
}

impl Theme {
    #[cfg(any(test, feature = "internals"))]
    pub fn new(depth: ColorDepth, light: bool) -> Self {
        Self {
            depth,
            light,
            ramp: Ramp::default(),
        }
    }

    fn color(&self, swatch: &Swatch) -> Option<Color> {
        let (full, cube, own) = if self.light {
            swatch.light
        } else {
            swatch.dark
        };
        match self.depth {
            ColorDepth::None => None,
            ColorDepth::Ansi16 => Some(own),
            ColorDepth::Ansi256 => Some(Color::Indexed(cube)),
            ColorDepth::True => Some(rgb(full)),
        }
    }

    fn ink(&self, swatch: &Swatch) -> Style {
        self.color(swatch)
            .map_or_else(Style::new, |color| Style::new().fg(color))
    }

    /// `swatch` as foreground, or `without` if there is no color.
    fn ink_or(&self, swatch: &Swatch, without: Modifier) -> Style {
        match self.depth {
            ColorDepth::None => Style::new().add_modifier(without),
            _ => self.ink(swatch),
        }
    }

    fn gray(&self, swatch: &Swatch) -> Style {
        match self.depth {
            ColorDepth::None | ColorDepth::Ansi16 => Style::new().add_modifier(Modifier::DIM),
            _ => self.ink(swatch),
        }
    }

    /// A background tint, or `without` if the depth has no subtle tints.
    fn tint(&self, dark: (u32, u8), light: (u32, u8), without: Modifier) -> Style {
        let (full, cube) = if self.light { light } else { dark };
        match self.depth {
            ColorDepth::None | ColorDepth::Ansi16 => Style::new().add_modifier(without),
            ColorDepth::Ansi256 => Style::new().bg(Color::Indexed(cube)),
            ColorDepth::True => Style::new().bg(rgb(full)),
        }
    }

    /// Running text in the terminal's own colors.
    pub fn text(&self) -> Style {
        Style::new()
    }

    /// The most important text on its line.
    pub fn strong(&self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Less important text: units, counts, explanations.
    pub fn muted(&self) -> Style {
        self.gray(&MUTED)
    }

    /// Text that may be overlooked: rules, borders, placeholders.
    pub fn faint(&self) -> Style {
        self.gray(&FAINT)
    }

    /// Something active: a focused border, a link, the mark of the current item.
    pub fn accent(&self) -> Style {
        self.ink_or(&ACCENT, Modifier::BOLD)
    }

    /// Headings of panes and overlays.
    pub fn title(&self) -> Style {
        self.strong()
    }

    pub fn border(&self) -> Style {
        self.faint()
    }

    /// The border of the focused pane.
    pub fn border_focus(&self) -> Style {
        self.accent()
    }

    /// The row under the cursor; patched over the row's own styles.
    pub fn selection(&self) -> Style {
        if self.depth == ColorDepth::Ansi16 {
            // Reversed colored words would become patches of color.
            return Style::new()
                .fg(Color::Reset)
                .add_modifier(Modifier::REVERSED);
        }
        self.tint((0x2b_35_4a, 237), (0xd6_e2_f4, 254), Modifier::REVERSED)
    }

    /// The cell under the cursor in a grid; patched over the cell's heat.
    pub fn cursor_cell(&self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD)
    }

    pub fn header(&self) -> Style {
        self.tint((0x1f_25_30, 235), (0xe9_ec_f2, 255), Modifier::BOLD)
    }

    pub fn footer(&self) -> Style {
        self.muted()
    }

    /// The name of a key, next to its action.
    pub fn key_hint(&self) -> Style {
        self.ink(&ACCENT).add_modifier(Modifier::BOLD)
    }

    /// Done, better, agreed.
    pub fn good(&self) -> Style {
        self.ink(&GOOD)
    }

    /// Worse, disagreed.
    pub fn bad(&self) -> Style {
        self.ink_or(&BAD, Modifier::UNDERLINED)
    }

    /// Needs attention.
    pub fn warn(&self) -> Style {
        self.ink_or(&WARN, Modifier::UNDERLINED)
    }

    pub fn error(&self) -> Style {
        self.ink_or(&BAD, Modifier::REVERSED)
            .add_modifier(Modifier::BOLD)
    }

    /// A person's verdict among the judges'.
    pub fn override_mark(&self) -> Style {
        self.ink_or(&PERSON, Modifier::UNDERLINED)
            .add_modifier(Modifier::BOLD)
    }

    /// A missing value: no vote, no label.
    pub fn missing(&self) -> Style {
        self.faint()
    }

    /// A term of the query inside a document.
    pub fn match_term(&self) -> Style {
        self.ink_or(&MATCH, Modifier::UNDERLINED)
            .add_modifier(Modifier::BOLD)
    }

    /// A search match.
    pub fn found(&self) -> Style {
        match self.depth {
            // The current match is reversed; if a selection is too, the other matches are not.
            ColorDepth::None => Style::new().add_modifier(Modifier::UNDERLINED | Modifier::ITALIC),
            ColorDepth::Ansi16 => self.match_term(),
            _ => self.selection().add_modifier(Modifier::BOLD),
        }
    }

    /// The current search match.
    pub fn found_current(&self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD | Modifier::UNDERLINED)
    }

    /// A judge's quote that occurs in the text.
    pub fn quote(&self) -> Style {
        self.ink(&ACCENT).add_modifier(Modifier::UNDERLINED)
    }

    /// The same for a judge whose reasoning is not shown.
    pub fn quote_of_others(&self) -> Style {
        Style::new().add_modifier(Modifier::UNDERLINED)
    }

    /// A judge's quote that does not occur in the text.
    pub fn quote_missing(&self) -> Style {
        self.ink_or(&BAD, Modifier::DIM)
            .add_modifier(Modifier::CROSSED_OUT)
    }

    /// Something hidden or unknown: a blind judge, a pending value.
    pub fn ghost(&self) -> Style {
        self.faint().add_modifier(Modifier::ITALIC)
    }

    pub fn bar_fill(&self) -> Style {
        self.ink(&ACCENT)
    }

    pub fn bar_back(&self) -> Style {
        self.faint()
    }

    pub fn tab_on(&self) -> Style {
        self.ink_or(&ACCENT, Modifier::REVERSED)
            .add_modifier(Modifier::BOLD)
    }

    pub fn tab_off(&self) -> Style {
        self.muted()
    }

    /// The `n`th judge of an ensemble; six hues that color-blind readers can distinguish too.
    pub fn judge(&self, n: usize) -> Style {
        JUDGES
            .get(n % JUDGES.len())
            .map_or_else(Style::new, |swatch| self.ink(swatch))
    }

    /// Gives text in the terminal's own color a legible color wherever the background is a tint. The
    /// terminal's background can differ from the one that the tint was chosen for: the theme may be
    /// set by the user, or the terminal may not have answered.
    pub fn make_legible(buf: &mut Buffer) {
        for cell in &mut buf.content {
            if cell.fg == Color::Reset
                && let Some(text) = ramp::text_on(cell.bg)
            {
                cell.fg = text;
            }
        }
    }

    /// A heat cell for `value` in 0 (row worse) ..= 1 (row better).
    pub fn heat(&self, value: f64) -> Heat {
        self.ramp.heat(self.depth, self.light, value)
    }

    /// Two rows of a grid on one line of half blocks; a missing half keeps the terminal's
    /// background.
    ///
    /// Without color, `█ ▀ ▄` mark the halves that are better and `: ' ,` those that are worse; `·`
    /// is even.
    pub fn heat_pair(&self, upper: Option<f64>, lower: Option<f64>) -> (char, Style) {
        self.ramp.pair(self.depth, self.light, upper, lower)
    }

    /// The same for dots and areas by score on the terminal's background: even values are gray
    /// here, whereas even cells of a grid fade into the background.
    pub fn score_pair(&self, upper: Option<f64>, lower: Option<f64>) -> (char, Style) {
        let (glyph, mut style) = self.heat_pair(upper, lower);
        let gray = self.faint().fg.filter(|_| self.depth != ColorDepth::None);
        let is_even =
            |value: Option<f64>| value.is_some_and(|value| (value - 0.5).abs() < EVEN_SCORE);
        if is_even(upper.or(lower)) {
            style.fg = gray.or(style.fg);
        }
        if upper.is_some() && is_even(lower) {
            style.bg = gray.or(style.bg);
        }
        (glyph, style)
    }
}

/// Maximum distance from one half of a score that counts as even: half a step of six.
const EVEN_SCORE: f64 = 1.0 / 12.0;

#[cfg(test)]
mod tests;
