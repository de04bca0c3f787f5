//! A benchmark's folder, and the first stage over it.

use super::super::import::{display_name, open};
use super::super::{CommandFailure, benchmark, output};
use super::hybrid::FusedRankings;
use super::{in_order, usage};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{EvaluationRules, Qrels, ranked_documents};
use crate::domain::retrieval::{AnalysisProfile, Bm25Index};
use crate::formats::beir::{self, BeirDocument, BeirQuery};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Where a benchmark's files are.
pub(super) struct BenchmarkFolder {
    pub(super) corpus: PathBuf,
    queries: PathBuf,
    pub(super) qrels: PathBuf,
}

impl BenchmarkFolder {
    /// The files of a split, which is there.
    pub(super) fn new(folder: &Path, split: &str) -> Result<Self, CommandFailure> {
        let qrels = folder.join("qrels");
        let file = qrels.join(format!("{split}.tsv"));
        if !file.is_file() {
            let names = std::fs::read_dir(&qrels).into_iter().flatten().flatten();
            let mut known: Vec<String> = names
                .filter_map(|entry| entry.path().file_stem()?.to_str().map(str::to_owned))
                .collect();
            known.sort();
            let known = match known.is_empty() {
                true => "there are no labels at all".to_owned(),
                false => format!("--split is one of {}", known.join(", ")),
            };
            return Err(usage(format!("{}: is not there; {known}", file.display())));
        }
        Ok(Self {
            corpus: folder.join("corpus.jsonl"),
            queries: folder.join("queries.jsonl"),
            qrels: file,
        })
    }

    /// What must not be overwritten.
    pub(super) fn files(&self) -> [(&'static str, PathBuf); 3] {
        [
            ("corpus", self.corpus.clone()),
            ("queries", self.queries.clone()),
            ("labels", self.qrels.clone()),
        ]
    }

    /// The queries that have labels.
    pub(super) fn queries(&self, qrels: &Qrels) -> Result<Vec<BeirQuery>, CommandFailure> {
        let name = display_name(&self.queries);
        let mut problems_of_file = output::ProblemPrinter::about(&name);
        let mut queries = Vec::new();
        for question in beir::read_queries(open(&self.queries)?, &name) {
            match question {
                Ok(question) if qrels.contains_key(&question.id) => queries.push(question),
                Ok(_) => {}
                Err(problem) => problems_of_file.tell(&problem),
            }
        }
        benchmark::refuse(&name, problems_of_file.end())?;
        if queries.is_empty() {
            return Err(usage(format!(
                "{name}: has no query of the labels; compare the ids"
            )));
        }
        Ok(in_order(queries))
    }

    /// Reads the corpus through, one document in memory at a time, until the end or the first refusal.
    pub(super) fn each(
        &self,
        mut take: impl FnMut(BeirDocument) -> Result<(), CommandFailure>,
    ) -> Result<(), CommandFailure> {
        let name = display_name(&self.corpus);
        let mut problems_of_file = output::ProblemPrinter::about(&name);
        let mut any = false;
        for passage in beir::read_corpus(open(&self.corpus)?, &name) {
            any = true;
            match passage {
                Ok(passage) => take(passage)?,
                Err(problem) => problems_of_file.tell(&problem),
            }
        }
        benchmark::refuse(&name, problems_of_file.end())?;
        match any {
            true => Ok(()),
            false => Err(usage(format!("{name}: holds no document"))),
        }
    }
}

/// What was found for each query, and which documents there are.
pub(super) struct FirstStage {
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
    pub(super) fn search(
        folder: &BenchmarkFolder,
        qrels: &Qrels,
        profile: AnalysisProfile,
    ) -> Result<Self, CommandFailure> {
        let began = Instant::now();
        let labelled: HashSet<&DocId> = qrels.values().flat_map(|grades| grades.keys()).collect();
        let mut index = Bm25Index::new(profile);
        let mut texts = HashSet::new();
        folder.each(|passage| {
            if labelled.contains(&passage.id) && !passage.content().is_empty() {
                texts.insert(passage.id.clone());
            }
            index.add(passage.id, &passage.title, &passage.text);
            Ok(())
        })?;
        output::message(&format!(
            "indexed {} in {:.2} s: {} terms",
            output::counted(index.documents(), "document"),
            began.elapsed().as_secs_f64(),
            index.vocabulary()
        ));
        Ok(Self {
            documents: index.documents(),
            found: StageRankings::Index(Box::new(index)),
            texts,
            unknown: 0,
        })
    }

    /// Takes rankings from a file: a run, or a list of candidates.
    pub(super) fn given(
        folder: &BenchmarkFolder,
        qrels: &Qrels,
        path: &Path,
    ) -> Result<Self, CommandFailure> {
        let mut rankings = rankings(path)?;
        let given = rankings.values().flatten().map(|(document, _)| document);
        let wanted: HashSet<DocId> = qrels
            .values()
            .flat_map(|grades| grades.keys())
            .chain(given)
            .cloned()
            .collect();
        let (mut documents, mut texts) = (0, HashSet::new());
        folder.each(|passage| {
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
    pub(super) fn ranking(
        &self,
        question: &BeirQuery,
        depth: usize,
    ) -> Result<Vec<(DocId, f64)>, CommandFailure> {
        Ok(match &self.found {
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
        })
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

    /// Documents of the corpus.
    pub(super) fn documents(&self) -> usize {
        self.documents
    }

    /// What was left out.
    pub(super) fn note(&self) -> Option<String> {
        (self.unknown > 0).then(|| {
            format!(
                "{} missing from the corpus, or empty there: left out",
                output::counted(self.unknown, "candidate")
            )
        })
    }
}

/// The rankings of a file, best first.
fn rankings(path: &Path) -> Result<HashMap<QueryId, Vec<(DocId, f64)>>, CommandFailure> {
    let run = benchmark::ranking(path, &mut Vec::new())?;
    let sorted = run.iter().map(|(query, documents)| {
        let ranked = ranked_documents(query, documents, EvaluationRules::default().scores)?;
        Ok((query.clone(), ranked.into_iter().cloned().collect()))
    });
    sorted.collect()
}
