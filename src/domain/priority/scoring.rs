//! How urgently each pair of one query deserves a look: numbers that depend on the query's view alone and can be kept
//! until the view changes.

use super::certainty::top_draws;
use super::{Policy, impact, intransitive};
use crate::domain::battle::Pair;
use crate::domain::ranking::View;
use crate::domain::rating::TopDraws;
use crate::domain::student::prediction_of;
use crate::domain::vote::Outcome;

/// A pair of one query with its priority. A verdict is about a pair, so the pair's battles are one item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairPriority {
    pub pair: Pair,
    /// The pair's first battle, as an index into the view's battles.
    pub battle: usize,
    /// How urgent it is, from 0 up, on the policy's own scale. `None` where the policy has nothing to say: a settled pair,
    /// a pair outside every cycle, and every pair of `Random`.
    pub priority: Option<f64>,
    /// What a value is made of, under `Value` and `Mixed` alone, also of a settled pair.
    pub parts: Option<ValueParts>,
    /// Whether a judge has voted: only then has the ensemble an outcome whose accuracy can be measured.
    pub voted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scoring {
    pub policy: Policy,
    /// `Impact` refits this many pairs of the query exactly, those with the largest estimate; the others keep the
    /// estimate (SCIENCE §9c).
    pub exact: usize,
}

impl Scoring {
    /// Every impact exact.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            exact: usize::MAX,
        }
    }
}

/// The top of a pool: `top`, but at most half of the documents, and at least 1. In a pool of 12 the first 10 are no
/// choice worth making.
pub fn effective_top(documents: usize, top: usize) -> usize {
    top.min(documents / 2).max(1)
}

/// How many ranks are the top of a view, see [`effective_top`].
pub fn top_of(view: &View) -> usize {
    effective_top(view.entered().len(), view.settings.top)
}

/// Every pair with a battle, in pool order, with its priority.
///
/// A pair whose verdict in force states a preference is settled: it has a priority under `Failed` alone. Where the view
/// has no errors (zBench's model, very large pools), P(wrong) and the uncertainty come from the fitted win probability
/// and the top is taken as it is; `Surprise` is then `None`.
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
        Policy::Random => Box::new(|_| None),
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

/// Who is truly in the top of a view.
enum Top<'a> {
    /// As often as in draws from the joint posterior of the scores.
    Drawn(TopDraws),
    /// As the scores say, where the model has no errors.
    Taken(&'a View, usize),
}

impl<'a> Top<'a> {
    fn of(view: &'a View, top: usize) -> Self {
        top_draws(view, top).map_or(Self::Taken(view, top), Self::Drawn)
    }

    /// Whether at least one of a pair is in the top; `None` for documents without a score.
    fn either(&self, view: &View, pair: Pair) -> Option<InTop> {
        match self {
            Self::Drawn(draws) => {
                let (x, y) = view.places(pair)?;
                let all = draws.draws as f64;
                // So many draws say nothing of what is rarer than half of one.
                let inside = draws.either(x, y) as f64;
                Some(InTop::Probability(inside.clamp(0.5, all - 0.5) / all))
            }
            Self::Taken(view, top) => {
                view.places(pair)?;
                let first = view.by_zelo.iter().take(*top);
                let mut inside = first.filter(|at| [pair.low(), pair.high()].contains(at));
                Some(InTop::ByScores(inside.next().is_some()))
            }
        }
    }
}

/// The judges' score for the pair's higher document, whatever a verdict says.
fn observed(view: &View, pair: Pair) -> Option<f64> {
    view.cell(pair.high(), pair.low()).observed
}

/// P(the higher document is truly better).
fn outranks(view: &View, pair: Pair) -> Option<f64> {
    view.outranks(pair.high(), pair.low())
        .or_else(|| view.expected(pair.high(), pair.low()))
}

/// P(the ensemble's outcome on the pair is wrong): one half at a tie (SCIENCE §9e).
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

/// What the value of a verdict on a pair is made of: the policy `Value` is their product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueParts {
    /// P(the ensemble's outcome on the pair is wrong).
    pub wrong: f64,
    /// Whether at least one of the two is in the top.
    pub in_top: InTop,
    /// The ranks that count as the top.
    pub top: usize,
}

impl ValueParts {
    /// Their product: what a verdict on the pair is worth, in 0..=1.
    pub fn value(&self) -> f64 {
        self.wrong * self.in_top.value()
    }
}

/// Whether at least one of two documents is in the top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InTop {
    /// P(it is truly so): the share of the 1000 draws from the joint posterior of the scores that
    /// [`certainty`](super::certainty::certainty) counts.
    Probability(f64),
    /// Whether the scores put one there, where the model has no errors that would give a probability.
    ByScores(bool),
}

impl InTop {
    /// What the value is multiplied by, in 0..=1.
    pub fn value(self) -> f64 {
        match self {
            Self::Probability(value) => value,
            Self::ByScores(inside) => f64::from(u8::from(inside)),
        }
    }
}

/// The parts of a pair's value; `None` where the judges have not voted on it or the fit has no scores.
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

/// How far the votes on a pair surprise the project's student: the mean of −log₂ P(vote) over them, in bits; `None` without a
/// vote, without a student, and where it does not know the pair.
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

/// A probability below it counts as this one: a student that is wrong and was certain is not infinitely surprised.
const LEAST_PROBABILITY: f64 = 1e-6;

/// The votes on a pair for its low document, its high document, and for a tie.
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

/// Entropy of the votes on the pair over its low document, tie and its high document, in bits; `None` without a vote.
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
