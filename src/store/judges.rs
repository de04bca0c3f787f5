//! Judges and ensembles, and which of them count for a query.

use super::columns::judge_spec;
use super::corpus::QueryKey;
use super::{Db, Result};
use crate::domain::vote::JudgeId;
use crate::judge::JudgeSpec;
use rusqlite::params;

/// Row ID of an ensemble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EnsembleId(pub i64);

/// A judge whose votes count for some queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountingJudge {
    pub id: JudgeId,
    pub name: String,
    /// Number of its votes on these queries.
    pub votes: usize,
    pub queries: usize,
}

impl Db {
    /// The ID of a judge, which is added if it is new.
    pub fn judge(&self, spec: &JudgeSpec) -> Result<JudgeId> {
        if let Some(known) = self.known_judge(spec)? {
            return Ok(known);
        }
        self.change(
            "INSERT INTO judge (name, provider, model, prompt_hash, params) VALUES (?1, ?2, ?3, ?4,
             ?5)",
            params![
                spec.name,
                spec.provider,
                spec.model,
                spec.prompt_hash,
                spec.params
            ],
        )?;
        Ok(JudgeId(self.connection.last_insert_rowid()))
    }

    /// The IDs of judges. A judge that is unknown to the project, and so has made no call, gets an
    /// unused ID.
    pub fn known_judges(&self, specs: &[JudgeSpec]) -> Result<Vec<JudgeId>> {
        let known = |spec| Ok(self.known_judge(spec)?.unwrap_or(JudgeId(0)));
        specs.iter().map(known).collect()
    }

    /// The row of a judge. An earlier version of the program, or another limit on its answers, may
    /// have stored it with different parameters; the latest of these rows is used.
    fn known_judge(&self, spec: &JudgeSpec) -> Result<Option<JudgeId>> {
        let alike: Vec<(JudgeId, JudgeSpec)> = self.all(
            "SELECT id, name, provider, model, prompt_hash, params FROM judge
             WHERE name = ?1 AND provider = ?2 AND model = ?3 AND prompt_hash = ?4 ORDER BY id DESC",
            params![spec.name, spec.provider, spec.model, spec.prompt_hash],
            |row| Ok((JudgeId(row.get(0)?), judge_spec(row, 1)?)),
        )?;
        let exact = alike.iter().find(|(_, known)| known == spec);
        Ok(exact
            .or_else(|| alike.iter().find(|(_, known)| known.is_same_judge(spec)))
            .map(|(id, _)| *id))
    }

    /// The ID of an ensemble, which is added if it is new.
    pub fn ensemble(&self, judges: &[JudgeId]) -> Result<EnsembleId> {
        let list = format!(
            "[{}]",
            judges
                .iter()
                .map(|judge| judge.0.to_string())
                .collect::<Vec<_>>()
                .join(",")
        );
        self.change(
            "INSERT INTO ensemble (judges) VALUES (?1) ON CONFLICT DO NOTHING",
            [&list],
        )?;
        let id = self.value("SELECT id FROM ensemble WHERE judges = ?1", [&list])?;
        Ok(EnsembleId(id))
    }

    /// The judges of an ensemble, in order.
    pub fn ensemble_judges(&self, ensemble: EnsembleId) -> Result<Vec<(JudgeId, JudgeSpec)>> {
        self.all(
            "SELECT judge.id, judge.name, provider, model, prompt_hash, params
             FROM ensemble, json_each(ensemble.judges) AS member JOIN judge
             ON judge.id = member.value
             WHERE ensemble.id = ?1 ORDER BY member.key",
            [ensemble.0],
            |row| Ok((JudgeId(row.get(0)?), judge_spec(row, 1)?)),
        )
    }

    /// The ensembles whose votes count for at least one query.
    pub fn ensembles_in_force(&self) -> Result<Vec<EnsembleId>> {
        self.all(
            "SELECT DISTINCT ensemble FROM query WHERE ensemble IS NOT NULL ORDER BY 1",
            [],
            |row| Ok(EnsembleId(row.get(0)?)),
        )
    }

    /// The names of the judges that count together, in order, and the number of queries they count
    /// for.
    pub fn judges_in_force(&self) -> Result<Vec<(Vec<String>, usize)>> {
        let counted: Vec<(i64, usize)> = self.all(
            "SELECT ensemble, count(*) FROM query WHERE ensemble IS NOT NULL GROUP BY ensemble
             ORDER BY ensemble",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
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

    /// The judges with votes that count for these queries, or for all.
    pub fn counting_judges(&self, queries: Option<&[QueryKey]>) -> Result<Vec<CountingJudge>> {
        let queries = queries.map(|queries| {
            let ids: Vec<String> = queries.iter().map(|query| query.0.to_string()).collect();
            format!("[{}]", ids.join(","))
        });
        self.all(
            "SELECT judge.id, judge.name, sum(call_total.votes), count(*)
             FROM query JOIN ensemble ON ensemble.id = query.ensemble,
             json_each(ensemble.judges) AS member
             JOIN judge ON judge.id = member.value
             JOIN call_total ON call_total.query = query.id AND call_total.judge = judge.id
             WHERE call_total.votes > 0
                 AND (?1 IS NULL OR query.id IN (SELECT value FROM json_each(?1)))
             GROUP BY judge.id ORDER BY judge.id",
            [queries],
            |row| {
                Ok(CountingJudge {
                    id: JudgeId(row.get(0)?),
                    name: row.get(1)?,
                    votes: row.get(2)?,
                    queries: row.get(3)?,
                })
            },
        )
    }

    /// All judges of the project, including those whose votes do not count now.
    pub fn all_judges(&self) -> Result<Vec<(JudgeId, JudgeSpec)>> {
        self.all(
            "SELECT id, name, provider, model, prompt_hash, params FROM judge ORDER BY id",
            [],
            |row| Ok((JudgeId(row.get(0)?), judge_spec(row, 1)?)),
        )
    }

    /// The judges with this name that runs have asked, latest run first.
    pub fn judges_of_runs(&self, name: &str) -> Result<Vec<JudgeId>> {
        self.all(
            "SELECT judge.id FROM run JOIN ensemble ON ensemble.id = run.ensemble,
             json_each(ensemble.judges) AS member
             JOIN judge ON judge.id = member.value WHERE judge.name = ?1
             ORDER BY run.started_ms DESC, run.id DESC",
            [name],
            |row| Ok(JudgeId(row.get(0)?)),
        )
    }

    /// The judges that count for a query, in order; empty before any plan or import.
    pub fn judges_of(&self, query: QueryKey) -> Result<Vec<(JudgeId, JudgeSpec)>> {
        let ensemble: Option<i64> =
            self.value("SELECT ensemble FROM query WHERE id = ?1", [query.0])?;
        ensemble.map_or(Ok(Vec::new()), |id| self.ensemble_judges(EnsembleId(id)))
    }

    /// The queries for which an ensemble counts.
    pub fn queries_of(&self, ensemble: EnsembleId) -> Result<Vec<QueryKey>> {
        self.all(
            "SELECT id FROM query WHERE ensemble = ?1 ORDER BY name",
            [ensemble.0],
            |row| Ok(QueryKey(row.get(0)?)),
        )
    }
}
