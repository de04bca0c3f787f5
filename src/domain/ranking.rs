//! A query's view: scores, intervals, expectations and warnings, computed as a pure function of the
//! query's rows.

mod counted_answers;
mod fit_inputs;
mod fitted_rows;
mod matrix_grid;
mod named_opinion;
mod opinion_battles;
mod opinion_effect;
mod order_comparison;
mod order_evidence;
mod pair_targets;
mod pair_votes;
mod prior;
mod prior_opinion;
mod rows;
mod slice;
mod standing;
mod tastes;
mod verdict_effect;
mod warning;

pub use counted_answers::{CountedAnswer, CountedAnswers};
pub use matrix_grid::MatrixGrid;
pub use named_opinion::{
    CHOOSING_WEIGHT, LearnedWeight, NamedOpinion, NotLearned, OPINION_WEIGHTS, OpinionWeight,
};
pub use opinion_battles::{held_out_likelihood, opinion_battles, opinion_evidence, unvoted};
pub use opinion_effect::{OpinionEffect, OpinionShare};
use order_comparison::PairAgreement;
pub use order_comparison::{OrderChange, OrderComparison};
pub use order_evidence::OrderEvidence;
pub use pair_targets::{PairTarget, pair_targets};
pub use pair_votes::{OrderEffect, VoteCount, share_bar};
pub use prior::{LearnedPrior, PriorPrecision};
pub use prior_opinion::PriorOpinion;
pub use rows::{
    BattleRecord, DIRECTION_SLOPE, InvalidRankingSetting, JudgeWeights, QueryRows, RankingSettings,
};
pub use slice::{Slice, SliceMean, slices};
pub use standing::Standing;
pub use tastes::{Tastes, taste_words};
pub use verdict_effect::{
    VerdictEffect, override_mode_note, verdict_kinds_words, verdict_rule_words,
};
pub use warning::{ScoreWarning, fit_warnings};

use super::analysis;
use super::battle::Pair;
use super::rating::{
    self, Covariance, Fit, Observation, PriorEvidence, RatingError, RatingModel, TasteEvidence,
};
use super::verdict::Verdict;
use counted_answers::higher_score;
use fit_inputs::{FitInputs, consensus, counted_votes};
use fitted_rows::FittedRows;
use opinion_battles::opinion_observations;
use serde::{Deserialize, Serialize};
use standing::standings;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// Maximum number of documents for which errors and intervals take only milliseconds.
const QUICK_DOCUMENTS: usize = 150;

/// Leverage is capped at this value before standardizing a residual (science.md § Surprise).
const LEVERAGE_CAP: f64 = 0.95;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BattleView {
    /// The ensemble score in 0..=1 (0: A is better), or `None` if nobody has voted.
    pub score: Option<f64>,
    /// The fitted probability that B is better.
    pub expected: Option<f64>,
    /// Standardized residual of the score, in standard deviations, corrected for leverage.
    pub surprise: Option<f64>,
    /// Number of missing votes of the ensemble, including failed calls.
    pub missing: usize,
    /// Whether a verdict replaces the votes of this battle.
    pub replaced: bool,
}

/// How the rows or columns of a matrix are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentOrder {
    /// By the order of the input, which is the first stage's.
    Hybrid,
    /// By score, best first.
    #[default]
    Zelo,
}

/// A pair of documents as seen from the document of the row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairCell {
    /// Battles of the pair that have a vote.
    pub games: usize,
    /// Mean ensemble score for the row's document in 0..=1 (1: row is better), or `None` without
    /// votes.
    pub observed: Option<f64>,
    /// The fitted probability that the row's document is better.
    pub fitted: Option<f64>,
    /// The standardized residual with the largest magnitude among the pair's battles, positive if
    /// the row did better than expected.
    pub surprise: Option<f64>,
    pub missing: usize,
    /// Whether the pair has a battle, planned or finished.
    pub planned: bool,
    /// The score of the effective verdict, for the row's document; `Some(None)` is *cannot tell*.
    pub verdict: Option<Option<f64>>,
    /// Mean score of the answers outside battles that count, for the row's document in 0..=1.
    pub answers: Option<f64>,
}

#[derive(Clone, Debug)]
pub struct View {
    /// The settings it was computed with.
    pub settings: RankingSettings,
    pub phi: f64,
    /// By pool index; `None` for documents that were not entered, and for all documents if the fit
    /// has no solution.
    pub standings: Vec<Option<Standing>>,
    /// Pool indexes by score, best first, ties in hybrid order; documents without a score come
    /// last.
    pub by_zelo: Vec<usize>,
    /// One per battle of the rows, in the same order.
    pub battles: Vec<BattleView>,
    /// Scores, iterations and final gradient of the fit, or why there is none.
    pub fit: Result<Fit, RatingError>,
    pub warnings: Vec<ScoreWarning>,
    /// Battles whose judges all prefer the same document, and all battles, among those with at
    /// least two votes.
    pub consensus: (usize, usize),
    /// Cyclic triads, and all triads whose three pairs are decided.
    pub triads: (usize, usize),
    rows: QueryRows,
    by_pair: HashMap<Pair, Vec<usize>>,
    answered: HashMap<Pair, Vec<usize>>,
    verdict_of: HashMap<Pair, usize>,
    effects: HashMap<Pair, VerdictEffect>,
    opinion_pairs: usize,
    compact: Vec<Option<usize>>,
    entered: Vec<usize>,
    observations: Vec<Observation>,
    covariance: Option<Covariance>,
    grid: OnceLock<Option<MatrixGrid>>,
    surprising: OnceLock<Vec<usize>>,
    pair_agreement: OnceLock<PairAgreement>,
}

impl View {
    /// Fits the rows, always starting from zero: a view depends only on its rows, down to the last
    /// bit, so undoing a verdict restores every score exactly.
    pub fn new(rows: QueryRows, settings: RankingSettings) -> Self {
        Self::build(rows, settings, rating::MAX_DENSE)
    }

    /// The full view if it takes only milliseconds to compute, otherwise a view without errors and
    /// intervals, for screens that must not block.
    pub fn quick(rows: QueryRows, settings: RankingSettings) -> Self {
        Self::build(rows, settings, QUICK_DOCUMENTS)
    }

    /// The same scores, ranks and verdicts, without errors and intervals at any number of documents.
    pub fn without_errors(rows: QueryRows, settings: RankingSettings) -> Self {
        Self::build(rows, settings, 0)
    }

    fn build(rows: QueryRows, settings: RankingSettings, errors_up_to: usize) -> Self {
        let fitted = FittedRows::new(&rows, &settings, errors_up_to);
        let FittedRows {
            inputs:
                FitInputs {
                    entered,
                    compact,
                    verdict_of,
                    effects,
                    observations,
                },
            structure,
            opinion_pairs,
            phi,
            fit,
            covariance,
        } = fitted;
        let mut by_pair: HashMap<Pair, Vec<usize>> = HashMap::new();
        for (index, record) in rows.battles.iter().enumerate() {
            if let Some(pair) = Pair::new(record.battle.a, record.battle.b) {
                by_pair.entry(pair).or_default().push(index);
            }
        }
        let mut answered: HashMap<Pair, Vec<usize>> = HashMap::new();
        for (index, answer) in rows.answers_in_fit(&settings).iter().enumerate() {
            let pairs = answer.pairs.iter();
            for pair in pairs.filter_map(|of| Pair::new(of.a, of.b)) {
                answered.entry(pair).or_default().push(index);
            }
        }
        let standings = standings(
            rows.documents,
            &entered,
            fit.as_ref().ok(),
            covariance.as_ref(),
        );
        let mut warnings = warning::warnings(
            &entered,
            &structure,
            fit.as_ref().ok(),
            covariance.is_some(),
            settings.model,
        );
        if entered.len() > 1 && fit.is_ok() {
            warnings.extend(ScoreWarning::weak_signal(&settings));
        }
        if covariance.is_some() && settings.phi_battles.is_some() {
            warnings.extend(ScoreWarning::many_ties(
                &rows.battles,
                phi,
                rows.judges.len(),
            ));
        }

        let mut by_zelo: Vec<usize> = (0..rows.documents).collect();
        by_zelo.sort_by(|x, y| match (&standings[*x], &standings[*y]) {
            (Some(x), Some(y)) => y.zelo.total_cmp(&x.zelo),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => std::cmp::Ordering::Equal,
        });
        let mut view = Self {
            settings,
            phi,
            standings,
            by_zelo,
            battles: Vec::new(),
            consensus: consensus(&rows),
            triads: (0, 0),
            fit,
            warnings,
            rows,
            by_pair,
            answered,
            verdict_of,
            effects,
            opinion_pairs,
            compact,
            entered,
            observations,
            covariance,
            grid: OnceLock::new(),
            surprising: OnceLock::new(),
            pair_agreement: OnceLock::new(),
        };
        view.battles = (0..view.rows.battles.len())
            .map(|index| view.battle_view(index))
            .collect();
        view.triads = analysis::triads(view.decided_pairs());
        view
    }

    pub fn rows(&self) -> &QueryRows {
        &self.rows
    }

    pub fn order(&self, order: DocumentOrder) -> Vec<usize> {
        match order {
            DocumentOrder::Hybrid => (0..self.rows.documents).collect(),
            DocumentOrder::Zelo => self.by_zelo.clone(),
        }
    }

    /// Pool indexes of the documents with a score, ascending. The fit, its observations and its
    /// covariance index documents by their position in this list.
    pub fn entered(&self) -> &[usize] {
        &self.entered
    }

    /// The student that counts in the fit, with its weight; `None` if scores are based on votes and
    /// verdicts only.
    pub fn student_in_fit(&self) -> Option<(&PriorOpinion, OpinionShare)> {
        let student = self.rows.student.as_ref()?;
        let predictions = &self.observations[self.judged_observations().len()..];
        let share = OpinionShare::of(predictions, self.entered().len())?;
        Some((student, share))
    }

    /// The answers outside battles that count in the fit.
    pub fn answers_in_fit(&self) -> &[CountedAnswer] {
        self.rows.answers_in_fit(&self.settings)
    }

    /// The note printed with scores in which answers outside battles count or judges have tastes.
    pub fn basis_note(&self) -> Option<String> {
        let has_some = !self.answers_in_fit().is_empty();
        let counted = self.rows().answers.as_ref().filter(|_| has_some);
        let taste = self.settings.taste();
        let tastes = (taste > 0.0 && !self.entered.is_empty()).then(|| taste_words(taste));
        let notes: Vec<String> = counted
            .map(CountedAnswers::words)
            .into_iter()
            .chain(tastes)
            .collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    /// The answers outside battles that decide a pair and count.
    pub fn answers_of(&self, pair: Pair) -> impl Iterator<Item = &CountedAnswer> {
        let on_pair = self.answered.get(&pair).map_or(&[][..], Vec::as_slice);
        let answers = self.answers_in_fit();
        on_pair.iter().filter_map(|index| answers.get(*index))
    }

    /// Mean score of the answers outside battles on a pair for `row`, one of its documents.
    fn answered_score(&self, pair: Pair, row: usize) -> Option<f64> {
        let on_pair = self.answers_of(pair).flat_map(|answer| &answer.pairs);
        let on_pair = on_pair.filter(|of| Pair::new(of.a, of.b) == Some(pair));
        counted_answers::mean_score(row, on_pair)
    }

    /// What each answer outside battles says about two documents, in one sentence each; `name`
    /// returns the name of a document.
    pub fn answer_words(&self, pair: [usize; 2], name: impl Fn(usize) -> String) -> Vec<String> {
        let noun = self
            .rows
            .answers
            .as_ref()
            .map_or("", |counted| counted.noun);
        let answers = Pair::new(pair[0], pair[1]).into_iter();
        let on_pair = answers.flat_map(|pair| self.answers_of(pair));
        let words = on_pair.filter_map(|answer| {
            let words = answer.words(pair, &name, |of| self.is_masked(of))?;
            Some(format!("{noun} {} by {words}", answer.number))
        });
        words.collect()
    }

    /// Whether a verdict on the documents of this pair takes it out of the fit.
    pub fn is_masked(&self, of: &Observation) -> bool {
        Pair::new(of.a, of.b)
            .and_then(|pair| self.effects.get(&pair))
            .is_some_and(|effect| effect.masks(higher_score(of)))
    }

    /// The input of the fit: the votes that are not replaced, other answers and the verdicts,
    /// followed by the student's predictions.
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// The input of the fit without the student's predictions.
    pub fn judged_observations(&self) -> &[Observation] {
        &self.observations[..self.observations.len() - self.opinion_pairs]
    }

    /// The covariance of the fit's scores based on votes and verdicts only, if the model has one
    /// and the pool is not too large. A student makes no score more certain.
    pub fn covariance(&self) -> Option<&Covariance> {
        self.covariance.as_ref()
    }

    /// The positions of the pair's documents in the fit, lower document first.
    pub fn places(&self, pair: Pair) -> Option<(usize, usize)> {
        let place = |document: usize| self.compact.get(document).copied().flatten();
        Some((place(pair.low())?, place(pair.high())?))
    }

    /// The effective score of a pair in 0..=1 (1: the higher pool index is better): the verdict's,
    /// or else the mean of the pair's battles. `None` if nobody has voted or decided.
    pub fn score_in_force(&self, pair: Pair) -> Option<f64> {
        let cell = self.cell(pair.high(), pair.low());
        cell.verdict.flatten().or(cell.observed)
    }

    /// Every pair with a battle or a verdict, in arbitrary order.
    pub fn pairs(&self) -> impl Iterator<Item = Pair> + '_ {
        let judged = self
            .verdict_of
            .keys()
            .filter(|pair| !self.by_pair.contains_key(pair));
        self.by_pair.keys().chain(judged).copied()
    }

    /// Every pair that an answer outside battles decides, in arbitrary order.
    pub fn answered_pairs(&self) -> impl Iterator<Item = Pair> + '_ {
        self.answered.keys().copied()
    }

    pub fn battles_of(&self, pair: Pair) -> &[usize] {
        self.by_pair.get(&pair).map_or(&[], Vec::as_slice)
    }

    /// Indexes of a document's battles, in the order in which they were planned.
    pub fn battles_with(&self, document: usize) -> Vec<usize> {
        (0..self.rows.battles.len())
            .filter(|index| {
                let battle = self.rows.battles[*index].battle;
                battle.a == document || battle.b == document
            })
            .collect()
    }

    pub fn verdict(&self, pair: Pair) -> Option<&Verdict> {
        self.rows.verdicts.get(*self.verdict_of.get(&pair)?)
    }

    /// How the current verdict on a pair counts in the fit; `None` without a verdict, and for
    /// *cannot tell*.
    pub fn verdict_effect(&self, pair: Pair) -> Option<&VerdictEffect> {
        self.effects.get(&pair)
    }

    /// The fitted probability that `row` is better than `column`.
    pub fn expected(&self, row: usize, column: usize) -> Option<f64> {
        let fit = self.fit.as_ref().ok()?;
        let (row, column) = (
            self.compact.get(row).copied()??,
            self.compact.get(column).copied()??,
        );
        Some(rating::expected(
            self.settings.model,
            &fit.scores,
            column,
            row,
        ))
    }

    /// The posterior probability that `row` is truly better than `column`.
    pub fn outranks(&self, row: usize, column: usize) -> Option<f64> {
        let fit = self.fit.as_ref().ok()?;
        let (row, column) = (
            self.compact.get(row).copied()??,
            self.compact.get(column).copied()??,
        );
        Some(self.covariance.as_ref()?.outranks(&fit.scores, row, column))
    }

    /// The pair as seen from `row`. The diagonal is empty.
    pub fn cell(&self, row: usize, column: usize) -> PairCell {
        let Some(pair) = Pair::new(row, column) else {
            return PairCell::default();
        };
        let mut cell = PairCell {
            fitted: self.expected(row, column),
            ..PairCell::default()
        };
        let mut sum = 0.0;
        for index in self.battles_of(pair) {
            let (battle, view) = (self.rows.battles[*index].battle, self.battles[*index]);
            let sign = if battle.b == row { 1.0 } else { -1.0 };
            cell.planned = true;
            cell.missing += view.missing;
            if let Some(score) = view.score {
                cell.games += 1;
                sum += if battle.b == row { score } else { 1.0 - score };
            }
            if let Some(surprise) = view.surprise
                && cell
                    .surprise
                    .is_none_or(|largest| surprise.abs() > largest.abs())
            {
                cell.surprise = Some(sign * surprise);
            }
        }
        cell.observed = (cell.games > 0).then(|| sum / cell.games as f64);
        cell.verdict = self.verdict(pair).map(|verdict| {
            let score = verdict.decision.score()?;
            Some(if verdict.b == row { score } else { 1.0 - score })
        });
        cell.answers = self.answered_score(pair, row);
        cell
    }

    /// The score of every document, by pool index.
    pub fn scores(&self) -> Vec<Option<f64>> {
        let standings = self.standings.iter();
        standings
            .map(|standing| standing.map(|standing| standing.zelo))
            .collect()
    }

    /// The widest 95 % rank interval among the first `top` ranks, in ranks.
    pub fn widest_interval(&self, top: usize) -> Option<usize> {
        self.by_zelo
            .iter()
            .take(top)
            .filter_map(|document| self.standings[*document]?.interval)
            .map(|interval| interval.high - interval.low)
            .max()
    }

    /// Number of battles with at least one vote, and of all battles.
    pub fn progress(&self) -> (usize, usize) {
        let done = self
            .rows
            .battles
            .iter()
            .filter(|record| !record.votes.is_empty())
            .count();
        (done, self.rows.battles.len())
    }

    /// [`dispersion`] of the rows of this view.
    pub fn dispersion(&self) -> Option<rating::Dispersion> {
        if !self.answers_in_fit().is_empty() || self.settings.taste() > 0.0 {
            return dispersion(&self.rows, &self.settings);
        }
        let fit = self.fit.as_ref().ok()?;
        let votes = counted_votes(&self.rows, &self.settings, &self.compact, &self.effects);
        rating::dispersion(
            &votes,
            fit,
            &self.settings.rating(),
            self.covariance.as_ref()?,
        )
    }

    fn battle_view(&self, index: usize) -> BattleView {
        let record = &self.rows.battles[index];
        let battle = record.battle;
        let score = self.rows.score(record, self.settings.vote_rule);
        let replaced = Pair::new(battle.a, battle.b)
            .and_then(|pair| self.verdict_effect(pair))
            .is_some_and(|effect| effect.replaces_votes);
        BattleView {
            score,
            expected: self.expected(battle.b, battle.a),
            surprise: self.surprise(record, score, replaced),
            missing: record.missing(self.rows.judges.len()),
            replaced,
        }
    }

    fn surprise(&self, record: &BattleRecord, score: Option<f64>, replaced: bool) -> Option<f64> {
        let (fit, covariance) = (self.fit.as_ref().ok()?, self.covariance.as_ref()?);
        let (battle, weight) = (record.battle, record.weight(self.rows.judges.len()));
        let (a, b) = (self.compact[battle.a]?, self.compact[battle.b]?);
        let expected = rating::expected(self.settings.model, &fit.scores, a, b);
        let (v, options) = (expected * (1.0 - expected), self.settings.rating());
        let weight = rating::weight_with_tastes(weight, record.votes.len(), v, &options);
        let observation = Observation::new(a, b, score?, weight);
        let leverage = rating::leverage(&observation, &options, fit, covariance);
        // A battle in the fit has pulled its own expectation toward its score; for one that is not,
        // the fit's error adds to its own.
        let spread = if replaced {
            1.0 + leverage
        } else {
            1.0 - leverage.min(LEVERAGE_CAP)
        };
        let scale = (self.phi / weight * expected * (1.0 - expected) * spread).sqrt();
        (scale > 0.0).then(|| (observation.score - expected) / scale)
    }

    /// Decided pairs as (winner, loser), by the effective verdict or the mean of the pair's
    /// battles.
    fn decided_pairs(&self) -> Vec<(usize, usize)> {
        let mut decided: Vec<(usize, usize)> = Vec::new();
        let mut pairs: BTreeMap<Pair, ()> = self.by_pair.keys().map(|pair| (*pair, ())).collect();
        pairs.extend(self.verdict_of.keys().map(|pair| (*pair, ())));
        for pair in pairs.into_keys() {
            match self.score_in_force(pair) {
                Some(score) if score > 0.5 + EVEN => decided.push((pair.high(), pair.low())),
                Some(score) if score < 0.5 - EVEN => decided.push((pair.low(), pair.high())),
                _ => {}
            }
        }
        decided
    }
}

/// Numerator, denominator and battles of the dispersion estimate of a query
/// (science.md § Dispersion), to be pooled over queries. Only uses the judges' votes that are in
/// the fit, without answers outside battles and without tastes, and computes no intervals.
pub fn dispersion(rows: &QueryRows, settings: &RankingSettings) -> Option<rating::Dispersion> {
    let of_votes;
    let rows = if rows.answers.is_some() {
        of_votes = rows.without_answers();
        &of_votes
    } else {
        rows
    };
    let settings = &settings.without_tastes();
    let fitted = FittedRows::new(rows, settings, rating::MAX_DENSE);
    let FitInputs {
        compact, effects, ..
    } = &fitted.inputs;
    rating::dispersion(
        &counted_votes(rows, settings, compact, effects),
        fitted.fit.as_ref().ok()?,
        &settings.rating(),
        fitted.covariance.as_ref()?,
    )
}

/// A mean of thirds and halves this close to ½ is ½; how it is rounded depends on the order of its
/// terms.
const EVEN: f64 = 1e-9;

/// The evidence of a query's votes about the precision of the prior. Verdicts are excluded: they
/// cover a few selected pairs, and giving or undoing one must not move other scores. So are answers
/// outside battles, of which only some queries may have any.
pub fn prior_evidence(rows: &QueryRows, settings: &RankingSettings) -> Option<PriorEvidence> {
    let votes = QueryRows {
        verdicts: Vec::new(),
        ..rows.without_answers()
    };
    let inputs = FitInputs::new(&votes, &settings.without_tastes());
    PriorEvidence::of(inputs.entered.len(), &inputs.observations, settings.model)
}

/// The evidence of a query's votes that judges have tastes, without verdicts and other answers;
/// `None` if the model has no tastes, without votes, and if there are too many documents for errors.
pub fn taste_evidence(rows: &QueryRows, settings: &RankingSettings) -> Option<TasteEvidence> {
    let votes = QueryRows {
        verdicts: Vec::new(),
        ..rows.without_answers()
    };
    // With tastes, each vote is an observation.
    let settings = RankingSettings {
        tastes: Tastes::Set(1.0),
        ..*settings
    };
    let inputs = FitInputs::new(&votes, &settings);
    let documents = inputs.entered.len();
    let phi = votes.phi(&settings);
    (documents > 0)
        .then(|| TasteEvidence::of(documents, &inputs.observations, &settings.rating(), phi))
        .flatten()
}

/// The student's weight in the fit of these rows; `None` if it does not count.
pub fn opinion_share(rows: &QueryRows, settings: &RankingSettings) -> Option<OpinionShare> {
    let inputs = FitInputs::new(rows, settings);
    let entered = inputs.entered.len();
    let predictions = opinion_observations(rows, settings, entered, &inputs.compact);
    OpinionShare::of(&predictions, entered)
}

/// The scores of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolScores {
    /// By pool index; `None` for documents that nothing compares with others.
    pub scores: Vec<Option<f64>>,
    /// The score of such a document.
    pub bare: f64,
}

/// The scores as in [`scores`], and the score of a document that nothing compares with others.
/// Under zBench's model, its iteration runs over all documents of the pool, as zBench's own does;
/// under the others, such a document has the mean.
pub fn scores_and_bare(
    rows: &QueryRows,
    settings: &RankingSettings,
) -> Result<PoolScores, RatingError> {
    let inputs = FitInputs::new(rows, settings);
    let bare = inputs.compact.iter().position(Option::is_none);
    let Some(bare) = bare.filter(|_| settings.model == RatingModel::Zbench) else {
        return Ok(PoolScores {
            scores: scores(rows, settings)?,
            bare: 0.0,
        });
    };
    let observations: Vec<Observation> = inputs
        .observations
        .iter()
        .map(|of| Observation {
            a: inputs.entered[of.a],
            b: inputs.entered[of.b],
            ..*of
        })
        .collect();
    let fit = rating::fit(rows.documents, &observations, &settings.rating(), None)?;
    let scores = inputs
        .compact
        .iter()
        .zip(&fit.scores)
        .map(|(place, score)| place.map(|_| *score));
    Ok(PoolScores {
        scores: scores.collect(),
        bare: fit.scores[bare],
    })
}

/// The fitted score of every document by pool index, without errors, intervals and warnings;
/// identical to [`View::standings`] to the last bit.
pub fn scores(
    rows: &QueryRows,
    settings: &RankingSettings,
) -> Result<Vec<Option<f64>>, RatingError> {
    let mut inputs = FitInputs::new(rows, settings);
    let entered = inputs.entered.len();
    let student = opinion_observations(rows, settings, entered, &inputs.compact);
    inputs.observations.extend(student);
    let fit = rating::fit(entered, &inputs.observations, &settings.rating(), None)?;
    let score = |place: &Option<usize>| fit.scores.get((*place)?).copied();
    Ok(inputs.compact.iter().map(score).collect())
}
