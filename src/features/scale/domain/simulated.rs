//! Evaluates anchors and links on simulated queries whose documents have known positions on one
//! scale.

use super::{AnchorGrade, LinkBattle, anchor_places, fit_anchors, fit_links, near_gap_links};
use crate::domain::battle::Pair;
use crate::domain::common_scale::Offset;
use crate::domain::numeric::{best_first, correlation};
use crate::domain::rating::{self, Observation, RatingOptions};
use crate::domain::sampling::{self, SeededRng};
use crate::domain::vote::Outcome;
use crate::features::lab::domain::{Noise, SimulatedQuery};

/// Standard deviation of the true scores within a query.
const WITHIN: f64 = 1.82;
/// Standard deviation of the error of a judge who grades single documents, in the same units; about
/// the same as that of a pairwise judge.
const GRADING: f64 = 1.0;
/// Shares of all documents with grades of at least 1, 2 and 3.
const GRADES: [f64; 3] = [0.25, 0.10, 0.03];
/// Random cycles of battles within each query.
const CYCLES: usize = 4;
const JUDGES: usize = 3;

/// Queries with documents on one scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaleWorld {
    pub queries: usize,
    pub documents: usize,
    /// Standard deviation of the queries' levels, as a fraction of the one within a query.
    pub levels: f64,
    /// Standard deviation of a grading judge's shift between queries, in units of the true scores.
    pub drift: f64,
    pub seed: u64,
}

/// How to estimate the offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleDesign {
    /// No offsets: zELO as it is.
    None,
    /// This many anchors per query, each graded by this many judges.
    Anchors { count: usize, judges: usize },
    /// This many links per query, between near equals.
    Links(usize),
    /// The true offsets: an upper bound for any design.
    Truth,
}

/// The correlation of linked scores with the true scores over all documents of a world; `None` if
/// no scale could be fitted.
pub fn simulated_scale(world: &ScaleWorld, design: ScaleDesign) -> Option<f64> {
    let mut rng = SeededRng::new(world.seed, &["scale"]);
    let levels: Vec<f64> = (0..world.queries)
        .map(|_| world.levels * WITHIN * rng.normal())
        .collect();
    let truth: Vec<Vec<f64>> = levels
        .iter()
        .map(|level| {
            (0..world.documents)
                .map(|_| level + WITHIN * rng.normal())
                .collect()
        })
        .collect();
    // Put all documents in one world, so that any two can meet.
    let all = SimulatedQuery::new(world.seed, "scale", truth.concat(), Noise::standard(JUDGES));
    let at = |query: usize, document: usize| query * world.documents + document;
    let score = |x: usize, y: usize| vote_mean(&all, x, y);
    let zelos: Vec<Vec<f64>> = (0..world.queries)
        .map(|query| {
            let name = query.to_string();
            let planned = sampling::plan(world.seed, &name, world.documents, CYCLES);
            let observations: Vec<Observation> = planned
                .iter()
                .filter_map(|battle| {
                    let (low, high) = (battle.pair.low(), battle.pair.high());
                    let found = score(at(query, low), at(query, high))?;
                    Some(Observation::new(low, high, found, 1.0))
                })
                .collect();
            let fit = rating::fit(
                world.documents,
                &observations,
                &RatingOptions::default(),
                None,
            );
            fit.map(|fit| fit.scores).ok()
        })
        .collect::<Option<_>>()?;
    let offsets: Vec<f64> = match design {
        ScaleDesign::None => vec![0.0; world.queries],
        ScaleDesign::Truth => {
            let scale = spread(&zelos.concat()) / WITHIN;
            levels.iter().map(|level| scale * level).collect()
        }
        ScaleDesign::Anchors { count, judges } => {
            let anchors = graded_anchors(world, &truth, &zelos, count, judges, &mut rng);
            let found = fit_anchors(world.queries, &anchors)?;
            let value = |of: &Option<Offset>| of.map_or(0.0, |of| of.value);
            found.offsets.iter().map(value).collect()
        }
        ScaleDesign::Links(rounds) => {
            let mut battles: Vec<LinkBattle> = Vec::new();
            let mut offsets = vec![0.0; world.queries];
            for round in 0..rounds {
                for link in near_gap_links(&zelos, &offsets, world.seed, round) {
                    let (a, b) = (at(link.a.0, link.a.1), at(link.b.0, link.b.1));
                    let (first, second) = if a < b {
                        (link.a, link.b)
                    } else {
                        (link.b, link.a)
                    };
                    battles.push(LinkBattle {
                        a: (first.0, zelos[first.0][first.1]),
                        b: (second.0, zelos[second.0][second.1]),
                        score: score(a.min(b), a.max(b))?,
                        weight: 1.0,
                    });
                }
                let found = fit_links(world.queries, &battles, 1.0 / JUDGES as f64).ok()?;
                offsets = found.iter().map(|of| of.value).collect();
            }
            offsets
        }
    };
    let linked = zelos.iter().zip(&offsets);
    let linked: Vec<f64> = linked
        .flat_map(|(of, offset)| of.iter().map(move |zelo| zelo + offset))
        .collect();
    correlation(linked.into_iter().zip(truth.concat()))
}

fn graded_anchors(
    world: &ScaleWorld,
    truth: &[Vec<f64>],
    zelos: &[Vec<f64>],
    count: usize,
    judges: usize,
    rng: &mut SeededRng,
) -> Vec<AnchorGrade> {
    let mut sorted = truth.concat();
    sorted.sort_by(|x, y| y.total_cmp(x));
    let cuts = GRADES.map(|share| {
        let place = (share * sorted.len() as f64) as usize;
        sorted.get(place).copied().unwrap_or_default()
    });
    let mut anchors = Vec::new();
    for (query, (truth, zelos)) in truth.iter().zip(zelos).enumerate() {
        let order = best_first(zelos);
        let shifts: Vec<f64> = (0..judges).map(|_| world.drift * rng.normal()).collect();
        for place in anchor_places(order.len(), count) {
            for shift in &shifts {
                let felt = truth[order[place]] + shift + GRADING * rng.normal();
                anchors.push(AnchorGrade {
                    query,
                    score: zelos[order[place]],
                    grade: cuts.iter().filter(|cut| felt > **cut).count() as i32,
                });
            }
        }
    }
    anchors
}

/// The mean vote of all judges, 1 if the second document is better.
fn vote_mean(all: &SimulatedQuery, x: usize, y: usize) -> Option<f64> {
    let pair = Pair::new(x, y)?;
    let points = (0..JUDGES)
        .filter_map(|seat| all.vote(pair, seat))
        .map(|vote| match vote {
            Outcome::A => 0.0,
            Outcome::Tie => 0.5,
            Outcome::B => 1.0,
        });
    Some(points.sum::<f64>() / JUDGES as f64)
}

fn spread(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(levels: f64, design: ScaleDesign) -> f64 {
        let world = ScaleWorld {
            queries: 20,
            documents: 20,
            levels,
            drift: 0.0,
            seed: 3,
        };
        simulated_scale(&world, design).unwrap()
    }

    #[test]
    fn anchors_and_links_bring_queries_nearer_to_one_scale() {
        let none = found(1.0, ScaleDesign::None);
        let anchors = found(
            1.0,
            ScaleDesign::Anchors {
                count: 5,
                judges: 1,
            },
        );
        let links = found(1.0, ScaleDesign::Links(6));
        let truth = found(1.0, ScaleDesign::Truth);
        assert!(none < 0.85 && truth > 0.94, "{none} {truth}");
        assert!(
            anchors > none + 0.08 && anchors < truth,
            "{none} {anchors} {truth}"
        );
        assert!(
            links > none + 0.08 && links < truth,
            "{none} {links} {truth}"
        );
        assert_eq!(found(1.0, ScaleDesign::Links(6)), links);
    }
}
