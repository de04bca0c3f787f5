//! On every palette, the five levels of a battle and the cursor can be told apart.

use super::*;
use crate::tui::theme::Ramp;
use ratatui::style::{Color, Modifier};

const LEVELS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Smallest difference of two colors (CIE 1976) that is visible in neighboring cells.
const VISIBLE: f64 = 10.0;

const DOCUMENTS: usize = 6;

/// A matrix whose battles all have the same result.
struct Level(f64);

impl CellSource for Level {
    fn len(&self) -> usize {
        DOCUMENTS
    }

    fn cell(&self, _: usize, _: usize) -> HeatCell {
        HeatCell {
            value: Some(self.0),
            ..HeatCell::default()
        }
    }

    fn margin(&self, _: usize) -> MarginRow {
        MarginRow::default()
    }

    fn generation(&self) -> u64 {
        1
    }
}

#[derive(Debug, PartialEq)]
struct Look {
    symbols: String,
    fg: Color,
    bg: Color,
    modifiers: Modifier,
}

/// The cell of the first row and second column.
fn look(theme: &Theme, zoom: Zoom, level: f64, under_cursor: bool) -> Look {
    let area = Rect::new(0, 0, 118, 35);
    let mut buf = Buffer::empty(area);
    let state = HeatmapState {
        cursor: if under_cursor { (0, 1) } else { (4, 4) },
        zoom: Some(zoom),
    };
    let options = HeatmapOptions {
        signs: true,
        ..HeatmapOptions::default()
    };
    let mut cache = HeatmapCache::default();
    let view = render(
        area,
        &mut buf,
        theme,
        &state,
        &mut cache,
        &Level(level),
        &options,
    );
    let (wide, high) = (view.zoom.columns() as u16, view.zoom.lines_a_row() as u16);
    let cells: Vec<_> = (0..wide)
        .map(|x| {
            let y = view.body.y + (high - 1) / 2;
            buf.cell((view.body.x + wide + x, y)).unwrap()
        })
        .collect();
    Look {
        symbols: cells.iter().map(|cell| cell.symbol()).collect(),
        fg: cells[0].fg,
        bg: cells[0].bg,
        modifiers: cells[0].modifier,
    }
}

/// The color in CIE L*a*b*, for the white point D65.
fn lab(color: Color) -> Option<[f64; 3]> {
    let (red, green, blue) = match color {
        Color::Rgb(red, green, blue) => (red, green, blue),
        Color::Indexed(index @ 16..=231) => {
            let step = |level: u8| if level == 0 { 0 } else { 55 + 40 * level };
            let at = index - 16;
            (step(at / 36), step(at / 6 % 6), step(at % 6))
        }
        Color::Indexed(index @ 232..) => {
            let level = (index - 232) * 10 + 8;
            (level, level, level)
        }
        _ => return None,
    };
    let [r, g, b] = [red, green, blue].map(|channel| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.040_45 {
            share / 12.92
        } else {
            ((share + 0.055) / 1.055).powf(2.4)
        }
    });
    let [x, y, z] = [
        (0.412_4 * r + 0.357_6 * g + 0.180_5 * b) / 0.950_47,
        0.212_6 * r + 0.715_2 * g + 0.072_2 * b,
        (0.019_3 * r + 0.119_2 * g + 0.950_5 * b) / 1.088_83,
    ]
    .map(|part| {
        if part > 0.008_856 {
            part.cbrt()
        } else {
            7.787 * part + 16.0 / 116.0
        }
    });
    Some([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)])
}

fn differ(one: Color, other: Color) -> bool {
    match (lab(one), lab(other)) {
        (Some(one), Some(other)) => {
            let squares = one.iter().zip(other).map(|(a, b)| (a - b).powi(2));
            squares.sum::<f64>().sqrt() >= VISIBLE
        }
        _ => one != other,
    }
}

fn distinguishable(one: &Look, other: &Look) -> bool {
    // The foreground of blanks is invisible.
    let blank = one.symbols.trim().is_empty();
    one.symbols != other.symbols
        || one.modifiers != other.modifiers
        || differ(one.bg, other.bg)
        || (!blank && differ(one.fg, other.fg))
}

#[test]
fn levels_and_the_cursor_are_distinguishable_on_every_palette() {
    for (ramp, depth, light, zoom) in palettes() {
        let theme = Theme { depth, light, ramp };
        // A character of half blocks shows two cells, so that only better, even and worse remain.
        let three = zoom <= Zoom::Dense
            && (depth == ColorDepth::None || (depth == ColorDepth::Ansi16 && ramp == Ramp::Gray));
        let levels = if three {
            vec![0.0, 0.5, 1.0]
        } else {
            LEVELS.to_vec()
        };
        for (at, level) in levels.iter().enumerate() {
            let plain = look(&theme, zoom, *level, false);
            for other in &levels[at + 1..] {
                let other = look(&theme, zoom, *other, false);
                assert!(
                    distinguishable(&plain, &other),
                    "{theme:?} {zoom:?}\n{plain:?}\n{other:?}"
                );
            }
            for other in &levels {
                let cursor = look(&theme, zoom, *other, true);
                assert!(
                    distinguishable(&plain, &cursor),
                    "{theme:?} {zoom:?}\n{plain:?}\ncursor {cursor:?}"
                );
            }
        }
    }
}

fn palettes() -> Vec<(Ramp, ColorDepth, bool, Zoom)> {
    let mut all = Vec::new();
    for ramp in Ramp::ALL {
        for depth in DEPTHS {
            for light in [false, true] {
                for zoom in ZOOMS.into_iter().flatten() {
                    all.push((ramp, depth, light, zoom));
                }
            }
        }
    }
    all
}
