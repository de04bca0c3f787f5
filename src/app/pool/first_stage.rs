//! The first stage over a benchmark's corpus: BM25, given rankings, or fused ones.

use super::benchmark_folder::BenchmarkFolder;
use super::fused_rankings::FusedRankings;
use crate::app::error::AppError;
use crate::app::input_files::read_ranking;
use crate::app::wording::counted;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{EvaluationRules, Qrels, ranked_documents};
use crate::domain::retrieval::{AnalysisProfile, Bm25Index};
use crate::formats::beir::BeirQuery;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// What was found for each query, and which documents there are.
pub struct FirstStage {
    found: StageRankings,
    documents: usize,
    /// The labelled and given documents that have a text.
    texts: HashSet<DocId>,
    /// Given documents that cannot be shown.
    unknown: usize,
}

enum StageRankings {
    Index(Box<Bm25Index>),
    Hybrid(FusedRankings),
    Given(HashMap<QueryId, Vec<(DocId, f64)>>),
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
        let mut texts = HashSet::new();
        folder.for_each_document(|passage| {
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
            unknown: 0,
        })
    }

    /// Takes rankings from a file: a run, or a list of candidates.
    pub fn given(folder: &BenchmarkFolder, qrels: &Qrels, path: &Path) -> Result<Self, AppError> {
        let mut rankings = rankings(path)?;
        let given = rankings.values().flatten().map(|(document, _)| document);
        let wanted: HashSet<DocId> = qrels
            .values()
            .flat_map(|grades| grades.keys())
            .chain(given)
            .cloned()
            .collect();
        let (mut documents, mut texts) = (0, HashSet::new());
        folder.for_each_document(|passage| {
            documents += 1;
            if wanted.contains(&passage.id) && !passage.content().is_empty() {
                texts.insert(passage.id);
            }
            Ok(())
        })?;
        let mut unknown = 0;
        for ranking in rankings.values_mut() {
            let before = ranking.len();
            ranking.retain(|(document, _)| texts.contains(document));
            unknown += before - ranking.len();
        }
        Ok(Self {
            found: StageRankings::Given(rankings),
            documents,
            texts,
            unknown,
        })
    }

    /// The best documents of a query.
    pub(super) fn ranking(&self, question: &BeirQuery, depth: usize) -> Vec<(DocId, f64)> {
        match &self.found {
            StageRankings::Index(index) => index
                .search(&question.text, depth)
                .into_iter()
                .filter_map(|hit| Some((index.id(hit.document)?, hit.score)))
                .collect(),
            StageRankings::Hybrid(hybrid) => hybrid.ranking(&question.id, depth),
            StageRankings::Given(rankings) => {
                let ranking = rankings.get(&question.id).map_or(&[][..], Vec::as_slice);
                ranking[..ranking.len().min(depth)].to_vec()
            }
        }
    }

    /// Different terms of the index, where there is one.
    pub fn vocabulary(&self) -> Option<usize> {
        match &self.found {
            StageRankings::Index(index) => Some(index.vocabulary()),
            _ => None,
        }
    }

    /// Goes on with fused rankings instead of its own.
    pub(super) fn fuse(&mut self, hybrid: FusedRankings) {
        self.found = StageRankings::Hybrid(hybrid);
    }

    /// The fused rankings, where there are any.
    pub(super) fn hybrid(&self) -> Option<&FusedRankings> {
        match &self.found {
            StageRankings::Hybrid(hybrid) => Some(hybrid),
            _ => None,
        }
    }

    /// Whether a labelled document is in the corpus and not empty.
    pub(super) fn has_text(&self, document: &DocId) -> bool {
        self.texts.contains(document)
    }

    pub fn documents(&self) -> usize {
        self.documents
    }

    pub(super) fn note(&self) -> Option<String> {
        (self.unknown > 0).then(|| {
            format!(
                "{} missing from the corpus, or empty there: left out",
                counted(self.unknown, "candidate")
            )
        })
    }
}

/// The rankings of a file, best first.
fn rankings(path: &Path) -> Result<HashMap<QueryId, Vec<(DocId, f64)>>, AppError> {
    let run = read_ranking(path, &mut Vec::new())?;
    let sorted = run.iter().map(|(query, documents)| {
        let ranked = ranked_documents(query, documents, EvaluationRules::default().scores)?;
        Ok((query.clone(), ranked.into_iter().cloned().collect()))
    });
    sorted.collect()
}
