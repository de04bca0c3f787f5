//! Exports documents with their zELO scores as zBench's JSON lines.

use crate::app::error::{AppError, invalid};
use crate::domain::corpus::Pool;
use crate::domain::ranking::PoolScores;
use crate::domain::rating::RatingError;
use crate::domain::sanitize;
use crate::formats::dataset::{self, Unscored};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::io::Write;

/// Number of documents without a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnscoredDocuments {
    /// Without a score, although judges were asked about them.
    pub left_out: usize,
    /// After the limit, and written with the score of a document without battles.
    pub past_limit: usize,
}

/// Writes the annotated dataset of some queries and reports the number of queries written after
/// each one. Documents after the first `limit` of a query that have no score get that of a document
/// without battles, as from zBench. Others without a score are written without one if `keep` is set
/// and skipped otherwise. A query without any scores is skipped.
pub fn write_annotated(
    store: &Store,
    keys: &[QueryKey],
    limit: Option<usize>,
    keep: bool,
    out: &mut dyn Write,
    mut wrote: impl FnMut(usize),
) -> Result<UnscoredDocuments, AppError> {
    let unscored = Unscored::keep(keep);
    let (mut written, mut unscored_documents) = (0, UnscoredDocuments::default());
    let mut failed = None;
    // Scores that had to be computed are cached, so that the next file needs no votes.
    let kept = store.read_and_keep(
        keys,
        |db, key| {
            let mut past_limit = 0;
            let (mut scores, bare, revision) = match limit {
                None => {
                    let (scores, revision) = db.scores_now(key)?;
                    (scores, 0.0, revision)
                }
                Some(_) => match db.scores_and_bare(key)? {
                    (Ok(PoolScores { scores, bare }), revision) => (Ok(scores), bare, revision),
                    (Err(error), _) => (Err(error), 0.0, None),
                },
            };
            let computed = revision.zip(scores.as_ref().ok().cloned());
            if let (Some(limit), Ok(scores)) = (limit, &mut scores)
                && scores.iter().any(Option::is_some)
            {
                let past = scores.iter_mut().skip(limit);
                for score in past.filter(|score| score.is_none()) {
                    *score = Some(bare);
                    past_limit += 1;
                }
            }
            let lines = scored_lines(&db.pool(key)?, scores, unscored);
            let lines = lines.map(|(lines, missing)| (lines, missing, past_limit));
            Ok((lines, computed))
        },
        |db, key, (revision, scores): &(i64, Vec<_>)| db.keep_scores(key, *revision, scores),
        |_, (lines, computed)| {
            let line = lines.and_then(|(lines, missing, past_limit)| {
                out.write_all(&lines)?;
                unscored_documents.left_out += missing;
                unscored_documents.past_limit += past_limit;
                written += 1;
                wrote(written);
                Ok(())
            });
            failed = line.err();
            (computed, failed.is_none())
        },
    );
    match failed {
        Some(error) => Err(error),
        None => kept.map(|()| unscored_documents).map_err(Into::into),
    }
}

/// A query's part of the annotated dataset, and the number of its documents without a score.
fn scored_lines(
    pool: &Pool,
    scores: Result<Vec<Option<f64>>, RatingError>,
    unscored: Unscored,
) -> Result<(Vec<u8>, usize), AppError> {
    let scores = scores.map_err(|error| {
        let id = sanitize::line(pool.query.id.as_str());
        let who = error.blamed(|at| {
            pool.documents.get(at).map_or(String::new(), |d| {
                sanitize::line(d.id.as_str()).into_owned()
            })
        });
        invalid!("query {id}: {error}{who}")
    })?;
    let mut lines = Vec::new();
    let missing = dataset::write_annotated(&mut lines, pool, &scores, unscored)?;
    Ok((lines, missing))
}
