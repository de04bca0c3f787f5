//! Draws the next document for a person.

use super::read::Measurement;
use crate::app::error::AppError;
use crate::domain::annotator_name::stored_annotator_name;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::hex::hex;
use crate::domain::sampling::SeededRng;
use crate::features::measure::domain::{DrawDesign, encode_parts};
use crate::features::measure::store::{StoredDraw, StoredMeasurement};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use crate::store::printed_items::PrintedDocument;
use std::sync::Arc;

/// The document to rule on next.
#[derive(Clone, Debug)]
pub struct NextDocument {
    /// The ID that `overrule rule --item` takes.
    pub item: String,
    pub key: QueryKey,
    pub query: QueryId,
    pub query_text: String,
    pub document: DocId,
    pub title: Option<String>,
    pub text: Arc<str>,
    /// The number of the person's draw, from 1.
    pub number: usize,
}

/// The document that waits for this person's ruling, or else a new draw, which is stored with its
/// probability before it is shown; `None` if no document is left that can change the value.
/// `design` is the state before the draw, and `seed` the seed of a new measurement.
pub fn next_document(
    store: &Store,
    measurement: &Measurement,
    design: &DrawDesign,
    annotator: &str,
    seed: u64,
    now_ms: i64,
) -> Result<Option<NextDocument>, AppError> {
    let annotator = stored_annotator_name(annotator);
    let series = &measurement.series;
    let drawn = match series.open_draw(&annotator) {
        Some(open) => Some((open.query, open.document, open.step)),
        None => draw(store, measurement, design, &annotator, seed, now_ms)?,
    };
    let Some((query, document, step)) = drawn else {
        return Ok(None);
    };
    let query = &measurement.queries[query];
    let (key, query_id, id) = (
        query.key,
        query.id.clone(),
        query.documents[document].clone(),
    );
    Ok(Some(store.write_blocking(move |db| {
        let printed = PrintedDocument {
            query: key,
            document: id.clone(),
            // Not drawn as a control of the disagreements.
            control_of: 0,
        };
        let items = db.print_documents(&annotator, &[printed])?;
        Ok(NextDocument {
            item: items.into_iter().next().unwrap_or_default(),
            key,
            query: query_id,
            query_text: db.query(key)?.text,
            title: db
                .documents(key)?
                .into_iter()
                .nth(document)
                .and_then(|of| of.title),
            text: db.document_text(key, document)?,
            document: id,
            number: step + 1,
        })
    })?))
}

/// Draws a document and stores the draw; returns the query, the document and the step.
fn draw(
    store: &Store,
    measurement: &Measurement,
    design: &DrawDesign,
    annotator: &str,
    seed: u64,
    now_ms: i64,
) -> Result<Option<(usize, usize, usize)>, AppError> {
    let step = measurement.series.next_step(annotator);
    let started = StoredMeasurement {
        id: measurement.id,
        run: measurement.run.clone(),
        baseline: measurement.baseline.clone(),
        metric: measurement.metric.to_string(),
        seed,
        created_ms: now_ms,
    };
    let id = measurement.id;
    // The seed of a measurement never changes, so that nobody can choose among draws.
    let seed = store.write_blocking(move |db| {
        db.add_measurement(&started)?;
        let known = db.measurements()?.into_iter().find(|of| of.id == id);
        Ok(known.map_or(seed, |of| of.seed))
    })?;
    let purpose = ["measure", &hex(&id), annotator, &step.to_string()];
    let uniform = SeededRng::new(seed, &purpose).unit();
    let Some(drawn) = design.draw(uniform) else {
        return Ok(None);
    };
    let query = &measurement.queries[drawn.query];
    let row = StoredDraw {
        measurement: id,
        annotator: annotator.to_owned(),
        step,
        query: query.id.clone(),
        document: query.documents[drawn.document].clone(),
        probability: drawn.probability,
        relevance: drawn.relevance,
        gradient: drawn.gradient,
        variance: design.variance,
        mean: design.mean,
        created_ms: now_ms,
    };
    let parts = measurement.is_linear.then(|| encode_parts(&design.parts()));
    if store.write_blocking(move |db| db.add_draw(&row, parts.as_deref()))? {
        return Ok(Some((drawn.query, drawn.document, step)));
    }
    Err(AppError::Failed(format!(
        "another process drew a document for {annotator:?} at the same time; run the command again"
    )))
}
