//! The ledger of paid calls: one row for each attempt in flight, and for each whose cost had to be
//! assumed.

use super::runs::RunId;
use super::{Db, Result};
use crate::domain::spend::Spend;
use crate::judge::FailureCause;
use rusqlite::params;
use rusqlite::types::{ToSql, ToSqlOutput};
use serde::Serialize;

/// Purpose of a paid call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallPurpose {
    /// A judge's vote on a battle.
    Vote,
    /// A judge's picks from a pool.
    Pick,
    /// Vectors of texts.
    Embedding,
    /// Questions of reranking methods.
    Reranking,
    /// Test questions to judges that are being set up.
    Test,
}

impl CallPurpose {
    /// The name in the project and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vote => "votes",
            Self::Pick => "picks",
            Self::Embedding => "embeddings",
            Self::Reranking => "reranking",
            Self::Test => "tests",
        }
    }
}

/// An attempt that is about to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Globally unique.
    pub uid: [u8; 16],
    pub purpose: CallPurpose,
    /// The judge's or embedder's name.
    pub service: String,
    pub run: Option<RunId>,
    /// Worst-case cost in dollars; `None` if the price is unknown.
    pub worst_usd: Option<f64>,
    /// Milliseconds since the Unix epoch.
    pub sent_ms: i64,
}

/// The cost of an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Charge {
    /// The cost in dollars according to the provider's usage.
    Known(f64),
    /// The worst-case cost in dollars, because the actual cost is unknown.
    Assumed(f64),
    /// The price is unknown.
    Unpriced,
}

impl Charge {
    /// The spend of a call that was charged this.
    pub fn spend(self) -> Spend {
        let mut spend = Spend::default();
        match self {
            Self::Known(usd) => spend.known_usd = usd,
            Self::Assumed(usd) => spend.assumed_usd = usd,
            Self::Unpriced => spend.unpriced = 1,
        }
        spend
    }

    /// Dollars that count against a budget.
    pub fn usd(self) -> f64 {
        match self {
            Self::Known(usd) | Self::Assumed(usd) => usd,
            Self::Unpriced => 0.0,
        }
    }
}

/// Spending for one purpose with one service.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// The purpose: votes, picks, embeddings, reranking or tests.
    pub purpose: String,
    /// The judge's or embedder's name.
    pub service: String,
    /// Votes, failures and picks, and further calls with a known cost or without a known price. A
    /// vote that shares the answer of another call does not count.
    pub calls: usize,
    /// Dollars according to the providers' usage.
    pub known_usd: f64,
    /// Dollars assumed at the worst-case price because usage is missing or the call was
    /// interrupted.
    pub assumed_usd: f64,
    /// Attempts behind `assumed_usd`.
    pub assumed_calls: usize,
    /// Attempts in flight, or interrupted by a kill and not yet counted as assumed.
    pub open_calls: usize,
    /// Worst-case cost of those in dollars.
    pub open_usd: f64,
    /// Votes, failures, picks and further attempts whose cost is neither known nor assumed because
    /// there is no price.
    pub unpriced: usize,
}

impl Spent {
    /// Dollars that count against a budget, including calls in flight.
    pub fn usd(&self) -> f64 {
        self.known_usd + self.assumed_usd + self.open_usd
    }

    /// Cost of calls that have ended.
    pub fn spend(&self) -> Spend {
        Spend {
            known_usd: self.known_usd,
            assumed_usd: self.assumed_usd,
            unpriced: self.unpriced,
        }
    }
}

/// Why an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptFailure {
    Failed(FailureCause),
    /// Nobody waited for its end.
    Abandoned,
}

impl ToSql for AttemptFailure {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Failed(cause) => cause.to_sql(),
            Self::Abandoned => Ok("abandoned".into()),
        }
    }
}

impl Db {
    /// Records an attempt that is about to be sent.
    pub fn begin_call(&self, attempt: &Attempt) -> Result<()> {
        self.change(
            "INSERT INTO call (uid, purpose, service, run, worst_usd, sent_ms) VALUES (?1, ?2, ?3,
             ?4, ?5, ?6)",
            params![
                &attempt.uid[..],
                attempt.purpose.name(),
                attempt.service,
                attempt.run.map(|run| run.0),
                attempt.worst_usd,
                attempt.sent_ms,
            ],
        )?;
        Ok(())
    }

    /// Removes an attempt that was never sent.
    pub fn forget_call(&self, uid: &[u8; 16]) -> Result<()> {
        self.change("DELETE FROM call WHERE uid = ?1", [&uid[..]])?;
        Ok(())
    }

    /// Charges an attempt that has ended. `kept` says whether a vote, failure or pick stores its
    /// cost.
    pub fn charge_call(
        &self,
        uid: &[u8; 16],
        charge: Charge,
        failure: Option<AttemptFailure>,
        kept: bool,
        now_ms: i64,
    ) -> Result<()> {
        let (known, assumed) = match charge {
            Charge::Known(usd) if usd != 0.0 && !kept => (Some(usd), None),
            Charge::Assumed(usd) => (None, Some(usd)),
            Charge::Unpriced if !kept => (None, None),
            Charge::Known(_) | Charge::Unpriced => return self.forget_call(uid),
        };
        self.change(
            "UPDATE call SET ended_ms = ?2, cost_usd = ?3, assumed_usd = ?4, cause = ?5, kept = ?6
             WHERE uid = ?1",
            params![&uid[..], now_ms, known, assumed, failure, kept],
        )?;
        Ok(())
    }

    /// Charges an answer of unknown cost at its worst-case price. A vote or failure about it is
    /// stored too, and its uid is derived from the call, so that it is charged once, whoever
    /// fetches it.
    pub fn assume_cost(&self, attempt: &Attempt, now_ms: i64) -> Result<()> {
        self.change(
            "INSERT INTO call (uid, purpose, service, run, worst_usd, sent_ms, ended_ms,
             assumed_usd, kept)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?5, 1) ON CONFLICT DO NOTHING",
            params![
                &attempt.uid[..],
                attempt.purpose.name(),
                attempt.service,
                attempt.run.map(|run| run.0),
                attempt.worst_usd,
                attempt.sent_ms,
                now_ms,
            ],
        )?;
        Ok(())
    }

    /// Charges attempts interrupted by a kill at their worst-case price, if it is known. The caller
    /// must hold the run lock, so that no other process has calls in flight.
    pub fn charge_killed_calls(&self, now_ms: i64) -> Result<usize> {
        Ok(self.connection.execute(
            "UPDATE call SET ended_ms = ?1, cause = 'killed', assumed_usd = worst_usd
             WHERE ended_ms IS NULL",
            [now_ms],
        )?)
    }

    /// Spending by purpose and service, highest first.
    pub fn spent(&self) -> Result<Vec<Spent>> {
        self.all(
            "SELECT purpose, service, sum(calls), sum(known), sum(assumed), sum(assumed_calls),
             sum(open_calls), sum(open),
                 max(sum(nulls) - sum(kept), 0)
             FROM (
                 SELECT 'votes' AS purpose, name AS service,
                 sum(votes - shared + failures) AS calls,
                     sum(votes_usd + failures_usd) AS known,
                     0.0 AS assumed, 0 AS assumed_calls, 0 AS open_calls, 0.0 AS open,
                     sum(votes + failures - votes_priced - failures_priced) AS nulls, 0 AS kept
                 FROM call_total JOIN judge ON judge.id = judge GROUP BY judge
                 UNION ALL
                 SELECT 'picks', record ->> '$.judge', count(*),
                 coalesce(sum(record ->> '$.cost_usd'), 0.0), 0.0, 0, 0, 0.0,
                     count(*) - count(record ->> '$.cost_usd'), 0
                 FROM pick GROUP BY 2
                 UNION ALL
                 SELECT 'reranking', service, count(*), coalesce(sum(cost_usd), 0.0), 0.0, 0, 0,
                 0.0, count(*) - count(cost_usd), 0
                 FROM rerank_call GROUP BY service
                 UNION ALL
                 SELECT purpose, service, count(cost_usd) + sum(unpriced), coalesce(sum(cost_usd),
                 0.0),
                     coalesce(sum(assumed_usd), 0.0), count(assumed_usd),
                     count(*) - count(ended_ms),
                     coalesce(sum(CASE WHEN ended_ms IS NULL THEN worst_usd END), 0.0),
                     sum(unpriced), sum(kept)
                 FROM (SELECT *, ended_ms IS NOT NULL AND cost_usd IS NULL
                 AND assumed_usd IS NULL AS unpriced FROM call)
                 GROUP BY purpose, service
             ) GROUP BY purpose, service ORDER BY sum(known) + sum(assumed) + sum(open) DESC,
             purpose, service",
            [],
            |row| {
                Ok(Spent {
                    purpose: row.get(0)?,
                    service: row.get(1)?,
                    calls: row.get(2)?,
                    known_usd: row.get(3)?,
                    assumed_usd: row.get(4)?,
                    assumed_calls: row.get(5)?,
                    open_calls: row.get(6)?,
                    open_usd: row.get(7)?,
                    unpriced: row.get(8)?,
                })
            },
        )
    }

    /// Spending for one purpose.
    pub fn spend_on(&self, purpose: CallPurpose) -> Result<Spend> {
        let spent = self.spent()?;
        Ok(spent
            .iter()
            .filter(|of| of.purpose == purpose.name())
            .map(Spent::spend)
            .sum())
    }

    /// Dollars that count against a budget: known, assumed, in flight, and the worst-case cost of
    /// open batches.
    pub fn committed_usd(&self) -> Result<f64> {
        let spent: f64 = self.spent()?.iter().map(Spent::usd).sum();
        Ok(spent + self.committed()?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(number: u8, worst_usd: Option<f64>) -> Attempt {
        Attempt {
            uid: [number; 16],
            purpose: CallPurpose::Embedding,
            service: "e".to_owned(),
            run: None,
            worst_usd,
            sent_ms: 7,
        }
    }

    #[test]
    fn an_attempt_is_open_then_charged_and_known_costs_leave_no_row() {
        let db = Db::scratch().unwrap();
        for number in 0..4 {
            db.begin_call(&attempt(number, Some(0.5))).unwrap();
        }
        let spent = db.spent().unwrap();
        assert_eq!((spent[0].open_calls, spent[0].open_usd), (4, 2.0));
        assert_eq!(db.committed_usd().unwrap(), 2.0);
        db.forget_call(&[0; 16]).unwrap();
        db.charge_call(&[1; 16], Charge::Known(0.1), None, true, 8)
            .unwrap();
        db.charge_call(
            &[2; 16],
            Charge::Assumed(0.5),
            Some(AttemptFailure::Failed(FailureCause::TimedOut)),
            false,
            8,
        )
        .unwrap();
        assert_eq!(db.charge_killed_calls(9).unwrap(), 1);
        let spent = db.spent().unwrap();
        assert_eq!((spent[0].assumed_calls, spent[0].assumed_usd), (2, 1.0));
        assert_eq!((spent[0].open_calls, spent[0].unpriced), (0, 0));
        assert_eq!(db.committed_usd().unwrap(), 1.0);
        db.begin_call(&attempt(5, None)).unwrap();
        db.charge_call(&[5; 16], Charge::Known(0.25), None, false, 9)
            .unwrap();
        assert_eq!(db.spent().unwrap()[0].known_usd, 0.25);
        // Without a price, an attempt is counted, whether it failed or was interrupted.
        for number in [6, 7] {
            db.begin_call(&attempt(number, None)).unwrap();
        }
        let failed = Some(AttemptFailure::Failed(FailureCause::TimedOut));
        db.charge_call(&[6; 16], Charge::Unpriced, failed, false, 9)
            .unwrap();
        assert_eq!(db.charge_killed_calls(9).unwrap(), 1);
        let spend = db.spend_on(CallPurpose::Embedding).unwrap();
        assert_eq!((spend.unpriced, spend.usd()), (2, 1.25));
    }
}
