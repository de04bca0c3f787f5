//! Checks that the documentation shows the program's real output.
//! `UPDATE_DOCS=1 cargo test suites::screens` rewrites it.

use super::bench::Bench;
use super::picture::buffer_svg;
use crate::tui::keymap;
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

#[test]
fn the_readme_shows_the_matrix_as_it_is_drawn() {
    let mut bench = Bench::judged(132, 36);
    bench.press("enter n");
    bench.model.toast = None;
    let title = "The matrix screen: 25 candidate documents of a SciFact claim, in zELO order";
    same("assets/matrix.svg", &buffer_svg(&bench.draw(), title));
}
