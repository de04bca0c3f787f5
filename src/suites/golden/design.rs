//! A queue that starts with the most urgent pairs yields an unbiased estimate of how often the
//! judges are right, with an interval that has its nominal coverage.

use crate::domain::battle::Pair;
use crate::domain::priority::inclusion::sampling_weights;
use crate::domain::priority::queue_design::QueueEntry;
use crate::domain::priority::{
    Assignment, DrawReason, PairKey, Policy, QueueCandidate, QueueDesign, build_queue,
    inclusion_probabilities,
};
use crate::domain::sampling::SeededRng;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

const QUERIES: usize = 10;
const PAIRS: usize = 40;

/// A project of 400 pairs whose judges are wrong more often in some queries, and where they
/// disagree.
struct Project {
    candidates: Vec<QueueCandidate>,
    right: HashMap<PairKey, bool>,
}

impl Project {
    fn new(seed: u64) -> Self {
        let mut rng = SeededRng::new(seed, &["project"]);
        let mut candidates = Vec::new();
        let mut right = HashMap::new();
        for query in 0..QUERIES {
            let hard = 0.1 + 0.3 * query as f64 / QUERIES as f64;
            for pair in 0..PAIRS {
                let key = PairKey {
                    query: query as u64,
                    pair: Pair::new(pair, pair + 1).unwrap(),
                };
                let wrong = hard * 2.0 * rng.unit().powi(2);
                right.insert(key, rng.unit() > wrong);
                candidates.push(QueueCandidate {
                    key,
                    // Disagreement is rounded, to create ties.
                    priority: Some((wrong * 5.0).round() + (rng.unit() * 2.0).floor()),
                    voted: true,
                });
            }
        }
        Self { candidates, right }
    }

    fn truth(&self) -> f64 {
        let right = self.right.values().filter(|right| **right).count();
        right as f64 / self.right.len() as f64
    }

    /// A person judges `batches` × 20 pairs; with `chase`, a wrong judge raises the priority of its
    /// whole query.
    fn review(&self, design: &QueueDesign, batches: usize, chase: bool) -> Vec<Assignment> {
        let mut shown: Vec<Assignment> = Vec::new();
        for _ in 0..batches {
            let mut candidates = self.candidates.clone();
            if chase {
                let hit: HashSet<u64> = shown
                    .iter()
                    .filter(|line| !self.right[&line.key])
                    .map(|line| line.key.query)
                    .collect();
                for candidate in &mut candidates {
                    if hit.contains(&candidate.key.query) {
                        candidate.priority = candidate.priority.map(|p| p + 100.0);
                    }
                }
            }
            let next = build_queue(&candidates, &shown, design, 20);
            shown.extend(next.iter().map(|entry| Assignment {
                key: entry.key,
                draw: entry.draw,
            }));
        }
        shown
    }
}

/// The Hájek estimate and a 95 % Wilson interval with Kish's effective sample size.
fn estimate(project: &Project, shown: &[Assignment]) -> (f64, f64, f64) {
    let chances = inclusion_probabilities(project.candidates.len(), shown);
    let (mut sum, mut right, mut squares) = (0.0, 0.0, 0.0);
    for (line, chance) in shown.iter().zip(chances) {
        let Some(chance) = chance else { continue };
        let weight = 1.0 / chance;
        sum += weight;
        squares += weight * weight;
        right += weight * f64::from(u8::from(project.right[&line.key]));
    }
    let share = right / sum;
    let effective = sum * sum / squares;
    let z = 1.959_964;
    let centre = (share + z * z / (2.0 * effective)) / (1.0 + z * z / effective);
    let half = z / (1.0 + z * z / effective)
        * (share * (1.0 - share) / effective + z * z / (4.0 * effective * effective)).sqrt();
    (share, centre - half, centre + half)
}

/// Bias in its own standard errors, coverage of the intervals, and the bias of the plain mean.
fn promise(policy: Policy, batches: usize, chase: bool, reviews: u64) -> (f64, f64, f64) {
    let mut errors = Vec::new();
    let (mut covered, mut naive) = (0, 0.0);
    for seed in 0..reviews {
        let project = Project::new(seed / 20);
        let shown = project.review(&QueueDesign::new(policy, seed, "ann"), batches, chase);
        let (share, low, high) = estimate(&project, &shown);
        let truth = project.truth();
        errors.push(share - truth);
        covered += usize::from(low <= truth && truth <= high);
        let looked: HashSet<PairKey> = shown.iter().map(|line| line.key).collect();
        let right = looked.iter().filter(|key| project.right[key]).count();
        naive += right as f64 / looked.len() as f64 - truth;
    }
    let n = reviews as f64;
    let mean = errors.iter().sum::<f64>() / n;
    let spread = (errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / n).sqrt();
    (mean / (spread / n.sqrt()), covered as f64 / n, naive / n)
}

#[test]
fn a_queue_of_the_worst_with_controls_estimates_without_bias_and_covers() {
    let (bias, covered, naive) = promise(Policy::Mixed, 4, false, 200);
    assert!(bias.abs() < 3.0, "{bias}");
    assert!(covered >= 0.93, "{covered}");
    assert!(naive < -0.15, "{naive}");
}

#[test]
fn verdicts_may_change_what_comes_next() {
    let (bias, covered, _) = promise(Policy::Mixed, 4, true, 200);
    assert!(bias.abs() < 3.0, "{bias}");
    assert!(covered >= 0.93, "{covered}");
}

/// The expectation of Σ ω y over all possible draws of controls, with priorities that follow the
/// verdicts.
fn expectation(y: &[f64], slots: &[bool]) -> f64 {
    fn key(at: usize) -> PairKey {
        PairKey {
            query: 0,
            pair: Pair::new(at, at + 1).unwrap(),
        }
    }
    fn walk(y: &[f64], slots: &[bool], shown: &mut Vec<usize>, lines: &mut Vec<Assignment>) -> f64 {
        let left: Vec<usize> = (0..y.len()).filter(|at| !shown.contains(at)).collect();
        let Some(control) = slots.get(shown.len()) else {
            let weights = sampling_weights(y.len(), lines).unwrap();
            assert!((weights.iter().sum::<f64>() - y.len() as f64).abs() < 1e-9);
            return weights.iter().zip(&*shown).map(|(w, at)| w * y[*at]).sum();
        };
        let (draw, options) = if *control {
            (DrawReason::Control { of: left.len() }, left)
        } else {
            // The neighbor of the last pair if that had y = 1, or else the last one left.
            let next = shown
                .last()
                .filter(|at| y[**at] > 0.0)
                .and_then(|at| left.iter().find(|l| *l > at));
            (
                DrawReason::Priority,
                vec![*next.unwrap_or(&left[left.len() - 1])],
            )
        };
        let mut sum = 0.0;
        for at in &options {
            shown.push(*at);
            lines.push(Assignment {
                key: key(*at),
                draw,
            });
            sum += walk(y, slots, shown, lines) / options.len() as f64;
            shown.pop();
            lines.pop();
        }
        sum
    }
    walk(y, slots, &mut Vec::new(), &mut Vec::new())
}

#[test]
fn the_expectation_over_all_draws_is_the_total_exactly() {
    let patterns: [&[bool]; 6] = [
        &[true],
        &[false, true],
        &[true, false, false],
        &[false, true, false, true],
        &[true, true, false, true, false],
        &[false, false, true, true, true],
    ];
    for outcome in 0..64u32 {
        let y: Vec<f64> = (0..6).map(|at| f64::from(outcome >> at & 1)).collect();
        for slots in patterns {
            let error = expectation(&y, slots) - y.iter().sum::<f64>();
            assert!(error.abs() < 1e-12, "{y:?} {slots:?}: {error}");
        }
    }
}

fn lines(of: &[DrawReason]) -> Vec<Assignment> {
    let line = |(at, draw): (usize, &DrawReason)| Assignment {
        key: PairKey {
            query: 1,
            pair: Pair::new(at, at + 1).unwrap(),
        },
        draw: *draw,
    };
    of.iter().enumerate().map(line).collect()
}

#[test]
fn without_controls_there_is_no_estimate_unless_everything_was_seen() {
    let priorities = lines(&[DrawReason::Priority; 3]);
    assert_eq!(sampling_weights(4, &priorities), None);
    assert_eq!(inclusion_probabilities(4, &priorities), [None; 3]);
    assert_eq!(sampling_weights(3, &priorities), Some(vec![1.0; 3]));
    assert_eq!(inclusion_probabilities(3, &priorities), [Some(1.0); 3]);
    assert_eq!(sampling_weights(2, &priorities), None);
    assert_eq!(sampling_weights(0, &[]), None);
}

#[test]
fn controls_alone_are_a_simple_random_sample() {
    let controls = lines(&[10, 9, 8, 7].map(|of| DrawReason::Control { of }));
    for weight in sampling_weights(10, &controls).unwrap() {
        assert!((weight - 2.5).abs() < 1e-12);
    }
    for chance in inclusion_probabilities(10, &controls) {
        assert!((chance.unwrap() - 0.4).abs() < 1e-12);
    }
}

#[test]
fn what_does_not_fit_counts_as_chosen_and_repeats_count_for_nothing() {
    // The first control was drawn from one query, and the last pair was chosen after the last
    // control.
    let mut shown = lines(&[
        DrawReason::Control { of: 3 },
        DrawReason::Control { of: 9 },
        DrawReason::Repeat,
        DrawReason::Priority,
    ]);
    shown[2].key = shown[0].key;
    assert_eq!(sampling_weights(10, &shown), Some(vec![1.0, 9.0, 0.0, 0.0]));
    let chances = inclusion_probabilities(10, &shown);
    assert_eq!(chances, [Some(1.0), Some(1.0 / 9.0), None, None]);
}

fn pairs(count: usize) -> Vec<QueueCandidate> {
    (0..count)
        .map(|at| QueueCandidate {
            key: PairKey {
                query: at as u64 % 7,
                pair: Pair::new(at, at + 1).unwrap(),
            },
            priority: (at % 5 > 0).then_some((at % 4) as f64),
            voted: at % 11 > 0,
        })
        .collect()
}

fn ledger(entries: &[QueueEntry]) -> Vec<Assignment> {
    let line = |entry: &QueueEntry| Assignment {
        key: entry.key,
        draw: entry.draw,
    };
    entries.iter().map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_pair_comes_once_and_controls_know_what_they_were_drawn_from(seed: u64, count in 0usize..200) {
        let candidates = pairs(count);
        let entries = build_queue(&candidates, &[], &QueueDesign::new(Policy::Mixed, seed, "ann"), usize::MAX);
        let first: Vec<&QueueEntry> = entries.iter().filter(|e| e.draw != DrawReason::Repeat).collect();
        let keys: HashSet<PairKey> = first.iter().map(|e| e.key).collect();
        prop_assert_eq!(first.len(), keys.len());
        let reachable = candidates.iter().filter(|c| c.voted || c.priority.is_some()).count();
        prop_assert_eq!(keys.len(), reachable);
        let mut left = candidates.iter().filter(|c| c.voted).count();
        for entry in first {
            let voted = candidates.iter().any(|c| c.key == entry.key && c.voted);
            if let DrawReason::Control { of } = entry.draw {
                prop_assert!(voted);
                prop_assert_eq!(of, left);
            }
            left -= usize::from(voted);
        }
    }

    #[test]
    fn the_queue_goes_on_where_it_stopped_whatever_the_order_of_the_input(
        seed: u64, count in 1usize..150, looked in 0usize..100, turn in 0usize..150,
    ) {
        let mut candidates = pairs(count);
        let design = QueueDesign::new(Policy::Mixed, seed, "ann");
        let whole = build_queue(&candidates, &[], &design, usize::MAX);
        let looked = looked.min(whole.len());
        candidates.rotate_left(turn % count);
        let rest = build_queue(&candidates, &ledger(&whole[..looked]), &design, usize::MAX);
        prop_assert_eq!(&whole[looked..], &rest[..]);
        let some = build_queue(&candidates, &[], &design, looked);
        prop_assert_eq!(&whole[..looked], &some[..]);
    }

    #[test]
    fn pure_policies_show_the_urgent_ones_and_nothing_else(seed: u64, count in 0usize..150) {
        let candidates = pairs(count);
        let entries = build_queue(&candidates, &[], &QueueDesign::new(Policy::Value, seed, "ann"), usize::MAX);
        prop_assert_eq!(entries.len(), candidates.iter().filter(|c| c.priority.is_some()).count());
        prop_assert!(entries.windows(2).all(|w| w[0].priority >= w[1].priority));
        prop_assert!(entries.iter().all(|e| e.draw == DrawReason::Priority));
    }
}

#[test]
fn a_batch_of_twenty_has_five_controls_and_then_a_repeat() {
    let candidates: Vec<QueueCandidate> = pairs(600).into_iter().filter(|c| c.voted).collect();
    let entries = build_queue(
        &candidates,
        &[],
        &QueueDesign::new(Policy::Mixed, 3, "ann"),
        100,
    );
    for (batch, entries) in entries.chunks(20).enumerate() {
        let count =
            |wanted: fn(&DrawReason) -> bool| entries.iter().filter(|e| wanted(&e.draw)).count();
        assert_eq!(count(|draw| matches!(draw, DrawReason::Control { .. })), 5);
        assert_eq!(
            count(|draw| *draw == DrawReason::Repeat),
            usize::from(batch > 0)
        );
    }
    let place = |draw: DrawReason, key: PairKey| {
        entries.iter().position(|e| e.key == key && e.draw == draw)
    };
    for repeat in entries.iter().filter(|e| e.draw == DrawReason::Repeat) {
        let first = entries.iter().position(|e| e.key == repeat.key).unwrap();
        assert!(place(DrawReason::Repeat, repeat.key).unwrap() >= first + 20);
    }
}

#[test]
fn two_people_and_two_seeds_have_different_controls() {
    let candidates = pairs(200);
    let random = |seed, who| {
        let design = QueueDesign::new(Policy::Random, seed, who);
        let entries = build_queue(&candidates, &[], &design, 20);
        entries.iter().map(|e| e.key).collect::<Vec<_>>()
    };
    assert_eq!(random(1, "ann"), random(1, "ann"));
    assert_ne!(random(1, "ann"), random(1, "bob"));
    assert_ne!(random(1, "ann"), random(2, "ann"));
}
