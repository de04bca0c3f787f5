//! Lists documents on which picks and labels differ, the most consequential first.

use super::ruling::RulingGrades;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{
    EvaluationError, EvaluationRules, Measure, Metric, Qrels, RankedRun, evaluate,
};
use crate::domain::named::named;
use crate::domain::retrieval::JudgingPool;
use crate::domain::sampling::SeededRng;
use std::collections::{BTreeMap, HashMap};

/// A document that at least one answer treats differently from its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// Index of the pool.
    pub pool: usize,
    pub slot: usize,
    /// Whether the document is labeled relevant.
    pub positive: bool,
    /// Answers that contradict the label.
    pub against: usize,
    /// Answers that state whether the document is relevant.
    pub answers: usize,
    /// The largest change in NDCG at the project's top k, over the rankings of the query, if the
    /// label were flipped; in 0..=1.
    pub impact: f64,
}

impl Disagreement {
    /// The share of the answers that contradict the label, in (0, 1].
    pub fn share(&self) -> f64 {
        self.against as f64 / self.answers.max(1) as f64
    }
}

/// A valid answer about a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolPicks {
    /// Index of the pool.
    pub pool: usize,
    /// Whether each slot was picked; `None` if its verdict lacks the required proof.
    pub picked: Vec<Option<bool>>,
}

impl PoolPicks {
    /// Whether the document in a slot was picked; `None` if the answer does not say.
    pub fn says(&self, slot: usize) -> Option<bool> {
        self.picked.get(slot).copied().flatten()
    }
}

/// Finds the disagreements in the valid answers about some pools. Their impact is 0 until
/// [`measure_impact`] is called.
pub fn find_disagreements(pools: &[JudgingPool], answers: &[PoolPicks]) -> Vec<Disagreement> {
    let mut about: BTreeMap<usize, Vec<&PoolPicks>> = BTreeMap::new();
    for answer in answers {
        about.entry(answer.pool).or_default().push(answer);
    }
    let mut disagreements = Vec::new();
    for (at, answers) in about {
        for (slot, of) in pools
            .get(at)
            .iter()
            .flat_map(|pool| pool.slots.iter().enumerate())
        {
            let said = answers.iter().filter_map(|answer| answer.says(slot));
            let said: Vec<bool> = said.collect();
            let against = said.iter().filter(|picked| **picked != of.positive).count();
            if against > 0 {
                disagreements.push(Disagreement {
                    pool: at,
                    slot,
                    positive: of.positive,
                    against,
                    answers: said.len(),
                    impact: 0.0,
                });
            }
        }
    }
    disagreements
}

/// Computes the impact of each disagreement on the first `top` documents of `rankings`.
///
/// # Errors
/// If a ranking lists a document twice or has a score that is not a number.
pub fn measure_impact(
    disagreements: &mut [Disagreement],
    pools: &[JudgingPool],
    labels: &Qrels,
    grades: RulingGrades,
    rankings: &[&RankedRun],
    rules: &EvaluationRules,
    top: usize,
) -> Result<(), EvaluationError> {
    let Ok(metric) = Metric::new(Measure::Ndcg, Some(top)) else {
        return Ok(());
    };
    // Most rankings of most queries do not change, so measure each unchanged ranking only once.
    let mut before: HashMap<(usize, usize), f64> = HashMap::new();
    for disagreement in disagreements {
        let Some(pool) = pools.get(disagreement.pool) else {
            continue;
        };
        let (query, Some(slot)) = (&pool.query, pool.slots.get(disagreement.slot)) else {
            continue;
        };
        let own = labels.get(query).cloned().unwrap_or_default();
        let mut turned = own.clone();
        let grade = if disagreement.positive {
            0
        } else {
            grades.relevant
        };
        turned.insert(slot.document.clone(), grade);
        for (at, ranking) in rankings.iter().enumerate() {
            let Some(ranked) = ranking.get(query) else {
                continue;
            };
            let known = (at, disagreement.pool);
            let was = match before.get(&known) {
                Some(value) => *value,
                None => {
                    let value = ndcg(query, &own, ranked, metric, rules)?;
                    before.insert(known, value);
                    value
                }
            };
            let is = ndcg(query, &turned, ranked, metric, rules)?;
            disagreement.impact = disagreement.impact.max((is - was).abs());
        }
    }
    Ok(())
}

/// The NDCG of a ranking on one query; 0 if nothing is relevant.
fn ndcg(
    query: &QueryId,
    labels: &BTreeMap<DocId, i32>,
    ranked: &[(DocId, f64)],
    metric: Metric,
    rules: &EvaluationRules,
) -> Result<f64, EvaluationError> {
    let qrels = Qrels::from([(query.clone(), labels.clone())]);
    let run = RankedRun::from([(query.clone(), ranked.to_vec())]);
    Ok(evaluate(&qrels, &run, &[metric], rules)?
        .mean(metric)
        .unwrap_or(0.0))
}

named! {
    "an order", "kebab-case";
    /// How disagreements are ordered for review.
    #[derive(Default)]
    pub enum DisagreementOrder {
        /// By impact on the metrics times the share of answers against the label.
        #[default]
        Impact,
        /// By the share of answers against the label, then by impact.
        Confidence,
        /// By query, then by slot.
        Query,
        /// Random order: every ruling is a control.
        Random,
    }
}

impl DisagreementOrder {
    pub fn words(self) -> &'static str {
        match self {
            Self::Impact => {
                "largest change of NDCG at the project's top k, times the share of answers against \
                 the label"
            }
            Self::Confidence => "largest share of answers against the label",
            Self::Query => "query by query, in the order of the project",
            Self::Random => "random: the shares are representative of all disagreements",
        }
    }
}

/// Default share of controls.
pub const CONTROL_SHARE: f64 = 0.2;

/// How to order the disagreements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisagreementRule {
    pub order: DisagreementOrder,
    /// Share of controls, 0..=1: each disagreement is one with this probability, whatever its rank.
    /// Rulings on controls are representative of all disagreements.
    pub controls: f64,
    pub seed: u64,
}

/// Orders the disagreements: their indexes, each with whether it is a control. Controls are
/// interleaved at their share. The same disagreements, rule and seed give the same order.
pub fn order_disagreements(
    disagreements: &[Disagreement],
    pools: &[JudgingPool],
    rule: &DisagreementRule,
) -> Vec<(usize, bool)> {
    let chance: Vec<f64> = disagreements
        .iter()
        .map(|disagreement| {
            let pool = pools.get(disagreement.pool);
            let slot = pool.and_then(|pool| pool.slots.get(disagreement.slot));
            let query = pool.map_or("", |pool| pool.query.as_str());
            let document = slot.map_or("", |slot| slot.document.as_str());
            SeededRng::new(rule.seed, &["docket", query, document]).unit()
        })
        .collect();
    let mut all: Vec<usize> = (0..disagreements.len()).collect();
    let impact = |at: &usize| -disagreements[*at].impact * disagreements[*at].share();
    match rule.order {
        DisagreementOrder::Impact => all.sort_by(|x, y| impact(x).total_cmp(&impact(y))),
        DisagreementOrder::Confidence => all.sort_by(|x, y| {
            let share = |at: &usize| -disagreements[*at].share();
            share(x)
                .total_cmp(&share(y))
                .then(impact(x).total_cmp(&impact(y)))
        }),
        DisagreementOrder::Query => return all.into_iter().map(|at| (at, false)).collect(),
        DisagreementOrder::Random => {
            all.sort_by(|x, y| chance[*x].total_cmp(&chance[*y]));
            return all.into_iter().map(|at| (at, true)).collect();
        }
    }
    let (mut controls, urgent): (Vec<usize>, Vec<usize>) =
        all.into_iter().partition(|at| chance[*at] < rule.controls);
    controls.sort_by(|x, y| chance[*x].total_cmp(&chance[*y]));
    let (mut controls, mut urgent) = (controls.into_iter().peekable(), urgent.into_iter());
    let mut out = Vec::with_capacity(disagreements.len());
    let mut drawn = 0;
    loop {
        let due = (drawn + 1) as f64 <= (out.len() + 1) as f64 * rule.controls;
        let next = match (due, controls.peek()) {
            (true, Some(_)) => None,
            _ => urgent.next().map(|at| (at, false)),
        };
        match next.or_else(|| controls.next().map(|at| (at, true))) {
            Some(item) => {
                drawn += usize::from(item.1);
                out.push(item);
            }
            None => return out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::retrieval::{PoolLayout, build_pool};
    use proptest::prelude::*;

    fn ids(names: &[&str]) -> Vec<DocId> {
        names.iter().map(|name| DocId::new(*name)).collect()
    }

    /// Slots: a (labeled, found last), b, c, d.
    fn pools(count: usize) -> Vec<JudgingPool> {
        let pool = |at: usize| {
            let query = QueryId::new(format!("q{at}"));
            let found = ids(&["b", "c", "d", "a"]);
            build_pool(&query, &ids(&["a"]), &found, 4, PoolLayout::Original)
        };
        (0..count).map(pool).collect()
    }

    fn answer(pool: usize, picks: &[usize]) -> PoolPicks {
        let picked = (0..4).map(|slot| Some(picks.contains(&slot)));
        PoolPicks {
            pool,
            picked: picked.collect(),
        }
    }

    #[test]
    fn disputes_are_what_answers_and_labels_disagree_on() {
        let pools = pools(2);
        let found = find_disagreements(
            &pools,
            &[answer(0, &[1]), answer(0, &[0]), answer(0, &[1, 0])],
        );
        let told: Vec<_> = found
            .iter()
            .map(|d| (d.pool, d.slot, d.positive, d.against, d.answers))
            .collect();
        assert_eq!(told, [(0, 0, true, 1, 3), (0, 1, false, 2, 3)]);
        let mut spoiled = answer(0, &[0]);
        spoiled.picked[0] = None;
        let found = find_disagreements(&pools, &[spoiled, answer(0, &[])]);
        assert_eq!((found[0].against, found[0].answers), (1, 1));
        assert_eq!(find_disagreements(&pools, &[answer(1, &[0])]), []);
        assert_eq!(find_disagreements(&pools, &[]), []);
    }

    #[test]
    fn impact_is_the_change_of_ndcg_when_the_label_is_turned() {
        let pools = pools(1);
        let labels = Qrels::from([(QueryId::new("q0"), BTreeMap::from([(DocId::new("a"), 1)]))]);
        let ranked = ["b", "c", "d", "a"].iter().enumerate();
        let ranked = ranked.map(|(at, id)| (DocId::new(*id), -(at as f64)));
        let run = RankedRun::from([(QueryId::new("q0"), ranked.collect())]);
        let grades = RulingGrades::up_to(1);
        let mut found = find_disagreements(&pools, &[answer(0, &[1])]);
        measure_impact(
            &mut found,
            &pools,
            &labels,
            grades,
            &[&run],
            &EvaluationRules::default(),
            10,
        )
        .unwrap();
        // a is at rank 4: 1/log2(5); without it nothing is relevant and the value is 0.
        let at_four = 1.0 / 5f64.log2();
        assert!((found[0].impact - at_four).abs() < 1e-12);
        // With b relevant too: (1 + 1/log2 5) / (1 + 1/log2 3).
        let both = (1.0 + at_four) / (1.0 + 1.0 / 3f64.log2());
        assert!((found[1].impact - (both - at_four)).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn a_docket_holds_every_dispute_once(seed: u64, count in 1usize..40, controls in 0.0..=1.0f64) {
            let pools = pools(count);
            let answers: Vec<_> = (0..count).map(|at| answer(at, &[1 + at % 3])).collect();
            let found = find_disagreements(&pools, &answers);
            for order in DisagreementOrder::ALL {
                let made = order_disagreements(&found, &pools, &DisagreementRule { order, controls, seed });
                let mut places: Vec<usize> = made.iter().map(|(at, _)| *at).collect();
                places.sort_unstable();
                prop_assert_eq!(places, (0..found.len()).collect::<Vec<_>>());
            }
        }

        #[test]
        fn being_a_control_does_not_depend_on_the_order(seed: u64) {
            let pools = pools(60);
            let answers: Vec<_> = (0..60).map(|at| answer(at, &[1])).collect();
            let mut found = find_disagreements(&pools, &answers);
            let rule = DisagreementRule { order: DisagreementOrder::Impact, controls: 0.3, seed };
            let drawn = |found: &[Disagreement]| -> Vec<usize> {
                let mut drawn: Vec<usize> = order_disagreements(found, &pools, &rule)
                    .into_iter()
                    .filter_map(|(at, control)| control.then_some(at))
                    .collect();
                drawn.sort_unstable();
                drawn
            };
            let before = drawn(&found);
            for (at, disagreement) in found.iter_mut().enumerate() {
                disagreement.impact = (at * 7919 % 101) as f64;
            }
            prop_assert_eq!(drawn(&found), before);
        }
    }
}
