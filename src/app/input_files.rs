//! Reads labels, rankings and pools from files, either completely or not at all, reporting all
//! problems.

use super::error::{AppError, FileProblems, invalid};
use super::text_format::{counted, first_names};
use crate::domain::corpus::{DocId, Pool, QueryId};
use crate::domain::metrics::{Qrels, RankedRun, ScoreWidth, sort_as_trec_eval};
use crate::formats::answers::AnswerOptions;
use crate::formats::columns::{self, CollectedLabels, Layout, TableContent};
use crate::formats::dataset::{self, BenchmarkLabels};
pub use crate::formats::file::display_name;
use crate::formats::file::{self, UnpackedFile};
use crate::formats::file_kind::{FileKind, recognize};
use crate::formats::judgments::ReadJudgments;
use crate::formats::problem::Problem;
use crate::formats::query_list::{is_query_list, read_query_list};
use crate::formats::ranx::read_ranx;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Opens a file from its beginning, decompressing it if needed; `-` is the standard input.
pub fn open(path: &Path) -> Result<InputReader, AppError> {
    open_counted(path, &ReadProgress::default())
}

pub type InputReader = BufReader<UnpackedFile>;

/// The beginning of a file, without a byte order mark and leading whitespace, for recognizing its
/// format. It may end anywhere, and bytes that are no text are replaced.
pub fn start_of(path: &Path) -> Result<String, AppError> {
    let mut reader = open(path)?;
    let start = reader.fill_buf().map_err(|error| {
        let what = format!("{}: cannot be read: {error}", display_name(path));
        match error.kind() {
            io::ErrorKind::InvalidData => AppError::Invalid(what),
            _ => AppError::Failed(what),
        }
    })?;
    let start = String::from_utf8_lossy(start);
    Ok(start.trim_start_matches('\u{feff}').trim_start().to_owned())
}

/// The share of its files that a use case has read, for display.
#[derive(Clone, Debug, Default)]
pub struct ReadProgress {
    read: Arc<AtomicU64>,
    expected: Arc<AtomicU64>,
}

impl ReadProgress {
    /// Announces that the file will be read this many times from beginning to end.
    pub fn expect(&self, path: &Path, passes: u64) {
        let bytes = std::fs::metadata(path).map_or(0, |found| found.len());
        self.expected.store(bytes * passes, Ordering::Relaxed);
    }

    /// The share read so far, in 0..=1; `None` while the total is unknown.
    pub fn share(&self) -> Option<f64> {
        let expected = self.expected.load(Ordering::Relaxed);
        let read = self.read.load(Ordering::Relaxed) as f64;
        (expected > 0).then(|| (read / expected as f64).min(1.0))
    }
}

/// Opens a potentially large file.
pub fn open_counted(path: &Path, progress: &ReadProgress) -> Result<InputReader, AppError> {
    let read = Arc::clone(&progress.read);
    let seen = move |bytes| {
        read.fetch_add(bytes, Ordering::Relaxed);
    };
    file::open_unpacked(path, seen)
        .map_err(|error| invalid!("{}: cannot be opened: {error}", display_name(path)))
}

/// The name of a file in the project: its file name without the extension.
pub fn stem(path: &Path) -> String {
    if file::is_standard_input(path) {
        return "stdin".to_owned();
    }
    file::unpacked_name(path)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

pub fn kind(path: &Path) -> Result<FileKind, AppError> {
    kind_as(path, None)
}

/// The kind of a file; `wanted` is the content stated by the user.
pub fn kind_as(path: &Path, wanted: Option<TableContent>) -> Result<FileKind, AppError> {
    recognize(open(path)?, &display_name(path), wanted).map_err(AppError::invalid)
}

/// The labels of a file: qrels, or the grades of a dataset. Skipped rows are added to `notes`.
pub fn read_labels(path: &Path, notes: &mut Vec<String>) -> Result<Qrels, AppError> {
    Ok(labels_of(path, &kind(path)?, notes)?.labels)
}

/// The labels of a file, and how it names its queries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundLabels {
    /// The labels, under the names of the file.
    pub labels: Qrels,
    /// Whether the names of queries may be their texts.
    pub may_name_texts: bool,
    /// Texts of queries, if the file has identifiers and texts.
    pub texts: BTreeMap<QueryId, String>,
    /// The first line of each query, from 1; empty if unknown.
    pub first_lines: BTreeMap<QueryId, u64>,
    /// The lines of documents that the file may name by their texts, by the names of the file.
    pub document_lines: BTreeMap<(QueryId, DocId), u64>,
}

/// The labels of a file of this kind.
pub fn labels_of(
    path: &Path,
    kind: &FileKind,
    notes: &mut Vec<String>,
) -> Result<FoundLabels, AppError> {
    labels_by(path, kind, &AnswerOptions::default(), notes)
}

/// The labels of a file of this kind; `options` say how the answers of annotation tools are read.
pub fn labels_by(
    path: &Path,
    kind: &FileKind,
    options: &AnswerOptions,
    notes: &mut Vec<String>,
) -> Result<FoundLabels, AppError> {
    let name = display_name(path);
    let mut problems = FileProblems::of(path);
    let mut report = |problem| problems.add(problem);
    let (read, may_name_texts) = match kind {
        FileKind::Table(layout) if layout.content == TableContent::Labels => {
            let rows = columns::read_labels(open(path)?, &name, layout);
            let collected = columns::collect_labels(rows, &name, &mut report);
            (ReadJudgments::from(collected), layout.may_name_texts())
        }
        FileKind::Judgments(format) => {
            let read = format.read(&mut open(path)?, &name, options, &mut report);
            (read, true)
        }
        FileKind::RanxQrels => {
            let numbers = read_ranx(open(path)?, &name);
            let labels = numbers.and_then(|numbers| numbers.qrels(&name));
            (
                ReadJudgments::from(labels.map_err(AppError::invalid)?),
                false,
            )
        }
        FileKind::Dataset => (ReadJudgments::from(read_graded(path)?.0), false),
        FileKind::Table(_) | FileKind::RanxRun => {
            return Err(invalid!(
                "{name}: is {}, not labels; name the file of labels first",
                kind.describe()
            ));
        }
    };
    problems.refuse_any()?;
    let CollectedLabels {
        labels,
        unrated,
        first_lines,
    } = read.collected;
    if unrated > 0 {
        let noun = match kind {
            FileKind::Judgments(format) => format.info().unrated,
            _ => "row",
        };
        let rows = counted(unrated, noun);
        notes.push(format!(
            "{name}: skipped {rows} without a rating, as unjudged"
        ));
    }
    if read.differing > 0 {
        let documents = counted(read.differing, "document");
        notes.push(format!(
            "{name}: people differ on {documents}, which have the median of their grades"
        ));
    }
    if labels.values().all(|grades| grades.is_empty()) {
        return Err(invalid!(
            "{name}: holds no labels; name qrels, or documents with metadata.grade"
        ));
    }
    Ok(FoundLabels {
        labels,
        may_name_texts,
        texts: read.texts,
        first_lines,
        document_lines: read.document_lines,
    })
}

/// The scores of a query's documents, `None` for those without one.
pub type DocumentScores = (QueryId, Vec<(DocId, Option<f64>)>);

/// The grades and the scores of a dataset.
pub fn read_graded(path: &Path) -> Result<(Qrels, Vec<DocumentScores>), AppError> {
    let name = display_name(path);
    let mut problems = FileProblems::of(path);
    let (mut qrels, mut scores) = (Qrels::new(), Vec::new());
    let mut pools = dataset::read_pools(open(path)?, &name);
    while let Some(pool) = pools.next() {
        let line = Some(pools.line());
        let Some(pool) = problems.keep(pool) else {
            continue;
        };
        add_grades(&pool, &mut qrels, &mut |what| {
            problems.add(Problem::new(&name, line, what));
        });
        let documents = pool.documents.into_iter();
        let of_query = documents.map(|document| (document.id, document.input_score));
        scores.push((pool.query.id, of_query.collect()));
    }
    problems.refuse_any()?;
    Ok((qrels, scores))
}

/// The queries of a file: those of labels, or one per line.
pub fn read_query_ids(path: &Path) -> Result<BTreeSet<QueryId>, AppError> {
    let name = display_name(path);
    if !is_query_list(open(path)?, &name) {
        return Ok(read_labels(path, &mut Vec::new())?.into_keys().collect());
    }
    let mut problems = FileProblems::of(path);
    let mut queries = BTreeSet::new();
    for query in read_query_list(open(path)?, &name) {
        queries.extend(problems.keep(query));
    }
    problems.refuse_any()?;
    Ok(queries)
}

fn add_grades(pool: &Pool, qrels: &mut Qrels, wrong: &mut dyn FnMut(&str)) {
    let grades = qrels.entry(pool.query.id.clone()).or_default();
    for (at, document) in pool.documents.iter().enumerate() {
        match BenchmarkLabels::of(document) {
            Ok(marks) => grades.extend(marks.grade.map(|grade| (document.id.clone(), grade))),
            Err(what) => wrong(&format!("documents[{at}].{what}")),
        }
    }
}

pub fn grades_of(pools: &[Pool], path: &Path) -> Result<Qrels, AppError> {
    let name = display_name(path);
    let mut problems = FileProblems::of(path);
    let mut qrels = Qrels::new();
    for pool in pools {
        let query = pool.query.id.as_str();
        add_grades(pool, &mut qrels, &mut |what| {
            let what = format!("query {query:?}: {what}");
            problems.add(Problem::new(&name, None, &what));
        });
    }
    problems.refuse_any()?;
    Ok(qrels)
}

/// The rankings of a file: a run, or the scores of a dataset. Each is sorted as by trec_eval.
/// Skipped documents, and ranks that contradict the scores, are added to `notes`.
pub fn read_ranking(path: &Path, notes: &mut Vec<String>) -> Result<RankedRun, AppError> {
    let found = kind(path)?;
    // Commands read labels first and then a ranking, whose scores may all be integers, or whose
    // table may contain labels next to its scores.
    let found = match found {
        FileKind::RanxQrels => FileKind::RanxRun,
        FileKind::Table(layout) if layout.content == TableContent::Labels => {
            let rankings = layout.rankings_too();
            FileKind::Table(rankings.unwrap_or(layout))
        }
        other => other,
    };
    rankings_of(path, &found, notes)
}

/// The rankings of a file of this kind.
pub fn rankings_of(
    path: &Path,
    kind: &FileKind,
    notes: &mut Vec<String>,
) -> Result<RankedRun, AppError> {
    let name = display_name(path);
    let mut run = match kind {
        FileKind::RanxRun => read_ranx(open(path)?, &name)
            .map_err(AppError::invalid)?
            .run(),
        FileKind::Table(layout) if layout.content == TableContent::Rankings => {
            table_rankings(path, layout, notes)?
        }
        FileKind::Dataset => {
            let mut run = RankedRun::new();
            let mut missing = 0;
            for pool in read_pools(path)? {
                let documents = run.entry(pool.query.id).or_default();
                for document in pool.documents {
                    match document.input_score {
                        Some(score) => documents.push((document.id, score)),
                        None => missing += 1,
                    }
                }
            }
            run.retain(|_, documents| !documents.is_empty());
            if missing > 0 && !run.is_empty() {
                let missing = counted(missing, "document");
                notes.push(format!("{name}: skipped {missing} without a score"));
            }
            run
        }
        FileKind::Table(_) | FileKind::Judgments(_) | FileKind::RanxQrels => {
            return Err(invalid!(
                "{name}: holds labels, not a ranking; expected a run, a table with scores or \
                 ranks, or a dataset with scores (after the labels, if a command reads both)"
            ));
        }
    };
    if run.is_empty() {
        return Err(invalid!(
            "{name}: holds no scores; `overrule annotate` computes them"
        ));
    }
    for documents in run.values_mut() {
        sort_as_trec_eval(documents, ScoreWidth::default());
    }
    Ok(run)
}

fn table_rankings(
    path: &Path,
    layout: &Layout,
    notes: &mut Vec<String>,
) -> Result<RankedRun, AppError> {
    let name = display_name(path);
    let mut problems = FileProblems::of(path);
    let rows = columns::read_rankings(open(path)?, &name, layout);
    let found =
        columns::collect_rankings(rows, layout, &name, &mut |problem| problems.add(problem));
    problems.refuse_any()?;
    notes.extend(contradictions(&name, &found.contradicted));
    Ok(found.run)
}

/// A note on queries whose ranks contradict their scores; `None` if there are none.
pub fn contradictions(file: &str, queries: &[QueryId]) -> Option<String> {
    let names: Vec<&str> = queries.iter().map(QueryId::as_str).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{file}: the ranks of {} contradict the scores: ordered by score, as trec_eval does ({})",
            counted(names.len(), "query"),
            first_names(&names)
        )
    })
}

/// The pools of a dataset without invalid lines.
pub fn read_pools(path: &Path) -> Result<Vec<Pool>, AppError> {
    let mut problems = FileProblems::of(path);
    let pools = dataset::read_pools(open(path)?, &display_name(path))
        .filter_map(|pool| problems.keep(pool))
        .collect();
    problems.refuse_any()?;
    Ok(pools)
}
