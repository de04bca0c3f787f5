//! Exports one row per vote or unresolved failed call.

use crate::app::embedded_reasoning::EmbeddedReasoning;
use crate::app::error::AppError;
use crate::domain::corpus::Pool;
use crate::domain::vote::JudgeId;
use crate::formats::dataset::write_pool;
use crate::formats::own_tables::VOTES;
use crate::formats::table_file::{CellKind, Column, TableFormat, TableWriter};
use crate::store::corpus::QueryKey;
use crate::store::vote_details::VoteReasoning;
use crate::store::{Store, StoreError};
use serde_json::{Value, json};
use std::io::Write;

/// Writes the votes of every judge on the battles of some queries. The column `counts` says whose
/// votes count, and `asked` lists the judges that a battle was meant for, if not all. In JSON
/// lines, the first row of a query contains its pool, so that `import votes` can recreate the
/// project from the file. Returns the number of votes without reasoning because it cannot be
/// regenerated.
pub fn write_votes(
    store: &Store,
    keys: &[QueryKey],
    format: TableFormat,
    out: &mut (dyn Write + Send),
) -> Result<usize, AppError> {
    let mut gone = 0;
    let pool = Column::of("pool", CellKind::Json).or_null();
    let columns = match format {
        TableFormat::Jsonl => [&VOTES[..], &[pool]].concat(),
        TableFormat::Csv | TableFormat::Parquet => VOTES.to_vec(),
    };
    let mut rows = TableWriter::new(&columns, format, out)?;
    for key in keys {
        let key = *key;
        let ((info, mut pool), documents, (judges, counting), battles) =
            store.read_blocking(move |db| {
                let counting: Vec<JudgeId> =
                    db.judges_of(key)?.into_iter().map(|(id, _)| id).collect();
                let judges = db.all_judges()?;
                let ids: Vec<JudgeId> = judges.iter().map(|(id, _)| *id).collect();
                let mut reasoning = EmbeddedReasoning::default();
                let rows = db.rows(key)?;
                let battles = rows.battles.into_iter().chain(rows.probes);
                let battles = battles
                    .map(|record| {
                        let votes = reasoning.battle_votes(db, key, record.battle.id, &ids)?;
                        Ok((record, votes))
                    })
                    .collect::<Result<Vec<_>, StoreError>>()?;
                let pool = match format {
                    TableFormat::Jsonl => Some(db.pool(key)?),
                    TableFormat::Csv | TableFormat::Parquet => None,
                };
                Ok((
                    (db.query(key)?, pool),
                    db.documents(key)?,
                    (judges, counting),
                    battles,
                ))
            })?;
        let name_of = |judge: JudgeId| {
            judges
                .iter()
                .find(|(id, _)| *id == judge)
                .map(|(_, spec)| &spec.name)
        };
        for (record, votes) in battles {
            let battle = record.battle;
            let asked: Option<Vec<_>> = record
                .asked
                .map(|asked| asked.into_iter().filter_map(name_of).collect());
            for vote in votes {
                let spec = judges
                    .iter()
                    .find(|(id, _)| *id == vote.judge)
                    .map(|(_, spec)| spec);
                let failure = vote.result.as_ref().err();
                gone += usize::from(vote.reasoning == VoteReasoning::Gone);
                let mut row = json!({
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
                });
                if let Some(pool) = pool.take() {
                    row["pool"] = pool_value(&pool)?;
                }
                rows.write(row)?;
            }
        }
    }
    rows.finish()?;
    Ok(gone)
}

/// A pool in the format of a dataset.
fn pool_value(pool: &Pool) -> Result<Value, AppError> {
    let mut line = Vec::new();
    write_pool(&mut line, pool)?;
    serde_json::from_slice(&line).map_err(|error| AppError::Failed(error.to_string()))
}
