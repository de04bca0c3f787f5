//! Draws the text, the document's position, its battles, and the reasoning on the selected one.

use super::{head, reasons, table};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches, ListPosition};
use crate::tui::layout::{cut, cut_bottom, inset};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::panes::{PaneSplit, second_share};
use crate::tui::theme::Theme;
use crate::tui::widgets::document_text::TextMarks;
use crate::tui::widgets::{document_text, heading, notice};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};

/// Minimum width for showing the text next to the battles instead of above.
const WIDE: u16 = 150;
/// Minimum columns of each of two panes next to each other.
const PANE_MIN: u16 = 30;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = inset(area);
    let mut areas = Areas::default();
    let Some(open) = &model.open else {
        notice("loading …", theme, rest, buf);
        return areas;
    };
    if model.document().document >= open.documents.len() {
        notice("no such document in this query", theme, rest, buf);
        return areas;
    }
    let lines = head::lines(model, open, theme, usize::from(rest.width));
    let rows = (lines.len() as u16).min((rest.height / 3).max(4));
    Paragraph::new(lines).render(cut(&mut rest, rows), buf);
    let shown = model.document().battles(open);
    let chosen = shown.get(model.document_cursor()).copied();
    if model.document().expanded {
        let (lines, page) = reasons::render(model, open, chosen, Canvas::new(theme, rest, buf));
        let last = lines.saturating_sub(page);
        return Areas {
            lines,
            page,
            text_first: model.document().scroll.unwrap_or(0).min(last),
            list: Rect::default(),
            ..areas
        };
    }
    let split = if area.width >= WIDE {
        PaneSplit {
            upright: true,
            gap: 2,
            usual: second_share(rest.width, 2, [2, 3]),
            least: [PANE_MIN; 2],
        }
    } else {
        let source = open.texts.get(&model.document().document);
        let wanted = source.map_or(1, |source| {
            model
                .layouts
                .lines(source, &open.info.text, usize::from(rest.width))
                .1
                .len()
        });
        let rows = (rest.height * 3 / 10)
            .max(4)
            .min(wanted.min(1_000) as u16 + 1);
        PaneSplit {
            upright: false,
            gap: 0,
            usual: rest.height.saturating_sub(rows),
            least: [2, table::FRAME],
        }
    };
    let panes = model.split(rest, split);
    areas = areas.split(&panes);
    let (mut read, mut battles) = (panes.first, panes.second);
    (areas.lines, areas.page, areas.text_first) = read_pane(model, open, theme, &mut read, buf);
    let wanted = shown.len().clamp(1, 1_000) as u16 + table::FRAME;
    let reasons_rows = battles
        .height
        .saturating_sub(wanted)
        .max(battles.height * 2 / 5);
    let below = cut_bottom(&mut battles, reasons_rows);
    let (list, first) = table::render(model, open, &shown, Canvas::new(theme, battles, buf));
    areas.list = list;
    areas.first = first;
    areas.position = Some(ListPosition::unfiltered(
        model.document_cursor(),
        shown.len(),
    ));
    reasons::render(model, open, chosen, Canvas::new(theme, below, buf));
    if !model.document().reading {
        areas.page = usize::from(list.height);
    }
    areas
}

/// Draws the document's text; returns the number of lines, the number that fits, and the first
/// visible one.
fn read_pane(
    model: &Model,
    open: &OpenQuery,
    theme: &Theme,
    area: &mut Rect,
    buf: &mut Buffer,
) -> (usize, usize, usize) {
    let top = cut(area, 1);
    let focus = model.document().reading;
    let Some(source) = open.texts.get(&model.document().document) else {
        heading("text", focus, theme, top, buf);
        Line::styled("loading the text …", theme.missing()).render(*area, buf);
        return (0, 0, 0);
    };
    let (shown, lines) = model
        .layouts
        .lines(source, &open.info.text, usize::from(area.width));
    let page = usize::from(area.height);
    let search = model.search.as_ref();
    let marks = TextMarks {
        quotes: Vec::new(),
        others: Vec::new(),
        found: search.map_or(Vec::new(), |search| search.in_text(0)),
        current: search.and_then(|search| search.current_in(0)),
    };
    let last = lines.len().saturating_sub(page);
    let first = match (model.document().scroll, &marks.current) {
        (Some(first), _) => first.min(last),
        (None, Some(place)) => shown.line_in_view(&lines, page, place),
        (None, None) => 0,
    };
    let mut words = "text".to_owned();
    if lines.len() > page && page > 0 {
        words += &format!(
            " · lines {}–{} of {}",
            first + 1,
            (first + page).min(lines.len()),
            lines.len()
        );
    }
    if let Some(note) = shown.note() {
        words += &format!(" · {note}");
    }
    heading(&words, focus, theme, top, buf);
    let canvas = Canvas::new(theme, *area, buf);
    let count = document_text::render(&shown, &lines, first, &marks, canvas);
    (count, page, first)
}
