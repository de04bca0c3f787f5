//! The open query as the cells and margins of a heatmap.

use crate::domain::battle::Pair;
use crate::domain::prediction::prediction_of;
use crate::domain::ranking::MatrixGrid;
use crate::tui::model::Model;
use crate::tui::model::battle::RankingBefore;
use crate::tui::model::matrix::{Layer, MatrixColors};
use crate::tui::model::open_query::OpenQuery;
use crate::tui::widgets::heatmap::{CellSource, HeatCell, MarginRow, RowLabel};
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

pub(crate) struct MatrixCells<'a> {
    open: &'a OpenQuery,
    order: &'a [usize],
    layer: Layer,
    ghost: Option<&'a RankingBefore>,
    colors: Option<&'a MatrixColors>,
    /// All cells in a flat array, unless there are too many documents.
    grid: Option<&'a MatrixGrid>,
    /// Whether cells without a battle show the fit's expectation.
    expectations: bool,
    /// The judge of the layer, by its index among the judges whose votes count.
    judge: Option<usize>,
    generation: u64,
}

/// Limit of the residual layer's color scale, in standard deviations.
const SIGMAS: f64 = 3.0;

impl<'a> MatrixCells<'a> {
    /// The layer of the matrix, with the documents in its order.
    pub(super) fn new(model: &'a Model, open: &'a OpenQuery, order: &'a [usize]) -> Self {
        Self {
            ghost: model.battle.before.as_ref(),
            colors: model.matrix.colors.as_ref(),
            expectations: model.matrix.shows_expectations(),
            ..Self::of_layer(open, model.matrix.layer, order)
        }
    }

    /// The votes and verdicts, with the documents in this order.
    pub(crate) fn observed(open: &'a OpenQuery, order: &'a [usize]) -> Self {
        Self::of_layer(open, Layer::Observed, order)
    }

    pub(super) fn of_layer(open: &'a OpenQuery, layer: Layer, order: &'a [usize]) -> Self {
        let mut hash = DefaultHasher::new();
        (open.info.key, order, layer_number(layer)).hash(&mut hash);
        for standing in &open.view.standings {
            standing
                .map(|standing| standing.zelo.to_bits())
                .hash(&mut hash);
        }
        let grid = open.view.grid();
        match grid {
            Some(grid) => grid.stamp().hash(&mut hash),
            None => {
                for battle in &open.view.battles {
                    (battle.score.map(f64::to_bits), battle.missing).hash(&mut hash);
                }
                for verdict in &open.view.rows().verdicts {
                    (verdict.a, verdict.b, verdict.decision).hash(&mut hash);
                }
                for answer in open.view.answers_in_fit() {
                    for of in &answer.pairs {
                        (of.a, of.b, of.score.to_bits(), of.weight.to_bits()).hash(&mut hash);
                    }
                }
            }
        }
        let judge = match layer {
            Layer::Judge(index) => open.judges.get(index).and_then(|(judge, _)| {
                open.view
                    .rows()
                    .judges
                    .iter()
                    .position(|known| known == judge)
            }),
            _ => None,
        };
        Self {
            open,
            order,
            layer,
            ghost: None,
            colors: None,
            grid,
            expectations: false,
            judge,
            generation: hash.finish(),
        }
    }

    /// A cell without an expectation.
    fn plain_cell(&self, row: usize, column: usize) -> HeatCell {
        let (Some(row), Some(column)) = (self.order.get(row), self.order.get(column)) else {
            return HeatCell::default();
        };
        let cell = self.known(*row, *column);
        let signed = match self.layer {
            Layer::Residual => cell.surprise,
            Layer::Judge(_) => cell.margin,
            _ => None,
        };
        let reach = match self.layer {
            Layer::Residual => SIGMAS,
            _ => 1.0,
        };
        let value = match self.layer {
            Layer::Observed => cell.verdict.or(cell.observed),
            Layer::Fitted => cell.fitted.filter(|_| row != column),
            Layer::Residual | Layer::Judge(_) => {
                signed.map(|signed| (0.5 + signed / (2.0 * reach)).clamp(0.0, 1.0))
            }
            Layer::Verdicts => cell.verdict,
            Layer::Answers => cell.answers,
            // Pairs without votes are expectations, and are drawn as such.
            Layer::Student(_) => self
                .student(*row, *column)
                .filter(|_| cell.observed.is_some()),
        };
        HeatCell {
            value,
            signed,
            expected: None,
            answered: cell
                .answers
                .filter(|_| self.layer == Layer::Observed && value.is_none()),
            planned: cell.planned
                && !matches!(
                    self.layer,
                    Layer::Verdicts | Layer::Student(_) | Layer::Answers
                ),
            missing: cell.planned
                && cell.missing
                && matches!(self.layer, Layer::Observed | Layer::Judge(_)),
            overruled: cell
                .verdict
                .filter(|_| !matches!(self.layer, Layer::Student(_))),
            diagonal: row == column,
            label: row_label(self.open, *row).filter(|_| row == column),
        }
    }

    /// The score in 0..=1 that the layer's student expects for the row's document.
    fn student(&self, row: usize, column: usize) -> Option<f64> {
        let Layer::Student(index) = self.layer else {
            return None;
        };
        let (_, predictions) = self.open.students.get(index)?;
        Some(prediction_of(predictions, column, row)?.score())
    }

    /// The data of a cell.
    fn known(&self, row: usize, column: usize) -> KnownCell {
        let view = &self.open.view;
        let wants_fit = self.layer == Layer::Fitted;
        let Some(grid) = self.grid else {
            let cell = view.cell(row, column);
            let judge = self.judge.and_then(|judge| view.rows().judges.get(judge));
            return KnownCell {
                observed: cell.observed,
                fitted: cell.fitted,
                surprise: cell.surprise,
                verdict: cell.verdict.flatten(),
                margin: judge.and_then(|judge| view.mean_margin(*judge, row, column)),
                answers: cell.answers,
                planned: cell.planned,
                missing: cell.missing > 0,
            };
        };
        let (planned, missing) = grid.planned(row, column);
        KnownCell {
            observed: grid.observed(row, column),
            fitted: wants_fit.then(|| view.expected(row, column)).flatten(),
            surprise: grid.surprise(row, column),
            verdict: grid.verdict(row, column),
            margin: self.judge.and_then(|judge| grid.margin(judge, row, column)),
            answers: grid.answers(row, column),
            planned,
            missing,
        }
    }
}

/// The data from which layers are drawn, from the row's point of view.
struct KnownCell {
    observed: Option<f64>,
    fitted: Option<f64>,
    /// In standard deviations.
    surprise: Option<f64>,
    verdict: Option<f64>,
    /// Mean margin of the layer's judge.
    margin: Option<f64>,
    /// The share given by answers outside battles.
    answers: Option<f64>,
    planned: bool,
    missing: bool,
}

fn layer_number(layer: Layer) -> usize {
    match layer {
        Layer::Observed => 0,
        Layer::Fitted => 1,
        Layer::Residual => 2,
        Layer::Verdicts => 3,
        Layer::Answers => 4,
        Layer::Judge(index) => 5 + 2 * index,
        Layer::Student(index) => 6 + 2 * index,
    }
}

impl CellSource for MatrixCells<'_> {
    fn len(&self) -> usize {
        self.order.len()
    }

    fn cell(&self, row: usize, column: usize) -> HeatCell {
        let cell = self.plain_cell(row, column);
        let silent = cell.value.is_none()
            && cell.answered.is_none()
            && !cell.planned
            && cell.overruled.is_none()
            && !cell.diagonal;
        let pair = self.order.get(row).zip(self.order.get(column));
        let expected = pair
            .filter(|_| silent)
            .and_then(|(row, column)| match self.layer {
                Layer::Student(_) => self.student(*row, *column),
                _ if self.expectations => self.open.view.expected(*row, *column),
                _ => None,
            });
        HeatCell { expected, ..cell }
    }

    fn rank(&self, at: usize) -> String {
        let document = self.order.get(at).copied().unwrap_or(0);
        rank(self.open, document)
    }

    fn margin(&self, at: usize) -> MarginRow {
        let document = self.order.get(at).copied().unwrap_or(0);
        let before = self
            .ghost
            .and_then(|moved| moved.ranks.get(document).copied().flatten());
        let slice = self
            .colors
            .and_then(|colors| colors.slices.get(document).copied().flatten());
        MarginRow {
            group: slice.map(|slice| (MatrixColors::letter(slice), slice)),
            ..margin(self.open, document, before)
        }
    }

    fn generation(&self) -> u64 {
        self.generation
    }

    fn score(&self, at: usize) -> Option<(f64, f64)> {
        let standing = self.open.standing(*self.order.get(at)?)?;
        Some((standing.zelo, standing.se.unwrap_or(0.0)))
    }

    fn visit(&self, cell: &mut dyn FnMut(usize, usize, HeatCell)) -> bool {
        if self.grid.is_some() {
            let k = self.order.len();
            for row in 0..k {
                for column in (0..k).filter(|column| *column != row) {
                    cell(row, column, self.plain_cell(row, column));
                }
            }
            return true;
        }
        if self.layer == Layer::Fitted {
            return false;
        }
        let mut place = vec![0; self.order.len()];
        for (at, document) in self.order.iter().enumerate() {
            place[*document] = at;
        }
        let view = &self.open.view;
        let is_answered_only =
            |pair: &Pair| view.battles_of(*pair).is_empty() && view.verdict(*pair).is_none();
        let answered = view.answered_pairs().filter(is_answered_only);
        for pair in view.pairs().chain(answered) {
            let (low, high) = (place[pair.low()], place[pair.high()]);
            cell(low, high, self.plain_cell(low, high));
            cell(high, low, self.plain_cell(high, low));
        }
        true
    }
}

pub(crate) fn row_label(open: &OpenQuery, document: usize) -> Option<RowLabel> {
    let label = open.labels.get(document)?;
    label.is_relevant().map(RowLabel::new)
}

fn rank(open: &OpenQuery, document: usize) -> String {
    let standing = open.standing(document);
    standing.map_or_else(|| "–".to_owned(), |standing| standing.rank.to_string())
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
        rank: rank(open, document),
        id: open.name(document),
        title: open.headline(document),
        zelo: standing.map(|standing| standing.zelo),
        se: standing.and_then(|standing| standing.se),
        flag: moved,
        group: None,
    }
}
