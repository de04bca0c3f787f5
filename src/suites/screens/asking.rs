//! Asking the judges about one pair from the screens: the price is shown first, and nothing happens
//! without confirmation.

use super::bench::Bench;
use crate::app::annotate::estimate::{CostEstimate, JudgeEstimate};
use crate::app::annotate::judge_history::{JudgeHistory, SetAsideJudge};
use crate::app::annotate::pair_question::{PairQuestion, PricedQuestion};
use crate::app::question_set::{BatchStep, QuestionSet, QuestionSetPrice};
use crate::app::text_editor::EditedText;
use crate::domain::battle::Pair;
use crate::domain::sampling::PlannedBattle;
use crate::tui::job::{fail, only, tell_that};
use crate::tui::message::Msg;
use crate::tui::model::run::RunScope;
use crate::tui::screens::Screen;
use crate::tui::screens::run::{self, ask_pair};
use crate::tui::update::question_set;
use crate::tui::update::requests::pages::ReadGuideline;
use crate::tui::update::requests::runs::PricePair;
use crate::tui::update::update;

/// On the matrix, at the first two documents by rank without a battle.
fn at_unfought() -> (Bench, Pair) {
    let mut bench = Bench::judged(120, 40);
    bench.press("enter");
    let order = bench.model.matrix_order();
    let open = bench.model.open.as_ref().unwrap();
    let never = |pair: &Pair| open.view.battles_of(*pair).is_empty();
    let mut pairs = order
        .iter()
        .filter_map(|column| Pair::new(order[0], *column));
    let pair = pairs.find(never).unwrap();
    let other = pair.other(order[0]).unwrap();
    bench.model.look_at(order[0], other);
    bench.draw();
    (bench, pair)
}

fn priced(bench: &Bench, pair: Pair) -> Msg {
    let query = bench.model.open.as_ref().unwrap().info.key;
    let question = PairQuestion {
        query,
        battle: PlannedBattle {
            pair,
            game: 0,
            cycle: 0,
        },
        judges: vec!["gpt".to_owned(), "claude".to_owned()],
        absent: Vec::new(),
    };
    let judge = JudgeEstimate {
        name: "gpt".to_owned(),
        calls: 2,
        cost_usd: Some(0.004),
        worst_usd: Some(0.011),
        ..JudgeEstimate::default()
    };
    let estimate = CostEstimate {
        judges: vec![judge],
        ..CostEstimate::default()
    };
    let priced = PricedQuestion { question, estimate };
    tell_that(move |model| ask_pair::priced(model, query, pair, Ok(Box::new(priced))))
}

fn asks_about(bench: &Bench, pair: Pair) -> bool {
    let scope = &bench.model.run.scope;
    bench.model.run.running
        && matches!(scope, RunScope::Pair(question) if question.battle.pair == pair)
}

#[test]
fn judges_that_cost_nothing_are_asked_at_once() {
    let (mut bench, pair) = at_unfought();
    bench.press("Q");
    assert!(asks_about(&bench, pair));
}

#[test]
fn judges_that_cost_money_are_asked_after_a_yes() {
    let (mut bench, pair) = at_unfought();
    bench.model.options.paid = true;
    let msg = priced(&bench, pair);
    bench.tell(msg);
    assert!(!bench.model.run.running);
    let shot = bench.shot();
    for words in [
        "gpt, claude are asked about",
        "$0.0040",
        "$0.01 at most",
        "No budget is set",
    ] {
        assert!(shot.contains(words), "{words:?} is not on:\n{shot}");
    }
    bench.press("n");
    assert!(!bench.model.run.running && bench.model.overlays.is_empty());
    let msg = priced(&bench, pair);
    bench.tell(msg);
    bench.press("y");
    assert!(asks_about(&bench, pair));
}

#[test]
fn judges_that_would_set_votes_aside_are_asked_after_a_yes() {
    let mut bench = Bench::judged(120, 40);
    let set_aside = vec![SetAsideJudge {
        name: "bm25".to_owned(),
        votes: 2400,
        queries: 8,
    }];
    let estimate = CostEstimate {
        judges: vec![JudgeEstimate {
            name: "qwen".to_owned(),
            calls: 36,
            ..JudgeEstimate::default()
        }],
        history: JudgeHistory {
            set_aside: set_aside.clone(),
            ..JudgeHistory::default()
        },
        ..CostEstimate::default()
    };
    bench.model.votes.set_aside = set_aside;
    let priced = || {
        let estimate = estimate.clone();
        tell_that(move |model| run::update::ask_to_start(model, &estimate))
    };
    bench.press("s");
    assert!(!bench.model.run.running, "the votes are counted first");
    bench.tell(priced());
    let shot = bench
        .shot()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for words in [
        "2,400 votes of bm25 on 8 queries",
        "calls, at no cost. Start?",
    ] {
        assert!(shot.contains(words), "{words:?} is not on:\n{shot}");
    }
    bench.press("n");
    assert!(!bench.model.run.running && bench.model.overlays.is_empty());
    bench.press("s");
    bench.tell(priced());
    bench.press("y");
    assert!(bench.model.run.running);
}

#[test]
fn a_price_that_comes_late_or_of_another_pair_asks_nobody() {
    let (mut bench, pair) = at_unfought();
    bench.model.options.paid = true;
    let query = bench.model.open.as_ref().unwrap().info.key;
    let mut late = vec![bench.model.price_question(query, pair)];
    bench.model.price_question(query, pair);
    bench.tell(fail::<PricePair>(&mut late, "late"));
    assert!(bench.model.toast.is_none());
    assert!(bench.model.overlays.is_empty() && !bench.model.run.running);
    bench.press("/ b");
    let msg = priced(&bench, pair);
    bench.tell(msg);
    assert_eq!(
        bench.model.overlays.len(),
        1,
        "what is typed answers nothing"
    );
    bench.press("esc j");
    let msg = priced(&bench, pair);
    bench.tell(msg);
    assert!(bench.model.overlays.is_empty() && !bench.model.run.running);
}

#[test]
fn the_explanation_says_the_price_before_anybody_asks() {
    let (mut bench, pair) = at_unfought();
    bench.press("e");
    assert_eq!(bench.model.screen(), Screen::COMPARISON);
    let shot = bench.shot();
    let words = "Q asks bm25, proximity, ngram about this pair now (3 calls, at no cost)";
    assert!(shot.contains(words), "{shot}");
    bench.press("Q");
    assert!(asks_about(&bench, pair));
    assert!(bench.model.comparison().above_before.is_some());
}

#[test]
fn a_document_and_itself_are_not_asked_about() {
    let mut bench = Bench::judged(80, 24);
    bench.press("enter");
    let first = bench.model.matrix_order()[0];
    bench.model.look_at(first, first);
    bench.press("Q");
    assert!(!bench.model.run.running);
}

#[test]
fn offline_judges_are_not_asked_twice_about_a_pair() {
    let mut bench = Bench::judged(80, 24);
    bench.press("enter Q");
    assert!(!bench.model.run.running);
    let said = bench.model.toast.as_ref().map(|toast| toast.text.as_str());
    let words = "the offline judges have judged this pair";
    assert!(said.is_some_and(|said| said.contains(words)));
}

#[test]
fn a_guideline_is_edited_from_its_page_and_removed_with_a_dash() {
    let mut bench = Bench::judged(100, 30);
    let guideline = |bench: &Bench| bench.store.read_blocking(|db| db.guideline()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let draft = folder.path().join("draft.md");
    let edited = |bench: &mut Bench, before: &str, text: &str| {
        std::fs::write(&draft, text).unwrap();
        bench.tell(Msg::GuidelineEdited {
            before: before.to_owned(),
            edited: Ok(EditedText {
                text: text.to_owned(),
                draft: draft.clone(),
            }),
        });
        assert!(!draft.exists());
        bench.model.toast.as_ref().unwrap().text.clone()
    };
    bench.press("w enter");
    let words = edited(&mut bench, "", "Newer is better.\n");
    assert_eq!(words, "the guideline is stored in the project");
    assert_eq!(guideline(&bench).as_deref(), Some("Newer is better.\n"));
    let words = edited(&mut bench, "Newer is better.\n", "Newer is better.\n");
    assert_eq!(words, "the guideline is unchanged");
    bench.press("H");
    let page = bench.shot();
    assert!(page.contains("; edits it."), "{page}");
    let now = bench.model.now;
    let effects = update(&mut bench.model, Msg::Key(Bench::key(";")), now);
    assert!(only::<ReadGuideline>(&effects).is_some(), "{effects:?}");
    assert!(bench.model.overlays.is_empty());
    bench.press("< - enter");
    assert_eq!(guideline(&bench), None);
}

#[test]
fn a_guideline_is_edited_here_without_an_editor() {
    let mut bench = Bench::judged(80, 24);
    let guideline = |bench: &Bench| bench.store.read_blocking(|db| db.guideline()).unwrap();
    bench.press("w enter ; N e w e r");
    let page = bench.shot();
    assert!(page.contains("Guideline · not stored"), "{page}");
    assert!(page.contains("Ctrl-s store"), "{page}");
    bench.press("esc");
    let page = bench.shot();
    assert!(
        page.contains("Discard the changes to the guideline?"),
        "{page}"
    );
    bench.press("n");
    assert!(bench.shot().contains("Newer"), "a no keeps the text");
    bench.press("ctrl-c");
    assert!(
        bench
            .shot()
            .contains("Quit without storing the changes to the guideline?")
    );
    bench.press("n");
    assert_eq!(guideline(&bench), None);
    bench.press("ctrl-s");
    assert!(bench.model.overlays.is_empty());
    assert_eq!(guideline(&bench).as_deref(), Some("Newer"));
    bench.press("; x esc y");
    assert!(bench.model.overlays.is_empty());
    assert_eq!(guideline(&bench).as_deref(), Some("Newer"));
}

#[test]
fn batches_are_priced_before_they_are_submitted() {
    let mut bench = Bench::judged(120, 40);
    bench.press("r");
    bench.press("Q");
    let refused = bench.shot();
    assert!(refused.contains("has no batch endpoint"), "{refused}");
    bench.tell(tell_that(|model| {
        let price = QuestionSetPrice {
            about: "8 queries".to_owned(),
            calls: 400,
            already: Some("80 votes".to_owned()),
            pending: Some("2 open batches with 120 calls".to_owned()),
            judges: vec!["gpt".to_owned()],
            expected_usd: Some(0.4),
            worst_usd: Some(1.2),
            paid: true,
            notes: vec!["batches answer within a day".to_owned()],
        };
        question_set::priced(model, &QuestionSet::Batches(BatchStep::Submit), Ok(price));
        Vec::new()
    }));
    let priced = bench.shot();
    for words in [
        "400 calls to gpt about 8 queries.",
        "2 open batches with 120 calls: what has ended is fetched first.",
        "Enter submit",
    ] {
        assert!(priced.contains(words), "{words}: {priced}");
    }
    bench.press("enter");
    let asked = bench.shot();
    assert!(asked.contains("400 calls: about $0.40 expected"), "{asked}");
    bench.press("n");
    assert!(bench.model.questions.going.is_none());
}
