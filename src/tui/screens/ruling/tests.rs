use super::super::adjudication::tests::{adjudicating, disagreement, overview};
use super::super::testing::{SIZES, TINY, flat};
use super::jobs::{PostponeRuling, ReadEvidence, SaveRuling};
use crate::app::adjudication::data::AdjudicationList;
use crate::app::adjudication::document_evidence::{DocumentEvidence, JudgePick};
use crate::app::adjudication::overview::AdjudicationOverview;
use crate::app::review::undo::{Undo, UndoLimit};
use crate::domain::adjudication::{DisagreementCause, Finding, Ruling};
use crate::domain::corpus::{DocId, JsonObject, QueryId};
use crate::store::corpus::QueryKey;
use crate::store::rulings::{RulingContext, StoredRuling};
use crate::tui::job::{answer, every, fail, first, only, tell_that};
use crate::tui::keymap::Command;
use crate::tui::message::Msg;
use crate::tui::model::{Model, Overlay};
use crate::tui::screens::Screen;
use crate::tui::screens::adjudication::jobs::{ReadOverview, UndoRuling};
use crate::tui::update::commands::on_command;
use crate::tui::update::update;
use std::sync::Arc;
use std::time::Duration;

pub(crate) fn evidence(document: &str) -> DocumentEvidence {
    let pick = |judge: &str, picked, reason: &str| JudgePick {
        judge: judge.to_owned(),
        picked: Some(picked),
        reason: reason.to_owned(),
    };
    DocumentEvidence {
        query: QueryKey(7),
        document: DocId::new(document),
        asked: "Insomnia can be treated with cognitive behavioral therapy.".to_owned(),
        title: Some("A trial".to_owned()),
        text: Arc::from("A trial\n\nNothing to see. Therapy improved sleep. \u{1b}[2JThe end."),
        metadata: JsonObject::from_compact(
            r#"{"label":"SUPPORT","evidence_sentences":[1],"source":"label-found","first_stage_rank":4}"#,
        ),
        label: Some(1),
        rulings: Vec::new(),
        picks: vec![
            pick("bm25", false, ""),
            pick("gpt", true, "It names the\u{7} therapy."),
        ],
    }
}

/// The text of a document has arrived.
pub(crate) fn arrived(evidence: DocumentEvidence) -> Msg {
    tell_that(|model| super::update::loaded(model, Box::new(evidence)))
}

/// The first of two disagreements on screen, with its text.
pub(crate) fn current() -> Model {
    let mut model = adjudicating();
    let effects = on_command(&mut model, Command::Open);
    let asked = every(&effects);
    assert_eq!(asked.len(), effects.len(), "{effects:?}");
    let documents: Vec<&str> = asked
        .into_iter()
        .map(|ReadEvidence(_, document)| document.as_str())
        .collect();
    assert_eq!(
        documents,
        ["5912283", "13497630"],
        "the next one is loaded ahead"
    );
    for document in documents {
        let now = model.now;
        update(&mut model, arrived(evidence(document)), now);
    }
    model
}

/// Everything that the benchmark and the judges reveal.
const SECRETS: [&str; 7] = [
    "grade",
    "SUPPORT",
    "bm25",
    "gpt",
    "picked",
    "rank",
    "names the",
];

#[test]
fn nothing_of_label_and_picks_is_drawn_before_the_ruling() {
    let mut model = current();
    for size in SIZES {
        let page = flat(&mut model, size);
        assert!(page.contains("Therapy improved sleep"), "{page}");
        for secret in SECRETS {
            assert!(!page.contains(secret), "{secret}: {page}");
        }
    }
    assert_eq!(on_command(&mut model, Command::FaultLabelWrong), []);
    assert_eq!(on_command(&mut model, Command::Open), []);
    assert_eq!(model.adjudication.current.as_ref().unwrap().fault, None);
    on_command(&mut model, Command::ShowTables);
    assert!(model.overlays.is_empty(), "no page of who said what");
    for size in TINY {
        flat(&mut model, size);
    }
}

#[test]
fn one_key_rules_and_lifts_the_veil_and_another_goes_on() {
    let mut model = current();
    model.now += Duration::from_secs(5);
    let effects = on_command(&mut model, Command::RuleRelevant);
    let Some(SaveRuling(ruling)) = only(&effects) else {
        panic!("{effects:?}");
    };
    let about = &ruling.about;
    assert_eq!(
        (ruling.finding, about.blind, ruling.after_reveal),
        (Finding::Relevant, true, false)
    );
    assert_eq!(
        (
            about.active_ms,
            about.grade,
            about.against,
            about.answers,
            about.control_of
        ),
        (Some(5_000), Some(1), 2, 3, Some(2))
    );
    for size in SIZES {
        let page = flat(&mut model, size);
        for words in [
            "you ruled: relevant",
            "grade 1, SUPPORT by sentence 2",
            "bm25 not picked",
            "gpt picked: It names the",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert!(!page.contains('\u{1b}') && !page.contains('\u{7}'));
    }
    let effects = on_command(&mut model, Command::Open);
    assert_eq!(
        effects,
        [],
        "nothing was changed, and the next text is there"
    );
    let current = model.adjudication.current.as_ref().unwrap();
    assert_eq!(current.disagreement.document.as_str(), "13497630");
    assert!(!current.open && current.evidence.is_some() && current.since.is_some());
}

#[test]
fn what_is_changed_after_the_reveal_is_stored_even_when_one_leaves() {
    let mut model = current();
    on_command(&mut model, Command::RuleRelevant);
    assert_eq!(on_command(&mut model, Command::RuleNot), []);
    on_command(&mut model, Command::FaultJudgeWrong);
    super::update::note(&mut model, " no effect shown ");
    let words = flat(&mut model, (120, 38));
    assert!(
        words.contains("now: not relevant") && words.contains("reason: no effect shown"),
        "{words}"
    );
    let effects = on_command(&mut model, Command::Back);
    let Some(SaveRuling(kept)) = first(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(
        (
            kept.finding,
            kept.fault,
            kept.note.as_deref(),
            kept.after_reveal,
            kept.about.blind
        ),
        (
            Finding::Not,
            Some(DisagreementCause::JudgeWrong),
            Some("no effect shown"),
            true,
            false
        )
    );
    let last = &effects[effects.len() - 1..];
    assert!(only::<ReadOverview>(last).is_some(), "{effects:?}");
    assert_eq!(model.screen(), Screen::ADJUDICATION);
}

#[test]
fn what_is_put_off_comes_last_and_undo_calls_the_matter_again() {
    let mut model = current();
    let effects = on_command(&mut model, Command::PutOff);
    assert!(first::<PostponeRuling>(&effects).is_some(), "{effects:?}");
    let texts = every::<ReadEvidence>(&effects);
    assert_eq!(texts.len() + 1, effects.len(), "{effects:?}");
    let order: Vec<&str> = model
        .adjudication
        .disagreements
        .iter()
        .map(|one| one.document.as_str())
        .collect();
    assert_eq!(order, ["13497630", "5912283"]);
    on_command(&mut model, Command::RuleNot);
    let mut asked_undo = on_command(&mut model, Command::Undo);
    assert_eq!(only(&asked_undo), Some(&UndoRuling(UndoLimit::default())));
    let undone = StoredRuling {
        query: QueryKey(7),
        ruling: Ruling {
            uid: "r".to_owned(),
            query: QueryId::new("scifact-641"),
            document: DocId::new("13497630"),
            finding: Finding::Not,
            relevant: 1,
            fault: None,
            note: None,
            annotator: "ann".to_owned(),
            created_ms: 1,
        },
        about: RulingContext::default(),
        revealed_ms: None,
        replaces: None,
        order_ms: 0,
        guideline: None,
    };
    let now = model.now;
    let effects = update(
        &mut model,
        answer::<UndoRuling>(&mut asked_undo, Undo::TakenBack(Box::new(undone))),
        now,
    );
    assert!(only::<ReadOverview>(&effects).is_some(), "{effects:?}");
    let again = on_command(&mut model, Command::RuleRelevant);
    let Some(SaveRuling(ruling)) = only(&again) else {
        panic!("{again:?}");
    };
    assert!(!ruling.about.blind, "the label has been seen");
    let effects = on_command(&mut model, Command::NextDocument);
    assert!(!effects.is_empty());
    assert_eq!(
        model.adjudication.disagreements.len(),
        1,
        "what is ruled on does not come back blind"
    );
    model.adjudication.current = None;
    model.adjudication.disagreements.clear();
    let page = flat(&mut model, (80, 22));
    assert!(page.contains("Nothing left to rule on"), "{page}");
}

#[test]
fn a_ruling_that_was_not_stored_keeps_its_reason() {
    let mut model = current();
    let now = model.now;
    model.set_draft("too small");
    let mut effects = on_command(&mut model, Command::RuleNot);
    let failed = fail::<SaveRuling>(&mut effects, "the disk is full");
    update(&mut model, failed, now);
    assert_eq!(model.draft(), Some("too small"));
    let mut effects = on_command(&mut model, Command::RuleNot);
    update(&mut model, answer::<SaveRuling>(&mut effects, ()), now);
    // A change to the stored ruling is stored on the way out.
    super::update::note(&mut model, "too small, and old");
    let mut effects = super::update::leave(&mut model);
    let failed = fail::<SaveRuling>(&mut effects, "the disk is full");
    update(&mut model, failed, now);
    let effects = super::update::leave(&mut model);
    let Some(SaveRuling(again)) = only(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(again.note.as_deref(), Some("too small, and old"));
    assert_eq!(again.finding, Finding::Not);
}

#[test]
fn a_ruling_from_further_down_was_nobodys_draw() {
    let mut model = adjudicating();
    on_command(&mut model, Command::Down);
    on_command(&mut model, Command::Open);
    let now = model.now;
    update(&mut model, arrived(evidence("13497630")), now);
    let effects = on_command(&mut model, Command::RuleCannotTell);
    let Some(SaveRuling(ruling)) = only(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(
        (ruling.about.control_of, ruling.finding),
        (Some(0), Finding::CannotTell)
    );
}

#[test]
fn adjudication_that_is_not_blind_shows_everything_at_once() {
    let mut model = adjudicating();
    model.options.judging.queue_blind = false;
    on_command(&mut model, Command::Open);
    let now = model.now;
    update(&mut model, arrived(evidence("5912283")), now);
    let words = flat(&mut model, (120, 38));
    assert!(words.contains("grade 1, SUPPORT"), "{words}");
    let effects = on_command(&mut model, Command::RuleRelevant);
    assert!(matches!(only(&effects), Some(SaveRuling(ruling)) if !ruling.about.blind));
}

#[test]
fn a_ruling_of_ones_own_is_looked_at_again_with_what_others_said() {
    let mut model = adjudicating();
    let mut list = on_command(&mut model, Command::Conflicts);
    assert_eq!(model.adjudication.list, AdjudicationList::Ruled);
    let own = answer::<ReadOverview>(&mut list, overview(&["5912283", "13497630"]));
    let now = model.now;
    update(&mut model, own, now);
    on_command(&mut model, Command::Open);
    let by = |annotator: &str, finding| Ruling {
        uid: annotator.to_owned(),
        query: QueryId::new("scifact-641"),
        document: DocId::new("5912283"),
        finding,
        relevant: 1,
        fault: Some(DisagreementCause::QueryUnclear),
        note: Some("so\u{7}".to_owned()),
        annotator: annotator.to_owned(),
        created_ms: 1,
    };
    let mut seen = evidence("5912283");
    seen.rulings = vec![by("bob", Finding::Not), by("ann", Finding::Partially)];
    let now = model.now;
    update(&mut model, arrived(seen), now);
    let words = flat(&mut model, (120, 38));
    for expected in [
        "you ruled: partially relevant",
        "bob ruled on 1970-01-01 00:00 UTC: not relevant; the query is unclear; so",
        "grade 1",
    ] {
        assert!(words.contains(expected), "{expected}: {words}");
    }
    assert_eq!(on_command(&mut model, Command::RuleRelevant), []);
    let effects = on_command(&mut model, Command::Open);
    let Some(SaveRuling(ruling)) = first(&effects) else {
        panic!("{effects:?}");
    };
    assert!(ruling.after_reveal && ruling.fault == Some(DisagreementCause::QueryUnclear));
    assert_eq!(
        model.adjudication.disagreements.len(),
        2,
        "the list stays as it is"
    );
}

#[test]
fn what_was_ruled_on_while_the_list_was_read_is_not_called_again() {
    let mut model = current();
    let mut listing = model.read_overview();
    assert_eq!(listing.len(), 1);
    on_command(&mut model, Command::RuleRelevant);
    let late = AdjudicationOverview {
        disagreements: vec![disagreement("5912283", 0), disagreement("13497630", 0)],
        judges: model.adjudication.overview.as_ref().unwrap().judges.clone(),
        ..AdjudicationOverview::default()
    };
    let now = model.now;
    update(&mut model, answer::<ReadOverview>(&mut listing, late), now);
    let left: Vec<&str> = model
        .adjudication
        .disagreements
        .iter()
        .map(|one| one.document.as_str())
        .collect();
    assert_eq!(left, ["13497630"]);
    let effects = on_command(&mut model, Command::Open);
    let texts = every::<ReadEvidence>(&effects);
    assert_eq!(texts.len(), effects.len(), "{effects:?}");
}

/// A document on which two other people disagree, opened from the list of conflicts.
fn contested() -> Model {
    let mut model = adjudicating();
    on_command(&mut model, Command::Conflicts);
    let mut effects = on_command(&mut model, Command::Conflicts);
    assert_eq!(model.adjudication.list, AdjudicationList::Contested);
    let mut list = overview(&["5912283", "13497630"]);
    for item in &mut list.disagreements {
        item.said = vec![
            ("bea".to_owned(), Finding::Relevant),
            ("bob".to_owned(), Finding::Not),
        ];
    }
    let now = model.now;
    update(&mut model, answer::<ReadOverview>(&mut effects, list), now);
    model
}

#[test]
fn a_conflict_shows_who_said_what_when_and_why_before_it_is_ruled_on() {
    let mut model = contested();
    let list = flat(&mut model, (120, 38));
    assert!(list.contains("bea: relevant · bob: not relevant"), "{list}");
    on_command(&mut model, Command::Open);
    let by = |annotator: &str, finding, note: Option<&str>| Ruling {
        uid: annotator.to_owned(),
        query: QueryId::new("scifact-641"),
        document: DocId::new("5912283"),
        finding,
        relevant: 1,
        fault: None,
        note: note.map(str::to_owned),
        annotator: annotator.to_owned(),
        created_ms: 1_700_000_000_000,
    };
    let mut seen = evidence("5912283");
    seen.rulings = vec![
        by("bea", Finding::Relevant, Some("it says\u{7} so")),
        by("bob", Finding::Not, None),
    ];
    let now = model.now;
    update(&mut model, arrived(seen), now);
    for size in SIZES {
        let page = flat(&mut model, size);
        for words in [
            "bea ruled on 2023-11-14 22:13",
            "bob ruled on",
            "Therapy improved sleep",
        ] {
            assert!(page.contains(words), "{size:?} {words}: {page}");
        }
        assert!(!page.contains('\u{7}'));
    }
    let wide = flat(&mut model, (120, 38));
    for words in ["who said what, and why", "no reason given", "gpt picked"] {
        assert!(wide.contains(words), "{words}: {wide}");
    }
    for size in TINY {
        flat(&mut model, size);
    }
    let effects = on_command(&mut model, Command::RuleNot);
    assert!(matches!(only(&effects), Some(SaveRuling(ruling)) if !ruling.about.blind));
}

#[test]
fn a_session_of_rulings_is_summed_up_when_it_is_left() {
    let mut model = current();
    model.now += Duration::from_secs(5);
    on_command(&mut model, Command::RuleNot);
    let page = model.adjudication.session.summary().unwrap();
    on_command(&mut model, Command::Back);
    assert!(matches!(model.overlays.last(), Some(Overlay::Page(_))));
    for words in [
        "1 document ruled on",
        "5 s for the median document",
        "you and the labels agree on 0 of 1",
        "1 label turned to not relevant",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let mut model = current();
    on_command(&mut model, Command::Back);
    assert!(model.overlays.is_empty(), "nothing was ruled on");
}

#[test]
fn rulings_faster_than_reading_are_said() {
    let mut model = adjudicating();
    let long = |document: &str| {
        let mut found = evidence(document);
        found.text = Arc::from("word ".repeat(300));
        arrived(found)
    };
    for at in 0..3 {
        let names = ["5912283", "13497630", "5912283"];
        model.adjudication.disagreements = vec![disagreement(names[at], 0); 1];
        super::update::begin_ruling(&mut model, 0);
        let now = model.now;
        update(&mut model, long(names[at]), now);
        model.now += Duration::from_secs(1);
        model.stack = vec![Screen::QUERIES, Screen::ADJUDICATION, Screen::RULING];
        assert!(model.adjudication.session.warning().is_none());
        on_command(&mut model, Command::RuleRelevant);
    }
    let page = flat(&mut model, (120, 38));
    assert!(
        page.contains("too fast to read: 3 of your last 3 decisions"),
        "{page}"
    );
}

#[test]
fn the_filter_finds_documents_and_forgives_letters() {
    let mut model = adjudicating();
    model.adjudication.filter = "13497630".to_owned();
    assert_eq!(model.shown_disagreements(), [1]);
    model.adjudication.filter = "134630".to_owned();
    assert_eq!(model.shown_disagreements(), [1], "letters in order");
    model.adjudication.filter = "zzz".to_owned();
    assert_eq!(model.shown_disagreements(), [0_usize; 0]);
}

#[test]
fn who_said_what_is_a_page_away_once_the_person_has_ruled() {
    let mut model = current();
    on_command(&mut model, Command::RuleNot);
    on_command(&mut model, Command::ShowTables);
    assert!(matches!(model.overlays.last(), Some(Overlay::Page(_))));
    let text = super::panel::page_text(&model, 60).unwrap();
    for words in ["You: not relevant", "bm25 not picked", "It names the"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}
