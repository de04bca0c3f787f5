//! Rows as the domain wants them: a query's rows for its view, a battle's votes with their reasoning, summaries.

mod rows;

use super::corpus::{QueryInfo, QueryKey};
use super::priority_cache::QueryPriorities;
use super::runs::EnsembleId;
use super::{Db, Result, StoreError};
use crate::domain::battle::BattleId;
use crate::domain::priority;
use crate::domain::ranking::{self, JudgeWeights, QueryRows, RankingSettings, View};
use crate::domain::rating::{Dispersion, RatingError};
use crate::domain::vote::{JudgeId, Margin};
use crate::judge::{FailureCause, JudgeSpec};
use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// A vote or a failure with all that is known about the call.
#[derive(Clone, Debug, PartialEq)]
pub struct VoteDetail {
    /// The battle.
    pub battle: BattleId,
    /// The judge.
    pub judge: JudgeId,
    /// Whether the judge was shown B first.
    pub swapped: bool,
    /// The preference oriented to the battle, or why there is none.
    pub result: std::result::Result<Margin, (FailureCause, String)>,
    /// The reasoning, in the judge's own presentation; empty for a failure.
    pub reasoning: String,
    /// The reply as it came, where it was kept.
    pub raw: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// 1 for the first call.
    pub attempt: u32,
    /// Input and output tokens.
    pub tokens: (u64, u64),
    /// US dollars, where known.
    pub cost_usd: Option<f64>,
    /// Milliseconds, where measured.
    pub latency_ms: Option<f64>,
}

/// What the list of queries shows of one query; a pure function of its rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QuerySummary {
    /// Documents in the pool.
    pub documents: usize,
    /// Documents entered into battle.
    pub entered: usize,
    /// Battles with at least one vote.
    pub fought: usize,
    /// Battles planned.
    pub battles: usize,
    /// Votes of the ensemble that are there.
    pub votes: usize,
    /// Votes of the ensemble that are missing.
    pub missing: usize,
    /// Calls that failed and have not been made good.
    pub failures: usize,
    /// Verdicts in force.
    pub verdicts: usize,
    /// Battles whose judges are of one mind.
    pub unanimous: usize,
    /// Battles with two votes or more.
    pub judged: usize,
    /// Cyclic triads.
    pub cyclic: usize,
    /// Triads whose three pairs are decided.
    pub triads: usize,
    /// Widest 95 % rank interval among the first ten, in ranks.
    pub widest: Option<usize>,
    /// The ranks that count as the top: ten, or half of a small pool.
    pub top: usize,
    /// P(the top holds the documents that it should), where the model has errors and there is something to decide.
    pub settled: Option<f64>,
    /// Whether that probability is surely 95 % or more: then further judgments do not change the top.
    pub stop: bool,
    /// Further battles between the two documents at the cut until they are apart at 95 %; `None` where they are tied.
    pub to_separate: Option<usize>,
    /// What the query adds to the estimate of the dispersion.
    pub dispersion: Option<Dispersion>,
    /// Whether every judge that counts is an offline one.
    pub offline: bool,
}

/// What is kept of a query's view.
#[derive(Clone, Debug)]
pub struct QueryNumbers {
    /// What the list of queries shows.
    pub summary: QuerySummary,
    /// What queues are made from, where it was computed along.
    pub priorities: Option<QueryPriorities>,
}

/// The level at which a top counts as settled.
const SURE: f64 = 0.95;

/// Battles from which on the dispersion is estimated instead of assumed (SCIENCE §3).
pub const ENOUGH_BATTLES: usize = 2_000;

impl QuerySummary {
    /// Summarises a view.
    pub fn of(view: &View, offline: bool) -> Self {
        let rows = view.rows();
        let (fought, battles) = view.progress();
        let entered = view.standings.iter().flatten().count();
        let top = priority::effective_top(entered, priority::DEFAULT_TOP);
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
            widest: view.widest_interval(10),
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
}

impl Db {
    /// The project's settings, or the defaults.
    pub fn settings(&self) -> Result<RankingSettings> {
        let stored: Option<String> = self
            .connection
            .prepare_cached("SELECT value FROM setting WHERE name = 'rating'")?
            .query_row([], |row| row.get(0))
            .optional()?;
        match stored {
            None => Ok(RankingSettings::default()),
            Some(text) => serde_json::from_str(&text).map_err(|error| {
                StoreError::Corrupt(format!("the rating settings cannot be read: {error}"))
            }),
        }
    }

    /// Changes the project's settings, and with them every query's numbers.
    pub fn set_settings(&self, settings: &RankingSettings) -> Result<()> {
        let settings = settings.checked().map_err(StoreError::Conflict)?;
        let text = serde_json::to_string(&settings)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        self.connection
            .prepare_cached(
                "INSERT INTO setting (name, value) VALUES ('rating', ?1)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            )?
            .execute([text])?;
        self.connection
            .execute("UPDATE query SET revision = revision + 1", [])?;
        Ok(())
    }

    /// β and γ of each judge as last fitted, by its row; empty before any fit.
    pub fn judge_responses(&self) -> Result<HashMap<i64, (f64, f64)>> {
        let stored: Option<String> = self
            .connection
            .prepare_cached("SELECT value FROM setting WHERE name = 'joint'")?
            .query_row([], |row| row.get(0))
            .optional()?;
        stored.map_or(Ok(HashMap::new()), |text| {
            serde_json::from_str(&text).map_err(|error| StoreError::Corrupt(error.to_string()))
        })
    }

    /// Keeps β and γ of each judge, and with them changes every query's numbers where they are in use.
    pub fn set_judge_responses(&self, responses: &BTreeMap<i64, (f64, f64)>) -> Result<()> {
        let text = serde_json::to_string(responses)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        self.connection
            .prepare_cached(
                "INSERT INTO setting (name, value) VALUES ('joint', ?1)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            )?
            .execute([text])?;
        self.connection
            .execute("UPDATE query SET revision = revision + 1", [])?;
        Ok(())
    }

    /// How people are to judge, in Markdown, where the project says so.
    pub fn guideline(&self) -> Result<Option<String>> {
        Ok(self
            .connection
            .prepare_cached("SELECT value FROM setting WHERE name = 'guideline'")?
            .query_row([], |row| row.get(0))
            .optional()?)
    }

    /// Changes the guideline; `None` takes it away.
    pub fn set_guideline(&self, text: Option<&str>) -> Result<()> {
        self.connection
            .prepare_cached("DELETE FROM setting WHERE name = 'guideline'")?
            .execute([])?;
        if let Some(text) = text {
            self.connection
                .prepare_cached("INSERT INTO setting (name, value) VALUES ('guideline', ?1)")?
                .execute([text])?;
        }
        Ok(())
    }

    /// The ensembles whose votes count for some query.
    pub fn ensembles_in_force(&self) -> Result<Vec<EnsembleId>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT ensemble FROM query WHERE ensemble IS NOT NULL ORDER BY 1",
        )?;
        let rows = statement.query_map([], |row| Ok(EnsembleId(row.get(0)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Which judges count where: their names in order, and how many queries they count for.
    pub fn judges_in_force(&self) -> Result<Vec<(Vec<String>, usize)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT ensemble, count(*) FROM query WHERE ensemble IS NOT NULL GROUP BY ensemble ORDER BY ensemble",
        )?;
        let counted: Vec<(i64, usize)> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        counted
            .into_iter()
            .map(|(ensemble, queries)| {
                let judges = self.ensemble_judges(EnsembleId(ensemble))?;
                Ok((
                    judges.into_iter().map(|(_, spec)| spec.name).collect(),
                    queries,
                ))
            })
            .collect()
    }

    /// Every judge of the project, those whose votes do not count now included.
    pub fn all_judges(&self) -> Result<Vec<(JudgeId, JudgeSpec)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, name, provider, model, prompt_hash, params FROM judge ORDER BY id",
        )?;
        let rows = statement.query_map([], |row| {
            let spec = JudgeSpec {
                name: row.get(1)?,
                provider: row.get(2)?,
                model: row.get(3)?,
                prompt_hash: row.get(4)?,
                params: row.get(5)?,
            };
            Ok((JudgeId(row.get(0)?), spec))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The judges that count for a query, in order; empty before any plan or import.
    pub fn judges_of(&self, query: QueryKey) -> Result<Vec<(JudgeId, JudgeSpec)>> {
        let ensemble: Option<i64> = self
            .connection
            .prepare_cached("SELECT ensemble FROM query WHERE id = ?1")?
            .query_row([query.0], |row| row.get(0))?;
        ensemble.map_or(Ok(Vec::new()), |id| self.ensemble_judges(EnsembleId(id)))
    }

    /// A query's view under the project's settings.
    pub fn view(&self, query: QueryKey) -> Result<View> {
        let mut settings = self.settings()?;
        if settings.phi.is_none()
            && let Some((phi, battles)) = self.estimated_phi(query)?
        {
            settings.phi = Some(phi);
            settings.phi_battles = Some(battles);
        }
        Ok(View::new(self.fitted_rows(query, &settings)?, settings))
    }

    /// The scores of a query's view, to the last bit, without what else a view holds: they follow from the fit alone, and
    /// the dispersion does not move them.
    pub fn scores(
        &self,
        query: QueryKey,
    ) -> Result<std::result::Result<Vec<Option<f64>>, RatingError>> {
        let settings = self.settings()?;
        let rows = self.fitted_rows(query, &settings)?;
        Ok(ranking::scores(&rows, &settings))
    }

    /// A query's rows, with the judges' responses where the fit takes them.
    fn fitted_rows(&self, query: QueryKey, settings: &RankingSettings) -> Result<QueryRows> {
        let mut rows = self.rows(query)?;
        if settings.judge_weights == JudgeWeights::Joint {
            let known = self.judge_responses()?;
            let of = |judge: &JudgeId| known.get(&judge.0).copied().unwrap_or((1.0, 0.0));
            rows.responses = rows.judges.iter().map(of).collect();
        }
        Ok(rows)
    }

    /// The dispersion estimated for the judges of a query, and the battles behind it.
    fn estimated_phi(&self, query: QueryKey) -> Result<Option<(f64, usize)>> {
        let stored: Option<String> = self
            .connection
            .prepare_cached(
                "SELECT value FROM setting JOIN query ON setting.name = 'phi:' || query.ensemble
                 WHERE query.id = ?1",
            )?
            .query_row([query.0], |row| row.get(0))
            .optional()?;
        stored
            .map(|text| {
                serde_json::from_str(&text).map_err(|error| StoreError::Corrupt(error.to_string()))
            })
            .transpose()
    }

    /// Estimates the dispersion of an ensemble's battles from its queries' summaries where there are enough of them,
    /// and says whether it has changed. Every query of the ensemble then has to be summarised anew.
    pub fn estimate_phi(&self, ensemble: EnsembleId) -> Result<bool> {
        let mut statement = self.connection.prepare_cached(
            "SELECT summary.value FROM query JOIN summary ON summary.query = query.id
             WHERE query.ensemble = ?1 AND summary.revision = query.revision",
        )?;
        let mut pooled = Dispersion::default();
        let mut rows = statement.query([ensemble.0])?;
        while let Some(row) = rows.next()? {
            let text: String = row.get(0)?;
            let summary: QuerySummary = serde_json::from_str(&text)
                .map_err(|error| StoreError::Corrupt(error.to_string()))?;
            pooled = pooled.pooled(summary.dispersion.unwrap_or_default());
        }
        let Some(phi) = pooled.phi().filter(|_| pooled.battles >= ENOUGH_BATTLES) else {
            return Ok(false);
        };
        let name = format!("phi:{}", ensemble.0);
        let value = serde_json::json!([phi, pooled.battles]).to_string();
        let changed = self
            .connection
            .prepare_cached(
                "INSERT INTO setting (name, value) VALUES (?1, ?2)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value != excluded.value",
            )?
            .execute([name, value])?;
        if changed > 0 {
            self.connection
                .prepare_cached("UPDATE query SET revision = revision + 1 WHERE ensemble = ?1")?
                .execute([ensemble.0])?;
        }
        Ok(changed > 0)
    }

    /// Every vote and every failure not made good on a battle, in the order of `judges`.
    pub fn battle_votes(&self, battle: BattleId, judges: &[JudgeId]) -> Result<Vec<VoteDetail>> {
        let mut details = Vec::new();
        let mut statement = self.connection.prepare_cached(
            "SELECT judge, swapped, margin, reasoning, raw, model, attempt, tokens_input, tokens_output, cost_usd,
                    latency_ms
             FROM vote WHERE battle = ?1",
        )?;
        let mut rows = statement.query([battle.0])?;
        while let Some(row) = rows.next()? {
            let margin: f64 = row.get(2)?;
            details.push(VoteDetail {
                battle,
                judge: JudgeId(row.get(0)?),
                swapped: row.get(1)?,
                result: Ok(Margin::new(margin)
                    .ok_or_else(|| StoreError::Corrupt(format!("{margin} is not a margin")))?),
                reasoning: row.get(3)?,
                raw: row.get(4)?,
                model: row.get(5)?,
                attempt: row.get(6)?,
                tokens: (row.get(7)?, row.get(8)?),
                cost_usd: row.get(9)?,
                latency_ms: row.get(10)?,
            });
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT judge, swapped, cause, message, raw, attempt, tokens_input, tokens_output, cost_usd, latency_ms
             FROM failure WHERE battle = ?1 ORDER BY id DESC",
        )?;
        let mut rows = statement.query([battle.0])?;
        while let Some(row) = rows.next()? {
            let judge = JudgeId(row.get(0)?);
            if details
                .iter()
                .any(|detail: &VoteDetail| detail.judge == judge)
            {
                continue;
            }
            let cause: String = row.get(2)?;
            let cause = serde_json::from_value(serde_json::Value::String(cause))
                .map_err(|error| StoreError::Corrupt(error.to_string()))?;
            details.push(VoteDetail {
                battle,
                judge,
                swapped: row.get(1)?,
                result: Err((cause, row.get(3)?)),
                reasoning: String::new(),
                raw: row.get(4)?,
                model: None,
                attempt: row.get(5)?,
                tokens: (row.get(6)?, row.get(7)?),
                cost_usd: row.get(8)?,
                latency_ms: row.get(9)?,
            });
        }
        details.retain(|detail| judges.contains(&detail.judge));
        details.sort_by_key(|detail| judges.iter().position(|judge| *judge == detail.judge));
        Ok(details)
    }

    /// A query's summary, from the cache where it is still good.
    fn summary(&self, query: QueryKey) -> Result<QueryNumbers> {
        let cached: Option<String> = self
            .connection
            .prepare_cached(
                "SELECT value FROM summary JOIN query ON query.id = summary.query
                 WHERE query.id = ?1 AND query.revision = summary.revision",
            )?
            .query_row([query.0], |row| row.get(0))
            .optional()?;
        if let Some(text) = cached
            && let Ok(summary) = serde_json::from_str(&text)
        {
            return Ok(QueryNumbers {
                summary,
                priorities: None,
            });
        }
        let judges = self.judges_of(query)?;
        let offline = !judges.is_empty() && judges.iter().all(|(_, spec)| spec.is_offline());
        let view = self.view(query)?;
        Ok(QueryNumbers {
            summary: QuerySummary::of(&view, offline),
            priorities: Some(QueryPriorities::of(&view)),
        })
    }

    /// A query's summary and the revision it is of. May be computed on any connection.
    pub fn summary_now(&self, query: QueryKey) -> Result<(i64, QueryNumbers)> {
        let revision = self
            .connection
            .prepare_cached("SELECT revision FROM query WHERE id = ?1")?
            .query_row([query.0], |row| row.get(0))?;
        Ok((revision, self.summary(query)?))
    }

    /// Keeps a query's numbers, unless it has changed since.
    pub fn keep_summary(
        &self,
        query: QueryKey,
        revision: i64,
        numbers: &QueryNumbers,
    ) -> Result<()> {
        if let Some(priorities) = &numbers.priorities {
            self.keep_priorities(query, revision, priorities)?;
        }
        let text = serde_json::to_string(&numbers.summary)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        self.connection
            .prepare_cached(
                "INSERT INTO summary (query, revision, value)
                 SELECT id, revision, ?2 FROM query WHERE id = ?1 AND revision = ?3
                 ON CONFLICT (query) DO UPDATE SET revision = excluded.revision, value = excluded.value",
            )?
            .execute(params![query.0, text, revision])?;
        Ok(())
    }

    /// Computes a query's summary and keeps it for the next look.
    pub fn cache_summary(&self, query: QueryKey) -> Result<QuerySummary> {
        let (revision, numbers) = self.summary_now(query)?;
        self.keep_summary(query, revision, &numbers)?;
        Ok(numbers.summary)
    }

    /// Everything the list of queries needs that is cheap: each query and its summary where the cache is still good.
    pub fn overview(&self) -> Result<Vec<(QueryInfo, Option<QuerySummary>)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT query.id, query.name, query.text, query.documents, summary.value
             FROM query LEFT JOIN summary ON summary.query = query.id AND summary.revision = query.revision
             ORDER BY query.id",
        )?;
        let rows = statement.query_map([], |row| {
            let info = QueryInfo {
                key: QueryKey(row.get(0)?),
                id: crate::domain::corpus::QueryId::new(row.get::<_, String>(1)?),
                text: row.get(2)?,
                documents: row.get(3)?,
            };
            let summary: Option<String> = row.get(4)?;
            Ok((
                info,
                summary.and_then(|text| serde_json::from_str(&text).ok()),
            ))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}
