use super::commands::{MARK_DOCUMENT, SHOW_LISTS};
use super::jobs::ReadLists;
use super::state::Focus;
use super::update::{found, offers, update};
use crate::domain::candidate_question::Answer as CandidateAnswer;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::verdict::{Decision, Verdict};
use crate::features::lists::app::{AnsweredList, ListCounting, ListOutcome, QueryList};
use crate::features::lists::domain::{AnswerForm, ListKind};
use crate::features::lists::store::{ListReply, StoredList};
use crate::store::corpus::QueryKey;
use crate::tui::job::{answer, only};
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::requests::ReadTexts;
use crate::tui::screens::Screen;
use crate::tui::screens::testing::{SIZES, TINY, drawn, flat, model};
use crate::tui::theme::ColorDepth;
use crate::tui::update::update as apply;

/// The query of the tests' model.
const QUERY: QueryKey = QueryKey(7);

fn reply(raw: Option<&str>) -> ListReply {
    ListReply {
        answer: CandidateAnswer::Numbers(Vec::new()),
        model: Some("m\u{1b}[2J-2026".to_owned()),
        raw: raw.map(str::to_owned),
        tokens_input: 1_204,
        tokens_output: 9,
        cost_usd: Some(0.0031),
    }
}

/// A list call that shows these documents; `None` is one that is not in the pool.
fn list(number: usize, shown: &[Option<usize>], outcome: ListOutcome) -> QueryList {
    let name = |document: &Option<usize>| match document {
        Some(document) => format!("d{document}"),
        None => "gone\u{1b}[31m".to_owned(),
    };
    let reply = match outcome {
        ListOutcome::Outstanding | ListOutcome::InBatch => None,
        _ => Some(reply(Some(
            "{\"ranking\": [2, 1]}\u{1b}]0;owned\u{7}\u{202e}",
        ))),
    };
    let counting = match outcome {
        ListOutcome::Answered(_) => ListCounting::Counts(0.18),
        _ => ListCounting::NoAnswer,
    };
    QueryList {
        number,
        call: AnsweredList {
            list: StoredList {
                uid: format!("uid {number}"),
                query: QueryId::new("scifact-641"),
                judge: "gpt\u{1b}[1m".to_owned(),
                identity: [0; 32],
                form: "order".to_owned(),
                shown: shown
                    .iter()
                    .map(|document| DocId::new(name(document)))
                    .collect(),
                plan: "swiss\u{9b}".to_owned(),
                round: 0,
                key: [number as u8; 32],
                created_ms: 1,
            },
            kind: ListKind::new(shown.len(), AnswerForm::Order).ok(),
            reply,
            outcome,
        },
        documents: shown.to_vec(),
        counting,
    }
}

fn known(documents: &[usize]) -> Vec<Option<usize>> {
    documents.iter().copied().map(Some).collect()
}

/// An answered list, a malformed one, and one without an answer.
fn lists() -> Vec<QueryList> {
    let malformed = ListOutcome::Malformed("names document 3 twice\u{1b}[2J".to_owned());
    let answered = ListOutcome::Answered(vec![3, 0, 4, 1, 2]);
    vec![
        list(1, &known(&[1, 3, 4, 0, 2]), answered),
        list(2, &[Some(0), Some(5), None], malformed),
        list(3, &known(&[5, 2, 3, 4]), ListOutcome::Outstanding),
    ]
}

/// The screen, opened from the matrix, once its lists are read.
fn shown_from(pair: (usize, usize)) -> Model {
    let mut model = model(Screen::MATRIX);
    model.look_at(pair.0, pair.1);
    let mut effects = super::update::show(&mut model);
    let now = model.now;
    apply(&mut model, answer::<ReadLists>(&mut effects, lists()), now);
    model
}

fn shown() -> Model {
    let mut model = shown_from((0, 0));
    model.lists_mut().choose(0);
    model
}

#[test]
fn two_documents_are_chosen_and_their_battle_is_opened() {
    let mut model = shown();
    assert!(!offers(&model, Command::Open));
    update(&mut model, Command::Open);
    assert_eq!(model.screen(), Screen::LISTS);
    let said = model.toast.as_ref().map(|toast| toast.text.clone());
    assert!(said.unwrap().starts_with("choose two documents"));
    update(&mut model, Command::Right);
    update(&mut model, MARK_DOCUMENT);
    assert_eq!(model.pair_on_screen(), None, "one document is no pair");
    for command in [Command::Right, Command::Right] {
        update(&mut model, command);
    }
    assert_eq!(model.pair_on_screen(), Some((3, 0)));
    let page = flat(&mut model, SIZES[2]);
    assert!(page.contains("A hostile␛[2J × B 5912283"), "{page}");
    assert!(page.contains("the list: B is better"), "{page}");
    assert!(offers(&model, Command::Open));
    update(&mut model, Command::Open);
    assert_eq!(
        (model.screen(), model.battle.a, model.battle.b),
        (Screen::BATTLE, 3, 0)
    );
}

#[test]
fn the_mark_is_removed_by_its_own_key_and_with_the_list() {
    let mut model = shown();
    update(&mut model, MARK_DOCUMENT);
    update(&mut model, MARK_DOCUMENT);
    update(&mut model, Command::Right);
    assert_eq!(model.pair_on_screen(), None);
    update(&mut model, MARK_DOCUMENT);
    update(&mut model, Command::Left);
    assert_eq!(model.pair_on_screen(), Some((3, 1)));
    let effects = update(&mut model, Command::Down);
    assert_eq!(effects, [], "all texts are loaded");
    assert_eq!(model.pair_on_screen(), None);
    // A document that is not in the pool has no battle.
    update(&mut model, MARK_DOCUMENT);
    update(&mut model, Command::Right);
    update(&mut model, Command::Right);
    update(&mut model, Command::Right);
    assert_eq!((model.lists().column, model.pair_on_screen()), (2, None));
    let page = flat(&mut model, SIZES[1]);
    for words in [
        "not in the pool of this query",
        "list 2: does not count: names document 3 twice␛[2J",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[test]
fn it_opens_at_a_list_with_the_documents_that_one_comes_from() {
    let model = shown_from((4, 2));
    assert_eq!(
        (model.lists().cursor(), model.pair_on_screen()),
        (0, Some((4, 2)))
    );
    let model = shown_from((5, 4));
    assert_eq!(
        (model.lists().cursor(), model.pair_on_screen()),
        (2, Some((5, 4)))
    );
    let model = shown_from((5, 5));
    assert_eq!((model.lists().cursor(), model.lists().column), (1, 1));
    let model = shown_from((5, 1));
    assert_eq!((model.lists().cursor(), model.pair_on_screen()), (0, None));
    let said = model.toast.as_ref().map(|toast| toast.text.as_str());
    assert_eq!(
        said,
        Some("no list call shows what you came from; this is the first one")
    );
}

#[test]
fn a_later_reading_keeps_the_cursor_on_its_list() {
    let mut model = shown();
    update(&mut model, Command::Down);
    update(&mut model, Command::Right);
    let mut more = lists();
    more.insert(0, list(9, &known(&[0, 1, 2]), ListOutcome::Outstanding));
    found(&mut model, QUERY, Ok(more));
    assert_eq!((model.lists().cursor(), model.lists().column), (2, 1));
    found(&mut model, QUERY, Ok(Vec::new()));
    assert!(flat(&mut model, SIZES[0]).contains("overrule lists ask --calls 60 --dry-run"));
    found(&mut model, QUERY, Err("disk\u{1b}[2J I/O".to_owned()));
    assert!(flat(&mut model, SIZES[0]).contains("disk␛[2J I/O"));
    assert!(!offers(&model, MARK_DOCUMENT));
    found(&mut model, QueryKey(8), Ok(lists()));
    assert!(flat(&mut model, SIZES[0]).contains("reading the list calls"));
}

#[test]
fn a_list_without_a_reply_says_how_to_get_one() {
    for (outcome, state, remedy) in [
        (
            ListOutcome::Outstanding,
            "outstanding",
            "overrule lists ask",
        ),
        (ListOutcome::InBatch, "in a batch", "overrule batch fetch"),
    ] {
        let mut model = shown();
        found(
            &mut model,
            QUERY,
            Ok(vec![list(9, &known(&[0, 1, 2]), outcome)]),
        );
        let page = flat(&mut model, SIZES[1]);
        assert!(page.contains(state) && page.contains(remedy), "{page}");
    }
}

#[test]
fn texts_that_are_not_loaded_are_read_for_the_whole_list() {
    let mut model = shown();
    let open = model.open.as_mut().unwrap();
    open.texts.retain(|document, _| *document == 4);
    let effects: Vec<Effect> = update(&mut model, Command::Last);
    let Some(ReadTexts { documents, .. }) = only(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(documents, &[5, 2, 3]);
    assert!(flat(&mut model, SIZES[1]).contains("loading the text …"));
}

#[test]
fn each_pane_moves_on_its_own() {
    let mut model = shown();
    let mut all = lists();
    let reply = all[0].call.reply.as_mut().unwrap();
    reply.raw = Some("line\n".repeat(60));
    found(&mut model, QUERY, Ok(all));
    drawn(&mut model, ColorDepth::None, (80, 16));
    update(&mut model, Command::NextPane);
    assert_eq!(model.lists().focus, Focus::Texts);
    update(&mut model, Command::Right);
    update(&mut model, Command::Right);
    update(&mut model, Command::Right);
    drawn(&mut model, ColorDepth::None, (80, 16));
    update(&mut model, Command::Last);
    assert!(model.lists().scroll(3).is_some_and(|line| line > 0));
    update(&mut model, Command::NextPane);
    let page = flat(&mut model, (80, 16));
    assert!(page.contains("more lines"), "{page}");
    update(&mut model, Command::Last);
    assert!(model.lists().reply_scroll > 40);
    assert_eq!(model.lists().cursor(), 0);
    super::update::scroll_pane(&mut model, 0, Command::Down);
    assert_eq!((model.lists().cursor(), model.lists().reply_scroll), (1, 0));
    update(&mut model, Command::PreviousPane);
    update(&mut model, Command::PreviousPane);
    assert_eq!(model.lists().focus, Focus::Lists);
}

#[test]
fn an_answer_is_hidden_until_a_pair_of_it_is_decided_if_battles_are_blind() {
    let mut model = shown();
    for words in ["ranked 1st", "4 > 1 > 5 > 2 > 3", "ranking", "zELO"] {
        assert!(flat(&mut model, SIZES[2]).contains(words), "{words}");
    }
    model.options.judging.battle_blind = true;
    update(&mut model, MARK_DOCUMENT);
    update(&mut model, Command::Right);
    let page = flat(&mut model, SIZES[2]);
    for words in ["ranked", "4 > 1", "\"ranking\"", "zELO", "is better"] {
        assert!(!page.contains(words), "{words}: {page}");
    }
    assert!(page.contains("Hidden until you have decided"), "{page}");
    let table = super::copy::table(&model);
    assert_eq!(table.rows.len(), 5);
    assert!(table.rows.iter().all(|row| row[5].is_empty()), "{table:?}");
    let open = model.open.as_mut().unwrap();
    open.people.give(Verdict {
        uid: "own".to_owned(),
        a: 2,
        b: 4,
        decision: Decision::A,
        note: None,
        annotator: "ann".to_owned(),
        created_ms: 2,
    });
    assert!(flat(&mut model, SIZES[2]).contains("ranked 1st"));
    model.open.as_mut().unwrap().people = Default::default();
    update(&mut model, Command::Open);
    assert_eq!(model.screen(), Screen::REVIEW);
}

#[test]
fn texts_of_strangers_change_nothing_on_the_terminal_and_no_size_breaks_it() {
    for size in TINY.into_iter().chain(SIZES) {
        let mut model = shown();
        for _ in 0..3 {
            let page = drawn(&mut model, ColorDepth::None, size);
            let hazard = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!page.contains(hazard), "{page}");
            update(&mut model, Command::NextPane);
            update(&mut model, Command::Last);
            update(&mut model, MARK_DOCUMENT);
            update(&mut model, Command::Right);
            super::update::scroll_pane(&mut model, 0, Command::Down);
        }
    }
}

#[test]
fn documents_that_do_not_fit_are_announced() {
    let mut model = shown();
    let page = flat(&mut model, SIZES[0]);
    assert!(page.contains("1 to 3 of 5"), "{page}");
    for _ in 0..4 {
        update(&mut model, Command::Right);
    }
    let page = flat(&mut model, SIZES[0]);
    assert!(
        page.contains("3 to 5 of 5") && page.contains("5 ranked 3rd"),
        "{page}"
    );
    for size in [SIZES[1], SIZES[2]] {
        let page = flat(&mut model, size);
        assert!(page.contains("documents in the order shown ─"), "{page}");
    }
    assert_eq!(SHOW_LISTS.name(), "show-lists");
}
