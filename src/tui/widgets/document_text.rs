//! Documents' texts prepared for display: sanitized, truncated, wrapped, with query terms
//! highlighted.

use crate::domain::reasoning::FoldedText;
use crate::domain::{sanitize, text as words};
use crate::tui::canvas::Canvas;
use crate::tui::text;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Widget;
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of bytes of a text shown; the omission of the rest is announced.
pub const SHOWN_BYTES: usize = 120_000;

/// Number of texts in the cache; a battle shows two, and a list call up to eight.
const KEPT: usize = 10;

#[derive(Debug)]
pub struct PreparedText {
    pub text: String,
    pub terms: Vec<Range<usize>>,
    pub passage: Range<usize>,
    pub folded: FoldedText,
    /// Size of the whole text in bytes, if only its beginning is shown.
    pub clipped_of: Option<usize>,
}

impl PreparedText {
    pub fn new(source: &str, query: &str) -> Self {
        let mut end = source.len().min(SHOWN_BYTES);
        while !source.is_char_boundary(end) {
            end -= 1;
        }
        let text = sanitize::block(&source[..end]).into_owned();
        let terms = words::query_terms(query);
        Self {
            terms: words::matches(&text, &terms),
            passage: words::best_passage(&text, &terms),
            folded: FoldedText::new(&text),
            clipped_of: (end < source.len()).then_some(source.len()),
            text,
        }
    }

    /// A note that only the beginning is shown, if the text is longer.
    pub fn note(&self) -> Option<String> {
        self.clipped_of.map(|bytes| {
            format!(
                "first {} kB of {:.1} MB",
                SHOWN_BYTES / 1_000,
                bytes as f64 / 1e6
            )
        })
    }

    /// The first line to show: the first of the text if everything fits or `from_top` is set, or
    /// else the one that shows the passage most similar to the query with a little context before
    /// it.
    pub fn first_line(&self, lines: &[Range<usize>], page: usize, from_top: bool) -> usize {
        if from_top || lines.len() <= page {
            return 0;
        }
        self.line_in_view(lines, page, &self.passage)
    }

    /// The first line to show so that a range is visible, with a little context before it.
    pub fn line_in_view(&self, lines: &[Range<usize>], page: usize, place: &Range<usize>) -> usize {
        let line = lines.partition_point(|line| line.end <= place.start);
        let before = page / 6;
        let last = lines.len().saturating_sub(page);
        line.saturating_sub(before).min(last)
    }
}

/// The marks in a text besides the query's terms.
#[derive(Clone, Debug, Default)]
pub struct TextMarks {
    /// Underlined: quotes of judges, or the evidence of a label.
    pub quotes: Vec<Range<usize>>,
    /// Underlined without color: quotes of judges whose reasoning is not shown.
    pub others: Vec<Range<usize>>,
    /// The matches of a search.
    pub found: Vec<Range<usize>>,
    /// The current match.
    pub current: Option<Range<usize>>,
}

type WrappedLines = Arc<[Range<usize>]>;

struct CachedLayout {
    source: Arc<str>,
    prepared: Arc<PreparedText>,
    /// By number of columns.
    wraps: Vec<(usize, WrappedLines)>,
}

/// Cache of texts prepared for display, so that no frame prepares one again. Its content can always
/// be recomputed from the texts.
#[derive(Default)]
pub struct LayoutCache(RefCell<Vec<CachedLayout>>);

impl fmt::Debug for LayoutCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LayoutCache")
            .field(&self.0.borrow().len())
            .finish()
    }
}

impl LayoutCache {
    /// A text prepared for the query that it was loaded for.
    pub fn prepared(&self, source: &Arc<str>, query: &str) -> Arc<PreparedText> {
        self.first(source, query, |kept| kept.prepared.clone())
    }

    /// The text and its lines at a width.
    pub fn lines(
        &self,
        source: &Arc<str>,
        query: &str,
        columns: usize,
    ) -> (Arc<PreparedText>, WrappedLines) {
        self.first(source, query, |kept| {
            let lines = kept
                .wraps
                .iter()
                .find(|(width, _)| *width == columns)
                .map(|(_, lines)| lines.clone())
                .unwrap_or_else(|| {
                    let lines: WrappedLines = text::wrap(&kept.prepared.text, columns).into();
                    kept.wraps.truncate(3);
                    kept.wraps.insert(0, (columns, lines.clone()));
                    lines
                });
            (kept.prepared.clone(), lines)
        })
    }

    fn first<T>(
        &self,
        source: &Arc<str>,
        query: &str,
        take: impl FnOnce(&mut CachedLayout) -> T,
    ) -> T {
        let mut kept = self.0.borrow_mut();
        let entry = match kept
            .iter()
            .position(|kept| Arc::ptr_eq(&kept.source, source))
        {
            Some(at) => kept.remove(at),
            None => CachedLayout {
                source: source.clone(),
                prepared: Arc::new(PreparedText::new(source, query)),
                wraps: Vec::new(),
            },
        };
        kept.truncate(KEPT - 1);
        kept.insert(0, entry);
        take(&mut kept[0])
    }
}

/// ` · 3–12/40`: the visible lines, if not all are visible.
pub fn place(first: usize, page: usize, lines: usize) -> String {
    let last = (first + page).min(lines);
    let cut = lines > page && page > 0;
    if cut {
        format!(" · {}–{last}/{lines}", first + 1)
    } else {
        String::new()
    }
}

/// Draws the lines from `scroll` on to the end of the area, with query terms highlighted and marks
/// drawn; returns the total number of lines.
pub fn render(
    prepared: &PreparedText,
    lines: &[Range<usize>],
    scroll: usize,
    marked: &TextMarks,
    canvas: Canvas<'_>,
) -> usize {
    let Canvas { theme, area, buf } = canvas;
    if prepared.text.trim().is_empty() {
        Line::styled("this document has no text", theme.missing()).render(area, buf);
        return 0;
    }
    let page = usize::from(area.height);
    let first = scroll.min(lines.len().saturating_sub(page));
    let shown = &lines[first..lines.len().min(first + page)];
    let (Some(start), Some(end)) = (
        shown.first().map(|line| line.start),
        shown.last().map(|line| line.end),
    ) else {
        return lines.len();
    };
    let before = prepared.terms.partition_point(|term| term.end <= start);
    let after = prepared.terms.partition_point(|term| term.start < end);
    let terms = prepared.terms.get(before..after).unwrap_or(&[]);
    let near = |ranges: &[Range<usize>], style: Style| -> Vec<(Range<usize>, Style)> {
        let near = ranges
            .iter()
            .filter(|range| range.start < end && range.end > start);
        near.map(|range| (range.clone(), style)).collect()
    };
    let marks = [
        near(&marked.others, theme.quote_of_others()),
        near(&marked.quotes, theme.quote()),
        near(terms, theme.match_term()),
        near(&marked.found, theme.found()),
        near(marked.current.as_slice(), theme.found_current()),
    ]
    .concat();
    for (line, row) in shown.iter().zip(area.rows()) {
        text::highlight(&prepared.text, line.clone(), &marks).render(row, buf);
    }
    lines.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_clipped_and_says_so() {
        let prepared = PreparedText::new(&"é".repeat(SHOWN_BYTES), "query");
        assert!(prepared.text.len() <= SHOWN_BYTES);
        assert_eq!(prepared.note().as_deref(), Some("first 120 kB of 0.2 MB"));
        assert_eq!(PreparedText::new("short", "query").note(), None);
    }

    #[test]
    fn a_text_that_does_not_fit_begins_where_its_best_passage_is_in_sight() {
        let filler = "An opening that says nothing at all. ".repeat(20);
        let text = format!("{filler}Sleep improved with therapy. {filler}");
        let source: Arc<str> = Arc::from(text);
        let cache = LayoutCache::default();
        let (prepared, lines) = cache.lines(&source, "does therapy improve sleep", 40);
        let first = prepared.first_line(&lines, 6, false);
        let page = prepared.text[lines[first].start..lines[first + 5].end].to_owned();
        assert!(first > 0 && page.contains("Sleep improved"), "{page}");
        assert_eq!(prepared.first_line(&lines, 6, true), 0);
        assert_eq!(prepared.first_line(&lines, lines.len(), false), 0);
        let end = prepared.text.len() - 1..prepared.text.len();
        assert_eq!(
            prepared.line_in_view(&lines, 6, &end),
            lines.len() - 6,
            "no blank rows below the end"
        );
    }

    #[test]
    fn the_cache_keeps_the_latest_texts_only() {
        let cache = LayoutCache::default();
        for n in 0..20 {
            cache.prepared(&Arc::from(n.to_string()), "query");
        }
        assert_eq!(cache.0.borrow().len(), KEPT);
    }
}
