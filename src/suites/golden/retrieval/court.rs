//! Compares answers and their statistics with the original's functions and its runs with stub
//! judges.

use super::{original, pools};
use crate::domain::adjudication::pick_outcome::pick_outcomes;
use crate::domain::adjudication::pick_summary::summarize_picks;
use crate::domain::adjudication::{
    InvalidPick, PickCounts, PickOutcome, PickRequest, PickSummary, SlotsReply,
};
use crate::domain::metrics::Resampling;
use crate::domain::retrieval::JudgingPool;
use serde::Deserialize;

const PARSE: &str = include_str!("../../../../tests/golden/hep/slot_parse.json");

#[derive(Deserialize)]
struct Cases {
    replies: Vec<Case>,
    loose: Vec<Loose>,
}

#[derive(Deserialize)]
struct Case {
    response: String,
    topk: usize,
    n_rel: usize,
    strict: Vec<i64>,
    r#final: Vec<usize>,
}

#[derive(Deserialize)]
struct Loose {
    text: String,
    topk: usize,
    n_rel: usize,
    slots: Vec<usize>,
}

/// How the original study reads a reply: the distinct runs of digits that are slots, in order,
/// filled up with the lowest remaining slots and cut to `wanted`; positions from 0.
///
/// With positives in the first slots even an empty text scores full marks.
fn forced_picks(text: &str, slots: usize, wanted: usize) -> Vec<usize> {
    let mut picks: Vec<usize> = Vec::new();
    let given = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse::<usize>().ok()?.checked_sub(1))
        .filter(|position| *position < slots);
    for position in given.chain(0..slots) {
        if picks.len() == wanted {
            break;
        }
        if !picks.contains(&position) {
            picks.push(position);
        }
    }
    picks
}

fn numbered(picks: Vec<usize>) -> Vec<usize> {
    picks.into_iter().map(|position| position + 1).collect()
}

/// Reads a reply with an ordinary JSON parser.
fn read(text: &str, slots: usize, ask: PickRequest) -> Result<Vec<usize>, InvalidPick> {
    let reply: SlotsReply = serde_json::from_str(text).map_err(|error| {
        if error.is_data() {
            InvalidPick::NoSlots
        } else {
            InvalidPick::NotJson
        }
    })?;
    reply.picks(slots, ask)
}

#[test]
fn what_the_original_repairs_is_invalid_here() {
    let cases: Cases = serde_json::from_str(PARSE).unwrap();
    let mut valid = 0;
    for case in &cases.replies {
        let printed = format!("{:?}", case.strict);
        assert_eq!(
            numbered(forced_picks(&printed, case.topk, case.n_rel)),
            case.r#final,
            "{}",
            case.response
        );
        if let Ok(picks) = read(&case.response, case.topk, PickRequest::Exactly(case.n_rel)) {
            assert_eq!(numbered(picks), case.r#final, "{}", case.response);
            valid += 1;
        }
    }
    assert_eq!((valid, cases.replies.len()), (2, 24));
    for case in &cases.loose {
        assert_eq!(
            numbered(forced_picks(&case.text, case.topk, case.n_rel)),
            case.slots,
            "{}",
            case.text
        );
    }
}

#[test]
fn every_cause_is_told_apart() {
    use InvalidPick::{Duplicate, NoSlots, NotJson, OutOfRange, WrongCount};
    for (reply, expected) in [
        (r#"{"slots":[2,5]}"#, Ok(vec![1, 4])),
        (
            " {\"why\": {\"slots\": 1}, \"slots\": [10, 1]}\n",
            Ok(vec![9, 0]),
        ),
        (r#"{"slots":[9],"slots":[2,1]}"#, Ok(vec![1, 0])),
        ("", Err(NotJson)),
        (r#"{"slots":[1,]}"#, Err(NotJson)),
        ("```json\n{\"slots\":[3,1]}\n```", Err(NotJson)),
        (r#"{"slots":[3,1]} and more"#, Err(NotJson)),
        (r#"{"slots":["3","4"]}"#, Err(NoSlots)),
        (r#"{"slots":[2.7,3]}"#, Err(NoSlots)),
        (r#"{"slots":[2.0,3]}"#, Err(NoSlots)),
        (r#"{"slots":[true,3]}"#, Err(NoSlots)),
        (r#"{"slots":[[3,4]]}"#, Err(NoSlots)),
        (r#"{"slots":"34"}"#, Err(NoSlots)),
        (r#"{"slot":[3,4]}"#, Err(NoSlots)),
        ("[[3,4]]", Err(NoSlots)),
        (r#"{"slots":[99999999999999999999,1]}"#, Err(NoSlots)),
        (
            r#"{"slots":[11,1]}"#,
            Err(OutOfRange {
                slot: 11,
                slots: 10,
            }),
        ),
        (
            r#"{"slots":[1,-4]}"#,
            Err(OutOfRange {
                slot: -4,
                slots: 10,
            }),
        ),
        (r#"{"slots":[7,7]}"#, Err(Duplicate { slot: 7 })),
        (r#"{"slots":[7]}"#, Err(WrongCount { given: 1, asked: 2 })),
        (r#"{"slots":[]}"#, Err(WrongCount { given: 0, asked: 2 })),
    ] {
        assert_eq!(
            read(reply, 10, PickRequest::Exactly(2)),
            expected,
            "{reply}"
        );
    }
}

fn tally(pools: &[JudgingPool], answer: impl Fn(&JudgingPool) -> Vec<usize>) -> PickSummary {
    let outcomes = pools
        .iter()
        .map(|pool| pick_outcomes(pool, &answer(pool), &[]));
    let how = Resampling {
        draws: 200,
        ..Resampling::default()
    };
    summarize_picks(pools.iter().zip(outcomes.map(Ok)), &how)
}

#[test]
fn stub_judges_reach_what_they_reached_in_the_original() {
    let golden = pools();
    let pools = original(&golden);
    for (stub, reply) in [
        ("always_slot1", "[1]"),
        ("always_[2,5]", "[2, 5]"),
        ("garbage", "[]"),
        ("empty", "[]"),
    ] {
        let summary = tally(&pools, |pool| {
            forced_picks(reply, pool.slots.len(), pool.positives())
        });
        let golden = &golden.stubs[stub];
        let counts = [summary.boxes.picked(), summary.boxes.agreed].map(|n| n as u64);
        assert_eq!(
            counts.map(Some),
            [golden["picks"].as_u64(), golden["agree"].as_u64()],
            "{stub}"
        );
        assert_eq!(summary.boxes.recall(), golden["rate"].as_f64(), "{stub}");
        let chance = &golden["chance_expectation"];
        assert!(chance.is_null());
    }
    let chance = tally(&pools, |pool| (0..pool.positives()).collect()).chance;
    let expected = &golden.stubs["chance_expectation"];
    for (value, key) in [
        (chance.agreed, "expected_agree"),
        (chance.sd, "sd"),
        (chance.recall.unwrap(), "rate"),
    ] {
        assert!(
            (value - expected[key].as_f64().unwrap()).abs() < 1e-9,
            "{key}"
        );
    }
    assert_eq!(chance.recall, chance.precision);
    // A judge that knows the number of labels scores above 0 without reading: .113² + .887² agree
    // by chance.
    let kappa = (chance.agreement.unwrap() - 0.799538) / (1.0 - 0.799538);
    assert!(
        (chance.kappa.unwrap() - kappa).abs() < 1e-9 && (0.02..0.04).contains(&kappa),
        "{kappa}"
    );
}

#[test]
fn echoing_the_example_is_no_better_than_chance_and_prefers_two_slots() {
    let golden = pools();
    let summary = tally(&original(&golden), |pool| {
        forced_picks("[2, 5]", 10, pool.positives())
    });
    let boxes = PickCounts {
        agreed: 41,
        label_only: 298,
        pick_only: 298,
        neither: 2363,
        unproven: 0,
    };
    assert_eq!(summary.boxes, boxes);
    // Computed by hand: agreement 2404/3000, expected .113² + .887².
    let kappa = (2404.0 / 3000.0 - 0.799538) / (1.0 - 0.799538);
    assert!((summary.boxes.kappa().unwrap() - kappa).abs() < 1e-9);
    let (low, high) = summary.intervals.kappa.unwrap();
    assert!(low < kappa && kappa < high && high < 0.1);
    let rates: Vec<f64> = summary
        .by_slot
        .iter()
        .map(|slot| slot.boxes.pick_rate().unwrap())
        .collect();
    assert_eq!((rates[1], rates[9]), (1.0, 0.0));
}

#[test]
fn the_inspection_rows_are_the_first_disagreements() {
    let golden = pools();
    let mut pools = original(&golden);
    pools.retain(|pool| pool.positives() == 1);
    pools.sort_by_key(|pool| pool.query.as_str().parse::<u64>().unwrap());
    let rows = pools.iter().filter_map(|pool| {
        let outcomes = pick_outcomes(pool, &forced_picks("[2, 5]", 10, 1), &[]);
        let first = |outcome| outcomes.iter().position(|other| *other == outcome);
        let [label, pick] = [PickOutcome::LabelOnly, PickOutcome::PickOnly].map(first);
        let id = |at: usize| pool.slots[at].document.as_str().to_owned();
        Some([pool.query.as_str().to_owned(), id(label?), id(pick?)])
    });
    assert!(rows.take(10).eq(golden.inspection));
}
