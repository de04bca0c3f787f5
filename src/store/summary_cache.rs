//! The summary of each query for the query list, computed from its view and cached until the query
//! changes.

use super::corpus::{QueryInfo, QueryKey};
use super::priority_cache::QueryPriorities;
use super::{Db, Result};
use crate::domain::priority;
use crate::domain::ranking::{QueryRows, RankingSettings, View};
use crate::domain::rating::{Dispersion, RatingError};
use rusqlite::params;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The summary of one query in the query list; a pure function of its rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QuerySummary {
    pub documents: usize,
    /// Number of documents in battles.
    pub entered: usize,
    /// Battles with at least one vote.
    pub fought: usize,
    pub battles: usize,
    pub votes: usize,
    /// Missing votes of the ensemble.
    pub missing: usize,
    /// Failed calls that are not resolved.
    pub failures: usize,
    pub verdicts: usize,
    /// Battles whose judges are unanimous.
    pub unanimous: usize,
    /// Battles with at least two votes.
    pub judged: usize,
    pub cyclic: usize,
    /// Triads whose three pairs are all decided.
    pub triads: usize,
    /// Widest 95 % rank interval in the top, in ranks.
    pub widest: Option<usize>,
    /// Number of ranks that count as the top: ten, or half of a small pool.
    pub top: usize,
    /// Probability that the top contains the right documents, if the model has errors and there is
    /// something to decide.
    pub settled: Option<f64>,
    /// Whether that probability is 95 % or more with confidence, so that further judgments are not
    /// expected to change the top.
    pub stop: bool,
    /// Number of further battles between the two documents at the cutoff until they are separated
    /// at 95 %; `None` if they are tied.
    pub to_separate: Option<usize>,
    /// The query's contribution to the estimate of the dispersion.
    pub dispersion: Option<Dispersion>,
    /// Whether all judges that count are offline.
    pub offline: bool,
}

/// The cached numbers of a query's view.
#[derive(Clone, Debug)]
pub struct QueryNumbers {
    /// The entry in the query list.
    pub summary: QuerySummary,
    /// The input of queues, if it was computed along with the view.
    pub priorities: Option<QueryPriorities>,
    /// The score of each document, if the view was computed and has scores.
    pub scores: Option<Vec<Option<f64>>>,
}

/// The scores of a query, and the revision to cache them for if they are not cached.
pub type ScoresNow = (
    std::result::Result<Vec<Option<f64>>, RatingError>,
    Option<i64>,
);

/// Confidence level at which a top counts as settled.
const SURE: f64 = 0.95;

/// Number of battles beyond which a forecast is useless.
pub const FORESEEN: usize = 999;

impl QuerySummary {
    /// The minimum number of further battles that can settle the top, if it is not settled. The top
    /// is right at most as often as the two documents at the cutoff are in the right order, so it
    /// takes at least the battles that separate these two. `None` if they are separated, tied, or
    /// further apart in battles than can be foreseen.
    pub fn least_to_settle(&self) -> Option<usize> {
        self.to_separate
            .filter(|battles| !self.stop && (1..=FORESEEN).contains(battles))
    }

    /// Whether more battles at the cutoff are unlikely to settle the top.
    pub fn is_stuck(&self) -> bool {
        let separable = self.to_separate.is_some_and(|battles| battles <= FORESEEN);
        self.settled.is_some() && !self.stop && !separable
    }

    pub fn of(view: &View, offline: bool) -> Self {
        let rows = view.rows();
        let (fought, battles) = view.progress();
        let entered = view.standings.iter().flatten().count();
        let top = priority::top_of(view);
        let certainty = priority::certainty(view, top).filter(|_| fought > 0);
        Self {
            documents: rows.documents,
            entered,
            fought,
            battles,
            votes: rows.battles.iter().map(|record| record.votes.len()).sum(),
            missing: view.battles.iter().map(|battle| battle.missing).sum(),
            failures: rows.battles.iter().map(|record| record.failed.len()).sum(),
            verdicts: rows.verdicts.len(),
            unanimous: view.consensus.0,
            judged: view.consensus.1,
            cyclic: view.triads.0,
            triads: view.triads.1,
            widest: view.widest_interval(top),
            top,
            settled: certainty.as_ref().map(|certainty| certainty.probability),
            stop: certainty.is_some_and(|certainty| certainty.settled(SURE)),
            to_separate: priority::at_the_cut(view, top)
                .and_then(|pair| priority::separation(view, pair, SURE))
                .map(|separation| separation.battles),
            dispersion: view.dispersion(),
            offline,
        }
    }

    /// The summary of a pool of this many documents without plans or judgments.
    fn untouched(documents: usize, settings: RankingSettings) -> Self {
        let rows = QueryRows {
            documents,
            ..QueryRows::default()
        };
        Self::of(&View::new(rows, settings), false)
    }

    /// Share of unanimous battles among those with at least two votes.
    pub fn consensus(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.unanimous as f64 / self.judged as f64)
    }
}

impl Db {
    /// The cached summary of a query, if nothing has changed since.
    pub(super) fn kept_summary(&self, query: QueryKey) -> Result<Option<QuerySummary>> {
        let cached: Option<String> = self.maybe_value(
            "SELECT value FROM summary JOIN query ON query.id = summary.query
             WHERE query.id = ?1 AND query.revision = summary.revision",
            [query.0],
        )?;
        Ok(cached.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// A query's summary, from the cache if it is up to date.
    fn summary(&self, query: QueryKey) -> Result<QueryNumbers> {
        if let Some(summary) = self.kept_summary(query)? {
            return Ok(QueryNumbers {
                summary,
                priorities: None,
                scores: None,
            });
        }
        let judges = self.judges_of(query)?;
        let offline = !judges.is_empty() && judges.iter().all(|(_, spec)| spec.is_offline());
        let view = self.view(query)?;
        Ok(QueryNumbers {
            summary: QuerySummary::of(&view, offline),
            priorities: Some(QueryPriorities::of(&view)),
            scores: view.fit.is_ok().then(|| view.scores()),
        })
    }

    /// A query's summary and its revision. May be computed on any connection.
    pub fn summary_now(&self, query: QueryKey) -> Result<(i64, QueryNumbers)> {
        let revision = self.value("SELECT revision FROM query WHERE id = ?1", [query.0])?;
        Ok((revision, self.summary(query)?))
    }

    /// Caches a query's numbers, unless it has changed since they were computed.
    pub fn keep_summary(
        &self,
        query: QueryKey,
        revision: i64,
        numbers: &QueryNumbers,
    ) -> Result<()> {
        let Some(priorities) = &numbers.priorities else {
            // They were read from the cache.
            return Ok(());
        };
        self.keep_priorities(query, revision, priorities)?;
        let text = serde_json::to_string(&numbers.summary)?;
        self.change(
            "INSERT INTO summary (query, revision, value)
             SELECT id, revision, ?2 FROM query WHERE id = ?1 AND revision = ?3
             ON CONFLICT (query) DO UPDATE SET
                 revision = excluded.revision, value = excluded.value",
            params![query.0, text, revision],
        )?;
        match &numbers.scores {
            Some(scores) => self.keep_scores(query, revision, scores),
            None => Ok(()),
        }
    }

    /// A query's scores, and if they were not cached, the revision to cache them for. May be
    /// computed on any connection.
    pub fn scores_now(&self, query: QueryKey) -> Result<ScoresNow> {
        if let Some(kept) = self.kept_scores(query)? {
            return Ok((Ok(kept), None));
        }
        let revision = self.value("SELECT revision FROM query WHERE id = ?1", [query.0])?;
        Ok((self.scores(query)?, Some(revision)))
    }

    /// Caches a query's scores, unless it has changed since they were computed.
    pub fn keep_scores(
        &self,
        query: QueryKey,
        revision: i64,
        scores: &[Option<f64>],
    ) -> Result<()> {
        self.change(
            "INSERT INTO fitted_scores (query, revision, scores)
             SELECT id, revision, ?3 FROM query WHERE id = ?1 AND revision = ?2
             ON CONFLICT (query) DO UPDATE SET
                 revision = excluded.revision, scores = excluded.scores",
            params![query.0, revision, packed(scores)],
        )?;
        Ok(())
    }

    /// The cached scores of a query, bit for bit, if nothing has changed since.
    pub fn kept_scores(&self, query: QueryKey) -> Result<Option<Vec<Option<f64>>>> {
        let kept: Option<Vec<u8>> = self.maybe_value(
            "SELECT scores FROM fitted_scores JOIN query ON query.id = fitted_scores.query
             WHERE query.id = ?1 AND query.revision = fitted_scores.revision",
            [query.0],
        )?;
        Ok(kept.and_then(|bytes| unpacked(&bytes)))
    }

    /// Computes a query's summary and caches it.
    #[cfg(test)]
    pub fn cache_summary(&self, query: QueryKey) -> Result<QuerySummary> {
        let (revision, numbers) = self.summary_now(query)?;
        self.keep_summary(query, revision, &numbers)?;
        Ok(numbers.summary)
    }

    /// The data of the query list that is cheap to obtain: each query, with its summary if the
    /// cache is up to date or nothing has been planned or judged, in which case it is the same for
    /// all pools of one size.
    pub fn overview(&self) -> Result<Vec<(QueryInfo, Option<QuerySummary>)>> {
        self.overview_page(None, i64::MAX)
    }

    /// [`Db::overview`] for at most `limit` queries after a given one.
    pub fn overview_page(
        &self,
        after: Option<QueryKey>,
        limit: i64,
    ) -> Result<Vec<(QueryInfo, Option<QuerySummary>)>> {
        let settings = self.settings()?;
        let mut untouched: HashMap<usize, QuerySummary> = HashMap::new();
        self.all(
            "SELECT query.id, query.name, query.text, query.documents, summary.value,
                    CASE WHEN summary.value IS NULL THEN ensemble IS NULL AND depth IS NULL
                        AND NOT EXISTS (SELECT 1 FROM battle WHERE battle.query = query.id)
                        AND NOT EXISTS (SELECT 1 FROM verdict WHERE verdict.query = query.id)
                    ELSE 0 END
             FROM query LEFT JOIN summary ON summary.query = query.id
             AND summary.revision = query.revision
             WHERE query.id > ?1 ORDER BY query.id LIMIT ?2",
            (after.map_or(i64::MIN, |query| query.0), limit),
            |row| {
                let info = QueryInfo {
                    key: QueryKey(row.get(0)?),
                    id: row.get(1)?,
                    text: row.get(2)?,
                    documents: row.get(3)?,
                };
                let kept: Option<String> = row.get(4)?;
                let summary = match kept {
                    Some(text) => serde_json::from_str(&text).ok(),
                    None if row.get(5)? => {
                        let documents = info.documents;
                        let summary = || QuerySummary::untouched(documents, settings);
                        let known = untouched.entry(documents).or_insert_with(summary);
                        Some(known.clone())
                    }
                    None => None,
                };
                Ok((info, summary))
            },
        )
    }
}

/// Version of the format of cached scores; other versions are ignored.
const SCORES_FORM: u8 = 1;

/// The version byte, then one number per document; NaN if it has no score.
fn packed(scores: &[Option<f64>]) -> Vec<u8> {
    let mut bytes = vec![SCORES_FORM];
    for score in scores {
        bytes.extend(score.unwrap_or(f64::NAN).to_le_bytes());
    }
    bytes
}

fn unpacked(bytes: &[u8]) -> Option<Vec<Option<f64>>> {
    let (form, numbers) = bytes.split_first()?;
    let (numbers, rest) = numbers.as_chunks();
    let number = |bytes: &[u8; 8]| Some(f64::from_le_bytes(*bytes)).filter(|score| !score.is_nan());
    (*form == SCORES_FORM && rest.is_empty()).then(|| numbers.iter().map(number).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::verdict::Decision;
    use crate::store::labels::tests::pool;
    use crate::store::verdicts::NewVerdict;

    #[test]
    fn the_summary_of_an_untouched_query_is_known_without_a_look_at_it() {
        let db = Db::scratch().unwrap();
        let mut keys = Vec::new();
        for documents in [1, 4, 4] {
            let mut pool = pool(&vec!["{}"; documents]);
            pool.query.id = crate::domain::corpus::QueryId::new(format!("q{}", keys.len()));
            keys.push(db.add_pool(&pool, "set").unwrap().key());
        }
        let verdict = NewVerdict::open(keys[2], 0, 1, Decision::A, "ann");
        db.add_verdict(&verdict).unwrap();
        let listed = db.overview().unwrap();
        for ((info, summary), key) in listed.iter().zip(&keys).take(2) {
            assert_eq!(info.key, *key);
            assert_eq!(*summary, Some(db.summary_now(*key).unwrap().1.summary));
        }
        assert_eq!(listed[2].1, None);
    }
}
