//! The labels next to a matrix picture: ranks, IDs and score bars.

use crate::domain::number_words::signed;
use std::fmt::Write;

/// The side of a cell, in pixels.
pub(super) const CELL: usize = 16;

/// Maximum number of letters of a title or an ID next to a matrix.
const NAME_LETTERS_MAX: usize = 40;
const RANK_END: usize = 24;
const ID_START: usize = 32;
const BAR_START: usize = 272;
const BAR: f64 = 110.0;
const SCORE_START: usize = 388;

/// Width of the labels in pixels.
pub(super) const LABEL_ROOM: usize = 468;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SvgLabel {
    pub rank: String,
    pub id: String,
    /// Empty if there is none; the ID is shown then.
    pub title: String,
    pub zelo: Option<f64>,
    pub se: Option<f64>,
}

impl SvgLabel {
    /// The escaped title or ID, in at most this number of letters.
    pub(super) fn short_name(&self, letters: usize) -> String {
        let name = if self.title.is_empty() {
            &self.id
        } else {
            &self.title
        };
        clip(name, letters)
    }
}

/// Escapes text for XML: markup is escaped, and characters that XML cannot contain and direction
/// controls are removed.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for symbol in text.chars() {
        match symbol {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {}
            other if other.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}

pub(super) fn row_label(svg: &mut String, label: &SvgLabel, (x, y): (usize, usize), scale: f64) {
    let base = y + CELL - 4;
    let _ = writeln!(
        svg,
        r##"<text x="{}" y="{base}" text-anchor="end" fill="#777">{}</text>"##,
        x + RANK_END,
        escape(&label.rank)
    );
    let (short, long) = (label.short_name(NAME_LETTERS_MAX), escape(&label.id));
    let _ = writeln!(
        svg,
        r##"<text x="{}" y="{base}" fill="#222">{short}<title>{long}</title></text>"##,
        x + ID_START
    );
    let Some(zelo) = label.zelo.filter(|zelo| zelo.is_finite() && scale > 0.0) else {
        return;
    };
    let se = label.se.filter(|se| se.is_finite()).unwrap_or(0.0).abs();
    let zero = (x + BAR_START) as f64 + BAR / 2.0;
    let of = |value: f64| zero + (value / scale).clamp(-1.0, 1.0) * BAR / 2.0;
    let from = of(zelo.min(0.0));
    let _ = writeln!(
        svg,
        r##"<rect x="{from:.1}" y="{}" width="{:.1}" height="8" fill="#7fa8d1"/>"##,
        y + 4,
        of(zelo.max(0.0)) - from
    );
    let _ = writeln!(
        svg,
        r##"<path d="M{:.1} {}H{:.1}M{zero:.1} {y}v{CELL}" stroke="#3d5a80"/>"##,
        of(zelo - se),
        y + CELL / 2,
        of(zelo + se)
    );
    let error = label.se.map(|se| format!(" ± {se:.2}")).unwrap_or_default();
    let _ = writeln!(
        svg,
        r##"<text x="{}" y="{base}" fill="#555" font-size="10">{}{error}</text>"##,
        x + SCORE_START,
        signed(zelo, 2)
    );
}

pub(super) fn header(svg: &mut String, labels: &[SvgLabel], (left, top): (usize, usize)) {
    let step = if labels.len() > 40 { 5 } else { 1 };
    for (at, label) in labels.iter().enumerate() {
        if at == 0 || (at + 1) % step == 0 {
            let _ = writeln!(
                svg,
                r##"<text x="{}" y="{}" text-anchor="middle" font-size="9" fill="#777">{}</text>"##,
                left + at * CELL + CELL / 2,
                top - 6,
                escape(&label.rank)
            );
        }
    }
}

fn clip(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().filter(|letter| !letter.is_control()).collect();
    match letters.get(..most - 1) {
        Some(start) if letters.len() > most => escape(&start.iter().collect::<String>()) + "…",
        _ => escape(name),
    }
}
