//! Texts written by judges with their votes, stored apart from the votes and compressed with a
//! dictionary trained on the project's replies.

mod dictionary;
mod packing;

use super::error::{Result, StoreError};
pub(super) use dictionary::Dictionary;
use dictionary::Training;
pub(super) use packing::ReplyText;
use packing::{Packer, Unpacker};
use rusqlite::{Connection, OptionalExtension, params};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Maximum number of dictionaries kept ready for reading.
const READY: usize = 8;

/// A row of `reply`: its dictionary and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackedReply {
    pub(super) dictionary: Option<i64>,
    pub(super) bytes: Vec<u8>,
}

/// A packed reply whose dictionary may not have a row yet.
#[derive(Clone)]
pub struct PackedAhead {
    dictionary: Option<Arc<Dictionary>>,
    bytes: Vec<u8>,
}

/// Packs and unpacks the replies of one connection.
#[derive(Default)]
pub(super) struct Replies {
    writing: RefCell<Option<TextPacker>>,
    writing_texts: RefCell<Option<TextPacker>>,
    /// The rows of dictionaries, by their hashes.
    rows: RefCell<HashMap<[u8; 32], i64>>,
    reading: RefCell<HashMap<Option<i64>, Unpacker>>,
}

impl fmt::Debug for Replies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replies").finish_non_exhaustive()
    }
}

/// The kinds of packed texts; each has its own dictionaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Reply,
    /// The text of a document.
    Text,
}

/// Compression level: twice as fast as the next, for 2 % more bytes.
const LEVEL: i32 = 5;

/// Packs replies or document texts with the project's dictionary. It needs no connection, so a bulk
/// import packs on another thread than the one that inserts.
pub struct TextPacker {
    packer: Packer,
    /// The dictionary used by `packer`.
    dictionary: Option<Arc<Dictionary>>,
    training: Training,
}

impl TextPacker {
    /// Uses the project's latest dictionary. If there is none yet, it is trained from existing and
    /// new replies.
    fn begin(connection: &Connection, replies: &Replies, kind: Kind) -> Result<Self> {
        let latest = match kind {
            Kind::Reply => {
                "SELECT id, bytes FROM dictionary WHERE id =
                     (SELECT dictionary FROM reply WHERE dictionary IS NOT NULL ORDER BY id DESC
                     LIMIT 1)"
            }
            Kind::Text => {
                "SELECT id, bytes FROM dictionary WHERE id =
                     (SELECT dictionary FROM content WHERE dictionary IS NOT NULL ORDER BY id DESC
                     LIMIT 1)"
            }
        };
        let latest: Option<(i64, Vec<u8>)> = connection
            .prepare_cached(latest)?
            .query_row([], |row| row.try_into())
            .optional()?;
        let mut packer = Self {
            packer: Packer::default(),
            dictionary: None,
            training: Training::default(),
        };
        if let Some((id, bytes)) = latest {
            let dictionary = Dictionary::new(bytes);
            replies.rows.borrow_mut().insert(*dictionary.hash(), id);
            packer.use_dictionary(dictionary);
            packer.training = Training::Over;
            return Ok(packer);
        }
        if kind == Kind::Text {
            return Ok(packer);
        }
        let mut statement = connection
            .prepare_cached("SELECT dictionary, packed FROM reply ORDER BY id DESC LIMIT ?1")?;
        let mut rows = statement.query([dictionary::SAMPLES])?;
        while let Some(row) = rows.next()? {
            let (dictionary, packed) = (row.get(0)?, row.get_ref(1)?.as_blob());
            let plain = packed
                .map_err(|error| StoreError::from(rusqlite::Error::from(error)))
                .and_then(|packed| replies.plain(connection, dictionary, packed));
            if let Ok(plain) = plain {
                packer.training.take(&plain);
            }
        }
        Ok(packer)
    }

    /// Packs a judge's reasoning; `None` if there is none.
    pub fn reasoning(&mut self, reasoning: &str) -> Result<Option<PackedAhead>> {
        if reasoning.is_empty() {
            return Ok(None);
        }
        let text = ReplyText {
            reasoning: reasoning.to_owned(),
            ..ReplyText::default()
        };
        Ok(Some(self.pack(packing::plain(&text)?)))
    }

    /// Packs a text. A dictionary is used once there are enough samples to train it.
    fn pack(&mut self, plain: Vec<u8>) -> PackedAhead {
        if let Some(trained) = self.training.take(&plain) {
            self.use_dictionary(trained);
        }
        PackedAhead {
            dictionary: self.dictionary.clone(),
            bytes: self.packer.pack(plain, LEVEL),
        }
    }

    /// Uses `dictionary` from now on. A dictionary that zstd cannot read is ignored: paid answers
    /// must be stored anyway.
    fn use_dictionary(&mut self, dictionary: Dictionary) {
        if let Ok(packer) = Packer::with(dictionary.bytes(), LEVEL) {
            self.packer = packer;
            self.dictionary = Some(Arc::new(dictionary));
        }
    }
}

impl Replies {
    /// Stores the text of an answer and returns its row; `None` if the text is empty.
    pub(super) fn keep(&self, connection: &Connection, text: &ReplyText) -> Result<Option<i64>> {
        if text.is_empty() {
            return Ok(None);
        }
        let mut writing = self.writing.borrow_mut();
        let writing = match &mut *writing {
            Some(writing) => writing,
            empty => empty.insert(TextPacker::begin(connection, self, Kind::Reply)?),
        };
        let packed = writing.pack(packing::plain(text)?);
        self.add_ahead(connection, packed).map(Some)
    }

    /// A packer of replies for another thread. The replies that it packs must be added on this
    /// connection.
    pub(super) fn packer(&self, connection: &Connection) -> Result<TextPacker> {
        // Later replies of the connection use the dictionary that the packer may train.
        self.writing.borrow_mut().take();
        TextPacker::begin(connection, self, Kind::Reply)
    }

    /// Packs a document's text; `None` if that would not make it shorter.
    pub(super) fn pack_text(
        &self,
        connection: &Connection,
        text: &str,
    ) -> Result<Option<PackedReply>> {
        let mut writing = self.writing_texts.borrow_mut();
        let writing = match &mut *writing {
            Some(writing) => writing,
            empty => empty.insert(TextPacker::begin(connection, self, Kind::Text)?),
        };
        let packed = writing.pack(text.as_bytes().to_vec());
        if packed.bytes.len() >= text.len() {
            return Ok(None);
        }
        self.entered(connection, packed).map(Some)
    }

    /// Unpacks a document's text.
    pub(super) fn unpacked_text(
        &self,
        connection: &Connection,
        dictionary: Option<i64>,
        packed: &[u8],
    ) -> Result<String> {
        let plain = self.plain(connection, dictionary, packed)?;
        String::from_utf8(plain)
            .map_err(|_| StoreError::Corrupt("a document's text is not UTF-8".to_owned()))
    }

    /// Trains a dictionary from these texts and uses it from now on; does nothing if there are too
    /// few.
    pub(super) fn train_now(&self, connection: &Connection, texts: Vec<ReplyText>) -> Result<()> {
        let samples = texts
            .iter()
            .map(packing::plain)
            .collect::<Result<Vec<_>>>()?;
        let mut writing = TextPacker::begin(connection, self, Kind::Reply)?;
        if let Some(trained) = dictionary::trained(&samples) {
            writing.use_dictionary(trained);
            writing.training = Training::Over;
        }
        *self.writing.borrow_mut() = Some(writing);
        Ok(())
    }

    /// Adds a reply that a packer of this connection has packed.
    pub(super) fn add_ahead(&self, connection: &Connection, reply: PackedAhead) -> Result<i64> {
        self.add(connection, &self.entered(connection, reply)?)
    }

    /// The row of a packed reply, after its dictionary was added if it is new. A rolled-back
    /// transaction may have removed a dictionary.
    fn entered(&self, connection: &Connection, packed: PackedAhead) -> Result<PackedReply> {
        let PackedAhead { dictionary, bytes } = packed;
        let Some(dictionary) = dictionary else {
            return Ok(PackedReply {
                dictionary: None,
                bytes,
            });
        };
        let mut rows = self.rows.borrow_mut();
        let known = rows.get(dictionary.hash()).copied();
        let row = match known {
            Some(row) if dictionary.stands_at(connection, row)? => row,
            _ => dictionary.enter(connection)?,
        };
        rows.insert(*dictionary.hash(), row);
        Ok(PackedReply {
            dictionary: Some(row),
            bytes,
        })
    }

    /// Adds a reply that is already packed.
    pub(super) fn add(&self, connection: &Connection, reply: &PackedReply) -> Result<i64> {
        connection
            .prepare_cached("INSERT INTO reply (dictionary, packed) VALUES (?1, ?2)")?
            .execute(params![reply.dictionary, reply.bytes])?;
        Ok(connection.last_insert_rowid())
    }

    /// The text of a reply, from the columns of its row.
    ///
    /// # Errors
    /// Bytes that no version of the program has written.
    pub(super) fn unpacked(
        &self,
        connection: &Connection,
        dictionary: Option<i64>,
        packed: &[u8],
    ) -> Result<ReplyText> {
        packing::text(&self.plain(connection, dictionary, packed)?)
    }

    fn plain(
        &self,
        connection: &Connection,
        dictionary: Option<i64>,
        packed: &[u8],
    ) -> Result<Vec<u8>> {
        let mut reading = self.reading.borrow_mut();
        if reading.len() > READY && !reading.contains_key(&dictionary) {
            reading.clear();
        }
        let unpacker = match reading.entry(dictionary) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                let bytes = match dictionary {
                    Some(id) => Dictionary::bytes_of(connection, id)?,
                    None => Vec::new(),
                };
                place.insert(Unpacker::with(&bytes)?)
            }
        };
        unpacker.unpack(packed)
    }
}
