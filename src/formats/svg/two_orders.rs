//! Draws two orders of the same documents as plain SVG text: a matrix in each order, and the scores
//! with the movement of each document.

use super::labels::{CELL, SvgLabel, escape};
use super::{SvgCell, foot, open, square};
use crate::domain::number_words::signed;
use std::fmt::Write;

const PAD: usize = 16;
/// The top of the matrices.
const TOP: usize = 112;
/// The side of a matrix that has many documents, in pixels.
const SIDE: usize = 480;
const CELL_MIN: usize = 3;
const ROW_MIN: usize = 14;
/// Positions in the list, from its left edge.
const RANK_END: usize = 26;
const HYBRID_END: usize = 70;
const MOVE_START: usize = 82;
const NAME_START: usize = 120;
const AXIS_START: usize = 428;
const AXIS: f64 = 240.0;
const LIST: usize = 688;
const NAME_LETTERS_MAX: usize = 48;
/// Number of standard errors on either side of a score in a 95 % interval.
const WITHIN_95: f64 = 1.96;

/// A document in both orders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrderRow {
    pub label: SvgLabel,
    /// Its rank in hybrid order; empty without a score.
    pub hybrid: String,
    /// Its movement, such as `▲3`.
    pub moved: String,
    /// Whether the intervals exclude its rank in hybrid order.
    pub is_certain: bool,
}

pub struct TwoOrders<'a> {
    pub title: &'a str,
    /// How far the orders agree, and how the top changed.
    pub sentences: &'a [String],
    pub caption: &'a str,
    /// The documents by zELO.
    pub rows: &'a [OrderRow],
    /// The indexes of [`Self::rows`] in hybrid order.
    pub hybrid: &'a [usize],
    /// Number of documents in the top.
    pub top: usize,
    /// A cell by two indexes of [`Self::rows`].
    pub cell: &'a dyn Fn(usize, usize) -> SvgCell,
}

/// Both matrices with the list of scores next to them.
pub fn two_orders_svg(of: &TwoOrders<'_>) -> String {
    let k = of.rows.len();
    let side = (SIDE / k.max(1)).clamp(CELL_MIN, CELL);
    let row_height = side.max(ROW_MIN);
    let matrix = k * side;
    let second = PAD + matrix + 28;
    let list = second + matrix + 36;
    let width = list + LIST + PAD;
    let height = TOP + matrix.max(k * row_height) + 72;
    let mut svg = String::new();
    open(&mut svg, (width, height), of.title, of.caption);
    for (y, sentence) in [48, 66].into_iter().zip(of.sentences) {
        words(&mut svg, (PAD, y), "start", "#222", sentence);
    }
    let by_zelo: Vec<usize> = (0..k).collect();
    let mut answered = None;
    for (x, name, order) in [
        (PAD, "hybrid order", of.hybrid),
        (second, "zELO order", by_zelo.as_slice()),
    ] {
        words(&mut svg, (x, TOP - 10), "start", "#222", name);
        answered = grid(&mut svg, of, order, (x, TOP), side);
    }
    scores(&mut svg, of, (list, TOP), row_height);
    foot(&mut svg, height - 40, of.caption, answered);
    svg.push_str("</svg>\n");
    svg
}

fn words(svg: &mut String, (x, y): (usize, usize), anchor: &str, fill: &str, words: &str) {
    let _ = writeln!(
        svg,
        r#"<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{fill}">{}</text>"#,
        escape(words)
    );
}

/// A matrix in an order, with a line at the end of the top. Returns what gave the values that battles
/// did not, if there are any.
fn grid(
    svg: &mut String,
    of: &TwoOrders<'_>,
    order: &[usize],
    (x, y): (usize, usize),
    side: usize,
) -> Option<&'static str> {
    let k = order.len();
    let scale = side as f64 / CELL as f64;
    let whole = k * CELL;
    let _ = writeln!(
        svg,
        r##"<g transform="translate({x} {y}) scale({scale})"><rect width="{whole}" height="{whole}" fill="#f4f4f2"/>"##
    );
    let mut answered = None;
    for (row, of_row) in order.iter().enumerate() {
        for (column, of_column) in order.iter().enumerate() {
            let at = (column * CELL, row * CELL);
            if row == column {
                let _ = writeln!(
                    svg,
                    r##"<path d="M{} {}l{CELL} {CELL}" stroke="#b9b9b4"/>"##,
                    at.0, at.1
                );
            } else {
                let labels = (&of.rows[*of_row].label, &of.rows[*of_column].label);
                let cell = (of.cell)(*of_row, *of_column);
                answered = answered.or(cell.answered);
                square(svg, cell, at, k, labels);
            }
        }
    }
    if of.top < k {
        let at = of.top * CELL;
        let _ = writeln!(
            svg,
            r##"<path d="M0 {at}H{whole}M{at} 0V{whole}" stroke="#222" stroke-width="{:.2}"/>"##,
            1.0 / scale
        );
    }
    svg.push_str("</g>\n");
    answered
}

/// The range of the scores with some space on both sides; 0 to 1 without scores.
fn range(rows: &[OrderRow]) -> (f64, f64) {
    let scores = || {
        rows.iter()
            .filter_map(|row| row.label.zelo)
            .filter(|zelo| zelo.is_finite())
    };
    match (scores().reduce(f64::min), scores().reduce(f64::max)) {
        (Some(low), Some(high)) if high > low => {
            let free = 0.04 * (high - low);
            (low - free, high + free)
        }
        (Some(only), _) => (only - 1.0, only + 1.0),
        _ => (0.0, 1.0),
    }
}

/// The list: ranks, movement, name, and the score with its interval on an axis.
fn scores(svg: &mut String, of: &TwoOrders<'_>, (x, y): (usize, usize), row_height: usize) {
    let (low, high) = range(of.rows);
    let left = (x + AXIS_START) as f64;
    let place = |value: f64| left + AXIS * (value - low) / (high - low);
    let head = y - 10;
    for (at, anchor, title) in [
        (RANK_END, "end", "rank"),
        (HYBRID_END, "end", "hybrid"),
        (NAME_START, "start", "title"),
        (AXIS_START + AXIS as usize, "end", "zELO, 95 %"),
    ] {
        words(svg, (x + at, head - 18), anchor, "#777", title);
    }
    let ends = [(low, "start"), (high, "end")];
    for (value, anchor) in ends {
        let at = place(value) as usize;
        words(svg, (at, head), anchor, "#777", &signed(value, 1));
    }
    points(svg, of, place, (left, head + 4));
    let bottom = y + of.rows.len() * row_height;
    let score = |at: usize| of.rows.get(at)?.label.zelo;
    let cut = of.top.checked_sub(1).and_then(score).zip(score(of.top));
    if let Some((last, next)) = cut {
        let at = place(f64::midpoint(last, next));
        let line = y + of.top * row_height;
        let _ = writeln!(
            svg,
            r##"<path class="cut" d="M{at:.1} {head}V{bottom}" stroke="#999" stroke-dasharray="3 3"/><path d="M{x} {line}H{}" stroke="#222"/>"##,
            x + LIST
        );
    }
    for (at, row) in of.rows.iter().enumerate() {
        let top = y + at * row_height;
        let base = top + row_height / 2 + 4;
        words(svg, (x + RANK_END, base), "end", "#222", &row.label.rank);
        words(svg, (x + HYBRID_END, base), "end", "#777", &row.hybrid);
        let weight = if row.is_certain { "700" } else { "400" };
        let _ = writeln!(
            svg,
            r##"<text x="{}" y="{base}" fill="#222" font-weight="{weight}">{}</text>"##,
            x + MOVE_START,
            escape(&row.moved)
        );
        let _ = writeln!(
            svg,
            r##"<text x="{}" y="{base}" fill="#222">{}<title>{}</title></text>"##,
            x + NAME_START,
            row.label.short_name(NAME_LETTERS_MAX),
            escape(&row.label.id)
        );
        interval(
            svg,
            &row.label,
            (left, left + AXIS),
            place,
            top + row_height / 2,
        );
    }
}

/// All scores on one line, which begins at `left`.
fn points(
    svg: &mut String,
    of: &TwoOrders<'_>,
    place: impl Fn(f64) -> f64,
    (left, y): (f64, usize),
) {
    let _ = writeln!(
        svg,
        r##"<path d="M{left} {y}H{}" stroke="#ccc"/>"##,
        left + AXIS
    );
    let scores = of.rows.iter().filter_map(|row| row.label.zelo);
    for zelo in scores.filter(|zelo| zelo.is_finite()) {
        let _ = writeln!(
            svg,
            r##"<circle cx="{:.1}" cy="{}" r="2.5" fill="#3d5a80" fill-opacity=".5"/>"##,
            place(zelo),
            y
        );
    }
}

/// A score with its 95 % interval; an end outside the axis is an arrow.
fn interval(
    svg: &mut String,
    label: &SvgLabel,
    (left, right): (f64, f64),
    place: impl Fn(f64) -> f64,
    y: usize,
) {
    let Some(zelo) = label.zelo.filter(|zelo| zelo.is_finite()) else {
        return;
    };
    let se = label.se.filter(|se| se.is_finite()).unwrap_or(0.0).abs();
    let (from, to) = (place(zelo - WITHIN_95 * se), place(zelo + WITHIN_95 * se));
    let mut path = format!("M{:.1} {y}H{:.1}", from.max(left), to.min(right));
    if from < left {
        let _ = write!(path, "M{:.1} {}l-4 4l4 4", left + 4.0, y - 4);
    }
    if to > right {
        let _ = write!(path, "M{:.1} {}l4 4l-4 4", right - 4.0, y - 4);
    }
    let error = label.se.map_or(String::new(), |se| format!(" ± {se:.2}"));
    let _ = writeln!(
        svg,
        r##"<path d="{path}" fill="none" stroke="#3d5a80"/><circle cx="{:.1}" cy="{y}" r="3.5" fill="#3d5a80"><title>{}{error}</title></circle>"##,
        place(zelo),
        signed(zelo, 2)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::svg::tests::well_formed;

    fn rows(k: usize) -> Vec<OrderRow> {
        (0..k)
            .map(|at| OrderRow {
                label: SvgLabel {
                    rank: (at + 1).to_string(),
                    id: format!("doc-{at}"),
                    title: format!("Title <{at}>"),
                    zelo: Some(2.0 - at as f64),
                    se: Some(if at == 0 { 9.0 } else { 0.2 }),
                },
                hybrid: (k - at).to_string(),
                moved: "▲1".to_owned(),
                is_certain: at == 1,
            })
            .collect()
    }

    fn drawn(rows: &[OrderRow], top: usize) -> String {
        let hybrid: Vec<usize> = (0..rows.len()).rev().collect();
        two_orders_svg(&TwoOrders {
            title: "q1",
            sentences: &["One & two.".to_owned(), "Three.".to_owned()],
            caption: "note",
            rows,
            hybrid: &hybrid,
            top,
            cell: &|row, column| SvgCell {
                value: Some(if row < column { 0.9 } else { 0.1 }),
                ..SvgCell::default()
            },
        })
    }

    #[test]
    fn both_matrices_and_all_scores_are_drawn() {
        for k in [1, 4, 61] {
            let svg = drawn(&rows(k), 2);
            assert!(well_formed(&svg) > k, "{k}");
            assert_eq!(svg.matches("<g transform").count(), 2);
            assert_eq!(svg.matches(r#"r="3.5""#).count(), k);
        }
        let svg = drawn(&rows(4), 2);
        assert!(svg.contains("One &amp; two.") && svg.contains("Title &lt;3&gt;"));
        assert!(
            svg.contains("l-4 4l4 4") && svg.contains("l4 4l-4 4"),
            "{svg}"
        );
        assert_eq!(svg.matches(r#"font-weight="700""#).count(), 1);
        // The cut is marked on the line of all scores too, at the height of its points.
        let point = format!(r#"cy="{}" r="2.5""#, TOP - 6);
        assert_eq!(svg.matches(&point).count(), 4);
        let cut = svg.split_once(r#"class="cut" d=""#).unwrap().1;
        let cut = cut.split('"').next().unwrap_or_default();
        assert!(cut.contains(&format!(" {}V", TOP - 10)), "{cut}");
        assert_eq!(svg, drawn(&rows(4), 2));
    }

    #[test]
    fn documents_without_scores_have_no_point() {
        let mut all = rows(3);
        all[1].label.zelo = None;
        all[2].label.zelo = Some(f64::NAN);
        let svg = drawn(&all, 1);
        well_formed(&svg);
        assert!(!svg.contains("NaN"), "{svg}");
        assert_eq!(svg.matches(r#"r="3.5""#).count(), 1);
        well_formed(&drawn(&[], 1));
    }
}
