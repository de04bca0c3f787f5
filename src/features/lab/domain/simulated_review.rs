//! A simulated person who reviews battles: how much the ranking improves, and whether any verdict
//! moves it the wrong way.

use super::{Quality, SimulatedQuery, quality};
use crate::domain::battle::{Battle, BattleId, Pair};
use crate::domain::priority::{Policy, Scoring, score_pairs};
use crate::domain::ranking::{BattleRecord, QueryRows, RankingSettings, View};
use crate::domain::sampling::{SeededRng, plan};
use crate::domain::verdict::{Decision, Verdict};
use crate::domain::vote::{JudgeId, Margin, Outcome, Vote};

/// A gap below this is *equal* to a person who grades verdicts, and one above [`BY_FAR`] is *by
/// far*; in units of the true scores, whose standard deviation is 1.82.
const EQUAL: f64 = 0.25;
const BY_FAR: f64 = 2.5;

/// Rounding may lower a gap by this much without the verdict counting as moving it the wrong way.
const ROUNDING: f64 = 1e-7;

/// How a simulated person reviews one query.
#[derive(Clone, Copy, Debug)]
pub struct Reviewer {
    /// Number of random cycles of battles that the judges have voted on.
    pub cycles: usize,
    pub verdicts: usize,
    /// Standard deviation of the error in the gap that the person perceives.
    pub error: f64,
    /// Whether the person also uses *equal* and *by far*.
    pub graded: bool,
    pub seed: u64,
}

/// One reviewed query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReviewedQuery {
    pub before: Quality,
    pub after: Quality,
    /// Verdicts that prefer one of the documents.
    pub directed: usize,
    /// Directed verdicts that contradicted the votes on their pair.
    pub contradicting: usize,
    /// Directed verdicts that reduced the gap of the preferred document.
    pub wrong_way: usize,
}

impl Reviewer {
    /// Lets the person judge the pairs with the highest *value*, one at a time, each chosen after
    /// the previous verdicts.
    pub fn review(&self, world: &SimulatedQuery, settings: RankingSettings) -> ReviewedQuery {
        let mut rows = self.judged(world);
        let mut view = View::quick(rows.clone(), settings);
        let quality_of = |view: &View| {
            let scores: Vec<f64> = view
                .scores()
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect();
            quality(&scores, world.truth())
        };
        let mut reviewed = ReviewedQuery {
            before: quality_of(&view),
            after: quality_of(&view),
            directed: 0,
            contradicting: 0,
            wrong_way: 0,
        };
        for _ in 0..self.verdicts {
            let Some(pair) = most_valuable(&view) else {
                break;
            };
            let decision = self.decide(world, pair);
            let before = gap(&view, pair);
            rows.verdicts.push(Verdict {
                uid: rows.verdicts.len().to_string(),
                a: pair.low(),
                b: pair.high(),
                decision,
                note: None,
                annotator: String::new(),
                created_ms: 0,
            });
            view = View::quick(rows.clone(), settings);
            let moved = gap(&view, pair) - before;
            let toward = match decision.direction() {
                Some(Outcome::A) => -moved,
                Some(Outcome::B) => moved,
                _ => continue,
            };
            reviewed.directed += 1;
            reviewed.wrong_way += usize::from(toward < -ROUNDING);
            let contradicts = view
                .verdict_effect(pair)
                .is_some_and(|effect| effect.contradicts());
            reviewed.contradicting += usize::from(contradicts);
        }
        reviewed.after = quality_of(&view);
        reviewed
    }

    /// The query after its battles.
    fn judged(&self, world: &SimulatedQuery) -> QueryRows {
        let documents = world.truth().len();
        let judges: Vec<JudgeId> = (1..=world.judges() as i64).map(JudgeId).collect();
        let battles = plan(self.seed, world.name(), documents, self.cycles)
            .into_iter()
            .enumerate()
            .map(|(id, planned)| BattleRecord {
                battle: Battle {
                    id: BattleId(id as i64),
                    a: planned.pair.low(),
                    b: planned.pair.high(),
                    game: planned.game,
                },
                votes: votes(world, planned.pair, &judges),
                failed: Vec::new(),
                asked: None,
            })
            .collect();
        QueryRows {
            documents,
            depth: Some(documents),
            judges,
            battles,
            ..QueryRows::default()
        }
    }

    fn decide(&self, world: &SimulatedQuery, pair: Pair) -> Decision {
        let name = format!("{} {}", pair.low(), pair.high());
        let mut rng = SeededRng::new(self.seed, &["verdict", world.name(), &name]);
        let truth = world.truth();
        let gap = truth[pair.high()] - truth[pair.low()] + self.error * rng.normal();
        match (self.graded, gap > 0.0, gap.abs()) {
            (true, _, size) if size < EQUAL => Decision::Tie,
            (true, true, size) if size > BY_FAR => Decision::MuchB,
            (true, false, size) if size > BY_FAR => Decision::MuchA,
            (_, true, _) => Decision::B,
            (_, false, _) => Decision::A,
        }
    }
}

fn votes(world: &SimulatedQuery, pair: Pair, judges: &[JudgeId]) -> Vec<Vote> {
    judges
        .iter()
        .enumerate()
        .filter_map(|(seat, judge)| {
            let margin = match world.vote(pair, seat)? {
                Outcome::A => -1.0,
                Outcome::Tie => 0.0,
                Outcome::B => 1.0,
            };
            Some(Vote {
                judge: *judge,
                margin: Margin::new(margin)?,
                swapped: false,
            })
        })
        .collect()
}

/// The next pair of the *value* queue.
fn most_valuable(view: &View) -> Option<Pair> {
    score_pairs(view, &Scoring::new(Policy::Value))
        .into_iter()
        .filter_map(|scored| Some((scored.priority?, scored.pair)))
        .max_by(|(x, one), (y, other)| x.total_cmp(y).then(other.cmp(one)))
        .map(|(_, pair)| pair)
}

/// How far the pair's higher document is above its lower one.
fn gap(view: &View, pair: Pair) -> f64 {
    let zelo = |document: usize| view.standings[document].map_or(0.0, |standing| standing.zelo);
    zelo(pair.high()) - zelo(pair.low())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::verdict::OverrideMode;
    use crate::features::lab::domain::{Noise, Theta};

    fn reviewed(mode: OverrideMode, queries: usize) -> Vec<ReviewedQuery> {
        let reviewer = Reviewer {
            cycles: 4,
            verdicts: 10,
            error: 0.35,
            graded: false,
            seed: 3,
        };
        let settings = RankingSettings {
            override_mode: mode,
            ..RankingSettings::default()
        };
        (0..queries)
            .map(|index| {
                let world =
                    SimulatedQuery::synthetic(Theta::Gaussian, 12, Noise::standard(3), 3, index);
                reviewer.review(&world, settings)
            })
            .collect()
    }

    #[test]
    fn verdicts_improve_the_ranking_and_only_the_former_rule_moves_it_the_wrong_way() {
        let wrong = |queries: &[ReviewedQuery]| queries.iter().map(|q| q.wrong_way).sum::<usize>();
        let alongside = reviewed(OverrideMode::Alongside, 12);
        let gain: f64 = alongside
            .iter()
            .map(|query| query.after.tau.unwrap() - query.before.tau.unwrap())
            .sum();
        assert!(gain / 12.0 > 0.01, "{gain}");
        assert_eq!(wrong(&alongside), 0);
        assert_eq!(wrong(&reviewed(OverrideMode::Replace, 12)), 0);
        assert!(wrong(&reviewed(OverrideMode::Legacy, 12)) > 0);
        assert!(alongside.iter().any(|query| query.contradicting > 0));
    }
}
