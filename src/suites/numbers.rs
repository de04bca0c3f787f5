//! Numbers for people are formatted in one place: no other file writes signs or minus characters
//! itself.

use std::path::{Path, PathBuf};

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// Whether a line of Rust formats a sign (`{x:+.2}`) or an amount of money (`${usd:.4}`) itself, or
/// replaces the hyphen by a minus sign.
fn writes_its_own(line: &str) -> bool {
    let spec = |at: usize| {
        let end = line[at..].find('}').map_or(line.len(), |end| at + end);
        &line[at + 1..end]
    };
    let signed = line
        .match_indices('{')
        .filter_map(|(at, _)| spec(at).split_once(':'))
        .any(|(name, format)| {
            let format = format.trim_start_matches(['<', '>', '^']);
            name.chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
                && format.starts_with('+')
        });
    let money = line
        .match_indices("${")
        .any(|(at, _)| spec(at + 1).contains(":."));
    signed || money || line.contains("replace('-', \"−\")")
}

#[test]
fn signs_and_money_are_written_in_one_place() {
    let mut files = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut files,
    );
    assert!(files.len() > 300, "{}", files.len());
    for path in files {
        if path.ends_with("domain/number_words.rs") || path.ends_with("suites/numbers.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for (at, line) in text.lines().enumerate() {
            assert!(
                !writes_its_own(line),
                "{}:{}: use domain::number_words (signed, fixed, usd): {line}",
                path.display(),
                at + 1
            );
        }
    }
}

#[test]
fn a_sign_of_its_own_shows() {
    for line in [
        r#"format!("{:+.3}", zelo)"#,
        r#"format!("{zelo:>+6.2}")"#,
        r#"format!("{low:+.4} to {high:+.4}")"#,
        r#"format!("spent ${usd:.4}")"#,
        r#"words.replace('-', "−")"#,
    ] {
        assert!(writes_its_own(line), "{line}");
    }
    for line in [
        r#"format!("{x:.3}")"#,
        "if a { b } // a: +1",
        r#"json!({ "a": "+1" })"#,
        r#"format!("budget ${usd}")"#,
    ] {
        assert!(!writes_its_own(line), "{line}");
    }
}
