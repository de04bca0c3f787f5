//! What judges wrote, by the rows of their votes.

use super::replies::{Dictionary, PackedReply, ReplyText};
use super::{Db, Result, StoreError};
use rusqlite::params;

/// What a judge wrote with its vote, in its own presentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VoteReasoning {
    /// As it came; empty where there was none.
    Kept(String),
    /// An embedded judge's, which is not kept: it writes the same again from the same texts.
    Unkept,
    /// Written again by an embedded judge, which came to the margin that the vote has.
    WrittenAgain(String),
    /// An embedded judge's that cannot be written again: the texts or the judge are not what they were.
    Gone,
}

impl VoteReasoning {
    /// The text, empty where there is none.
    pub fn text(&self) -> &str {
        match self {
            Self::Kept(text) | Self::WrittenAgain(text) => text,
            Self::Unkept | Self::Gone => "",
        }
    }
}

impl Db {
    /// A reply as it is packed.
    pub(super) fn packed_reply(&self, reply: i64) -> Result<PackedReply> {
        self.one(
            "SELECT dictionary, packed FROM reply WHERE id = ?1",
            [reply],
            |row| {
                Ok(PackedReply {
                    dictionary: row.get(0)?,
                    bytes: row.get(1)?,
                })
            },
        )
    }

    /// Adds a reply that is packed already.
    pub(super) fn add_packed_reply(&self, reply: &PackedReply) -> Result<i64> {
        self.replies.add(&self.connection, reply)
    }

    /// A reply that is packed alike, of a vote that the same call has led to.
    pub(super) fn same_reply(&self, call_key: &[u8], reply: &PackedReply) -> Result<Option<i64>> {
        self.maybe_value(
            "SELECT reply.id FROM vote JOIN reply ON reply.id = vote.reply
             WHERE substr(call_key, 1, 8) = substr(?1, 1, 8) AND call_key = ?1 AND dictionary IS ?2 AND packed = ?3",
            params![call_key, reply.dictionary, reply.bytes],
        )
    }

    /// A dictionary of another project, entered here.
    pub(super) fn take_dictionary(&self, other: &Db, theirs: i64) -> Result<i64> {
        let bytes = Dictionary::bytes_of(&other.connection, theirs)?;
        Dictionary::new(bytes).enter(&self.connection)
    }

    /// The text of an answer, empty where there is none.
    pub(super) fn reply(&self, reply: Option<i64>) -> Result<ReplyText> {
        let Some(reply) = reply else {
            return Ok(ReplyText::default());
        };
        let mut statement = self
            .connection
            .prepare_cached("SELECT dictionary, packed FROM reply WHERE id = ?1")?;
        let mut rows = statement.query([reply])?;
        let Some(row) = rows.next()? else {
            let lost = format!("the reply {reply} that a vote names is not there");
            return Err(StoreError::Corrupt(lost));
        };
        let packed = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        self.replies.unpacked(&self.connection, row.get(0)?, packed)
    }

    /// What a judge wrote with a vote, by the vote's reply and whether a run asked for it.
    pub(super) fn reasoning(&self, reply: Option<i64>, of_run: bool) -> Result<VoteReasoning> {
        let text = self.reply(reply)?;
        Ok(kept_or_not(reply, of_run, text.reasoning))
    }
}

/// A run keeps what every judge but an embedded one writes.
pub(super) fn kept_or_not(reply: Option<i64>, of_run: bool, text: String) -> VoteReasoning {
    match reply {
        None if of_run => VoteReasoning::Unkept,
        _ => VoteReasoning::Kept(text),
    }
}

#[cfg(test)]
mod tests;
