//! Records into labels and rankings, each document once a query.

use super::row::{GradedDocument, RankedDocument};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{Qrels, RankedRun};
use crate::formats::problem::{Problem, quoted};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

/// Documents by query, best first, with their scores where there are any.
pub type CandidateLists = BTreeMap<QueryId, Vec<(DocId, Option<f64>)>>;

/// The labels of `rows`; `report` is told of bad lines and of second labels, which are left out.
pub fn collect_qrels(
    rows: impl Iterator<Item = Result<(u64, GradedDocument), Problem>>,
    file: &str,
    report: &mut dyn FnMut(Problem),
) -> Qrels {
    let mut qrels = Qrels::new();
    for row in rows {
        let (line, label) = match row {
            Ok(row) => row,
            Err(problem) => {
                report(problem);
                continue;
            }
        };
        let labels = qrels.entry(label.query.clone()).or_default();
        match labels.entry(label.document.clone()) {
            Entry::Vacant(entry) => drop(entry.insert(label.grade)),
            Entry::Occupied(_) => {
                let what = named(&label.query, &label.document);
                let what = format!("{what} has a label on an earlier line; keep one");
                report(Problem::new(file, Some(line), &what));
            }
        }
    }
    qrels
}

/// Documents with their scores, and the lines that they stand on.
type LinesOfQuery = (Vec<(DocId, f64)>, Vec<u64>);

/// The rankings of `rows`, which all have scores; `report` is told of bad lines and of documents that come twice.
pub fn collect_run(
    rows: impl Iterator<Item = Result<(u64, RankedDocument), Problem>>,
    file: &str,
    report: &mut dyn FnMut(Problem),
) -> RankedRun {
    let mut run = RankedRun::new();
    let mut lines: BTreeMap<QueryId, Vec<u64>> = BTreeMap::new();
    // Lines of one query mostly stand together, and are put in their place together.
    let mut together: Option<(QueryId, LinesOfQuery)> = None;
    let mut put = |(query, (documents, places)): (QueryId, LinesOfQuery)| {
        lines.entry(query.clone()).or_default().extend(places);
        run.entry(query).or_default().extend(documents);
    };
    for row in rows {
        match row {
            Ok((line, placed)) => {
                let Some(score) = placed.score else { continue };
                if let Some((query, _)) = &together
                    && *query != placed.query
                {
                    together.take().into_iter().for_each(&mut put);
                }
                let (_, (documents, places)) =
                    together.get_or_insert_with(|| (placed.query, LinesOfQuery::default()));
                documents.push((placed.document, score));
                places.push(line);
            }
            Err(problem) => report(problem),
        }
    }
    together.into_iter().for_each(&mut put);
    report_repeats(&run, lines.values(), file, report);
    run
}

/// The candidates of `rows` in the order of their lines; `report` is told of bad lines, of documents that come twice and
/// of ranks that do not rise.
pub fn collect_candidates(
    rows: impl Iterator<Item = Result<(u64, RankedDocument), Problem>>,
    file: &str,
    report: &mut dyn FnMut(Problem),
) -> CandidateLists {
    let mut candidates = CandidateLists::new();
    let mut places: BTreeMap<QueryId, (Vec<u64>, Option<i64>)> = BTreeMap::new();
    for row in rows {
        match row {
            Ok((line, placed)) => {
                let (lines, above) = places.entry(placed.query.clone()).or_default();
                if let (Some(rank), Some(above)) = (placed.rank, *above)
                    && rank <= above
                {
                    let what = format!("rank {rank} comes after rank {above}; sort the file");
                    report(Problem::new(file, Some(line), &what));
                }
                lines.push(line);
                *above = placed.rank.or(*above);
                let documents = candidates.entry(placed.query).or_default();
                documents.push((placed.document, placed.score));
            }
            Err(problem) => report(problem),
        }
    }
    let lines = places.values().map(|(lines, _)| lines);
    report_repeats(&candidates, lines, file, report);
    candidates
}

/// Reports every document that is not the first of its id; `lines` are those of each list.
fn report_repeats<'a, T>(
    lists: &BTreeMap<QueryId, Vec<(DocId, T)>>,
    lines: impl Iterator<Item = &'a Vec<u64>>,
    file: &str,
    report: &mut dyn FnMut(Problem),
) {
    for ((query, documents), lines) in lists.iter().zip(lines) {
        let mut seen = HashSet::with_capacity(documents.len());
        if documents.iter().all(|(id, _)| seen.insert(id)) {
            continue;
        }
        let ids = documents.iter().map(|(id, _)| id);
        let mut found: Vec<(&DocId, u64)> = ids.zip(lines.iter().copied()).collect();
        found.sort_unstable();
        for same in found.chunk_by(|x, y| x.0 == y.0) {
            for (document, line) in same.iter().skip(1) {
                let first = same.first().map_or(0, |(_, line)| *line);
                let what = named(query, document);
                let what = format!("{what} is already on line {first}; keep one");
                report(Problem::new(file, Some(*line), &what));
            }
        }
    }
}

fn named(query: &QueryId, document: &DocId) -> String {
    format!(
        "document {} of query {}",
        quoted(document.as_str()),
        quoted(query.as_str())
    )
}
