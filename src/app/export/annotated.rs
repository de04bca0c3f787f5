//! Documents with their zELO scores, in zBench's JSON lines.

use crate::app::error::{AppError, invalid};
use crate::app::one_scale::ProjectScale;
use crate::domain::corpus::{DocId, Pool};
use crate::domain::rating::RatingError;
use crate::domain::sanitise;
use crate::formats::dataset::{self, LinkedScore, Unscored};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Store, StoreError};
use std::collections::HashMap;
use std::io::Write;

/// Writes the annotated dataset of some queries, with scores on one scale over queries where that was measured, tells after each how many are written, and says how many documents had
/// no score; those are left out unless they are kept.
pub fn write_annotated(
    store: &Store,
    keys: &[QueryKey],
    keep: bool,
    out: &mut dyn Write,
    mut wrote: impl FnMut(usize),
) -> Result<usize, AppError> {
    let unscored = if keep {
        Unscored::Null
    } else {
        Unscored::LeaveOut
    };
    let (mut written, mut left_out) = (0, 0);
    let scale = ProjectScale::read(store, None)?;
    store.read_each(
        keys,
        |db, key| {
            let pool = db.pool(key)?;
            let linked = match &scale {
                Some(scale) => linked_scores(db, key, scale, &pool)?,
                None => Vec::new(),
            };
            Ok(scored_lines(&pool, db.scores(key)?, &linked, unscored))
        },
        |_, lines| {
            let (lines, missing) = lines?;
            out.write_all(&lines)?;
            left_out += missing;
            written += 1;
            wrote(written);
            Ok::<(), AppError>(())
        },
    )?;
    Ok(left_out)
}

/// The absolute scores of a pool's documents; none where the query is not on the scale.
fn linked_scores(
    db: &Db,
    key: QueryKey,
    scale: &ProjectScale,
    pool: &Pool,
) -> Result<Vec<Option<LinkedScore>>, StoreError> {
    let Some(documents) = scale.documents(db, key)? else {
        return Ok(Vec::new());
    };
    let linked: HashMap<DocId, LinkedScore> = documents
        .into_iter()
        .map(|one| {
            let score = LinkedScore {
                score: one.linked,
                se: one.se,
            };
            (one.id, score)
        })
        .collect();
    let found = pool.documents.iter();
    Ok(found.map(|one| linked.get(&one.id).copied()).collect())
}

/// A query's part of the annotated dataset, and how many of its documents have no score.
fn scored_lines(
    pool: &Pool,
    scores: Result<Vec<Option<f64>>, RatingError>,
    linked: &[Option<LinkedScore>],
    unscored: Unscored,
) -> Result<(Vec<u8>, usize), AppError> {
    let scores = scores.map_err(|error| {
        let id = sanitise::line(pool.query.id.as_str());
        let who = error.blamed(|at| {
            let document = pool.documents.get(at);
            document.map_or(String::new(), |d| {
                sanitise::line(d.id.as_str()).into_owned()
            })
        });
        invalid!("query {id}: {error}{who}")
    })?;
    let mut lines = Vec::new();
    let missing = dataset::write_annotated(&mut lines, pool, &scores, linked, unscored)?;
    Ok((lines, missing))
}
