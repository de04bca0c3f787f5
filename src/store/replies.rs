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

/// Maximum number of dictionaries kept ready for reading.
const READY: usize = 8;

/// A row of `reply`: its dictionary and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackedReply {
    pub(super) dictionary: Option<i64>,
    pub(super) bytes: Vec<u8>,
}

/// Packs and unpacks the replies of one connection.
#[derive(Default)]
pub(super) struct Replies {
    writing: RefCell<Option<Writing>>,
    writing_texts: RefCell<Option<Writing>>,
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

impl Kind {
    /// Compression level. A project's document texts arrive all at once, its replies over hours.
    fn level(self) -> i32 {
        match self {
            Self::Reply => 9,
            Self::Text => 5,
        }
    }
}

/// The current packer for replies or for document texts.
struct Writing {
    kind: Kind,
    packer: Packer,
    /// The dictionary used by `packer`, and its row.
    dictionary: Option<(i64, Dictionary)>,
    training: Training,
}

impl Writing {
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
        if let Some((id, bytes)) = latest {
            // Ignore a dictionary that cannot be used: paid answers must be stored anyway.
            let (packer, dictionary) = Packer::with(&bytes, kind.level())
                .ok()
                .map(|packer| (packer, Some((id, Dictionary::new(bytes)))))
                .unwrap_or_default();
            return Ok(Self {
                kind,
                packer,
                dictionary,
                training: Training::Over,
            });
        }
        let mut training = Training::default();
        if kind == Kind::Text {
            return Ok(Self {
                kind,
                packer: Packer::default(),
                dictionary: None,
                training,
            });
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
                training.take(&plain);
            }
        }
        Ok(Self {
            kind,
            packer: Packer::default(),
            dictionary: None,
            training,
        })
    }

    /// Packs a text. A dictionary is used once there are enough samples to train it.
    fn pack(&mut self, connection: &Connection, plain: Vec<u8>) -> Result<PackedReply> {
        if let Some(trained) = self.training.take(&plain) {
            self.use_dictionary(connection, trained)?;
        }
        let dictionary = self.dictionary_row(connection)?;
        let bytes = self.packer.pack(plain, self.kind.level());
        Ok(PackedReply { dictionary, bytes })
    }

    /// Uses `dictionary` from now on.
    fn use_dictionary(&mut self, connection: &Connection, dictionary: Dictionary) -> Result<()> {
        if let Ok(packer) = Packer::with(dictionary.bytes(), self.kind.level()) {
            let id = dictionary.enter(connection)?;
            self.packer = packer;
            self.dictionary = Some((id, dictionary));
        }
        Ok(())
    }

    /// The row of the current dictionary. A rolled-back transaction may have removed the row.
    fn dictionary_row(&mut self, connection: &Connection) -> Result<Option<i64>> {
        let Some((id, dictionary)) = &mut self.dictionary else {
            return Ok(None);
        };
        if !dictionary.stands_at(connection, *id)? {
            *id = dictionary.enter(connection)?;
        }
        Ok(Some(*id))
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
            empty => empty.insert(Writing::begin(connection, self, Kind::Reply)?),
        };
        let packed = writing.pack(connection, packing::plain(text)?)?;
        self.add(connection, &packed).map(Some)
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
            empty => empty.insert(Writing::begin(connection, self, Kind::Text)?),
        };
        let packed = writing.pack(connection, text.as_bytes().to_vec())?;
        Ok((packed.bytes.len() < text.len()).then_some(packed))
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
        let mut writing = Writing::begin(connection, self, Kind::Reply)?;
        if let Some(trained) = dictionary::trained(&samples) {
            writing.use_dictionary(connection, trained)?;
            writing.training = Training::Over;
        }
        *self.writing.borrow_mut() = Some(writing);
        Ok(())
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
