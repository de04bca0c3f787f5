//! Imports a folder of Parquet files as one dataset: all of them, or nothing.

use super::datasets::{REFUSED, add};
use super::imported::KnownQueries;
use super::preview::{ImportPreview, PoolCounts};
use super::sample::RecordSample;
use super::{ImportedFile, PoolsImport};
use crate::app::error::{AppError, FileProblems, invalid};
use crate::app::input_files::display_name;
use crate::app::run_lock::RunLock;
use crate::app::text_format::counted;
use crate::formats::dataset::read_pools;
use crate::formats::parquet_shards::ParquetShards;
use crate::store::Store;
use std::path::{Path, PathBuf};

/// A folder that was read completely and found valid, or valid enough.
#[derive(Debug)]
pub struct CheckedShards {
    folder: PathBuf,
    shards: ParquetShards,
    counts: PoolCounts,
    /// A record as it was parsed.
    pub sample: Option<RecordSample>,
    /// The problems of skipped rows.
    pub problems: FileProblems,
}

/// Reads all Parquet files of a folder.
///
/// # Errors
/// A file cannot be read, has other columns than the first one, or, unless `skip_bad`, has an
/// invalid row. Problems name the file and the row.
pub fn check_shards(folder: &Path, skip_bad: bool) -> Result<CheckedShards, AppError> {
    let shards = ParquetShards::of(folder).map_err(|error| invalid!("{error}"))?;
    let mut problems = FileProblems::of(folder);
    let mut counts = PoolCounts::default();
    let mut sample = None;
    let mut pools = read_pools(shards.read(), &display_name(folder));
    while let Some(pool) = pools.next() {
        let line = pools.line();
        let Some(pool) = problems.keep(pool.map_err(|problem| shards.place(problem))) else {
            continue;
        };
        if let (None, Some((path, row))) = (&sample, shards.row(line)) {
            sample = Some(RecordSample::of_pool(path, row, &pool));
        }
        counts.documents += pool.documents.len();
        counts.queries.insert(pool.query.id);
    }
    if counts.queries.is_empty() && problems.count == 0 {
        return Err(AppError::file(folder, "contains no query"));
    }
    if !skip_bad {
        problems.clone().refuse(REFUSED)?;
    }
    Ok(CheckedShards {
        folder: folder.to_owned(),
        shards,
        counts,
        sample,
        problems,
    })
}

impl CheckedShards {
    /// Counts what the folder would add to a project; without a project, everything is new.
    pub fn preview(&self, store: Option<&Store>) -> Result<ImportPreview, AppError> {
        let known = store.map(KnownQueries::read).transpose()?;
        let queries = &self.counts.queries;
        let is_here = |query: &&_| known.as_ref().is_some_and(|known| known.contains(query));
        Ok(ImportPreview {
            file: display_name(&self.folder),
            format: "a dataset in Parquet files",
            content: format!(
                "{}, {}, {}",
                counted(self.shards.count(), "file"),
                counted(queries.len(), "query"),
                counted(self.counts.documents, "document")
            ),
            queries: queries.len(),
            queries_here: queries.iter().filter(is_here).count(),
        })
    }

    /// Imports all files in one transaction. The dataset is named after the folder.
    pub fn import(self, store: &Store) -> Result<ImportedFile, AppError> {
        // Queries may be added during a run, but not changed: its judges are being shown them.
        let (_lock, keep_known) = match RunLock::take(store.path()) {
            Ok(lock) => (Some(lock), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let name = display_name(&self.folder);
        let folder = self.folder.canonicalize().unwrap_or(self.folder);
        let dataset = folder.file_name().unwrap_or_default();
        let dataset = dataset.to_string_lossy().into_owned();
        let reader = self.shards.read();
        let imported = store.write_blocking(move |db| {
            let imported: PoolsImport = add(db, reader, &name, &dataset)?;
            imported.check_known(keep_known.as_deref())?;
            Ok(imported)
        })?;
        Ok(ImportedFile::Pools(imported))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::table_file::{CellKind, Column, TableFormat, TableWriter};
    use serde_json::{Value, json};
    use std::fs::File;
    use tempfile::TempDir;

    const COLUMNS: [Column; 3] = [
        Column::text("query"),
        Column::of("positive", CellKind::Texts),
        Column::of("negative", CellKind::Texts),
    ];

    fn write(folder: &TempDir, name: &str, columns: &[Column], rows: &[Value]) {
        let mut file = File::create(folder.path().join(name)).unwrap();
        let mut table = TableWriter::new(columns, TableFormat::Parquet, &mut file).unwrap();
        for row in rows {
            table.write(row.clone()).unwrap();
        }
        table.finish().unwrap();
    }

    fn row(query: &str) -> Value {
        json!({"query": query, "positive": ["yes"], "negative": ["no"]})
    }

    fn refused(folder: &TempDir) -> String {
        match check_shards(folder.path(), false).unwrap_err() {
            AppError::Problems(problems) => problems.first[0].to_string(),
            error => error.to_string(),
        }
    }

    #[test]
    fn files_are_imported_in_the_order_of_their_names_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder, "part-00001.parquet", &COLUMNS, &[row("third")]);
        write(
            &folder,
            "part-00000.parquet",
            &COLUMNS,
            &[row("first"), row("second")],
        );
        std::fs::write(folder.path().join("_SUCCESS"), "").unwrap();
        let other = tempfile::tempdir().unwrap();
        let store = Store::open(&other.path().join("p.db")).unwrap();
        let checked = check_shards(folder.path(), false).unwrap();
        let preview = checked.preview(Some(&store)).unwrap();
        assert_eq!(preview.content, "2 files, 3 queries, 6 documents");
        let ImportedFile::Pools(import) = checked.import(&store).unwrap() else {
            panic!("no pools");
        };
        assert_eq!((import.queries_added, import.skipped), (3, 0));
        let queries = store.read_blocking(|db| db.queries()).unwrap();
        let texts: Vec<&str> = queries.iter().map(|query| query.text.as_str()).collect();
        assert_eq!(texts, ["first", "second", "third"]);
        // Again, nothing is new.
        let again = check_shards(folder.path(), false).unwrap();
        assert!(
            again
                .import(&store)
                .unwrap()
                .to_string()
                .contains("0 queries added")
        );
    }

    #[test]
    fn a_problem_names_the_file_and_the_row() {
        let folder = tempfile::tempdir().unwrap();
        write(
            &folder,
            "part-0.parquet",
            &COLUMNS,
            &[row("first"), row("second")],
        );
        write(
            &folder,
            "part-1.parquet",
            &COLUMNS,
            &[row("third"), row(" ")],
        );
        let problem = refused(&folder);
        assert!(problem.contains("part-1.parquet:2: query"), "{problem}");
        let checked = check_shards(folder.path(), true).unwrap();
        assert_eq!(
            (checked.counts.queries.len(), checked.problems.count),
            (3, 1)
        );
        std::fs::write(folder.path().join("part-2.parquet"), "PAR1 and no more").unwrap();
        assert!(refused(&folder).contains("part-2.parquet: is Parquet that cannot be read"));
    }

    #[test]
    fn files_with_other_columns_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder, "part-0.parquet", &COLUMNS, &[row("first")]);
        write(&folder, "part-1.parquet", &COLUMNS[..2], &[]);
        let why = refused(&folder);
        assert!(
            why.contains("part-1.parquet: lacks the column \"negative\""),
            "{why}"
        );
        let mut columns = COLUMNS;
        columns[2] = Column::text("negative");
        write(&folder, "part-1.parquet", &columns, &[]);
        let why = refused(&folder);
        assert!(
            why.contains("the column \"negative\" has another type"),
            "{why}"
        );
        std::fs::create_dir(folder.path().join("more")).unwrap();
        write(&folder, "more/part-2.parquet", &COLUMNS, &[row("third")]);
        let why = refused(&folder);
        assert!(why.contains("more: is a folder inside"), "{why}");
        let empty = tempfile::tempdir().unwrap();
        assert!(refused(&empty).contains("holds no file that ends in .parquet"));
    }
}
