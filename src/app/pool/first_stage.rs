//! The first stage over a benchmark's corpus: BM25, given rankings, or fused ones.

use super::benchmark_folder::BenchmarkFolder;
use super::fused_rankings::FusedRankings;
use crate::app::error::AppError;
use crate::app::input_files::read_ranking;
use crate::app::text_format::{counted, first_names, own_documents};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{Qrels, RankedRun, is_own_document};
use crate::domain::retrieval::{AnalysisProfile, Bm25Index};
use crate::formats::beir::BeirQuery;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// The results for each query, and the existing documents.
pub struct FirstStage {
    found: StageRankings,
    documents: usize,
    /// Labeled and given documents that have a text.
    texts: HashSet<DocId>,
    /// Queries that are themselves documents of the corpus, as in ArguAna and Quora.
    own: HashSet<QueryId>,
    /// How the documents were analyzed, if they were searched.
    profile: Option<AnalysisProfile>,
    /// Number of documents with words that the profile misses.
    misread: usize,
    /// Notes on skipped parts of a file of rankings.
    notes: Vec<String>,
}

enum StageRankings {
    Index(Box<Bm25Index>),
    Hybrid(FusedRankings),
    Given(RankedRun),
}

impl FirstStage {
    /// Indexes the corpus.
    pub fn search(
        folder: &BenchmarkFolder,
        qrels: &Qrels,
        profile: AnalysisProfile,
    ) -> Result<Self, AppError> {
        let labelled: HashSet<&DocId> = qrels.values().flat_map(|grades| grades.keys()).collect();
        let mut index = Bm25Index::new(profile);
        let (mut texts, mut own) = (HashSet::new(), HashSet::new());
        let mut misread = 0;
        folder.for_each_document(|passage| {
            own.extend(own_query(qrels, &passage.id));
            let misses = |text: &str| profile.misses_words(text);
            misread += usize::from(misses(&passage.title) || misses(&passage.text));
            if labelled.contains(&passage.id) && !passage.content().is_empty() {
                texts.insert(passage.id.clone());
            }
            index.add(passage.id, &passage.title, &passage.text);
            Ok(())
        })?;
        Ok(Self {
            documents: index.documents(),
            found: StageRankings::Index(Box::new(index)),
            texts,
            own,
            profile: Some(profile),
            misread,
            notes: Vec::new(),
        })
    }

    /// Reads rankings from a file: a run, or a list of candidates.
    pub fn given(folder: &BenchmarkFolder, qrels: &Qrels, path: &Path) -> Result<Self, AppError> {
        let mut notes = Vec::new();
        let mut rankings = read_ranking(path, &mut notes)?;
        let given = rankings.values().flatten().map(|(document, _)| document);
        let wanted: HashSet<DocId> = qrels
            .values()
            .flat_map(|grades| grades.keys())
            .chain(given)
            .cloned()
            .collect();
        let (mut documents, mut texts, mut own) = (0, HashSet::new(), HashSet::new());
        folder.for_each_document(|passage| {
            documents += 1;
            own.extend(own_query(qrels, &passage.id));
            if wanted.contains(&passage.id) && !passage.content().is_empty() {
                texts.insert(passage.id);
            }
            Ok(())
        })?;
        let mut unknown = BTreeSet::new();
        for ranking in rankings.values_mut() {
            ranking.retain(|(document, _)| {
                let known = texts.contains(document);
                if !known {
                    unknown.insert(document.clone());
                }
                known
            });
        }
        if !unknown.is_empty() {
            let names: Vec<&str> = unknown.iter().map(DocId::as_str).collect();
            notes.push(format!(
                "{} missing from the corpus, or empty there: skipped ({})",
                counted(names.len(), "candidate"),
                first_names(&names)
            ));
        }
        Ok(Self {
            found: StageRankings::Given(rankings),
            documents,
            texts,
            own,
            profile: None,
            misread: 0,
            notes,
        })
    }

    /// The best documents of a query, without its own document.
    pub(super) fn ranking(&self, question: &BeirQuery, depth: usize) -> Vec<(DocId, f64)> {
        let found = match &self.found {
            StageRankings::Index(index) => index
                .search(&question.text, depth + 1)
                .into_iter()
                .filter_map(|hit| Some((index.id(hit.document)?, hit.score)))
                .collect(),
            StageRankings::Hybrid(hybrid) => hybrid.ranking(&question.id, depth),
            StageRankings::Given(rankings) => {
                rankings.get(&question.id).cloned().unwrap_or_default()
            }
        };
        self.without_own(&question.id, found, depth)
    }

    /// At most `depth` documents of a query's ranking, without its own document.
    pub(super) fn without_own(
        &self,
        query: &QueryId,
        mut ranking: Vec<(DocId, f64)>,
        depth: usize,
    ) -> Vec<(DocId, f64)> {
        if self.own.contains(query) {
            ranking.retain(|(document, _)| document.as_str() != query.as_str());
        }
        ranking.truncate(depth);
        ranking
    }

    /// Number of distinct terms in the index, if there is one.
    pub fn vocabulary(&self) -> Option<usize> {
        match &self.found {
            StageRankings::Index(index) => Some(index.vocabulary()),
            _ => None,
        }
    }

    /// Replaces its rankings with fused ones.
    pub(super) fn fuse(&mut self, hybrid: FusedRankings) {
        self.found = StageRankings::Hybrid(hybrid);
    }

    /// The fused rankings, if there are any.
    pub(super) fn hybrid(&self) -> Option<&FusedRankings> {
        match &self.found {
            StageRankings::Hybrid(hybrid) => Some(hybrid),
            _ => None,
        }
    }

    /// Whether a labeled document is in the corpus and not empty.
    pub(super) fn has_text(&self, document: &DocId) -> bool {
        self.texts.contains(document)
    }

    pub fn documents(&self) -> usize {
        self.documents
    }

    /// Notes on the rankings of these queries.
    pub(super) fn notes(&self, queries: &[BeirQuery]) -> Vec<String> {
        let own = queries
            .iter()
            .map(|query| &query.id)
            .filter(|query| self.own.contains(query))
            .collect();
        let own = own_documents(&own);
        let misread = self.misread_note(queries);
        self.notes
            .iter()
            .cloned()
            .chain(own)
            .chain(misread)
            .collect()
    }

    /// A note if the profile reads the text of some documents or queries as a few long words.
    fn misread_note(&self, queries: &[BeirQuery]) -> Option<String> {
        let profile = self.profile?;
        let queries = queries.iter();
        let queries = queries.filter(|query| profile.misses_words(&query.text));
        let queries = queries.count();
        (queries + self.misread > 0).then(|| {
            format!(
                "{} and {} have text without spaces between words, as in Chinese, Japanese or \
                 Thai. The profile duckdb treats such text as one word, as DuckDB does; --profile \
                 overrule searches it by characters",
                counted(self.misread, "document"),
                counted(queries, "query")
            )
        })
    }
}

/// The query that has this document as its own, if it has labels but none for the document.
fn own_query(qrels: &Qrels, document: &DocId) -> Option<QueryId> {
    let query = QueryId::new(document.as_str());
    let labels = qrels.get(&query)?;
    is_own_document(&query, document, labels).then_some(query)
}
