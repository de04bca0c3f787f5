use super::jobs::{LookAround, SaveJudges, TestJudge};
use crate::app::init::discovery::{Discovery, FoundServer, ServerAddress};
use crate::app::init::setup::{CandidatePrice, JudgeSetup};
use crate::app::judge_check::TestCall;
use crate::suites::screens::snapshot;
use crate::tui::job::{answer, asked};
use crate::tui::message::{Effect, Msg};
use crate::tui::model::{Model, Overlay};
use crate::tui::screens::Screen;
use crate::tui::screens::testing::{SIZES, TINY, drawn, flat, model};
use crate::tui::testing::key;
use crate::tui::theme::ColorDepth;
use crate::tui::update::update;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::time::Duration;

fn press(model: &mut Model, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for name in keys.split(' ') {
        let code = match name {
            "space" => KeyCode::Char(' '),
            "enter" => KeyCode::Enter,
            "esc" => KeyCode::Esc,
            "tab" => KeyCode::Tab,
            other => KeyCode::Char(other.chars().next().unwrap()),
        };
        let key = Msg::Key(KeyEvent::new(code, KeyModifiers::NONE));
        // Keys that follow a line at once would be dropped.
        let later = model.now + Duration::from_secs(1);
        effects = update(model, key, later);
    }
    effects
}

fn tell(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let now = model.now;
    update(model, msg, now)
}

/// A server with two models, one of which has a hostile name.
fn found() -> Discovery {
    let asked = ServerAddress {
        provider: "ollama".to_owned(),
        url: "http://127.0.0.1:11434".to_owned(),
        variable: None,
    };
    Discovery {
        servers: vec![FoundServer {
            provider: asked.provider.clone(),
            url: asked.url.clone(),
            models: vec!["qwen3:8b".to_owned(), "bad\u{202e}\u{9b}2J".to_owned()],
        }],
        asked: vec![asked],
        ..Discovery::default()
    }
}

/// The screen on a project without a file, after the search for judges.
fn opened() -> Model {
    let mut model = model(Screen::JUDGES);
    let mut effects = press(&mut model, "+");
    assert_eq!(model.screen(), Screen::JUDGE_SETUP);
    let setup = JudgeSetup::without_file(&found()).unwrap();
    tell(&mut model, answer::<LookAround>(&mut effects, setup));
    model
}

#[test]
fn judges_are_looked_for_in_a_job_and_shown_at_every_size() {
    let mut model = model(Screen::JUDGES);
    let mut effects = press(&mut model, "+");
    assert!(flat(&mut model, (80, 22)).contains("looking for keys"));
    let setup = JudgeSetup::without_file(&found()).unwrap();
    tell(&mut model, answer::<LookAround>(&mut effects, setup));
    for size in SIZES {
        let page = drawn(&mut model, ColorDepth::True, size);
        for words in [
            "1 server",
            "[ ] qwen3:8b",
            "http://127.0.0.1:11434",
            "+ another server or model",
        ] {
            assert!(page.contains(words), "{words:?} is not on:\n{page}");
        }
        assert!(!page.contains(['\u{202e}', '\u{9b}']), "{page:?}");
    }
    for size in TINY {
        drawn(&mut model, ColorDepth::None, size);
    }
}

#[test]
fn a_free_judge_is_tested_at_once_and_a_paid_one_after_a_yes() {
    let mut model = opened();
    model.judge_setup_mut().setup.as_mut().unwrap().candidates[0].price = CandidatePrice::Free;
    let mut effects = press(&mut model, "t");
    assert!(asked::<TestJudge>(&effects).is_some());
    // One call at a time.
    assert!(asked::<TestJudge>(&press(&mut model, "t")).is_none());
    let right = TestCall {
        ok: true,
        words: "right in 0.9 s: “Paris”".to_owned(),
    };
    tell(&mut model, answer::<TestJudge>(&mut effects, right));
    assert!(flat(&mut model, (120, 38)).contains("✓ right in 0.9 s: “Paris”"));
    model.judge_setup_mut().setup.as_mut().unwrap().candidates[0].price = CandidatePrice::Unknown;
    assert!(asked::<TestJudge>(&press(&mut model, "t")).is_none());
    assert!(matches!(model.overlays.last(), Some(Overlay::Confirm(..))));
    assert!(asked::<TestJudge>(&press(&mut model, "y")).is_some());
}

#[test]
fn an_answer_to_an_earlier_prompt_is_not_shown() {
    let mut model = opened();
    model.judge_setup_mut().setup.as_mut().unwrap().candidates[0].price = CandidatePrice::Free;
    let mut effects = press(&mut model, "t");
    press(&mut model, "tab");
    let wrong = TestCall::failed("names the wrong document");
    tell(&mut model, answer::<TestJudge>(&mut effects, wrong));
    assert!(!flat(&mut model, (120, 38)).contains("wrong document"));
    assert!(flat(&mut model, (120, 38)).contains("prompt: choice-2"));
}

#[test]
fn a_judge_is_chosen_named_and_saved_within_eight_keys() {
    let mut model = opened();
    press(&mut model, "space - +");
    assert!(drawn(&mut model, ColorDepth::None, (120, 38)).contains("[x] qwen3:8b"));
    press(&mut model, "enter");
    assert!(matches!(model.overlays.last(), Some(Overlay::Prompt(..))));
    press(&mut model, "2 enter");
    let effects = press(&mut model, "S");
    assert!(asked::<SaveJudges>(&effects).is_some());
    let text = model.judge_setup().setup.as_ref().unwrap().text().unwrap();
    assert!(text.contains("name = \"qwen3:8b2\"\nprovider = \"ollama\"\nmodel = \"qwen3:8b\""));
    // From the list of queries: J + Space t S.
    assert!("J + space t S".split(' ').count() <= 8);
}

#[test]
fn nothing_can_be_saved_unless_something_changes() {
    let mut model = opened();
    assert!(asked::<SaveJudges>(&press(&mut model, "S")).is_none());
    press(&mut model, "space space");
    assert!(asked::<SaveJudges>(&press(&mut model, "S")).is_none());
}

#[test]
fn edits_are_kept_if_the_screen_is_opened_again_from_another_one() {
    let mut model = opened();
    press(&mut model, "space");
    model.stack.push(Screen::JUDGES);
    let effects = press(&mut model, "+");
    assert!(asked::<LookAround>(&effects).is_none());
    let setups = |screen: &&Screen| **screen == Screen::JUDGE_SETUP;
    assert_eq!(model.stack.iter().filter(setups).count(), 1);
    assert_eq!(model.screen(), Screen::JUDGE_SETUP);
    assert!(drawn(&mut model, ColorDepth::None, (120, 38)).contains("[x] qwen3:8b"));
    press(&mut model, "esc");
    press(&mut model, "+");
    assert!(flat(&mut model, (120, 38)).contains("looking for keys"));
}

#[test]
fn the_project_is_opened_again_only_for_a_person_who_waits_for_it() {
    let saved = |leaves: bool| {
        let mut model = opened();
        press(&mut model, "space");
        let mut effects = press(&mut model, "S");
        if leaves {
            press(&mut model, "esc");
        }
        let path = "project.ovr".to_owned();
        let after = tell(&mut model, answer::<SaveJudges>(&mut effects, path));
        (after, model)
    };
    let (after, model) = saved(false);
    assert_eq!(after, [Effect::Quit]);
    assert!(model.next_project.is_some());
    let (after, model) = saved(true);
    assert_eq!(after, []);
    assert_eq!(model.next_project, None);
    let words = model.toast.map(|toast| toast.text).unwrap_or_default();
    assert!(words.starts_with("the judges are saved"), "{words}");
}

#[test]
fn key_and_parameters_are_typed_as_one_line() {
    let mut model = opened();
    press(&mut model, ";");
    for ch in ", params = { temperature = 0 }, key = 1".chars() {
        tell(&mut model, Msg::Key(key(KeyCode::Char(ch))));
    }
    press(&mut model, "enter");
    assert!(drawn(&mut model, ColorDepth::None, (120, 38)).contains("[ ] qwen3:8b"));
    assert!(
        matches!(model.overlays.last(), Some(Overlay::Prompt(..))),
        "refused"
    );
    for _ in ", key = 1".chars() {
        tell(&mut model, Msg::Key(key(KeyCode::Backspace)));
    }
    press(&mut model, "enter");
    let page = flat(&mut model, (120, 38));
    assert!(page.contains("[x] qwen3:8b"), "{page}");
    assert!(page.contains("params = { temperature = 0 }"), "{page}");
    let text = model.judge_setup().setup.as_ref().unwrap().text().unwrap();
    assert!(text.contains("params = { temperature = 0 }\n"), "{text}");
    press(&mut model, "enter 2 enter");
    assert!(flat(&mut model, (120, 38)).contains("[x] qwen3:8b2"));
}

#[test]
fn the_screen_at_every_size() {
    let mut model = opened();
    let setup = model.judge_setup_mut().setup.as_mut().unwrap();
    setup.candidates[0].price = CandidatePrice::Free;
    press(&mut model, "space -");
    let mut effects = press(&mut model, "t");
    let right = TestCall {
        ok: true,
        words: "right in 0.9 s: “Paris is the capital of France.”".to_owned(),
    };
    tell(&mut model, answer::<TestJudge>(&mut effects, right));
    for size in SIZES {
        let name = format!("judge-setup-{}x{}", size.0, size.1);
        snapshot(name, drawn(&mut model, ColorDepth::True, size));
    }
}

#[test]
fn saving_waits_for_the_end_of_a_run() {
    let mut model = opened();
    model.run.running = true;
    press(&mut model, "space");
    assert!(asked::<SaveJudges>(&press(&mut model, "S")).is_none());
}
