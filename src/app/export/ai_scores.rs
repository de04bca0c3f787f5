//! Exports battles with all votes as zBench's `ai_scores.json`.

use super::member_names::MemberNames;
use crate::app::embedded_reasoning::{EmbeddedReasoning, REASONING_GONE};
use crate::app::error::AppError;
use crate::domain::corpus::QueryId;
use crate::domain::vote::{JudgeId, Margin};
use crate::formats::ai_scores::{RecordedVote, ScoredDocument, ScoredPairsWriter, ZbenchPair};
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use crate::store::vote_details::VoteReasoning;
use std::io::Write;

/// The names of the queries' judges in `ai_scores.json`, with a note to the reader. `chosen`
/// contains pairs of a member and a judge; if it is empty, the names follow from the providers.
pub fn member_names(
    store: &Store,
    keys: &[QueryKey],
    chosen: &[(String, String)],
) -> Result<(MemberNames, Option<String>), AppError> {
    let keys = keys.to_vec();
    let judges = store.read_blocking(move |db| {
        let mut found = Vec::new();
        for key in keys {
            let judges = db.judges_of(key)?;
            if !judges.is_empty() {
                let judges = judges.into_iter().map(|(_, spec)| spec);
                found.push((db.query(key)?.id, judges.collect()));
            }
        }
        Ok(found)
    })?;
    MemberNames::choose(&judges, chosen).map_err(AppError::invalid)
}

/// Checks that these judges can fill the chosen members.
pub fn check_members(judges: &JudgeEnsemble, chosen: &[(String, String)]) -> Result<(), AppError> {
    let specs = judges.iter().map(|judge| judge.spec().clone()).collect();
    let judges = [(QueryId::new(""), specs)];
    MemberNames::choose(&judges, chosen).map_err(AppError::invalid)?;
    Ok(())
}

/// Writes the battles of some queries with a vote of each of their judges; a missing vote is
/// written as a failure.
pub fn write_ai_scores(
    store: &Store,
    keys: &[QueryKey],
    members: &MemberNames,
    out: &mut dyn Write,
) -> Result<(), AppError> {
    let mut writer = ScoredPairsWriter::new(out)?;
    for key in keys {
        let key = *key;
        let (pool, judges, battles) = store.read_blocking(move |db| {
            let judges = db.judges_of(key)?;
            let ids: Vec<JudgeId> = judges.iter().map(|(id, _)| *id).collect();
            let mut reasoning = EmbeddedReasoning::default();
            let mut battles = Vec::new();
            for record in db.rows(key)?.battles {
                let votes = reasoning.battle_votes(db, key, record.battle.id, &ids)?;
                battles.push((record.battle, votes));
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
                .filter_map(|(id, spec)| {
                    let member = members.of(spec)?;
                    let recorded = votes
                        .iter()
                        .find(|vote| vote.judge == *id)
                        .and_then(|vote| {
                            let margin: Margin = *vote.result.as_ref().ok()?;
                            Some(RecordedVote::Vote {
                                margin,
                                swapped: vote.swapped,
                                thought: thought(&vote.reasoning).to_owned(),
                            })
                        });
                    Some((member, recorded.unwrap_or(RecordedVote::Failure)))
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

/// A reasoning in zBench's form, which treats a tie without reasoning as a failed call.
fn thought(reasoning: &VoteReasoning) -> &str {
    match reasoning {
        VoteReasoning::Gone => REASONING_GONE,
        reasoning => reasoning.text(),
    }
}
