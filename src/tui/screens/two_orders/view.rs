//! Draws the two matrices, the list of documents, and the battle under the cursor.

use super::layout::{GAP, Panes, matrix_columns, usual_room};
use super::list::{compared, movers, render as render_list};
use crate::domain::battle::Pair;
use crate::domain::ranking::{DocumentOrder, OrderComparison};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches, ListPosition};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, cut_bottom, inset};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::panes::PaneSplit;
use crate::tui::screens::Screen;
use crate::tui::screens::battle::numbers::votes_text;
use crate::tui::screens::matrix::cells::MatrixCells;
use crate::tui::text::{self, truncate};
use crate::tui::theme::Theme;
use crate::tui::widgets::heatmap::{
    self, HeatmapCache, HeatmapOptions, HeatmapState, Viewport, Zoom, ramp_line,
};
use crate::tui::widgets::notice;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};

/// The fewest columns of the matrices and of the list that the border can be moved to.
const MATRIX_MIN: u16 = 12;
const LIST_LEAST: u16 = 24;
/// Minimum rows for naming the documents that moved most.
const TALL: u16 = 16;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = inset(area);
    let Some((open, compared)) = compared(model) else {
        notice(&why_nothing(model), theme, rest, buf);
        return Areas::default();
    };
    let columns = usize::from(rest.width);
    let tall = rest.height >= TALL;
    let lines = if tall { 2 } else { 1 };
    let [agreement, top] = compared.sentences();
    let mut head = text::first_lines(&agreement, columns, lines, theme.strong());
    head.extend(text::first_lines(&top, columns, lines, theme.text()));
    let head_rows = head.len() as u16;
    Paragraph::new(head).render(cut(&mut rest, head_rows), buf);
    let foot = foot(model, open, &compared, theme, columns, tall);
    let foot_rows = (foot.len() as u16).min(rest.height / 2);
    Paragraph::new(foot).render(cut_bottom(&mut rest, foot_rows), buf);
    if rest.height > TALL {
        cut(&mut rest, 1);
    }
    body(
        model,
        open,
        &compared,
        Canvas::new(theme, rest, buf),
        caches,
    )
}

fn why_nothing(model: &Model) -> String {
    let Some(open) = &model.open else {
        return "loading …".to_owned();
    };
    match &open.view.fit {
        Err(error) if !open.view.entered().is_empty() => format!("No scores: {error}."),
        _ => format!(
            "No zELO order yet: {} starts judging.",
            key_on(Command::StartRun, Screen::TWO_ORDERS)
        ),
    }
}

fn body(
    model: &Model,
    open: &OpenQuery,
    compared: &OrderComparison,
    canvas: Canvas<'_>,
    caches: &mut Caches,
) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let state = model.two_orders();
    let documents = open.documents.len();
    let mut rest = area;
    let mut shown = None;
    let mut matrix = |order: DocumentOrder, zoom: Zoom, at: Rect, buf: &mut Buffer| {
        let cache = &mut caches.orders[order as usize];
        let canvas = Canvas::new(theme, at, buf);
        let viewport = render_matrix(model, open, order, zoom, canvas, cache);
        if order == state.order {
            shown = Some(viewport);
        }
    };
    let split = PaneSplit {
        upright: true,
        gap: GAP,
        usual: area.width.saturating_sub(usual_room(area) + GAP),
        least: [MATRIX_MIN, LIST_LEAST],
    };
    let room = model.split(area, split).first.width;
    let panes = Panes::new(documents, state.shows_matrix, area, room);
    let (zoom, orders) = match panes {
        Panes::List => (None, Vec::new()),
        Panes::Matrix(zoom) => {
            matrix(state.order, zoom, rest, buf);
            (None, Vec::new())
        }
        Panes::OneAndList(zoom) => (Some(zoom), vec![state.order]),
        Panes::BothAndList(zoom) => (Some(zoom), vec![DocumentOrder::Hybrid, DocumentOrder::Zelo]),
    };
    let mut border = None;
    if let Some(zoom) = zoom {
        let columns = matrix_columns(documents, zoom, room);
        let used = (columns + GAP) * orders.len() as u16;
        // The list gets the columns that the matrices do not need.
        let usual = area.width.saturating_sub(used);
        let split = model.split(area, PaneSplit { usual, ..split });
        let mut left = split.first;
        for order in orders {
            let at = Rect {
                width: columns.min(left.width),
                ..left
            };
            matrix(order, zoom, at, buf);
            let used = (columns + GAP).min(left.width);
            left.x += used;
            left.width -= used;
        }
        rest = split.second;
        border = Some(split.border);
    }
    let (list, first) = match panes {
        Panes::Matrix(_) => (Rect::default(), 0),
        _ => render_list(model, open, compared, Canvas::new(theme, rest, buf)),
    };
    let order = open.view.order(state.order);
    let row = order.iter().position(|at| *at == model.matrix.cursor.0);
    let row = row.unwrap_or(0);
    let page = match panes {
        Panes::Matrix(_) => shown.map_or(1, |shown| shown.shown.0 / 2),
        _ => usize::from(list.height),
    };
    Areas {
        list,
        first,
        lines: documents,
        position: Some(ListPosition::unfiltered(row, documents)),
        page: page.max(1),
        heatmap: shown,
        border,
        ..Areas::default()
    }
}

/// Draws a matrix below its name.
fn render_matrix(
    model: &Model,
    open: &OpenQuery,
    kind: DocumentOrder,
    zoom: Zoom,
    canvas: Canvas<'_>,
    cache: &mut HeatmapCache,
) -> Viewport {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = area;
    let title = cut(&mut rest, 1);
    let (row, column) = model.matrix.cursor;
    let order = open.view.order(kind);
    let place = |document: usize| order.iter().position(|at| *at == document).unwrap_or(0);
    let state = HeatmapState {
        cursor: (place(row), place(column)),
        zoom: Some(zoom),
    };
    let options = HeatmapOptions {
        bare: true,
        cut: Some(open.top()),
        ..HeatmapOptions::default()
    };
    let source = MatrixCells::observed(open, &order);
    let viewport = heatmap::render(rest, buf, theme, &state, cache, &source, &options);
    let name = match kind {
        DocumentOrder::Hybrid => "hybrid order",
        DocumentOrder::Zelo => "zELO order",
    };
    let (down, across) = viewport.stride;
    let words = match (down, across) {
        (1, 1) => name.to_owned(),
        _ => format!("{name} · a half block is the mean of {down} × {across} cells"),
    };
    let style = if kind == model.two_orders().order {
        theme.strong()
    } else {
        theme.muted()
    };
    text::line(&words, usize::from(title.width), style).render(title, buf);
    viewport
}

/// The documents that moved most, the battle under the cursor, and the meaning of the colors.
fn foot(
    model: &Model,
    open: &OpenQuery,
    compared: &OrderComparison,
    theme: &Theme,
    columns: usize,
    tall: bool,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if tall {
        lines.push(Line::default());
        for (lead, changes) in [
            ("rose most: ", compared.risen()),
            ("fell most: ", compared.fallen()),
        ] {
            let words = movers(open, lead, &changes, columns);
            lines.extend(text::parts(&words, columns, 1, theme.text()));
        }
    }
    lines.extend(battle_lines(model, open, theme, columns));
    let shows_cells = model.two_orders().shows_matrix || !Panes::is_narrow(model.size.0);
    if tall && shows_cells {
        lines.push(ramp_line(theme, true));
    }
    lines
}

/// Names the documents under the cursor, and says what the judges and the fit say about them.
fn battle_lines(
    model: &Model,
    open: &OpenQuery,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let (row, column) = model.matrix.cursor;
    if row == column {
        let words = format!("{} · {}", open.headline(row), open.rank_text(row));
        return vec![text::line(&words, columns, theme.strong())];
    }
    let each = columns.saturating_sub(7) / 2;
    let (a, b) = (open.headline(row), open.headline(column));
    let names = format!("A {} × B {}", truncate(&a, each), truncate(&b, each));
    let fought = Pair::new(row, column).is_some_and(|pair| !open.view.battles_of(pair).is_empty());
    let votes = votes_text(open, row, column).unwrap_or_else(|| {
        if fought {
            "planned, no vote yet".to_owned()
        } else {
            "no battle: no judge was asked about this pair".to_owned()
        }
    });
    let above = open
        .view
        .outranks(row, column)
        .map_or(String::new(), |probability| {
            format!(" · P(A above B) {}", text::probability(probability))
        });
    vec![
        text::line(&names, columns, theme.strong()),
        text::line(&format!("{votes}{above}"), columns, Style::new()),
    ]
}
