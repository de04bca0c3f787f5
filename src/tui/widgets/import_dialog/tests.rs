//! Tests that paths are typed, selected, inspected and accepted.

use super::*;
use crate::tui::testing::{draw, key, text as page, typed};

fn entry(name: &str, folder: bool, holds: Option<&'static str>) -> FolderEntry {
    let bytes = 12_345;
    FolderEntry {
        name: name.to_owned(),
        folder,
        bytes,
        holds,
    }
}

fn dialog() -> ImportDialog {
    let mut dialog = ImportDialog::new(Some("overrule"), ImportPurpose::Any);
    dialog.listed(Ok(vec![
        entry("data.jsonl", false, Some("a dataset")),
        entry("run.trec", false, Some("a run")),
        entry("archive", true, None),
        entry(".hidden", false, None),
        entry("notes.txt", false, None),
    ]));
    dialog
}

fn press(dialog: &mut ImportDialog, code: KeyCode) -> (KeyOutcome<String>, Option<Wanted>) {
    dialog.handle(key(code))
}

fn write(dialog: &mut ImportDialog, words: &str) -> Vec<Wanted> {
    typed(words)
        .filter_map(|event| dialog.handle(event).1)
        .collect()
}

fn shown(dialog: &ImportDialog, width: u16, height: u16) -> String {
    page(&draw(width, height, |area, buf| {
        dialog.render(&Theme::default(), area, buf);
    }))
}

fn preview() -> SourcePreview {
    SourcePreview {
        holds: vec![
            "It holds a dataset: 8 queries, 200 documents.".to_owned(),
            "None of these queries are in the project yet.".to_owned(),
        ],
        act: "imports it into",
        is_project: false,
    }
}

#[test]
fn a_benchmark_is_looked_into_as_a_whole_and_tab_goes_into_its_folder() {
    let mut dialog = dialog();
    let scifact = || vec![entry("scifact", true, Some("a benchmark (BEIR)"))];
    dialog.listed(Ok(scifact()));
    let check = Some(Wanted::Check("scifact/".to_owned(), ImportPurpose::Any));
    assert_eq!(press(&mut dialog, KeyCode::Enter).1, check);
    press(&mut dialog, KeyCode::Esc);
    let folder = Some(Wanted::Folder("scifact/".to_owned()));
    assert_eq!(press(&mut dialog, KeyCode::Tab).1, folder);
}

#[test]
fn a_merge_lists_projects_and_folders_and_pools_folders_only() {
    for (purpose, listed, hidden) in [
        (ImportPurpose::Merge, "eve.db", "run.trec"),
        (ImportPurpose::Pools, "archive", "eve.db"),
    ] {
        let mut dialog = ImportDialog::new(Some("overrule"), purpose);
        dialog.listed(Ok(vec![
            entry("run.trec", false, Some("a run")),
            entry("eve.db", false, Some("an Overrule project")),
            entry("archive", true, Some("a benchmark (BEIR)")),
        ]));
        let screen = shown(&dialog, 80, 24);
        assert!(
            screen.contains(listed) && screen.contains("archive"),
            "{screen}"
        );
        assert!(!screen.contains(hidden), "{screen}");
    }
}

#[test]
fn a_file_is_looked_into_before_it_is_imported() {
    let mut dialog = dialog();
    let check = Some(Wanted::Check("data.jsonl".to_owned(), ImportPurpose::Any));
    assert_eq!(
        press(&mut dialog, KeyCode::Enter),
        (KeyOutcome::Consumed, check)
    );
    // A file that has not been read cannot be accepted.
    assert_eq!(
        press(&mut dialog, KeyCode::Enter),
        (KeyOutcome::Consumed, None)
    );
    dialog.checked(Ok(preview()));
    let screen = shown(&dialog, 80, 24);
    for words in [
        "8 queries, 200 documents",
        "None of these queries",
        "project overrule",
    ] {
        assert!(screen.contains(words), "{words:?} in {screen}");
    }
    let accepted = KeyOutcome::Submitted("data.jsonl".to_owned());
    assert_eq!(press(&mut dialog, KeyCode::Enter), (accepted, None));
}

#[test]
fn what_is_wrong_is_told_and_esc_goes_back_to_the_files() {
    let mut dialog = dialog();
    press(&mut dialog, KeyCode::Enter);
    dialog.checked(Err(vec![
        "data.jsonl:3: query.id: is \u{1b}[2Jempty".to_owned(),
    ]));
    let screen = shown(&dialog, 80, 24);
    assert!(
        screen.contains("data.jsonl:3: query.id: is ␛[2Jempty"),
        "{screen}"
    );
    assert_eq!(press(&mut dialog, KeyCode::Enter).0, KeyOutcome::Consumed);
    assert_eq!(press(&mut dialog, KeyCode::Esc).0, KeyOutcome::Consumed);
    assert!(shown(&dialog, 80, 24).contains("run.trec"));
    assert_eq!(press(&mut dialog, KeyCode::Esc).0, KeyOutcome::Cancelled);
}

#[test]
fn a_late_answer_opens_nothing() {
    let mut dialog = dialog();
    press(&mut dialog, KeyCode::Enter);
    press(&mut dialog, KeyCode::Esc);
    dialog.checked(Ok(preview()));
    assert!(shown(&dialog, 80, 24).contains("run.trec"));
}

#[test]
fn tab_completes_and_a_folder_is_entered() {
    let mut dialog = dialog();
    assert!(write(&mut dialog, "arch").is_empty());
    let folder = Some(Wanted::Folder("archive/".to_owned()));
    assert_eq!(
        press(&mut dialog, KeyCode::Tab),
        (KeyOutcome::Consumed, folder)
    );
    assert!(shown(&dialog, 80, 24).contains("reading the folder"));
    dialog.listed(Ok(vec![entry("old.jsonl", false, Some("a dataset"))]));
    let check = Some(Wanted::Check(
        "archive/old.jsonl".to_owned(),
        ImportPurpose::Any,
    ));
    assert_eq!(press(&mut dialog, KeyCode::Enter).1, check);
}

#[test]
fn a_path_that_is_not_listed_is_looked_into_as_typed() {
    let mut dialog = dialog();
    assert!(write(&mut dialog, "absent.jsonl").is_empty());
    let check = Some(Wanted::Check("absent.jsonl".to_owned(), ImportPurpose::Any));
    assert_eq!(press(&mut dialog, KeyCode::Enter).1, check);
}

#[test]
fn hidden_files_are_listed_when_a_dot_is_typed_and_any_size_is_drawn() {
    let mut dialog = dialog();
    assert!(!shown(&dialog, 80, 24).contains(".hidden"));
    write(&mut dialog, ".h");
    assert!(shown(&dialog, 80, 24).contains(".hidden"));
    for (width, height) in [(0, 0), (20, 6), (30, 8), (200, 60)] {
        shown(&dialog, width, height);
    }
}

#[test]
fn the_open_project_is_not_offered_and_is_meant_by_its_name() {
    let mut dialog = ImportDialog::new(Some("me"), ImportPurpose::Merge);
    dialog.listed(Ok(vec![
        entry("bob-me.db", false, Some("an Overrule project")),
        entry("me.db", false, Some(THIS_PROJECT)),
    ]));
    assert!(!shown(&dialog, 80, 24).contains("this project"));
    write(&mut dialog, "me.db");
    let (_, wanted) = press(&mut dialog, KeyCode::Enter);
    assert_eq!(
        wanted,
        Some(Wanted::Check("me.db".to_owned(), ImportPurpose::Merge))
    );
}
