use super::commands::on_command;
use super::leaving::keep_all;
use super::results::{not_saved, undone};
use super::update;
use super::verdict_state::use_of;
use crate::app::review::undo::{Undo, UndoLimit};
use crate::domain::battle::Pair;
use crate::domain::corpus::QueryId;
use crate::domain::verdict::{Decision, Verdict};
use crate::store::corpus::{QueryInfo, QueryKey};
use crate::store::verdicts::{NewVerdict, StoredVerdict};
use crate::tui::job::{answer, asked, every, fail, only, tell_that};
use crate::tui::key_gate::Use;
use crate::tui::keymap::Command;
use crate::tui::message::{Effect, Msg};
use crate::tui::model::remembered::Remembered;
use crate::tui::model::{ConfirmFor, Model, Overlay};
use crate::tui::screens::Screen;
use crate::tui::screens::testing::model;
use crate::tui::testing::typed;
use crate::tui::update::requests::pages::{FoundGuideline, ReadGuideline};
use crate::tui::update::requests::queries::ReadQuery;
use crate::tui::update::requests::settings::{Remember, StoreGuideline};
use crate::tui::update::requests::verdicts::{RedoVerdict, SaveDraft, SaveVerdict, UndoVerdict};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::time::Duration;

fn tell(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let now = model.now;
    update(model, msg, now)
}

fn write(model: &mut Model, words: &str) {
    for key in typed(words) {
        tell(model, Msg::Key(key));
    }
}

fn pressed(key: char) -> KeyEvent {
    KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE)
}

fn ctrl_c(model: &mut Model) -> Vec<Effect> {
    let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    tell(model, Msg::Key(key))
}

fn saved(effects: &[Effect]) -> Vec<&NewVerdict> {
    let found = every(effects).into_iter();
    found.map(|SaveVerdict(new)| new).collect()
}

fn stored(effects: &mut Vec<Effect>) -> Msg {
    answer::<SaveVerdict>(effects, None::<Decision>)
}

fn asks_for_the_query(effects: &[Effect]) -> bool {
    asked::<ReadQuery>(effects).is_some()
}

/// A pair that was chosen on the document screen, under blind review.
fn reviewing() -> Model {
    let mut model = model(Screen::DOCUMENT);
    model.options.judging.battle_blind = true;
    model.open_battle(0, 1);
    assert_eq!(model.screen(), Screen::REVIEW);
    model
}

fn own_decision(model: &Model) -> Option<Decision> {
    let open = model.open.as_ref()?;
    let verdict = open.people.by("ann", model.battle.pair()?)?;
    Some(verdict.seen_from(model.battle.a))
}

#[test]
fn a_verdict_on_its_way_to_the_disk_is_not_replaced_by_an_older_answer() {
    let mut model = reviewing();
    let mut saving = on_command(&mut model, Command::JudgeA);
    let mut asked = tell(&mut model, stored(&mut saving));
    assert!(asks_for_the_query(&asked));
    on_command(&mut model, Command::JudgeA);
    on_command(&mut model, Command::CauseJudge);
    assert_eq!(saved(&on_command(&mut model, Command::Back)).len(), 1);
    assert_eq!(model.screen(), Screen::DOCUMENT);
    let older = super::super::screens::testing::model(Screen::DOCUMENT).open;
    tell(&mut model, answer::<ReadQuery>(&mut asked, older.unwrap()));
    assert_eq!(own_decision(&model), Some(Decision::A));
    assert!(!model.is_opening());
}

#[test]
fn the_query_is_read_again_when_the_last_verdict_is_on_disk() {
    let mut model = model(Screen::BATTLE);
    let mut one = on_command(&mut model, Command::JudgeA);
    let mut other = on_command(&mut model, Command::JudgeB);
    let first = tell(&mut model, stored(&mut one));
    assert!(!asks_for_the_query(&first), "{first:?}");
    assert_eq!(own_decision(&model), Some(Decision::B));
    let last = tell(&mut model, stored(&mut other));
    assert!(asks_for_the_query(&last), "{last:?}");
}

#[test]
fn a_verdict_that_was_not_stored_is_stored_on_the_way_back_to_the_document() {
    let mut model = reviewing();
    let mut saving = on_command(&mut model, Command::JudgeB);
    tell(
        &mut model,
        fail::<SaveVerdict>(&mut saving, "the disk is full"),
    );
    let effects = on_command(&mut model, Command::Back);
    assert_eq!(model.screen(), Screen::DOCUMENT);
    let kept = saved(&effects);
    assert_eq!(kept.len(), 1, "{effects:?}");
    assert_eq!(kept[0].decision, Decision::B);
}

#[test]
fn the_reason_of_a_verdict_that_was_not_stored_goes_with_the_next_one() {
    let mut model = model(Screen::BATTLE);
    on_command(&mut model, Command::WriteNote);
    write(&mut model, "names the dose");
    tell(&mut model, Msg::Key(KeyEvent::from(KeyCode::Enter)));
    model.now += Duration::from_secs(1);
    // Before the verdict, and after it.
    for commands in [
        &[Command::JudgeB][..],
        &[Command::JudgeB, Command::WriteNote],
    ] {
        let mut effects = Vec::new();
        for command in commands {
            effects = on_command(&mut model, *command);
        }
        if commands.len() > 1 {
            write(&mut model, " of it");
            effects = tell(&mut model, Msg::Key(KeyEvent::from(KeyCode::Enter)));
            model.now += Duration::from_secs(1);
        }
        let note = saved(&effects)[0].note.clone();
        assert!(note.is_some(), "{effects:?}");
        assert_eq!(model.draft(), None);
        let failed = fail::<SaveVerdict>(&mut effects, "the disk is full");
        let effects = tell(&mut model, failed);
        assert_eq!(model.draft(), note.as_deref());
        let subject = model.subject().unwrap();
        assert_eq!(asked(&effects), Some(&SaveDraft(subject, note)));
    }
    let effects = on_command(&mut model, Command::JudgeA);
    assert_eq!(
        saved(&effects)[0].note.as_deref(),
        Some("names the dose of it")
    );
}

#[test]
fn a_verdict_of_an_earlier_item_that_was_not_stored_leaves_the_next_one_alone() {
    let mut model = reviewing();
    let other = NewVerdict {
        note: Some("too old".to_owned()),
        ..NewVerdict::open(QueryKey(7), 1, 2, Decision::A, "ann")
    };
    on_command(&mut model, Command::JudgeB);
    let subject = other.subject().unwrap();
    tell(
        &mut model,
        tell_that(move |model| not_saved(model, &other, "the disk is full")),
    );
    assert_eq!(model.drafts.get(&subject).unwrap(), "too old");
    assert!(!model.queue.current.as_ref().unwrap().unsaved);
}

#[test]
fn a_guideline_that_is_being_edited_when_the_workbench_ends_is_edited_on() {
    let mut model = model(Screen::REVIEW);
    let open = |model: &mut Model| {
        let mut asked = model.edit_guideline();
        let found = FoundGuideline {
            text: Some("Newer is better.".to_owned()),
            is_read_only: false,
        };
        tell(model, answer::<ReadGuideline>(&mut asked, found));
    };
    let text = |model: &Model| match model.overlays.last() {
        Some(Overlay::Guideline(editor)) => (editor.text(), editor.is_changed()),
        overlay => panic!("no editor: {overlay:?}"),
    };
    open(&mut model);
    write(&mut model, "No: ");
    let effects = keep_all(&mut model);
    let Some(Remember(kept)) = asked(&effects) else {
        panic!("{effects:?}");
    };
    let words = "No: Newer is better.".to_owned();
    assert_eq!(kept.unsaved.values().collect::<Vec<_>>(), [&words]);
    let again = serde_json::to_string(kept).unwrap();
    // The next session.
    let mut model = super::super::screens::testing::model(Screen::REVIEW);
    let remembered: Remembered = serde_json::from_str(&again).unwrap();
    model.unsaved = remembered.unsaved;
    open(&mut model);
    assert_eq!(text(&model), (words.clone(), true));
    let store = KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL);
    let mut effects = tell(&mut model, Msg::Key(store));
    tell(&mut model, answer::<StoreGuideline>(&mut effects, ()));
    assert!(model.overlays.is_empty() && model.unsaved.is_empty());
    // Changes that the person gives up are not kept.
    open(&mut model);
    assert!(!text(&model).1);
    write(&mut model, "x");
    ctrl_c(&mut model);
    tell(&mut model, Msg::Key(pressed('y')));
    assert!(model.unsaved.is_empty());
}

#[test]
fn what_is_older_than_the_session_is_named_before_undo_takes_it_back() {
    let mut model = model(Screen::BATTLE);
    model.options.opened_ms = 9;
    let limit = |named: Option<&str>| {
        let named = named.map(str::to_owned);
        let since_ms = 9;
        UndoVerdict(UndoLimit { since_ms, named })
    };
    let press = |model: &mut Model, key: char| tell(model, Msg::Key(pressed(key)));
    let name = |model: &mut Model| {
        let words = "query q3: x is better".to_owned();
        let uid = "old".to_owned();
        tell(
            model,
            tell_that(|model| undone(model, Undo::Beyond { uid, words })),
        )
    };
    assert_eq!(only(&press(&mut model, 'u')), Some(&limit(None)));
    assert_eq!(name(&mut model), []);
    let line = model.toast.as_ref().unwrap();
    assert!(
        line.text
            .contains("press u again to undo it: query q3: x is better")
    );
    assert_eq!(only(&press(&mut model, 'u')), Some(&limit(Some("old"))));
    name(&mut model);
    press(&mut model, 'j');
    assert_eq!(
        only(&press(&mut model, 'u')),
        Some(&limit(None)),
        "the line has gone"
    );
    name(&mut model);
    model.now += Duration::from_secs(60);
    tell(&mut model, Msg::Tick);
    assert_eq!(
        only(&press(&mut model, 'u')),
        Some(&limit(None)),
        "the line has gone"
    );
}

#[test]
fn a_line_that_is_refused_stays_open_and_says_why() {
    let mut model = model(Screen::RUN);
    model.run.control.budget_usd = Some(2.5);
    let press =
        |model: &mut Model, code| tell(model, Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    let text = |model: &Model| match model.overlays.last() {
        Some(Overlay::Prompt(prompt, _)) => Some(prompt.text().to_owned()),
        _ => None,
    };
    let refused = |model: &Model| match model.overlays.last() {
        Some(Overlay::Prompt(prompt, _)) => prompt.refused().map(str::to_owned),
        _ => None,
    };
    press(&mut model, KeyCode::Char('$'));
    assert_eq!(text(&model).as_deref(), Some("2.5"), "the present budget");
    write(&mut model, "x");
    assert_eq!(press(&mut model, KeyCode::Enter), []);
    assert_eq!(text(&model).as_deref(), Some("2.5x"));
    assert!(refused(&model).unwrap().contains("not a number of dollars"));
    press(&mut model, KeyCode::Backspace);
    assert_eq!(refused(&model), None);
    write(&mut model, "0");
    let effects = press(&mut model, KeyCode::Enter);
    assert_eq!(effects, [Effect::KeepBudget(Some(2.5))]);
    assert_eq!(text(&model), None);

    let mut model = self::model(Screen::MATRIX);
    press(&mut model, KeyCode::Char('/'));
    write(&mut model, "zzzz");
    press(&mut model, KeyCode::Enter);
    assert_eq!(text(&model).as_deref(), Some("zzzz"));
    assert!(refused(&model).unwrap().contains("no document has this"));
    press(&mut model, KeyCode::Esc);
    assert_eq!(text(&model), None);
}

#[test]
fn undo_returns_to_the_pair_whose_verdict_it_took_back() {
    let mut model = reviewing();
    on_command(&mut model, Command::Sure);
    let taken_back = |a, b| {
        let info = QueryInfo {
            key: QueryKey(7),
            id: QueryId::new("scifact-641"),
            text: String::new(),
            documents: 6,
        };
        let verdict = Verdict {
            uid: "v".to_owned(),
            a,
            b,
            decision: Decision::A,
            note: None,
            annotator: "ann".to_owned(),
            created_ms: 1,
        };
        let stored = StoredVerdict {
            query: info.key,
            verdict,
            blind: true,
            active_ms: None,
            confidence: None,
            cause: None,
            policy: None,
            role: None,
            inclusion: None,
            revealed_ms: None,
            shown: None,
            replaces: None,
            order_ms: 0,
            guideline: None,
        };
        let undo = Undo::TakenBack((stored, info, "undone".to_owned()));
        tell_that(|model| undone(model, undo))
    };
    tell(&mut model, taken_back(2, 3));
    let current = model.queue.current.clone().unwrap();
    assert!(current.is_about(QueryKey(7), Pair::new(2, 3).unwrap()));
    on_command(&mut model, Command::JudgeA);
    tell(&mut model, taken_back(1, 0));
    let current = model.queue.current.clone().unwrap();
    assert!(
        current.is_undecided() && !current.is_hidden() && !current.queued && !model.battle.blind
    );
    assert!(current.is_about(QueryKey(7), Pair::new(0, 1).unwrap()));
    let effects = on_command(&mut model, Command::Redo);
    assert_eq!(only(&effects), Some(&RedoVerdict("v".to_owned())));
    on_command(&mut model, Command::Back);
    assert_eq!(model.screen(), Screen::DOCUMENT);
}

#[test]
fn a_look_at_the_run_lifts_no_veil() {
    let mut model = reviewing();
    on_command(&mut model, Command::ShowRun);
    on_command(&mut model, Command::Back);
    assert_eq!(model.screen(), Screen::REVIEW);
    assert!(model.battle.blind);
}

#[test]
fn quitting_during_a_run_keeps_the_reason_that_is_being_typed() {
    for screen in [Screen::BATTLE, Screen::REVIEW] {
        let mut model = match screen {
            Screen::BATTLE => model(Screen::BATTLE),
            _ => reviewing(),
        };
        model.run.running = true;
        on_command(&mut model, Command::JudgeA);
        on_command(&mut model, Command::WriteNote);
        write(&mut model, "names the dose");
        assert_eq!(ctrl_c(&mut model), []);
        assert_eq!(ctrl_c(&mut model), []);
        let asked = |overlay: &&Overlay| matches!(overlay, Overlay::Confirm(_, ConfirmFor::Quit));
        assert_eq!(model.overlays.iter().filter(asked).count(), 1);
        write(&mut model, "n");
        write(&mut model, " twice");
        ctrl_c(&mut model);
        let effects = tell(&mut model, Msg::Key(KeyEvent::from(KeyCode::Char('y'))));
        let kept = saved(&effects);
        assert_eq!(kept.len(), 1, "{screen:?} {effects:?}");
        assert_eq!(kept[0].note.as_deref(), Some("names the dose twice"));
        assert_eq!(effects.last(), Some(&Effect::Quit));
        assert_eq!(keep_all(&mut model), []);
    }
}

#[test]
fn a_terminal_that_is_lost_keeps_what_was_changed() {
    let mut model = reviewing();
    model.run.running = true;
    on_command(&mut model, Command::JudgeA);
    on_command(&mut model, Command::JudgeB);
    on_command(&mut model, Command::ShowRun);
    let effects = keep_all(&mut model);
    assert_eq!(saved(&effects)[0].decision, Decision::B);
    assert_eq!(keep_all(&mut model), []);
}

/// Every overlay, opened as a person opens it.
fn overlays() -> Vec<Model> {
    let open = |screen, command| {
        let mut model = model(screen);
        on_command(&mut model, command);
        assert_eq!(model.overlays.len(), 1, "{command:?}");
        model
    };
    let mut running = model(Screen::QUERIES);
    running.run.running = true;
    on_command(&mut running, Command::Quit);
    vec![
        running,
        open(Screen::MATRIX, Command::Quit),
        open(Screen::MATRIX, Command::Help),
        open(Screen::MATRIX, Command::Palette),
        open(Screen::MATRIX, Command::Filter),
        open(Screen::BATTLE, Command::WriteNote),
        open(Screen::QUERIES, Command::Export),
        open(Screen::QUERIES, Command::Import),
        open(Screen::RUN, Command::SetBudget),
    ]
}

#[test]
fn a_chord_with_alt_means_esc_where_something_lies_over_the_screen() {
    let keys = [
        KeyCode::Char('y'),
        KeyCode::Char('Y'),
        KeyCode::Char('u'),
        KeyCode::Char('q'),
        KeyCode::Char('m'),
        KeyCode::Enter,
        KeyCode::Tab,
    ];
    let modifiers = [
        KeyModifiers::ALT,
        KeyModifiers::ALT | KeyModifiers::SHIFT,
        KeyModifiers::ALT | KeyModifiers::CONTROL,
    ];
    for key in keys {
        for modifiers in modifiers {
            for (by_alt, by_esc) in overlays().iter_mut().zip(&mut overlays()) {
                let chord = KeyEvent::new(key, modifiers);
                let effects = tell(by_alt, Msg::Key(chord));
                let escaped = tell(by_esc, Msg::Key(KeyCode::Esc.into()));
                assert_eq!(format!("{effects:?}"), format!("{escaped:?}"), "{chord:?}");
                assert!(by_alt.overlays.is_empty() && by_esc.overlays.is_empty());
                assert_eq!(by_alt.screen(), by_esc.screen());
            }
        }
    }
}

#[test]
fn chords_with_alt_that_edit_a_line_still_edit_it() {
    let mut model = model(Screen::BATTLE);
    on_command(&mut model, Command::WriteNote);
    write(&mut model, "names the");
    let chord = KeyEvent::new(KeyCode::Backspace, KeyModifiers::ALT);
    tell(&mut model, Msg::Key(chord));
    let Some(Overlay::Prompt(prompt, _)) = model.overlays.last() else {
        panic!("the prompt is closed");
    };
    assert_eq!(prompt.text(), "names ");
}

#[test]
fn chords_with_other_modifiers_do_nothing_in_a_dialog() {
    for modifiers in [KeyModifiers::SUPER, KeyModifiers::META, KeyModifiers::HYPER] {
        let mut model = model(Screen::MATRIX);
        on_command(&mut model, Command::Quit);
        let chord = KeyEvent::new(KeyCode::Char('y'), modifiers);
        assert!(tell(&mut model, Msg::Key(chord)).is_empty());
        assert_eq!(model.overlays.len(), 1);
    }
}

#[test]
fn pasted_text_confirms_no_dialog_and_esc_acts_right_after_a_line() {
    let mut model = model(Screen::JUDGES);
    tell(&mut model, Msg::Key(pressed('q')));
    assert!(matches!(model.overlays.last(), Some(Overlay::Confirm(..))));
    assert_eq!(use_of(&model, pressed('y')), Use::AmongVerdicts);
    model.typed = Some(model.now);
    tell(&mut model, Msg::Key(pressed('y')));
    assert_eq!(model.overlays.len(), 1, "text that follows a line");
    tell(
        &mut model,
        Msg::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE)),
    );
    assert!(model.overlays.is_empty());
}

#[test]
fn what_follows_a_line_is_ignored_until_there_is_a_pause() {
    let mut model = reviewing();
    on_command(&mut model, Command::JudgeA);
    on_command(&mut model, Command::WriteNote);
    let mut now = model.now;
    let mut send = |model: &mut Model, key: KeyCode, gap: u64| {
        now += Duration::from_millis(gap);
        update(model, Msg::Key(key.into()), now)
    };
    for c in "names the trial".chars() {
        send(&mut model, KeyCode::Char(c), 1);
    }
    send(&mut model, KeyCode::Enter, 1);
    assert!(model.overlays.is_empty());
    // The rest of the paste, also where it comes in pieces.
    for (key, gap) in [('u', 0), ('q', 1), ('b', 149), ('Z', 100), ('u', 149)] {
        let effects = send(&mut model, KeyCode::Char(key), gap);
        assert!(effects.is_empty(), "{key}: {effects:?}");
        assert!(model.overlays.is_empty());
        assert_eq!(model.screen(), Screen::REVIEW);
    }
    assert!(model.toast.is_some());
    send(&mut model, KeyCode::Char('q'), 150);
    assert_eq!(model.overlays.len(), 1);
}
