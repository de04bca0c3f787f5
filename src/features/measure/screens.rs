//! The screen of a measurement, at three sizes.

use crate::features::methods::screens::bench;
use crate::suites::screens::bench::Bench;
use crate::tui::screens::Screen;
use crate::tui::theme::{ColorDepth, Theme};

/// The measurement of the second method against the baseline.
fn measuring(columns: u16, rows: u16) -> Bench {
    let mut bench = bench(columns, rows);
    bench.press("R down m");
    assert_eq!(bench.model.screen(), Screen::MEASURE);
    bench
}

#[test]
fn rulings_narrow_the_interval() {
    let mut bench = measuring(80, 24);
    bench.snapshots("measure");
    for _ in 0..10 {
        bench.press("a b b x");
    }
    bench.snapshots("measure-ruled");
}

#[test]
fn an_undone_ruling_returns_the_document() {
    let mut bench = measuring(120, 40);
    let first = bench.shot();
    bench.press("a");
    assert_ne!(bench.shot(), first);
    bench.press("u");
    let text = bench.shot();
    assert!(
        text.contains("draw 1:") && text.contains("0 drawn"),
        "{text}"
    );
    bench.press("U");
    assert!(bench.shot().contains("draw 2:"), "{}", bench.shot());
}

#[test]
fn the_metric_and_the_margin_change_what_is_measured() {
    let mut bench = measuring(120, 40);
    bench.press("v v");
    let text = bench.shot();
    assert!(
        text.contains("NDCG@10 on 8 queries") && text.contains("First order"),
        "{text}"
    );
    bench.press("m");
    bench.press("v v");
    assert!(
        bench.shot().contains("P@10 on 8 queries"),
        "{}",
        bench.shot()
    );
}

#[test]
fn without_a_measurement_the_screen_says_how_to_start_one() {
    let mut bench = Bench::judged(80, 24);
    bench.press(": m e a s u r e enter");
    assert_eq!(bench.model.screen(), Screen::MEASURE);
    assert!(
        bench.shot().contains("No measurement in this project"),
        "{}",
        bench.shot()
    );
    assert!(bench.shot().contains("Press R for the screen Methods"));
    bench.model.typed = None;
    bench.press("R");
    assert_eq!(bench.model.screen(), Screen::METHODS);
    bench.press("esc R R esc");
    assert_eq!(bench.model.stack, [Screen::QUERIES, Screen::MEASURE]);
}

#[test]
fn no_color_and_no_size_breaks_it() {
    for depth in [ColorDepth::None, ColorDepth::Ansi16] {
        let mut bench = measuring(80, 24);
        bench.theme = Theme::new(depth, false);
        bench.press("a");
        bench.shot();
    }
    for (columns, rows) in [(1, 1), (20, 5), (40, 10), (61, 12)] {
        measuring(columns, rows).press("a b f v");
    }
}
