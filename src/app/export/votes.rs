//! Exports one row per vote or unresolved failed call.

use crate::app::embedded_reasoning::EmbeddedReasoning;
use crate::app::error::AppError;
use crate::domain::corpus::Pool;
use crate::domain::vote::JudgeId;
use crate::formats::dataset::write_pool;
use crate::formats::own_tables::VOTES;
use crate::formats::table_file::{CellKind, Column, TableFormat, TableWriter};
use crate::registry::{self, AcceptedBattles};
use crate::store::corpus::QueryKey;
use crate::store::vote_details::VoteReasoning;
use crate::store::{Db, Store, StoreError};
use serde_json::{Value, json};
use std::io::Write;

/// Writes the votes of every judge on the battles of some queries. The column `counts` says whose
/// votes count, and `asked` lists the judges that a battle was meant for, if not all. If battles
/// are accepted, `accepted` says which of those without a verdict need no person. In JSON lines,
/// the first row of a query contains its pool, so that `import votes` can recreate the project from
/// the file. Returns the number of votes without reasoning because it cannot be regenerated.
pub fn write_votes(
    store: &Store,
    keys: &[QueryKey],
    format: TableFormat,
    out: &mut (dyn Write + Send),
) -> Result<usize, AppError> {
    let pool = Column::of("pool", CellKind::Json).or_null();
    let accepted = registry::accepted_battles(store)?;
    let mut columns = match format {
        TableFormat::Jsonl => [&VOTES[..], &[pool]].concat(),
        TableFormat::Csv | TableFormat::Parquet => VOTES.to_vec(),
    };
    if accepted.is_some() {
        columns.push(Column::flag("accepted").or_null());
    }
    let mut table = TableWriter::new(&columns, format, out)?;
    let rows = table.encoder();
    let encoded = |db: &Db, key: QueryKey| {
        let exported = QueryVotes::read(db, key, format, accepted.as_ref())?;
        Ok((exported.gone, rows.encode(exported.rows)))
    };
    let mut gone = 0;
    store.read_each(keys, encoded, |_, (gone_here, encoded)| {
        gone += gone_here;
        table.append(encoded?)?;
        Ok::<_, AppError>(())
    })?;
    table.finish()?;
    Ok(gone)
}

/// The rows of one query.
struct QueryVotes {
    rows: Vec<Value>,
    /// Number of votes whose reasoning cannot be regenerated.
    gone: usize,
}

impl QueryVotes {
    fn read(
        db: &Db,
        key: QueryKey,
        format: TableFormat,
        accepted: Option<&AcceptedBattles>,
    ) -> Result<Self, StoreError> {
        let info = db.query(key)?;
        let documents = db.documents(key)?;
        let counting: Vec<JudgeId> = db.judges_of(key)?.into_iter().map(|(id, _)| id).collect();
        let judges = db.all_judges()?;
        let ids: Vec<JudgeId> = judges.iter().map(|(id, _)| *id).collect();
        let spec_of = |judge: JudgeId| {
            let found = judges.iter().find(|(id, _)| *id == judge);
            found.map(|(_, spec)| spec)
        };
        let mut reasoning = EmbeddedReasoning::default();
        let mut exported = Self {
            rows: Vec::new(),
            gone: 0,
        };
        let stored = db.rows(key)?;
        for record in stored.battles.into_iter().chain(stored.probes) {
            let battle = record.battle;
            let asked: Option<Vec<_>> = record.asked.map(|asked| {
                let names = asked.into_iter().filter_map(spec_of);
                names.map(|spec| &spec.name).collect()
            });
            let first_row = exported.rows.len();
            for vote in reasoning.battle_votes(db, key, battle.id, &ids)? {
                let spec = spec_of(vote.judge);
                let failure = vote.result.as_ref().err();
                exported.gone += usize::from(vote.reasoning == VoteReasoning::Gone);
                exported.rows.push(json!({
                    "query": info.id,
                    "a": documents[battle.a].id,
                    "b": documents[battle.b].id,
                    "game": battle.game,
                    "judge": spec.map(|spec| &spec.name),
                    "counts": counting.contains(&vote.judge),
                    "provider": spec.map(|spec| &spec.provider),
                    "model": vote.model.as_ref().or(spec.map(|spec| &spec.model)),
                    "margin": vote.result.as_ref().ok().map(|margin| margin.get()),
                    "failure": failure.map(|(cause, _)| cause),
                    "swapped": vote.swapped,
                    "attempt": vote.attempt,
                    "tokens_input": vote.tokens.0,
                    "tokens_output": vote.tokens.1,
                    "cost_usd": vote.cost_usd,
                    "latency_ms": vote.latency_ms,
                    "reasoning": vote.reasoning.text(),
                    "raw": vote.raw,
                    "message": failure.map(|(_, message)| message),
                    "asked": asked,
                }));
            }
            if let Some(accepted) = accepted {
                let mut names = [battle.a, battle.b].map(|at| documents[at].id.to_string());
                names.sort();
                let of_battle = accepted.get(&(info.id.to_string(), names));
                for row in &mut exported.rows[first_row..] {
                    row["accepted"] = json!(of_battle);
                }
            }
        }
        if format == TableFormat::Jsonl
            && let Some(first) = exported.rows.first_mut()
        {
            first["pool"] = pool_value(&db.pool(key)?)?;
        }
        Ok(exported)
    }
}

/// A pool in the format of a dataset.
fn pool_value(pool: &Pool) -> Result<Value, StoreError> {
    let mut line = Vec::new();
    let written = write_pool(&mut line, pool);
    written.map_err(|error| StoreError::Internal(error.to_string()))?;
    Ok(serde_json::from_slice(&line)?)
}
