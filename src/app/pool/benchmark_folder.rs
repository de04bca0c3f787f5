//! A benchmark's folder: corpus, queries and labels.

use crate::app::error::{AppError, FileProblems, invalid};
use crate::app::input_files::{display_name, open, read_labels};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::Qrels;
use crate::formats::beir::{self, BeirDocument, BeirQuery};
use crate::formats::file::unpacked_name;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The split of a benchmark on which results are published.
const USUAL_SPLIT: &str = "test";

/// The files of a benchmark.
#[derive(Clone, Debug)]
pub struct BenchmarkFolder {
    pub(super) corpus: PathBuf,
    queries: PathBuf,
    qrels: PathBuf,
}

impl BenchmarkFolder {
    /// The files of an existing split.
    pub fn new(folder: &Path, split: &str) -> Result<Self, AppError> {
        let qrels = folder.join("qrels");
        let file = or_packed(qrels.join(format!("{split}.tsv")));
        if !file.is_file() {
            let known = splits(&qrels);
            let known = if known.is_empty() {
                "the folder has no labels".to_owned()
            } else {
                format!("--split is one of {}", known.join(", "))
            };
            return Err(AppError::file(
                &file,
                format!("there is no such file; {known}"),
            ));
        }
        Ok(Self {
            corpus: or_packed(folder.join("corpus.jsonl")),
            queries: or_packed(folder.join("queries.jsonl")),
            qrels: file,
        })
    }

    /// The default split: `test`, or else the first one by name.
    pub fn usual_split(folder: &Path) -> String {
        let all = splits(&folder.join("qrels"));
        let usual = all.iter().find(|split| *split == USUAL_SPLIT);
        usual
            .or(all.first())
            .map_or(USUAL_SPLIT, String::as_str)
            .to_owned()
    }

    /// Files that must not be overwritten.
    pub fn files(&self) -> [(&'static str, &Path); 3] {
        [
            ("corpus", &self.corpus),
            ("queries", &self.queries),
            ("labels", &self.qrels),
        ]
    }

    /// The labels. Skipped rows are added to `notes`.
    pub fn labels(&self, notes: &mut Vec<String>) -> Result<Qrels, AppError> {
        read_labels(&self.qrels, notes)
    }

    /// The queries with labels, in numeric order if all IDs are numbers, or else in file order.
    pub(super) fn queries(&self, qrels: &Qrels) -> Result<Vec<BeirQuery>, AppError> {
        let name = display_name(&self.queries);
        let mut problems = FileProblems::of(&self.queries);
        let all = beir::read_queries(open(&self.queries)?, &name);
        let all = all.filter_map(|query| problems.keep(query));
        let mut queries: Vec<BeirQuery> =
            all.filter(|query| qrels.contains_key(&query.id)).collect();
        problems.refuse_any()?;
        if queries.is_empty() {
            return Err(invalid!(
                "{name}: contains none of the labeled queries; compare the ids"
            ));
        }
        let number = |id: &QueryId| id.as_str().parse::<u64>().ok();
        if queries.iter().all(|query| number(&query.id).is_some()) {
            queries.sort_by_key(|query| number(&query.id));
        }
        Ok(queries)
    }

    /// Reads the corpus, with one document in memory at a time, until the end or the first error.
    pub(super) fn for_each_document(
        &self,
        visit: impl FnMut(BeirDocument) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        for_each_document(&self.corpus, visit)
    }
}

fn for_each_document(
    corpus: &Path,
    mut visit: impl FnMut(BeirDocument) -> Result<(), AppError>,
) -> Result<(), AppError> {
    let mut problems = FileProblems::of(corpus);
    let mut any = false;
    for document in beir::read_corpus(open(corpus)?, &display_name(corpus)) {
        any = true;
        if let Some(document) = problems.keep(document) {
            visit(document)?;
        }
    }
    problems.refuse_any()?;
    if any {
        Ok(())
    } else {
        Err(AppError::file(corpus, "holds no document"))
    }
}

/// The texts of these documents in a corpus: `corpus.jsonl`, or a folder that holds it. Documents
/// that it lacks, or that are empty there, are left out.
pub fn texts_of_corpus(
    path: &Path,
    wanted: &HashSet<DocId>,
) -> Result<HashMap<DocId, Arc<str>>, AppError> {
    let corpus = if path.is_dir() {
        or_packed(path.join("corpus.jsonl"))
    } else {
        path.to_owned()
    };
    let mut texts = HashMap::new();
    for_each_document(&corpus, |passage| {
        let text = passage.content();
        if wanted.contains(&passage.id) && !text.is_empty() {
            texts.insert(passage.id, Arc::from(text.as_str()));
        }
        Ok(())
    })?;
    Ok(texts)
}

/// The splits with labels, by name.
fn splits(qrels: &Path) -> Vec<String> {
    let names = std::fs::read_dir(qrels).into_iter().flatten().flatten();
    let mut known: Vec<String> = names
        .filter_map(|entry| {
            unpacked_name(&entry.path())
                .file_stem()?
                .to_str()
                .map(str::to_owned)
        })
        .collect();
    known.sort();
    known
}

/// A file, or its compressed version if only that exists.
fn or_packed(path: PathBuf) -> PathBuf {
    let mut name = path.clone().into_os_string();
    name.push(".gz");
    if !path.exists() && Path::new(&name).is_file() {
        name.into()
    } else {
        path
    }
}
