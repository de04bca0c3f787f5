//! One scale over queries in simulation: how near absolute scores come to the truth over all documents (SCIENCE2 §4).

use super::{AnchorGrade, AnsweredLink, Link, anchor_ranks, choose_links, fit_anchors, fit_links};
use crate::domain::numeric::best_first;
use crate::domain::rating::{Observation, RatingError, RatingOptions, fit};
use crate::domain::sampling::{SeededRng, plan};
use crate::domain::simulation::{Noise, SimulatedQuery};
use crate::domain::vote::Outcome;
use std::fmt;

/// Standard deviation of true scores within a query (SCIENCE §0).
const WITHIN: f64 = 1.82;
/// Judges of a battle, and cycles of battles within queries.
const JUDGES: usize = 3;
const CYCLES: usize = 4;
/// Standard deviation of what a judge misreads in one document that it grades: what it misreads in a pair.
const GRADE_NOISE: f64 = 1.117;
/// The shares of all documents that truly have grade 1 or more, 2 or more, 3.
const GRADES: [f64; 3] = [0.25, 0.10, 0.03];

/// How a world's queries are put on one scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScaleDesign {
    /// Not at all: every query keeps its mean at 0.
    None,
    /// So many anchors a query by one judge, whose mildness varies between queries with this standard deviation, in units of
    /// the truth.
    Anchors { count: usize, drift: f64 },
    /// So many links a query takes part in, an even number, each a battle of three judges.
    Links(usize),
    /// The true offsets.
    Truth,
}

impl ScaleDesign {
    /// Those of SCIENCE2 §4.
    pub const ALL: [Self; 10] = [
        Self::None,
        Self::anchors(3, 0.0),
        Self::anchors(5, 0.0),
        Self::anchors(5, 0.5),
        Self::anchors(5, 1.0),
        Self::anchors(8, 0.5),
        Self::Links(2),
        Self::Links(4),
        Self::Links(8),
        Self::Truth,
    ];

    const fn anchors(count: usize, drift: f64) -> Self {
        Self::Anchors { count, drift }
    }

    /// Calls a query.
    pub fn calls(self) -> usize {
        match self {
            Self::None | Self::Truth => 0,
            Self::Anchors { count, .. } => count,
            // A battle belongs to two queries.
            Self::Links(count) => count * JUDGES / 2,
        }
    }
}

impl fmt::Display for ScaleDesign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Anchors { count, drift: 0.0 } => write!(f, "{count} anchors"),
            Self::Anchors { count, drift } => write!(f, "{count} anchors, drift {drift}"),
            Self::Links(count) => write!(f, "{count} links"),
            Self::Truth => f.write_str("true offsets"),
        }
    }
}

/// Queries with true absolute scores, and what battles within them say.
#[derive(Clone, Debug)]
pub struct ScaleWorld {
    seed: u64,
    truth: Vec<Vec<f64>>,
    scores: Vec<Vec<f64>>,
    noise: Noise,
    cuts: [f64; 3],
}

impl ScaleWorld {
    /// A world by its seed; the queries' means have a standard deviation of `between` times that within queries.
    ///
    /// # Errors
    /// The battles cannot be fitted.
    pub fn new(
        seed: u64,
        queries: usize,
        documents: usize,
        between: f64,
    ) -> Result<Self, RatingError> {
        let mut rng = SeededRng::new(seed, &["one scale", "truth"]);
        let noise = Noise::standard(JUDGES);
        let (mut truth, mut scores) = (Vec::new(), Vec::new());
        for index in 0..queries {
            let offset = between * WITHIN * rng.normal();
            let own: Vec<f64> = (0..documents).map(|_| WITHIN * rng.normal()).collect();
            let absolute = own.iter().map(|theta| theta + offset).collect();
            let query = SimulatedQuery::new(seed, &index.to_string(), own, noise.clone());
            let battles = plan(seed, query.name(), documents, CYCLES);
            let observed = battles.iter().map(|battle| {
                let pair = battle.pair;
                let votes = (0..JUDGES).filter_map(|seat| query.vote(pair, seat));
                let share = votes.map(share_of_b).sum::<f64>() / JUDGES as f64;
                Observation::new(pair.low(), pair.high(), share, 1.0)
            });
            let observed: Vec<Observation> = observed.collect();
            let fitted = fit(documents, &observed, &RatingOptions::default(), None)?;
            scores.push(fitted.scores);
            truth.push(absolute);
        }
        let mut all: Vec<f64> = truth.iter().flatten().copied().collect();
        all.sort_by(|x, y| y.total_cmp(x));
        let cut = |share: f64| {
            let at = (share * all.len() as f64) as usize;
            all.get(at).copied().unwrap_or(f64::INFINITY)
        };
        let cuts = GRADES.map(cut);
        Ok(Self {
            seed,
            truth,
            scores,
            noise,
            cuts,
        })
    }

    /// The correlation of absolute scores with the truth over all documents. `None` where a judge gave all anchors the same
    /// grade.
    ///
    /// # Errors
    /// Links cannot be fitted.
    pub fn correlation(&self, design: ScaleDesign) -> Result<Option<f64>, RatingError> {
        let queries = self.scores.len();
        let offsets = match design {
            ScaleDesign::None => vec![0.0; queries],
            ScaleDesign::Truth => self.true_offsets(),
            ScaleDesign::Links(count) => self.linked(count)?,
            ScaleDesign::Anchors { count, drift } => {
                let Some(fitted) = fit_anchors(queries, &self.anchors(count, drift)) else {
                    return Ok(None);
                };
                let offsets = fitted.offsets.iter();
                offsets
                    .map(|offset| offset.map_or(0.0, |offset| offset.b))
                    .collect()
            }
        };
        let pairs = self.scores.iter().zip(&self.truth).zip(&offsets);
        let pairs = pairs.flat_map(|((scores, truth), b)| {
            let documents = scores.iter().zip(truth);
            documents.map(move |(score, theta)| (score + b, *theta))
        });
        Ok(correlation(&pairs.collect::<Vec<_>>()))
    }

    /// The grades of one judge.
    fn anchors(&self, count: usize, drift: f64) -> Vec<AnchorGrade> {
        let mut anchors = Vec::new();
        for (query, (scores, truth)) in self.scores.iter().zip(&self.truth).enumerate() {
            let name = query.to_string();
            let shift = drift * SeededRng::new(self.seed, &["drift", &name]).normal();
            let order = best_first(scores);
            for rank in anchor_ranks(scores.len(), count) {
                let Some(at) = order.get(rank).copied() else {
                    continue;
                };
                let place = at.to_string();
                let mut rng = SeededRng::new(self.seed, &["anchor", &name, &place]);
                let (Some(theta), Some(score)) = (truth.get(at), scores.get(at)) else {
                    continue;
                };
                let seen = theta + shift + GRADE_NOISE * rng.normal();
                let grade = self.cuts.iter().filter(|cut| seen > **cut).count();
                anchors.push(AnchorGrade {
                    query,
                    score: *score,
                    grade: grade as i32,
                });
            }
        }
        anchors
    }

    /// Offsets from links, chosen in rounds.
    fn linked(&self, count: usize) -> Result<Vec<f64>, RatingError> {
        let mut offsets = vec![0.0; self.scores.len()];
        let mut answers = Vec::new();
        for round in 0..count / 2 {
            let links = choose_links(&self.scores, &offsets, self.seed, round);
            answers.extend(links.into_iter().map(|link| self.answer(link)));
            offsets = fit_links(&self.scores, &answers)?;
        }
        Ok(offsets)
    }

    /// A battle of all judges on two documents, each for its own query: they err as in any battle.
    fn answer(&self, link: Link) -> AnsweredLink {
        let theta = |(query, document): (usize, usize)| {
            let own = self.truth.get(query).and_then(|own| own.get(document));
            own.copied().unwrap_or(0.0)
        };
        let name = format!("{:?}", link);
        let pair = SimulatedQuery::new(
            self.seed,
            &name,
            vec![theta(link.a), theta(link.b)],
            self.noise.clone(),
        );
        let votes = crate::domain::battle::Pair::new(0, 1).into_iter();
        let votes = votes.flat_map(|it| (0..JUDGES).map(move |seat| (it, seat)));
        let shares = votes.filter_map(|(it, seat)| pair.vote(it, seat).map(share_of_b));
        AnsweredLink {
            link,
            share: shares.sum::<f64>() / JUDGES as f64,
        }
    }

    /// What the truth adds to each query, on the scale of the scores.
    fn true_offsets(&self) -> Vec<f64> {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let centred = |values: &[f64]| {
            let mean = mean(values);
            values
                .iter()
                .map(move |value| value - mean)
                .collect::<Vec<f64>>()
        };
        let within = self
            .scores
            .iter()
            .zip(&self.truth)
            .flat_map(|(scores, truth)| {
                let (scores, truth) = (centred(scores), centred(truth));
                scores.into_iter().zip(truth).collect::<Vec<_>>()
            });
        let (mut both, mut squares) = (0.0, 0.0);
        for (score, theta) in within {
            both += score * theta;
            squares += theta * theta;
        }
        let slope = if squares > 0.0 { both / squares } else { 0.0 };
        self.truth.iter().map(|truth| slope * mean(truth)).collect()
    }
}

fn share_of_b(vote: Outcome) -> f64 {
    match vote {
        Outcome::A => 0.0,
        Outcome::Tie => 0.5,
        Outcome::B => 1.0,
    }
}

/// Pearson's; `None` where one side does not vary.
fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as f64;
    let x = pairs.iter().map(|pair| pair.0).sum::<f64>() / n;
    let y = pairs.iter().map(|pair| pair.1).sum::<f64>() / n;
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        xx += (a - x) * (a - x);
        yy += (b - y) * (b - y);
        xy += (a - x) * (b - y);
    }
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}
