//! Fixes α, stores the battles that have no verdict, and draws the controls.

use crate::app::error::{AppError, invalid};
use crate::app::text_format::counted;
use crate::domain::battle::Pair;
use crate::domain::corpus::QueryId;
use crate::domain::hex::hex;
use crate::domain::ranking::View;
use crate::domain::sampling::SeededRng;
use crate::features::accept::domain::{CONTROLS, DELTA};
use crate::features::accept::store::{
    StoredAcceptance, StoredControl, StoredDecision, StoredFrameQuery,
};
use crate::store::corpus::QueryKey;
use crate::store::{self, Db, Store};
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use uuid::Uuid;

/// Digits of a stored score after the point, as a factor.
const PRECISION: f64 = 1e6;

/// Starts an acceptance with the battles that have votes and never had a verdict.
///
/// # Errors
/// There are not more battles than controls, or the fit has no standard errors.
pub fn start(
    store: &Store,
    alpha: f64,
    author: &str,
    seed: u64,
    now_ms: i64,
) -> Result<StoredAcceptance, AppError> {
    let uid = Uuid::now_v7().to_string();
    let (frame, battles) = read_frame(store, &uid)?;
    let controls = draw(&frame, seed);
    let acceptance = StoredAcceptance {
        uid,
        alpha,
        delta: DELTA,
        seed,
        battles,
        author: author.to_owned(),
        created_ms: now_ms,
    };
    let stored = acceptance.clone();
    store.write_blocking(move |db| {
        db.add_acceptance(&stored)?;
        for query in &frame {
            db.add_acceptance_query(query)?;
        }
        for control in &controls {
            db.add_acceptance_control(control)?;
        }
        Ok(())
    })?;
    Ok(acceptance)
}

/// Number of battles that an acceptance would cover if it were started now.
///
/// # Errors
/// The same as those of [`start`].
pub fn startable_battles(store: &Store) -> Result<usize, AppError> {
    read_frame(store, "").map(|(_, battles)| battles)
}

/// The battles that have votes and never had a verdict, by query, and their number.
fn read_frame(store: &Store, uid: &str) -> Result<(Vec<StoredFrameQuery>, usize), AppError> {
    let keys = store.read_blocking(|db| db.query_names())?;
    let keys: Vec<QueryKey> = keys.into_iter().map(|(key, _)| key).collect();
    let mut frame: Vec<StoredFrameQuery> = Vec::new();
    store.read_each(
        &keys,
        |db, key| frame_query(db, key, uid),
        |_, query| {
            frame.extend(query.filter(|of| !of.decisions.is_empty()));
            Ok::<(), AppError>(())
        },
    )?;
    frame.sort_by(|one, other| one.query.as_str().cmp(other.query.as_str()));
    let battles: usize = frame.iter().map(|query| query.decisions.len()).sum();
    if battles <= CONTROLS {
        return Err(invalid!(
            "{} with votes and without a verdict: with at most {CONTROLS}, all of them would be \
             controls, and no verdict would be saved; `overrule queue` lists them",
            counted(battles, "battle")
        ));
    }
    let decided = |of: &StoredDecision| of.score > 0.0;
    if !frame.iter().flat_map(|query| &query.decisions).any(decided) {
        return Err(invalid!(
            "no score of this project has a standard error, so that no decision is more certain \
             than another; `overrule config project --model` selects a model with errors"
        ));
    }
    Ok((frame, battles))
}

/// The controls: a uniform draw without replacement. It follows from the seed and the names of the
/// battles, so that starting again does not give another draw.
fn draw(frame: &[StoredFrameQuery], seed: u64) -> Vec<StoredControl> {
    let mut hash = Sha256::new();
    let mut places = Vec::new();
    for (at, query) in frame.iter().enumerate() {
        for (place, of) in query.decisions.iter().enumerate() {
            for name in [query.query.as_str(), of.better.as_str(), of.other.as_str()] {
                hash.update((name.len() as u64).to_le_bytes());
                hash.update(name);
            }
            places.push((at, place));
        }
    }
    let names = hex(&hash.finalize());
    SeededRng::new(seed, &["acceptance controls", &names]).shuffle(&mut places);
    let drawn = places.into_iter().take(CONTROLS).enumerate();
    let control = |(place, (at, decision)): (usize, (usize, usize))| StoredControl {
        acceptance: frame[at].acceptance.clone(),
        place,
        query: frame[at].query.clone(),
        decision: frame[at].decisions[decision].clone(),
    };
    drawn.map(control).collect()
}

/// The battles of a query with votes that never had a verdict, with the decisions of the fit
/// without verdicts and without a student; `None` without votes.
fn frame_query(db: &Db, key: QueryKey, uid: &str) -> store::Result<Option<StoredFrameQuery>> {
    let (mut rows, settings) = db.view_inputs(key)?;
    if rows.battles.iter().all(|battle| battle.votes.is_empty()) {
        return Ok(None);
    }
    rows.verdicts.clear();
    rows.student = None;
    let judged: HashSet<Pair> = db
        .verdicts_ever(Some(key))?
        .into_iter()
        .filter_map(|row| Pair::new(row.verdict.a, row.verdict.b))
        .collect();
    let ids = db.document_ids(key)?;
    let view = View::new(rows, settings);
    let mut pairs: Vec<Pair> = view.pairs().filter(|pair| !judged.contains(pair)).collect();
    pairs.sort_unstable();
    let decision = |pair: Pair| {
        view.cell(pair.high(), pair.low()).observed?;
        let gap = signed_gap(&view, pair).unwrap_or(0.0);
        let [better, other] = if gap > 0.0 {
            [pair.high(), pair.low()]
        } else {
            [pair.low(), pair.high()]
        };
        Some(StoredDecision {
            better: ids.get(better)?.clone(),
            other: ids.get(other)?.clone(),
            score: (gap.abs() * PRECISION).round() / PRECISION,
        })
    };
    Ok(Some(StoredFrameQuery {
        acceptance: uid.to_owned(),
        query: db.query(key)?.id,
        votes: votes_hash(db, key)?,
        decisions: pairs.into_iter().filter_map(decision).collect(),
    }))
}

/// The gap of the scores in standard errors, positive if the document later in the pool is better;
/// `None` without a fit or standard errors.
fn signed_gap(view: &View, pair: Pair) -> Option<f64> {
    let (low, high) = view.places(pair)?;
    let scores = &view.fit.as_ref().ok()?.scores;
    let gap = scores.get(high)? - scores.get(low)?;
    let ratio = gap / view.covariance()?.gap_se(low, high);
    Some(ratio).filter(|ratio| ratio.is_finite())
}

/// Hash of the votes that count on a query, by the names of judges and documents.
pub(super) fn votes_hash(db: &Db, key: QueryKey) -> store::Result<[u8; 32]> {
    let rows = db.rows(key)?;
    let (ids, judges) = (db.document_ids(key)?, db.judges_of(key)?);
    let mut lines = Vec::new();
    for record in &rows.battles {
        for vote in &record.votes {
            let judge = judges.iter().find(|(id, _)| *id == vote.judge);
            let judge = judge.map(|(_, spec)| (&spec.name, &spec.model, &spec.prompt_hash));
            let documents = [record.battle.a, record.battle.b].map(|at| ids.get(at));
            let margin = vote.margin.get().to_bits();
            lines.push(serde_json::to_string(&(
                documents.map(|id| id.map(|id| id.as_str())),
                judge,
                vote.swapped,
                margin,
            ))?);
        }
    }
    lines.sort_unstable();
    Ok(Sha256::digest(lines.join("\n")).into())
}

/// The queries of a frame whose votes have changed since it was stored.
pub(super) fn changed_queries(db: &Db, frame: &[StoredFrameQuery]) -> store::Result<Vec<QueryId>> {
    let mut changed = Vec::new();
    for query in frame {
        let same = match db.known_query(query.query.as_str())? {
            Some(key) => votes_hash(db, key)? == query.votes,
            None => false,
        };
        if !same {
            changed.push(query.query.clone());
        }
    }
    Ok(changed)
}
