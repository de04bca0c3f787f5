//! Commands of other screens, and keys that do nothing.

use super::bench::Bench;
use crate::app::project::Sample;
use crate::tui::keymap::{self, Command, Scope};
use crate::tui::model::{ConfirmFor, Overlay};
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;
use crate::tui::testing::text;

/// Runs the first entry of the palette that matches.
fn run(bench: &mut Bench, words: &str) {
    bench.press(":");
    for letter in words.chars() {
        match letter {
            ' ' => bench.press("space"),
            letter => bench.press(&letter.to_string()),
        }
    }
    bench.press("enter");
    // Keys right after a line are treated as part of it.
    bench.model.typed = None;
}

fn said(bench: &Bench) -> String {
    let toast = bench.model.toast.as_ref();
    toast.map_or(String::new(), |toast| toast.text.clone())
}

pub(super) fn on(screen: Screen) -> Bench {
    let mut bench = match screen {
        Screen::RULING | Screen::ADJUDICATION => Bench::picked(120, 40),
        _ => Bench::judged(120, 40),
    };
    run(&mut bench, screen.name());
    bench
}

/// Screens that the sample has nothing for. Its offline judges have no prompts.
pub(super) const WITHOUT_CONTENT: [&str; 6] = [
    "rankings",
    "student battles",
    "passage",
    "prompt",
    "trial",
    "reasonings",
];

#[test]
fn every_screen_is_reached_from_the_list_of_queries_or_the_palette_says_what_is_missing() {
    for screen in Screen::all() {
        let bench = on(screen);
        if WITHOUT_CONTENT.contains(&screen.name()) {
            assert!(!said(&bench).is_empty(), "{screen:?}");
        } else {
            assert_eq!(bench.model.screen(), screen, "{}", said(&bench));
        }
    }
}

#[test]
fn the_palette_returns_to_a_screen_below() {
    let mut bench = on(Screen::BATTLE);
    run(&mut bench, "judges");
    assert_eq!(bench.model.screen(), Screen::JUDGES);
    run(&mut bench, "matrix");
    assert_eq!(bench.model.stack, [Screen::QUERIES, Screen::MATRIX]);
}

#[test]
fn a_command_that_changes_data_is_confirmed_on_its_screen() {
    let mut bench = on(Screen::JUDGES);
    let starts = |bench: &mut Bench, answer: &str| {
        run(bench, "start-run");
        assert_eq!(bench.model.screen(), Screen::QUERIES);
        let asked = bench.model.overlays.last();
        let confirm = ConfirmFor::Command(Command::StartRun);
        assert!(
            matches!(asked, Some(Overlay::Confirm(_, purpose)) if *purpose == confirm),
            "{asked:?}"
        );
        assert!(!bench.model.run.running);
        bench.press(answer);
        bench.model.run.running
    };
    assert!(!starts(&mut bench, "n"));
    run(&mut bench, "judges");
    assert!(starts(&mut bench, "y"));
}

#[test]
fn a_command_that_changes_nothing_runs_on_its_screen() {
    let mut bench = on(Screen::JUDGES);
    let before = bench.model.matrix.votes_only;
    run(&mut bench, "toggle-expectations");
    assert_eq!(bench.model.screen(), Screen::MATRIX);
    assert_ne!(bench.model.matrix.votes_only, before);
}

#[test]
fn the_way_to_a_screen_waits_only_for_the_data_of_screens_on_it() {
    let mut bench = on(Screen::QUERIES);
    let _training = bench.model.jobs.begin(Slot::shared("training"));
    let _queue = bench.model.jobs.begin(Slot::of(Screen::QUEUE, "queue"));
    run(&mut bench, "toggle-expectations");
    assert_eq!(bench.model.screen(), Screen::MATRIX);
    assert_eq!(bench.model.destination, None);
}

#[test]
fn a_command_of_a_screen_that_cannot_be_opened_goes_nowhere() {
    let mut bench = on(Screen::QUERIES);
    bench.model.options.sample = Some(Sample::Scifact);
    run(&mut bench, "test-judge");
    assert_eq!(bench.model.stack, [Screen::QUERIES]);
    assert!(said(&bench).starts_with("the sample is judged by"));
}

#[test]
fn the_name_of_a_verdict_leads_to_its_screen_and_gives_no_verdict() {
    let mut bench = on(Screen::QUERIES);
    run(&mut bench, "judge-a");
    assert_eq!(bench.model.screen(), Screen::BATTLE);
    assert!(said(&bench).starts_with("press a to give this verdict"));
    assert_eq!(bench.model.saving, 0);
    let open = bench.model.open.as_ref().unwrap();
    assert!(open.view.rows().verdicts.is_empty());
}

#[test]
fn undo_is_found_first_even_if_there_is_nothing_to_undo() {
    let mut bench = on(Screen::MATRIX);
    bench.press(": u n d o");
    let page = text(&bench.draw());
    let mut lines = page.lines().skip_while(|line| !line.contains(": undo"));
    let first = lines.nth(1).unwrap_or_default();
    assert!(first.contains("Undo the last verdict"), "{page}");
    assert!(!page.contains("column-document"), "{page}");
}

/// A key that has no command on a screen says so, and a key that is said to do nothing changes
/// nothing.
#[test]
fn a_key_that_does_nothing_says_so() {
    let reached = Screen::all().filter(|screen| !WITHOUT_CONTENT.contains(&screen.name()));
    for screen in reached {
        let mut bench = on(screen);
        assert_eq!(bench.model.screen(), screen);
        let scope = Scope::Screen(screen);
        let unused: Vec<String> = ('!'..='~')
            .map(|key| key.to_string())
            .filter(|name| keymap::resolve(scope, Bench::key(name)).is_none())
            .collect();
        for name in unused {
            bench.model.toast = None;
            bench.press_undrawn(&name);
            let words = format!("{name} does nothing on this screen; ? lists");
            assert!(
                said(&bench).starts_with(&words),
                "{screen:?}: {}",
                said(&bench)
            );
        }
        for name in ["left", "right", "tab", "enter"] {
            bench.model.toast = None;
            let before = text(&bench.draw());
            bench.press(name);
            if said(&bench).contains("does nothing on this screen") {
                bench.model.toast = None;
                assert_eq!(text(&bench.draw()), before, "{name} on {screen:?}");
            }
            if bench.model.screen() != screen || !bench.model.overlays.is_empty() {
                break;
            }
        }
    }
}

#[test]
fn what_is_not_judged_yet_is_started_with_a_key_of_the_same_screen() {
    for screen in [
        Screen::QUERIES,
        Screen::MATRIX,
        Screen::DOCUMENT,
        Screen::CYCLES,
        Screen::QUEUE,
        Screen::JUDGES,
        Screen::RUN,
    ] {
        let mut bench = Bench::unjudged(120, 40);
        run(&mut bench, screen.name());
        assert_eq!(bench.model.screen(), screen);
        let page = text(&bench.draw());
        assert!(
            page.contains(" s start") || page.contains("Press s"),
            "{page}"
        );
        assert!(!page.contains("next order"), "{page}");
        bench.press("s");
        assert!(bench.model.run.running, "{screen:?}");
    }
}
