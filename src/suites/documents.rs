//! Checks that files named in the documents next to the source exist.

use std::path::Path;

const DOCUMENTS: [&str; 5] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "data/README.md",
];
const FOLDERS: [&str; 5] = ["src/", "tests/", "assets/", "benches/", ".ci/"];

/// Text in backticks or in a link.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let links = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    text.split('`').skip(1).step_by(2).chain(links)
}

#[test]
fn paths_in_documents_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        // A name in capitals is a placeholder.
        let is_path = |word: &&str| {
            FOLDERS.iter().any(|folder| word.starts_with(folder))
                && !word.contains(' ')
                && !word.contains("NAME")
        };
        for path in quoted(&text).filter(is_path) {
            assert!(root.join(path).exists(), "{document} names {path}");
        }
    }
}
