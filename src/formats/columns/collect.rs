//! Collects rows into labels and rankings, with each document once per query.

use super::layout::Layout;
use super::row::{GradedDocument, RankedDocument};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{Qrels, RankedRun};
use crate::formats::problem::{Problem, quoted};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

#[derive(Debug, Default, PartialEq, Eq)]
pub struct CollectedLabels {
    pub labels: Qrels,
    /// Rows without a grade, whose documents are unjudged.
    pub unrated: usize,
    /// The first line of each query.
    pub first_lines: BTreeMap<QueryId, u64>,
}

impl CollectedLabels {
    /// Adds a label. Calls `report` if there is one already, which is kept.
    pub(in crate::formats) fn add(
        &mut self,
        line: u64,
        label: GradedDocument,
        file: &str,
        report: &mut dyn FnMut(Problem),
    ) {
        let labels = match self.labels.get_mut(&label.query) {
            Some(labels) => labels,
            None => {
                self.first_lines.insert(label.query.clone(), line);
                self.labels.entry(label.query.clone()).or_default()
            }
        };
        match labels.entry(label.document.clone()) {
            Entry::Vacant(entry) => drop(entry.insert(label.grade)),
            Entry::Occupied(_) => {
                let what = named(&label.query, &label.document);
                let what = format!("{what} has a label on an earlier line; keep one");
                report(Problem::new(file, Some(line), &what));
            }
        }
    }
}

/// Collects labels. Calls `report` with invalid rows and with repeated labels, which are skipped.
pub fn collect_labels(
    rows: impl Iterator<Item = Result<(u64, Option<GradedDocument>), Problem>>,
    file: &str,
    report: &mut dyn FnMut(Problem),
) -> CollectedLabels {
    let mut found = CollectedLabels::default();
    for row in rows {
        let (line, label) = match row {
            Ok((line, Some(label))) => (line, label),
            Ok((_, None)) => {
                found.unrated += 1;
                continue;
            }
            Err(problem) => {
                report(problem);
                continue;
            }
        };
        found.add(line, label, file, report);
    }
    found
}

#[derive(Debug, Default, PartialEq)]
pub struct CollectedRankings {
    /// If the file has no scores, they are numbers counted from the end of each ranking.
    pub run: RankedRun,
    /// Queries whose ranks contradict their scores.
    pub contradicted: Vec<QueryId>,
}

/// The line of a document, and its rank if it has one.
type Place = (u32, Option<i32>);

/// Documents with their scores and places.
type QueryRows = (Vec<(DocId, f64)>, Vec<Place>);

/// Collects rankings. Calls `report` with invalid rows, with repeated documents, and, if the file
/// has no scores, with repeated ranks.
pub fn collect_rankings(
    rows: impl Iterator<Item = Result<(u64, RankedDocument), Problem>>,
    layout: &Layout,
    file: &str,
    report: &mut dyn FnMut(Problem),
) -> CollectedRankings {
    let mut run = RankedRun::new();
    let mut places: BTreeMap<QueryId, Vec<Place>> = BTreeMap::new();
    // Most rows of a query are adjacent; move them to the query's ranking together.
    let mut together: Option<(QueryId, QueryRows)> = None;
    let mut put = |(query, (documents, of_documents)): (QueryId, QueryRows)| {
        places
            .entry(query.clone())
            .or_default()
            .extend(of_documents);
        run.entry(query).or_default().extend(documents);
    };
    for row in rows {
        match row {
            Ok((line, ranked)) => {
                if let Some((query, _)) = &together
                    && *query != ranked.query
                {
                    together.take().into_iter().for_each(&mut put);
                }
                let (_, (documents, of_documents)) =
                    together.get_or_insert_with(|| (ranked.query, QueryRows::default()));
                documents.push((ranked.document, ranked.score.unwrap_or_default()));
                of_documents.push((u32::try_from(line).unwrap_or(u32::MAX), ranked.rank));
            }
            Err(problem) => report(problem),
        }
    }
    together.into_iter().for_each(&mut put);
    report_repeats(&run, &places, file, report);
    let mut contradicted = Vec::new();
    for ((query, documents), places) in run.iter_mut().zip(places.values()) {
        if layout.roles.score.is_some() {
            if contradict(documents, places) {
                contradicted.push(query.clone());
            }
        } else {
            if layout.roles.rank.is_some() {
                sort_by_rank(query, documents, places, file, report);
            }
            let count = documents.len();
            for (above, (_, score)) in documents.iter_mut().enumerate() {
                *score = (count - above) as f64;
            }
        }
    }
    CollectedRankings { run, contradicted }
}

/// Whether a document has a higher score than another one but not a better rank. Programs that do
/// not rank write the same rank on every line.
fn contradict(documents: &[(DocId, f64)], places: &[Place]) -> bool {
    let ranked = documents.iter().zip(places);
    let mut ranked: Vec<(f64, i32)> = ranked
        .filter_map(|((_, score), (_, rank))| Some((*score, (*rank)?)))
        .collect();
    let first = ranked.first().map(|(_, rank)| *rank);
    if ranked.iter().all(|(_, rank)| Some(*rank) == first) {
        return false;
    }
    ranked.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut worst_above = None;
    for equal in ranked.chunk_by(|x, y| x.0 == y.0) {
        let ranks = || equal.iter().map(|(_, rank)| *rank);
        if worst_above.is_some_and(|worst| ranks().any(|rank| rank <= worst)) {
            return true;
        }
        worst_above = worst_above.max(ranks().max());
    }
    false
}

fn sort_by_rank(
    query: &QueryId,
    documents: &mut Vec<(DocId, f64)>,
    places: &[Place],
    file: &str,
    report: &mut dyn FnMut(Problem),
) {
    let mut ranked: Vec<((DocId, f64), Place)> = std::mem::take(documents)
        .into_iter()
        .zip(places.iter().copied())
        .collect();
    ranked.sort_by_key(|(_, (line, rank))| (*rank, *line));
    for (x, y) in ranked.iter().zip(ranked.iter().skip(1)) {
        let ((_, (first, rank)), (_, (line, same))) = (x, y);
        if let (Some(rank), true) = (rank, rank == same) {
            let query = quoted(query.as_str());
            let what = format!(
                "rank {rank} of query {query} is already on line {first}; a rank occurs once per \
                 query"
            );
            report(Problem::new(file, Some(u64::from(*line)), &what));
        }
    }
    *documents = ranked.into_iter().map(|(document, _)| document).collect();
}

/// Reports each document whose identifier occurs earlier in the same ranking.
fn report_repeats(
    run: &RankedRun,
    places: &BTreeMap<QueryId, Vec<Place>>,
    file: &str,
    report: &mut dyn FnMut(Problem),
) {
    for ((query, documents), places) in run.iter().zip(places.values()) {
        let mut seen = HashSet::with_capacity(documents.len());
        if documents.iter().all(|(id, _)| seen.insert(id)) {
            continue;
        }
        let mut found: Vec<(&DocId, u32)> = documents
            .iter()
            .map(|(id, _)| id)
            .zip(places.iter().map(|(line, _)| *line))
            .collect();
        found.sort_unstable();
        for same in found.chunk_by(|x, y| x.0 == y.0) {
            for (document, line) in same.iter().skip(1) {
                let first = same.first().map_or(0, |(_, line)| *line);
                let what = named(query, document);
                let what = format!("{what} is already on line {first}; keep one");
                report(Problem::new(file, Some(u64::from(*line)), &what));
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
