//! Draws the slices with their mean scores, and the documents of the selected one.

use super::state::SlicesState;
use crate::domain::ranking::{Slice, SliceMean};
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches, ListPosition};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::panes::PaneSplit;
use crate::tui::screens::Screen;
use crate::tui::text::{self, counted, signed};
use crate::tui::theme::Theme;
use crate::tui::widgets::heatmap::{WITHIN_95, interval_plot};
use crate::tui::widgets::list::scrollbar;
use crate::tui::widgets::{heading, notice};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

/// Columns of the numbers, and of the interval.
const NUMBERS: u16 = 6 + 10 + 16;
const PLOT: u16 = 21;
/// Minimum and maximum columns of a value.
const VALUE: (usize, usize) = (8, 24);

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = inset(area);
    let Some(open) = &model.open else {
        notice("loading …", theme, rest, buf);
        return Areas::default();
    };
    let found = model.slices();
    let Some(selected) = found.selected() else {
        let [back, manual] =
            [Command::Back, Command::Manual].map(|command| key_on(command, Screen::SLICES));
        let words = format!(
            "The documents of this query have no metadata fields to compare. Fields that give \
             labels away are not shown. {manual}: about slices. {back}: back to the matrix."
        );
        notice(&words, theme, rest, buf);
        return Areas::default();
    };
    let columns = usize::from(rest.width);
    let words = sentence(found);
    text::line(&words, columns, theme.strong()).render(cut(&mut rest, 1), buf);
    let table = SliceTable::new(open, found, rest.width);
    table.header(open, theme).render(cut(&mut rest, 1), buf);
    let high = (found.slices.len() as u16).min(rest.height / 2).max(1);
    let panes = model.split(
        rest,
        PaneSplit {
            upright: false,
            gap: 0,
            usual: rest.height.saturating_sub(high),
            least: [1, 1],
        },
    );
    let list = panes.first;
    let page = usize::from(list.height);
    let cursor = found.cursor.min(found.slices.len() - 1);
    let first = (cursor + 1).saturating_sub(page);
    let rows = found.slices.iter().enumerate().skip(first);
    for ((place, slice), row) in rows.zip(list.rows()) {
        if place == cursor {
            buf.set_style(row, theme.selection());
        }
        table.row(slice, place == cursor, theme.judge(place), theme, row, buf);
    }
    scrollbar(first, found.slices.len(), Canvas::new(theme, list, buf));
    let canvas = Canvas::new(theme, panes.second, buf);
    documents(open, &found.field, selected, canvas);
    Areas {
        list,
        page,
        lines: found.slices.len(),
        first,
        position: Some(ListPosition::unfiltered(cursor, found.slices.len())),
        ..Areas::default()
    }
    .split(&panes)
}

/// Whether the highest and the lowest slice differ: their intervals do not overlap.
fn sentence(found: &SlicesState) -> String {
    let scored: Vec<(&Slice, SliceMean)> = found
        .slices
        .iter()
        .filter_map(|slice| Some((slice, slice.mean?)))
        .collect();
    let field = sanitize::line(&found.field);
    let (Some((high, above)), Some((low, below))) = (scored.first(), scored.last()) else {
        return format!("{field}: no document has a score yet.");
    };
    if scored.len() < 2 {
        return format!("All documents with a score have the same {field}.");
    }
    match (above.se, below.se) {
        (Some(upper), Some(lower))
            if above.zelo - WITHIN_95 * upper > below.zelo + WITHIN_95 * lower =>
        {
            format!(
                "{field}: {} scores higher than {}.",
                value(high),
                value(low)
            )
        }
        (Some(_), Some(_)) => format!("{field}: no slice clearly scores higher than another."),
        _ => format!("{field}: the errors of the scores are unknown."),
    }
}

fn value(slice: &Slice) -> String {
    slice.value.as_deref().map_or("(none)".to_owned(), |value| {
        sanitize::line(value).into_owned()
    })
}

struct SliceTable<'a> {
    open: &'a OpenQuery,
    value: usize,
    /// The range of the intervals.
    axis: (f64, f64),
    /// Columns of the strip of ranks; 0 if it does not fit.
    strip: usize,
    ranks: usize,
    field: String,
}

impl<'a> SliceTable<'a> {
    fn new(open: &'a OpenQuery, found: &SlicesState, width: u16) -> Self {
        let field = sanitize::line(&found.field).into_owned();
        let widest = found.slices.iter().map(|slice| text::width(&value(slice)));
        let value = widest.max().unwrap_or(0).max(text::width(&field));
        let value = value.clamp(VALUE.0, VALUE.1);
        let axis = found.slices.iter().filter_map(|slice| slice.mean).fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(low, high), mean| {
                let reach = WITHIN_95 * mean.se.unwrap_or(0.0);
                (low.min(mean.zelo - reach), high.max(mean.zelo + reach))
            },
        );
        let ranks = open.view.entered().len();
        let used = 2 + value + usize::from(NUMBERS + PLOT) + 2;
        let room = usize::from(width).saturating_sub(used);
        Self {
            open,
            value,
            axis,
            strip: if ranks <= room { ranks } else { 0 },
            ranks,
            field,
        }
    }

    fn header(&self, open: &OpenQuery, theme: &Theme) -> Line<'static> {
        let top = format!("in top {}", open.top());
        let strip = if self.strip > 0 {
            text::truncate(&format!("ranks 1 to {}", self.ranks), self.strip).into_owned()
        } else {
            String::new()
        };
        let words = format!(
            "  {}{:>6}{top:>10}{:>16}  {}{strip}",
            text::pad_right(&self.field, self.value),
            "docs",
            "mean zELO",
            text::pad_right("95 %", usize::from(PLOT)),
        );
        Line::styled(words, theme.muted())
    }

    fn row(
        &self,
        slice: &Slice,
        selected: bool,
        color: ratatui::style::Style,
        theme: &Theme,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let mean = slice.mean.map_or("no score".to_owned(), |mean| {
            let se = mean.se.map_or(String::new(), |se| format!(" ± {se:.2}"));
            format!("{}{se}", signed(mean.zelo, 2))
        });
        let numbers = format!(
            "{:>6}{:>10}{mean:>16}  ",
            slice.documents.len(),
            slice.in_top
        );
        Line::from(vec![
            Span::raw(if selected { "▌ " } else { "  " }),
            Span::styled(text::pad_right(&value(slice), self.value), color),
            Span::raw(numbers),
        ])
        .render(area, buf);
        let x = area.x + 4 + self.value as u16 + NUMBERS;
        let plot = Rect::new(x, area.y, PLOT.min(area.right().saturating_sub(x)), 1);
        let score = slice.mean.and_then(|mean| Some((mean.zelo, mean.se?)));
        let columns = usize::from(plot.width);
        interval_plot(theme, (plot.x, plot.y), columns, score, self.axis, buf);
        for rank in 0..self.strip {
            let is_here = slice.documents.iter().any(|document| {
                let standing = self.open.standing(*document);
                standing.is_some_and(|standing| standing.rank == rank + 1)
            });
            let (symbol, style) = if is_here {
                ("▮", color)
            } else {
                ("·", theme.faint())
            };
            buf.set_stringn(plot.right() + rank as u16, area.y, symbol, 1, style);
        }
    }
}

/// Draws the documents of the selected slice, best first.
fn documents(open: &OpenQuery, field: &str, slice: &Slice, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = area;
    cut(&mut rest, 1);
    let words = format!(
        "{} {} · {}",
        sanitize::line(field),
        value(slice),
        counted(slice.documents.len(), "document")
    );
    heading(&words, false, theme, cut(&mut rest, 1), buf);
    let members = open
        .view
        .by_zelo
        .iter()
        .filter(|document| slice.documents.contains(document));
    for (document, row) in members.zip(rest.rows()) {
        let standing = open.standing(*document);
        let rank = standing.map_or("–".to_owned(), |standing| standing.rank.to_string());
        let score = standing.map_or("not scored".to_owned(), |standing| {
            let se = standing
                .se
                .map_or(String::new(), |se| format!(" ± {se:.2}"));
            format!("{}{se}", signed(standing.zelo, 2))
        });
        let room = usize::from(row.width).saturating_sub(22);
        Line::from(vec![
            Span::styled(format!("{rank:>4}  "), theme.strong()),
            Span::raw(text::pad_right(&open.headline(*document), room)),
            Span::styled(format!("{score:>16}"), theme.muted()),
        ])
        .render(row, buf);
    }
}
