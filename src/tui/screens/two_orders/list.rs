//! Draws the documents with both ranks, and their scores on an axis.

use super::state::comparison;
use crate::domain::ranking::{DocumentOrder, OrderChange, OrderComparison};
use crate::tui::canvas::Canvas;
use crate::tui::layout::cut;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::matrix::cells::row_label;
use crate::tui::text::{self, pad_left, pad_right, truncate};
use crate::tui::theme::Theme;
use crate::tui::widgets::score_axis::ScoreAxis;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

/// Columns of cursor, rank, rank in hybrid order and movement.
const RANKS: usize = 17;
/// Minimum and maximum columns of the axis.
const AXIS: (usize, usize) = (9, 41);
/// Rows of the heading.
pub(super) const HEADING: u16 = 2;

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListRow {
    /// A document, by pool index.
    Document(usize),
    /// The end of the top.
    Cut,
}

impl ListRow {
    /// All lines; documents without a score come last in zELO order.
    pub(super) fn all(
        open: &OpenQuery,
        compared: &OrderComparison,
        order: DocumentOrder,
    ) -> Vec<Self> {
        let mut rows: Vec<Self> = open
            .view
            .order(order)
            .into_iter()
            .map(Self::Document)
            .collect();
        let end = match order {
            DocumentOrder::Zelo => Some(compared.top),
            DocumentOrder::Hybrid => compared
                .in_hybrid_order()
                .get(compared.top - 1)
                .map(|last| last.document + 1),
        };
        if let Some(end) = end.filter(|end| *end < rows.len()) {
            rows.insert(end, Self::Cut);
        }
        rows
    }
}

/// The score halfway between the last document of the top and the first one below it.
fn cut_score(compared: &OrderComparison) -> Option<f64> {
    let score = |at: usize| Some(compared.changes.get(at)?.standing.zelo);
    Some((score(compared.top - 1)? + score(compared.top)?) / 2.0)
}

/// The data needed to draw the list.
struct List<'a> {
    model: &'a Model,
    open: &'a OpenQuery,
    compared: &'a OrderComparison,
    theme: &'a Theme,
    /// Columns of people's labels.
    label: usize,
    title: usize,
    axis: Option<ScoreAxis>,
}

/// Draws the list; returns the area of its rows, and the first visible one.
pub(super) fn render(
    model: &Model,
    open: &OpenQuery,
    compared: &OrderComparison,
    canvas: Canvas<'_>,
) -> (Rect, usize) {
    let Canvas { theme, area, buf } = canvas;
    let columns = usize::from(area.width);
    let axis = (columns.saturating_sub(RANKS) / 3).clamp(AXIS.0, AXIS.1);
    let scores: Vec<f64> = compared
        .changes
        .iter()
        .map(|change| change.standing.zelo)
        .collect();
    let label = if open.has_labels() { 2 } else { 0 };
    let list = List {
        model,
        open,
        compared,
        theme,
        label,
        title: columns.saturating_sub(RANKS + label + 1 + axis),
        axis: ScoreAxis::new(&scores, axis, cut_score(compared)),
    };
    let mut rest = area;
    list.heading(&scores, cut(&mut rest, HEADING), buf);
    let rows = ListRow::all(open, compared, model.two_orders().order);
    let page = usize::from(rest.height);
    let here = ListRow::Document(model.matrix.cursor.0);
    let at = rows.iter().position(|row| *row == here).unwrap_or(0);
    let first = (at + 1 + page / 3)
        .saturating_sub(page)
        .min(rows.len().saturating_sub(page));
    for (line, row) in rest.rows().zip(rows.iter().skip(first)) {
        match row {
            ListRow::Cut => list.cut_line(line, buf),
            ListRow::Document(document) => list.document(*document, line, buf),
        }
    }
    (rest, first)
}

impl List<'_> {
    fn axis_at(&self, area: Rect) -> u16 {
        area.x + (RANKS + self.label + self.title + 1) as u16
    }

    fn heading(&self, scores: &[f64], area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let muted = self.theme.muted();
        let title = pad_right("title", self.label + self.title);
        let words = format!("  rank  was       {title}");
        buf.set_stringn(area.x, area.y, &words, usize::from(area.width), muted);
        let Some(axis) = self.axis.filter(|_| area.height >= HEADING) else {
            return;
        };
        let x = self.axis_at(area);
        let room = usize::from(area.right().saturating_sub(x));
        buf.set_stringn(x, area.y, axis.labels(), room, muted);
        axis.points(self.theme, scores, (x, area.y + 1), buf);
        let end = format!("┊ end of the top {}", self.compared.top);
        let certain = format!("bold: certain at 95 % · {end}");
        let labels = match self.label {
            0 => String::new(),
            _ => format!("✓ ✗ human label · {certain}"),
        };
        let left = RANKS + self.label + self.title;
        let words = [labels, certain, end]
            .into_iter()
            .find(|words| !words.is_empty() && text::width(words) <= left)
            .unwrap_or_default();
        let words = pad_left(&words, left);
        buf.set_stringn(area.x, area.y + 1, words, left, muted);
    }

    fn cut_line(&self, area: Rect, buf: &mut Buffer) {
        let words = format!("── end of the top {} ", self.compared.top);
        let rest = usize::from(area.width).saturating_sub(text::width(&words));
        let line = format!("{words}{}", "─".repeat(rest));
        Line::styled(line, self.theme.muted()).render(area, buf);
    }

    fn document(&self, document: usize, area: Rect, buf: &mut Buffer) {
        let (row, column) = self.model.matrix.cursor;
        let change = self
            .compared
            .changes
            .iter()
            .find(|change| change.document == document);
        let mark = match document {
            at if at == row => "▌ ",
            at if at == column => "│ ",
            _ => "  ",
        };
        if document == row {
            buf.set_style(area, self.theme.selection());
        }
        let name = if document == row {
            self.theme.strong()
        } else {
            self.theme.text()
        };
        let label = match row_label(self.open, document) {
            Some(label) => Span::styled(
                pad_right(&label.symbol().to_string(), self.label),
                label.style(self.theme),
            ),
            None => Span::raw(" ".repeat(self.label)),
        };
        let headline = self.open.headline(document);
        let title = truncate(&headline, self.title);
        let (rank, was, moved, style) = match change {
            Some(change) => (
                change.standing.rank.to_string(),
                change.hybrid.to_string(),
                change.movement(),
                movement_style(change, self.theme),
            ),
            None => ("–".to_owned(), String::new(), String::new(), Style::new()),
        };
        Line::from(vec![
            Span::styled(mark, self.theme.accent()),
            Span::styled(pad_left(&rank, 4), name),
            Span::styled(pad_left(&was, 5), self.theme.muted()),
            Span::styled(format!(" {}", pad_right(&moved, 5)), style),
            label,
            Span::styled(title.into_owned(), name),
        ])
        .render(area, buf);
        if let Some(axis) = self.axis {
            let score = change.map(|change| (change.standing.zelo, change.standing.se));
            axis.interval(self.theme, score, (self.axis_at(area), area.y), buf);
        }
    }
}

fn movement_style(change: &OrderChange, theme: &Theme) -> Style {
    match change.rose {
        _ if !change.is_certain() => theme.muted(),
        1.. => theme.good().add_modifier(Modifier::BOLD),
        _ => theme.bad().add_modifier(Modifier::BOLD),
    }
}

/// The documents that rose or fell most, by title, with both ranks and the interval of the new one.
pub(super) fn movers(
    open: &OpenQuery,
    lead: &str,
    most_first: &[&OrderChange],
    columns: usize,
) -> Vec<String> {
    let each = (columns / 5).clamp(20, 40);
    most_first
        .iter()
        .enumerate()
        .map(|(at, change)| {
            let title = open.headline(change.document);
            let interval = change
                .standing
                .interval
                .map_or(String::new(), |interval| format!(" ({interval})"));
            format!(
                "{}{} {} → {}{interval}",
                if at == 0 { lead } else { "" },
                truncate(&title, each),
                change.hybrid,
                change.standing.rank,
            )
        })
        .collect()
}

/// Whether there is anything to list.
pub(super) fn compared(model: &Model) -> Option<(&OpenQuery, OrderComparison)> {
    let open = model.open.as_ref()?;
    Some((open, comparison(open)?))
}
