//! Creates a project from a file, for users who start from the sample and bring their own data.

use super::error::{AppError, invalid};
use super::import::ImportOptions;
use super::import::source::{self, SourcePreview, is_project};
use super::project::open_or_create;
use crate::config::Config;
use crate::store::file::sibling;
use std::path::Path;

/// Creates a project and imports the data at a path into it. On failure, no project is left.
///
/// # Errors
/// A file with the project's name exists, or the data at the path cannot be imported.
pub fn make_project(
    source: &Path,
    project: &Path,
    config: &Config,
    options: &ImportOptions,
    who: (&str, u64),
) -> Result<Vec<String>, AppError> {
    let name = project.display();
    if project.is_dir() {
        return Err(invalid!("{name}: is a folder; name a file in it"));
    }
    if project.exists() {
        let why = if is_project(project) {
            "is already a project; open it, or choose another name"
        } else {
            "exists; choose another name"
        };
        return Err(invalid!("{name}: {why}"));
    }
    let store = open_or_create(project, config)?;
    let brought = source::bring_in(source, &store, options, who);
    if brought.is_err() {
        drop(store);
        for suffix in ["", "-wal", "-shm"] {
            drop(std::fs::remove_file(sibling(project, suffix)));
        }
    }
    brought
}

/// Reads all of the data at a path, which will become a project or is one.
pub fn preview(path: &Path, options: &ImportOptions) -> Result<SourcePreview, AppError> {
    if is_project(path) {
        Ok(SourcePreview {
            holds: vec!["It is an Overrule project.".to_owned()],
            act: "opens",
            is_project: true,
        })
    } else {
        source::preview(path, None, options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const LINE: &str = r#"{"query":{"id":"q","query":"trams"},"documents":[{"id":"a","content":"a tram"},{"id":"b","content":"a bus"}]}"#;

    fn make(source: &Path, project: &Path) -> Result<Vec<String>, AppError> {
        let options = ImportOptions::default();
        make_project(source, project, &Config::default(), &options, ("ann", 0))
    }

    #[test]
    fn a_file_becomes_a_project_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (data, project) = (folder.path().join("in.jsonl"), folder.path().join("own.db"));
        fs::write(&data, LINE).unwrap();
        let found = preview(&data, &ImportOptions::default()).unwrap();
        let read = r#"Read as: query "q" ("trams") with 2 documents, the first of them "a"."#;
        assert_eq!(
            found.holds,
            ["It holds a dataset: 1 query, 2 documents.", read]
        );
        assert!(!found.is_project);
        assert_eq!(make(&data, &project).unwrap().len(), 1);
        let found = preview(&project, &ImportOptions::default()).unwrap();
        assert!(found.is_project && found.act == "opens");
        let again = make(&data, &project).unwrap_err().to_string();
        assert!(again.contains("is already a project"), "{again}");
        let other = make(&project, &data).unwrap_err().to_string();
        assert!(other.ends_with("exists; choose another name"), "{other}");
    }

    #[test]
    fn what_cannot_be_imported_leaves_no_project() {
        let folder = tempfile::tempdir().unwrap();
        let (data, project) = (folder.path().join("in.jsonl"), folder.path().join("own.db"));
        fs::write(&data, "{\"query\":").unwrap();
        assert!(make(&data, &project).is_err());
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
