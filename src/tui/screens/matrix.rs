//! The matrix screen: the K×K heatmap, its margin, and the cell under the cursor in words.

mod cell_details;

use crate::domain::battle::Pair;
use crate::domain::ranking::{DocumentOrder, Standing};
use crate::judge::OFFLINE_LABEL;
use crate::tui::keymap::Command;
use crate::tui::model::{Areas, Effect, Layer, MatrixScreen, Model, OpenQuery, RankingBefore};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::view::Caches;
use crate::tui::widgets::heatmap::{self, CellSource, HeatCell, HeatmapOptions, MarginRow, Zoom};
use crate::tui::widgets::toast::Level;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

struct MatrixCells<'a> {
    open: &'a OpenQuery,
    order: &'a [usize],
    layer: Layer,
    ghost: Option<&'a RankingBefore>,
    generation: u64,
}

impl<'a> MatrixCells<'a> {
    fn new(model: &'a Model, open: &'a OpenQuery, order: &'a [usize]) -> Self {
        let mut hash = DefaultHasher::new();
        (
            open.info.key,
            model.matrix.order as u8,
            layer_number(model.matrix.layer),
        )
            .hash(&mut hash);
        for standing in &open.view.standings {
            standing
                .map(|standing| standing.zelo.to_bits())
                .hash(&mut hash);
        }
        for battle in &open.view.battles {
            (battle.score.map(f64::to_bits), battle.missing).hash(&mut hash);
        }
        for verdict in &open.view.rows().verdicts {
            (verdict.a, verdict.b, verdict.decision).hash(&mut hash);
        }
        Self {
            open,
            order,
            layer: model.matrix.layer,
            ghost: model.battle.before.as_ref(),
            generation: hash.finish(),
        }
    }
}

fn layer_number(layer: Layer) -> usize {
    match layer {
        Layer::Observed => 0,
        Layer::Fitted => 1,
        Layer::Residual => 2,
        Layer::Verdicts => 3,
        Layer::Judge(index) => 4 + index,
    }
}

impl CellSource for MatrixCells<'_> {
    fn len(&self) -> usize {
        self.order.len()
    }

    fn cell(&self, row: usize, column: usize) -> HeatCell {
        let (Some(row), Some(column)) = (self.order.get(row), self.order.get(column)) else {
            return HeatCell::default();
        };
        let cell = self.open.view.cell(*row, *column);
        let signed = match self.layer {
            Layer::Residual => cell
                .observed
                .zip(cell.fitted)
                .map(|(observed, fitted)| observed - fitted),
            Layer::Judge(index) => judge_margin(self.open, index, *row, *column),
            _ => None,
        };
        let value = match self.layer {
            Layer::Observed => cell.verdict.flatten().or(cell.observed),
            Layer::Fitted => cell.fitted,
            Layer::Residual | Layer::Judge(_) => {
                signed.map(|signed| (0.5 + signed / 2.0).clamp(0.0, 1.0))
            }
            Layer::Verdicts => cell.verdict.flatten(),
        };
        HeatCell {
            value,
            signed,
            planned: cell.planned && self.layer != Layer::Verdicts,
            missing: cell.planned
                && cell.missing > 0
                && matches!(self.layer, Layer::Observed | Layer::Judge(_)),
            overruled: cell.verdict.flatten().is_some(),
            diagonal: row == column,
        }
    }

    fn margin(&self, at: usize) -> MarginRow {
        let document = self.order.get(at).copied().unwrap_or(0);
        let before = self
            .ghost
            .and_then(|moved| moved.ranks.get(document).copied().flatten());
        margin(self.open, document, before)
    }

    fn generation(&self) -> u64 {
        self.generation
    }

    fn score(&self, at: usize) -> Option<(f64, f64)> {
        let standing = self
            .open
            .view
            .standings
            .get(*self.order.get(at)?)
            .copied()
            .flatten()?;
        Some((standing.zelo, standing.se.unwrap_or(0.0)))
    }

    fn visit(&self, cell: &mut dyn FnMut(usize, usize, HeatCell)) -> bool {
        if self.layer == Layer::Fitted {
            return false;
        }
        let mut place = vec![0; self.order.len()];
        for (at, document) in self.order.iter().enumerate() {
            place[*document] = at;
        }
        for pair in self.open.view.pairs() {
            let (low, high) = (place[pair.low()], place[pair.high()]);
            cell(low, high, self.cell(low, high));
            cell(high, low, self.cell(high, low));
        }
        true
    }
}

/// One judge's mean margin over the pair's battles, in −1..=1 (1: the row is better).
fn judge_margin(open: &OpenQuery, index: usize, row: usize, column: usize) -> Option<f64> {
    let judge = open.judges.get(index)?.0;
    let records = &open.view.rows().battles;
    let (mut sum, mut votes) = (0.0, 0u32);
    for index in open.view.battles_of(Pair::new(row, column)?) {
        let record = &records[*index];
        if let Some(vote) = record.votes.iter().find(|vote| vote.judge == judge) {
            let margin = vote.margin.get();
            sum += if record.battle.b == row {
                margin
            } else {
                -margin
            };
            votes += 1;
        }
    }
    (votes > 0).then(|| sum / f64::from(votes))
}

fn margin(open: &OpenQuery, document: usize, ghost: Option<usize>) -> MarginRow {
    let standing: Option<Standing> = open.view.standings.get(document).copied().flatten();
    let moved = ghost
        .zip(standing)
        .map_or(' ', |(before, now)| match before.cmp(&now.rank) {
            std::cmp::Ordering::Greater => '▲',
            std::cmp::Ordering::Less => '▼',
            std::cmp::Ordering::Equal => ' ',
        });
    MarginRow {
        rank: standing.map_or_else(|| "–".to_owned(), |standing| standing.rank.to_string()),
        id: open.name(document),
        zelo: standing.map(|standing| standing.zelo),
        se: standing.and_then(|standing| standing.se),
        flag: moved,
    }
}

fn layer_words(open: &OpenQuery, layer: Layer) -> String {
    match layer {
        Layer::Observed => "observed: share of the judges' votes".to_owned(),
        Layer::Fitted => "fitted: probability of winning".to_owned(),
        Layer::Residual => "residual: observed − fitted".to_owned(),
        Layer::Judge(index) => {
            let name = open.judges.get(index).map_or("", |(_, spec)| &spec.name);
            format!("judge {}: its margin", crate::domain::sanitise::line(name))
        }
        Layer::Verdicts => "verdicts: what people decided".to_owned(),
    }
}

fn order_words(order: DocumentOrder) -> &'static str {
    match order {
        DocumentOrder::Hybrid => "hybrid order (first stage)",
        DocumentOrder::Zelo => "zELO order (best first)",
    }
}

/// Draws the screen.
pub fn view(
    model: &Model,
    theme: &Theme,
    area: Rect,
    buf: &mut Buffer,
    caches: &mut Caches,
) -> Areas {
    let Some(open) = &model.open else {
        Line::styled(" loading …", theme.muted()).render(area, buf);
        return Areas {
            body: area,
            ..Areas::default()
        };
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
        layer_words(open, model.matrix.layer),
        order_words(model.matrix.order)
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
        body: area,
        list: grid,
        lines: order.len(),
        page: (viewport.shown.0 / 2).max(1),
        heatmap: Some(viewport),
        ..Areas::default()
    }
}

fn render_head(open: &OpenQuery, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let width = usize::from(area.width).saturating_sub(2);
    let query = crate::domain::sanitise::line(&open.info.text).into_owned();
    let judges: Vec<String> = open
        .judges
        .iter()
        .map(|(_, spec)| crate::domain::sanitise::line(&spec.name).into_owned())
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
            phi_words(open.view.settings.phi, open.view.settings.phi_battles)
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

/// Where the dispersion comes from.
fn phi_words(phi: Option<f64>, battles: Option<usize>) -> String {
    match (phi, battles) {
        (_, Some(battles)) => format!("(estimated from {} battles)", text::count(battles)),
        (Some(_), None) => "(set)".to_owned(),
        (None, None) => "(1 over the judges)".to_owned(),
    }
}

/// Answers a command.
pub fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let order = model.matrix_order();
    let count = order.len();
    let page = model.areas.page.max(1) as isize;
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let heat = &mut model.matrix.heat;
    let (row, column) = heat.cursor;
    match command {
        Command::Down => heat.move_by(0, 1, count),
        Command::Up => heat.move_by(0, -1, count),
        Command::Left => heat.move_by(-1, 0, count),
        Command::Right => heat.move_by(1, 0, count),
        Command::PageDown => heat.move_by(0, page, count),
        Command::PageUp => heat.move_by(0, -page, count),
        Command::First => heat.move_to(0, column, count),
        Command::Last => heat.move_to(count.saturating_sub(1), column, count),
        Command::FlipOrder => flip(&mut model.matrix, open, &order),
        Command::NextLayer => {
            model.matrix.layer = step_layer(model.matrix.layer, open.judges.len(), true)
        }
        Command::PreviousLayer => {
            model.matrix.layer = step_layer(model.matrix.layer, open.judges.len(), false)
        }
        Command::NextJudgeLayer => {
            let index = match model.matrix.layer {
                Layer::Judge(index) => (index + 1) % open.judges.len().max(1),
                _ => 0,
            };
            model.matrix.layer = Layer::Judge(index);
        }
        Command::Zoom => {
            heat.zoom = next_zoom(heat.zoom, model.areas.heatmap.map(|shown| shown.zoom))
        }
        Command::NextSurprise | Command::PreviousSurprise => {
            jump(model, command == Command::NextSurprise);
        }
        Command::Open => {
            if let (Some(row), Some(column)) = (order.get(row).copied(), order.get(column).copied())
            {
                if row == column {
                    return model.open_document(row);
                }
                return model.open_battle(row, column);
            }
        }
        Command::RowDocument => {
            if let Some(document) = order.get(row) {
                return model.open_document(*document);
            }
        }
        Command::ColumnDocument => {
            if let Some(document) = order.get(column) {
                return model.open_document(*document);
            }
        }
        _ => {}
    }
    Vec::new()
}

/// Turns the order and keeps the cursor on the same pair of documents.
fn flip(matrix: &mut MatrixScreen, open: &OpenQuery, order: &[usize]) {
    let (row, column) = matrix.heat.cursor;
    let pair = (order.get(row).copied(), order.get(column).copied());
    matrix.order = match matrix.order {
        DocumentOrder::Hybrid => DocumentOrder::Zelo,
        DocumentOrder::Zelo => DocumentOrder::Hybrid,
    };
    let order = open.view.order(matrix.order);
    let place = |document: Option<usize>| {
        order
            .iter()
            .position(|at| Some(*at) == document)
            .unwrap_or(0)
    };
    matrix
        .heat
        .move_to(place(pair.0), place(pair.1), order.len());
}

fn step_layer(layer: Layer, judges: usize, forward: bool) -> Layer {
    let mut layers = vec![Layer::Observed, Layer::Fitted, Layer::Residual];
    layers.extend((0..judges).map(Layer::Judge));
    layers.push(Layer::Verdicts);
    let at = layers.iter().position(|other| *other == layer).unwrap_or(0);
    let step = if forward { 1 } else { layers.len() - 1 };
    layers[(at + step) % layers.len()]
}

/// Puts the cursor on the first battle of the first row, so that there is something told from the start.
pub fn look_at_first(model: &mut Model) {
    let order = model.matrix_order();
    let Some(open) = &model.open else {
        return;
    };
    let fought = |column: &usize| {
        order
            .first()
            .is_some_and(|row| open.view.cell(*row, order[*column]).planned)
    };
    let column = (1..order.len()).find(fought).unwrap_or(0);
    model.matrix.heat.move_to(0, column, order.len());
}

/// Closer step by step, and from the closest back to what fits.
fn next_zoom(zoom: Option<Zoom>, shown: Option<Zoom>) -> Option<Zoom> {
    match (zoom, shown) {
        (Some(Zoom::Number), _) | (None, Some(Zoom::Number)) => {
            zoom.map_or(Some(Zoom::Overview), |_| None)
        }
        (_, Some(shown)) => Some(shown.closer()),
        (zoom, None) => zoom,
    }
}

/// Moves the cursor through the pairs, most surprising first, and says which of them this is.
fn jump(model: &mut Model, forward: bool) {
    let order = model.matrix_order();
    let Some(open) = &model.open else {
        return;
    };
    let mut surprising: Vec<(f64, usize, usize)> = open
        .view
        .rows()
        .battles
        .iter()
        .zip(&open.view.battles)
        .filter_map(|(record, view)| Some((view.surprise?.abs(), record.battle.a, record.battle.b)))
        .collect();
    surprising.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
    let count = surprising.len();
    if count == 0 {
        model.say(Level::Info, "no battle has a surprise yet".to_owned());
        return;
    }
    let next = match (model.matrix.surprise, forward) {
        (None, _) => 0,
        (Some(at), true) => (at + 1) % count,
        (Some(at), false) => (at + count - 1) % count,
    };
    let (size, a, b) = surprising[next];
    let place = |document: usize| order.iter().position(|at| *at == document).unwrap_or(0);
    let (row, column) = (place(a), place(b));
    model.matrix.surprise = Some(next);
    model.matrix.heat.move_to(row, column, order.len());
    model.say(
        Level::Info,
        format!("surprise {} of {count}: {size:.1} σ", next + 1),
    );
}
