//! Prompts: their texts, and the judges that vote with them.

use crate::domain::battle::{BattleId, Pair};
use crate::domain::vote::{JudgeId, Margin};
use crate::features::prompts::domain::PromptUse;
use crate::judge::prompt::battle_prompt_of_hash;
use crate::judge::{OFFLINE, PromptText};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use rusqlite::{Row, params};
use std::collections::HashMap;

/// A prompt whose text the project holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPrompt {
    pub prompt: PromptText,
    /// The hash of the prompt that it was made from.
    pub parent: Option<String>,
    pub note: Option<String>,
    pub author: Option<String>,
    /// Names of the queries whose pairs are examples in the text.
    pub examples: Vec<String>,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
}

/// A vote of a judge on a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairVote {
    pub battle: BattleId,
    pub query: QueryKey,
    pub pair: Pair,
    /// Whether the document later in the pool was shown first.
    pub later_first: bool,
    /// Negative if the document earlier in the pool is better.
    pub margin: Margin,
    pub tokens_input: u64,
    pub tokens_output: u64,
    /// US dollars, if known.
    pub cost_usd: Option<f64>,
}

const PAIR_VOTE: &str = "battle.id, query, a, b, swapped, margin, tokens_input, tokens_output,
                         cost_usd";

impl PairVote {
    fn read(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let (a, b): (usize, usize) = (row.get(2)?, row.get(3)?);
        let (swapped, margin): (bool, Margin) = (row.get(4)?, row.get(5)?);
        let reversed = a > b;
        let vote = |pair| {
            Ok(Self {
                battle: BattleId(row.get(0)?),
                query: QueryKey(row.get(1)?),
                pair,
                later_first: swapped != reversed,
                margin: if reversed { margin.flipped() } else { margin },
                tokens_input: row.get(6)?,
                tokens_output: row.get(7)?,
                cost_usd: row.get(8)?,
            })
        };
        Pair::new(a, b).map(vote).transpose()
    }
}

/// An evaluation of a prompt on the held-out part.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptLook {
    /// Globally unique.
    pub uid: String,
    pub judge: String,
    /// The hash of the prompt.
    pub hash: String,
    /// Hash of the judge with the prompt.
    pub identity: [u8; 32],
    /// Hash of the pairs, of what people decided, and of the answers.
    pub cases: [u8; 32],
    pub pairs: usize,
    /// The p-value of the exact McNemar test.
    pub p: f64,
    /// The whole result, as JSON.
    pub result: String,
    pub author: String,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
}

impl PromptLook {
    /// Whether this is a look by `prompt try --final`, not by a test against another judge.
    pub fn is_of_trial(&self) -> bool {
        let result: serde_json::Result<serde_json::Value> = serde_json::from_str(&self.result);
        result.is_ok_and(|of| of.get("mcnemar_p").is_some())
    }
}

impl Db {
    /// Stores the prompt of a judge that is about to vote, unless it is known.
    pub fn record_prompt(&self, prompt: &PromptText, now_ms: i64) -> Result<()> {
        self.add_prompt(&StoredPrompt {
            prompt: prompt.clone(),
            parent: None,
            note: None,
            author: None,
            examples: Vec::new(),
            created_ms: now_ms,
        })?;
        Ok(())
    }

    /// Stores a prompt. Returns whether it is new: a known one stays as it is.
    pub fn add_prompt(&self, stored: &StoredPrompt) -> Result<bool> {
        let added = self.change(
            "INSERT INTO prompt (hash, text, fields, project_texts, parent, note, author, examples,
             created_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING",
            params![
                stored.prompt.hash,
                stored.prompt.text,
                stored.prompt.fields,
                stored.prompt.project_texts,
                stored.parent,
                stored.note,
                stored.author,
                serde_json::to_string(&stored.examples)?,
                stored.created_ms,
            ],
        )?;
        Ok(added > 0)
    }

    /// The stored or built-in prompt with this hash.
    pub fn known_prompt(&self, hash: &str) -> Result<Option<PromptText>> {
        let stored = self.maybe(
            "SELECT text, fields, project_texts FROM prompt WHERE hash = ?1",
            [hash],
            |row| {
                Ok(PromptText {
                    hash: hash.to_owned(),
                    text: row.get(0)?,
                    fields: row.get(1)?,
                    project_texts: row.get(2)?,
                })
            },
        )?;
        Ok(stored.or_else(|| battle_prompt_of_hash(hash).map(|(_, text)| text)))
    }

    /// The prompts whose texts the project holds, oldest first.
    pub fn stored_prompts(&self) -> Result<Vec<StoredPrompt>> {
        let rows: Vec<(StoredPrompt, String)> = self.all(
            "SELECT hash, text, fields, parent, note, author, created_ms, examples, project_texts
             FROM prompt ORDER BY created_ms, hash",
            [],
            |row| {
                let stored = StoredPrompt {
                    prompt: PromptText {
                        hash: row.get(0)?,
                        text: row.get(1)?,
                        fields: row.get(2)?,
                        project_texts: row.get(8)?,
                    },
                    parent: row.get(3)?,
                    note: row.get(4)?,
                    author: row.get(5)?,
                    examples: Vec::new(),
                    created_ms: row.get(6)?,
                };
                Ok((stored, row.get(7)?))
            },
        )?;
        rows.into_iter()
            .map(|(stored, examples)| {
                Ok(StoredPrompt {
                    examples: serde_json::from_str(&examples)?,
                    ..stored
                })
            })
            .collect()
    }

    /// The hash of each prompt that a judge of the project has, with that judge, in the order in
    /// which the judges came to the project. Judges without a prompt, which are offline or were
    /// imported, have none.
    pub fn prompt_uses(&self) -> Result<Vec<(String, PromptUse)>> {
        self.all(
            "SELECT prompt_hash, name, model, coalesce(sum(votes), 0)
             FROM judge LEFT JOIN call_total ON call_total.judge = judge.id
             WHERE provider <> ?1 AND prompt_hash <> ''
             GROUP BY prompt_hash, name, provider, model ORDER BY min(judge.id)",
            [OFFLINE],
            |row| {
                let of = PromptUse {
                    judge: row.get(1)?,
                    model: row.get(2)?,
                    votes: row.get(3)?,
                };
                Ok((row.get(0)?, of))
            },
        )
    }

    /// A judge's votes on the pairs of a query, by pair, those of the first battle first.
    pub fn pair_votes_of(&self, query: QueryKey, judge: JudgeId) -> Result<Vec<PairVote>> {
        let votes: Vec<Option<PairVote>> = self.all(
            &format!(
                "SELECT {PAIR_VOTE} FROM battle JOIN vote ON vote.battle = battle.id
                 WHERE query = ?1 AND judge = ?2 ORDER BY min(a, b), max(a, b), game"
            ),
            params![query.0, judge.0],
            PairVote::read,
        )?;
        Ok(votes.into_iter().flatten().collect())
    }

    /// A judge's votes on the pairs that it voted on several times, by query and pair.
    pub fn repeated_votes_of(&self, judge: JudgeId) -> Result<Vec<PairVote>> {
        let queries: Vec<QueryKey> = self.all(
            "SELECT query FROM call_total WHERE judge = ?1 ORDER BY query",
            [judge.0],
            |row| Ok(QueryKey(row.get(0)?)),
        )?;
        let mut repeated = Vec::new();
        for query in queries {
            let votes = self.pair_votes_of(query, judge)?;
            let of_pairs = votes.chunk_by(|one, other| one.pair == other.pair);
            repeated.extend(of_pairs.filter(|votes| votes.len() > 1).flatten().copied());
        }
        Ok(repeated)
    }

    /// Number of votes of a judge, and of battles for which its calls have failed for good.
    pub fn votes_and_failures_of(&self, judge: JudgeId) -> Result<(usize, usize)> {
        let failures = self.value(
            "SELECT count(DISTINCT battle) FROM failure WHERE judge = ?1 AND NOT again
             AND NOT EXISTS (SELECT 1 FROM vote WHERE vote.battle = failure.battle
             AND vote.judge = failure.judge)",
            [judge.0],
        )?;
        Ok((self.votes_of(judge)?, failures))
    }

    /// Number of votes of a judge on these queries.
    pub fn votes_of_judge_on(&self, judge: JudgeId, queries: &[QueryKey]) -> Result<usize> {
        let votes: HashMap<i64, usize> = self.all(
            "SELECT query, votes FROM call_total WHERE judge = ?1",
            [judge.0],
            |row| row.try_into(),
        )?;
        Ok(queries.iter().filter_map(|query| votes.get(&query.0)).sum())
    }

    /// Stores a look. Returns whether it is new.
    pub fn add_prompt_look(&self, look: &PromptLook) -> Result<bool> {
        let added = self.change(
            "INSERT INTO prompt_look (uid, judge, hash, identity, cases, pairs, p, result, author,
             created_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING",
            params![
                look.uid,
                look.judge,
                look.hash,
                &look.identity[..],
                &look.cases[..],
                look.pairs,
                look.p,
                look.result,
                look.author,
                look.created_ms,
            ],
        )?;
        Ok(added > 0)
    }

    /// All looks, oldest first.
    pub fn prompt_looks(&self) -> Result<Vec<PromptLook>> {
        self.all(
            "SELECT uid, judge, hash, identity, cases, pairs, p, result, author, created_ms
             FROM prompt_look ORDER BY created_ms, uid",
            [],
            |row| {
                Ok(PromptLook {
                    uid: row.get(0)?,
                    judge: row.get(1)?,
                    hash: row.get(2)?,
                    identity: row.get(3)?,
                    cases: row.get(4)?,
                    pairs: row.get(5)?,
                    p: row.get(6)?,
                    result: row.get(7)?,
                    author: row.get(8)?,
                    created_ms: row.get(9)?,
                })
            },
        )
    }
}
