//! The manual in the terminal, and its examples: each is run as it is printed, and does what is
//! printed below it.
//!
//! Blocks fenced as `console` are run in order, those of one file in one folder that has `data` in
//! it. Below a command stands what it prints, on both streams, or nothing at all, which is not
//! compared. `...` stands for any lines, `[..]` for anything in a line, `? 2` for an exit code that
//! is not 0. Blocks fenced otherwise (`text`, `console,ignore`) want a key, the network or a
//! terminal.

use crate::support::Sandbox;
use rstest::rstest;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// One command with what it is said to print.
#[derive(Debug, Default)]
struct Example<'t> {
    line: usize,
    command: &'t str,
    prints: Vec<&'t str>,
    code: i32,
}

fn examples(markdown: &str) -> Vec<Example<'_>> {
    let mut found: Vec<Example> = Vec::new();
    let mut inside = false;
    for (at, line) in markdown.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if !inside {
        } else if let Some(command) = line.strip_prefix("$ ") {
            found.push(Example {
                line: at + 1,
                command,
                ..Example::default()
            });
        } else {
            let example = found.last_mut().expect("a block begins with a command");
            match line.strip_prefix("? ") {
                Some(code) => example.code = code.parse().unwrap(),
                None => example.prints.push(line),
            }
        }
    }
    found
}

/// Whether lines are those of a pattern.
fn lines_match(pattern: &[&str], lines: &[&str]) -> bool {
    match pattern.split_first() {
        None => lines.is_empty(),
        Some((&"...", rest)) => {
            (0..=lines.len()).any(|skipped| lines_match(rest, &lines[skipped..]))
        }
        Some((first, rest)) => {
            lines.first().is_some_and(|line| line_matches(first, line))
                && lines_match(rest, &lines[1..])
        }
    }
}

fn line_matches(pattern: &str, line: &str) -> bool {
    let Some((start, pattern)) = pattern.split_once("[..]") else {
        return pattern == line;
    };
    let Some(mut rest) = line.strip_prefix(start) else {
        return false;
    };
    let mut parts: Vec<&str> = pattern.split("[..]").collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(end)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A shell command in a folder of its own, with nothing of the tester's environment but the path.
fn run(folder: &TempDir, command: &str) -> (i32, String) {
    let binary = Path::new(env!("CARGO_BIN_EXE_overrule")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", format!("{}:{path}", binary.display()))
        .env("HOME", folder.path().join("home"))
        .env("OVERRULE_ANNOTATOR", "ada")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap_or(-1), printed)
}

fn follow(file: &Path) {
    let markdown = std::fs::read_to_string(file).unwrap();
    let folder = tempfile::tempdir().unwrap();
    symlink(root().join("data"), folder.path().join("data")).unwrap();
    for example in examples(&markdown) {
        let (code, printed) = run(&folder, example.command);
        let place = format!("{}:{}: {}", file.display(), example.line, example.command);
        assert_eq!(code, example.code, "{place}\n{printed}");
        let lines: Vec<&str> = printed.lines().collect();
        assert!(
            example.prints.is_empty() || lines_match(&example.prints, &lines),
            "{place}\nprints\n{printed}"
        );
    }
}

#[rstest]
fn examples_of_the_manual_do_what_they_say(#[files("assets/manual/*.md")] file: PathBuf) {
    follow(&file);
}

#[test]
fn examples_of_the_readme_do_what_they_say() {
    follow(&root().join("README.md"));
}

#[test]
fn the_manual_is_read_chapter_by_chapter() {
    let folder = tempfile::tempdir().unwrap();
    let (code, contents) = run(&folder, "overrule manual");
    assert_eq!(code, 0);
    assert!(contents.contains("adjudication "), "{contents}");
    assert!(
        contents.lines().all(|line| line.chars().count() <= 81),
        "{contents}"
    );
    let (code, chapter) = run(&folder, "overrule manual adj");
    assert_eq!(code, 0);
    assert!(
        chapter.starts_with("Adjudication\n============\n"),
        "{chapter}"
    );
    let (code, keys) = run(&folder, "overrule manual keys --json");
    assert_eq!(code, 0);
    let keys: serde_json::Value = serde_json::from_str(&keys).unwrap();
    assert_eq!(keys["topic"], "keys");
    assert!(
        keys["text"]
            .as_str()
            .unwrap()
            .contains("<!-- keys:begin -->")
    );
}

#[test]
fn an_unknown_chapter_is_refused_with_those_that_there_are() {
    let folder = tempfile::tempdir().unwrap();
    for topic in ["nowhere", "p", "''"] {
        let (code, said) = run(&folder, &format!("overrule manual {topic}"));
        assert_eq!(code, 2);
        assert!(
            said.contains("no chapter") && said.contains("providers"),
            "{said}"
        );
    }
}

#[test]
fn the_manual_page_holds_every_chapter() {
    let folder = tempfile::tempdir().unwrap();
    let (code, page) = run(&folder, "overrule man");
    assert_eq!(code, 0);
    assert!(page.contains(".SH ADJUDICATION\n"));
    assert!(
        page.contains(".SH \"OPTIONS\"") || page.contains(".SH OPTIONS"),
        "{page}"
    );
}

#[test]
fn patterns_of_examples() {
    assert!(lines_match(&["a", "...", "z"], &["a", "b", "c", "z"]));
    assert!(lines_match(&["...", "b [..] d", "..."], &["a", "b c d"]));
    assert!(!lines_match(&["a", "b"], &["a"]));
    assert!(line_matches("[..]x[..]", "an x here"));
    assert!(!line_matches("a[..]z", "b to z"));
}

/// Needs Python with pandas, polars, pyarrow, duckdb and matplotlib.
#[test]
#[ignore = "run by hand: it needs packages for Python"]
fn the_code_for_notebooks_runs() {
    let sandbox = Sandbox::new();
    let claims = concat!(env!("CARGO_MANIFEST_DIR"), "/data/scifact.jsonl");
    sandbox.done(&["annotate", claims, "scored.jsonl"]);
    sandbox.done("export votes --out votes.parquet");
    let chapter = include_str!("../../assets/manual/notebooks.md");
    let blocks: Vec<&str> = chapter
        .split("```python\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(blocks.len(), 3);
    for code in blocks {
        let ran = Command::new("python3")
            .args(["-c", code])
            .current_dir(sandbox.path(""))
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&ran.stderr);
        assert!(
            ran.status.success() && !ran.stdout.is_empty(),
            "{code}\n{error}"
        );
    }
    assert!(sandbox.path("zelo.png").exists());
}
