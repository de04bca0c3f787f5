//! The clipboard: every list is copied as a table, every judgment with its reasoning.

use super::bench::Bench;
use super::palette::{WITHOUT_CONTENT, on};
use crate::tui::screens::Screen;

#[test]
fn a_list_is_copied_as_a_table_and_a_battle_with_the_reasoning() {
    let mut bench = Bench::judged(120, 40);
    for (keys, header, words) in [
        ("", "query\ttext\tdocuments", "copied 8 queries as a table"),
        (
            "enter",
            "query\tdocument\ttitle",
            "copied 25 documents as a table",
        ),
        (
            "d",
            "query\tdocument\topponent\ttitle\tbm25",
            "copied 8 battles as a table",
        ),
        ("enter", "query: Insomnia", "copied the reasoning of bm25"),
        (
            "tab",
            "query: Insomnia",
            "copied the reasoning of proximity",
        ),
        ("esc e", "query: Insomnia", "copied the reasoning of bm25"),
        (
            "esc esc esc w",
            "place\tquery\ttext\tpriority",
            "pairs as a table",
        ),
        ("esc J", "judge\tvotes\tties", "copied 3 judges as a table"),
        (
            "esc r",
            "judge\tvotes\tfailed",
            "copied 3 judges as a table",
        ),
    ] {
        if !keys.is_empty() {
            bench.press(keys);
        }
        let (text, told) = bench.copied();
        assert!(text.starts_with(header), "{keys}: {text}");
        assert!(told.contains(words), "{keys}: {told}");
        let unwanted = |ch: char| ch.is_control() && !matches!(ch, '\t' | '\n');
        assert!(!text.contains(unwanted));
        let table = text.lines().next().is_some_and(|line| line.contains('\t'));
        if table {
            let columns = text.lines().next().map(|line| line.split('\t').count());
            for line in text.lines() {
                assert_eq!(Some(line.split('\t').count()), columns, "{line}");
            }
        }
    }
}

#[test]
fn every_screen_with_content_has_something_to_copy() {
    // There is no student, method or measurement, and a duel is blind.
    let without = [
        Screen::STUDENT,
        Screen::METHODS,
        Screen::MEASURE,
        Screen::DUEL,
    ];
    let has_content = |of: &Screen| !without.contains(of) && !WITHOUT_CONTENT.contains(&of.name());
    for screen in Screen::all().filter(has_content) {
        let mut bench = on(screen);
        assert_eq!(bench.model.screen(), screen);
        let (_, told) = bench.copied();
        assert_ne!(told, "there is nothing to copy here", "{screen:?}");
    }
}
