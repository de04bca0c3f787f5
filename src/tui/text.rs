//! Text on a grid of cells: display width, truncation, padding, wrapping and styled slices.
//!
//! A width is the sum over grapheme clusters of the width that ratatui gives each cluster, so a
//! line that fits here fits on the screen. Input should be sanitized; control characters have no
//! width and never cause a panic.

use std::borrow::Cow;
use std::ops::Range;

use ratatui::buffer::CellWidth;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

mod wrapped_text;

pub use crate::domain::number_words::{count, counted, duration, fixed, probability, signed, usd};
pub use wrapped_text::WrappedText;

const ELLIPSIS: &str = "…";
/// The separator between two parts.
const DOT: &str = " · ";

fn cluster_width(cluster: &str) -> usize {
    if cluster.contains(char::is_control) {
        0
    } else {
        usize::from(cluster.cell_width())
    }
}

fn is_plain_ascii(text: &str) -> bool {
    text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
}

/// Number of columns that `text` takes on the screen.
pub fn width(text: &str) -> usize {
    if is_plain_ascii(text) {
        return text.len();
    }
    text.graphemes(true).map(cluster_width).sum()
}

/// The longest prefix of whole grapheme clusters that fits in `limit` columns, and its width.
pub fn fit(text: &str, limit: usize) -> (&str, usize) {
    let mut used = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        let next = used + cluster_width(cluster);
        if next > limit {
            return (&text[..at], used);
        }
        used = next;
    }
    (text, used)
}

/// `text` in at most `limit` columns; truncation is indicated by a final `…`.
pub fn truncate(text: &str, limit: usize) -> Cow<'_, str> {
    let (head, _) = fit(text, limit);
    if head.len() == text.len() {
        return Cow::Borrowed(text);
    }
    if limit == 0 {
        return Cow::Borrowed("");
    }
    let (head, _) = fit(head, limit - 1);
    Cow::Owned(format!("{head}{ELLIPSIS}"))
}

/// `text`, left-aligned in exactly `columns` columns, and truncated if it is longer.
pub fn pad_right(text: &str, columns: usize) -> String {
    let text = truncate(text, columns);
    let gap = columns.saturating_sub(width(&text));
    format!("{text}{:gap$}", "")
}

/// `text`, right-aligned in exactly `columns` columns, and truncated if it is longer.
pub fn pad_left(text: &str, columns: usize) -> String {
    let text = truncate(text, columns);
    let gap = columns.saturating_sub(width(&text));
    format!("{:gap$}{text}", "")
}

struct Wrapper<'a> {
    text: &'a str,
    limit: usize,
    lines: Vec<Range<usize>>,
    start: usize,
    columns: usize,
    /// A possible end of the line, and the columns used up to there.
    gap: Option<(usize, usize)>,
    /// The end of the last hyphen, where a word that is wider than the line is broken.
    hyphen: Option<usize>,
    inked: bool,
    after_wide: bool,
}

impl Wrapper<'_> {
    fn begin(&mut self, at: usize, columns: usize) {
        self.start = at;
        self.columns = columns;
        self.gap = None;
        self.hyphen = self.hyphen.filter(|end| *end > at);
        self.inked = columns > 0;
    }

    fn emit(&mut self, end: usize) {
        let kept = self.text[self.start..end].trim_end().len();
        self.lines.push(self.start..self.start + kept);
    }

    /// Ends a line inside a word: after its last hyphen, or before the cluster at `at`.
    fn break_word(&mut self, at: usize) {
        let end = self.hyphen.unwrap_or(at);
        let rest = width(&self.text[end..at]);
        self.emit(end);
        self.begin(end, rest);
    }

    fn push(&mut self, at: usize, len: usize, columns: usize, blank: bool) {
        if blank {
            // Blanks at the end of a full line extend past the edge and are trimmed.
            self.columns += columns;
            if self.inked {
                self.gap = Some((at + len, self.columns));
            }
            self.after_wide = false;
            return;
        }
        let wide = columns > 1;
        if self.inked && (wide || self.after_wide) {
            self.gap = Some((at, self.columns));
        }
        if self.columns + columns > self.limit && at > self.start {
            match self.gap {
                Some((gap, used)) => {
                    self.emit(gap);
                    self.begin(gap, self.columns - used);
                }
                None => self.break_word(at),
            }
        }
        if self.columns + columns > self.limit && at > self.start {
            self.break_word(at);
        }
        if self.inked && &self.text[at..at + len] == "-" {
            self.hyphen = Some(at + len);
        }
        self.columns += columns;
        self.inked = true;
        self.after_wide = wide;
    }
}

/// Whether the blank at a position is between a number and something that belongs to it: `94 %`,
/// `1.0 σ`, `4.45 ± 1.26`, `≤ 5 %`, `P(A above B) 61 %`, `(95 %: −1.00`.
fn binds(line: &str, at: usize) -> bool {
    if is_in_probability(line, at) {
        return true;
    }
    let before = line[..at].chars().next_back();
    let after = line[at..].chars().nth(1);
    match (before, after) {
        (Some('±' | '≤' | '≥' | ')'), Some(after)) => after.is_ascii_digit(),
        (Some(':'), Some(after)) => after.is_ascii_digit() || after == '−',
        (Some(before), Some('%' | 'σ' | '±')) => before.is_ascii_digit(),
        _ => false,
    }
}

/// Maximum length in bytes of the event of a probability, such as `A above B`.
const EVENT_MAX: usize = 24;

/// Whether a position is inside the parentheses of a short `P(…)`.
fn is_in_probability(line: &str, at: usize) -> bool {
    let from = boundary(line, at.saturating_sub(EVENT_MAX));
    let to = boundary(line, at + EVENT_MAX);
    let (before, after) = (&line[from..at], &line[at..to]);
    before
        .rfind(['(', ')'])
        .is_some_and(|place| before[..=place].ends_with("P("))
        && after
            .find(['(', ')'])
            .is_some_and(|place| after[place..].starts_with(')'))
}

/// Byte ranges of the lines of `text` wrapped to `columns` columns.
///
/// Words stay whole unless one is wider than the line; such a word is broken after a hyphen if it
/// has one. Newlines and indentation are kept, and blanks at a break are dropped. A
/// cluster wider than the line gets its own line. Takes linear time.
pub fn wrap(text: &str, columns: usize) -> Vec<Range<usize>> {
    let mut wrapper = Wrapper {
        text,
        limit: columns.max(1),
        lines: Vec::new(),
        start: 0,
        columns: 0,
        gap: None,
        hyphen: None,
        inked: false,
        after_wide: false,
    };
    let mut offset = 0;
    for line in text.split('\n') {
        wrapper.begin(offset, 0);
        wrapper.after_wide = false;
        if is_plain_ascii(line) {
            for (at, byte) in line.bytes().enumerate() {
                let blank = byte == b' ' && !binds(line, at);
                wrapper.push(offset + at, 1, 1, blank);
            }
        } else {
            for (at, cluster) in line.grapheme_indices(true) {
                let blank = cluster
                    .chars()
                    .all(|c| c.is_whitespace() && c != '\u{a0}' && c != '\u{202f}')
                    && !binds(line, at);
                wrapper.push(offset + at, cluster.len(), cluster_width(cluster), blank);
            }
        }
        wrapper.emit(offset + line.len());
        offset += line.len() + 1;
    }
    wrapper.lines
}

/// Wraps text of the program: short parts between two `·` stay whole, and no line begins or ends
/// with `·`.
pub fn lines(text: &str, columns: usize, style: Style) -> Vec<Line<'static>> {
    let laid = parts_on_lines(text, columns);
    let ranges = wrap(&laid, columns).into_iter().enumerate();
    ranges
        .map(|(at, range)| {
            let line = &laid[range];
            let words = match at {
                0 => line,
                _ => line.strip_prefix("· ").unwrap_or(line),
            };
            let words = words.strip_suffix(" ·").unwrap_or(words);
            Line::styled(words.to_owned(), style)
        })
        .collect()
}

/// A text with a line break before each short part (up to three fifths of a line) that would be
/// broken.
fn parts_on_lines(text: &str, columns: usize) -> Cow<'_, str> {
    if text.contains('\n') {
        let lines = text.split('\n').map(|line| parts_on_lines(line, columns));
        return Cow::Owned(lines.collect::<Vec<_>>().join("\n"));
    }
    if !text.contains(DOT) || width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut laid = String::new();
    for part in text.split(DOT) {
        let line = laid.rfind('\n').map_or(0, |at| at + 1);
        let last = wrap(&laid[line..], columns).pop();
        let used = last.map_or(0, |last| width(&laid[line..][last]));
        let wide = width(part);
        if laid.is_empty() {
        } else if used + width(DOT) + wide > columns && 5 * wide <= 3 * columns {
            laid.push('\n');
        } else {
            laid.push_str(DOT);
        }
        laid.push_str(part);
    }
    Cow::Owned(laid)
}

/// A text on one line, truncated if there is no more room.
pub fn line(text: &str, columns: usize, style: Style) -> Line<'static> {
    Line::styled(truncate(text, columns).into_owned(), style)
}

/// A text on at most `rows` lines; the last one ends in `…` if text is omitted.
pub fn first_lines(text: &str, columns: usize, rows: usize, style: Style) -> Vec<Line<'static>> {
    let mut all = lines(text, columns, style);
    if all.len() > rows && rows > 0 {
        all.truncate(rows);
        all[rows - 1] = ended(&all[rows - 1], columns);
    }
    all
}

/// At most `rows` lines; the last one ends in `…` if lines are omitted.
pub fn clipped(mut all: Vec<Line<'static>>, columns: usize, rows: usize) -> Vec<Line<'static>> {
    if all.len() > rows && rows > 0 {
        all.truncate(rows);
        let last = &mut all[rows - 1];
        if last.width() < columns {
            last.push_span(ELLIPSIS.to_string())
        } else {
            *last = ended(last, columns)
        }
    }
    all
}

/// A line within `columns` with `…` at its end, to indicate omitted text.
pub fn ended(line: &Line<'_>, columns: usize) -> Line<'static> {
    let mut room = columns.saturating_sub(1);
    let mut spans: Vec<Span<'static>> = Vec::new();
    for span in &line.spans {
        let (head, used) = fit(&span.content, room);
        spans.push(Span::styled(head.to_owned(), span.style));
        room -= used;
        if head.len() < span.content.len() {
            break;
        }
    }
    let is_blank = |span: &Span<'_>| span.content.trim_end().is_empty();
    while spans.last().is_some_and(is_blank) {
        spans.pop();
    }
    if let Some(last) = spans.last_mut() {
        last.content = last.content.trim_end().to_owned().into();
    }
    spans.push(Span::raw(ELLIPSIS.to_string()));
    Line::from(spans).style(line.style)
}

/// As many of the first parts, joined by ` · `, as fit on `rows` lines; only a first part that does
/// not fit alone is truncated.
pub fn parts(parts: &[String], columns: usize, rows: usize, style: Style) -> Vec<Line<'static>> {
    let mut shown = Vec::new();
    for count in 1..=parts.len() {
        let all = lines(&parts[..count].join(" · "), columns, style);
        if all.len() > rows {
            break;
        }
        shown = all;
    }
    match parts.first() {
        Some(first) if shown.is_empty() && rows > 0 => {
            shown = lines(first, columns, style);
            shown.truncate(rows);
            shown[rows - 1] = ended(&shown[rows - 1], columns);
            shown
        }
        _ => shown,
    }
}

/// The end values of an axis around 0 in exactly `columns` columns, with 0 at its place. A label
/// that would touch another one is left out: first the 0, then both ends.
pub fn axis_ends(low: &str, high: &str, zero: Option<usize>, columns: usize) -> String {
    let (left, right) = (width(low), width(high));
    if left + right >= columns {
        return " ".repeat(columns);
    }
    let gap = columns - left - right;
    match zero.and_then(|zero| zero.checked_sub(left)) {
        Some(before) if before > 0 && before + 1 < gap => {
            format!("{low}{:before$}0{:2$}{high}", "", "", gap - before - 1)
        }
        _ => format!("{low}{:gap$}{high}", ""),
    }
}

/// A title on at most `rows` lines. Words stay whole: one that does not fit on a line ends the
/// title there, with `…`, as does omitted text.
pub fn title_lines(title: &str, columns: usize, rows: usize) -> Vec<Cow<'_, str>> {
    let ranges = wrap(title, columns);
    let cuts_word = |at: usize| {
        let Some(next) = ranges.get(at + 1) else {
            return false;
        };
        let end = ranges[at].end;
        let line = &title[ranges[at].clone()];
        end == next.start
            && !line.ends_with('-')
            && [
                line.graphemes(true).next_back(),
                title[end..].graphemes(true).next(),
            ]
            .into_iter()
            .flatten()
            .all(|cluster| cluster_width(cluster) < 2)
    };
    let shown = (0..ranges.len())
        .find(|at| cuts_word(*at))
        .map_or(ranges.len(), |at| at + 1)
        .min(rows);
    (0..shown)
        .map(|at| match at + 1 {
            last if last == shown => truncate(&title[ranges[at].start..], columns),
            _ => Cow::Borrowed(&title[ranges[at].clone()]),
        })
        .collect()
}

pub fn rule(columns: usize, style: Style) -> Line<'static> {
    Line::styled("─".repeat(columns), style)
}

fn boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// One wrapped line of `text` with the byte ranges in `marks` styled; if marks overlap, the later
/// one is patched on top.
///
/// Marks are ranges of the whole text, so the same list serves every line.
pub fn highlight<'a>(
    text: &'a str,
    line: Range<usize>,
    marks: &[(Range<usize>, Style)],
) -> Line<'a> {
    let start = boundary(text, line.start);
    let end = boundary(text, line.end).max(start);
    let here: Vec<(Range<usize>, Style)> = marks
        .iter()
        .filter(|(range, _)| range.start < end && range.end > start)
        .map(|(range, style)| {
            let from = boundary(text, range.start.max(start));
            (from..boundary(text, range.end.min(end)), *style)
        })
        .collect();
    let mut cuts: Vec<usize> = here
        .iter()
        .flat_map(|(range, _)| [range.start, range.end])
        .collect();
    cuts.extend([start, end]);
    cuts.sort_unstable();
    cuts.dedup();
    let spans = cuts.windows(2).filter_map(|cut| {
        let [from, to] = *cut else { return None };
        let style = here
            .iter()
            .filter(|(range, _)| range.start <= from && range.end >= to)
            .fold(Style::default(), |style, (_, mark)| style.patch(*mark));
        Some(Span::styled(&text[from..to], style))
    });
    Line::from(spans.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;
