//! Labels, rankings and pools from files, read whole or refused with all that is wrong.

use super::error::{AppError, FileProblems, invalid};
use super::wording::counted;
use crate::domain::corpus::{DocId, Pool, QueryId};
use crate::domain::metrics::{Qrels, RankedRun};
use crate::formats::dataset::{self, BenchmarkLabels};
pub use crate::formats::file::display_name;
use crate::formats::file::{self, UnpackedFile};
use crate::formats::file_kind::{FileKind, recognise};
use crate::formats::problem::Problem;
use crate::formats::query_list::{is_query_list, read_query_list};
use crate::formats::ranx::read_ranx;
use crate::formats::{beir, trec};
use std::collections::BTreeSet;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file from its beginning, unpacked where it is compressed; `-` is the standard input.
pub fn open(path: &Path) -> Result<InputReader, AppError> {
    open_counted(path, &ReadProgress::default())
}

pub type InputReader = BufReader<UnpackedFile>;

/// How much of its files a use case has read, for whoever watches.
#[derive(Clone, Debug, Default)]
pub struct ReadProgress {
    read: Arc<AtomicU64>,
    expected: Arc<AtomicU64>,
}

impl ReadProgress {
    /// The file will be read from its beginning to its end so many times.
    pub fn expect(&self, path: &Path, passes: u64) {
        let bytes = std::fs::metadata(path).map_or(0, |found| found.len());
        self.expected.store(bytes * passes, Ordering::Relaxed);
    }

    /// The share that has been read, 0..=1; `None` while it is not known how much there is.
    pub fn share(&self) -> Option<f64> {
        let expected = self.expected.load(Ordering::Relaxed);
        let read = self.read.load(Ordering::Relaxed) as f64;
        (expected > 0).then(|| (read / expected as f64).min(1.0))
    }
}

/// Opens a file that may be large.
pub fn open_counted(path: &Path, progress: &ReadProgress) -> Result<InputReader, AppError> {
    let read = Arc::clone(&progress.read);
    let seen = move |bytes| {
        read.fetch_add(bytes, Ordering::Relaxed);
    };
    file::open_unpacked(path, seen)
        .map_err(|error| invalid!("{}: cannot be opened: {error}", display_name(path)))
}

/// What a file is called in the project: its name without the ending.
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
    recognise(open(path)?, &display_name(path)).map_err(AppError::invalid)
}

/// The labels of a file: qrels of TREC or BEIR, or the grades of a dataset.
pub fn read_labels(path: &Path) -> Result<Qrels, AppError> {
    let name = display_name(path);
    let mut problems = FileProblems::of(path);
    let mut add = |problem: Problem| problems.add(problem);
    let qrels = match kind(path)? {
        FileKind::Qrels => {
            trec::collect_qrels(trec::read_qrels(open(path)?, &name), &name, &mut add)
        }
        FileKind::BeirQrels => {
            trec::collect_qrels(beir::read_qrels(open(path)?, &name), &name, &mut add)
        }
        FileKind::RanxQrels => {
            let read = read_ranx(open(path)?, &name).and_then(|numbers| numbers.qrels(&name));
            read.map_err(AppError::invalid)?
        }
        FileKind::Dataset => {
            let mut qrels = Qrels::new();
            let mut pools = dataset::read_pools(open(path)?, &name);
            while let Some(pool) = pools.next() {
                let line = Some(pools.line());
                if let Some(pool) = problems.keep(pool) {
                    add_grades(&pool, &mut qrels, &mut |what| {
                        problems.add(Problem::new(&name, line, what));
                    });
                }
            }
            qrels
        }
        found @ (FileKind::Run | FileKind::Candidates | FileKind::RanxRun) => {
            return Err(invalid!(
                "{name}: is {}, not labels; the file of labels comes first",
                found.describe()
            ));
        }
    };
    problems.refuse_any()?;
    if qrels.values().all(|grades| grades.is_empty()) {
        return Err(invalid!(
            "{name}: holds no labels; name qrels, or documents with metadata.grade (for scores as the truth: --profile zbench)"
        ));
    }
    Ok(qrels)
}

/// The queries of a file: those of labels, or one a line.
pub fn read_query_ids(path: &Path) -> Result<BTreeSet<QueryId>, AppError> {
    let name = display_name(path);
    if !is_query_list(open(path)?, &name) {
        return Ok(read_labels(path)?.into_keys().collect());
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

/// The rankings of a file: a run of TREC's, or the scores of a dataset. What was left out goes into `notes`.
pub fn read_ranking(path: &Path, notes: &mut Vec<String>) -> Result<RankedRun, AppError> {
    let name = display_name(path);
    let mut problems = FileProblems::of(path);
    let mut add = |problem: Problem| problems.add(problem);
    let run = match kind(path)? {
        // Scores may all be whole numbers: what comes second is a ranking.
        FileKind::RanxRun | FileKind::RanxQrels => read_ranx(open(path)?, &name)
            .map_err(AppError::invalid)?
            .run(),
        FileKind::Run => trec::collect_run(trec::read_run(open(path)?, &name), &name, &mut add),
        FileKind::Candidates => {
            let rows = trec::read_candidates(open(path)?, &name);
            let candidates = trec::collect_candidates(rows, &name, &mut add).into_iter();
            candidates
                .map(|(query, documents)| (query, scored_by_place(documents)))
                .collect()
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
                notes.push(format!("{name}: {missing} without a score are left out"));
            }
            run
        }
        FileKind::Qrels | FileKind::BeirQrels => {
            return Err(invalid!(
                "{name}: holds labels, not a ranking; the file of labels comes first, then a run or documents with scores"
            ));
        }
    };
    problems.refuse_any()?;
    if run.is_empty() {
        return Err(invalid!(
            "{name}: holds no scores; `overrule annotate` gives documents theirs"
        ));
    }
    Ok(run)
}

/// Candidates as a ranking: their order is what is known of them, and the rank from the end makes a score.
fn scored_by_place(documents: Vec<(DocId, Option<f64>)>) -> Vec<(DocId, f64)> {
    let count = documents.len();
    let places = documents.into_iter().enumerate();
    places
        .map(|(above, (document, _))| (document, (count - above) as f64))
        .collect()
}

/// The pools of a dataset without a bad line.
pub fn read_pools(path: &Path) -> Result<Vec<Pool>, AppError> {
    let mut problems = FileProblems::of(path);
    let records = dataset::read_pools(open(path)?, &display_name(path));
    let pools = records.filter_map(|pool| problems.keep(pool)).collect();
    problems.refuse_any()?;
    Ok(pools)
}
