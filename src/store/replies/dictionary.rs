//! The compression dictionary of a project's replies: when it is trained, and its row.

use crate::store::error::{Result, StoreError};
use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

/// Number of replies that a dictionary is trained on.
pub(super) const SAMPLES: usize = 1_000;

/// Fewer replies have too little in common.
const FEWEST: usize = 100;

/// Maximum number of bytes of each reply used for training.
const LOOKED_AT: usize = 8 << 10;

/// Size of a dictionary in bytes.
const SIZE: usize = 32 << 10;

/// Maximum accepted size of a dictionary in bytes.
const LARGEST: usize = 1 << 20;

pub(in crate::store) struct Dictionary {
    bytes: Vec<u8>,
    hash: [u8; 32],
}

impl Dictionary {
    pub(in crate::store) fn new(bytes: Vec<u8>) -> Self {
        let hash = Sha256::digest(&bytes).into();
        Self { bytes, hash }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The SHA-256 of the bytes.
    pub(super) fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    /// The row of the dictionary, which is added if it is missing.
    pub(in crate::store) fn enter(&self, connection: &Connection) -> Result<i64> {
        connection
            .prepare_cached(
                "INSERT INTO dictionary (hash, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?
            .execute(params![self.hash, self.bytes])?;
        Ok(connection
            .prepare_cached("SELECT id FROM dictionary WHERE hash = ?1")?
            .query_row([self.hash], |row| row.get(0))?)
    }

    /// Whether the row contains this dictionary.
    pub(super) fn stands_at(&self, connection: &Connection, id: i64) -> Result<bool> {
        let found: Option<[u8; 32]> = connection
            .prepare_cached("SELECT hash FROM dictionary WHERE id = ?1")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        Ok(found == Some(self.hash))
    }

    /// The dictionary bytes of a row.
    pub(in crate::store) fn bytes_of(connection: &Connection, id: i64) -> Result<Vec<u8>> {
        let found: Option<Vec<u8>> = connection
            .prepare_cached("SELECT bytes FROM dictionary WHERE id = ?1 AND length(bytes) <= ?2")?
            .query_row(params![id, LARGEST], |row| row.get(0))
            .optional()?;
        found.ok_or_else(|| {
            StoreError::Corrupt(format!(
                "the dictionary {id} that replies were packed with is not there"
            ))
        })
    }
}

/// Trains a dictionary; `None` if there are too few samples or they have too little in common.
pub(super) fn trained(samples: &[Vec<u8>]) -> Option<Dictionary> {
    if samples.len() < FEWEST {
        return None;
    }
    let samples: Vec<&[u8]> = samples
        .iter()
        .map(|sample| &sample[..sample.len().min(LOOKED_AT)])
        .collect();
    let bytes = zstd::dict::from_samples(&samples, SIZE).ok()?;
    Some(Dictionary::new(bytes))
}

/// Trains a dictionary once, on a separate thread, as it takes longer than a transaction may.
pub(super) enum Training {
    Collecting(Vec<Vec<u8>>),
    Running(Receiver<Option<Dictionary>>),
    Over,
}

impl Default for Training {
    fn default() -> Self {
        Self::Collecting(Vec::new())
    }
}

impl Training {
    /// Adds a reply to the samples, and returns the dictionary when it is ready.
    pub(super) fn take(&mut self, plain: &[u8]) -> Option<Dictionary> {
        match self {
            Self::Over => None,
            Self::Collecting(samples) => {
                samples.push(plain[..plain.len().min(LOOKED_AT)].to_vec());
                if samples.len() >= SAMPLES {
                    *self = Self::begin(std::mem::take(samples));
                }
                None
            }
            Self::Running(receive) => match receive.try_recv() {
                Err(TryRecvError::Empty) => None,
                found => {
                    *self = Self::Over;
                    found.ok().flatten()
                }
            },
        }
    }

    fn begin(samples: Vec<Vec<u8>>) -> Self {
        let (send, receive) = sync_channel(1);
        let thread = std::thread::Builder::new().name("reply-dictionary".to_owned());
        let started = thread.spawn(move || {
            // If nobody receives it, the project has been closed.
            drop(send.send(trained(&samples)));
        });
        match started {
            Ok(_) => Self::Running(receive),
            Err(_) => Self::Over,
        }
    }
}
