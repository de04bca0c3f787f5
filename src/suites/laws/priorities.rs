//! Priorities, impacts and certainty of simulated queries.

use crate::domain::battle::{Battle, BattleId, Pair};
use crate::domain::numeric::best_first;
use crate::domain::priority::impact::{FlipContext, Impact, impacts};
use crate::domain::priority::inclusion::sampling_weights;
use crate::domain::priority::queue_design::QueueEntry;
use crate::domain::priority::*;
use crate::domain::ranking::{BattleRecord, QueryRows, RankingSettings, View};
use crate::domain::rating::RatingModel;
use crate::domain::sampling::{SeededRng, plan};
use crate::domain::verdict::{Decision, OverrideMode, Verdict};
use crate::domain::vote::{JudgeId, Margin, Outcome, Vote};
use crate::features::lab::domain::{Noise, SimulatedQuery, Theta};

/// A query of simulated documents and judges, with a person's verdict on each battle.
struct World {
    rows: QueryRows,
    verdicts: Vec<Verdict>,
}

fn simulated(documents: usize, cycles: usize, query: usize) -> World {
    let world = SimulatedQuery::synthetic(Theta::Gaussian, documents, Noise::standard(3), 1, query);
    let mut rng = SeededRng::new(1, &["person", world.name()]);
    let (mut battles, mut verdicts) = (Vec::new(), Vec::new());
    for (at, planned) in plan(1, world.name(), documents, cycles).iter().enumerate() {
        let (a, b) = (planned.pair.low(), planned.pair.high());
        let votes = (0..3).map(|judge| {
            let margin = match world.vote(planned.pair, judge).unwrap() {
                Outcome::A => -1.0,
                Outcome::Tie => 0.0,
                Outcome::B => 1.0,
            };
            Vote {
                judge: JudgeId(judge as i64),
                margin: Margin::new(margin).unwrap(),
                swapped: false,
            }
        });
        battles.push(BattleRecord {
            battle: Battle {
                id: BattleId(at as i64),
                a,
                b,
                game: planned.game,
            },
            votes: votes.collect(),
            failed: Vec::new(),
            asked: None,
        });
        let seen = world.truth()[b] - world.truth()[a] + 0.35 * rng.normal();
        let decision = match seen {
            gap if gap > 1.5 => Decision::MuchB,
            gap if gap > 0.05 => Decision::B,
            gap if gap < -1.5 => Decision::MuchA,
            gap if gap < -0.05 => Decision::A,
            _ => Decision::Tie,
        };
        verdicts.push(verdict(a, b, decision));
    }
    let rows = QueryRows {
        documents,
        depth: Some(documents),
        judges: (0..3).map(JudgeId).collect(),
        battles,
        ..QueryRows::default()
    };
    World { rows, verdicts }
}

fn world(documents: usize) -> World {
    simulated(documents, 4, 0)
}

fn verdict(a: usize, b: usize, decision: Decision) -> Verdict {
    Verdict {
        uid: "v".into(),
        a,
        b,
        decision,
        note: None,
        annotator: "ann".into(),
        created_ms: 0,
    }
}

fn view(rows: &QueryRows) -> View {
    View::new(rows.clone(), RankingSettings::default())
}

fn priority(view: &View, policy: Policy, pair: Pair) -> Option<f64> {
    let scored = score_pairs(view, &Scoring::new(policy));
    scored.into_iter().find(|s| s.pair == pair)?.priority
}

fn impact(view: &View, pair: Pair) -> Impact {
    let all = impacts(view, 10, usize::MAX);
    all.iter().find(|(of, _)| *of == pair).unwrap().1
}

fn between(present: &[f64], other: &[f64]) -> Impact {
    Impact::between(present, &best_first(present), other, 10, true)
}

fn pair_of(rows: &QueryRows, battle: usize) -> Pair {
    let battle = rows.battles[battle].battle;
    Pair::new(battle.a, battle.b).unwrap()
}

fn on(rows: &QueryRows, battle: usize, decision: Decision) -> Verdict {
    let battle = rows.battles[battle].battle;
    verdict(battle.a, battle.b, decision)
}

#[test]
fn the_impact_near_a_pair_finds_the_pairs_that_matter() {
    let view = view(&world(120).rows);
    let exact = impacts(&view, 10, usize::MAX);
    let near = FlipContext::new(&view, 10).unwrap().near();
    assert_eq!(near.len(), exact.len());
    let heaviest = |all: &[(Pair, Impact)]| {
        let mut all: Vec<_> = all.iter().map(|(pair, of)| (of.size(), *pair)).collect();
        all.sort_by(|x, y| y.0.total_cmp(&x.0));
        let pairs = all.into_iter().take(30).map(|(_, pair)| pair);
        pairs.collect::<std::collections::BTreeSet<_>>()
    };
    let shared = heaviest(&near).intersection(&heaviest(&exact)).count();
    assert!(shared >= 20, "{shared} of 30");
}

#[test]
fn without_errors_the_top_is_that_of_the_scores_and_no_probability() {
    let rows = world(30).rows;
    let model = RatingModel::Zbench;
    let settings = RankingSettings {
        model,
        ..RankingSettings::default()
    };
    let view = View::new(rows, settings);
    for scored in score_pairs(&view, &Scoring::new(Policy::Value)) {
        let parts = value_parts(&view, scored.pair).unwrap();
        let pair = [scored.pair.low(), scored.pair.high()];
        let inside = view.by_zelo[..10].iter().any(|at| pair.contains(at));
        assert_eq!(parts.in_top, InTop::ByScores(inside));
        let expected = if inside { parts.wrong } else { 0.0 };
        assert_eq!(scored.priority, Some(expected));
    }
}

#[test]
fn value_is_the_chance_of_an_error_times_the_chance_that_it_matters() {
    let rows = world(30).rows;
    let view = view(&rows);
    let inside = certainty(&view, 10).unwrap().inside;
    let expected: f64 = inside.iter().flatten().sum();
    assert!((expected - 10.0).abs() < 1e-9, "{expected}");
    for scored in score_pairs(&view, &Scoring::new(Policy::Value)) {
        let (x, y) = (scored.pair.low(), scored.pair.high());
        let battle = view.battles[scored.battle];
        let b_is_high = rows.battles[scored.battle].battle.b == y;
        let for_high = if b_is_high {
            battle.score.unwrap()
        } else {
            1.0 - battle.score.unwrap()
        };
        let wrong = if (for_high - 0.5).abs() < 1e-9 {
            0.5
        } else if for_high > 0.5 {
            view.outranks(x, y).unwrap()
        } else {
            view.outranks(y, x).unwrap()
        };
        let parts = value_parts(&view, scored.pair).unwrap();
        assert!((parts.wrong - wrong).abs() < 1e-12);
        let InTop::Probability(in_top) = parts.in_top else {
            panic!("the view has errors")
        };
        assert_eq!(scored.priority, Some(parts.wrong * in_top));
        let (one, other) = (inside[x].unwrap(), inside[y].unwrap());
        let (least, most) = (one.max(other), (one + other).min(1.0));
        let half = 0.000_500_1;
        assert!((least - half..=most + half).contains(&in_top), "{parts:?}");
    }
    assert_eq!(
        score_pairs(&view, &Scoring::new(Policy::Mixed)),
        score_pairs(&view, &Scoring::new(Policy::Value))
    );
}

#[test]
fn split_is_the_entropy_of_the_votes() {
    let rows = world(20).rows;
    let view = view(&rows);
    for scored in score_pairs(&view, &Scoring::new(Policy::Split)) {
        let votes = &rows.battles[scored.battle].votes;
        let mut outcomes: Vec<String> = votes
            .iter()
            .map(|vote| format!("{:?}", vote.margin.outcome()))
            .collect();
        outcomes.sort();
        outcomes.dedup();
        let bits = [0.0, 0.918_295_834_054_489_6, 3f64.log2()][outcomes.len() - 1];
        assert!((scored.priority.unwrap() - bits).abs() < 1e-12);
    }
}

#[test]
fn a_settled_pair_is_out_of_the_queue_and_cannot_tell_settles_nothing() {
    let mut rows = world(20).rows;
    let pair = pair_of(&rows, 3);
    rows.verdicts = vec![on(&rows, 3, Decision::CannotTell)];
    assert!(priority(&view(&rows), Policy::Value, pair).is_some());
    rows.verdicts = vec![on(&rows, 3, Decision::B)];
    for policy in [
        Policy::Value,
        Policy::Impact,
        Policy::Uncertain,
        Policy::Split,
    ] {
        assert_eq!(priority(&view(&rows), policy, pair), None, "{policy}");
    }
    rows.battles[3].votes.truncate(1);
    assert_eq!(priority(&view(&rows), Policy::Failed, pair), Some(2.0));
}

#[test]
fn a_battle_nobody_voted_on_is_no_evidence_about_the_judges() {
    let mut rows = world(20).rows;
    rows.battles[0].votes.clear();
    let view = view(&rows);
    let pair = pair_of(&rows, 0);
    let scored = score_pairs(&view, &Scoring::new(Policy::Failed));
    let failed: Vec<_> = scored.iter().filter(|s| s.priority.is_some()).collect();
    assert_eq!(failed.len(), 1);
    assert_eq!((failed[0].pair, failed[0].priority), (pair, Some(3.0)));
    assert!(!failed[0].voted);
    assert_eq!(priority(&view, Policy::Value, pair), None);
    assert_eq!(priority(&view, Policy::Split, pair), None);
}

#[test]
fn a_model_without_errors_has_a_queue_too() {
    let settings = RankingSettings {
        model: RatingModel::Zbench,
        ..RankingSettings::default()
    };
    let view = View::new(world(12).rows, settings);
    let some = |policy| {
        let scored = score_pairs(&view, &Scoring::new(policy));
        scored.iter().filter(|s| s.priority.is_some()).count()
    };
    let pairs = score_pairs(&view, &Scoring::new(Policy::Random)).len();
    assert_eq!(
        (some(Policy::Value), some(Policy::Uncertain)),
        (pairs, pairs)
    );
    assert_eq!((some(Policy::Surprise), some(Policy::Random)), (0, 0));
    assert_eq!(certainty(&view, 3), None);
    assert_eq!(some(Policy::Impact), pairs);
}

#[test]
fn flipping_a_pair_mirrors_its_verdict_and_its_votes() {
    let mut rows = world(20).rows;
    let pair = pair_of(&rows, 5);
    rows.verdicts = vec![on(&rows, 5, Decision::MuchA)];
    let before = view(&rows);
    let found = impact(&before, pair);
    // Flip the verdict and the votes together.
    rows.verdicts = vec![on(&rows, 5, Decision::MuchB)];
    for record in &mut rows.battles {
        if Pair::new(record.battle.a, record.battle.b) == Some(pair) {
            for vote in &mut record.votes {
                vote.margin = vote.margin.flipped();
            }
        }
    }
    let after = view(&rows);
    let zelo = |view: &View| -> Vec<f64> {
        let standing = |s: &Option<_>| s.map(|s: crate::domain::ranking::Standing| s.zelo);
        view.standings
            .iter()
            .map(|s| standing(s).unwrap())
            .collect()
    };
    let alone = crate::domain::ranking::scores(&rows, &RankingSettings::default()).unwrap();
    assert_eq!(
        alone.into_iter().flatten().collect::<Vec<_>>(),
        zelo(&after)
    );
    let expected = between(&zelo(&before), &zelo(&after));
    assert_eq!(found.entering, expected.entering);
    assert!((found.score - expected.score).abs() < 1e-9);
    assert!((found.ndcg_loss - expected.ndcg_loss).abs() < 1e-12);
}

#[test]
fn a_tie_turns_to_the_worse_side() {
    let mut rows = world(20).rows;
    let pair = pair_of(&rows, 7);
    rows.verdicts = vec![on(&rows, 7, Decision::Tie)];
    // The tie replaces the votes, so the pair is a tie of three battles.
    let settings = RankingSettings {
        override_mode: OverrideMode::Replace,
        ..RankingSettings::default()
    };
    let view = |rows: &QueryRows| View::new(rows.clone(), settings);
    let tied = view(&rows);
    let found = impact(&tied, pair);
    let size = |decision| {
        let mut rows = rows.clone();
        rows.verdicts = vec![on(&rows, 7, decision)];
        let scores = |view: &View| view.fit.clone().unwrap().scores;
        between(&scores(&tied), &scores(&view(&rows))).size()
    };
    let worse = size(Decision::MuchA).max(size(Decision::MuchB));
    assert!((found.size() - worse).abs() < 1e-9);
}

#[test]
fn certainty_grows_with_the_number_of_battles() {
    let of = |cycles| {
        let rows = simulated(16, cycles, 3).rows;
        let view = view(&rows);
        let sure = certainty(&view, 4).unwrap();
        assert!(sure.at_least <= sure.probability);
        let inside: f64 = sure.inside.iter().flatten().sum();
        assert!((inside - 4.0).abs() < 1e-9, "{inside}");
        sure.probability
    };
    let (few, many) = (of(1), of(7));
    assert!(many > few, "{few} {many}");
}

#[test]
fn the_cut_is_between_two_neighbors_and_costs_calls_of_all_judges() {
    let view = view(&world(30).rows);
    let pair = at_the_cut(&view, 10).unwrap();
    let both = [view.by_zelo[9], view.by_zelo[10]];
    assert_eq!(Pair::new(both[0], both[1]), Some(pair));
    let apart = separation(&view, pair, 0.95).unwrap();
    assert_eq!(apart.calls, 3 * apart.battles);
    let ends = Pair::new(view.by_zelo[0], view.by_zelo[29]).unwrap();
    assert_eq!(separation(&view, ends, 0.95).unwrap().battles, 0);
    assert_eq!(at_the_cut(&view, 30), None);
    assert_eq!(at_the_cut(&view, 0), None);
    assert_eq!(certainty(&view, 30), None);
}

/// Reviews the 80 most valuable of 800 pairs and compares the estimated agreement of judges and
/// person with the agreement over all 800 verdicts.
#[test]
fn a_value_queue_with_controls_measures_the_judges() {
    let mut candidates = Vec::new();
    let mut right = std::collections::BTreeMap::new();
    for query in 0..10 {
        let world = simulated(20, 4, query);
        let view = view(&world.rows);
        let scored = score_pairs(&view, &Scoring::new(Policy::Mixed));
        let found: Vec<QueueCandidate> = scored
            .iter()
            .map(|scored| QueueCandidate {
                key: PairKey {
                    query: query as u64,
                    pair: scored.pair,
                },
                priority: scored.priority,
                voted: scored.voted,
            })
            .collect();
        for (scored, candidate) in scored.iter().zip(&found) {
            let judges = view.battles[scored.battle].score.unwrap();
            let person = world.verdicts[scored.battle].decision.score().unwrap();
            let side = |score: f64| ((score - 0.5) * 1e6).round().clamp(-1.0, 1.0);
            right.insert(candidate.key, side(judges) == side(person));
        }
        candidates.extend(found);
    }
    let frame = candidates.len();
    assert_eq!(frame, 800);
    let truth = right.values().filter(|right| **right).count() as f64 / frame as f64;
    let (mut errors, mut covered, mut plain) = (Vec::new(), 0, 0.0);
    for seed in 0..200 {
        let design = QueueDesign::new(Policy::Mixed, seed, "ann");
        let entries = build_queue(&candidates, &[], &design, 80);
        let line = |entry: &QueueEntry| Assignment {
            key: entry.key,
            draw: entry.draw,
        };
        let shown: Vec<Assignment> = entries.iter().map(line).collect();
        let y = |line: &Assignment| f64::from(u8::from(right[&line.key]));
        let (mut sum, mut squares, mut agreed) = (0.0, 0.0, 0.0);
        for (line, weight) in shown.iter().zip(sampling_weights(frame, &shown).unwrap()) {
            (sum, squares) = (sum + weight, squares + weight * weight);
            agreed += weight * y(line);
        }
        let (share, n) = (agreed / sum, sum * sum / squares);
        errors.push(share - truth);
        plain += shown.iter().map(y).sum::<f64>() / shown.len() as f64 / 200.0;
        // Wilson's interval with Kish's effective sample size.
        let z = 1.959_964_f64;
        let middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = (share * (1.0 - share) / n + (z / (2.0 * n)).powi(2)).sqrt() * z;
        covered += usize::from((truth - middle).abs() <= half / (1.0 + z * z / n));
    }
    let mean = errors.iter().sum::<f64>() / 200.0;
    let spread = errors.iter().map(|e| e * e).sum::<f64>().sqrt() / 200.0;
    assert!(mean.abs() < 3.0 * spread, "{mean} {spread}");
    assert!(covered >= 186, "{covered} of 200");
    assert!(plain < truth - 0.1, "{plain} {truth}");
}

#[test]
fn nothing_to_look_at_is_an_empty_queue() {
    let rows = QueryRows::default();
    for policy in Policy::ALL {
        assert!(score_pairs(&view(&rows), &Scoring::new(policy)).is_empty());
    }
    assert_eq!(at_the_cut(&view(&rows), 10), None);
    assert_eq!(
        (
            effective_top(0, 10),
            effective_top(3, 10),
            effective_top(10, 10),
            effective_top(12, 10),
            effective_top(25, 10)
        ),
        (1, 1, 5, 10, 10)
    );
}

/// Candidates with random priorities, many of them tied, on which most pairs have votes.
fn tied_candidates() -> Vec<QueueCandidate> {
    let mut rng = SeededRng::new(3, &["most urgent"]);
    (0..12_000)
        .map(|at| QueueCandidate {
            key: PairKey {
                query: at as u64 % 300,
                pair: Pair::new(at / 300, 1_000).unwrap(),
            },
            priority: (rng.below(9) > 0).then(|| rng.below(40) as f64 / 40.0),
            voted: rng.below(5) > 0,
        })
        .collect()
}

/// The first entries of a queue do not depend on how many are selected: a selection of few drops
/// candidates, one of all candidates drops none.
#[test]
fn a_selection_of_few_is_the_beginning_of_that_of_all() {
    let candidates = tied_candidates();
    for policy in [Policy::Value, Policy::Random, Policy::Mixed] {
        let design = QueueDesign::new(policy, 5, "ann");
        let mut shown: Vec<Assignment> = Vec::new();
        for _ in 0..3 {
            let few = build_queue(&candidates, &shown, &design, 50);
            let mut all = build_queue(&candidates, &shown, &design, usize::MAX);
            all.truncate(50);
            assert_eq!(few, all, "{policy}");
            shown.extend(all.iter().map(|entry| Assignment {
                key: entry.key,
                draw: entry.draw,
            }));
        }
    }
}

/// Queries may be skipped once none of their pairs can become an entry.
#[test]
fn queries_in_descending_order_of_their_highest_priority_may_be_skipped() {
    let candidates = tied_candidates();
    let mut queries: Vec<(f64, Vec<QueueCandidate>)> = (0..300)
        .map(|query| {
            let of_query = candidates.iter().filter(|one| one.key.query == query);
            let of_query: Vec<QueueCandidate> = of_query.copied().collect();
            let priorities = of_query.iter().filter_map(|one| one.priority);
            (priorities.fold(f64::NEG_INFINITY, f64::max), of_query)
        })
        .collect();
    queries.push((f64::NEG_INFINITY, vec![candidates[0]]));
    queries.sort_by(|x, y| y.0.total_cmp(&x.0));
    let design = QueueDesign::new(Policy::Value, 5, "ann");
    let selected = |design: &QueueDesign| {
        let mut selection = QueueSelection::new(&[], design, 50);
        let each = || {
            candidates
                .iter()
                .map(|one| (one.key.query, std::iter::once((one.key.pair, one.voted))))
        };
        each().for_each(|(query, one)| selection.count(query, one));
        each().for_each(|(query, one)| selection.draw(query, one));
        let mut read = 0;
        for (bound, of_query) in &queries {
            if selection.wants(*bound) {
                read += 1;
                of_query.iter().for_each(|one| selection.add(*one));
            }
        }
        (read, selection.entries())
    };
    let mixed = QueueDesign::new(Policy::Mixed, 5, "ann");
    for design in [design, mixed] {
        let (read, entries) = selected(&design);
        assert!((20..270).contains(&read), "{read}");
        let mut expected = build_queue(&candidates, &[], &design, 50);
        for entry in &mut expected {
            if let DrawReason::Control { .. } = entry.draw {
                entry.priority = None;
            }
        }
        assert_eq!(entries, expected);
    }
}
