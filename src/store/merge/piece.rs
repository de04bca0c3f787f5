//! Pieces of a project as bytes: the votes about some pairs of a query, other answers about a query,
//! or the cost of calls.
//!
//! A piece is a small project, compressed with zstd. Documents have their names and the hashes of
//! their texts, but not the texts, which whoever merges the piece has. A piece is merged like any
//! other project, so it can be merged again, and a later piece may contain an earlier one.

use super::{MatchedQuery, Merger, Snapshot, Texts};
use crate::domain::battle::Pair;
use crate::judge::JudgeSpec;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, StoreError, schema};
use rusqlite::{Connection, params};
use std::collections::HashSet;
use std::io::Read as _;
use std::sync::OnceLock;

/// Maximum size of a piece in bytes when it is unpacked: far more than the votes about a query take.
const LARGEST: u64 = 256 << 20;

/// The same for the state of a query or of a part of a project.
const LARGEST_STATE: u64 = 1 << 30;

/// Maximum size of a packed piece in bytes.
const LARGEST_PACKED: usize = 16 << 20;

/// Compression level: pieces are small, and packed while calls are waited for.
const LEVEL: i32 = 3;

/// A part of a project.
#[derive(Clone, Debug)]
pub struct Piece {
    pub votes: usize,
    pub failures: usize,
    /// The compressed project.
    pub bytes: Vec<u8>,
}

/// The rows with the answers to a command's questions about queries, which machines share.
pub struct SharedAnswers {
    /// The name of the command.
    pub command: &'static str,
    /// Copies those about a query that the terms of the work include.
    pub(crate) merge: fn(&mut Merger<'_>, &mut MatchedQuery, &Terms) -> Result<()>,
    /// Counts the same rows in a project.
    pub(crate) count: fn(&Db, QueryKey, &Terms) -> Result<AnswerCount>,
}

/// The terms on which machines share work.
pub type Terms = serde_json::Map<String, serde_json::Value>;

/// Number of answers about a query, which grows with each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerCount {
    pub answers: usize,
    pub failures: usize,
}

impl SharedAnswers {
    /// Number of answers about a query that the terms include.
    pub fn count(&self, db: &Db, query: QueryKey, terms: &Terms) -> Result<AnswerCount> {
        (self.count)(db, query, terms)
    }
}

impl Piece {
    /// Packs the answers of a command about a query that the terms include. `None` if there are
    /// none.
    pub(crate) fn of_answers(
        db: &Db,
        query: QueryKey,
        of: &SharedAnswers,
        terms: &Terms,
    ) -> Result<Option<Self>> {
        let count = of.count(db, query, terms)?;
        if count == AnswerCount::default() {
            return Ok(None);
        }
        let piece = empty_project()?;
        let mut merger = Merger::new(&piece, db);
        merger.texts = Texts::LeftOut;
        let query = merger.query(query)?;
        let Some(mut matched) = merger.matched(&query)? else {
            return Ok(None);
        };
        (of.merge)(&mut merger, &mut matched, terms)?;
        Self::of(piece, count.answers, count.failures).map(Some)
    }

    /// Packs the votes and failures of these judges about a query, or about some of its pairs, by
    /// their positions in the pool. `None` if there are none.
    pub(crate) fn of_query(
        db: &Db,
        query: QueryKey,
        pairs: Option<HashSet<Pair>>,
        judges: &[JudgeSpec],
    ) -> Result<Option<Self>> {
        let piece = empty_project()?;
        let mut merger = Merger::new(&piece, db);
        merger.texts = Texts::LeftOut;
        merger.pairs = pairs;
        merger.asked = Some(judges.to_vec());
        crate::registry::merge_prompts(&mut merger)?;
        let query = merger.query(query)?;
        let Some(mut matched) = merger.matched(&query)? else {
            return Ok(None);
        };
        merger.votes(&mut matched)?;
        if let Some(ensemble) = query.ensemble {
            let judges = merger.ensemble(ensemble)?;
            let judges: Vec<_> = judges.into_iter().map(|(judge, _)| judge).collect();
            let ensemble = piece.ensemble(&judges)?;
            piece.set_ensemble(matched.ours, ensemble, query.depth)?;
        }
        let (votes, failures) = (merger.merged.votes, merger.merged.failures);
        if votes + failures == 0 {
            return Ok(None);
        }
        Self::of(piece, votes, failures).map(Some)
    }

    /// Packs the rounds of a query: which judges are asked about which pairs.
    pub(crate) fn of_rounds(db: &Db, query: QueryKey, judges: &[JudgeSpec]) -> Result<Self> {
        let piece = empty_project()?;
        let mut merger = Merger::new(&piece, db);
        merger.texts = Texts::LeftOut;
        merger.asked = Some(judges.to_vec());
        let query = merger.query(query)?;
        if let Some(mut matched) = merger.matched(&query)? {
            merger.rounds(&mut matched)?;
        }
        Self::of(piece, 0, 0)
    }

    /// Packs the cost of calls since a moment that led to no vote and no failure, such as repeated
    /// ones.
    pub(crate) fn of_ledger(db: &Db, since_ms: i64) -> Result<Self> {
        let piece = empty_project()?;
        Merger::new(&piece, db).ledger()?;
        piece.change("DELETE FROM call WHERE sent_ms < ?1", [since_ms])?;
        Self::of(piece, 0, 0)
    }

    fn of(piece: Db, votes: usize, failures: usize) -> Result<Self> {
        let bytes = packed(piece)?;
        if bytes.len() > LARGEST_PACKED {
            return Err(StoreError::Conflict(format!(
                "the answers about one query take more than {} MiB and cannot be shared",
                LARGEST_PACKED >> 20
            )));
        }
        Ok(Self {
            votes,
            failures,
            bytes,
        })
    }
}

impl Snapshot {
    /// Unpacks a piece.
    ///
    /// # Errors
    /// The bytes are not a piece, or one of a newer version.
    pub fn of_piece(bytes: &[u8]) -> Result<Self> {
        Self::unpacked(bytes, LARGEST)
    }

    /// Unpacks the state of a query or of a part of a project.
    ///
    /// # Errors
    /// As for [`Snapshot::of_piece`].
    pub fn of_state(bytes: &[u8]) -> Result<Self> {
        Self::unpacked(bytes, LARGEST_STATE)
    }

    fn unpacked(bytes: &[u8], largest: u64) -> Result<Self> {
        let mut project = Vec::new();
        let unpacked = zstd::stream::Decoder::new(bytes)
            .and_then(|frame| frame.take(largest + 1).read_to_end(&mut project));
        unpacked.map_err(unpackable)?;
        if project.len() as u64 > largest {
            return Err(StoreError::Corrupt(format!(
                "a piece of a project is larger than {} MiB",
                largest >> 20
            )));
        }
        let piece = Self::made("piece".as_ref(), in_memory(&project)?)?;
        piece.check_costs()?;
        Ok(piece)
    }

    /// Rejects costs with which a budget cannot be enforced: negative, infinite and absurd ones.
    fn check_costs(&self) -> Result<()> {
        let is_wrong: bool = self.db().value(
            "SELECT EXISTS (SELECT 1 FROM vote WHERE NOT ifnull(cost_usd, 0.0) BETWEEN 0 AND 1e6)
                 OR EXISTS (SELECT 1 FROM failure
                     WHERE NOT ifnull(cost_usd, 0.0) BETWEEN 0 AND 1e6)
                 OR EXISTS (SELECT 1 FROM call WHERE NOT ifnull(cost_usd, 0.0) BETWEEN 0 AND 1e6
                     OR NOT ifnull(assumed_usd, 0.0) BETWEEN 0 AND 1e6)
                 OR EXISTS (SELECT 1 FROM pick
                     WHERE NOT ifnull(record ->> '$.cost_usd', 0.0) BETWEEN 0 AND 1e6)
                 OR EXISTS (SELECT 1 FROM rerank_call
                     WHERE NOT ifnull(cost_usd, 0.0) BETWEEN 0 AND 1e6)",
            [],
        )?;
        if is_wrong {
            return Err(StoreError::Corrupt(
                "a cost is negative or larger than a million dollars".to_owned(),
            ));
        }
        Ok(())
    }
}

fn unpackable(error: std::io::Error) -> StoreError {
    StoreError::Corrupt(format!("a piece of a project cannot be unpacked: {error}"))
}

/// A connection to a project in memory.
fn in_memory(project: &[u8]) -> Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    connection.deserialize_read_exact("main", project, project.len(), false)?;
    crate::store::file::harden(&mut connection, ":memory:".as_ref())?;
    Ok(connection)
}

/// Packs a small project.
pub(crate) fn packed(mut piece: Db) -> Result<Vec<u8>> {
    let project = piece.connection.serialize("main")?;
    zstd::bulk::compress(&project, LEVEL).map_err(unpackable)
}

/// An empty project in memory, copied from the first one.
pub(crate) fn empty_project() -> Result<Db> {
    static EMPTY: OnceLock<Vec<u8>> = OnceLock::new();
    let empty = match EMPTY.get() {
        Some(empty) => empty,
        None => {
            let made = schema::open_in_memory()?.serialize("main")?.to_vec();
            EMPTY.get_or_init(|| made)
        }
    };
    Ok(Db::new(schema::prepare_copy(in_memory(empty)?)?))
}

impl Merger<'_> {
    /// Limits the merge to the votes of these judges about documents that are known here.
    pub(crate) fn of_piece(mut self, judges: &[JudgeSpec]) -> Self {
        self.texts = Texts::Known;
        self.asked = Some(judges.to_vec());
        self
    }

    /// Leaves out the texts of documents.
    pub(crate) fn without_texts(mut self) -> Self {
        self.texts = Texts::Described;
        self
    }

    /// Merges rows of the server, which take the place of other answers here. The texts of their
    /// documents are stored already.
    pub(crate) fn of_server(mut self) -> Self {
        self.texts = Texts::Stored;
        self.replaces_votes = true;
        self
    }

    /// Limits the merge to queries and documents that are known here.
    pub(crate) fn of_known(mut self) -> Self {
        self.texts = Texts::Known;
        self
    }

    /// Copies the rounds of a query, with their battles in the same order. Returns the last round,
    /// unless it asks about other calls here.
    pub(crate) fn rounds(&mut self, query: &mut MatchedQuery) -> Result<Option<usize>> {
        let tasks: Vec<(usize, usize, i64, usize)> = self.other.all(
            "SELECT a, b, judge, round FROM battle JOIN task ON task.battle = battle.id
             WHERE query = ?1 AND game = 0 AND round >= 0 ORDER BY battle.id, judge",
            [query.theirs],
            |row| row.try_into(),
        )?;
        let last = tasks.iter().map(|(.., round)| *round).max();
        let mut calls = HashSet::new();
        for (a, b, judge, round) in tasks {
            let is_asked = match &self.asked {
                Some(asked) => asked.contains(&self.other_judge(judge)?),
                None => true,
            };
            let pair = Pair::new(query.place(a)?, query.place(b)?);
            let Some(pair) = pair.filter(|_| is_asked) else {
                continue;
            };
            let judge = self.judge(judge)?;
            let battles = self.db.add_battle(query.ours, round, pair)?;
            let tasks = self.db.add_task(query.ours, round, pair, judge)?;
            self.merged.battles += battles;
            query.changed |= battles + tasks > 0;
            if Some(round) == last {
                calls.insert((pair, judge));
            }
        }
        let Some(last) = last else {
            return Ok(None);
        };
        let ours = self.db.calls_of_round(query.ours, last)?;
        Ok((ours == calls).then_some(last))
    }

    /// Whether a battle of the other file is merged, given the positions of its documents there.
    pub(super) fn includes(&self, a: usize, b: usize) -> bool {
        let pair = || Pair::new(a, b);
        self.pairs
            .as_ref()
            .is_none_or(|pairs| pair().is_some_and(|pair| pairs.contains(&pair)))
    }

    /// Adds a document at the end of a pool by its name and the hash of its text.
    pub(super) fn add_outline(&self, query: QueryKey, name: &str, hash: &[u8]) -> Result<usize> {
        let position: usize = self
            .db
            .value("SELECT documents FROM query WHERE id = ?1", [query.0])?;
        self.db.change(
            "INSERT INTO content (hash, text) VALUES (?1, '') ON CONFLICT DO NOTHING",
            [hash],
        )?;
        self.db.change(
            "INSERT INTO document (query, position, name, content, metadata, extra)
             SELECT ?1, ?2, ?3, id, '{}', '{}' FROM content WHERE hash = ?4",
            params![query.0, position, name, hash],
        )?;
        self.db.change(
            "UPDATE query SET documents = documents + 1 WHERE id = ?1",
            [query.0],
        )?;
        Ok(position)
    }
}
