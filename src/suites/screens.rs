//! All screens of the judged sample, at three sizes and four color depths, with text and styles.

mod answers;
mod asking;
pub(crate) mod bench;
mod copying;
mod docs;
mod mouse;
mod palette;
mod picture;

use crate::app::annotate::RunRequest;
use crate::app::annotate::estimate::{CostEstimate, JudgeEstimate, PoolOutline};
use crate::app::manual::Chapter;
use crate::app::project::Sample;
use crate::formats::dataset;
use crate::judge::offline;
use crate::registry;
use crate::tui::job::tell_that;
use crate::tui::screens::Screen;
use crate::tui::screens::run::update::ask_to_start;
use crate::tui::theme::{ColorDepth, Theme};
use bench::Bench;

pub(crate) const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

pub(crate) fn name(screen: &str, (columns, rows): (u16, u16)) -> String {
    format!("{screen}-{columns}x{rows}")
}

/// Compares a screen with its file in `tests/snapshots`.
pub(crate) fn snapshot(name: impl Into<String>, shot: String) {
    insta::with_settings!({ snapshot_path => "../../tests/snapshots", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name.into(), shot);
    });
}

#[test]
fn every_screen_at_every_size() {
    for size in SIZES {
        let mut bench = Bench::judged(size.0, size.1);
        snapshot(name("queries", size), bench.shot());
        bench.press("enter");
        snapshot(name("matrix", size), bench.shot());
        bench.press("O");
        snapshot(name("two-orders", size), bench.shot());
        bench.press("esc n o");
        snapshot(name("matrix-hybrid", size), bench.shot());
        bench.press("o d");
        snapshot(name("document", size), bench.shot());
        bench.press("enter");
        snapshot(name("battle", size), bench.shot());
        bench.press("B");
        snapshot(name("battle-overruled", size), bench.shot());
        bench.press("esc esc");
        snapshot(name("matrix-overruled", size), bench.shot());
        bench.press("?");
        snapshot(name("help", size), bench.shot());
        bench.press("esc :");
        snapshot(name("palette", size), bench.shot());
    }
}

#[test]
fn on_a_narrow_screen_tab_shows_one_of_the_two_orders_as_a_matrix() {
    let mut bench = Bench::judged(80, 24);
    bench.press("enter O tab");
    snapshot("two-orders-matrix-80x24", bench.shot());
    bench.press("> enter");
    let shot = bench.shot();
    assert!(shot.contains("two-orders.svg"), "{shot}");
}

#[test]
fn the_chapter_on_a_screen_is_read_from_its_help() {
    for size in SIZES {
        let mut bench = Bench::judged(size.0, size.1);
        bench.press(&format!("enter ?{}", " j".repeat(16)));
        let help = bench.shot();
        assert!(
            help.contains("Read the manual's chapter on this screen."),
            "{help}"
        );
        bench.press("M");
        let top = bench.shot();
        for text in ["The workbench", "The matrix", "Each cell is a pair"] {
            assert!(top.contains(text), "{top}");
        }
        assert!(!top.contains("Your own data"), "opened at its section");
        bench.press("M G");
        let end = bench.shot();
        assert!(end.contains("redraws the screen"), "{end}");
        bench.press("esc");
        assert_eq!(bench.shot(), help);
        bench.press("esc w M");
        let chapter = bench.shot();
        for text in ["Reviewing and overruling", "order      first in the queue"] {
            assert!(chapter.contains(text), "{chapter}");
        }
    }
}

#[test]
fn every_screen_has_a_chapter_and_a_section_in_it() {
    for screen in Screen::all() {
        let behavior = registry::screen(screen);
        let chapter = Chapter::find(behavior.chapter()).unwrap();
        if let Some(section) = behavior.section() {
            let line = chapter.body(80).line_of(section);
            assert!(line.is_some(), "{screen:?}: {section}");
        }
    }
}

#[test]
fn a_pair_is_judged_blind_and_then_with_the_judges_in_sight() {
    for size in SIZES {
        let mut bench = Bench::judged(size.0, size.1);
        bench.press("w");
        snapshot(name("queue", size), bench.shot());
        bench.press("enter");
        snapshot(name("review-blind", size), bench.shot());
        bench.press("3 b 5");
        snapshot(name("review-open", size), bench.shot());
        bench.press("enter esc");
        snapshot(name("queue-judged", size), bench.shot());
        bench.press("esc esc J X");
        snapshot(name("judges", size), bench.shot());
    }
}

#[test]
fn agreement_since_the_reveal_stands_next_to_the_blind_one() {
    let mut bench = Bench::judged(120, 40);
    bench.press("w enter b a enter esc esc esc J");
    let shot = bench.shot();
    let words = "1 of 1 verdict changed after the votes were shown; agreement";
    assert!(shot.contains(words), "{shot}");
}

#[test]
fn a_document_is_ruled_on_blind_and_then_with_label_and_picks_in_sight() {
    for size in SIZES {
        let mut bench = Bench::picked(size.0, size.1);
        bench.press("C");
        snapshot(name("adjudication", size), bench.shot());
        bench.press("enter");
        snapshot(name("ruling-blind", size), bench.shot());
        bench.press("b 7");
        snapshot(name("ruling-open", size), bench.shot());
        bench.press("enter esc");
        snapshot(name("ruling-session", size), bench.shot());
        bench.press("esc");
        snapshot(name("adjudication-ruled", size), bench.shot());
    }
}

#[test]
fn undo_in_adjudication_brings_the_document_back() {
    let mut bench = Bench::picked(120, 40);
    bench.press("C");
    let all = bench.model.adjudication.disagreements.clone();
    bench.press("enter a enter");
    assert_eq!(bench.model.adjudication.disagreements.len(), all.len() - 1);
    bench.press("u esc");
    assert_eq!(bench.model.adjudication.disagreements, all);
}

#[test]
fn undo_in_the_queue_brings_the_pair_back_first() {
    let mut bench = Bench::judged(120, 40);
    bench.press("w");
    let first = bench.model.queue.items[0];
    bench.press("enter a enter");
    assert!(
        bench
            .model
            .queue
            .items
            .iter()
            .all(|item| item.pair != first.pair || item.query != first.query)
    );
    bench.press("u");
    let current = bench.model.queue.current.as_ref().unwrap();
    assert_eq!(
        (current.item.query, current.item.pair),
        (first.query, first.pair)
    );
    assert!(
        current.is_undecided() && current.in_sight,
        "the judges have been seen"
    );
    assert_eq!(bench.model.queue.stats.judged, 0);
}

#[test]
fn why_one_document_stands_above_another_is_said_of_any_pair() {
    for size in SIZES {
        let mut bench = Bench::judged(size.0, size.1);
        bench.press("enter l e");
        snapshot(name("why", size), bench.shot());
        bench.press("esc t");
        snapshot(name("cycles", size), bench.shot());
    }
}

#[test]
fn scores_by_a_metadata_field_and_the_manual_about_them() {
    for size in SIZES {
        let mut bench = Bench::judged(size.0, size.1);
        bench.press("enter %");
        snapshot(name("slices", size), bench.shot());
        bench.press("M");
        snapshot(name("manual", size), bench.shot());
        bench.press("esc enter");
        snapshot(name("matrix-slice", size), bench.shot());
    }
}

#[test]
fn the_tour_leads_through_six_steps_with_one_key_each() {
    let mut bench = Bench::judged(80, 24);
    bench.model.options.sample = Some(Sample::Scifact);
    bench.model.tour = true;
    for (step, key) in ["enter", "n", "enter", "a", "J", "w"].iter().enumerate() {
        let shot = bench.shot();
        let lead = format!("tour {} of 6", step + 1);
        assert!(shot.contains(&lead), "{lead} is not on:\n{shot}");
        assert!(shot.contains("~ ends it"), "{shot}");
        bench.press(key);
    }
    assert!(!bench.model.tour);
    assert!(!bench.shot().contains("tour 6 of 6"));
}

#[test]
fn every_depth_has_its_own_ramp() {
    let mut bench = Bench::judged(120, 40);
    bench.press("enter n");
    for (depth, label) in [
        (ColorDepth::None, "none"),
        (ColorDepth::Ansi16, "16"),
        (ColorDepth::Ansi256, "256"),
    ] {
        bench.theme = Theme::new(depth, false);
        snapshot(format!("matrix-depth-{label}"), bench.shot());
    }
    bench.theme = Theme::new(ColorDepth::True, true);
    snapshot("matrix-light", bench.shot());
    bench.theme = Theme::new(ColorDepth::None, false);
    bench.press("enter");
    snapshot("battle-depth-none", bench.shot());
}

#[test]
fn every_layer_of_the_matrix() {
    let mut bench = Bench::judged(120, 40);
    bench.press("enter n");
    for layer in [
        "fitted", "residual", "judge-1", "judge-2", "judge-3", "verdicts",
    ] {
        bench.press("v");
        snapshot(format!("layer-{layer}"), bench.shot());
    }
}

#[test]
fn overruling_moves_the_ranking_at_once_and_undo_takes_it_back_exactly() {
    let mut bench = Bench::judged(120, 40);
    bench.press("enter n");
    let scores = |bench: &Bench| -> Vec<Option<u64>> {
        let open = bench.model.open.as_ref().unwrap();
        open.view
            .standings
            .iter()
            .map(|standing| standing.map(|s| s.zelo.to_bits()))
            .collect()
    };
    let before = scores(&bench);
    bench.press("enter A");
    let overruled = scores(&bench);
    assert_ne!(before, overruled);
    assert!(bench.model.battle.before.is_some());
    bench.press("u");
    assert_eq!(scores(&bench), before);
    bench.press("u");
    assert_eq!(scores(&bench), before);
}

#[test]
fn after_a_verdict_the_matrix_has_the_cursor_on_the_same_pair() {
    let mut bench = Bench::judged(120, 40);
    bench.press("enter n enter");
    let names = |bench: &Bench| {
        let open = bench.model.open.as_ref().unwrap();
        let battle = &bench.model.battle;
        [battle.a, battle.b].map(|document| open.name(document))
    };
    let before = names(&bench);
    assert_eq!(before, ["24159217", "38752049"]);
    for keys in ["b esc enter", "u esc enter", "A esc enter"] {
        bench.press(keys);
        assert_eq!(names(&bench), before, "{keys}");
    }
}

#[test]
fn a_pair_that_never_fought_can_be_judged() {
    let mut bench = Bench::judged(120, 40);
    bench.press("enter");
    let order = bench.model.matrix_order();
    let open = bench.model.open.as_ref().unwrap();
    let column = (1..order.len())
        .find(|at| !open.view.cell(order[0], order[*at]).planned)
        .unwrap();
    bench.model.look_at(order[0], order[column]);
    bench.press("enter b");
    let open = bench.model.open.as_ref().unwrap();
    assert_eq!(open.view.rows().verdicts.len(), 1);
    bench.press("esc u");
    assert!(
        bench
            .model
            .open
            .as_ref()
            .unwrap()
            .view
            .rows()
            .verdicts
            .is_empty()
    );
}

#[test]
fn a_run_that_costs_money_says_how_much_and_asks_first() {
    let mut bench = Bench::judged(80, 24);
    bench.model.options.paid = true;
    bench.press("s");
    assert!(!bench.model.run.running);
    let judge = JudgeEstimate {
        name: "gpt".to_owned(),
        calls: 2_400,
        cost_usd: Some(2.98),
        worst_usd: Some(24.56),
        ..JudgeEstimate::default()
    };
    let estimate = CostEstimate {
        judges: vec![judge],
        ..CostEstimate::default()
    };
    let told = estimate.clone();
    bench.tell(tell_that(move |model| ask_to_start(model, &told)));
    let shot = bench.shot();
    for words in ["2,400 calls", "$2.98", "$24.56", "No budget is set"] {
        assert!(shot.contains(words), "{words:?} is not on:\n{shot}");
    }
    bench.press("n");
    assert!(!bench.model.run.running && bench.model.overlays.is_empty());
    bench.tell(tell_that(move |model| ask_to_start(model, &estimate)));
    bench.press("y");
    assert!(bench.model.run.running);
}

#[test]
fn a_run_with_nothing_to_buy_does_not_ask() {
    let mut bench = Bench::judged(80, 24);
    bench.model.options.paid = true;
    bench.tell(tell_that(|model| {
        ask_to_start(model, &CostEstimate::default())
    }));
    assert!(bench.model.run.running && bench.model.overlays.is_empty());
}

#[test]
fn a_project_needs_what_its_dataset_would() {
    let bench = Bench::judged(80, 24);
    let judges = offline::ensemble();
    for (seed, left) in [(0, false), (1, true)] {
        let request = RunRequest {
            seed,
            ..RunRequest::default()
        };
        let found = CostEstimate::of_project(&bench.store, &judges, &request).unwrap();
        let pools = || dataset::read_pools(bench::SCIFACT, "scifact.jsonl").map(Result::unwrap);
        let outlines: Vec<PoolOutline> = pools().map(|pool| (&pool).into()).collect();
        let store = Some(&bench.store);
        let wanted =
            CostEstimate::of_pools(pools(), &outlines, &judges, &request, store, false).unwrap();
        assert_eq!(found, wanted);
        assert_eq!(
            (found.battles, found.calls() > 0),
            (800, left),
            "seed {seed}"
        );
    }
}

#[test]
fn a_guideline_is_taken_from_a_file() {
    let mut bench = Bench::judged(80, 24);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("guideline.md");
    std::fs::write(&path, "Prefer recent work.").unwrap();
    bench.press("w enter <");
    for typed in path.display().to_string().chars() {
        bench.press(&typed.to_string());
    }
    bench.press("enter");
    let stored = bench.store.read_blocking(|db| db.guideline()).unwrap();
    assert_eq!(stored.as_deref(), Some("Prefer recent work."));
}

#[test]
fn the_run_screen_says_what_is_missing_and_how_the_last_run_went() {
    for size in SIZES {
        let mut bench = Bench::judged(size.0, size.1);
        bench.press("r");
        bench.model.run.next = Some(Ok(Box::default()));
        let shot = bench.shot();
        for words in [
            "Nothing is running.",
            "Nothing is missing: every battle has all its votes.",
            "The last run: done",
            "proximity",
        ] {
            assert!(shot.contains(words), "{words}: {shot}");
        }
        let asks = CostEstimate {
            judges: vec![JudgeEstimate {
                calls: 293,
                ..JudgeEstimate::default()
            }],
            ..CostEstimate::default()
        };
        bench.model.run.next = Some(Ok(Box::new(asks)));
        let shot = bench.shot();
        let words = "Press s to ask for 293 missing votes: at no cost.";
        assert!(shot.contains(words), "{shot}");
        bench.model.run.next = Some(Err("no such\u{1b} judge".to_owned()));
        let shot = bench.shot();
        let words = "The missing votes cannot be counted: no such␛ judge";
        assert!(shot.contains(words), "{shot}");
        let in_batches = CostEstimate {
            pending: 120,
            ..CostEstimate::default()
        };
        bench.model.run.next = Some(Ok(Box::new(in_batches)));
        let shot = bench.shot();
        let words = "120 missing votes are in batches: Q fetches them.";
        assert!(shot.contains(words), "{shot}");
    }
}
