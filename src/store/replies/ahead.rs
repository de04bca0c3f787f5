//! Packs replies on another thread, while the writer inserts the rows that refer to them.

use super::packing::Packer;
use crate::store::error::{Result, StoreError};
use rusqlite::{Connection, params};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvError, SyncSender, channel, sync_channel};
use std::thread;

/// Maximum number of replies that are being packed.
const AHEAD: usize = 512;

/// The replies of an import that are being packed. Their rows are reserved, so rows that refer to
/// them can be inserted first if foreign keys are deferred.
pub(super) struct PackAhead {
    plain: SyncSender<Vec<u8>>,
    packed: Receiver<Vec<u8>>,
    dictionary: Option<i64>,
    /// The rows of the replies that are being packed, in order.
    reserved: VecDeque<i64>,
    /// The row of the next reply.
    next: i64,
}

impl PackAhead {
    /// `dictionary` is the row of the packer's dictionary. Nothing else may add replies until the
    /// last flush.
    pub(super) fn begin(
        connection: &Connection,
        dictionary: Option<i64>,
        mut packer: Packer,
        level: i32,
    ) -> Result<Self> {
        let next = connection
            .prepare_cached("SELECT coalesce(max(id), 0) + 1 FROM reply")?
            .query_row([], |row| row.get(0))?;
        let (plain, received) = sync_channel::<Vec<u8>>(AHEAD);
        let (done, packed) = channel();
        thread::Builder::new()
            .name("store-packer".to_owned())
            .spawn(move || {
                while let Ok(plain) = received.recv() {
                    // After an error, nobody receives any more.
                    if done.send(packer.pack(plain, level)).is_err() {
                        return;
                    }
                }
            })
            .map_err(|error| StoreError::Internal(format!("cannot start the packer: {error}")))?;
        Ok(Self {
            plain,
            packed,
            dictionary,
            reserved: VecDeque::new(),
            next,
        })
    }

    /// Packs a text and returns its row, which is stored by the next [`PackAhead::flush`] at the
    /// latest.
    pub(super) fn keep(&mut self, connection: &Connection, plain: Vec<u8>) -> Result<i64> {
        while let Ok(packed) = self.packed.try_recv() {
            self.store(connection, &packed)?;
        }
        if self.reserved.len() == AHEAD {
            self.store_next(connection)?;
        }
        self.plain.send(plain).map_err(|_| ended())?;
        let row = self.next;
        self.reserved.push_back(row);
        self.next += 1;
        Ok(row)
    }

    /// Stores all replies.
    pub(super) fn flush(&mut self, connection: &Connection) -> Result<()> {
        while !self.reserved.is_empty() {
            self.store_next(connection)?;
        }
        Ok(())
    }

    fn store_next(&mut self, connection: &Connection) -> Result<()> {
        let packed = self.packed.recv().map_err(|RecvError| ended())?;
        self.store(connection, &packed)
    }

    fn store(&mut self, connection: &Connection, packed: &[u8]) -> Result<()> {
        let row = self.reserved.pop_front().ok_or_else(ended)?;
        connection
            .prepare_cached("INSERT INTO reply (id, dictionary, packed) VALUES (?1, ?2, ?3)")?
            .execute(params![row, self.dictionary, packed])?;
        Ok(())
    }
}

fn ended() -> StoreError {
    StoreError::Internal("the thread that packs replies has ended".to_owned())
}

#[cfg(test)]
mod tests {
    use crate::app::import::ai_scores;
    use crate::store::{Db, Result, Store, StoreError};
    use serde_json::{Value, json};

    /// A file of battles whose reasons have much in common; enough of them for a dictionary.
    fn file(battles: usize) -> Vec<u8> {
        let vote = |at: usize, who: &str| {
            json!({
                "thought": format!("Document {at} of {who} answers the question, the other one does not."),
                "score": if at.is_multiple_of(3) { -1.0 } else { 1.0 },
            })
        };
        let pairs: Vec<Value> = (0..battles)
            .map(|at| {
                json!({
                    "pair": {
                        "pair_id": at.to_string(),
                        "query_id": "q",
                        "query": "a question",
                        "document_a": { "document_id": format!("a{at}"), "content": "one", "metadata": {} },
                        "document_b": { "document_id": format!("b{at}"), "content": "two", "metadata": {} },
                    },
                    "openai_score": vote(at, "openai"),
                    "gemini_score": vote(at, "gemini"),
                    "anthropic_score": vote(at, "anthropic"),
                })
            })
            .collect();
        serde_json::to_vec(&json!({ "scored_pairs": pairs })).unwrap()
    }

    fn reasons(db: &mut Db) -> Result<Vec<(i64, i64, String)>> {
        let votes: Vec<(i64, i64, i64)> = db.all(
            "SELECT battle, judge, reply FROM vote ORDER BY battle, judge",
            [],
            |row| row.try_into(),
        )?;
        votes
            .into_iter()
            .map(|(battle, judge, reply)| Ok((battle, judge, db.reply(Some(reply))?.reasoning)))
            .collect()
    }

    #[test]
    fn replies_packed_ahead_are_those_of_their_votes() {
        let folder = tempfile::tempdir().unwrap();
        let store = |name: &str| Store::open(&folder.path().join(name)).unwrap();
        let (at_once, ahead) = (store("at_once.db"), store("ahead.db"));
        let file = file(600);
        let add = move |db: &mut Db| {
            let readers = [&file[..], &file[..]];
            ai_scores::add(db, readers, "file", "file").map(drop)
        };
        at_once.write_blocking(add.clone()).unwrap();
        let reread = ahead.write_blocking(move |db| {
            // A dictionary exists before most of the votes.
            db.in_bulk(&add)?;
            // The replies of existing votes are read and compared.
            db.in_bulk(&add)
        });
        reread.unwrap();
        let expected = at_once.read_blocking(reasons).unwrap();
        assert_eq!(expected.len(), 1_800);
        assert_eq!(ahead.read_blocking(reasons).unwrap(), expected);
        let rows = |db: &mut Db| db.value::<i64>("SELECT count(*) FROM reply", []);
        assert_eq!(ahead.read_blocking(rows).unwrap(), 1_800);
    }

    #[test]
    fn an_import_that_fails_leaves_no_reply() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("project.db")).unwrap();
        let file = file(600);
        let failed = store.write_blocking(move |db| {
            db.in_bulk(|db| {
                ai_scores::add(db, [&file[..], &file[..]], "file", "file")?;
                Err::<(), _>(StoreError::Conflict("no".to_owned()))
            })
        });
        failed.unwrap_err();
        let rows = |db: &mut Db| db.value::<i64>("SELECT count(*) FROM reply", []);
        assert_eq!(store.read_blocking(rows).unwrap(), 0);
        // The next write packs at once again, and its reply is there.
        let again = self::file(1);
        let add = move |db: &mut Db| {
            ai_scores::add(db, [&again[..], &again[..]], "file", "file").map(drop)
        };
        store.write_blocking(add).unwrap();
        assert_eq!(store.read_blocking(rows).unwrap(), 3);
    }
}
