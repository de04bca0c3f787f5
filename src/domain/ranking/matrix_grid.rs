//! A view's matrix in flat arrays, so that drawing all its cells needs no lookups.

use super::View;
use crate::domain::battle::Pair;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Above this number of documents, cells are looked up one by one, because the grid is quadratic.
const MAX_DOCUMENTS: usize = 1_000;

/// The parts of a view's cells that cannot be computed from two scores, by pair, oriented to the
/// document later in the pool; NaN for missing values.
#[derive(Clone, Debug)]
pub struct MatrixGrid {
    observed: Vec<f64>,
    verdicts: Vec<f64>,
    surprises: Vec<f64>,
    answers: Vec<f64>,
    /// Each judge's mean margins, in the order of the rows' judges.
    margins: Vec<Vec<f64>>,
    planned: Vec<bool>,
    missing: Vec<bool>,
    stamp: u64,
}

/// The index of a pair: sorted by the higher document, then by the lower one.
fn place(pair: Pair) -> usize {
    pair.high() * (pair.high() - 1) / 2 + pair.low()
}

impl MatrixGrid {
    /// The grid of a view, or `None` if it has too many documents.
    pub(super) fn of(view: &View) -> Option<Self> {
        let rows = view.rows();
        let documents = rows.documents;
        if documents > MAX_DOCUMENTS {
            return None;
        }
        let pairs = documents * documents.saturating_sub(1) / 2;
        let mut grid = Self {
            observed: vec![f64::NAN; pairs],
            verdicts: vec![f64::NAN; pairs],
            surprises: vec![f64::NAN; pairs],
            answers: vec![f64::NAN; pairs],
            margins: vec![vec![f64::NAN; pairs]; rows.judges.len()],
            planned: vec![false; pairs],
            missing: vec![false; pairs],
            stamp: 0,
        };
        let mut games = Means::new(pairs);
        let mut votes: Vec<Means> = rows.judges.iter().map(|_| Means::new(pairs)).collect();
        let mut hash = DefaultHasher::new();
        for (record, battle) in rows.battles.iter().zip(&view.battles) {
            let Some(pair) = Pair::new(record.battle.a, record.battle.b) else {
                continue;
            };
            let (at, turned) = (place(pair), record.battle.b != pair.high());
            grid.planned[at] = true;
            grid.missing[at] |= battle.missing > 0;
            if let Some(score) = battle.score {
                games.add(at, if turned { 1.0 - score } else { score });
            }
            if let Some(surprise) = battle.surprise {
                let largest = grid.surprises[at].abs();
                if largest.is_nan() || surprise.abs() > largest {
                    grid.surprises[at] = if turned { 0.0 - surprise } else { surprise };
                }
            }
            for vote in &record.votes {
                let judge = rows.judges.iter().position(|judge| *judge == vote.judge);
                if let Some(means) = judge.and_then(|judge| votes.get_mut(judge)) {
                    let margin = vote.margin.get();
                    means.add(at, if turned { 0.0 - margin } else { margin });
                }
            }
            (at, battle.score.map(f64::to_bits), battle.missing).hash(&mut hash);
        }
        for verdict in &rows.verdicts {
            let in_force = Pair::new(verdict.a, verdict.b)
                .filter(|pair| view.verdict(*pair).is_some_and(|known| known == verdict));
            if let Some((pair, score)) = in_force.zip(verdict.decision.score()) {
                let turned = verdict.b != pair.high();
                grid.verdicts[place(pair)] = if turned { 1.0 - score } else { score };
            }
            (verdict.a, verdict.b, verdict.decision).hash(&mut hash);
        }
        for pair in view.answered_pairs() {
            let score = view.answered_score(pair, pair.high());
            grid.answers[place(pair)] = score.unwrap_or(f64::NAN);
        }
        for answer in view.answers_in_fit() {
            for of in &answer.pairs {
                (of.a, of.b, of.score.to_bits(), of.weight.to_bits()).hash(&mut hash);
            }
        }
        games.write(&mut grid.observed);
        for (means, margins) in votes.iter().zip(&mut grid.margins) {
            means.write(margins);
        }
        grid.stamp = hash.finish();
        Some(grid)
    }

    fn seen(values: &[f64], row: usize, column: usize, turned: fn(f64) -> f64) -> Option<f64> {
        let value = *values.get(place(Pair::new(row, column)?))?;
        let value = if row > column { value } else { turned(value) };
        (!value.is_nan()).then_some(value)
    }

    /// [`super::PairCell::observed`].
    pub fn observed(&self, row: usize, column: usize) -> Option<f64> {
        Self::seen(&self.observed, row, column, |score| 1.0 - score)
    }

    /// The score of the effective verdict, if it states a preference or a tie.
    pub fn verdict(&self, row: usize, column: usize) -> Option<f64> {
        Self::seen(&self.verdicts, row, column, |score| 1.0 - score)
    }

    /// [`super::PairCell::answers`].
    pub fn answers(&self, row: usize, column: usize) -> Option<f64> {
        Self::seen(&self.answers, row, column, |score| 1.0 - score)
    }

    /// [`super::PairCell::surprise`].
    pub fn surprise(&self, row: usize, column: usize) -> Option<f64> {
        Self::seen(&self.surprises, row, column, |surprise| 0.0 - surprise)
    }

    /// [`View::mean_margin`] of a judge, by its index in the rows.
    pub fn margin(&self, judge: usize, row: usize, column: usize) -> Option<f64> {
        let margins = self.margins.get(judge)?;
        Self::seen(margins, row, column, |margin| 0.0 - margin)
    }

    /// [`super::PairCell::planned`], and whether one of the pair's battles has missing votes.
    pub fn planned(&self, row: usize, column: usize) -> (bool, bool) {
        let place = Pair::new(row, column).map(place);
        let is = |of: &[bool]| place.is_some_and(|place| of.get(place).copied().unwrap_or(false));
        (is(&self.planned), is(&self.missing))
    }

    /// A hash that changes with any battle's score, missing votes, other answer or verdict.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }
}

/// Accumulates means by index.
struct Means {
    sums: Vec<f64>,
    counts: Vec<u32>,
}

impl Means {
    fn new(places: usize) -> Self {
        Self {
            sums: vec![0.0; places],
            counts: vec![0; places],
        }
    }

    fn add(&mut self, place: usize, value: f64) {
        self.sums[place] += value;
        self.counts[place] += 1;
    }

    fn write(&self, into: &mut [f64]) {
        for ((mean, sum), count) in into.iter_mut().zip(&self.sums).zip(&self.counts) {
            if *count > 0 {
                *mean = sum / f64::from(*count);
            }
        }
    }
}

impl View {
    /// The matrix in flat arrays, built on first use; `None` if there are too many documents.
    pub fn grid(&self) -> Option<&MatrixGrid> {
        self.grid.get_or_init(|| MatrixGrid::of(self)).as_ref()
    }

    /// The indexes of the battles that have a surprise, the most surprising first.
    pub fn most_surprising(&self) -> &[usize] {
        self.surprising.get_or_init(|| {
            let size = |at: usize| self.battles[at].surprise.map(f64::abs);
            let mut found: Vec<(f64, usize, usize, usize)> = self
                .rows
                .battles
                .iter()
                .enumerate()
                .filter_map(|(at, record)| Some((size(at)?, record.battle.a, record.battle.b, at)))
                .collect();
            found.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
            found.into_iter().map(|(.., at)| at).collect()
        })
    }

    /// Computes now what the matrix would otherwise compute on first use.
    pub fn prepare_matrix(&self) {
        self.grid();
        self.most_surprising();
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::battle::{Battle, BattleId};
    use crate::domain::ranking::{BattleRecord, QueryRows, RankingSettings, View};
    use crate::domain::sampling::SeededRng;
    use crate::domain::verdict::{Decision, Verdict};
    use crate::domain::vote::{JudgeId, Margin, Vote};

    fn view() -> View {
        let mut rng = SeededRng::new(3, &["grid"]);
        let judges = [JudgeId(7), JudgeId(2)];
        let battle = |at: usize, rng: &mut SeededRng| {
            let a = rng.below(8);
            let b = (a + 1 + rng.below(7)) % 8;
            let mut votes = Vec::new();
            for judge in judges {
                if rng.unit() < 0.7 {
                    votes.push(Vote {
                        judge,
                        margin: Margin::new((rng.below(5) as f64 - 2.0) / 2.0).unwrap(),
                        swapped: false,
                    });
                }
            }
            BattleRecord {
                battle: Battle {
                    id: BattleId(at as i64),
                    a,
                    b,
                    game: at as u32,
                },
                votes,
                failed: Vec::new(),
                asked: None,
            }
        };
        let verdict = |a, b, decision| Verdict {
            uid: format!("{a}-{b}"),
            a,
            b,
            decision,
            note: None,
            annotator: "ann".to_owned(),
            created_ms: 1,
        };
        let rows = QueryRows {
            by_identifier: Vec::new(),
            responses: Vec::new(),
            curves: Vec::new(),
            answers: None,
            student: None,
            documents: 9,
            depth: None,
            judges: judges.to_vec(),
            battles: (0..40).map(|at| battle(at, &mut rng)).collect(),
            probes: Vec::new(),
            verdicts: vec![
                verdict(5, 1, Decision::MuchA),
                verdict(2, 3, Decision::CannotTell),
            ],
        };
        View::new(rows, RankingSettings::default())
    }

    #[test]
    fn a_flat_cell_is_the_cell() {
        let view = view();
        let grid = view.grid().unwrap();
        let near = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => (one - other).abs() < 1e-12,
            (one, other) => one == other,
        };
        let mut seen = (0, 0);
        for row in 0..9 {
            for column in 0..9 {
                let cell = view.cell(row, column);
                assert!(
                    near(grid.observed(row, column), cell.observed),
                    "{row} {column}"
                );
                assert!(near(grid.verdict(row, column), cell.verdict.flatten()));
                assert!(near(grid.surprise(row, column), cell.surprise));
                assert_eq!(grid.planned(row, column), (cell.planned, cell.missing > 0));
                for (at, judge) in view.rows().judges.iter().enumerate() {
                    let margin = view.mean_margin(*judge, row, column);
                    assert!(near(grid.margin(at, row, column), margin));
                    seen.0 += usize::from(margin.is_some());
                }
                seen.1 += usize::from(cell.verdict.flatten().is_some());
            }
        }
        assert!(seen.0 > 40 && seen.1 == 2, "{seen:?}");
    }

    #[test]
    fn surprises_are_in_order() {
        let view = view();
        let sizes: Vec<f64> = view
            .most_surprising()
            .iter()
            .map(|at| view.battles[*at].surprise.unwrap().abs())
            .collect();
        assert!(sizes.len() > 20 && sizes.is_sorted_by(|x, y| x >= y));
    }
}
