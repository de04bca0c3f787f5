//! The heat ramps: values from 0 (row worse) to 1 (row better), hand-picked for each depth and
//! background.
//!
//! On the colored ramps, lightness moves away from the background monotonically from the middle to
//! both ends, so the size of a margin survives grayscale; the sign also shows the side.

mod stops;

use std::fmt;
use std::str::FromStr;

use ratatui::style::{Color, Modifier, Style};
use serde::{Deserialize, Serialize};

use super::color_depth::ColorDepth;
use stops::{
    BLUE_ORANGE_DARK, BLUE_ORANGE_LIGHT, GRAY, RED_GREEN_DARK, RED_GREEN_LIGHT, Rgb, Stops,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ramp {
    /// Red is worse, green is better, as in the zELO figures.
    #[default]
    RedGreen,
    /// Orange is worse, blue is better: safe for color-blind readers.
    BlueOrange,
    /// Dark is worse, light is better.
    #[serde(alias = "grey")]
    Gray,
}

/// A painted heat cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heat {
    /// Style of the cell and of any text in it.
    pub style: Style,
    /// The value without color: `. :` worse, `·` even, `░ ▒ ▓ █` better. As in the half blocks of
    /// [`Ramp::pair`], only better values fill the cell.
    pub glyph: char,
    /// The side: `-` row worse, `+` row better, blank even.
    pub sign: char,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown ramp {0:?}: expected red-green, blue-orange or gray")]
pub struct UnknownRamp(pub String);

/// Text colors of the fixed cube: its darkest and its lightest, which no palette redefines.
const CUBE_DARK: u8 = 16;
const CUBE_LIGHT: u8 = 231;
const EVEN: f64 = 0.1;

fn clean(value: f64) -> f64 {
    if value.is_nan() {
        0.5
    } else {
        value.clamp(0.0, 1.0)
    }
}

/// Distance from even in 0..=1.
fn strength(value: f64) -> f64 {
    (clean(value) - 0.5).abs() * 2.0
}

fn sign(value: f64) -> char {
    match clean(value) - 0.5 {
        side if side < -EVEN / 2.0 => '-',
        side if side > EVEN / 2.0 => '+',
        _ => ' ',
    }
}

fn glyph(value: f64) -> char {
    match (sign(value), strength(value)) {
        (' ', _) => '·',
        ('-', far) if far > 0.55 => ':',
        ('-', _) => '.',
        (_, far) if far > 0.8 => '█',
        (_, far) if far > 0.55 => '▓',
        (_, far) if far > 0.3 => '▒',
        _ => '░',
    }
}

fn bin<T: Copy, const N: usize>(stops: &[T; N], value: f64) -> T {
    let at = (clean(value) * N as f64) as usize;
    stops[at.min(N - 1)]
}

fn blend(stops: &[Rgb; 7], value: f64) -> Rgb {
    let place = clean(value) * 6.0;
    let left = (place.floor() as usize).min(5);
    let part = place - left as f64;
    let (from, to) = (stops[left], stops[left + 1]);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    (mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

fn luminance((red, green, blue): Rgb) -> f64 {
    let linear = |channel: u8| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.040_45 {
            share / 12.92
        } else {
            ((share + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

pub(super) fn contrast(one: Rgb, other: Rgb) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn takes_dark_text(background: Rgb) -> bool {
    contrast(background, (0, 0, 0)) >= contrast(background, (255, 255, 255))
}

fn cube_rgb(index: u8) -> Rgb {
    let step = |level: u8| if level == 0 { 0 } else { 55 + 40 * level };
    match index {
        16..=231 => {
            let at = index - 16;
            (step(at / 36), step(at / 6 % 6), step(at % 6))
        }
        _ => {
            let level = index
                .saturating_sub(232)
                .saturating_mul(10)
                .saturating_add(8);
            (level, level, level)
        }
    }
}

/// Black or white, whichever is easier to read on this color; `None` for the colors of the user's
/// palette, whose values are unknown.
pub(super) fn text_on(background: Color) -> Option<Color> {
    match background {
        Color::Rgb(red, green, blue) if takes_dark_text((red, green, blue)) => {
            Some(Color::Rgb(0, 0, 0))
        }
        Color::Rgb(..) => Some(Color::Rgb(255, 255, 255)),
        Color::Indexed(index) if takes_dark_text(cube_rgb(index)) => {
            Some(Color::Indexed(CUBE_DARK))
        }
        Color::Indexed(_) => Some(Color::Indexed(CUBE_LIGHT)),
        _ => None,
    }
}

impl Ramp {
    /// All ramps, in the order in which the key cycles through them.
    pub const ALL: [Self; 3] = [Self::RedGreen, Self::BlueOrange, Self::Gray];

    pub fn next(self) -> Self {
        match self {
            Self::RedGreen => Self::BlueOrange,
            Self::BlueOrange => Self::Gray,
            Self::Gray => Self::RedGreen,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::RedGreen => "red-green",
            Self::BlueOrange => "blue-orange",
            Self::Gray => "gray",
        }
    }

    fn stops(self, light: bool) -> &'static Stops {
        match (self, light) {
            (Self::RedGreen, false) => &RED_GREEN_DARK,
            (Self::RedGreen, true) => &RED_GREEN_LIGHT,
            (Self::BlueOrange, false) => &BLUE_ORANGE_DARK,
            (Self::BlueOrange, true) => &BLUE_ORANGE_LIGHT,
            (Self::Gray, _) => &GRAY,
        }
    }

    fn paint(self, depth: ColorDepth, light: bool, value: f64) -> Option<Color> {
        let stops = self.stops(light);
        match depth {
            ColorDepth::None => None,
            ColorDepth::Ansi16 => Some(bin(&stops.own, value)),
            ColorDepth::Ansi256 => Some(Color::Indexed(bin(&stops.cube, value))),
            ColorDepth::True => {
                let (red, green, blue) = blend(&stops.full, value);
                Some(Color::Rgb(red, green, blue))
            }
        }
    }

    /// The sixteen colors are the user's own palette, which is legible on its background. Text is
    /// therefore colored, and a strong margin reversed, instead of combining two of these colors.
    fn own_style(self, light: bool, value: f64) -> Style {
        let plain = match sign(value) {
            ' ' => return Style::new().add_modifier(Modifier::DIM),
            '-' if self == Self::Gray => Style::new().add_modifier(Modifier::DIM),
            _ if self == Self::Gray => Style::new(),
            side => {
                let stops = &self.stops(light).own;
                Style::new().fg(match (side, light) {
                    ('-', false) => stops[1],
                    ('-', true) => stops[0],
                    (_, false) if self == Self::BlueOrange => stops[4],
                    (_, false) => stops[3],
                    (_, true) => stops[4],
                })
            }
        };
        if strength(value) > 0.55 {
            plain.add_modifier(Modifier::REVERSED)
        } else {
            plain
        }
    }

    pub fn heat(self, depth: ColorDepth, light: bool, value: f64) -> Heat {
        let style = match self.paint(depth, light, value) {
            None => Style::new(),
            Some(color) => match text_on(color) {
                Some(text) => Style::new().fg(text).bg(color),
                None => self.own_style(light, value),
            },
        };
        Heat {
            style,
            glyph: glyph(value),
            sign: sign(value),
        }
    }

    /// Two values in one cell of half blocks.
    pub fn pair(
        self,
        depth: ColorDepth,
        light: bool,
        upper: Option<f64>,
        lower: Option<f64>,
    ) -> (char, Style) {
        // The sixteen colors have too few grays.
        if depth == ColorDepth::None || (depth == ColorDepth::Ansi16 && self == Self::Gray) {
            return (plain_pair(upper, lower), Style::new());
        }
        let paint = |value: Option<f64>| value.and_then(|value| self.paint(depth, light, value));
        match (paint(upper), paint(lower)) {
            (None, None) => (' ', Style::new()),
            (None, Some(lower)) => ('▄', Style::new().fg(lower)),
            (Some(upper), None) => ('▀', Style::new().fg(upper)),
            (Some(upper), Some(lower)) => ('▀', Style::new().fg(upper).bg(lower)),
        }
    }
}

fn plain_pair(upper: Option<f64>, lower: Option<f64>) -> char {
    match (upper.map(sign), lower.map(sign)) {
        (None, None) => ' ',
        (Some('+'), Some('+')) => '█',
        (Some('+'), _) => '▀',
        (_, Some('+')) => '▄',
        (Some('-'), Some('-')) => ':',
        (Some('-'), _) => '\'',
        (_, Some('-')) => ',',
        _ => '·',
    }
}

impl fmt::Display for Ramp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Ramp {
    type Err = UnknownRamp;

    fn from_str(name: &str) -> Result<Self, UnknownRamp> {
        if name == "grey" {
            return Ok(Self::Gray);
        }
        Self::ALL
            .into_iter()
            .find(|ramp| ramp.name() == name)
            .ok_or_else(|| UnknownRamp(name.into()))
    }
}

#[cfg(test)]
mod tests;
