//! Reads the rankings, the rulings, the scores and the draws of a measurement.

use crate::app::error::{AppError, invalid};
use crate::app::export::FoundRanking;
use crate::app::scored_pools::{ScoreSource, Unfitted, fitted_pools};
use crate::app::text_format::{counted, first_names};
use crate::domain::adjudication::rulings_in_force;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{Metric, is_own_document};
use crate::features::measure::domain::{
    Draw, DrawDesign, ExpectedMetric, FrameQuery, MeasuredFrame, MeasuredSeries,
};
use crate::features::measure::store::StoredDraw;
use crate::registry::{find_ranking, project_scale};
use crate::store::corpus::QueryKey;
use crate::store::{self, Db, Store};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashMap};

/// Which value is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasureRequest {
    /// A ranking of the project, the result of a method, or a file.
    pub run: String,
    /// The run to subtract.
    pub baseline: Option<String>,
    pub metric: Metric,
    /// The lowest grade that counts as relevant where people cannot tell.
    pub level: i32,
}

/// A query of a measurement.
#[derive(Clone, Debug)]
pub(super) struct MeasuredQuery {
    pub(super) key: QueryKey,
    pub(super) id: QueryId,
    pub(super) documents: Vec<DocId>,
}

/// A measurement in its present state.
#[derive(Debug)]
pub struct Measurement {
    /// Hash of the metric and of the ranks of the documents that count.
    pub(super) id: [u8; 32],
    pub(super) run: String,
    pub(super) baseline: Option<String>,
    pub(super) metric: Metric,
    /// Whether the estimate is unbiased, for a sum over documents.
    pub(super) is_linear: bool,
    /// Whether anchors or links put all queries on one scale.
    pub(super) on_one_scale: bool,
    pub(super) queries: Vec<MeasuredQuery>,
    pub(super) series: MeasuredSeries,
    /// Viewing time of the rulings on drawn documents, where it was measured.
    pub(super) active_ms: Vec<i64>,
    /// Notes on the rankings and the queries.
    pub(super) notes: Vec<String>,
}

impl Measurement {
    /// The state before the next draw.
    pub fn design(&self) -> DrawDesign {
        self.series.design()
    }
}

/// What people ruled on a document.
#[derive(Clone, Copy, Debug)]
struct KnownRuling {
    /// `None` if nobody can tell, or if people differ without a majority: the label stays.
    side: Option<bool>,
    active_ms: Option<i64>,
}

/// A query with its labels, and its rulings by document.
struct ReadQuery {
    of: MeasuredQuery,
    labels: BTreeMap<DocId, i32>,
    rulings: HashMap<DocId, KnownRuling>,
}

/// Reads a measurement.
///
/// # Errors
/// An unknown ranking, a metric whose expectation cannot be computed, or no query whose first
/// documents are all in the pool.
pub fn read_measurement(store: &Store, request: &MeasureRequest) -> Result<Measurement, AppError> {
    let Some(metric) = ExpectedMetric::of(request.metric) else {
        return Err(invalid!(
            "{}: cannot be measured; expected p@K, ndcg@K, recall@K, map@K or mrr@K",
            request.metric
        ));
    };
    let names = [Some(&request.run), request.baseline.as_ref()];
    let runs: Vec<FoundRanking> = names
        .into_iter()
        .flatten()
        .map(|name| find_ranking(store, name))
        .collect::<Result<_, _>>()?;
    let mut notes: Vec<String> = runs.iter().flat_map(|run| run.notes.clone()).collect();
    let ranked: Vec<QueryId> = match runs.split_first() {
        Some((first, others)) => {
            let in_all = |query: &&QueryId| others.iter().all(|of| of.orders.contains_key(*query));
            first.orders.keys().filter(in_all).cloned().collect()
        }
        None => Vec::new(),
    };
    let count = ranked.len();
    let read = store.read_blocking(move |db| read_queries(db, &ranked))?;
    if read.len() < count {
        let missing = counted(count - read.len(), "query");
        notes.push(format!(
            "skipped {missing} of the rankings without a pool in the project"
        ));
    }
    let mut frame = MeasuredFrame {
        metric,
        queries: Vec::new(),
    };
    let mut queries = Vec::new();
    let mut outside = Vec::new();
    for query in read {
        match frame_query(&runs, &query, metric.cutoff()) {
            Some(of) => {
                frame.queries.push(of);
                queries.push(query);
            }
            None => outside.push(query.of.id),
        }
    }
    if !outside.is_empty() {
        let names: Vec<&str> = outside.iter().map(QueryId::as_str).collect();
        notes.push(format!(
            "skipped {} with documents in the top {} that are not in the pool: {}",
            counted(outside.len(), "query"),
            metric.cutoff(),
            first_names(&names)
        ));
    }
    if queries.is_empty() {
        let notes: Vec<String> = notes.iter().map(|note| format!(" ({note})")).collect();
        return Err(invalid!(
            "nothing to measure: no query is in the project and in all rankings with its top {} \
             in the pool{}; `overrule pool build --candidates` builds pools from a run",
            metric.cutoff(),
            notes.concat()
        ));
    }
    let keys: Vec<QueryKey> = queries.iter().map(|query| query.of.key).collect();
    let (scored, unfitted) = fitted_pools(store, &keys, ScoreSource::Project)?;
    notes.extend(Unfitted::note(&unfitted));
    let scale = project_scale(store)?;
    let offset = |query: &QueryId| scale.as_ref()?.offset(query);
    let on_one_scale = queries.iter().all(|query| offset(&query.of.id).is_some());
    let scores: Vec<Vec<(f64, f64)>> = queries
        .iter()
        .zip(&scored)
        .map(|(query, pool)| {
            let offset = if on_one_scale {
                offset(&query.of.id).map_or(0.0, |of| of.value)
            } else {
                0.0
            };
            let scores = pool.documents.iter();
            scores
                .map(|(_, zelo)| (zelo.unwrap_or(0.0), offset))
                .collect()
        })
        .collect();
    let known: Vec<Vec<Option<bool>>> = queries
        .iter()
        .map(|query| {
            let is_labeled = |document: &DocId| {
                let grade = query.labels.get(document);
                grade.is_some_and(|grade| *grade >= request.level)
            };
            let known = |document: &DocId| {
                let ruling = query.rulings.get(document)?;
                Some(ruling.side.unwrap_or_else(|| is_labeled(document)))
            };
            query.of.documents.iter().map(known).collect()
        })
        .collect();
    let id = identity(request.metric, &frame, &queries);
    let stored = store.read_blocking(move |db| db.draws(&id))?;
    let draws = placed_draws(&stored, &queries);
    let active_ms = draws.iter().filter_map(|draw| {
        let query = queries.get(draw.query)?;
        let document = query.of.documents.get(draw.document)?;
        query.rulings.get(document)?.active_ms
    });
    let active_ms = active_ms.collect();
    Ok(Measurement {
        id,
        run: request.run.clone(),
        baseline: request.baseline.clone(),
        metric: request.metric,
        is_linear: metric.is_linear(),
        on_one_scale,
        series: MeasuredSeries::new(frame, &scores, known, draws),
        active_ms,
        queries: queries.into_iter().map(|query| query.of).collect(),
        notes,
    })
}

fn read_queries(db: &Db, wanted: &[QueryId]) -> store::Result<Vec<ReadQuery>> {
    let mut labels = db.labels()?;
    let rows = db.standing_rulings()?;
    let standing: Vec<_> = rows.iter().map(|row| row.ruling.clone()).collect();
    let (in_force, _) = rulings_in_force(&db.final_rule()?, &standing);
    let mut rulings: HashMap<QueryId, HashMap<DocId, KnownRuling>> = HashMap::new();
    for row in &rows {
        let of_query = rulings.entry(row.ruling.query.clone()).or_default();
        let known = of_query
            .entry(row.ruling.document.clone())
            .or_insert(KnownRuling {
                side: None,
                active_ms: None,
            });
        if let Some(active_ms) = row.about.active_ms {
            known.active_ms = Some(known.active_ms.unwrap_or(0) + active_ms);
        }
    }
    for ruling in in_force {
        let of_query = rulings.get_mut(&ruling.query);
        if let Some(known) = of_query.and_then(|of| of.get_mut(&ruling.document)) {
            known.side = ruling.finding.side();
        }
    }
    let mut found = Vec::new();
    for id in wanted {
        if let Some(key) = db.known_query(id.as_str())? {
            found.push(ReadQuery {
                labels: labels.remove(id).unwrap_or_default(),
                rulings: rulings.remove(id).unwrap_or_default(),
                of: MeasuredQuery {
                    key,
                    id: id.clone(),
                    documents: db.document_ids(key)?,
                },
            });
        }
    }
    Ok(found)
}

/// The ranks of a query's pool documents in each run; `None` if a document within the cutoff is not
/// in the pool. A document that is the query itself is skipped, as by `evaluate`.
fn frame_query(runs: &[FoundRanking], query: &ReadQuery, cutoff: usize) -> Option<FrameQuery> {
    let documents = query.of.documents.iter().enumerate();
    let place: HashMap<&DocId, usize> = documents.map(|(at, id)| (id, at)).collect();
    let ranks = |run: &FoundRanking| {
        let mut ranks = vec![None; place.len()];
        let order = run.orders.get(&query.of.id)?.iter();
        let other = order.filter(|(id, _)| !is_own_document(&query.of.id, id, &query.labels));
        for (rank, (id, _)) in (1..).zip(other) {
            match place.get(id) {
                Some(at) => ranks[*at] = Some(rank),
                None if rank <= cutoff => return None,
                None => {}
            }
        }
        Some(ranks)
    };
    let runs = runs.iter().map(ranks).collect::<Option<_>>()?;
    Some(FrameQuery { runs })
}

/// A hash of what is measured: the metric, the queries, and the ranks within the cutoff of the
/// documents whose ruling can change the value. Draws of another measurement are labels, not
/// estimates.
fn identity(metric: Metric, frame: &MeasuredFrame, queries: &[ReadQuery]) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut add = |part: &str| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    };
    add("overrule measure 1");
    add(&metric.to_string());
    for (query, (of, ranks)) in queries.iter().zip(&frame.queries).enumerate() {
        add(of.of.id.as_str());
        for (document, id) in of.of.documents.iter().enumerate() {
            if frame.matters(query, document) {
                add(id.as_str());
                for run in &ranks.runs {
                    let rank = run[document].filter(|rank| *rank <= frame.metric.cutoff());
                    add(&rank.map_or(String::new(), |rank| rank.to_string()));
                }
            }
        }
        add("");
    }
    hash.finalize().into()
}

/// The draws with the places of their documents; those of unknown documents are skipped.
fn placed_draws(stored: &[StoredDraw], queries: &[ReadQuery]) -> Vec<Draw> {
    let by_id: HashMap<&QueryId, usize> = queries
        .iter()
        .enumerate()
        .map(|(at, query)| (&query.of.id, at))
        .collect();
    let placed = |row: &StoredDraw| {
        let query = *by_id.get(&row.query)?;
        let documents = &queries.get(query)?.of.documents;
        Some(Draw {
            annotator: row.annotator.clone(),
            step: row.step,
            query,
            document: documents.iter().position(|id| *id == row.document)?,
            probability: row.probability,
            relevance: row.relevance,
            gradient: row.gradient,
            variance: row.variance,
            mean: row.mean,
        })
    };
    stored.iter().filter_map(placed).collect()
}
