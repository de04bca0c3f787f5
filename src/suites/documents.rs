//! Paths, links and citations in documents and comments resolve.

use std::fs;
use std::path::{Path, PathBuf};

const DOCUMENTS: [&str; 6] = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "data/README.md",
];
const FOLDERS: [&str; 5] = ["src/", "tests/", "assets/", "benches/", ".ci/"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text between each `start` and the next `end`.
fn between<'t>(text: &'t str, start: &str, end: char) -> impl Iterator<Item = &'t str> {
    text.split(start)
        .skip(1)
        .filter_map(move |rest| rest.split(end).next())
}

/// The targets of links and pictures.
fn links(text: &str) -> impl Iterator<Item = &str> {
    between(text, "](", ')')
        .chain(between(text, "src=\"", '"'))
        .chain(between(text, "srcset=\"", '"'))
}

/// The files of a folder and its subfolders with one of the extensions.
fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extensions));
        } else if path
            .extension()
            .and_then(|extension| extension.to_str())
            .is_some_and(|extension| extensions.contains(&extension))
        {
            found.push(path);
        }
    }
    found
}

#[test]
fn paths_in_documents_exist() {
    for document in DOCUMENTS {
        let text = fs::read_to_string(root().join(document)).unwrap();
        // A name in capitals stands for one to be chosen.
        let is_path = |word: &&str| {
            FOLDERS.iter().any(|folder| word.starts_with(folder))
                && !word.contains(' ')
                && !word.contains("NAME")
        };
        let quoted = text.split('`').skip(1).step_by(2);
        for path in quoted.filter(is_path) {
            assert!(root().join(path).exists(), "{document} names {path}");
        }
    }
}

#[test]
fn links_in_documents_resolve() {
    for document in DOCUMENTS {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let folder = root().join(document).parent().unwrap().to_owned();
        for link in links(&text).filter(|link| !link.contains("://")) {
            let path = link.split('#').next().unwrap();
            assert!(folder.join(path).exists(), "{document} links to {link}");
        }
    }
}

/// Citations have the form `science.md § Heading`, which ends at a bracket, comma, colon, semicolon
/// or period.
#[test]
fn citations_in_comments_name_sections_of_the_manual() {
    let chapter = fs::read_to_string(root().join("assets/manual/science.md")).unwrap();
    let headings: Vec<&str> = between(&chapter, "\n## ", '\n').collect();
    let mut cited = 0;
    for folder in ["src", "tests", "benches", "fuzz"] {
        for file in files(&root().join(folder), &["rs", "sql"]) {
            if file.ends_with("suites/documents.rs") {
                continue;
            }
            let text = fs::read_to_string(&file).unwrap();
            // A citation may continue in the next line of a comment.
            let text = text
                .lines()
                .map(|line| line.trim_start().trim_start_matches(['/', '!', ' ']))
                .collect::<Vec<_>>()
                .join(" ");
            for (at, _) in text.match_indices('§') {
                let before = text[..at].trim_end();
                let name = text[at + '§'.len_utf8()..].trim_start();
                if name.starts_with(|first: char| first.is_ascii_digit()) {
                    let word = before.rsplit([' ', '(']).next().unwrap_or_default();
                    let is_document = word.len() > 1
                        && word
                            .chars()
                            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
                        && word.chars().any(|c| c.is_ascii_uppercase());
                    assert!(!is_document, "{}: {word} is not here", file.display());
                } else if before.ends_with("science.md") {
                    let name = name.split([')', ']', ',', ':', ';', '.']).next().unwrap();
                    assert!(headings.contains(&name), "{}: {name:?}", file.display());
                    cited += 1;
                }
            }
        }
    }
    assert!(cited > 20, "{cited}");
}
