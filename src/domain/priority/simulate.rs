//! Simulated reviews: how much better a ranking gets when a person looks at its battles in one order or another.
//!
//! The judges are those of SCIENCE §0: document strengths θ, an error per pair that all judges share, one per pair and
//! judge, a position bias, and calls that end in a tie by mistake. No real judge was asked.

use super::{PairPriority, Policy, Scoring, graded, score_pairs};
use crate::domain::battle::{Battle, BattleId};
use crate::domain::ranking::{self, BattleRecord, QueryRows, RankingSettings, View};
use crate::domain::sampling::{self, SeededRng};
use crate::domain::verdict::{Decision, Verdict};
use crate::domain::vote::{JudgeId, Margin, Vote};
use statrs::distribution::{ContinuousCDF, Normal};

/// Standard deviations and position biases of the noise model (SCIENCE §0), on the scale of θ.
const SD_THETA: f64 = 1.82;
const SD_SHARED: f64 = 0.498;
const SD_JUDGE: f64 = 1.0;
const SD_CALL: f64 = 0.3;
const POSITION: [f64; 3] = [0.25, -0.10, 0.15];

/// Preferences below this in size are ties.
const TIE: f64 = 0.05;

/// A person says *much better* above this size: the gap at which a battle is won nine times in ten.
const MUCH: f64 = 1.5;

/// Calls that end in a tie whatever the documents are.
const ERRORS: f64 = 0.005;

/// What the person is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    /// A, B or a tie: a win is ⅔ however clear it is.
    Plain,
    /// The five steps of [`Decision`], *much better* where the difference is clear.
    #[default]
    Graded,
}

impl Answers {
    /// The decision on a perceived advantage of B, on the scale of θ.
    fn decide(self, advantage: f64) -> Decision {
        let much = self == Self::Graded && advantage.abs() > MUCH;
        match advantage {
            u if u > TIE && much => Decision::MuchB,
            u if u > TIE => Decision::B,
            u if u < -TIE && much => Decision::MuchA,
            u if u < -TIE => Decision::A,
            _ => Decision::Tie,
        }
    }
}

/// What is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// Documents a query.
    pub documents: usize,
    /// Random cycles of battles.
    pub cycles: usize,
    /// Queries.
    pub queries: usize,
    /// After how many verdicts the ranking is measured, ascending.
    pub reviews: Vec<usize>,
    /// Standard deviation of the person's own error on θ_b − θ_a; a judge's is about 1.
    pub person_sd: f64,
    /// What the person is asked.
    pub answers: Answers,
    /// Ranks that count: NDCG and priorities.
    pub top: usize,
    /// The orders to compare.
    pub policies: Vec<Policy>,
    /// How votes and verdicts become scores.
    pub settings: RankingSettings,
    /// The seed; a query's world does not depend on the policies or on how many queries there are.
    pub seed: u64,
}

impl Default for Simulation {
    /// The setting of SCIENCE §9e: 50 documents, 4 cycles, 20 and 60 verdicts.
    fn default() -> Self {
        Self {
            documents: 50,
            cycles: 4,
            queries: 100,
            reviews: vec![20, 60],
            person_sd: 0.35,
            answers: Answers::default(),
            top: super::DEFAULT_TOP,
            policies: vec![
                Policy::Random,
                Policy::Split,
                Policy::Surprise,
                Policy::Uncertain,
                Policy::Value,
            ],
            settings: RankingSettings::default(),
            seed: 1,
        }
    }
}

/// A mean over queries with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReviewMean {
    /// The mean.
    pub mean: f64,
    /// Its standard error; `None` for a single query.
    pub se: Option<f64>,
}

impl ReviewMean {
    fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        (n > 0.0).then(|| Self {
            mean,
            se: (n > 1.0).then(|| (squares / (n - 1.0) / n).sqrt()),
        })
    }
}

/// How good the ranking is after a number of verdicts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The order of the review; `None` before any verdict.
    pub policy: Option<Policy>,
    /// Verdicts given.
    pub reviews: usize,
    /// Graded NDCG of the top, the grades from the true strengths.
    pub ndcg: ReviewMean,
    /// Kendall's τ with the true strengths.
    pub tau: ReviewMean,
    /// NDCG minus the NDCG before any verdict, query by query.
    pub gain: ReviewMean,
}

/// Runs the reviews: first the ranking without a verdict, then each policy after each number of verdicts. The order is
/// fixed before the first verdict. Empty without queries or documents.
pub fn simulate(simulation: &Simulation) -> Vec<Point> {
    let stops = simulation.reviews.len();
    let mut ndcg = vec![Vec::new(); 1 + simulation.policies.len() * stops];
    let mut tau = ndcg.clone();
    for query in 0..simulation.queries {
        let world = ReviewWorld::new(simulation, query);
        let view = View::new(world.rows.clone(), simulation.settings);
        let mut note = |at: usize, rows: &QueryRows| {
            let Some((n, t)) = world.quality(rows, simulation) else {
                return;
            };
            ndcg[at].push(n);
            tau[at].push(t);
        };
        note(0, &world.rows);
        for (index, policy) in simulation.policies.iter().enumerate() {
            let scoring = Scoring {
                top: simulation.top,
                ..Scoring::new(*policy)
            };
            let order = world.order(score_pairs(&view, &scoring), query, simulation.seed);
            for (stop, reviews) in simulation.reviews.iter().enumerate() {
                let rows = world.reviewed(&order, *reviews);
                note(1 + index * stops + stop, &rows);
            }
        }
    }
    let base = ndcg.first().cloned().unwrap_or_default();
    let point = |at: usize, policy: Option<Policy>, reviews: usize| {
        let gains: Vec<f64> = ndcg
            .get(at)?
            .iter()
            .zip(&base)
            .map(|(x, y)| x - y)
            .collect();
        Some(Point {
            policy,
            reviews,
            ndcg: ReviewMean::of(ndcg.get(at)?)?,
            tau: ReviewMean::of(tau.get(at)?)?,
            gain: ReviewMean::of(&gains)?,
        })
    };
    let mut points: Vec<Point> = point(0, None, 0).into_iter().collect();
    for (index, policy) in simulation.policies.iter().enumerate() {
        for (stop, reviews) in simulation.reviews.iter().enumerate() {
            points.extend(point(1 + index * stops + stop, Some(*policy), *reviews));
        }
    }
    points
}

/// One query with its truth.
pub(super) struct ReviewWorld {
    truth: Vec<f64>,
    pub(super) rows: QueryRows,
    /// What the person would say of each battle.
    pub(super) verdicts: Vec<Verdict>,
}

impl ReviewWorld {
    pub(super) fn new(simulation: &Simulation, query: usize) -> Self {
        let name = query.to_string();
        let mut rng = SeededRng::new(simulation.seed, &["world", &name]);
        let normal = Normal::standard();
        let mut draw = move || normal.inverse_cdf(rng.unit());
        let truth: Vec<f64> = (0..simulation.documents)
            .map(|_| SD_THETA * draw())
            .collect();
        let planned = sampling::plan(
            simulation.seed,
            &name,
            simulation.documents,
            simulation.cycles,
        );
        let judges: Vec<JudgeId> = (0..POSITION.len() as i64).map(JudgeId).collect();
        let swaps: Vec<Vec<bool>> = judges
            .iter()
            .map(|judge| {
                sampling::presentations(simulation.seed, &name, &judge.0.to_string(), &planned)
            })
            .collect();
        let mut chance = SeededRng::new(simulation.seed, &["errors", &name]);
        let mut battles = Vec::new();
        let mut verdicts = Vec::new();
        for (at, planned) in planned.iter().enumerate() {
            let (a, b) = (planned.pair.low(), planned.pair.high());
            let gap = truth[b] - truth[a];
            let shared = SD_SHARED * draw();
            let vote = |(index, judge): (usize, &JudgeId)| {
                let swapped = swaps[index][at];
                let side = if swapped { 1.0 } else { -1.0 };
                let noise = shared + SD_JUDGE * draw() + SD_CALL * draw();
                let failed = chance.unit() < ERRORS;
                Some(Vote {
                    judge: *judge,
                    margin: Margin::new(match gap + noise + POSITION[index] * side {
                        _ if failed => 0.0,
                        u if u > TIE => 1.0,
                        u if u < -TIE => -1.0,
                        _ => 0.0,
                    })?,
                    swapped,
                })
            };
            let votes: Vec<Vote> = judges.iter().enumerate().filter_map(vote).collect();
            battles.push(BattleRecord {
                battle: Battle {
                    id: BattleId(at as i64),
                    a,
                    b,
                    game: planned.game,
                },
                votes,
                failed: Vec::new(),
                asked: None,
            });
            let seen = gap + simulation.person_sd * draw();
            verdicts.push(Verdict {
                uid: at.to_string(),
                a,
                b,
                decision: simulation.answers.decide(seen),
                note: None,
                annotator: String::new(),
                created_ms: 0,
            });
        }
        Self {
            rows: QueryRows {
                responses: Vec::new(),
                documents: simulation.documents,
                depth: Some(simulation.documents),
                judges,
                battles,
                verdicts: Vec::new(),
            },
            truth,
            verdicts,
        }
    }

    /// Battles in the order of a review.
    fn order(&self, scored: Vec<PairPriority>, query: usize, seed: u64) -> Vec<usize> {
        let mut shuffled = scored;
        SeededRng::new(seed, &["review", &query.to_string()]).shuffle(&mut shuffled);
        shuffled.sort_by(|x, y| {
            let urgency = |s: &PairPriority| s.priority.unwrap_or(f64::NEG_INFINITY);
            urgency(y).total_cmp(&urgency(x))
        });
        shuffled.into_iter().map(|s| s.battle).collect()
    }

    fn reviewed(&self, order: &[usize], reviews: usize) -> QueryRows {
        let verdicts = order.iter().take(reviews);
        QueryRows {
            verdicts: verdicts
                .filter_map(|battle| self.verdicts.get(*battle).cloned())
                .collect(),
            ..self.rows.clone()
        }
    }

    /// NDCG and τ of the ranking that the rows give.
    fn quality(&self, rows: &QueryRows, simulation: &Simulation) -> Option<(f64, f64)> {
        let scores = ranking::scores(rows, &simulation.settings).ok()?;
        let scores: Vec<f64> = scores.into_iter().collect::<Option<_>>()?;
        let gains = graded::gains(&graded::order(&self.truth));
        Some((
            graded::ndcg(&graded::order(&scores), &gains, simulation.top),
            graded::kendall(&scores, &self.truth)?,
        ))
    }
}
