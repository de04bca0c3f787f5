//! Laws of the estimator, and its coverage in simulated pools.

use super::design::{DrawCandidate, DrawDesign};
use super::design::{FrameQuery, MeasuredFrame};
use super::estimate::{ALPHA, CombinedEstimate, FEWEST_DRAWS, IntervalKind};
use super::expected::ExpectedMetric;
use super::series::{Draw, MeasuredSeries};
use super::slice::{DrawParts, encode_parts};
use crate::domain::numeric::{best_first, sigma};
use crate::domain::sampling::SeededRng;
use proptest::collection::vec;
use proptest::prelude::*;

fn precision(cutoff: usize) -> ExpectedMetric {
    let metric = format!("p@{cutoff}").parse().expect("a metric");
    ExpectedMetric::of(metric).expect("an expected metric")
}

/// The ranks of documents whose scores are given.
fn ranked(scores: &[f64], depth: usize) -> Vec<Option<usize>> {
    let mut ranks = vec![None; scores.len()];
    for (rank, at) in best_first(scores).into_iter().take(depth).enumerate() {
        ranks[at] = Some(rank + 1);
    }
    ranks
}

/// A pool: the probability that the fit gives each document, its scores in two runs, its relevance.
type Pool = Vec<(f64, f64, f64, bool)>;

fn pools() -> impl Strategy<Value = Vec<Pool>> {
    vec(
        vec((0.01..0.99, 0.0..1.0, 0.0..1.0, any::<bool>()), 3..7),
        1..4,
    )
}

fn frame_of(pools: &[Pool], metric: ExpectedMetric) -> MeasuredFrame {
    let query = |pool: &Pool| {
        let scores =
            |of: fn(&(f64, f64, f64, bool)) -> f64| pool.iter().map(of).collect::<Vec<_>>();
        FrameQuery {
            runs: vec![ranked(&scores(|of| of.1), 5), ranked(&scores(|of| of.2), 5)],
        }
    };
    MeasuredFrame {
        metric,
        queries: pools.iter().map(query).collect(),
    }
}

/// The mean of the metric over queries, given all rulings.
fn truth(frame: &MeasuredFrame, relevant: &[Vec<bool>]) -> f64 {
    let known: Vec<Vec<Option<bool>>> = relevant
        .iter()
        .map(|of| of.iter().copied().map(Some).collect())
        .collect();
    let unused: Vec<Vec<f64>> = relevant.iter().map(|of| vec![0.5; of.len()]).collect();
    frame.design(&known, &unused).mean
}

proptest! {
    #[test]
    fn draw_probabilities_sum_to_one_and_reach_every_document(pools in pools(), ndcg in any::<bool>()) {
        let metric = if ndcg { "ndcg@3" } else { "p@3" };
        let metric = ExpectedMetric::of(metric.parse().expect("a metric")).expect("expected");
        let frame = frame_of(&pools, metric);
        let known: Vec<_> = pools.iter().map(|of| vec![None; of.len()]).collect();
        let p: Vec<Vec<f64>> = pools.iter().map(|of| of.iter().map(|of| of.0).collect()).collect();
        let design = frame.design(&known, &p);
        let count = design.candidates.len();
        if count > 0 {
            let sum: f64 = design.candidates.iter().map(|of| of.probability).sum();
            prop_assert!((sum - 1.0).abs() < 1e-12);
            let smallest = 0.1 / count as f64 - 1e-15;
            prop_assert!(design.candidates.iter().all(|of| of.probability >= smallest));
        }
    }

    /// Over all possible draws, Σ probability · Z is the true difference: one draw is unbiased,
    /// however wrong the probabilities of relevance are.
    #[test]
    fn one_draw_is_unbiased_for_precision(pools in pools()) {
        let frame = frame_of(&pools, precision(2));
        let known: Vec<_> = pools.iter().map(|of| vec![None; of.len()]).collect();
        let p: Vec<Vec<f64>> = pools.iter().map(|of| of.iter().map(|of| of.0).collect()).collect();
        let relevant: Vec<Vec<bool>> =
            pools.iter().map(|of| of.iter().map(|of| of.3).collect()).collect();
        let design = frame.design(&known, &p);
        let queries = pools.len() as f64;
        let expected: f64 = design.candidates.iter().map(|of| {
            let y = f64::from(u8::from(relevant[of.query][of.document]));
            let z = design.mean
                + of.gradient * (y - of.relevance) / (of.probability * queries);
            of.probability * z
        }).sum();
        if !design.candidates.is_empty() {
            prop_assert!((expected - truth(&frame, &relevant)).abs() < 1e-12);
        }
    }

    /// Over all draws that fall into a slice, Σ probability · Z is the true difference in it.
    #[test]
    fn one_draw_is_unbiased_in_a_slice(pools in pools(), single in any::<bool>()) {
        let mut frame = frame_of(&pools, precision(2));
        if single {
            frame.queries.iter_mut().for_each(|of| drop(of.runs.pop()));
        }
        let mut known: Vec<Vec<Option<bool>>> =
            pools.iter().map(|of| vec![None; of.len()]).collect();
        let p: Vec<Vec<f64>> = pools.iter().map(|of| of.iter().map(|of| of.0).collect()).collect();
        let relevant: Vec<Vec<bool>> =
            pools.iter().map(|of| of.iter().map(|of| of.3).collect()).collect();
        let design = frame.design(&known, &p);
        let parts = design.parts();
        let scores: Vec<Vec<(f64, f64)>> =
            pools.iter().map(|of| vec![(0.0, 0.0); of.len()]).collect();
        let members: Vec<usize> = (0..pools.len().div_ceil(2)).collect();
        let of_slice: f64 = members.iter().map(|at| parts[*at].probability).sum();
        let mut expected = 0.0;
        for of in design.candidates.iter().filter(|of| members.contains(&of.query)) {
            known[of.query][of.document] = Some(relevant[of.query][of.document]);
            let draw = drawn(&design, of, 0);
            let series =
                MeasuredSeries::new(frame.clone(), &scores, known.clone(), vec![draw.clone()]);
            let checked = series.checked_parts(&draw, &encode_parts(&parts));
            prop_assert_eq!(checked.as_ref(), Some(&parts));
            let all = DrawParts::from([(("ana".to_owned(), 0), parts.clone())]);
            let estimate = series.slice(&members, &all).estimate;
            expected += of.probability / of_slice * estimate.expect("a draw").value;
            known[of.query][of.document] = None;
        }
        if of_slice > 0.0 {
            let slice = MeasuredFrame {
                metric: frame.metric,
                queries: members.iter().map(|at| frame.queries[*at].clone()).collect(),
            };
            let truth = truth(&slice, &relevant[..members.len()]);
            prop_assert!((expected - truth).abs() < 1e-12, "{} {}", expected, truth);
        }
    }

    #[test]
    fn swapping_the_runs_changes_the_sign(pools in pools()) {
        let mut frame = frame_of(&pools, precision(2));
        let known: Vec<_> = pools.iter().map(|of| vec![None; of.len()]).collect();
        let p: Vec<Vec<f64>> = pools.iter().map(|of| of.iter().map(|of| of.0).collect()).collect();
        let one = frame.design(&known, &p);
        frame.queries.iter_mut().for_each(|of| of.runs.reverse());
        let other = frame.design(&known, &p);
        prop_assert!((one.mean + other.mean).abs() < 1e-12);
        prop_assert!((one.variance - other.variance).abs() < 1e-12);
    }
}

/// A world in which judges err alike within a query: zELO is the true score plus noise, relevance
/// depends on the true score and on the query.
struct World {
    frame: MeasuredFrame,
    scores: Vec<Vec<(f64, f64)>>,
    relevant: Vec<Vec<bool>>,
}

fn world(rng: &mut SeededRng, queries: usize) -> World {
    const DOCUMENTS: usize = 25;
    let mut world = World {
        frame: MeasuredFrame {
            metric: precision(10),
            queries: Vec::new(),
        },
        scores: Vec::new(),
        relevant: Vec::new(),
    };
    for _ in 0..queries {
        let level = rng.normal() * 0.6 - 1.0;
        let quality: Vec<f64> = (0..DOCUMENTS).map(|_| rng.normal()).collect();
        let noisy = |rng: &mut SeededRng, sd: f64| -> Vec<f64> {
            quality.iter().map(|of| of + sd * rng.normal()).collect()
        };
        let zelo = noisy(rng, 0.7);
        let (first, second) = (noisy(rng, 1.0), noisy(rng, 1.3));
        world.frame.queries.push(FrameQuery {
            runs: vec![ranked(&first, 20), ranked(&second, 20)],
        });
        world
            .scores
            .push(zelo.into_iter().map(|of| (of, 0.0)).collect());
        let relevant = quality
            .iter()
            .map(|of| rng.unit() < sigma(level + 1.8 * of));
        world.relevant.push(relevant.collect());
    }
    world
}

impl World {
    /// The rulings before the first one.
    fn unruled(&self) -> Vec<Vec<Option<bool>>> {
        let unruled = |of: &Vec<bool>| vec![None; of.len()];
        self.relevant.iter().map(unruled).collect()
    }
}

/// The draw of a candidate.
fn drawn(design: &DrawDesign, of: &DrawCandidate, step: usize) -> Draw {
    Draw {
        annotator: "ana".to_owned(),
        step,
        query: of.query,
        document: of.document,
        probability: of.probability,
        relevance: of.relevance,
        gradient: of.gradient,
        variance: design.variance,
        mean: design.mean,
    }
}

/// Draws and rules this many times; returns the estimate after each ruling from the twentieth.
fn measured(world: &World, rulings: usize, seed: u64) -> Vec<CombinedEstimate> {
    let mut known = world.unruled();
    let mut draws: Vec<Draw> = Vec::new();
    let mut rng = SeededRng::new(seed, &["draws"]);
    let series = |known: &[Vec<Option<bool>>], draws: &[Draw]| {
        let frame = world.frame.clone();
        MeasuredSeries::new(frame, &world.scores, known.to_vec(), draws.to_vec())
    };
    for step in 0..rulings {
        let design = series(&known, &draws).design();
        let next = design.draw(rng.unit()).expect("documents are left");
        draws.push(drawn(&design, &next, step));
        known[next.query][next.document] = Some(world.relevant[next.query][next.document]);
    }
    let counts: Vec<usize> = (FEWEST_DRAWS..=rulings).collect();
    series(&known, &draws).history(&counts)
}

/// The t interval covers at a number of rulings that was set beforehand, and the sequence holds at
/// all of them at once, where the t interval would not.
#[test]
fn intervals_cover_the_difference_of_precision() {
    const WORLDS: u64 = 60;
    const RULINGS: usize = 60;
    let (mut covered, mut sequence_wrong, mut t_wrong, mut sum) = (0, 0, 0, 0.0);
    for seed in 0..WORLDS {
        let mut rng = SeededRng::new(seed, &["world"]);
        let world = world(&mut rng, 20);
        let truth = truth(&world.frame, &world.relevant);
        let history = measured(&world, RULINGS, seed);
        let misses =
            |of: &CombinedEstimate, kind| (of.value - truth).abs() > of.half_width(kind, ALPHA);
        let last = history.last().expect("an estimate");
        covered += usize::from(!misses(last, IntervalKind::Student));
        sum += last.value - truth;
        let ever = |kind| history.iter().any(|of| misses(of, kind));
        sequence_wrong += usize::from(ever(IntervalKind::Sequence));
        t_wrong += usize::from(ever(IntervalKind::Student));
    }
    assert!(covered >= 54, "{covered} of {WORLDS}");
    assert!(sequence_wrong <= 3, "{sequence_wrong} of {WORLDS}");
    assert!(t_wrong > sequence_wrong, "{t_wrong} of {WORLDS}");
    assert!((sum / WORLDS as f64).abs() < 0.01, "{sum}");
}

/// The residuals after 20, 40, … 100 rulings on documents that are relevant with the probability of
/// the relevance model plus a shift.
fn residuals(seed: u64, shift: f64) -> Vec<CombinedEstimate> {
    let mut rng = SeededRng::new(seed, &["residuals"]);
    let world = world(&mut rng, 20);
    let mut known = world.unruled();
    let mut draws: Vec<Draw> = Vec::new();
    let mut found = Vec::new();
    for step in 0..100 {
        let (query, document) = (step % 20, step / 20);
        let relevance = 0.02 + 0.6 * rng.unit();
        known[query][document] = Some(rng.unit() < relevance + shift);
        draws.push(Draw {
            annotator: "ana".to_owned(),
            step,
            query,
            document,
            probability: 0.01,
            relevance,
            gradient: 0.1,
            variance: 1.0,
            mean: 0.0,
        });
        if (step + 1) % FEWEST_DRAWS == 0 {
            let (frame, known) = (world.frame.clone(), known.clone());
            let series = MeasuredSeries::new(frame, &world.scores, known, draws.clone());
            found.extend(series.residual());
        }
    }
    found
}

#[test]
fn a_model_that_holds_is_seldom_void_and_one_that_is_off_is() {
    const WORLDS: u64 = 200;
    let void = |shift: f64, kind| {
        let is_void = |seed: &u64| {
            let found = residuals(*seed, shift);
            found
                .iter()
                .any(|of| of.value.abs() > of.half_width(kind, ALPHA))
        };
        (0..WORLDS).filter(is_void).count()
    };
    // 5 % of 200 are 10.
    let calibrated = void(0.0, IntervalKind::Sequence);
    assert!(calibrated <= 10, "{calibrated} of {WORLDS}");
    let off = void(0.2, IntervalKind::Sequence);
    assert!(off >= 160, "{off} of {WORLDS}");
}

/// Whether the sequence of a slice of 10 of 40 queries is wrong after any of its draws, although the
/// relevance model is far from the truth there: each document is expected to be relevant with
/// probability `p`, and is with `truth`. With `is_difference`, the second run shows other documents,
/// which are relevant as often.
fn slice_is_ever_wrong(seed: u64, is_difference: bool, p: f64, truth: f64) -> bool {
    const SLICE: usize = 10;
    const QUERIES: usize = 40;
    const DEPTH: usize = 10;
    const DRAWS: usize = 120;
    let mut rng = SeededRng::new(seed, &["slice"]);
    let documents = DEPTH * (1 + usize::from(is_difference));
    let rank = |at: usize, run: usize| (at / DEPTH == run).then_some(at % DEPTH + 1);
    let ranks = |run: usize| (0..documents).map(|at| rank(at, run)).collect();
    let query = FrameQuery {
        runs: (0..=usize::from(is_difference)).map(ranks).collect(),
    };
    let frame = MeasuredFrame {
        metric: precision(DEPTH),
        queries: vec![query; QUERIES],
    };
    let mut relevant = vec![vec![false; documents]; QUERIES];
    for (at, of) in relevant.iter_mut().enumerate() {
        let share = if at < SLICE { truth } else { 0.3 };
        of.iter_mut()
            .for_each(|relevant| *relevant = rng.unit() < share);
    }
    let expected: Vec<Vec<f64>> = (0..QUERIES)
        .map(|at| vec![if at < SLICE { p } else { 0.3 }; documents])
        .collect();
    let members: Vec<usize> = (0..SLICE).collect();
    let of_slice = MeasuredFrame {
        metric: frame.metric,
        queries: frame.queries[..SLICE].to_vec(),
    };
    let value = self::truth(&of_slice, &relevant[..SLICE]);
    let scores = vec![vec![(0.0, 0.0); documents]; QUERIES];
    let mut known = vec![vec![None; documents]; QUERIES];
    let (mut draws, mut parts) = (Vec::new(), DrawParts::new());
    for step in 0..DRAWS {
        let design = frame.design(&known, &expected);
        let Some(next) = design.draw(rng.unit()) else {
            break;
        };
        parts.insert(("ana".to_owned(), step), design.parts());
        draws.push(drawn(&design, &next, step));
        known[next.query][next.document] = Some(relevant[next.query][next.document]);
        if next.query >= SLICE {
            continue;
        }
        let series = MeasuredSeries::new(frame.clone(), &scores, known.clone(), draws.clone());
        let (low, high) = series
            .slice(&members, &parts)
            .interval(ALPHA)
            .expect("a draw");
        if value < low - 1e-12 || value > high + 1e-12 {
            return true;
        }
    }
    false
}

#[test]
fn the_sequence_of_a_slice_holds_although_the_model_is_wrong_there() {
    const WORLDS: u64 = 100;
    for (is_difference, p, truth) in [(false, 0.02, 0.5), (true, 0.02, 0.5), (true, 0.02, 0.9)] {
        let wrong = |seed: &u64| slice_is_ever_wrong(*seed, is_difference, p, truth);
        let wrong = (0..WORLDS).filter(wrong).count();
        assert!(
            wrong <= 5,
            "{wrong} of {WORLDS}: {is_difference}, {p}, {truth}"
        );
    }
}

#[test]
fn stored_parts_that_do_not_agree_with_their_draw_are_not_used() {
    let frame = frame_of(
        &vec![vec![(0.3, 0.9, 0.1, true), (0.6, 0.1, 0.9, false)]; 2],
        precision(1),
    );
    let design = frame.design(
        &[[None; 2].into(), [None; 2].into()],
        &[vec![0.3, 0.6], vec![0.2, 0.7]],
    );
    let draw = drawn(&design, &design.candidates[0], 0);
    let parts = design.parts();
    let scores = vec![vec![(0.0, 0.0); 2]; 2];
    let unruled = vec![vec![None; 2]; 2];
    let series = MeasuredSeries::new(frame, &scores, unruled, vec![draw.clone()]);
    let is_used = |parts: &[super::slice::QueryPart]| {
        series.checked_parts(&draw, &encode_parts(parts)).is_some()
    };
    assert!(is_used(&parts));
    assert!(!is_used(&parts[..1]));
    for change in 0..7 {
        let mut changed = parts.clone();
        match change {
            0 => changed[0].value += 0.1,
            1 => changed[0].value = f64::NAN,
            2 => changed[0].probability = 2.0,
            3 => changed.iter_mut().for_each(|of| of.probability /= 2.0),
            4 => changed[0].variance = f64::INFINITY,
            5 => changed[0].variance = 1e-310,
            _ => changed.iter_mut().for_each(|of| of.variance *= 1000.0),
        }
        assert!(!is_used(&changed), "{change}");
    }
    assert!(series.checked_parts(&draw, &[0; 47]).is_none());
    let other = Draw {
        gradient: draw.gradient * 1e-9,
        ..draw.clone()
    };
    assert!(
        series
            .checked_parts(&other, &encode_parts(&parts))
            .is_none()
    );
}
