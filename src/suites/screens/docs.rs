//! Compares key tables and pictures in the documentation with the program.
//! `UPDATE_DOCS=1 cargo test suites::screens` rewrites them.

use super::bench::Bench;
use super::picture::{DARK, LIGHT, TerminalColors, buffer_svg};
use crate::tui::keymap;
use crate::tui::theme::{ColorDepth, Theme};
use std::path::PathBuf;

fn root(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// Compares a file with its expected content, or rewrites it if requested.
fn same(file: &str, wanted: &str) {
    let path = root(file);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "{file} is out of date: run UPDATE_DOCS=1 cargo test suites::screens"
    );
}

#[test]
fn the_manual_prints_the_key_table() {
    // The table has the keys of all features with a screen.
    if !cfg!(feature = "remote") {
        return;
    }
    let file = "assets/manual/keys.md";
    let chapter = std::fs::read_to_string(root(file)).unwrap();
    let (before, rest) = chapter.split_once("<!-- keys:begin -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- keys:end -->").unwrap();
    let table = keymap::markdown();
    let table = table.trim_matches('\n');
    same(
        file,
        &format!("{before}<!-- keys:begin -->\n\n{table}\n\n<!-- keys:end -->{after}"),
    );
}

/// Compares the pictures of a screen, dark and light, with those in the README.
fn same_pictures(bench: &mut Bench, name: &str, title: &str) {
    bench.model.toast = None;
    let backgrounds: [(&str, bool, TerminalColors); 2] =
        [("dark", false, DARK), ("light", true, LIGHT)];
    for (background, light, colors) in backgrounds {
        bench.theme = Theme::new(ColorDepth::True, light);
        let picture = buffer_svg(&bench.draw(), title, colors);
        same(&format!("assets/{name}-{background}.svg"), &picture);
    }
}

#[test]
fn the_readme_shows_the_matrix_as_it_is_drawn() {
    let mut bench = Bench::judged(132, 36);
    bench.press("enter n");
    let title = "The matrix screen: 25 candidate documents of a SciFact claim, in zELO order";
    same_pictures(&mut bench, "matrix", title);
}

#[test]
fn the_readme_shows_a_review_as_it_is_drawn() {
    let mut bench = Bench::judged(132, 36);
    bench.press("w enter b");
    let title = "The review screen: a pair after a blind verdict, with the judges' votes";
    same_pictures(&mut bench, "review", title);
}
