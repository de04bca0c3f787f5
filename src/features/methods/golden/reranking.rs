//! Compares ranking methods with runs of ranksmith 0.3.1, given the same answers.

mod compared;
mod official;
mod refusals;

use crate::domain::candidate_question::{Answer, Question};
use crate::features::methods::domain::reranking::validation::AnswerFault;
use crate::features::methods::domain::reranking::{
    Method, MethodKind, Shuffle, Strategy, Validation, play,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

const LISTWISE: &str = include_str!("../../../../tests/golden/ranksmith/listwise_rankgpt.json");
const PAIRWISE: &str = include_str!("../../../../tests/golden/ranksmith/pairwise_prp.json");
const TOURRANK: &str = include_str!("../../../../tests/golden/ranksmith/tourrank.json");
const PARSING: &str = include_str!("../../../../tests/golden/ranksmith/parsing.json");
const HELPERS: &str = include_str!("../../../../tests/golden/ranksmith/mteb_helpers.json");

/// The documents shown, and the answered numbers, counted from 1.
type Trace = Vec<(Vec<usize>, Vec<i64>)>;

/// A method that rejects invalid answers.
fn strict(kind: MethodKind) -> Method {
    Method {
        kind,
        depth: None,
        validation: Validation::Strict,
    }
}

fn tourrank(rounds: usize, shuffle: Shuffle) -> MethodKind {
    MethodKind::TourRank {
        rounds,
        shuffle,
        stages: Vec::new(),
    }
}

fn strategy(kind: MethodKind, n: usize) -> Box<dyn Strategy> {
    strict(kind).strategy(n, 0, 1)
}

/// The next answer of a trace, which must be for this question.
fn replayed(
    trace: &mut dyn Iterator<Item = (Vec<usize>, Vec<i64>)>,
    question: &Question,
) -> Answer {
    let (shown, answered) = trace
        .next()
        .expect("a question that the trace does not have");
    assert_eq!(question.shown(), shown);
    Answer::Numbers(answered)
}

#[derive(Deserialize)]
struct Listwise {
    vectors: Vec<ListwiseVector>,
}

#[derive(Deserialize)]
struct ListwiseVector {
    n: usize,
    window_size: usize,
    stride: usize,
    calls: Trace,
    final_order: Vec<usize>,
}

#[test]
fn rankgpt_asks_about_the_same_windows() {
    let golden: Listwise = serde_json::from_str(LISTWISE).unwrap();
    assert_eq!(golden.vectors.len(), 282);
    for vector in golden.vectors {
        let kind = MethodKind::RankGpt {
            window: vector.window_size,
            stride: vector.stride,
        };
        let count = vector.calls.len();
        let mut left = vector.calls.into_iter();
        let played = play(strategy(kind.clone(), vector.n).as_mut(), &mut |question| {
            replayed(&mut left, question)
        });
        let played = played.unwrap();
        assert_eq!(played.ranking.order, vector.final_order);
        assert_eq!((played.calls, played.repairs), (count, 0));
        let bounds = strict(kind).calls(vector.n, 1);
        assert_eq!(
            (bounds.least, bounds.expected, bounds.most),
            (count, count, count)
        );
    }
}

#[derive(Deserialize)]
struct Pairwise {
    scores: BTreeMap<usize, Vec<i64>>,
    vectors: Vec<PairwiseVector>,
}

#[derive(Deserialize)]
struct PairwiseVector {
    n: usize,
    passes: usize,
    comparator: String,
    n_calls: usize,
    calls: Option<String>,
    final_order: Vec<usize>,
}

impl PairwiseVector {
    /// Whether B won, by the documents shown as A and B; `None` if neither trace nor comparator is
    /// known.
    fn winners(&self, scores: &[i64]) -> Option<HashMap<(usize, usize), bool>> {
        let known = self.calls.as_deref().map(|calls| {
            calls.split_whitespace().map(|call| {
                let parts: Vec<&str> = call.split(',').collect();
                let pair = (parts[0].parse().unwrap(), parts[1].parse().unwrap());
                (pair, parts[2] == "B")
            })
        });
        if let Some(known) = known {
            return Some(known.collect());
        }
        let b_wins: fn(i64, i64) -> bool = match self.comparator.as_str() {
            "oracle" => |a, b| b > a,
            "biasA3" => |a, b| b - a > 3,
            "alwaysA" => |_, _| false,
            "alwaysB" => |_, _| true,
            _ => return None,
        };
        let pairs = (0..self.n).flat_map(|a| (0..self.n).map(move |b| (a, b)));
        Some(
            pairs
                .map(|(a, b)| ((a, b), b_wins(scores[a], scores[b])))
                .collect(),
        )
    }
}

#[test]
fn prp_has_the_same_order_without_asking_anything_twice() {
    let golden: Pairwise = serde_json::from_str(PAIRWISE).unwrap();
    let mut replayed = 0;
    for vector in &golden.vectors {
        let steps = vector.n.saturating_sub(1);
        assert_eq!(
            vector.n_calls,
            2 * vector.passes * steps,
            "the original asks in every pass"
        );
        let Some(winners) = vector.winners(&golden.scores[&vector.n]) else {
            continue;
        };
        replayed += 1;
        let passes = vector.passes;
        let kind = MethodKind::Prp { passes };
        let played = play(
            strategy(kind.clone(), vector.n).as_mut(),
            &mut |question| match question {
                Question::Compare { a, b } => Answer::SecondWins(winners[&(*a, *b)]),
                other => panic!("{other:?}"),
            },
        );
        let played = played.unwrap();
        let case = format!("n {} passes {passes} {}", vector.n, vector.comparator);
        assert_eq!(played.ranking.order, vector.final_order, "{case}");
        if vector.calls.is_some() {
            assert_eq!(
                played.calls,
                winners.len(),
                "{case}: each ordered pair once"
            );
        }
        // Each pass is two positions behind the previous one.
        let waits = steps + 2 * (passes - 1);
        assert!(
            played.waits <= waits.min(passes * steps),
            "{case}: {}",
            played.waits
        );
        let bounds = strict(kind).calls(vector.n, 1);
        assert!(
            bounds.least <= played.calls && played.calls <= bounds.most,
            "{case}"
        );
    }
    // The remaining four have no trace and use special comparators.
    assert_eq!((golden.vectors.len(), replayed), (108, 104));
}

#[derive(Deserialize)]
struct TourRank {
    scores: BTreeMap<usize, Vec<i64>>,
    vectors: Vec<TourRankVector>,
    halving_stages: BTreeMap<usize, Vec<(usize, usize, usize)>>,
    call_estimates: BTreeMap<String, usize>,
    errors: Vec<Value>,
}

#[derive(Deserialize)]
struct TourRankVector {
    n: usize,
    rounds: usize,
    comparator: String,
    calls: Option<Trace>,
    calls_head: Option<Trace>,
    points: Vec<f64>,
    final_order: Vec<usize>,
}

impl TourRankVector {
    /// The stored part of the trace, round by round.
    fn trace(&self) -> Trace {
        self.calls
            .iter()
            .chain(&self.calls_head)
            .flatten()
            .cloned()
            .collect()
    }

    /// The numbers that its comparator answers if the trace was not stored.
    fn compared(&self, scores: &[i64], shown: &[usize], count: usize) -> Vec<i64> {
        let mut best: Vec<usize> = (0..shown.len()).collect();
        match self.comparator.as_str() {
            "oracle_desc" | "oracle_asc" => best.sort_by_key(|at| -scores[shown[*at]]),
            "firstm" => {}
            other => panic!("{other}: a group that the trace does not have"),
        }
        best.truncate(count);
        if self.comparator == "oracle_asc" {
            best.sort_unstable();
        }
        best.into_iter().map(|at| at as i64 + 1).collect()
    }
}

#[test]
fn tourrank_replays_with_the_shuffles_of_cpython() {
    let golden: TourRank = serde_json::from_str(TOURRANK).unwrap();
    let mut replayed = 0;
    for vector in &golden.vectors {
        if vector.calls.is_none() && vector.comparator == "noisy" {
            continue;
        }
        replayed += 1;
        let rounds = vector.rounds;
        let shuffle = Shuffle::Cpython;
        let kind = tourrank(rounds, shuffle);
        let scores = &golden.scores[&vector.n];
        let mut asked: Vec<Vec<usize>> = Vec::new();
        // Here all groups of a round are asked in parallel, but the trace is sequential: each group
        // takes its first remaining answer.
        let mut left = vector.trace();
        let played = play(strategy(kind.clone(), vector.n).as_mut(), &mut |question| {
            let Question::Select { candidates, count } = question else {
                panic!("{question:?}");
            };
            asked.push(candidates.clone());
            let kept = left.iter().position(|(group, _)| group == candidates);
            Answer::Numbers(match kept {
                Some(at) => left.remove(at).1,
                None => vector.compared(scores, candidates, *count),
            })
        });
        let played = played.unwrap();
        let case = format!("n {} rounds {rounds} {}", vector.n, vector.comparator);
        assert_eq!(played.ranking.order, vector.final_order, "{case}");
        let points: Vec<Option<f64>> = vector.points.iter().copied().map(Some).collect();
        assert_eq!(played.ranking.scores, Some(points), "{case}");
        let estimate = golden.call_estimates[&format!("tourrank_r@{}:r{rounds}", vector.n)];
        assert_eq!(strict(kind).calls(vector.n, 1).expected, estimate);
        assert_eq!(asked.len(), estimate, "{case}");
        assert!(left.is_empty(), "{case}: {left:?}");
        assert_eq!(played.waits, estimate_of_waits(&golden, vector.n), "{case}");
    }
    assert_eq!((golden.vectors.len(), replayed), (60, 59));
}

/// One per stage.
fn estimate_of_waits(golden: &TourRank, n: usize) -> usize {
    match golden.halving_stages.get(&n) {
        Some(stages) => stages.len(),
        None => panic!("no stages for {n}"),
    }
}

#[test]
fn tourrank_takes_any_number_of_candidates() {
    let golden: TourRank = serde_json::from_str(TOURRANK).unwrap();
    for (n, stages) in &golden.halving_stages {
        let of = |shuffle| {
            let kind = tourrank(1, shuffle);
            strict(kind).calls(*n, 1).expected
        };
        let calls: usize = stages.iter().map(|(groups, ..)| groups).sum();
        assert_eq!(of(Shuffle::Cpython), calls, "{n}");
        // Balanced groups of up to 20 are identical for up to 20 candidates, and for 100.
        if *n <= 20 || *n == 100 {
            assert_eq!(of(Shuffle::Seeded), calls, "{n}");
        }
    }
    // ranksmith rejects these with its default stages, and one candidate with any stages.
    for error in &golden.errors {
        let n = error["n"].as_u64().unwrap_or(1) as usize;
        for shuffle in [Shuffle::Seeded, Shuffle::Cpython] {
            let kind = tourrank(2, shuffle);
            assert_eq!(strict(kind.clone()).check_count(n).is_ok(), n > 1, "{n}");
            if n == 1 {
                continue;
            }
            let played = play(strategy(kind, n).as_mut(), &mut |question| match question {
                Question::Select { count, .. } => Answer::Numbers((1..=*count as i64).collect()),
                other => panic!("{other:?}"),
            });
            assert_eq!(played.unwrap().ranking.order.len(), n);
        }
    }
}

#[derive(Deserialize)]
struct Parsing {
    ranking_failure_type: Vec<RankingCase>,
    selection: Vec<SelectionCase>,
}

#[derive(Deserialize)]
struct RankingCase {
    raw: String,
    expected_count: usize,
    failure_type: Option<String>,
}

#[derive(Deserialize)]
struct SelectionCase {
    raw: String,
    expected_count: i64,
    selected_count: i64,
    ok: bool,
}

/// The integers of a list in a reply. One that does not fit becomes the largest integer, which
/// matches no document.
fn numbers(raw: &str, key: &str) -> Option<Vec<i64>> {
    let reply: Value = serde_json::from_str(raw).ok()?;
    let list = reply.get(key)?.as_array()?;
    let number = |value: &Value| match value.as_i64() {
        Some(number) => Some(number),
        None => value
            .is_number()
            .then_some(i64::MAX)
            .filter(|_| !value.to_string().contains(['.', 'e'])),
    };
    list.iter().map(number).collect()
}

#[test]
fn answers_fail_for_the_same_reasons() {
    let golden: Parsing = serde_json::from_str(PARSING).unwrap();
    let mut checked = 0;
    for case in &golden.ranking_failure_type {
        let Some(found) = numbers(&case.raw, "ranking") else {
            // Lists with anything but integers are rejected by our parser. ranksmith reads true as
            // 1.
            let read = case.raw.contains("true") || case.failure_type.is_some();
            assert!(read, "{}", case.raw);
            continue;
        };
        let fault = AnswerFault::of(&found, case.expected_count, case.expected_count);
        let name = fault.map(|fault| fault.name().to_owned());
        if found.len() == case.expected_count && found.contains(&i64::MAX) {
            assert_eq!(name.as_deref(), Some("out_of_range_rank"));
        }
        assert_eq!(name, case.failure_type, "{}", case.raw);
        checked += 1;
    }
    assert!(checked >= 12, "{checked}");
    let mut checked = 0;
    for case in &golden.selection {
        let (Ok(shown), Ok(count)) = (
            usize::try_from(case.expected_count),
            usize::try_from(case.selected_count),
        ) else {
            continue;
        };
        if let Some(found) = numbers(&case.raw, "selected").filter(|_| count <= shown) {
            let fault = AnswerFault::of(&found, count, shown);
            assert_eq!(fault.is_none(), case.ok, "{}", case.raw);
            checked += 1;
        }
    }
    assert!(checked >= 7, "{checked}");
}

#[derive(Deserialize)]
struct Helpers {
    methods: Vec<NameCase>,
    rankgpt_window_ranges: Vec<RangesCase>,
}

#[derive(Deserialize)]
struct NameCase {
    method: String,
    ok: bool,
    value: Option<NameValue>,
}

#[derive(Deserialize)]
struct NameValue {
    candidate_count: Option<usize>,
    rounds: Option<usize>,
}

#[derive(Deserialize)]
struct RangesCase {
    document_count: usize,
    window_size: usize,
    step: usize,
    ok: bool,
    value: Option<Vec<(usize, usize)>>,
}

#[test]
fn ranksmiths_names_of_methods_are_read() {
    let golden: Helpers = serde_json::from_str(HELPERS).unwrap();
    for case in &golden.methods {
        let read = case.method.parse::<Method>();
        match case.method.as_str() {
            // Passes can be specified here, and other names are those of services, programs and
            // runs.
            "prp_sliding_k@20:p1" => assert_eq!(read.unwrap().to_string(), "prp@20:p1"),
            "direct@20" | "sliding@20" => {
                assert!(matches!(read.unwrap().kind, MethodKind::Named(_)));
            }
            name if !case.ok => assert!(read.is_err(), "{name}"),
            name => {
                let (read, value) = (read.unwrap(), case.value.as_ref().unwrap());
                assert_eq!(read.depth, value.candidate_count, "{name}");
                let rounds = match read.kind {
                    MethodKind::TourRank { rounds, .. } => Some(rounds),
                    _ => None,
                };
                assert_eq!(rounds, value.rounds, "{name}");
            }
        }
    }
    // Its helper for windows has a different last window if the list does not divide evenly: ours
    // is shorter there.
    let mut different = 0;
    for case in golden.rankgpt_window_ranges.iter().filter(|case| case.ok) {
        let ours = windows(case.document_count, case.window_size, case.step);
        let theirs = case.value.as_ref().unwrap();
        different += usize::from(*theirs != ours);
        let (first, rest) = theirs
            .split_last()
            .map_or((None, &[][..]), |(l, r)| (Some(l), r));
        assert_eq!(rest, &ours[..rest.len()]);
        assert_eq!(
            first.map(|(from, _)| *from),
            ours.last().map(|(from, _)| *from)
        );
    }
    assert!(different > 0);
}

/// The start and end of our method's windows, including those with one candidate.
fn windows(n: usize, window: usize, stride: usize) -> Vec<(usize, usize)> {
    let mut start = n.saturating_sub(window);
    let mut all = vec![(start, (start + window).min(n))];
    while start > 0 {
        start = start.saturating_sub(stride);
        all.push((start, (start + window).min(n)));
    }
    all
}
