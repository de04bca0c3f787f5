//! Roles instead of colours: the only place of the interface that names a colour.
//!
//! Text keeps the terminal's own foreground; a role adds what sets it apart, hand-picked for light and dark
//! backgrounds at each depth. Without colour every role that carries meaning is told by a modifier.

mod choice;
mod colour_depth;
mod ramp;
mod swatch;

use ratatui::style::{Color, Modifier, Style};

use swatch::{ACCENT, BAD, FAINT, GOOD, JUDGES, MATCH, MUTED, PERSON, Swatch, WARN};

pub use choice::ThemeChoice;
pub use colour_depth::ColourDepth;
pub use ramp::{Heat, Ramp};

fn rgb(hex: u32) -> Color {
    let [_, red, green, blue] = hex.to_be_bytes();
    Color::Rgb(red, green, blue)
}

/// What the screens are painted with: the depth, the background's kind and the heat ramp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Theme {
    pub depth: ColourDepth,
    pub light: bool,
    /// The diverging ramp of the heatmap.
    pub ramp: Ramp,
}

impl Theme {
    #[cfg(any(test, feature = "internals"))]
    pub fn new(depth: ColourDepth, light: bool) -> Self {
        Self {
            depth,
            light,
            ramp: Ramp::default(),
        }
    }

    fn colour(&self, swatch: &Swatch) -> Option<Color> {
        let (full, cube, own) = if self.light {
            swatch.light
        } else {
            swatch.dark
        };
        match self.depth {
            ColourDepth::None => None,
            ColourDepth::Ansi16 => Some(own),
            ColourDepth::Ansi256 => Some(Color::Indexed(cube)),
            ColourDepth::True => Some(rgb(full)),
        }
    }

    fn ink(&self, swatch: &Swatch) -> Style {
        self.colour(swatch)
            .map_or_else(Style::new, |colour| Style::new().fg(colour))
    }

    /// `swatch` as foreground, or `without` where there is no colour.
    fn ink_or(&self, swatch: &Swatch, without: Modifier) -> Style {
        match self.depth {
            ColourDepth::None => Style::new().add_modifier(without),
            _ => self.ink(swatch),
        }
    }

    fn grey(&self, swatch: &Swatch) -> Style {
        match self.depth {
            ColourDepth::None | ColourDepth::Ansi16 => Style::new().add_modifier(Modifier::DIM),
            _ => self.ink(swatch),
        }
    }

    /// A background tint, or `without` where the depth has no quiet tints.
    fn tint(&self, dark: (u32, u8), light: (u32, u8), without: Modifier) -> Style {
        let (full, cube) = if self.light { light } else { dark };
        match self.depth {
            ColourDepth::None | ColourDepth::Ansi16 => Style::new().add_modifier(without),
            ColourDepth::Ansi256 => Style::new().bg(Color::Indexed(cube)),
            ColourDepth::True => Style::new().bg(rgb(full)),
        }
    }

    /// Running text: the terminal's own colours.
    pub fn text(&self) -> Style {
        Style::new()
    }

    /// Text that matters most on its line.
    pub fn strong(&self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Text of second rank: units, counts, explanations.
    pub fn muted(&self) -> Style {
        self.grey(&MUTED)
    }

    /// Text that may be overlooked: rules, borders, placeholders.
    pub fn faint(&self) -> Style {
        self.grey(&FAINT)
    }

    /// What is active: a focused border, a link, the current item's mark.
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

    /// The border of the pane that gets the keys.
    pub fn border_focus(&self) -> Style {
        self.accent()
    }

    /// The row under the cursor; patched over the row's own styles.
    pub fn selection(&self) -> Style {
        if self.depth == ColourDepth::Ansi16 {
            // Reversed words in colours would be patches of them.
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

    /// A key's name beside what it does.
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

    /// Deserves a look.
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

    /// A value that is not there: no vote, no label.
    pub fn missing(&self) -> Style {
        self.faint()
    }

    /// A term of the query inside a document.
    pub fn match_term(&self) -> Style {
        self.ink_or(&MATCH, Modifier::UNDERLINED)
            .add_modifier(Modifier::BOLD)
    }

    /// A place where the words of a search stand.
    pub fn found(&self) -> Style {
        match self.depth {
            // The place that is shown is reversed; where a selection is too, the others are not.
            ColourDepth::None => Style::new().add_modifier(Modifier::UNDERLINED | Modifier::ITALIC),
            ColourDepth::Ansi16 => self.match_term(),
            _ => self.selection().add_modifier(Modifier::BOLD),
        }
    }

    /// The place of a search that is shown.
    pub fn found_current(&self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD | Modifier::UNDERLINED)
    }

    /// A judge's quote that occurs in the text.
    pub fn quote(&self) -> Style {
        self.ink(&ACCENT).add_modifier(Modifier::UNDERLINED)
    }

    /// The same of a judge whose reasoning is not shown.
    pub fn quote_of_others(&self) -> Style {
        Style::new().add_modifier(Modifier::UNDERLINED)
    }

    /// A judge's quote that does not occur in the text.
    pub fn quote_missing(&self) -> Style {
        self.ink_or(&BAD, Modifier::DIM)
            .add_modifier(Modifier::CROSSED_OUT)
    }

    /// What is hidden or not yet known: a blind judge, a pending value.
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

    /// The `n`th judge of an ensemble; six hues that differ for colour-blind readers too.
    pub fn judge(&self, n: usize) -> Style {
        JUDGES
            .get(n % JUDGES.len())
            .map_or_else(Style::new, |swatch| self.ink(swatch))
    }

    /// A heat cell for `value` in 0 (row worse) ..= 1 (row better).
    pub fn heat(&self, value: f64) -> Heat {
        self.ramp.heat(self.depth, self.light, value)
    }

    /// Two rows of a grid in one line of half blocks; a missing half stays the terminal's background.
    ///
    /// Without colour `█ ▀ ▄` mark the halves that are better and `: ' ,` those that are worse; `·` is even.
    pub fn heat_pair(&self, upper: Option<f64>, lower: Option<f64>) -> (char, Style) {
        self.ramp.pair(self.depth, self.light, upper, lower)
    }

    /// The same for dots and areas by score on the terminal's background: what is even is grey, where a grid's even cells fade
    /// into it.
    pub fn score_pair(&self, upper: Option<f64>, lower: Option<f64>) -> (char, Style) {
        let (glyph, mut style) = self.heat_pair(upper, lower);
        let grey = self.faint().fg.filter(|_| self.depth != ColourDepth::None);
        let is_even =
            |value: Option<f64>| value.is_some_and(|value| (value - 0.5).abs() < EVEN_SCORE);
        if is_even(upper.or(lower)) {
            style.fg = grey.or(style.fg);
        }
        if upper.is_some() && is_even(lower) {
            style.bg = grey.or(style.bg);
        }
        (glyph, style)
    }
}

/// How far from one half a score of the even kind is at most: half a step of six.
const EVEN_SCORE: f64 = 1.0 / 12.0;

#[cfg(test)]
mod tests;
