//! Imports a path into an open project: a file, another person's project, or a benchmark's folder.

use super::folder::{is_benchmark, is_project_file, refuse_project};
use super::{ImportOptions, check, log_import};
use crate::app::error::{AppError, invalid};
use crate::app::merge;
use crate::app::pool;
use crate::app::run_lock::RunLock;
use crate::app::text_format::counted;
use crate::store::Store;
use crate::store::merge::{MergeCounts, Snapshot};
use std::path::Path;

/// A preview of what a path would add, before anything is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePreview {
    /// Sentences that describe its kind and size.
    pub holds: Vec<String>,
    /// The verb for `Enter … the project NAME`, such as `imports it into`.
    pub act: &'static str,
    /// Whether it is a project itself.
    pub is_project: bool,
}

/// Whether a file is a project, whatever its name.
pub fn is_project(path: &Path) -> bool {
    is_project_file(path)
}

/// Reads all of the data at a path, and counts what `store` already has.
pub fn preview(
    path: &Path,
    store: Option<&Store>,
    options: &ImportOptions,
) -> Result<SourcePreview, AppError> {
    if let Some(store) = store {
        refuse_project(path, store.path())?;
    }
    if path.is_dir() {
        refuse_other_folders(path)?;
        let found = pool::look_at(path)?;
        return Ok(SourcePreview {
            holds: vec![
                format!(
                    "It holds a benchmark (BEIR), split {}: {} with {}.",
                    found.split,
                    counted(found.queries, "query"),
                    counted(found.labels, "label")
                ),
                format!(
                    "Pools of {} documents are built: the labeled ones, filled up with the best \
                     results of BM25.",
                    pool::USUAL_DEPTH
                ),
            ],
            act: "builds the pools in",
            is_project: false,
        });
    }
    if let Some(store) = store.filter(|_| is_project_file(path)) {
        let counts = rehearsed(path, store)?;
        let mut holds = vec![
            "It is another Overrule project.".to_owned(),
            match merge::taken_over(&counts) {
                None => "It contains nothing new.".to_owned(),
                Some(new) => format!("New: {new}."),
            },
        ];
        holds.extend(merge_notes(&counts));
        return Ok(SourcePreview {
            holds,
            act: "merges it into",
            is_project: true,
        });
    }
    let checked = check(path, options)?;
    let found = checked.preview(store)?;
    let mut holds = vec![format!("It holds {}: {}.", found.format, found.content)];
    holds.extend(
        checked
            .sample
            .iter()
            .map(|sample| format!("Read as: {}.", sample.record)),
    );
    holds.extend(checked.notes.iter().map(|note| format!("Note: {note}.")));
    holds.extend(store.map(|_| match (found.queries_here, found.queries) {
        (0, _) => "None of these queries are in the project yet.".to_owned(),
        (here, all) if here == all => {
            format!("All {} are already in the project.", counted(all, "query"))
        }
        (here, all) => format!(
            "{here} of {} are already in the project.",
            counted(all, "query")
        ),
    }));
    Ok(SourcePreview {
        holds,
        act: "imports it into",
        is_project: false,
    })
}

/// Imports all of the data at a path into the project, or nothing. Returns a description of the
/// changes, as lines.
pub fn bring_in(
    path: &Path,
    store: &Store,
    options: &ImportOptions,
    (annotator, seed): (&str, u64),
) -> Result<Vec<String>, AppError> {
    refuse_project(path, store.path())?;
    let name = path.display();
    if path.is_dir() {
        refuse_other_folders(path)?;
        let (split, summary) = pool::build_usual(path, store, seed)?;
        log_import(
            store,
            annotator,
            &format!("{name}: pools of its {split} queries"),
        )?;
        let built = format!(
            "{name}: {} with {} in all, from a corpus of {}",
            counted(summary.pools.count, "pool"),
            counted(summary.pools.slots, "document"),
            counted(summary.documents, "document")
        );
        return Ok([vec![built], summary.warnings].concat());
    }
    if is_project_file(path) {
        let _lock = RunLock::take(store.path()).map_err(AppError::failed)?;
        let snapshot = Snapshot::of(path)?;
        let counts = merge::merge_into(store, snapshot, true)?;
        let words = match merge::taken_over(&counts) {
            None => format!("{name}: contained nothing new"),
            Some(new) => format!("{name}: merged: {new}"),
        };
        return Ok([vec![words], merge_notes(&counts)].concat());
    }
    let imported = check(path, options)?.import(store)?.to_string();
    log_import(store, annotator, &imported)?;
    Ok(vec![imported])
}

/// Previews a merge on a copy of the open project, so that no write has to wait for it.
fn rehearsed(path: &Path, store: &Store) -> Result<MergeCounts, AppError> {
    let theirs = Snapshot::of(path)?;
    let mut ours = Snapshot::of_open(store.path())?;
    Ok(merge::merge(ours.db_mut(), &theirs, false)?)
}

fn merge_notes(counts: &MergeCounts) -> Vec<String> {
    let refused = counts.refused.iter();
    let refused = refused.map(|(query, why)| format!("skipped query {query:?}: {why}"));
    let notes = merge::notes(counts).into_iter();
    notes
        .map(|note| format!("Note: {note}."))
        .chain(refused)
        .collect()
}

fn refuse_other_folders(path: &Path) -> Result<(), AppError> {
    if is_benchmark(path) {
        Ok(())
    } else {
        Err(invalid!(
            "{}: is a folder, but not a benchmark (corpus.jsonl, queries.jsonl, qrels/); name a \
             file",
            path.display()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::dataset;
    use std::fs;
    use std::path::PathBuf;
    use tempfile::TempDir;

    const LINE: &str = r#"{"query":{"id":"q","query":"trams"},"documents":[{"id":"a","content":"a tram"},{"id":"b","content":"a bus"}]}"#;

    fn project(folder: &TempDir, name: &str) -> Store {
        Store::open(&folder.path().join(name)).unwrap()
    }

    fn queries(store: &Store) -> usize {
        store.read_blocking(|db| db.overview()).unwrap().len()
    }

    fn looked_at(path: &Path, store: &Store) -> Result<SourcePreview, AppError> {
        preview(path, Some(store), &ImportOptions::default())
    }

    fn brought(path: &Path, store: &Store) -> Vec<String> {
        bring_in(path, store, &ImportOptions::default(), ("ann", 0)).unwrap()
    }

    #[test]
    fn another_project_is_counted_and_then_merged_once() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) = (project(&folder, "ours.db"), project(&folder, "theirs.db"));
        let pool = dataset::read_pools(LINE.as_bytes(), "in.jsonl").next();
        let pool = pool.unwrap().unwrap();
        theirs
            .write_blocking(move |db| db.add_pool(&pool, "in"))
            .unwrap();
        let path = theirs.path().to_owned();
        drop(theirs);
        let found = looked_at(&path, &ours).unwrap();
        assert_eq!(found.act, "merges it into");
        assert_eq!(found.holds[1], "New: 1 query, 2 documents.");
        assert_eq!(queries(&ours), 0, "a look changes nothing");
        assert!(brought(&path, &ours)[0].ends_with("merged: 1 query, 2 documents"));
        assert_eq!(queries(&ours), 1);
        assert!(brought(&path, &ours)[0].ends_with("contained nothing new"));
        assert!(
            looked_at(ours.path(), &ours).is_err(),
            "the open project itself"
        );
    }

    fn benchmark(folder: &TempDir) -> PathBuf {
        let path = folder.path().join("tiny");
        fs::create_dir_all(path.join("qrels")).unwrap();
        let corpus = r#"{"_id":"a","title":"","text":"a tram in town"}
{"_id":"b","title":"","text":"a bus"}
"#;
        fs::write(path.join("corpus.jsonl"), corpus).unwrap();
        fs::write(
            path.join("queries.jsonl"),
            "{\"_id\":\"1\",\"text\":\"tram\"}\n",
        )
        .unwrap();
        let labels = "query-id\tcorpus-id\tscore\n1\ta\t1\n";
        fs::write(path.join("qrels/dev.tsv"), labels).unwrap();
        path
    }

    #[test]
    fn a_benchmark_is_counted_and_its_pools_are_built() {
        let folder = tempfile::tempdir().unwrap();
        let (store, path) = (project(&folder, "ours.db"), benchmark(&folder));
        let found = looked_at(&path, &store).unwrap();
        let holds = "It holds a benchmark (BEIR), split dev: 1 query with 1 label.";
        assert_eq!(
            (found.holds[0].as_str(), found.act),
            (holds, "builds the pools in")
        );
        assert_eq!(queries(&store), 0, "a look changes nothing");
        assert!(brought(&path, &store)[0].contains("1 pool with 1 document in all"));
        assert_eq!(queries(&store), 1);
        let other = folder.path().join("qrels");
        fs::create_dir(&other).unwrap();
        assert!(
            looked_at(&other, &store)
                .unwrap_err()
                .to_string()
                .contains("not a benchmark")
        );
    }
}
