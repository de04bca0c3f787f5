//! Vote statistics of each query for the judge cards, cached until the query changes.

use super::corpus::QueryKey;
use super::judges::EnsembleId;
use super::{Db, Result, Store, StoreError};
use crate::domain::battle::{PROBE_GAME, Pair};
use crate::domain::judge_report::{QueryTally, Rating, VoteCases};
use crate::domain::ranking::{self, BattleRecord, QueryRows};
use crate::domain::vote::{JudgeId, Margin, Vote};
use rusqlite::params;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeSet, HashMap};

/// Version of the cached format; other versions are ignored.
const FORM: u8 = 2;

/// The vote statistics of a query and the revision that they belong to.
#[derive(Clone, Debug)]
pub struct TallyNow {
    pub revision: i64,
    pub tally: QueryTally,
    /// Input of the regressions, if it was just computed.
    pub cases: Option<VoteCases>,
}

/// A cached tally.
#[derive(Clone, Debug)]
pub struct KeptTally {
    revision: i64,
    tally: Vec<u8>,
    cases: Vec<u8>,
}

impl KeptTally {
    fn new(revision: i64, tally: &QueryTally, cases: &VoteCases) -> Result<Self> {
        Ok(Self {
            revision,
            tally: bytes(tally)?,
            cases: bytes(cases)?,
        })
    }
}

fn bytes(value: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_stdvec(&(FORM, value)).map_err(|error| StoreError::Corrupt(error.to_string()))
}

/// Decodes a cached value; `None` if it has another format version.
fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    if bytes.first() != Some(&FORM) {
        return None;
    }
    postcard::from_bytes(&bytes[1..]).ok()
}

impl Db {
    /// The ratings of a query, with judges numbered as in its ensemble.
    pub fn ratings(&self, query: QueryKey) -> Result<Vec<Rating>> {
        let (rows, scores) = self.rows_and_scores(query)?;
        Ok(self.rated(query, &rows, &scores)?.0)
    }

    /// A judge's votes on a query apart from probes, whether or not they count there: the documents
    /// and the margin.
    pub fn margins_of(
        &self,
        query: QueryKey,
        judge: JudgeId,
    ) -> Result<Vec<(usize, usize, Margin)>> {
        self.all(
            "SELECT a, b, margin FROM battle JOIN vote ON vote.battle = battle.id
             WHERE query = ?1 AND judge = ?2 AND game <> ?3 ORDER BY battle.id",
            params![query.0, judge.0, PROBE_GAME],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
    }

    fn rows_and_scores(&self, query: QueryKey) -> Result<(QueryRows, Vec<Option<f64>>)> {
        let settings = self.settings_under(self.ensemble_of(query)?)?;
        let rows = self.fitted_rows(query, &settings)?;
        let scores = ranking::scores(&rows, &settings).unwrap_or_default();
        Ok((rows, scores))
    }

    /// The ratings of a query, and those of its probes (pairs shown in the other order).
    fn rated(
        &self,
        query: QueryKey,
        rows: &QueryRows,
        scores: &[Option<f64>],
    ) -> Result<(Vec<Rating>, Vec<Rating>)> {
        let lengths = self.document_lengths(query)?;
        let length = |at: usize| lengths.get(at).copied().unwrap_or(0);
        let score = |at: usize| scores.get(at).copied().flatten();
        let numbers: HashMap<JudgeId, usize> = rows
            .judges
            .iter()
            .enumerate()
            .map(|(at, judge)| (*judge, at))
            .collect();
        let rate = |(battle, record): (usize, &BattleRecord)| {
            let (a, b) = (record.battle.a, record.battle.b);
            let gap = score(b).zip(score(a)).map(|(b, a)| b - a);
            let one = |vote: &Vote| {
                Some(Rating {
                    query: 0,
                    battle,
                    a,
                    b,
                    judge: *numbers.get(&vote.judge)?,
                    margin: vote.margin,
                    swapped: vote.swapped,
                    length_a: length(a),
                    length_b: length(b),
                    gap,
                })
            };
            record.votes.iter().filter_map(one).collect::<Vec<_>>()
        };
        let of = |records: &[BattleRecord]| records.iter().enumerate().flat_map(rate).collect();
        Ok((of(&rows.battles), of(&rows.probes)))
    }

    fn computed_tally(&self, query: QueryKey) -> Result<(QueryTally, VoteCases)> {
        let (rows, scores) = self.rows_and_scores(query)?;
        self.tally_of(query, &rows, &scores)
    }

    fn tally_of(
        &self,
        query: QueryKey,
        rows: &QueryRows,
        scores: &[Option<f64>],
    ) -> Result<(QueryTally, VoteCases)> {
        let said = self.verdict_rows(Some(query))?;
        let judged: BTreeSet<Pair> = said
            .iter()
            .filter_map(|row| Pair::new(row.verdict.a, row.verdict.b))
            .collect();
        let (ratings, probes) = self.rated(query, rows, scores)?;
        Ok(QueryTally::of(&ratings, &probes, &judged))
    }

    /// The tally of a query, from the cache if it is up to date.
    fn tally_now(&self, query: QueryKey) -> Result<TallyNow> {
        let (revision, kept): (i64, Option<Vec<u8>>) = self
            .maybe(
                "SELECT query.revision, tally.value
                 FROM query LEFT JOIN tally ON tally.query = query.id
                 AND tally.revision = query.revision
                 WHERE query.id = ?1",
                [query.0],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?
            .ok_or_else(|| StoreError::NotFound("no such query".to_owned()))?;
        if let Some(tally) = kept.and_then(|bytes| parsed(&bytes)) {
            return Ok(TallyNow {
                revision,
                tally,
                cases: None,
            });
        }
        let (tally, cases) = self.computed_tally(query)?;
        Ok(TallyNow {
            revision,
            tally,
            cases: Some(cases),
        })
    }

    /// The cached input of the regressions, so that an algorithm that reads it several times sees
    /// the same data.
    pub fn kept_cases(&self, query: QueryKey) -> Result<VoteCases> {
        let kept: Option<Vec<u8>> =
            self.maybe_value("SELECT cases FROM tally WHERE query = ?1", [query.0])?;
        match kept.and_then(|bytes| parsed(&bytes)) {
            Some(cases) => Ok(cases),
            None => Ok(self.computed_tally(query)?.1),
        }
    }

    pub(super) fn keep_tally(&self, query: QueryKey, kept: &KeptTally) -> Result<()> {
        self.change(
            "INSERT INTO tally (query, revision, value, cases)
             SELECT id, revision, ?2, ?3 FROM query WHERE id = ?1 AND revision = ?4
             ON CONFLICT (query) DO UPDATE SET
                 revision = excluded.revision, value = excluded.value, cases = excluded.cases",
            params![query.0, kept.tally, kept.cases, kept.revision],
        )?;
        Ok(())
    }

    /// A cached part of a report, if it was computed from this state.
    pub fn report_part<T: DeserializeOwned>(&self, name: &str, state: &[u8]) -> Result<Option<T>> {
        let kept: Option<Vec<u8>> = self.maybe_value(
            "SELECT value FROM report_part WHERE name = ?1 AND state = ?2",
            params![name, state],
        )?;
        Ok(kept.and_then(|bytes| parsed(&bytes)))
    }

    /// Caches a part of a report, which stays valid for this state.
    pub fn keep_report_part(&self, name: &str, state: &[u8], part: &impl Serialize) -> Result<()> {
        self.change(
            "INSERT INTO report_part (name, state, value) VALUES (?1, ?2, ?3)
             ON CONFLICT (name) DO UPDATE SET state = excluded.state, value = excluded.value",
            params![name, state, bytes(part)?],
        )?;
        Ok(())
    }

    /// All queries, or one, each with the ensemble whose votes count there.
    pub fn queries_with_ensembles(
        &self,
        query: Option<QueryKey>,
    ) -> Result<Vec<(QueryKey, Option<EnsembleId>)>> {
        self.all(
            "SELECT id, ensemble FROM query WHERE ?1 IS NULL OR id = ?1 ORDER BY id",
            [query.map(|query| query.0)],
            |row| {
                let ensemble: Option<i64> = row.get(1)?;
                Ok((QueryKey(row.get(0)?), ensemble.map(EnsembleId)))
            },
        )
    }

    /// The total numbers of votes and failures of each judge.
    pub fn calls_by_judge(&self) -> Result<HashMap<JudgeId, (i64, i64)>> {
        self.all(
            "SELECT judge, sum(votes), sum(failures) FROM call_total GROUP BY judge",
            [],
            |row| Ok((JudgeId(row.get(0)?), (row.get(1)?, row.get(2)?))),
        )
    }
}

impl Store {
    /// Passes the tally of each query to `each`, in order. Stale ones are computed on all cores and
    /// cached. `each` returns whether to continue. Blocks.
    pub fn tally_all(
        &self,
        queries: &[QueryKey],
        mut each: impl FnMut(QueryKey, TallyNow) -> bool,
    ) -> Result<()> {
        let work = |db: &Db, query: QueryKey| {
            let now = db.tally_now(query)?;
            let kept = match &now.cases {
                Some(cases) => Some(KeptTally::new(now.revision, &now.tally, cases)?),
                None => None,
            };
            Ok((now, kept))
        };
        self.read_and_keep(queries, work, Db::keep_tally, |query, (now, kept)| {
            (kept, each(query, now))
        })
    }
}
