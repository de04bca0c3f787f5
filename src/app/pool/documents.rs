//! Pools as a dataset: documents with their texts, and metadata from the benchmark.

use super::benchmark_folder::BenchmarkFolder;
use super::first_stage::FirstStage;
use crate::app::error::{AppError, invalid};
use crate::domain::corpus::{DocId, Document, JsonObject, Pool, Query, QueryId};
use crate::domain::metrics::{Qrels, RankedRun};
use crate::domain::retrieval::{JudgingPool, PoolSlot};
use crate::formats::beir::{BeirDocument, BeirQuery};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The documents of the pools and of the first stage's run, read from the corpus.
pub(super) struct PoolTexts(HashMap<DocId, BeirDocument>);

impl PoolTexts {
    pub(super) fn read(
        folder: &BenchmarkFolder,
        pools: &[JudgingPool],
        run: &RankedRun,
    ) -> Result<Self, AppError> {
        let ranked = run.values().flatten().map(|(document, _)| document);
        let wanted: HashSet<&DocId> = pools
            .iter()
            .flat_map(|pool| &pool.slots)
            .map(|slot| &slot.document)
            .chain(ranked)
            .collect();
        let mut texts = HashMap::new();
        folder.for_each_document(|passage| {
            if wanted.contains(&passage.id) {
                texts.insert(passage.id.clone(), passage);
            }
            Ok(())
        })?;
        Ok(Self(texts))
    }

    /// The documents of each query's ranking that its pool does not hold.
    pub(super) fn candidates(
        &self,
        pools: &[JudgingPool],
        run: &RankedRun,
    ) -> HashMap<QueryId, Vec<(DocId, Arc<str>)>> {
        let missing = |pool: &JudgingPool| {
            let held: HashSet<&DocId> = pool.slots.iter().map(|slot| &slot.document).collect();
            let ranked = run.get(&pool.query).into_iter().flatten();
            let missing = ranked
                .filter(|(document, _)| !held.contains(document))
                .filter_map(|(document, _)| {
                    let text = self.0.get(document)?.content();
                    Some((document.clone(), Arc::from(text.as_str())))
                });
            (pool.query.clone(), missing.collect())
        };
        pools.iter().map(missing).collect()
    }

    /// The pools with their documents' texts. Pools without documents are skipped.
    pub(super) fn pools(
        &self,
        folder: &BenchmarkFolder,
        queries: &[BeirQuery],
        pools: &[JudgingPool],
        qrels: &Qrels,
        stage: &FirstStage,
    ) -> Result<Vec<Pool>, AppError> {
        let mut out = Vec::new();
        for (question, pool) in queries.iter().zip(pools) {
            let evidence = evidence(&question.metadata);
            let mut documents = Vec::new();
            for (at, slot) in pool.slots.iter().enumerate() {
                let Some(passage) = self.0.get(&slot.document) else {
                    let (corpus, id) = (folder.corpus.display(), slot.document.as_str());
                    return Err(invalid!(
                        "{corpus}: document {id:?} is no longer in the corpus, which changed while \
                         it was read; run the command again"
                    ));
                };
                let grade = qrels
                    .get(&question.id)
                    .and_then(|grades| grades.get(&slot.document));
                documents.push(document(
                    passage,
                    slot,
                    at + 1,
                    grade.copied(),
                    evidence.get(slot.document.as_str()),
                    stage
                        .hybrid()
                        .and_then(|hybrid| hybrid.places(&question.id, &slot.document)),
                ));
            }
            if documents.is_empty() {
                continue;
            }
            let mut about = json!({"layout": pool.layout, "positives": pool.positives()});
            if let Some(hybrid) = stage.hybrid() {
                about["first_stage"] = hybrid.method.clone();
            }
            out.push(Pool {
                query: Query {
                    id: question.id.clone(),
                    text: question.text.clone(),
                    extra: JsonObject::default(),
                },
                documents,
                extra: JsonObject::from_compact(json!({ "pool": about }).to_string()),
            });
        }
        Ok(out)
    }
}

/// A document of a pool, at slot `number` from 1.
pub(super) fn document(
    passage: &BeirDocument,
    slot: &PoolSlot,
    number: usize,
    grade: Option<i32>,
    evidence: Option<&LabelEvidence>,
    places: Option<Value>,
) -> Document {
    let mut metadata = Map::new();
    let mut put = |name: &str, value: Value| {
        metadata.insert(name.to_owned(), value);
    };
    let title = Some(passage.title.trim()).filter(|title| !title.is_empty());
    if let Some(title) = title {
        put("title", json!(title));
    }
    if let Some(grade) = grade {
        put("grade", json!(grade));
    }
    if let Some(evidence) = evidence {
        put("label", json!(evidence.label));
        put("evidence_sentences", json!(evidence.sentences));
    }
    put("source", json!(slot.source()));
    if let Some(rank) = slot.rank {
        put("first_stage_rank", json!(rank));
    }
    if let Some(places) = places {
        put("stages", places);
    }
    put("slot", json!(number));
    let mut text = Value::Object(metadata).to_string();
    if !passage.metadata.is_empty() {
        // Copied verbatim from the corpus, to preserve the digits of numbers.
        text.truncate(text.len() - 1);
        text.push_str(",\"corpus\":");
        text.push_str(passage.metadata.as_str());
        text.push('}');
    }
    Document {
        id: passage.id.clone(),
        title: title.map(str::to_owned),
        content: passage.content(),
        metadata: JsonObject::from_compact(text),
        extra: JsonObject::default(),
        input_score: None,
    }
}

/// Why a document has its label.
pub(super) struct LabelEvidence {
    label: String,
    sentences: BTreeSet<u64>,
}

/// The evidence in a query's metadata in SciFact's format: a list of sentences and labels for each
/// document. A document with conflicting labels has none.
fn evidence(metadata: &JsonObject) -> HashMap<String, LabelEvidence> {
    #[derive(Deserialize)]
    struct Rationale {
        sentences: BTreeSet<u64>,
        label: String,
    }
    let by_document: HashMap<String, Value> =
        serde_json::from_str(metadata.as_str()).unwrap_or_default();
    let read = |(document, value): (String, Value)| {
        let rationales: Vec<Rationale> = serde_json::from_value(value).ok()?;
        let label = rationales.first()?.label.clone();
        if rationales.iter().any(|other| other.label != label) {
            return None;
        }
        let sentences = rationales
            .into_iter()
            .flat_map(|one| one.sentences)
            .collect();
        Some((document, LabelEvidence { label, sentences }))
    };
    by_document.into_iter().filter_map(read).collect()
}
