//! Operations that let a project grow vote by vote: adding documents to pools, and listing the
//! battles of a pair with their voters.

use super::corpus::QueryKey;
use super::reply_rows::VoteReasoning;
use super::{Db, Result};
use crate::domain::battle::BattleId;
use crate::domain::corpus::Document;
use crate::domain::vote::{JudgeId, Vote};
use rusqlite::params;
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq)]
pub struct BattleVotes {
    pub battle: BattleId,
    /// Position of its document A.
    pub a: usize,
    /// Number of earlier battles of the pair.
    pub game: u32,
    /// Whether it is meant only for certain judges.
    pub partial: bool,
    /// The votes of every judge, whether or not they count, each with its reasoning.
    pub votes: Vec<(Vote, VoteReasoning)>,
}

/// The texts of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTexts {
    pub key: QueryKey,
    pub query: String,
    /// The SHA-256 of each document's text, by identifier.
    pub documents: HashMap<String, [u8; 32]>,
}

impl Db {
    /// The texts of a query by its identifier; `None` if there is no such query.
    pub fn texts(&self, query: &str) -> Result<Option<QueryTexts>> {
        let found: Option<(i64, String)> = self.maybe(
            "SELECT id, text FROM query WHERE name = ?1",
            [query],
            |row| row.try_into(),
        )?;
        let Some((key, query)) = found else {
            return Ok(None);
        };
        let documents = self.all(
            "SELECT document.name, content.hash FROM document JOIN content
             ON content.id = document.content
             WHERE query = ?1",
            [key],
            |row| row.try_into(),
        )?;
        Ok(Some(QueryTexts {
            key: QueryKey(key),
            query,
            documents,
        }))
    }

    /// Adds a document at the end of a pool and returns its position.
    pub fn add_document(&self, query: QueryKey, document: &Document) -> Result<usize> {
        let position: usize = self.value("SELECT documents FROM query WHERE id = ?1", [query.0])?;
        self.put_document(query, position, document)?;
        self.change(
            "UPDATE query SET documents = documents + 1, revision = revision + 1 WHERE id = ?1",
            [query.0],
        )?;
        Ok(position)
    }

    /// Whether a plan of this project decides whose votes count for a query.
    pub fn is_planned(&self, query: QueryKey) -> Result<bool> {
        self.value(
            "SELECT depth IS NOT NULL FROM query WHERE id = ?1",
            [query.0],
        )
    }

    /// Every battle of a pair with its votes, ordered by game.
    pub fn games(&self, query: QueryKey, x: usize, y: usize) -> Result<Vec<BattleVotes>> {
        let mut games: Vec<BattleVotes> = self.all(
            "SELECT id, a, game, EXISTS (SELECT 1 FROM task WHERE task.battle = battle.id)
             FROM battle WHERE query = ?1 AND min(a, b) = ?2 AND max(a, b) = ?3 ORDER BY game",
            params![query.0, x.min(y), x.max(y)],
            |row| {
                Ok(BattleVotes {
                    battle: BattleId(row.get(0)?),
                    a: row.get(1)?,
                    game: row.get(2)?,
                    partial: row.get(3)?,
                    votes: Vec::new(),
                })
            },
        )?;
        let mut statement = self.connection.prepare_cached(
            "SELECT judge, margin, swapped, reply, run IS NOT NULL FROM vote WHERE battle = ?1
             ORDER BY created_ms, judge",
        )?;
        for game in &mut games {
            let mut rows = statement.query([game.battle.0])?;
            while let Some(row) = rows.next()? {
                let vote = Vote {
                    judge: JudgeId(row.get(0)?),
                    margin: row.get(1)?,
                    swapped: row.get(2)?,
                };
                game.votes
                    .push((vote, self.reasoning(row.get(3)?, row.get(4)?)?));
            }
        }
        Ok(games)
    }
}
