//! Draws the K×K heatmap, its margins, and a description of the cell under the cursor.

use super::cell_details;
use super::cells::MatrixCells;
use super::overview;
use crate::domain::ranking::{DocumentOrder, ScoreWarning};
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::{Command, Scope, Screen, key_name};
use crate::tui::layout::inset;
use crate::tui::model::Model;
use crate::tui::model::matrix::{Layer, MatrixColors};
use crate::tui::model::open_query::OpenQuery;
use crate::tui::panes::PaneSplit;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::heatmap::{self, CellScale, HeatmapOptions, Zoom};
use crate::tui::widgets::notice;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

pub(super) fn layer_text(open: &OpenQuery, layer: Layer) -> String {
    match layer {
        Layer::Observed => "observed: the judges' votes".to_owned(),
        Layer::Fitted => "fitted: probability of winning".to_owned(),
        Layer::Residual => "residual: observed − fitted, in σ".to_owned(),
        Layer::Judge(index) => {
            format!("judge {}: its margin", open.judge_name(index))
        }
        Layer::Student(index) => {
            format!(
                "student {}: the score it expects, no vote",
                open.student_name(index)
            )
        }
        Layer::Answers => format!("{}: share of the row", answers_name(open)),
        Layer::Verdicts => "verdicts: what people decided".to_owned(),
    }
}

/// The name of the layer.
fn layer_name(open: &OpenQuery, layer: Layer) -> String {
    match layer {
        Layer::Observed => "observed".to_owned(),
        Layer::Fitted => "fitted".to_owned(),
        Layer::Residual => "residual".to_owned(),
        Layer::Judge(index) => format!("judge {}", open.judge_name(index)),
        Layer::Student(index) => format!("student {}", open.student_name(index)),
        Layer::Answers => answers_name(open),
        Layer::Verdicts => "verdicts".to_owned(),
    }
}

/// What answers outside battles are called.
fn answers_name(open: &OpenQuery) -> String {
    let answers = open.view.rows().answers.as_ref();
    answers.map_or_else(String::new, |answers| format!("{}s", answers.noun))
}

pub(super) fn order_text(order: DocumentOrder) -> &'static str {
    match order {
        DocumentOrder::Hybrid => "hybrid order (first stage)",
        DocumentOrder::Zelo => "zELO order (best first)",
    }
}

/// Minimum width for showing text next to the matrix instead of below.
const WIDE: u16 = 112;
/// Minimum columns for the text.
const SIDE_MIN: u16 = 38;
const SIDE_MAX: u16 = 76;
/// Minimum rows for the matrix above the text.
const GRID_MIN: u16 = 6;
/// Maximum rows of text about the cell, if the overview of the query is below it.
const CELL_LINES: u16 = 24;

/// Columns for the text next to the matrix: the space left by the largest cells that fit with the
/// minimum.
fn side_columns(model: &Model, documents: usize, area: Rect) -> u16 {
    let most = Rect {
        width: area.width.saturating_sub(SIDE_MIN),
        ..area
    };
    let zoom = model
        .matrix
        .zoom
        .unwrap_or_else(|| heatmap::fit(documents, most));
    if zoom <= Zoom::Dense {
        return (area.width / 3).clamp(SIDE_MIN, 64);
    }
    let wanted = heatmap::columns_wanted(documents, zoom).min(usize::from(area.width));
    (area.width - wanted as u16).clamp(SIDE_MIN, SIDE_MAX)
}

/// Number of slices that are named.
const NAMED: usize = 3;

/// ` · by brand: a Acme, b Best, 4 more`.
fn colors_text(colors: &MatrixColors) -> String {
    let mut parts: Vec<String> = colors
        .values
        .iter()
        .take(NAMED)
        .enumerate()
        .map(|(at, value)| format!("{} {}", MatrixColors::letter(at), text::truncate(value, 16)))
        .collect();
    if let Some(more) = colors.values.len().checked_sub(NAMED + 1) {
        parts.push(format!("{} more", more + 1));
    }
    format!(" · by {}: {}", colors.field, parts.join(", "))
}

/// Number of ranks above the cutoff line, if rows are ordered by rank.
fn cut(model: &Model, open: &OpenQuery) -> Option<usize> {
    let is_ranked = model.matrix.order == DocumentOrder::Zelo && model.matrix.slice.is_none();
    (scored(open) && is_ranked).then(|| open.top())
}

/// Whether there is a fit of some votes.
pub(super) fn scored(open: &OpenQuery) -> bool {
    open.view.fit.is_ok() && !open.view.entered().is_empty()
}

/// Whether the votes hardly distinguish the documents.
fn has_weak_signal(open: &OpenQuery) -> bool {
    let is_weak = |warning: &ScoreWarning| matches!(warning, ScoreWarning::WeakSignal { .. });
    open.view.warnings.iter().any(is_weak)
}

pub(super) fn view(model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let Some(open) = &model.open else {
        notice("loading …", theme, inset(area), buf);
        return Areas::default();
    };
    let order = model.matrix_order();
    let wide = area.width >= WIDE;
    let [head, rest] = Layout::vertical([Constraint::Length(2), Constraint::Min(1)]).areas(area);
    render_head(open, theme, inset(head), buf);
    let split = if wide {
        PaneSplit {
            upright: true,
            gap: 0,
            usual: side_columns(model, order.len(), rest).min(rest.width.saturating_sub(40)),
            least: [40, SIDE_MIN / 2],
        }
    } else {
        let height = match rest.height {
            26.. => 6,
            18.. => 4,
            rows => rows.min(3),
        };
        PaneSplit {
            upright: false,
            gap: 0,
            usual: height.min(rest.height.saturating_sub(1)),
            least: [GRID_MIN, 1],
        }
    };
    let panes = model.split(rest, split);
    let (mut grid, side) = (panes.first, panes.second);
    // The margin on the left that all screens share.
    let margin = 1.min(grid.width);
    grid.x += margin;
    grid.width -= margin;
    let source = MatrixCells::new(model, open, &order);
    let mut lead = if has_weak_signal(open) {
        "weak signal · ".to_owned()
    } else {
        String::new()
    };
    if let Some(slice) = &model.matrix.slice {
        lead.push_str(&format!("only {} · ", slice.name));
    }
    let colors = model.matrix.colors.as_ref();
    let colors = colors.map_or_else(String::new, colors_text);
    let caption = format!(
        "{lead}{} · {}{colors}",
        layer_text(open, model.matrix.layer),
        order_text(model.matrix.order)
    );
    let order_name = match model.matrix.order {
        DocumentOrder::Hybrid => "hybrid order",
        DocumentOrder::Zelo => "zELO order",
    };
    let brief = format!(
        "{lead}{} · {order_name}{colors}",
        layer_name(open, model.matrix.layer)
    );
    let answers_name = answers_name(open);
    let options = HeatmapOptions {
        caption: &caption,
        brief: &brief,
        scale: match model.matrix.layer {
            Layer::Residual => CellScale::Sigmas,
            Layer::Judge(_) => CellScale::Margin,
            _ => CellScale::Share,
        },
        ids: model.matrix.ids,
        cut: cut(model, open),
        expectations: match model.matrix.layer {
            Layer::Student(_) => Some("not fought: the student's expectation"),
            _ if model.matrix.shows_expectations() && scored(open) => {
                Some("not fought: the fit's expectation")
            }
            _ => None,
        },
        answers: Some(answers_name.as_str()).filter(|_| {
            model.matrix.layer == Layer::Observed && !open.view.answers_in_fit().is_empty()
        }),
        absent: match model.matrix.layer {
            Layer::Answers => Some("in none"),
            Layer::Verdicts => Some("no verdict"),
            Layer::Fitted => None,
            _ => Some("not fought"),
        },
        gaps: matches!(
            model.matrix.layer,
            Layer::Observed | Layer::Residual | Layer::Judge(_)
        ) && open.view.battles.iter().any(|battle| battle.missing > 0),
        labels: open.has_labels(),
        ..HeatmapOptions::default()
    };
    let viewport = heatmap::render(
        grid,
        buf,
        theme,
        &model.heat(),
        &mut caches.heatmap,
        &source,
        &options,
    );
    let (words, below) = if wide && side.height >= CELL_LINES + overview::BLOCK {
        let [words, below] =
            Layout::vertical([Constraint::Length(CELL_LINES), Constraint::Min(1)]).areas(side);
        (words, Some(below))
    } else {
        (side, None)
    };
    let aside = cell_details::render(model, open, theme, words, wide, buf);
    if let Some(below) = below {
        let canvas = Canvas::new(theme, inset(below), buf);
        let kept = model.queries.summary(open.info.key);
        overview::render(open, &mut caches.top, kept, canvas);
    }
    Areas {
        list: grid,
        lines: order.len(),
        page: (viewport.shown.0 / 2).max(1),
        heatmap: Some(viewport),
        aside,
        ..Areas::default()
    }
    .split(&panes)
}

fn render_head(open: &OpenQuery, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let width = usize::from(area.width);
    let query = sanitize::line(&open.info.text);
    let judges: Vec<String> = (0..open.judges.len())
        .map(|index| open.judge_name(index))
        .collect();
    let mut second = Vec::new();
    let mut room = width;
    if let Some((student, _)) = open.view.student_in_fit() {
        let words = format!("scores count student {}", sanitize::line(&student.name));
        room = room.saturating_sub(text::width(&words) + 2);
        second.push(Span::styled(words, theme.warn()));
        second.push(Span::raw("  "));
    }
    if let Some(words) = open.view.basis_note() {
        room = room.saturating_sub(text::width(&words) + 2);
        second.push(Span::styled(words, theme.muted()));
        second.push(Span::raw("  "));
    }
    let list = match judges.len() {
        0 if !open.view.answers_in_fit().is_empty() => String::new(),
        0 => format!(
            "not judged yet: press {} to start",
            key_name(Command::StartRun, Scope::Screen(Screen::MATRIX))
        ),
        count => format!("{}: {}", text::counted(count, "judge"), judges.join(", ")),
    };
    let list = text::truncate(&list, room).into_owned();
    second.push(Span::styled(list, theme.muted()));
    Paragraph::new(vec![
        text::line(&query, width, theme.strong()),
        Line::from(second),
    ])
    .render(area, buf);
}
