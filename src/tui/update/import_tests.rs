use super::update;
use crate::app::import::source::SourcePreview;
use crate::app::project::Sample;
use crate::store::corpus::{QueryInfo, QueryKey};
use crate::store::summary_cache::QuerySummary;
use crate::tui::job::{answer, asked, fail, only, tell_that};
use crate::tui::message::{Effect, Msg};
use crate::tui::model::votes::CurrentVotes;
use crate::tui::model::{Model, Overlay};
use crate::tui::screens::Screen;
use crate::tui::screens::testing::model;
use crate::tui::testing::{key, typed};
use crate::tui::update::requests::files::{CheckFile, Import, ListFolder, MakeProject};
use crate::tui::update::requests::queries::ListQueries;
use crossterm::event::KeyCode;
use std::time::Duration;

fn tell(model: &mut Model, msg: Msg) -> Vec<Effect> {
    // Time for a line that was accepted before.
    let now = model.now + Duration::from_millis(200);
    update(model, msg, now)
}

fn press(model: &mut Model, code: KeyCode) -> Vec<Effect> {
    tell(model, Msg::Key(key(code)))
}

/// A list of queries whose dialog has read `in.jsonl`.
fn checked() -> Model {
    read_in(model(Screen::QUERIES), false)
}

/// The model after its dialog has read `in.jsonl`.
fn read_in(mut model: Model, is_project: bool) -> Model {
    press(&mut model, KeyCode::Char('i'));
    for key in typed("in.jsonl") {
        tell(&mut model, Msg::Key(key));
    }
    let mut asked = press(&mut model, KeyCode::Enter);
    let Some(CheckFile(path, _)) = only(&asked) else {
        panic!("{asked:?}");
    };
    assert_eq!(path, "in.jsonl");
    let preview = SourcePreview {
        holds: vec!["It holds a dataset: 1 query, 2 documents.".to_owned()],
        act: "imports it into",
        is_project,
    };
    tell(&mut model, answer::<CheckFile>(&mut asked, preview));
    model
}

#[test]
fn a_file_that_was_read_is_imported_and_the_list_asked_for_again() {
    let mut model = checked();
    let mut begun = press(&mut model, KeyCode::Enter);
    assert_eq!(only(&begun), Some(&Import("in.jsonl".to_owned())));
    assert!(model.overlays.is_empty());
    assert!(
        press(&mut model, KeyCode::Char('i')).is_empty(),
        "one at a time"
    );
    tell(
        &mut model,
        tell_that(|model| {
            super::import::progressed(model, Some(0.5));
            Vec::new()
        }),
    );
    let going = model.import.going.as_ref().and_then(|going| going.share);
    assert_eq!(going, Some(0.5));
    let after = tell(
        &mut model,
        answer::<Import>(&mut begun, vec!["in.jsonl: 1 query added".to_owned()]),
    );
    assert!(asked::<ListQueries>(&after).is_some());
    assert!(model.import.going.is_none());
    assert!(model.toast.is_some());
}

/// The model on the sample.
fn sample() -> Model {
    let mut model = model(Screen::QUERIES);
    model.options.sample = Some(Sample::Scifact);
    model.options.new_project = "overrule.db".to_owned();
    model
}

#[test]
fn on_the_sample_a_file_makes_a_project_of_its_own() {
    let mut model = read_in(sample(), false);
    assert_eq!(press(&mut model, KeyCode::Enter), []);
    let make = MakeProject {
        source: "in.jsonl".to_owned(),
        project: "overrule.db".to_owned(),
    };
    let mut making = press(&mut model, KeyCode::Enter);
    assert_eq!(only(&making), Some(&make));
    let wrong = fail::<MakeProject>(&mut making, "overrule.db: exists; choose another name");
    assert_eq!(tell(&mut model, wrong), []);
    assert!(model.next_project.is_none() && model.overlays.len() == 1);
    let mut making = vec![model.make_project("in.jsonl".to_owned(), "overrule.db".to_owned())];
    let made = answer::<MakeProject>(&mut making, "overrule.db".to_owned());
    let effects = tell(&mut model, made);
    assert_eq!(effects.last(), Some(&Effect::Quit));
    assert_eq!(model.next_project.as_deref(), Some("overrule.db"));
}

#[test]
fn on_the_sample_a_project_is_opened_and_nothing_is_merged() {
    let mut model = read_in(sample(), true);
    let effects = press(&mut model, KeyCode::Enter);
    assert_eq!(effects.last(), Some(&Effect::Quit));
    assert_eq!(model.next_project.as_deref(), Some("in.jsonl"));
}

#[test]
fn giving_up_imports_nothing() {
    let mut model = checked();
    assert!(press(&mut model, KeyCode::Esc).is_empty());
    assert!(press(&mut model, KeyCode::Esc).is_empty());
    assert!(model.overlays.is_empty());
    assert!(model.import.going.is_none());
}

#[test]
fn an_answer_to_an_earlier_question_is_dropped() {
    let mut model = model(Screen::QUERIES);
    let mut late = press(&mut model, KeyCode::Char('i'));
    for key in typed("folder/") {
        tell(&mut model, Msg::Key(key));
    }
    tell(&mut model, fail::<ListFolder>(&mut late, "folder: gone"));
    let Some(Overlay::Import(dialog)) = model.overlays.last() else {
        panic!("the dialog is open");
    };
    assert!(!format!("{dialog:?}").contains("gone"));
}

#[test]
fn an_import_of_another_program_is_shown_and_leaves_the_selection_alone() {
    let mut model = model(Screen::QUERIES);
    let row = |key| {
        let info = QueryInfo {
            key: QueryKey(key),
            ..model.open.as_ref().unwrap().info.clone()
        };
        (info, None::<QuerySummary>)
    };
    let mut rows = vec![row(11), row(12)];
    let added = row(10);
    let mut listing = vec![model.list()];
    let listed = answer::<ListQueries>(&mut listing, (rows.clone(), CurrentVotes::default()));
    tell(&mut model, listed);
    press(&mut model, KeyCode::Char('j'));
    let selected = |model: &Model| model.queries.selected().map(|(info, _)| info.key);
    assert_eq!(selected(&model), Some(QueryKey(12)));
    let mut listing = tell(&mut model, Msg::ChangedElsewhere);
    rows.insert(0, added);
    tell(
        &mut model,
        answer::<ListQueries>(&mut listing, (rows, CurrentVotes::default())),
    );
    assert_eq!(selected(&model), Some(QueryKey(12)));
}
