//! Picks and labels as CSV: one row per query, or one row per disagreement.

use super::evidence::verdicts_json;
use crate::app::error::AppError;
use crate::domain::adjudication::{JudgeAnswers, PickAnswer, PickCounts, PickOutcome, PoolSet};
use crate::domain::corpus::{Document, Pool};
use crate::domain::retrieval::JudgingPool;
use crate::formats::csv_cell::SafeCsv;
use std::io::Write;

/// Depth to which the original script read the first stage.
const DEPTH: usize = 10;

/// The columns of the original study, then the result of each judge in each order.
const PER_QUERY: [&str; 15] = [
    "query_id",
    "n_rel",
    "n_rel_retrieved",
    "recall_at_10",
    "mrr_at_10",
    "judge",
    "permutation",
    "answer",
    "agreed",
    "label_only",
    "pick_only",
    "neither",
    "picks",
    "model",
    "verdicts",
];

/// The columns of the original script, whose judge was always Ollama, then the judge's name, and
/// its verdict on the picked document if it gave one on each.
const DISAGREEMENTS: [&str; 12] = [
    "query_id",
    "query_text",
    "qrels_doc_id",
    "qrels_title",
    "qrels_text",
    "ollama_doc_id",
    "ollama_title",
    "ollama_text",
    "judge",
    "model",
    "verdict",
    "sentence",
];

/// Writes one row per pool, judge and order; one row per pool if no judge has picked yet.
pub fn per_query(
    pool_set: &PoolSet,
    groups: &[JudgeAnswers],
    out: &mut dyn Write,
) -> Result<(), AppError> {
    let mut csv = SafeCsv::new(out);
    csv.row(PER_QUERY)?;
    for (at, pool) in pool_set.pools.iter().enumerate() {
        let first_stage = first_stage(pool);
        if groups.is_empty() {
            let mut row = vec![pool.query.as_str().to_owned()];
            row.extend(first_stage.clone());
            row.resize(PER_QUERY.len(), String::new());
            csv.row(row)?;
        }
        for group in groups {
            for (permutation, given) in &group.orders {
                let Some(given) = given.get(&at) else {
                    continue;
                };
                let answer = match &given.answer {
                    PickAnswer::Picks(_) => "valid",
                    PickAnswer::Invalid(invalid) => invalid.cause(),
                    PickAnswer::Failed => "failed",
                };
                let boxes = given.boxes();
                let count = |of: fn(&PickCounts) -> usize| {
                    boxes
                        .as_ref()
                        .map_or(String::new(), |boxes| of(boxes).to_string())
                };
                let picks: Vec<&str> = given.picked().iter().map(|id| id.as_str()).collect();
                let mut row = vec![pool.query.as_str().to_owned()];
                row.extend(first_stage.clone());
                row.extend([
                    group.judge.clone(),
                    permutation.to_string(),
                    answer.to_owned(),
                    count(|boxes| boxes.agreed),
                    count(|boxes| boxes.label_only),
                    count(|boxes| boxes.pick_only),
                    count(|boxes| boxes.neither),
                    picks.join(" "),
                    group.model.clone(),
                    verdicts_json(given).map_or(String::new(), |verdicts| verdicts.to_string()),
                ]);
                csv.row(row)?;
            }
        }
    }
    csv.finish()?;
    Ok(())
}

/// The number of labeled documents, the number among the first ten of the first stage, and the
/// first stage's recall and reciprocal rank at ten; empty if the pool does not contain the
/// first-stage ranks.
fn first_stage(pool: &JudgingPool) -> [String; 4] {
    let positives = pool.positives();
    let known = pool.slots.iter().any(|slot| slot.rank.is_some());
    let labelled = pool.slots.iter().filter(|slot| slot.positive);
    let ranks: Vec<usize> = labelled
        .filter_map(|slot| slot.rank)
        .filter(|rank| *rank <= DEPTH)
        .collect();
    if !known {
        return [
            positives.to_string(),
            String::new(),
            String::new(),
            String::new(),
        ];
    }
    let recall = (positives > 0).then(|| ranks.len() as f64 / positives as f64);
    let reciprocal = ranks.iter().min().map_or(0.0, |rank| 1.0 / *rank as f64);
    [
        positives.to_string(),
        ranks.len().to_string(),
        recall.map_or(String::new(), |recall| format!("{recall:?}")),
        format!("{reciprocal:?}"),
    ]
}

/// Writes the documents that are labeled or picked, but not both, in the first order: each row
/// pairs a labeled document with a picked one as long as there are both. `texts_of` reads the pool
/// with the given index.
pub fn disagreements(
    groups: &[JudgeAnswers],
    texts_of: &dyn Fn(usize) -> Result<Pool, AppError>,
    out: &mut dyn Write,
) -> Result<(), AppError> {
    let mut csv = SafeCsv::new(out);
    csv.row(DISAGREEMENTS)?;
    for group in groups {
        let Some(first) = group.orders.get(&1) else {
            continue;
        };
        for (at, given) in first {
            let Some(boxes) = given.outcomes() else {
                continue;
            };
            let pool = texts_of(*at)?;
            let of = |wanted: PickOutcome| -> Vec<&Document> {
                let slots = given.pool.slots.iter().zip(&boxes);
                slots
                    .filter(|(_, outcome)| **outcome == wanted)
                    .filter_map(|(slot, _)| document(&pool, slot.document.as_str()))
                    .collect()
            };
            let (labelled, picked) = (of(PickOutcome::LabelOnly), of(PickOutcome::PickOnly));
            for row in 0..labelled.len().max(picked.len()) {
                let mut cells = vec![pool.query.id.as_str().to_owned(), pool.query.text.clone()];
                cells.extend(texts(labelled.get(row).copied()));
                cells.extend(texts(picked.get(row).copied()));
                cells.extend([group.judge.clone(), group.model.clone()]);
                let verdict = picked
                    .get(row)
                    .and_then(|document| given.verdict_on(&document.id));
                cells.push(verdict.map_or(String::new(), |given| given.verdict.name().to_owned()));
                cells.push(
                    verdict
                        .and_then(|given| given.sentence.clone())
                        .unwrap_or_default(),
                );
                csv.row(cells)?;
            }
        }
    }
    csv.finish()?;
    Ok(())
}

fn document<'a>(pool: &'a Pool, id: &str) -> Option<&'a Document> {
    pool.documents
        .iter()
        .find(|document| document.id.as_str() == id)
}

/// ID, title and text of a document; empty cells if there is none.
fn texts(document: Option<&Document>) -> [String; 3] {
    let Some(document) = document else {
        return [String::new(), String::new(), String::new()];
    };
    let (title, text) = titled_text(document);
    [
        document.id.as_str().to_owned(),
        title.to_owned(),
        text.to_owned(),
    ]
}

/// The title of a document, and its text without the title.
pub fn titled_text(document: &Document) -> (&str, &str) {
    let title = document.title.as_deref().unwrap_or_default();
    let text = document.content.strip_prefix(title.trim());
    (
        title,
        text.map_or(document.content.as_str(), str::trim_start),
    )
}
