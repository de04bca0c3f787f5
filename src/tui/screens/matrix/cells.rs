//! The open query as the cells and margins of a heatmap.

use crate::tui::model::Model;
use crate::tui::model::battle::RankingBefore;
use crate::tui::model::matrix::Layer;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::widgets::heatmap::{CellSource, HeatCell, MarginRow};
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

pub(super) struct MatrixCells<'a> {
    open: &'a OpenQuery,
    order: &'a [usize],
    layer: Layer,
    ghost: Option<&'a RankingBefore>,
    generation: u64,
}

impl<'a> MatrixCells<'a> {
    pub(super) fn new(model: &'a Model, open: &'a OpenQuery, order: &'a [usize]) -> Self {
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
            Layer::Judge(index) => {
                let judge = self.open.judges.get(index);
                judge.and_then(|(judge, _)| self.open.view.mean_margin(*judge, *row, *column))
            }
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
        let standing = self.open.standing(*self.order.get(at)?)?;
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

fn margin(open: &OpenQuery, document: usize, ghost: Option<usize>) -> MarginRow {
    let standing = open.standing(document);
    let moved = ghost
        .zip(standing)
        .map_or(' ', |(before, now)| match before.cmp(&now.rank) {
            Ordering::Greater => '▲',
            Ordering::Less => '▼',
            Ordering::Equal => ' ',
        });
    MarginRow {
        rank: standing.map_or_else(|| "–".to_owned(), |standing| standing.rank.to_string()),
        id: open.name(document),
        zelo: standing.map(|standing| standing.zelo),
        se: standing.and_then(|standing| standing.se),
        flag: moved,
    }
}
