//! Anchors and links in the workbench.

use crate::app::choose_judges::JudgeConfiguration;
use crate::app::question_set::{
    AddedQuestions, QuestionSession, QuestionSet, QuestionSetOutcome, QuestionSetPrice,
    QuestionSetProgress,
};
use crate::client::RunControl;
use crate::config::Config;
use crate::features::scale::app::{Anchors, Links};
use crate::features::scale::screen::commands;
use crate::suites::screens::bench::Bench;
use crate::suites::screens::snapshot;
use crate::tui::job::{only, tell_that};
use crate::tui::message::{Effect, Msg};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::testing::model;
use crate::tui::testing::key;
use crate::tui::update::commands::on_command;
use crate::tui::update::requests::queries::ReadScale;
use crate::tui::update::requests::runs::PriceQuestions;
use crate::tui::update::{question_set, update};
use crossterm::event::KeyCode;
use std::time::Instant;
use tokio::runtime::Runtime;
use tokio::sync::watch;

fn anchors_of(judge: &str) -> QuestionSet {
    QuestionSet::Added(&Anchors, vec![judge.to_owned()])
}

fn pressed(code: KeyCode) -> Msg {
    Msg::Key(key(code))
}

#[test]
fn anchors_are_priced_asked_and_kept_by_what_the_screen_offers() {
    let mut bench = Bench::judged(120, 40);
    let config = Config::default();
    let configuration = JudgeConfiguration {
        project: bench.store.path(),
        config: &config,
        insecure_http: false,
        consent: &config.permissions,
    };
    let bm25 = ["bm25".to_owned()];
    let prepared = Anchors
        .prepare(&bench.store, &configuration, &bm25, 1)
        .unwrap();
    let price = prepared.price();
    assert_eq!((price.calls, price.paid, price.already), (40, false, None));
    assert_eq!(price.about, "5 documents of each of 8 queries");
    let (_steer, control) = watch::channel(RunControl::default());
    let mut told = Vec::new();
    let tell = Box::new(|progress: &QuestionSetProgress| told.push(*progress));
    let runtime = Runtime::new().unwrap();
    let session = QuestionSession::locking(&bench.store, control, tell);
    let outcome = runtime.block_on(prepared.run(session));
    let outcome = outcome.unwrap();
    assert_eq!((outcome.progress.done, outcome.progress.all), (40, 40));
    assert_eq!((told.len(), told.last()), (8, Some(&outcome.progress)));
    let again = Anchors
        .prepare(&bench.store, &configuration, &bm25, 1)
        .unwrap();
    assert_eq!(again.price().calls, 0);
    let there = again.price().already;
    assert_eq!(there.as_deref(), Some("The grades of 8 queries"));
    // Offline judges compare documents with their own pool, so they cannot compare two queries.
    let links = Links.prepare(&bench.store, &configuration, &bm25, 1);
    assert!(links.err().unwrap().to_string().contains("bm25"));

    bench.model.options.judges = vec!["bm25".to_owned(), "gpt".to_owned()];
    bench.press("@");
    let set = anchors_of("bm25");
    let asked = set.clone();
    bench.tell(tell_that(move |model| {
        question_set::priced(model, &asked, Ok(price_of(40)));
        Vec::new()
    }));
    snapshot("anchors-120x40", bench.shot());
    bench.press("enter");
    assert_eq!(bench.model.questions.going.as_ref().unwrap().0, set);
    bench.tell(Msg::QuestionsProgress(QuestionSetProgress {
        done: 12,
        all: 40,
        invalid: 2,
        failed: 0,
    }));
    bench.press("r");
    assert!(
        bench
            .shot()
            .contains("anchors of bm25: 12 of 40 answers · 2 unusable")
    );
    bench.tell(Msg::QuestionsEnded(Ok(outcome)));
    assert!(bench.shot().contains("anchors of bm25: 40 anchors"));
}

fn price_of(calls: usize) -> QuestionSetPrice {
    QuestionSetPrice {
        about: "5 documents of each of 8 queries".to_owned(),
        calls,
        already: None,
        pending: None,
        judges: vec!["bm25".to_owned()],
        expected_usd: Some(0.0),
        worst_usd: Some(0.0),
        paid: false,
        notes: Vec::new(),
    }
}

fn order(model: &mut Model, set: &QuestionSet, paid: bool) -> Vec<Effect> {
    let now = Instant::now();
    question_set::priced(
        model,
        set,
        Ok(QuestionSetPrice {
            paid,
            worst_usd: Some(0.5),
            ..price_of(6)
        }),
    );
    update(model, pressed(KeyCode::Enter), now)
}

#[test]
fn one_judge_grades_anchors_and_links_are_asked_of_all_or_one() {
    let mut model = model(Screen::QUERIES);
    model.options.judges = vec!["gpt".to_owned(), "claude".to_owned()];
    let anchors = anchors_of("gpt");
    let effects = on_command(&mut model, commands::ASK_ANCHORS);
    assert_eq!(only(&effects), Some(&PriceQuestions(anchors.clone())));
    let effects = order(&mut model, &anchors, false);
    assert_eq!(effects, [Effect::AskQuestions(anchors.clone(), 6)]);
    let outcome = QuestionSetOutcome {
        progress: QuestionSetProgress {
            done: 6,
            all: 6,
            ..QuestionSetProgress::default()
        },
        ..QuestionSetOutcome::default()
    };
    let ended = Msg::QuestionsEnded(Ok(outcome));
    let effects = update(&mut model, ended, Instant::now());
    assert!(only::<ReadScale>(&effects).is_some(), "{effects:?}");
    let words = model.questions.ended.as_deref();
    assert_eq!(words, Some("anchors of gpt: 6 anchors"));

    let all = QuestionSet::Added(&Links, model.options.judges.clone());
    let effects = on_command(&mut model, commands::ASK_LINKS);
    assert_eq!(only(&effects), Some(&PriceQuestions(all)));
    let now = Instant::now();
    let one = QuestionSet::Added(&Links, vec!["gpt".to_owned()]);
    let effects = update(&mut model, pressed(KeyCode::Down), now);
    assert_eq!(only(&effects), Some(&PriceQuestions(one.clone())));
    assert_eq!(order(&mut model, &one, true), [], "it costs money");
    let effects = update(&mut model, pressed(KeyCode::Char('y')), now);
    assert_eq!(effects, [Effect::AskQuestions(one, 6)]);
    assert_eq!(
        on_command(&mut model, commands::ASK_ANCHORS),
        [],
        "asks whether to stop"
    );
    let effects = update(&mut model, pressed(KeyCode::Char('y')), now);
    assert_eq!(effects, [Effect::StopQuestions]);
}

#[test]
fn without_a_judge_there_is_nobody_to_ask() {
    let mut model = model(Screen::QUERIES);
    model.options.judges.clear();
    assert_eq!(on_command(&mut model, commands::ASK_ANCHORS), []);
    assert!(model.overlays.is_empty());
}
