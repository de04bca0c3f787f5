//! Links: comparisons of two documents of two different queries, with the judges' answers.

use super::days::ScaleDay;
use super::{Db, Result};
use crate::domain::corpus::{DocId, QueryId};
use rusqlite::params;

/// A document and the query that it is judged for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkedDocument {
    pub query: QueryId,
    pub document: DocId,
}

/// A comparison of two documents of two queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLink {
    /// Globally unique.
    pub uid: [u8; 16],
    /// Starts at 0; the pairs of a round depend on the answers of the earlier rounds.
    pub round: usize,
    /// The document shown first.
    pub a: LinkedDocument,
    pub b: LinkedDocument,
    /// Time of planning in milliseconds since the Unix epoch.
    pub created_ms: i64,
    /// Ordered by judge.
    pub answers: Vec<LinkAnswer>,
}

/// A judge's answer to a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkAnswer {
    pub judge: String,
    /// Hash of everything that identifies the judge.
    pub identity: [u8; 32],
    /// Whether B serves its query better.
    pub second: bool,
    /// In milliseconds since the Unix epoch.
    pub created_ms: i64,
}

impl Db {
    /// Stores a link before it is asked about.
    pub fn add_link(&self, link: &StoredLink) -> Result<()> {
        self.change(
            "INSERT INTO link (uid, round, query_a, document_a, query_b, document_b, created_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
            params![
                &link.uid[..],
                link.round,
                link.a.query.as_str(),
                link.a.document.as_str(),
                link.b.query.as_str(),
                link.b.document.as_str(),
                link.created_ms,
            ],
        )?;
        Ok(())
    }

    /// Stores a judge's answer to a link; an existing answer is kept.
    pub fn add_link_answer(&self, link: &[u8; 16], answer: &LinkAnswer) -> Result<usize> {
        self.change(
            "INSERT INTO link_answer (link, judge, identity, second, created_ms) VALUES (?1, ?2,
             ?3, ?4, ?5)
             ON CONFLICT DO NOTHING",
            params![
                &link[..],
                answer.judge,
                answer.identity,
                answer.second,
                answer.created_ms
            ],
        )
    }

    /// The judges' answers to links, for one query or all, by judge and day.
    pub fn link_days(&self, query: Option<&str>) -> Result<Vec<ScaleDay>> {
        self.all(
            "SELECT judge, date(link_answer.created_ms / 1000, 'unixepoch') AS day,
             count(DISTINCT hex(link) || hex(identity)),
                 count(DISTINCT side.value), max(link_answer.created_ms),
                 min(lower(hex(link))) || ' ' || max(link_answer.created_ms) || ' ' || judge
             FROM link_answer JOIN link ON link.uid = link_answer.link,
             json_each(json_array(query_a, query_b)) AS side
             WHERE ?1 IS NULL OR query_a = ?1 OR query_b = ?1
             GROUP BY judge, day ORDER BY judge, day",
            [query],
            ScaleDay::read,
        )
    }

    /// All links with their answers, by round.
    pub fn links(&self) -> Result<Vec<StoredLink>> {
        let rows: Vec<(StoredLink, Option<LinkAnswer>)> = self.all(
            "SELECT uid, round, query_a, document_a, query_b, document_b, link.created_ms, judge,
             identity, second,
                 link_answer.created_ms
             FROM link LEFT JOIN link_answer ON link_answer.link = link.uid ORDER BY round, uid,
             judge, identity",
            [],
            |row| {
                let document = |query: String, document: String| LinkedDocument {
                    query: QueryId::new(query),
                    document: DocId::new(document),
                };
                let link = StoredLink {
                    uid: row.get(0)?,
                    round: row.get(1)?,
                    a: document(row.get(2)?, row.get(3)?),
                    b: document(row.get(4)?, row.get(5)?),
                    created_ms: row.get(6)?,
                    answers: Vec::new(),
                };
                let judge: Option<String> = row.get(7)?;
                let answer = judge.map(|judge| {
                    Ok::<_, rusqlite::Error>(LinkAnswer {
                        judge,
                        identity: row.get(8)?,
                        second: row.get(9)?,
                        created_ms: row.get(10)?,
                    })
                });
                Ok((link, answer.transpose()?))
            },
        )?;
        let mut links: Vec<StoredLink> = Vec::new();
        for (link, answer) in rows {
            if links.last().is_none_or(|last| last.uid != link.uid) {
                links.push(link);
            }
            if let Some(last) = links.last_mut() {
                last.answers.extend(answer);
            }
        }
        Ok(links)
    }
}
