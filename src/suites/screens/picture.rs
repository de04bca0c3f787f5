//! Draws a terminal screen as an SVG picture for the README.
//!
//! Block elements become rectangles, which meet without gaps in every viewer. The rest is monospace
//! text.

use crate::formats::svg::escape;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

type Rgb = (u8, u8, u8);

const WIDE: usize = 8;
const HIGH: usize = 16;
const PAD: usize = 12;

/// The default colors of a terminal.
#[derive(Clone, Copy)]
pub(crate) struct TerminalColors {
    foreground: Rgb,
    background: Rgb,
}

pub(crate) const DARK: TerminalColors = TerminalColors {
    foreground: (214, 216, 222),
    background: (22, 24, 29),
};
pub(crate) const LIGHT: TerminalColors = TerminalColors {
    foreground: (36, 41, 47),
    background: (250, 250, 250),
};

/// The style of a run of text.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ink {
    color: Rgb,
    bold: bool,
    underlined: bool,
}

#[derive(Default)]
struct Layers {
    shapes: [BTreeMap<Rgb, String>; 2],
    shades: BTreeMap<(char, Rgb), String>,
    text: String,
}

/// The screen in `buffer` as one SVG document.
pub(crate) fn buffer_svg(buffer: &Buffer, title: &str, colors: TerminalColors) -> String {
    let mut layers = Layers::default();
    for y in 0..usize::from(buffer.area.height) {
        let start = y * usize::from(buffer.area.width);
        let end = start + usize::from(buffer.area.width);
        if let Some(cells) = buffer.content.get(start..end) {
            line(&mut layers, cells, y, colors);
        }
    }
    assemble(&layers, buffer, title, colors)
}

/// The colors of a cell on a screen in true color, which sets RGB colors or leaves the terminal's
/// own.
fn cell_colors(cell: &Cell, colors: TerminalColors) -> (Rgb, Rgb) {
    let resolve = |color, default| match color {
        Color::Rgb(red, green, blue) => (red, green, blue),
        _ => default,
    };
    let front = resolve(cell.fg, colors.foreground);
    let back = resolve(cell.bg, colors.background);
    if cell.modifier.contains(Modifier::REVERSED) {
        (back, front)
    } else {
        (front, back)
    }
}

fn hex((red, green, blue): Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A run of one color on a line, written as one rectangle.
#[derive(Default)]
struct Stretch(Option<(Rgb, usize, usize)>);

impl Stretch {
    fn extend(
        &mut self,
        color: Option<Rgb>,
        x: usize,
        y: (usize, usize),
        out: &mut BTreeMap<Rgb, String>,
    ) {
        if let (Some((old, _, end)), Some(new)) = (&mut self.0, color)
            && *old == new
            && *end == x
        {
            *end = x + WIDE;
            return;
        }
        self.flush(y, out);
        self.0 = color.map(|color| (color, x, x + WIDE));
    }

    fn flush(&mut self, (top, height): (usize, usize), out: &mut BTreeMap<Rgb, String>) {
        if let Some((color, from, to)) = self.0.take() {
            rectangle(out.entry(color).or_default(), from, top, to - from, height);
        }
    }
}

fn rectangle(path: &mut String, x: usize, y: usize, width: usize, height: usize) {
    let _ = write!(path, "M{x} {y}h{width}v{height}h-{width}z");
}

fn line(layers: &mut Layers, cells: &[Cell], y: usize, colors: TerminalColors) {
    let top = PAD + y * HIGH;
    let half = HIGH / 2;
    let bands = [(top, half), (top + half, half)];
    let mut stretches = [Stretch::default(), Stretch::default()];
    let mut run: Option<(Ink, usize, String, usize)> = None;
    let mut skip = 0;
    for (column, cell) in cells.iter().enumerate() {
        let x = PAD + column * WIDE;
        let (front, back) = cell_colors(cell, colors);
        let symbol = cell.symbol();
        let mark = symbol.chars().next().unwrap_or(' ');
        let (upper, lower) = match mark {
            '█' => (front, front),
            '▀' => (front, back),
            '▄' => (back, front),
            _ => (back, back),
        };
        for ((stretch, color), band) in stretches.iter_mut().zip([upper, lower]).zip(bands) {
            let seen = (color != colors.background).then_some(color);
            stretch.extend(seen, x, band, &mut layers.shapes[0]);
        }
        if skip > 0 {
            skip -= 1;
            continue;
        }
        skip = symbol.width().saturating_sub(1);
        let blank = mark == ' ' && !cell.modifier.contains(Modifier::UNDERLINED);
        if matches!(mark, '░' | '▒' | '▓') {
            let path = layers.shades.entry((mark, front)).or_default();
            rectangle(path, x, top, WIDE, HIGH);
        } else if let Some(shapes) = shapes(mark) {
            for (dx, dy, width, height) in shapes {
                let path = layers.shapes[1].entry(front).or_default();
                rectangle(path, x + dx, top + dy, width, height);
            }
        } else if !blank && !matches!(mark, '█' | '▀' | '▄') {
            let ink = Ink {
                color: front,
                bold: cell.modifier.contains(Modifier::BOLD),
                underlined: cell.modifier.contains(Modifier::UNDERLINED),
            };
            match &mut run {
                Some((old, _, text, end))
                    if *old == ink && column >= *end && column - *end <= 1 =>
                {
                    text.push_str(&" ".repeat(column - *end));
                    text.push_str(symbol);
                    *end = column + 1 + skip;
                }
                _ => {
                    write_run(&mut layers.text, run.take(), top);
                    run = Some((ink, column, symbol.to_owned(), column + 1 + skip));
                }
            }
        }
    }
    write_run(&mut layers.text, run, top);
    for (stretch, band) in stretches.iter_mut().zip(bands) {
        stretch.flush(band, &mut layers.shapes[0]);
    }
}

fn write_run(out: &mut String, run: Option<(Ink, usize, String, usize)>, top: usize) {
    let Some((ink, start, text, end)) = run else {
        return;
    };
    let _ = write!(
        out,
        r#"<text x="{}" y="{}" textLength="{}" fill="{}""#,
        PAD + start * WIDE,
        top + 12,
        (end - start) * WIDE,
        hex(ink.color)
    );
    if ink.bold {
        out.push_str(r#" font-weight="bold""#);
    }
    if ink.underlined {
        out.push_str(r#" text-decoration="underline""#);
    }
    let _ = writeln!(out, ">{}</text>", escape(&text));
}

fn assemble(layers: &Layers, buffer: &Buffer, title: &str, colors: TerminalColors) -> String {
    let width = usize::from(buffer.area.width) * WIDE + 2 * PAD;
    let height = usize::from(buffer.area.height) * HIGH + 2 * PAD;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="13" xml:space="preserve">"#
    );
    let _ = writeln!(svg, "<title>{}</title>", escape(title));
    if !layers.shades.is_empty() {
        svg.push_str("<defs>\n");
        for (number, (mark, color)) in layers.shades.keys().enumerate() {
            let dots = match mark {
                '░' => "M0 0h2v2h-2z",
                '▒' => "M0 0h2v2h-2zM2 2h2v2h-2z",
                _ => "M0 0h4v2h-4zM2 2h2v2h-2z",
            };
            let _ = writeln!(
                svg,
                r#"<pattern id="s{number}" width="4" height="4" patternUnits="userSpaceOnUse"><path d="{dots}" fill="{}"/></pattern>"#,
                hex(*color)
            );
        }
        svg.push_str("</defs>\n");
    }
    let _ = writeln!(
        svg,
        r#"<rect width="{width}" height="{height}" rx="8" fill="{}"/>"#,
        hex(colors.background)
    );
    svg.push_str("<g shape-rendering=\"crispEdges\">\n");
    let draw = |svg: &mut String, shapes: &BTreeMap<Rgb, String>| {
        for (color, path) in shapes {
            let _ = writeln!(svg, r#"<path fill="{}" d="{path}"/>"#, hex(*color));
        }
    };
    draw(&mut svg, &layers.shapes[0]);
    for (number, path) in layers.shades.values().enumerate() {
        let _ = writeln!(svg, r#"<path fill="url(#s{number})" d="{path}"/>"#);
    }
    draw(&mut svg, &layers.shapes[1]);
    svg.push_str("</g>\n");
    svg.push_str(&layers.text);
    svg.push_str("</svg>\n");
    svg
}

/// The rectangles (x, y, width, height) of a box-drawing character in its cell; `None` if it is
/// drawn as text.
fn shapes(symbol: char) -> Option<Vec<(usize, usize, usize, usize)>> {
    let light = |from, to| (from, 7, to - from, 1);
    let heavy = |from, to| (from, 7, to - from, 2);
    Some(match symbol {
        '─' => vec![light(0, 8)],
        '━' => vec![heavy(0, 8)],
        '╴' => vec![light(0, 4)],
        '╶' => vec![light(4, 8)],
        '╸' => vec![heavy(0, 4)],
        '╺' => vec![heavy(4, 8)],
        '╼' => vec![light(0, 4), heavy(4, 8)],
        '╾' => vec![heavy(0, 4), light(4, 8)],
        '│' => vec![(4, 0, 1, 16)],
        '╷' => vec![(4, 8, 1, 8)],
        _ => return None,
    })
}
