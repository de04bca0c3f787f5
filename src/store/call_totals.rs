//! Running totals of votes, failures and their cost by query and judge, which avoid reading all
//! votes.
//!
//! Code that adds a row to `vote` or `failure` updates the totals in the same transaction, and code
//! that moves a row recounts. The totals always equal a full recount.

use super::corpus::QueryKey;
use super::{Db, Result};
use crate::domain::judge_report::{BothOrders, PositionCounts, as_shown};
use crate::domain::vote::{JudgeId, Margin};
use rusqlite::params;
use std::collections::BTreeMap;

/// A stored call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum KeptCall {
    Vote {
        /// Whether a run asked for it, as opposed to an import, for example.
        asked: bool,
        margin: f64,
        /// Whether the judge was shown B first.
        swapped: bool,
        /// Whether the answer was copied from the call for another vote, so that no call was made
        /// for this one.
        shared: bool,
    },
    Failure,
}

/// SQL condition: the answer of a vote was copied from the call for another vote.
pub(super) const IS_SHARED: &str =
    "vote.call_key IS NOT NULL AND vote.run IS NOT NULL AND vote.latency_ms IS NULL
    AND vote.cost_usd IS 0.0 AND vote.tokens_input = 0 AND vote.tokens_output = 0";

/// Totals of calls that are not stored yet, by judge; a bulk import stores them once per query.
#[derive(Debug, Default)]
pub struct CallTally(BTreeMap<JudgeId, CallTotals>);

/// The columns of a row of `call_total`.
#[derive(Clone, Copy, Debug, Default)]
struct CallTotals {
    votes: i64,
    votes_priced: i64,
    votes_usd: f64,
    asked: i64,
    asked_priced: i64,
    asked_usd: f64,
    failures: i64,
    failures_priced: i64,
    failures_usd: f64,
    named_first: i64,
    tied: i64,
    shared: i64,
}

impl CallTotals {
    fn add(&mut self, kept: KeptCall, cost_usd: Option<f64>) {
        let (priced, usd) = (i64::from(cost_usd.is_some()), cost_usd.unwrap_or(0.0));
        match kept {
            KeptCall::Failure => {
                self.failures += 1;
                self.failures_priced += priced;
                self.failures_usd += usd;
            }
            KeptCall::Vote {
                asked,
                margin,
                swapped,
                shared,
            } => {
                self.votes += 1;
                self.votes_priced += priced;
                self.votes_usd += usd;
                if asked {
                    self.asked += 1;
                    self.asked_priced += priced;
                    self.asked_usd += usd;
                }
                let tied = margin == 0.0;
                self.named_first += i64::from(!tied && (margin > 0.0) == swapped);
                self.tied += i64::from(tied);
                self.shared += i64::from(shared);
            }
        }
    }
}

impl CallTally {
    pub(super) fn add(&mut self, judge: JudgeId, kept: KeptCall, cost_usd: Option<f64>) {
        self.0.entry(judge).or_default().add(kept, cost_usd);
    }
}

impl Db {
    /// Adds a newly stored call to the totals of its query and judge.
    pub(super) fn count_call(
        &self,
        battle: i64,
        judge: i64,
        kept: KeptCall,
        cost_usd: Option<f64>,
    ) -> Result<()> {
        let query = self.value("SELECT query FROM battle WHERE id = ?1", [battle])?;
        let mut tally = CallTally::default();
        tally.add(JudgeId(judge), kept, cost_usd);
        self.count_calls(QueryKey(query), &mut tally)
    }

    /// Adds newly stored calls to the totals of a query, and empties the tally.
    pub fn count_calls(&self, query: QueryKey, tally: &mut CallTally) -> Result<()> {
        for (judge, totals) in std::mem::take(&mut tally.0) {
            self.change(
                "INSERT INTO call_total (query, judge, votes, votes_priced, votes_usd, asked,
                     asked_priced, asked_usd, failures, failures_priced, failures_usd, named_first,
                     tied, shared)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
                 ON CONFLICT (query, judge) DO UPDATE SET
                     votes = votes + excluded.votes,
                     votes_priced = votes_priced + excluded.votes_priced,
                     votes_usd = votes_usd + excluded.votes_usd,
                     asked = asked + excluded.asked,
                     asked_priced = asked_priced + excluded.asked_priced,
                     asked_usd = asked_usd + excluded.asked_usd,
                     failures = failures + excluded.failures,
                     failures_priced = failures_priced + excluded.failures_priced,
                     failures_usd = failures_usd + excluded.failures_usd,
                     named_first = named_first + excluded.named_first,
                     tied = tied + excluded.tied,
                     shared = shared + excluded.shared",
                params![
                    query.0,
                    judge.0,
                    totals.votes,
                    totals.votes_priced,
                    totals.votes_usd,
                    totals.asked,
                    totals.asked_priced,
                    totals.asked_usd,
                    totals.failures,
                    totals.failures_priced,
                    totals.failures_usd,
                    totals.named_first,
                    totals.tied,
                    totals.shared,
                ],
            )?;
        }
        Ok(())
    }

    /// How often each judge preferred the document shown first, the one shown second, or neither,
    /// on these queries or on all, in the order of `judges`.
    pub fn position_counts(
        &self,
        judges: &[JudgeId],
        queries: Option<&[QueryKey]>,
    ) -> Result<Vec<PositionCounts>> {
        let queries = queries.map(|queries| {
            let ids: Vec<String> = queries.iter().map(|query| query.0.to_string()).collect();
            format!("[{}]", ids.join(","))
        });
        let mut counts = vec![PositionCounts::default(); judges.len()];
        let mut statement = self.connection.prepare_cached(
            "SELECT judge, sum(votes), sum(named_first), sum(tied) FROM call_total
             WHERE ?1 IS NULL OR query IN (SELECT value FROM json_each(?1)) GROUP BY judge",
        )?;
        let mut rows = statement.query([queries])?;
        while let Some(row) = rows.next()? {
            let judge = JudgeId(row.get(0)?);
            let (votes, first, ties): (usize, usize, usize) =
                (row.get(1)?, row.get(2)?, row.get(3)?);
            if let Some(at) = judges.iter().position(|known| *known == judge) {
                counts[at] = PositionCounts {
                    first,
                    second: votes.saturating_sub(first + ties),
                    ties,
                };
            }
        }
        Ok(counts)
    }

    /// How the judges answered on pairs that they saw in both orders, on these queries or on all,
    /// in the order of `judges`.
    pub fn both_orders(
        &self,
        judges: &[JudgeId],
        queries: Option<&[QueryKey]>,
    ) -> Result<Vec<BothOrders>> {
        let mut found = vec![BothOrders::default(); judges.len()];
        let mut statement = self.connection.prepare_cached(
            "SELECT one.judge, one.margin, one.swapped, other.margin, other.swapped,
             first.a = again.a
             FROM battle AS again
             JOIN battle AS first ON first.query = again.query AND min(first.a,
             first.b) = min(again.a, again.b)
                 AND max(first.a, first.b) = max(again.a, again.b) AND first.game = 0
             JOIN vote AS one ON one.battle = first.id
             JOIN vote AS other ON other.battle = again.id AND other.judge = one.judge
             WHERE again.query = ?1 AND again.game > 0",
        )?;
        let all: Vec<QueryKey>;
        let queries = match queries {
            Some(queries) => queries,
            None => {
                all = self.all("SELECT id FROM query", [], |row| Ok(QueryKey(row.get(0)?)))?;
                &all
            }
        };
        for query in queries {
            let mut pairs = vec![Vec::new(); judges.len()];
            let mut rows = statement.query([query.0])?;
            while let Some(row) = rows.next()? {
                let judge = JudgeId(row.get(0)?);
                let Some(at) = judges.iter().position(|known| *known == judge) else {
                    continue;
                };
                let (one, swapped): (Margin, bool) = (row.get(1)?, row.get(2)?);
                let (other, swapped_again): (Margin, bool) = (row.get(3)?, row.get(4)?);
                let same_a: bool = row.get(5)?;
                // Seen in both orders, whichever document each battle calls A.
                if (swapped == swapped_again) == same_a {
                    continue;
                }
                pairs[at].push((
                    as_shown(one.outcome(), swapped),
                    as_shown(other.outcome(), swapped_again),
                ));
            }
            for (both, pairs) in found.iter_mut().zip(pairs) {
                both.add_query(pairs);
            }
        }
        Ok(found)
    }

    /// Recounts a judge's calls on a query after votes were moved to or from it.
    pub(super) fn recount(&self, query: QueryKey, judge: JudgeId) -> Result<()> {
        self.change(
            "DELETE FROM call_total WHERE query = ?1 AND judge = ?2",
            params![query.0, judge.0],
        )?;
        self.change(
            &format!(
                "INSERT INTO call_total (query, judge, votes, votes_priced, votes_usd, asked,
                 asked_priced, asked_usd,
                 failures, failures_priced, failures_usd, named_first, tied, shared)
             SELECT ?1, ?2, sum(voted), sum(voted AND usd IS NOT NULL),
             total(CASE WHEN voted THEN usd END),
                 sum(asked), sum(asked AND usd IS NOT NULL), total(CASE WHEN asked THEN usd END),
                 sum(NOT voted), sum(NOT voted AND usd IS NOT NULL), total(CASE WHEN
                 NOT voted THEN usd END),
                 sum(named_first), sum(tied), sum(shared)
             FROM (
                 SELECT cost_usd AS usd, 1 AS voted, run IS NOT NULL AS asked,
                     CASE WHEN swapped THEN margin > 0 ELSE margin < 0 END AS named_first,
                     margin = 0 AS tied,
                     {IS_SHARED} AS shared
                 FROM battle JOIN vote ON vote.battle = battle.id AND vote.judge = ?2
                 WHERE query = ?1
                 UNION ALL
                 SELECT cost_usd, 0, 0, 0, 0, 0
                 FROM battle JOIN failure ON failure.battle = battle.id AND failure.judge = ?2
                 WHERE query = ?1
             )
             HAVING count(*) > 0"
            ),
            params![query.0, judge.0],
        )?;
        Ok(())
    }

    /// Number of votes of a judge in the project.
    pub fn votes_of(&self, judge: JudgeId) -> Result<usize> {
        self.value(
            "SELECT coalesce(sum(votes), 0) FROM call_total WHERE judge = ?1",
            [judge.0],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;
    use crate::judge::{FailureCause, JudgeSpec, Usage};
    use crate::store::labels::tests::pool;
    use crate::store::runs::{RunId, RunRow};
    use crate::store::votes::{CallOutcome, CallRecord};

    /// Every row, with money in millionths of a dollar.
    fn totals(db: &Db) -> Vec<Vec<i64>> {
        db.all(
            "SELECT query, judge, votes, votes_priced, round(votes_usd * 1e6), asked, asked_priced,
             round(asked_usd * 1e6),
                 failures, failures_priced, round(failures_usd * 1e6), named_first, tied, shared
                 FROM call_total
             ORDER BY query, judge",
            [],
            |row| {
                (0..14)
                    .map(|at| row.get::<_, f64>(at).map(|value| value as i64))
                    .collect()
            },
        )
        .unwrap()
    }

    /// The totals as the migration computes them from all votes and failures.
    fn recount(db: &Db) -> Vec<Vec<i64>> {
        let migration = include_str!("../../assets/migrations/0011.sql");
        let select = &migration[migration.find("SELECT query").unwrap()..];
        let named = include_str!("../../assets/migrations/0015.sql");
        let named = &named[named.find("UPDATE").unwrap()..];
        let shared = include_str!("../../assets/migrations/0024.sql");
        let shared = &shared[shared.find("UPDATE").unwrap()..];
        let shared = &shared[..=shared.find(';').unwrap()];
        db.connection
            .execute_batch("SAVEPOINT recount; DELETE FROM call_total")
            .unwrap();
        let fill = format!(
            "INSERT INTO call_total (query, judge, votes, votes_priced, votes_usd, asked,
             asked_priced, asked_usd, failures,
                 failures_priced, failures_usd) {select}"
        );
        db.connection.execute_batch(&fill).unwrap();
        db.connection.execute_batch(named).unwrap();
        db.connection.execute_batch(shared).unwrap();
        let found = totals(db);
        db.connection
            .execute_batch("ROLLBACK TO recount; RELEASE recount")
            .unwrap();
        found
    }

    #[test]
    fn totals_equal_a_full_recount_whatever_is_kept() {
        let db = Db::scratch().unwrap();
        let query = db.add_pool(&pool(&["{}"; 6]), "set").unwrap().key();
        let judge = |name: &str| {
            let spec = JudgeSpec {
                name: name.to_owned(),
                provider: "p".to_owned(),
                model: "m".to_owned(),
                prompt_hash: "h".to_owned(),
                params: "{}".to_owned(),
            };
            db.judge(&spec).unwrap()
        };
        let judges: [JudgeId; 2] = [judge("one"), judge("other")];
        let run: RunId = db
            .start_run(&RunRow {
                uid: "r".to_owned(),
                seed: 1,
                cycles: 1,
                depth: None,
                campaign: None,
                ensemble: db.ensemble(&judges).unwrap(),
                started_ms: 1,
            })
            .unwrap();
        let mut rng = SeededRng::new(7, &["totals"]);
        let mut votes = 0;
        for step in 0..200 {
            let a = rng.below(5);
            let game = rng.below(2) as u32;
            let battle = match db.battle_at(query, a, a + 1, game).unwrap() {
                Some((battle, ..)) => battle,
                None => db.add_fought_battle(query, a, a + 1, game).unwrap(),
            };
            let judge = judges[rng.below(2)];
            let result = match rng.below(3) {
                0 => CallOutcome::Failure {
                    cause: FailureCause::TimedOut,
                    message: "late".to_owned(),
                },
                _ => CallOutcome::Vote {
                    margin: Margin::new([-1.0, 0.0, 0.5][rng.below(3)]).unwrap(),
                    reasoning: String::new(),
                    model: None,
                    stop_reason: None,
                    request_id: None,
                },
            };
            let call = CallRecord {
                battle,
                judge,
                swapped: rng.below(2) == 1,
                attempt: 1,
                usage: Usage::default(),
                cost_usd: [None, Some(0.1), Some(0.003)][rng.below(3)],
                latency_ms: None,
                truncated: false,
                call_key: Some([step as u8; 32]),
                run: [None, Some(run)][rng.below(2)],
                created_ms: 1,
                raw: None,
                result,
            };
            db.record_attempt(&call, rng.below(2) == 1).unwrap();
            if let Some(known) = db.vote_by_call(&[step as u8; 32]).unwrap() {
                votes += 1;
                let other = judges[rng.below(2)];
                db.reuse_vote(known, battle, other, true, 1, run, 1)
                    .unwrap();
            }
            assert_eq!(totals(&db), recount(&db), "after step {step}");
        }
        let before = totals(&db);
        for judge in judges {
            db.recount(query, judge).unwrap();
        }
        assert_eq!(totals(&db), before);
        assert!(votes > 10 && totals(&db).len() == 2);
    }
}
