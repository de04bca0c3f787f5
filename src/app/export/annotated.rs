//! Exports documents with their zELO scores as zBench's JSON lines.

use crate::app::error::{AppError, invalid};
use crate::domain::corpus::Pool;
use crate::domain::rating::RatingError;
use crate::domain::sanitise;
use crate::formats::dataset::{self, Unscored};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::io::Write;

/// Writes the annotated dataset of some queries and reports the number of queries written after
/// each one. Returns the number of documents that have no score or follow the first `limit` of a
/// query, which are written without a score if `keep` is set and skipped otherwise.
pub fn write_annotated(
    store: &Store,
    keys: &[QueryKey],
    limit: Option<usize>,
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
    store.read_each(
        keys,
        |db, key| {
            let scores = db.scores(key)?.map(|mut scores| {
                scores
                    .iter_mut()
                    .skip(limit.unwrap_or(usize::MAX))
                    .for_each(|score| *score = None);
                scores
            });
            Ok(scored_lines(&db.pool(key)?, scores, unscored))
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

/// A query's part of the annotated dataset, and the number of its documents without a score.
fn scored_lines(
    pool: &Pool,
    scores: Result<Vec<Option<f64>>, RatingError>,
    unscored: Unscored,
) -> Result<(Vec<u8>, usize), AppError> {
    let scores = scores.map_err(|error| {
        let id = sanitise::line(pool.query.id.as_str());
        let who = error.blamed(|at| {
            pool.documents.get(at).map_or(String::new(), |d| {
                sanitise::line(d.id.as_str()).into_owned()
            })
        });
        invalid!("query {id}: {error}{who}")
    })?;
    let mut lines = Vec::new();
    let missing = dataset::write_annotated(&mut lines, pool, &scores, unscored)?;
    Ok((lines, missing))
}
