use super::update;
use crate::app::log::rows::LogRow;
use crate::app::settings::ProjectSettings;
use crate::domain::ranking::DocumentOrder;
use crate::domain::verdict::{FinalRule, OverrideMode};
use crate::tui::job::{answer, asked, fail, only};
use crate::tui::message::{Effect, Msg};
use crate::tui::model::{Model, Overlay, TuiOptions};
use crate::tui::screens::Screen;
use crate::tui::screens::additions::PutValues;
use crate::tui::screens::testing::model;
use crate::tui::testing::key;
use crate::tui::theme::Ramp;
use crate::tui::update::requests::pages::{FoundGuideline, ReadGuideline, ReadLog};
use crate::tui::update::requests::settings::{
    ReadSettings, Remember, StoreGuideline, StoreSettings,
};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

fn press(model: &mut Model, codes: &[KeyCode]) -> Vec<Effect> {
    let now = model.now;
    let mut effects = Vec::new();
    for code in codes {
        effects.extend(update(model, Msg::Key(key(*code)), now));
    }
    effects
}

fn project() -> ProjectSettings {
    ProjectSettings {
        ranking: Default::default(),
        rule: FinalRule::Latest,
        guideline: None,
        domain_note: None,
        language_note: None,
    }
}

/// A list of queries with the settings open.
fn opened() -> Model {
    let mut model = model(Screen::QUERIES);
    let mut asked = press(&mut model, &[KeyCode::Char(',')]);
    assert_eq!(only(&asked), Some(&ReadSettings));
    let now = model.now;
    let settings = (project(), Vec::<PutValues>::new());
    update(
        &mut model,
        answer::<ReadSettings>(&mut asked, settings),
        now,
    );
    model
}

#[test]
fn colors_follow_while_they_are_chosen_and_come_back_when_given_up() {
    let mut model = opened();
    let before = model.ramp;
    press(&mut model, &[KeyCode::Right]);
    assert_ne!(model.ramp, before);
    assert!(press(&mut model, &[KeyCode::Esc]).is_empty());
    assert_eq!(model.ramp, before);
    assert!(model.overlays.is_empty());
}

#[test]
fn what_is_kept_is_remembered_and_the_projects_part_stored() {
    use KeyCode::{Down, Enter, Right, Up};
    let mut model = opened();
    model.matrix.order = DocumentOrder::Hybrid;
    let chosen = [
        Right, Down, Down, Right, Down, Right, Down, Down, Right, Enter,
    ];
    let effects = press(&mut model, &chosen);
    assert_eq!(model.ramp, Ramp::default().next());
    assert!(!model.options.judging.queue_blind);
    let kept = asked(&effects);
    let Remember(kept) = kept.unwrap();
    assert_eq!(
        (kept.ramp, kept.queue_blind),
        (Some(model.ramp), Some(false))
    );
    assert_eq!(kept.battle_blind, None, "as configured");
    let after = ProjectSettings {
        rule: FinalRule::Majority,
        ..project()
    };
    let before = project();
    let stored = StoreSettings { before, after };
    assert_eq!(asked(&effects), Some(&stored), "{effects:?}");

    // Another session starts where this one ended.
    let options = TuiOptions {
        remembered: kept.clone(),
        ..TuiOptions::default()
    };
    let next = Model::new(options, Ramp::default(), (80, 24), model.now);
    assert_eq!(next.ramp, model.ramp);
    assert_eq!(next.matrix.order, model.matrix.order);
    assert!(!next.options.judging.queue_blind);

    let mut model = opened();
    let effects = press(&mut model, &[Up, Enter]);
    assert!(
        asked::<StoreSettings>(&effects).is_none(),
        "nothing of the project has changed"
    );
    assert_eq!(project().ranking.override_mode, OverrideMode::Alongside);
}

#[test]
fn the_list_and_the_matrix_go_back_to_where_the_person_was() {
    let mut model = model(Screen::MATRIX);
    model.look_at(3, 1);
    let effects = super::settings::remember(&mut model);
    let Some(Remember(kept)) = only(&effects) else {
        panic!("{effects:?}");
    };
    let id = |document: usize| {
        model.open.as_ref().unwrap().documents[document]
            .id
            .to_string()
    };
    assert_eq!(kept.pair, Some((id(3), id(1))));
    assert!(kept.query.is_some());
    assert!(super::settings::remember(&mut model).is_empty(), "once");
}

#[test]
fn the_top_of_the_project_is_chosen_among_usual_ones_and_stored() {
    use KeyCode::{Down, Enter, Left};
    let mut model = opened();
    let effects = press(
        &mut model,
        &[Down, Down, Down, Down, Down, Down, Down, Left, Enter],
    );
    let mut after = project();
    after.ranking.top = 5;
    let before = project();
    let stored = StoreSettings { before, after };
    assert_eq!(asked(&effects), Some(&stored), "{effects:?}");
}

#[test]
fn a_page_that_comes_late_covers_nothing_that_was_opened_since() {
    let mut model = model(Screen::QUERIES);
    let now = model.now;
    let tell_log = |model: &mut Model| {
        let mut log = model.read_log();
        update(
            model,
            answer::<ReadLog>(&mut log, Vec::<LogRow>::new()),
            now,
        );
    };
    tell_log(&mut model);
    tell_log(&mut model);
    assert_eq!(model.overlays.len(), 1);
    press(&mut model, &[KeyCode::Esc, KeyCode::Char('/')]);
    let typed = format!("{:?}", model.overlays);
    tell_log(&mut model);
    let mut settings = model.read_settings();
    let found = (project(), Vec::<PutValues>::new());
    update(
        &mut model,
        answer::<ReadSettings>(&mut settings, found),
        now,
    );
    let mut guideline = model.read_guideline();
    let found = FoundGuideline {
        text: Some("text".to_owned()),
        is_read_only: false,
    };
    let guideline = answer::<ReadGuideline>(&mut guideline, found);
    update(&mut model, guideline, now);
    assert_eq!(format!("{:?}", model.overlays), typed);
}

#[test]
fn a_guideline_that_cannot_be_stored_is_kept_or_not_opened() {
    let mut model = model(Screen::REVIEW);
    let now = model.now;
    let open = |model: &mut Model, is_read_only| {
        let mut asked = model.edit_guideline();
        let found = FoundGuideline {
            text: Some("Newer is better.".to_owned()),
            is_read_only,
        };
        update(model, answer::<ReadGuideline>(&mut asked, found), now);
    };
    open(&mut model, true);
    assert!(model.overlays.is_empty());
    let said = |model: &Model| model.toast.as_ref().unwrap().text.clone();
    assert!(said(&model).starts_with("The project is read-only"));
    open(&mut model, false);
    press(&mut model, &[KeyCode::Char('!')]);
    let store = KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL);
    let mut stored = update(&mut model, Msg::Key(store), now);
    update(
        &mut model,
        fail::<StoreGuideline>(&mut stored, "disk full"),
        now,
    );
    assert!(said(&model).contains("disk full"));
    let Some(Overlay::Guideline(editor)) = model.overlays.last() else {
        panic!("the editor is open");
    };
    assert_eq!(editor.text(), "!Newer is better.");
    assert!(editor.is_changed());
}
