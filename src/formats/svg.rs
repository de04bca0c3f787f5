//! Pictures for papers and web pages, including the matrix, as plain SVG text; the same input gives
//! the same bytes.

pub(crate) mod chart;
mod histogram;
mod labels;
mod plane;
mod two_orders;

pub use chart::{CHART_STYLE, Place};
pub use histogram::histogram_svg;
pub use labels::{SvgLabel, escape};
pub use plane::{Plane, PlaneMethod, PlanePoint, plane_svg};
pub use two_orders::{OrderRow, TwoOrders, two_orders_svg};

use labels::{CELL, LABEL_ROOM, header, row_label};
use std::fmt::Write;

const PAD: usize = 16;
const TITLE: usize = 44;
const FOOT: usize = 64;
const TITLED_CELLS_MAX: usize = 60;
const NUMBERED_CELLS_MAX: usize = 40;
const EDGES: [(u8, u8, u8); 5] = [
    (158, 27, 50),
    (222, 110, 84),
    (245, 236, 205),
    (146, 201, 128),
    (44, 145, 80),
];

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SvgCell {
    /// The row's document compared with the column's: 0 worse, 1 better, `None` if unknown.
    pub value: Option<f64>,
    pub planned: bool,
    pub missing: bool,
    pub overruled: bool,
    /// Whether the value is an expectation instead of a vote; drawn as a smaller square.
    pub expected: bool,
    /// What gave the value, in singular, if it was not battles; drawn in half tone.
    pub answered: Option<&'static str>,
}

/// The color of a value between 0 (row worse, red) and 1 (row better, green), as `#rrggbb`.
pub fn ramp(value: f64) -> String {
    let place = if value.is_nan() {
        0.5
    } else {
        value.clamp(0.0, 1.0)
    } * 4.0;
    let left = (place.floor() as usize).min(3);
    let part = place - left as f64;
    let (from, to) = (EDGES[left], EDGES[left + 1]);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    format!(
        "#{:02x}{:02x}{:02x}",
        mix(from.0, to.0),
        mix(from.1, to.1),
        mix(from.2, to.2)
    )
}

/// A K×K heatmap in the order of `labels`; `cell` is called once for every row and column.
///
/// With up to sixty documents, every cell with battles has a `<title>`; with up to forty, it also
/// shows its value in hundredths.
pub fn matrix_svg(
    cell: &dyn Fn(usize, usize) -> SvgCell,
    labels: &[SvgLabel],
    title: &str,
    caption: &str,
) -> String {
    let k = labels.len();
    let (left, top) = (PAD + LABEL_ROOM, TITLE + 24);
    let width = (left + k * CELL + PAD).max(600);
    let height = top + k * CELL + FOOT;
    let mut svg = String::new();
    open(&mut svg, (width, height), title, caption);
    let _ = writeln!(
        svg,
        r##"<rect x="{left}" y="{top}" width="{0}" height="{0}" fill="#f4f4f2"/>"##,
        k * CELL
    );
    let scale = labels
        .iter()
        .filter_map(|label| {
            label
                .zelo
                .map(|zelo| zelo.abs() + label.se.unwrap_or(0.0).abs())
        })
        .filter(|reach| reach.is_finite())
        .fold(0.0, f64::max);
    let mut answered = None;
    for (row, label) in labels.iter().enumerate() {
        let y = top + row * CELL;
        let _ = writeln!(svg, r#"<g class="row">"#);
        row_label(&mut svg, label, (PAD, y), scale);
        for (col, other) in labels.iter().enumerate() {
            let at = (left + col * CELL, y);
            if row == col {
                let _ = writeln!(
                    svg,
                    r##"<path d="M{} {}l{CELL} {CELL}" stroke="#b9b9b4"/>"##,
                    at.0, at.1
                );
            } else {
                let cell = cell(row, col);
                answered = answered.or(cell.answered);
                square(&mut svg, cell, at, k, (label, other));
            }
        }
        svg.push_str("</g>\n");
    }
    header(&mut svg, labels, (left, top));
    foot(&mut svg, top + k * CELL + 24, caption, answered);
    svg.push_str("</svg>\n");
    svg
}

fn open(svg: &mut String, (width, height): (usize, usize), title: &str, caption: &str) {
    let title = escape(title);
    let _ = writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" font-family="system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="11">"#
    );
    let _ = writeln!(
        svg,
        "<title>{title}</title>\n<desc>{}</desc>",
        escape(caption)
    );
    let _ = writeln!(
        svg,
        concat!(
            r##"<defs><pattern id="missing" width="4" height="4" patternUnits="userSpaceOnUse" "##,
            r##"patternTransform="rotate(45)"><path d="M0 0v4" stroke="#fff" stroke-width="3"/></pattern>"##,
            r##"<pattern id="answered" width="4" height="4" patternUnits="userSpaceOnUse">"##,
            r##"<path d="M0 0h2v2h2v2h-2v-2h-2z" fill="#fff"/></pattern></defs>"##
        )
    );
    let _ = writeln!(
        svg,
        r##"<rect width="{width}" height="{height}" fill="#fff"/>"##
    );
    let _ = writeln!(
        svg,
        r##"<text x="{PAD}" y="26" font-size="15" font-weight="600" fill="#222">{title}</text>"##
    );
}

fn square(
    svg: &mut String,
    cell: SvgCell,
    (x, y): (usize, usize),
    k: usize,
    (row, col): (&SvgLabel, &SvgLabel),
) {
    let Some(value) = cell.value else {
        if cell.overruled {
            diamond(svg, (x, y));
        } else if cell.planned {
            let (x, y) = (x + CELL / 2, y + CELL / 2);
            let _ = writeln!(
                svg,
                r##"<circle cx="{x}" cy="{y}" r="1.5" fill="none" stroke="#999"/>"##
            );
        }
        return;
    };
    let inset = if cell.expected { CELL / 4 } else { 0 };
    let _ = write!(
        svg,
        r#"<rect x="{}" y="{}" width="{side}" height="{side}" fill="{}""#,
        x + inset,
        y + inset,
        ramp(value),
        side = CELL - 2 * inset,
    );
    if k <= TITLED_CELLS_MAX {
        let _ = write!(
            svg,
            "><title>{} × {}: {value:.2}",
            escape(&row.id),
            escape(&col.id)
        );
        svg.push_str(if cell.overruled { ", overruled" } else { "" });
        svg.push_str(if cell.missing { ", votes missing" } else { "" });
        if let Some(noun) = cell.answered {
            let _ = write!(svg, ", from {}s", escape(noun));
        }
        svg.push_str("</title></rect>\n");
    } else {
        svg.push_str("/>\n");
    }
    let over = match (cell.missing, cell.answered) {
        (true, _) => Some("missing"),
        (false, Some(_)) => Some("answered"),
        (false, None) => None,
    };
    if let Some(pattern) = over {
        let _ = writeln!(
            svg,
            r#"<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="url(#{pattern})" pointer-events="none"/>"#
        );
    }
    let ink = if value < 0.2 { "#fff" } else { "#222" };
    if cell.overruled {
        diamond(svg, (x, y));
    } else if k <= NUMBERED_CELLS_MAX && over.is_none() && !cell.expected {
        let hundredths = (value.clamp(0.0, 1.0) * 100.0).round();
        let _ = writeln!(
            svg,
            r#"<text x="{}" y="{}" font-size="8" text-anchor="middle" fill="{ink}" pointer-events="none">{hundredths}</text>"#,
            x + CELL / 2,
            y + CELL - 5
        );
    }
}

/// The mark of a verdict, in one color on all cells.
fn diamond(svg: &mut String, (x, y): (usize, usize)) {
    let (x, y) = (x + CELL / 2, y + 3);
    let _ = writeln!(
        svg,
        r##"<path d="M{x} {y}l5 5l-5 5l-5-5z" fill="#7a2cb8" stroke="#fff" stroke-width="1" pointer-events="none"/>"##
    );
}

fn foot(svg: &mut String, y: usize, caption: &str, answered: Option<&str>) {
    let say = |svg: &mut String, x: usize, text: &str| {
        let _ = writeln!(svg, r##"<text x="{x}" y="{y}" fill="#555">{text}</text>"##);
    };
    say(svg, PAD, "row worse");
    let ramp_x = PAD + 66;
    for step in 0..11 {
        let _ = writeln!(
            svg,
            r#"<rect x="{}" y="{}" width="10" height="12" fill="{}"/>"#,
            ramp_x + step * 10,
            y - 10,
            ramp(step as f64 / 10.0)
        );
    }
    say(svg, ramp_x + 116, "row better");
    let marks = ramp_x + 190;
    diamond(svg, (marks, y - 12));
    say(svg, marks + 18, "overruled");
    let _ = writeln!(
        svg,
        r##"<rect x="{0}" y="{1}" width="12" height="12" fill="#92c980"/><rect x="{0}" y="{1}" width="12" height="12" fill="url(#missing)"/>"##,
        marks + 82,
        y - 10
    );
    say(svg, marks + 98, "votes missing");
    let _ = writeln!(
        svg,
        r##"<circle cx="{}" cy="{}" r="1.5" fill="none" stroke="#999"/>"##,
        marks + 190,
        y - 4
    );
    say(svg, marks + 198, "not judged yet");
    let y = y + 20;
    let mut x = PAD;
    if let Some(noun) = answered {
        let _ = writeln!(
            svg,
            r##"<rect x="{x}" y="{0}" width="12" height="12" fill="#2c9150"/><rect x="{x}" y="{0}" width="12" height="12" fill="url(#answered)"/>"##,
            y - 10
        );
        let words = escape(&format!("from {noun}s"));
        let _ = writeln!(
            svg,
            r##"<text x="{}" y="{y}" fill="#555">{words}</text>"##,
            x + 16
        );
        x += 30 + 6 * words.len();
    }
    let _ = writeln!(
        svg,
        r##"<text x="{x}" y="{y}" fill="#555">{}</text>"##,
        escape(caption)
    );
}

#[cfg(test)]
pub(crate) mod tests;
