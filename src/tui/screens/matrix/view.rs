//! The K×K heatmap, its margin, and the cell under the cursor in words.

use super::cell_details;
use super::cells::MatrixCells;
use crate::domain::ranking::DocumentOrder;
use crate::domain::sanitise;
use crate::judge::OFFLINE_LABEL;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::model::Model;
use crate::tui::model::matrix::Layer;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::heatmap::{self, HeatmapOptions};
use crate::tui::widgets::notice;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

fn layer_text(open: &OpenQuery, layer: Layer) -> String {
    match layer {
        Layer::Observed => "observed: share of the judges' votes".to_owned(),
        Layer::Fitted => "fitted: probability of winning".to_owned(),
        Layer::Residual => "residual: observed − fitted".to_owned(),
        Layer::Judge(index) => {
            format!("judge {}: its margin", open.judge_name(index))
        }
        Layer::Verdicts => "verdicts: what people decided".to_owned(),
    }
}

fn order_text(order: DocumentOrder) -> &'static str {
    match order {
        DocumentOrder::Hybrid => "hybrid order (first stage)",
        DocumentOrder::Zelo => "zELO order (best first)",
    }
}

pub(super) fn view(model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let Some(open) = &model.open else {
        notice(" loading …", theme, area, buf);
        return Areas::default();
    };
    let order = open.view.order(model.matrix.order);
    let wide = area.width >= 112;
    let [head, rest] = Layout::vertical([Constraint::Length(2), Constraint::Min(1)]).areas(area);
    render_head(open, theme, head, buf);
    let (grid, side) = if wide {
        let width = (area.width / 3).clamp(36, 64);
        let [grid, side] =
            Layout::horizontal([Constraint::Min(40), Constraint::Length(width)]).areas(rest);
        (grid, side)
    } else {
        let height = match rest.height {
            26.. => 6,
            18.. => 4,
            rows => rows.min(3),
        };
        let [grid, side] =
            Layout::vertical([Constraint::Min(1), Constraint::Length(height)]).areas(rest);
        (grid, side)
    };
    let source = MatrixCells::new(model, open, &order);
    let caption = format!(
        "{} · {}",
        layer_text(open, model.matrix.layer),
        order_text(model.matrix.order)
    );
    let options = HeatmapOptions {
        caption: &caption,
        ..HeatmapOptions::default()
    };
    let viewport = heatmap::render(
        grid,
        buf,
        theme,
        &model.matrix.heat,
        &mut caches.heatmap,
        &source,
        &options,
    );
    cell_details::render(model, open, &order, theme, side, wide, buf);
    Areas {
        list: grid,
        lines: order.len(),
        page: (viewport.shown.0 / 2).max(1),
        heatmap: Some(viewport),
        ..Areas::default()
    }
}

fn render_head(open: &OpenQuery, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let width = usize::from(area.width).saturating_sub(2);
    let query = sanitise::line(&open.info.text);
    let judges: Vec<String> = (0..open.judges.len())
        .map(|index| open.judge_name(index))
        .collect();
    let mut second = vec![Span::raw(" ")];
    if open.offline() {
        second.push(Span::styled(OFFLINE_LABEL, theme.warn()));
        second.push(Span::raw("  "));
    }
    let list = match judges.len() {
        0 => "not judged yet: s on the list of queries starts the run".to_owned(),
        count => format!(
            "{count} judges: {} · φ {:.2} {}",
            judges.join(", "),
            open.view.phi,
            phi_text(open.view.settings.phi, open.view.settings.phi_battles)
        ),
    };
    second.push(Span::styled(list, theme.muted()));
    Paragraph::new(vec![
        Line::from(vec![
            Span::raw(" "),
            Span::styled(text::truncate(&query, width).into_owned(), theme.strong()),
        ]),
        Line::from(second),
    ])
    .render(area, buf);
}

fn phi_text(phi: Option<f64>, battles: Option<usize>) -> String {
    match (phi, battles) {
        (_, Some(battles)) => format!("(estimated from {} battles)", text::count(battles)),
        (Some(_), None) => "(set)".to_owned(),
        (None, None) => "(1 over the judges)".to_owned(),
    }
}
