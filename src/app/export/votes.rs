//! One row a vote, or a failed call that no vote made good.

use super::rows::{RowFormat, RowWriter};
use crate::app::error::AppError;
use crate::domain::vote::JudgeId;
use crate::store::corpus::QueryKey;
use crate::store::{Store, StoreError};
use serde_json::json;
use std::io::Write;

const COLUMNS: [&str; 19] = [
    "query",
    "a",
    "b",
    "game",
    "judge",
    "counts",
    "provider",
    "model",
    "margin",
    "failure",
    "swapped",
    "attempt",
    "tokens_input",
    "tokens_output",
    "cost_usd",
    "latency_ms",
    "reasoning",
    "raw",
    "message",
];

/// Writes the votes of every judge on the battles of some queries; `counts` says whose count.
pub fn write_votes(
    store: &Store,
    keys: &[QueryKey],
    format: RowFormat,
    out: &mut dyn Write,
) -> Result<(), AppError> {
    let mut rows = RowWriter::new(COLUMNS, format, out)?;
    for key in keys {
        let key = *key;
        let (info, documents, (judges, counting), battles) = store.read_blocking(move |db| {
            let counting: Vec<JudgeId> = db.judges_of(key)?.into_iter().map(|(id, _)| id).collect();
            let judges = db.all_judges()?;
            let ids: Vec<JudgeId> = judges.iter().map(|(id, _)| *id).collect();
            let battles = db
                .rows(key)?
                .battles
                .into_iter()
                .map(|record| Ok((record.battle, db.battle_votes(record.battle.id, &ids)?)))
                .collect::<Result<Vec<_>, StoreError>>()?;
            Ok((
                db.query(key)?,
                db.documents(key)?,
                (judges, counting),
                battles,
            ))
        })?;
        for (battle, votes) in battles {
            for vote in votes {
                let spec = judges
                    .iter()
                    .find(|(id, _)| *id == vote.judge)
                    .map(|(_, spec)| spec);
                let failure = vote.result.as_ref().err();
                let row = json!({
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
                    "reasoning": vote.reasoning,
                    "raw": vote.raw,
                    "message": failure.map(|(_, message)| message),
                });
                rows.write(&row)?;
            }
        }
    }
    rows.finish()
}
