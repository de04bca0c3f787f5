//! Computes the review priority of each pair of one query. The numbers depend only on the query's
//! view and can be cached until it changes.

use super::certainty::top_draws;
use super::{Policy, impact, intransitive};
use crate::domain::battle::Pair;
use crate::domain::prediction::prediction_of;
use crate::domain::ranking::View;
use crate::domain::rating::TopDraws;
use crate::domain::vote::Outcome;

/// A pair of one query with its priority. A verdict is about a pair, so all battles of a pair are
/// one item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairPriority {
    pub pair: Pair,
    /// The pair's first battle, as an index into the view's battles.
    pub battle: usize,
    /// The priority, from 0, on the policy's own scale. `None` if the policy assigns none: for a
    /// settled pair, a pair outside every cycle, and every pair under `Random`.
    pub priority: Option<f64>,
    /// The factors of the value, only under `Value` and `Mixed`, also for settled pairs.
    pub parts: Option<ValueParts>,
    /// Whether a judge has voted: only then does the ensemble have an outcome whose accuracy can be
    /// measured.
    pub voted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scoring {
    pub policy: Policy,
    /// `Impact` refits this many pairs of the query, those with the largest estimates; the others
    /// keep their estimates (science.md § Priorities).
    pub exact: usize,
}

impl Scoring {
    /// Refits every pair, so that all impacts are exact.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            exact: usize::MAX,
        }
    }
}

/// The size of a pool's top: `top` in each pool that has more documents, so that all screens show
/// the same number; in a smaller pool half of the documents, and at least 1.
pub fn effective_top(documents: usize, top: usize) -> usize {
    if documents > top {
        top
    } else {
        (documents / 2).max(1)
    }
}

/// The number of top ranks of a view; see [`effective_top`]. It depends on all documents, judged or
/// not, and therefore stays the same during a run.
pub fn top_of(view: &View) -> usize {
    effective_top(view.rows().documents, view.settings.top)
}

/// Every pair with a battle, in pool order, with its priority.
///
/// A pair whose effective verdict states a preference is settled: it has a priority only under
/// `Failed`. If the view has no errors (zBench's model and very large pools), P(wrong) and the
/// uncertainty come from the fitted win probability, and the top is taken from the scores;
/// `Surprise` is then `None`.
pub fn score_pairs(view: &View, scoring: &Scoring) -> Vec<PairPriority> {
    let mut pairs: Vec<Pair> = view
        .pairs()
        .filter(|pair| !view.battles_of(*pair).is_empty())
        .collect();
    pairs.sort_unstable();
    let top = top_of(view);
    let known = matches!(scoring.policy, Policy::Value | Policy::Mixed).then(|| Top::of(view, top));
    let parts_of = |pair| parts(view, known.as_ref()?, top, pair);
    let priority: Box<dyn Fn(Pair) -> Option<f64>> = match scoring.policy {
        Policy::Value | Policy::Mixed => Box::new(|pair| Some(parts_of(pair)?.value())),
        Policy::Impact => {
            let impacts = impact::impacts(view, top, scoring.exact);
            Box::new(move |pair| {
                let at = impacts
                    .binary_search_by_key(&pair, |(pair, _)| *pair)
                    .ok()?;
                Some(impacts.get(at)?.1.size())
            })
        }
        Policy::Cycle => {
            let weakest = intransitive::weakest_pairs(&intransitive::cyclic_triads(
                &intransitive::decided_pairs(view),
            ));
            Box::new(move |pair| weakest.get(&pair).copied())
        }
        Policy::Uncertain => Box::new(|pair| uncertainty(view, pair)),
        Policy::Split => Box::new(|pair| split(view, pair)),
        Policy::Surprise => Box::new(|pair| surprise(view, pair)),
        Policy::Student => Box::new(|pair| against_student(view, pair)),
        Policy::Failed => Box::new(|pair| failed(view, pair)),
        Policy::Random | Policy::Accept | Policy::Proposed => Box::new(|_| None),
    };
    let settled = |pair: Pair| {
        view.verdict(pair)
            .is_some_and(|verdict| verdict.decision.score().is_some())
    };
    pairs
        .into_iter()
        .filter_map(|pair| {
            let counts = scoring.policy == Policy::Failed || !settled(pair);
            Some(PairPriority {
                pair,
                battle: *view.battles_of(pair).first()?,
                priority: counts
                    .then(|| priority(pair))
                    .flatten()
                    .filter(|priority| priority.is_finite()),
                parts: parts_of(pair),
                voted: observed(view, pair).is_some(),
            })
        })
        .collect()
}

/// The true members of the top of a view.
enum Top<'a> {
    /// From draws of the joint posterior of the scores.
    Drawn(TopDraws),
    /// From the scores, if the model has no errors.
    Taken(&'a View, usize),
}

impl<'a> Top<'a> {
    fn of(view: &'a View, top: usize) -> Self {
        top_draws(view, top).map_or(Self::Taken(view, top), Self::Drawn)
    }

    /// Whether at least one document of a pair is in the top; `None` for documents without a score.
    fn either(&self, view: &View, pair: Pair) -> Option<InTop> {
        match self {
            Self::Drawn(draws) => {
                let (x, y) = view.places(pair)?;
                let all = draws.draws as f64;
                // This many draws cannot resolve probabilities below half a draw.
                let inside = draws.either(x, y) as f64;
                Some(InTop::Probability(inside.clamp(0.5, all - 0.5) / all))
            }
            Self::Taken(view, top) => {
                view.places(pair)?;
                let mut inside = view
                    .by_zelo
                    .iter()
                    .take(*top)
                    .filter(|at| [pair.low(), pair.high()].contains(at));
                Some(InTop::ByScores(inside.next().is_some()))
            }
        }
    }
}

/// The judges' score for the pair's higher document, ignoring verdicts.
fn observed(view: &View, pair: Pair) -> Option<f64> {
    view.cell(pair.high(), pair.low()).observed
}

/// P(the higher document is truly better).
fn outranks(view: &View, pair: Pair) -> Option<f64> {
    view.outranks(pair.high(), pair.low())
        .or_else(|| view.expected(pair.high(), pair.low()))
}

/// P(the ensemble's outcome on the pair is wrong), one half at a tie (science.md § Priorities).
pub(crate) fn error_probability(view: &View, pair: Pair) -> Option<f64> {
    let (score, above) = (observed(view, pair)?, outranks(view, pair)?);
    Some(if intransitive::is_tie(score) {
        0.5
    } else if score > 0.5 {
        1.0 - above
    } else {
        above
    })
}

/// The factors of the value of a verdict on a pair; the policy `Value` uses their product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueParts {
    /// P(the ensemble's outcome on the pair is wrong).
    pub wrong: f64,
    /// Whether at least one of the two documents is in the top.
    pub in_top: InTop,
    /// Number of ranks that count as the top.
    pub top: usize,
}

impl ValueParts {
    /// The product of the factors: the value of a verdict on the pair, in 0..=1.
    pub fn value(&self) -> f64 {
        self.wrong * self.in_top.value()
    }
}

/// Whether at least one of two documents is in the top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InTop {
    /// The probability that it truly is: the share of the 1000 draws from the joint posterior of
    /// the scores that [`certainty`](super::certainty::certainty) also uses.
    Probability(f64),
    /// Whether the scores put one there, if the model has no errors from which to compute a
    /// probability.
    ByScores(bool),
}

impl InTop {
    /// The factor for the value, in 0..=1.
    pub fn value(self) -> f64 {
        match self {
            Self::Probability(value) => value,
            Self::ByScores(inside) => f64::from(u8::from(inside)),
        }
    }
}

/// The factors of a pair's value; `None` if the judges have not voted on it or the fit has no
/// scores.
pub fn value_parts(view: &View, pair: Pair) -> Option<ValueParts> {
    let top = top_of(view);
    parts(view, &Top::of(view, top), top, pair)
}

fn parts(view: &View, known: &Top<'_>, top: usize, pair: Pair) -> Option<ValueParts> {
    Some(ValueParts {
        wrong: error_probability(view, pair)?,
        in_top: known.either(view, pair)?,
        top,
    })
}

fn uncertainty(view: &View, pair: Pair) -> Option<f64> {
    observed(view, pair)?;
    let above = outranks(view, pair)?;
    Some(above.min(1.0 - above))
}

/// The surprise of the votes on a pair under the project's student: their mean −log₂ P(vote), in
/// bits; `None` without votes, without a student, and for a pair without a prediction.
pub(crate) fn against_student(view: &View, pair: Pair) -> Option<f64> {
    let student = view.rows().student.as_ref()?;
    let predicted = prediction_of(&student.predictions, pair.low(), pair.high())?;
    let counts = outcome_counts(view, pair);
    let votes: u32 = counts.iter().sum();
    let bits = |(count, p): (&u32, f64)| f64::from(*count) * -p.max(LEAST_PROBABILITY).log2();
    let probabilities = [predicted.a(), predicted.b(), predicted.tie()];
    (votes > 0).then(|| {
        let sum: f64 = counts.iter().zip(probabilities).map(bits).sum();
        (sum / f64::from(votes)).abs()
    })
}

/// Lower bound for probabilities, so that a student that is certain but wrong is not infinitely
/// surprised.
const LEAST_PROBABILITY: f64 = 1e-6;

/// Number of votes on the pair for its low document, for its high document, and for a tie.
fn outcome_counts(view: &View, pair: Pair) -> [u32; 3] {
    let mut counts = [0u32; 3];
    for record in view
        .battles_of(pair)
        .iter()
        .filter_map(|index| view.rows().battles.get(*index))
    {
        for vote in &record.votes {
            let slot = match vote.margin.outcome() {
                Outcome::A => usize::from(record.battle.a != pair.low()),
                Outcome::B => usize::from(record.battle.b != pair.low()),
                Outcome::Tie => 2,
            };
            counts[slot] += 1;
        }
    }
    counts
}

/// Entropy of the votes on the pair over its low document, tie and its high document, in bits;
/// `None` without votes.
fn split(view: &View, pair: Pair) -> Option<f64> {
    let counts = outcome_counts(view, pair);
    let votes: u32 = counts.iter().sum();
    (votes > 0).then(|| {
        counts
            .iter()
            .filter(|count| **count > 0)
            .map(|count| {
                let share = f64::from(*count) / f64::from(votes);
                -share * share.log2()
            })
            .sum::<f64>()
            .abs()
    })
}

fn surprise(view: &View, pair: Pair) -> Option<f64> {
    view.battles_of(pair)
        .iter()
        .filter_map(|index| Some(view.battles.get(*index)?.surprise?.abs()))
        .max_by(f64::total_cmp)
}

fn failed(view: &View, pair: Pair) -> Option<f64> {
    let missing: usize = view
        .battles_of(pair)
        .iter()
        .filter_map(|index| view.battles.get(*index))
        .map(|battle| battle.missing)
        .sum();
    (missing > 0).then_some(missing as f64)
}
