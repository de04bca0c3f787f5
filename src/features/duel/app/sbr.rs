//! Similarity-boosted ranking: takes a ranking with scores and returns its documents in a new
//! order.

use crate::app::document_vectors::{DocumentText, DocumentVectors, RowNames};
use crate::app::error::{AppError, FileProblems, invalid};
use crate::app::export::FoundRanking;
use crate::app::input_files::{contradictions, display_name, kind, open, read_ranking, stem};
use crate::app::text_format::{counted, first_names};
use crate::client::now_ms;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::RankedRun;
use crate::domain::sanitize;
use crate::features::duel::app::find_ranking;
use crate::features::duel::domain::sbr::{
    SbrCandidate, SbrOptions, SbrProfile, SbrRow, boosted_ranking, distinct_candidates,
};
use crate::formats::columns::{ScoredText, collect_rankings, read_rankings, read_scored_texts};
use crate::formats::csv_cell::SafeCsv;
use crate::formats::file_kind::FileKind;
use crate::formats::{own_tables, trec};
use crate::store::Store;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::Path;

/// A document of a ranking with its text.
#[derive(Clone, Debug)]
struct SbrDocument {
    id: DocId,
    score: f64,
    text: String,
}

/// The ranking to be reranked.
#[derive(Clone, Debug)]
pub struct SbrInput {
    /// Name of the ranking.
    pub name: String,
    /// In output order.
    queries: Vec<(QueryId, Vec<SbrDocument>)>,
    /// The query and document of each CSV line, in file order.
    lines: Option<RowNames>,
    pub notes: Vec<String>,
}

/// The new order.
#[derive(Clone, Debug)]
pub struct SbrRanking<'a> {
    input: &'a SbrInput,
    /// In the order of the queries, best first.
    pub rows: Vec<Vec<SbrRow>>,
    /// The remaining documents of each query, as indices.
    kept: Vec<Vec<usize>>,
}

impl SbrInput {
    /// Reads a ranking of the project, `original`, a method's result, or a file of a ranking.
    pub fn of_project(store: &Store, name: &str) -> Result<Self, AppError> {
        let found = find_ranking(store, name)?;
        let by_place = found.queries_by_place();
        let FoundRanking {
            name,
            orders,
            mut notes,
            ..
        } = found;
        if by_place > 0 {
            notes.push(format!(
                "{}: no scores for documents of {}, where positions counted from the end are used",
                sanitize::line(&name),
                counted(by_place, "query")
            ));
        }
        refuse_infinite(&name, &orders)?;
        Self::with_texts(store, name, orders, notes)
    }

    /// Reads a ranking from a file; texts that are missing there come from the project.
    pub fn of_file(path: &Path, store: Option<&Store>) -> Result<Self, AppError> {
        let name = stem(path);
        let file = display_name(path);
        let needs_project = || {
            invalid!(
                "{file}: has no texts, and there is no project that has them; name one with \
                 --project, or a CSV with a column text"
            )
        };
        let layout = match kind(path)? {
            FileKind::Table(layout) if layout.is_table_of_scores() => layout,
            _ => {
                let mut notes = Vec::new();
                let orders = read_ranking(path, &mut notes)?;
                return Self::with_texts(store.ok_or_else(needs_project)?, name, orders, notes);
            }
        };
        let mut problems = FileProblems::of(path);
        let lines: Vec<ScoredText> = read_scored_texts(open(path)?, &file, &layout)
            .filter_map(|row| Some(problems.keep(row)?.1))
            .collect();
        problems.refuse_any()?;
        if lines.is_empty() {
            return Err(AppError::file(path, "holds no documents"));
        }
        // Unlike in other rankings, a document may occur twice.
        let ranked = read_rankings(open(path)?, &file, &layout);
        let ranked = collect_rankings(ranked, &layout, &file, &mut |_| ());
        let notes = Vec::from_iter(contradictions(&file, &ranked.contradicted));
        if lines.iter().any(|line| line.text.is_none()) {
            let mut orders: BTreeMap<QueryId, Vec<(DocId, f64)>> = BTreeMap::new();
            let names = lines.iter();
            let names = names.map(|line| (Some(line.query.clone()), line.document.clone()));
            let names = RowNames::Documents(names.collect());
            for line in lines {
                let order = orders.entry(line.query).or_default();
                order.push((line.document, line.score));
            }
            let store = store.ok_or_else(needs_project)?;
            let mut read = Self::with_texts(store, name, orders, notes)?;
            read.lines = Some(names);
            return Ok(read);
        }
        let texts = lines.iter();
        let texts = texts.map(|line| (line.query.clone(), line.text.clone().unwrap_or_default()));
        let texts = RowNames::Texts(texts.collect());
        let mut queries: BTreeMap<QueryId, Vec<SbrDocument>> = BTreeMap::new();
        for line in lines {
            queries.entry(line.query).or_default().push(SbrDocument {
                id: line.document,
                score: line.score,
                text: line.text.unwrap_or_default(),
            });
        }
        let mut input = Self {
            name,
            queries: queries.into_iter().collect(),
            lines: Some(texts),
            notes,
        };
        input.in_order();
        Ok(input)
    }

    fn with_texts(
        store: &Store,
        name: String,
        orders: BTreeMap<QueryId, Vec<(DocId, f64)>>,
        mut notes: Vec<String>,
    ) -> Result<Self, AppError> {
        let (queries, unknown, missing) = store.read_blocking(move |db| {
            let (mut queries, mut unknown, mut missing) = (Vec::new(), Vec::new(), 0);
            for (query, order) in orders {
                let Some(key) = db.known_query(query.as_str())? else {
                    unknown.push(query.to_string());
                    continue;
                };
                let documents = db.pool(key)?.documents.into_iter();
                let texts: HashMap<DocId, String> =
                    documents.map(|one| (one.id, one.content)).collect();
                let mut found = Vec::new();
                for (id, score) in order {
                    match texts.get(&id).cloned() {
                        Some(text) => found.push(SbrDocument { id, score, text }),
                        None => missing += 1,
                    }
                }
                if !found.is_empty() {
                    queries.push((query, found));
                }
            }
            Ok((queries, unknown, missing))
        })?;
        if !unknown.is_empty() {
            notes.push(format!(
                "skipped {} missing from the project: {}",
                counted(unknown.len(), "query"),
                first_names(&unknown)
            ));
        }
        if missing > 0 {
            notes.push(format!(
                "{} not among the candidates of the query in the project: skipped",
                counted(missing, "document")
            ));
        }
        if queries.is_empty() {
            return Err(invalid!(
                "{}: the project has no text of any of its documents; import them first",
                sanitize::line(&name)
            ));
        }
        let mut input = Self {
            name,
            queries,
            lines: None,
            notes,
        };
        input.in_order();
        Ok(input)
    }

    /// Sorts queries by number if all of them are numbers, or else by name.
    fn in_order(&mut self) {
        let number = |query: &QueryId| query.as_str().parse::<u64>().ok();
        if self
            .queries
            .iter()
            .all(|(query, _)| number(query).is_some())
        {
            self.queries.sort_by_key(|(query, _)| number(query))
        } else {
            self.queries.sort_by(|x, y| x.0.cmp(&y.0))
        }
    }

    /// The query and document of each CSV line, which name the rows of a vector file. `None` for
    /// other input.
    pub fn line_names(&self) -> Option<RowNames> {
        self.lines.clone()
    }

    pub fn queries(&self) -> usize {
        self.queries.len()
    }

    fn candidates(documents: &[SbrDocument]) -> Vec<SbrCandidate<'_>> {
        let documents = documents.iter();
        documents
            .map(|one| SbrCandidate {
                id: &one.id,
                score: one.score,
                text: &one.text,
            })
            .collect()
    }

    /// The texts whose vectors are needed.
    pub fn texts(&self, profile: SbrProfile) -> Vec<DocumentText<'_>> {
        let texts = self.queries.iter().flat_map(|(query, documents)| {
            let kept = distinct_candidates(&Self::candidates(documents), profile);
            kept.into_iter()
                .filter_map(|at| documents.get(at))
                .map(move |one| DocumentText {
                    query,
                    document: &one.id,
                    text: &one.text,
                })
        });
        DocumentText::distinct(texts.collect())
    }

    /// Ranks the documents of every query.
    ///
    /// # Errors
    /// A document has no vector, or the vectors have different dimensions.
    pub fn rank(
        &self,
        vectors: &DocumentVectors,
        options: &SbrOptions,
    ) -> Result<SbrRanking<'_>, AppError> {
        let (mut rows, mut all_kept, mut lacking) = (Vec::new(), Vec::new(), Vec::new());
        let mut dimension = None;
        for (query, documents) in &self.queries {
            let candidates = Self::candidates(documents);
            let kept = distinct_candidates(&candidates, options.profile);
            let distinct: Vec<SbrCandidate<'_>> = kept
                .iter()
                .filter_map(|at| candidates.get(*at).cloned())
                .collect();
            let mut found = Vec::new();
            for candidate in &distinct {
                match vectors.of(query, candidate.id, candidate.text) {
                    // A blank text has no direction and is like nothing.
                    Some(vector) if vector.is_empty() => found.push(vector),
                    Some(vector) => {
                        let expected = *dimension.get_or_insert(vector.len());
                        if expected != vector.len() {
                            return Err(invalid!(
                                "vectors of {expected} and of {} dimensions; all must come from \
                                 one model",
                                vector.len()
                            ));
                        }
                        found.push(vector);
                    }
                    None => lacking.push(format!("{} of query {query}", candidate.id)),
                }
            }
            rows.push(boosted_ranking(&distinct, &found, options));
            all_kept.push(kept);
        }
        if !lacking.is_empty() {
            return Err(invalid!(
                "{} without a vector: {}; every document needs one",
                counted(lacking.len(), "document"),
                first_names(&lacking)
            ));
        }
        Ok(SbrRanking {
            input: self,
            rows,
            kept: all_kept,
        })
    }
}

/// Rejects rankings with scores that cannot be scaled. Files are checked when they are read, but
/// earlier versions imported infinite scores.
fn refuse_infinite(
    name: &str,
    orders: &BTreeMap<QueryId, Vec<(DocId, f64)>>,
) -> Result<(), AppError> {
    let scores = orders
        .iter()
        .flat_map(|(query, order)| order.iter().map(move |(id, score)| (query, id, score)));
    for (query, document, score) in scores {
        if !score.is_finite() {
            return Err(invalid!(
                "{}: the score of document {:?} of query {:?} is infinite; import the ranking \
                 again with finite scores",
                sanitize::line(name),
                sanitize::line(document.as_str()),
                sanitize::line(query.as_str())
            ));
        }
    }
    Ok(())
}

impl SbrRanking<'_> {
    /// Each query with its documents, best first.
    fn ranked(&self) -> impl Iterator<Item = (&QueryId, Vec<(&SbrDocument, &SbrRow)>)> {
        self.input
            .queries
            .iter()
            .zip(&self.rows)
            .zip(&self.kept)
            .map(|(((query, documents), rows), kept)| {
                let rows = rows.iter().filter_map(|row| {
                    let document = documents.get(*kept.get(row.at)?)?;
                    Some((document, row))
                });
                (query, rows.collect())
            })
    }

    /// Number of documents, and the number left when each text counts once.
    pub fn documents(&self) -> (usize, usize) {
        let there = self.input.queries.iter().map(|(_, of)| of.len()).sum();
        (there, self.rows.iter().map(Vec::len).sum())
    }

    /// Number of queries whose best document differs from the one by score.
    pub fn changed_tops(&self) -> usize {
        let changed = self.ranked().filter(|(_, rows)| {
            let best = rows
                .iter()
                .map(|(_, row)| row.score)
                .fold(f64::MIN, f64::max);
            rows.first().is_some_and(|(_, row)| row.score < best)
        });
        changed.count()
    }

    /// As a ranking with SBR scores.
    pub fn run(&self) -> RankedRun {
        self.ranked()
            .map(|(query, rows)| {
                let ranked = rows
                    .into_iter()
                    .map(|(document, row)| (document.id.clone(), row.sbr_score));
                (query.clone(), ranked.collect())
            })
            .collect()
    }

    /// Stores it in the project. Returns whether there was a ranking with that name, whose queries
    /// it replaces.
    pub fn store(&self, store: &Store, name: &str) -> Result<bool, AppError> {
        let (name, run) = (name.to_owned(), self.run());
        Ok(store.write_blocking(move |db| db.put_ranking(&name, &run, now_ms()))?)
    }

    /// Writes CSV with the columns of the authors' script.
    pub fn write_csv(&self, out: &mut dyn Write) -> Result<(), AppError> {
        let mut table = SafeCsv::new(out);
        table.row(own_tables::SBR)?;
        for (query, rows) in self.ranked() {
            for (document, row) in rows {
                table.row([
                    query.as_str(),
                    document.id.as_str(),
                    &row.score.to_string(),
                    &row.normalized.to_string(),
                    &row.semantic_sim.to_string(),
                    &row.sbr_score.to_string(),
                    &row.sbr_rank.to_string(),
                    &document.text,
                ])?;
            }
        }
        table.finish()?;
        Ok(())
    }

    /// Writes a TREC run.
    pub fn write_run(&self, mut out: &mut dyn Write, tag: &str) -> Result<(), AppError> {
        for (query, rows) in self.ranked() {
            let rows = rows.into_iter();
            let ranked: Vec<(DocId, f64)> = rows
                .map(|(document, row)| (document.id.clone(), row.sbr_score))
                .collect();
            trec::write_run(&mut out, query, &ranked, tag)?;
        }
        Ok(())
    }
}
