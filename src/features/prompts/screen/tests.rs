//! The screens of a prompt: its text, its trial, both reasonings about a pair, and the decided pairs.

use super::state::{OpenReasonings, OpenTrial};
use crate::domain::battle::{BattleId, Pair};
use crate::domain::corpus::QueryId;
use crate::domain::verdict::{Decision, ErrorCause, GoldItem};
use crate::domain::vote::{JudgeId, Margin, Outcome};
use crate::features::methods::app::rerank::pair_judge::PairJudge;
use crate::features::prompts::app::trial::{
    BothReasonings, JudgeFigures, LeftOut, PromptTrial, TrialReading, TrialRequest, TrialResult,
    TriedPair,
};
use crate::features::prompts::app::{RequestPreview, versions};
use crate::features::prompts::domain::{ComparedPair, DecidedPair, PromptComparison, order_effect};
use crate::features::prompts::store::PairVote;
use crate::judge::offline;
use crate::store::corpus::QueryKey;
use crate::suites::screens::bench::Bench;
use crate::suites::screens::{SIZES, name, snapshot};
use crate::tui::screens::Screen;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Pairs that people decided for the first document, with the margin of the old and the new prompt.
const TRIED: [(f64, f64); 12] = [
    (0.6, -0.4),
    (0.5, -0.8),
    (0.3, -0.2),
    (-0.7, 0.1),
    (-0.5, -0.5),
    (-0.9, -0.6),
    (-0.4, -0.3),
    (-0.2, -0.2),
    (0.8, 0.7),
    (0.0, 0.3),
    (-0.6, -0.9),
    (-0.1, -0.4),
];

fn outcome(margin: f64) -> Outcome {
    Margin::new(margin).unwrap().outcome()
}

fn pair() -> Pair {
    Pair::new(0, 1).unwrap()
}

fn tried(at: usize) -> TriedPair {
    let (old, new) = TRIED[at];
    let compared = compared(at);
    TriedPair {
        query: QueryKey(at as i64 + 1),
        decided: DecidedPair {
            query: QueryId::new(format!("scifact-{at}")),
            pair: pair(),
            people: Outcome::A,
            is_gold: at.is_multiple_of(2),
            inclusion: Some(0.5),
            cause: compared.cause,
            note: (at == 0).then(|| "the trial itself is the evidence".to_owned()),
        },
        change: compared.change(),
        old: PairVote {
            battle: BattleId(at as i64),
            query: QueryKey(at as i64 + 1),
            pair: pair(),
            later_first: at % 2 == 1,
            margin: Margin::new(old).unwrap(),
            tokens_input: 600,
            tokens_output: 80,
            cost_usd: Some(0.001),
        },
        new_margin: new,
    }
}

fn compared(at: usize) -> ComparedPair {
    let (old, new) = TRIED[at];
    ComparedPair {
        query: at,
        inclusion: Some(0.5),
        cause: (old > 0.0).then_some(ErrorCause::JudgeWrong),
        people: Outcome::A,
        old: outcome(old),
        new: outcome(new),
    }
}

/// A trial of 12 pairs, of which three are fixed and one is broken.
fn reading(request: TrialRequest) -> TrialReading {
    let judge = Arc::clone(&offline::ensemble()[0]);
    let compared: Vec<ComparedPair> = (0..TRIED.len()).map(compared).collect();
    let mut pairs: Vec<TriedPair> = (0..TRIED.len()).map(tried).collect();
    pairs.sort_by_key(|pair| pair.change);
    let orders = TRIED.iter().enumerate();
    let orders: Vec<_> = orders
        .map(|(at, (old, new))| (at, outcome(*old), outcome(*new)))
        .collect();
    let result = TrialResult {
        comparison: PromptComparison::of(&compared),
        pairs,
        old: JudgeFigures {
            ties: Some(1.0 / 12.0),
            invalid: Some(0.0),
            tokens_per_call: Some(680.0),
            usd_per_1000: Some(1.0),
            order: None,
        },
        new: JudgeFigures {
            order: order_effect(&orders),
            ties: Some(0.0),
            invalid: Some(1.0 / 24.0),
            tokens_per_call: Some(742.0),
            usd_per_1000: Some(1.1),
        },
        missing: 3,
        unreadable: 1,
        cost_usd: Some(0.02),
    };
    let trial = PromptTrial {
        request,
        old: (JudgeId(1), judge.spec().clone()),
        prompt: crate::judge::PromptText {
            hash: "3d39a7757805f377".to_owned(),
            text: String::new(),
            fields: None,
            project_texts: None,
        },
        judge: PairJudge { judge },
        cases: Vec::new(),
        left_out: LeftOut {
            without_vote: 2,
            ..LeftOut::default()
        },
        examples: Vec::new(),
        notes: Vec::new(),
    };
    TrialReading {
        trial,
        result,
        looks: None,
    }
}

fn titles() -> [String; 2] {
    [
        "Cognitive behavioral therapy for insomnia in older adults.".to_owned(),
        "Long-term benzodiazepine treatment of parasomnias.".to_owned(),
    ]
}

/// The prompt of a judge of the judged sample, with a preview of its request.
fn prompt(size: (u16, u16)) -> Bench {
    let mut bench = Bench::judged(size.0, size.1);
    let found = bench.store.read_blocking(|db| versions(db)).unwrap();
    let version = found.into_iter().find(|of| of.name == Some("score"));
    let state = bench.model.prompt_mut();
    state.judge = "gpt".to_owned();
    state.draft = version.as_ref().and_then(|of| of.text.clone()).unwrap();
    state.preview = Some(Ok(RequestPreview {
        about: "scifact-641: Cognitive behavioral therapy, Long-term benzodiazepine".to_owned(),
        placeholders: vec!["query", "a", "b", "mark"],
        system: "You compare two documents found for one search query.".to_owned(),
        message: "The mark of this message is 1f3a.\n\n[[query 1f3a]]\ninsomnia\n[[/query 1f3a]]"
            .to_owned(),
        tokens: 742,
        usd: Some(0.0011),
    }));
    state.version = version;
    bench.model.stack.push(Screen::JUDGES);
    bench.model.stack.push(Screen::PROMPT);
    bench
}

/// The trial of that prompt.
fn trial(size: (u16, u16)) -> Bench {
    let mut bench = prompt(size);
    let state = bench.model.prompt_mut();
    let reading = reading(state.request());
    let keys = reading
        .result
        .pairs
        .iter()
        .map(|of| (of.query, of.decided.pair));
    let titles = keys.map(|key| (key, titles())).collect::<HashMap<_, _>>();
    state.trial = Some(Ok(Box::new(OpenTrial {
        missing: reading.result.missing,
        reading: Some(Arc::new(reading)),
        titles,
        tuning: HashSet::new(),
    })));
    bench.model.stack.push(Screen::PROMPT_TRIAL);
    bench
}

fn reasonings(size: (u16, u16)) -> Bench {
    let mut bench = trial(size);
    let state = bench.model.prompt_mut();
    state.reasonings = Some(OpenReasonings {
        tried: state.tried().unwrap().clone(),
        titles: titles(),
        query: "Insomnia can be treated with cognitive behavioral therapy.".to_owned(),
        found: Some(BothReasonings {
            shown: [0, 1],
            old: "Both are about sleep. B treats more patients.".to_owned(),
            new: "A tests the therapy of the query; B tests another treatment.".to_owned(),
        }),
    });
    bench.model.stack.push(Screen::PROMPT_REASONINGS);
    bench
}

#[test]
fn a_prompt_and_its_trial_at_every_size() {
    for size in SIZES {
        snapshot(name("prompt", size), prompt(size).shot());
        snapshot(name("prompt-trial", size), trial(size).shot());
        snapshot(name("prompt-reasonings", size), reasonings(size).shot());
    }
}

#[test]
fn a_trial_and_both_reasonings_are_copied() {
    let (table, told) = trial(SIZES[0]).copied();
    assert!(
        table.starts_with("query\tfirst\tsecond\tbetter\tchange\told\tnew\n"),
        "{table}"
    );
    assert_eq!(told, "copied 12 tried pairs as a table (tab-separated)");
    let (text, told) = reasonings(SIZES[0]).copied();
    assert!(text.ends_with("B tests another treatment.\n"), "{text}");
    assert_eq!(told, "copied both reasonings");
}

#[test]
fn the_decided_pairs_at_every_size() {
    for size in SIZES {
        let mut bench = prompt(size);
        bench
            .store
            .write_blocking(|db| {
                for query in db.queries()? {
                    let item = GoldItem {
                        a: 0,
                        b: 1,
                        decision: Decision::A,
                        note: None,
                    };
                    db.add_gold(query.key, &item, false)?;
                }
                Ok(())
            })
            .unwrap();
        bench.press("L");
        snapshot(name("prompt-set", size), bench.shot());
    }
}

#[test]
fn a_trial_says_what_is_missing_and_how_far_the_answers_are() {
    let mut bench = trial((100, 30));
    assert!(
        bench
            .shot()
            .contains("Incomplete: 3 answers missing; t asks for them."),
        "{}",
        bench.shot()
    );
    bench.model.prompt_mut().draft.push('x');
    bench.model.prompt_mut().trial = Some(Err("the prompt has no case".to_owned()));
    let words = "the prompt has no case; P edits the prompt";
    assert!(bench.shot().contains(words), "{}", bench.shot());
}
