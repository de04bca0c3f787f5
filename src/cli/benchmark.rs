//! Labels, rankings and pools from files, for the commands that measure.

use super::import::{display_name, open};
use super::{CommandFailure, output};
use crate::domain::corpus::{DocId, Pool};
use crate::domain::metrics::{Qrels, RankedRun};
use crate::formats::dataset::{self, BenchmarkLabels};
use crate::formats::problem::Problem;
use crate::formats::recognise::{FileKind, recognise};
use crate::formats::{beir, trec};
use anyhow::anyhow;
use std::path::Path;

/// What a file holds.
pub(super) fn kind(path: &Path) -> Result<FileKind, CommandFailure> {
    recognise(open(path)?, &display_name(path)).map_err(CommandFailure::usage)
}

/// The labels of a file: qrels of TREC or BEIR, or the grades of a dataset.
pub(super) fn labels(path: &Path) -> Result<Qrels, CommandFailure> {
    let name = display_name(path);
    let mut problems_of_file = output::ProblemPrinter::about(&name);
    let mut tell = |problem: Problem| problems_of_file.tell(&problem);
    let qrels = match kind(path)? {
        FileKind::Qrels => {
            trec::collect_qrels(trec::read_qrels(open(path)?, &name), &name, &mut tell)
        }
        FileKind::BeirQrels => {
            trec::collect_qrels(beir::read_qrels(open(path)?, &name), &name, &mut tell)
        }
        FileKind::Dataset => grades(path, &mut tell)?,
        found @ (FileKind::Run | FileKind::Candidates) => {
            return Err(CommandFailure::usage(anyhow!(
                "{name}: is {}, not labels; the file of labels comes first",
                found.describe()
            )));
        }
    };
    refuse(&name, problems_of_file.end())?;
    if qrels.values().all(|grades| grades.is_empty()) {
        return Err(CommandFailure::usage(anyhow!(
            "{name}: holds no labels; name qrels, or documents with metadata.grade (for scores as the truth: --profile zbench)"
        )));
    }
    Ok(qrels)
}

fn grades(path: &Path, tell: &mut dyn FnMut(Problem)) -> Result<Qrels, CommandFailure> {
    let name = display_name(path);
    let mut qrels = Qrels::new();
    let mut pools = dataset::read_pools(open(path)?, &name);
    while let Some(pool) = pools.next() {
        match pool {
            Ok(pool) => {
                let line = pools.line();
                let mut wrong = |what: &str| tell(Problem::new(&name, Some(line), what));
                take_grades(&pool, &mut qrels, &mut wrong);
            }
            Err(problem) => tell(problem),
        }
    }
    Ok(qrels)
}

fn take_grades(pool: &Pool, qrels: &mut Qrels, wrong: &mut dyn FnMut(&str)) {
    let grades = qrels.entry(pool.query.id.clone()).or_default();
    for (at, document) in pool.documents.iter().enumerate() {
        match BenchmarkLabels::of(document) {
            Ok(marks) => grades.extend(marks.grade.map(|grade| (document.id.clone(), grade))),
            Err(what) => wrong(&format!("documents[{at}].{what}")),
        }
    }
}

/// The grades of pools that were read from `path`.
pub(super) fn grades_of(pools: &[Pool], path: &Path) -> Result<Qrels, CommandFailure> {
    let name = display_name(path);
    let mut problems_of_file = output::ProblemPrinter::about(&name);
    let mut qrels = Qrels::new();
    for pool in pools {
        let query = pool.query.id.as_str();
        take_grades(pool, &mut qrels, &mut |what| {
            problems_of_file.tell(&Problem::new(
                &name,
                None,
                &format!("query {query:?}: {what}"),
            ));
        });
    }
    refuse(&name, problems_of_file.end())?;
    Ok(qrels)
}

/// The rankings of a file: a run of TREC's, or the scores of a dataset. What was left out goes into `notes`.
pub(super) fn ranking(path: &Path, notes: &mut Vec<String>) -> Result<RankedRun, CommandFailure> {
    let name = display_name(path);
    let run = match kind(path)? {
        FileKind::Run => {
            let mut problems_of_file = output::ProblemPrinter::about(&name);
            let rows = trec::read_run(open(path)?, &name);
            let run =
                trec::collect_run(rows, &name, &mut |problem| problems_of_file.tell(&problem));
            refuse(&name, problems_of_file.end())?;
            run
        }
        FileKind::Candidates => {
            let mut problems_of_file = output::ProblemPrinter::about(&name);
            let rows = trec::read_candidates(open(path)?, &name);
            let mut tell = |problem: Problem| problems_of_file.tell(&problem);
            let candidates = trec::collect_candidates(rows, &name, &mut tell);
            refuse(&name, problems_of_file.end())?;
            candidates
                .into_iter()
                .map(|(query, documents)| (query, by_place(documents)))
                .collect()
        }
        FileKind::Dataset => {
            let mut run = RankedRun::new();
            let mut missing = 0;
            for pool in pools(path)? {
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
                notes.push(format!(
                    "{name}: {} without a score are left out",
                    output::counted(missing, "document")
                ));
            }
            run
        }
        FileKind::Qrels | FileKind::BeirQrels => {
            return Err(CommandFailure::usage(anyhow!(
                "{name}: holds labels, not a ranking; the file of labels comes first, then a run or documents with scores"
            )));
        }
    };
    if run.is_empty() {
        return Err(CommandFailure::usage(anyhow!(
            "{name}: holds no scores; `overrule annotate` gives documents theirs"
        )));
    }
    Ok(run)
}

/// Candidates as a ranking: their order is what is known of them, and the rank from the end makes a score.
fn by_place(documents: Vec<(DocId, Option<f64>)>) -> Vec<(DocId, f64)> {
    let count = documents.len();
    let places = documents.into_iter().enumerate();
    places
        .map(|(above, (document, _))| (document, (count - above) as f64))
        .collect()
}

/// The pools of a dataset without a bad line.
pub(super) fn pools(path: &Path) -> Result<Vec<Pool>, CommandFailure> {
    let name = display_name(path);
    let mut problems_of_file = output::ProblemPrinter::about(&name);
    let mut pools = Vec::new();
    for pool in dataset::read_pools(open(path)?, &name) {
        match pool {
            Ok(pool) => pools.push(pool),
            Err(problem) => problems_of_file.tell(&problem),
        }
    }
    refuse(&name, problems_of_file.end())?;
    Ok(pools)
}

/// Refuses a file with problems, which have been told.
pub(super) fn refuse(name: &str, problems: usize) -> Result<(), CommandFailure> {
    if problems == 0 {
        return Ok(());
    }
    Err(CommandFailure::usage(anyhow!(
        "{name}: {}, nothing was done; mend the file",
        output::counted(problems, "problem")
    )))
}
