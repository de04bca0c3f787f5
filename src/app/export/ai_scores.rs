//! Battles with every vote, as zBench's `ai_scores.json`.

use crate::app::error::AppError;
use crate::domain::vote::{JudgeId, Margin};
use crate::formats::ai_scores::{RecordedVote, ScoredDocument, ScoredPairsWriter, ZbenchPair};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::io::Write;

/// Writes the battles of some queries with a vote of each of their judges; a missing one is a failure.
pub fn write_ai_scores(
    store: &Store,
    keys: &[QueryKey],
    out: &mut dyn Write,
) -> Result<(), AppError> {
    let mut writer = ScoredPairsWriter::new(out)?;
    for key in keys {
        let key = *key;
        let (pool, judges, battles) = store.read_blocking(move |db| {
            let judges = db.judges_of(key)?;
            let ids: Vec<JudgeId> = judges.iter().map(|(id, _)| *id).collect();
            let mut battles = Vec::new();
            for record in db.rows(key)?.battles {
                battles.push((record.battle, db.battle_votes(record.battle.id, &ids)?));
            }
            Ok((db.pool(key)?, judges, battles))
        })?;
        for (battle, votes) in battles {
            if votes.is_empty() {
                continue;
            }
            let document = |at: usize| {
                let document = &pool.documents[at];
                ScoredDocument {
                    id: document.id.clone(),
                    content: document.content.clone(),
                    metadata: document.metadata.clone(),
                }
            };
            let (a, b) = (document(battle.a), document(battle.b));
            let votes = judges
                .iter()
                .map(|(id, spec)| {
                    let recorded = votes
                        .iter()
                        .find(|vote| vote.judge == *id)
                        .and_then(|vote| {
                            let margin: Margin = *vote.result.as_ref().ok()?;
                            Some(RecordedVote::Vote {
                                margin,
                                swapped: vote.swapped,
                                thought: vote.reasoning.clone(),
                            })
                        });
                    (spec.name.clone(), recorded.unwrap_or(RecordedVote::Failure))
                })
                .collect();
            writer.write(&ZbenchPair {
                pair_id: ZbenchPair::zbench_id(&pool.query.id, &a.id, &b.id),
                query_id: pool.query.id.clone(),
                query: pool.query.text.clone(),
                a,
                b,
                votes,
            })?;
        }
    }
    writer.finish()?;
    Ok(())
}
