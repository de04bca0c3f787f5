//! Encoding of a packed reply: a byte that names the format, then the plain text or a zstd frame.

use crate::store::error::{Result, StoreError};
use serde::{Deserialize, Serialize};
use zstd::bulk::{Compressor, Decompressor};

/// Maximum declared size of a frame's content; no judge's reply is larger.
const LARGEST: usize = 64 << 20;

/// The magic number of a frame, which is always the same and not stored.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The first byte.
const AS_IS: u8 = 0;
const FRAME: u8 = 1;

/// The text of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct ReplyText {
    /// The reasoning in the judge's presentation.
    pub(in crate::store) reasoning: String,
    /// The raw reply, if it was stored.
    pub(in crate::store) raw: Option<String>,
    /// The provider's ID of the call.
    pub(in crate::store) request_id: Option<String>,
}

impl ReplyText {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Serializes a text before it is compressed.
pub(super) fn plain(text: &ReplyText) -> Result<Vec<u8>> {
    postcard::to_stdvec(text)
        .map_err(|error| StoreError::Corrupt(format!("a reply cannot be packed: {error}")))
}

/// Parses a serialized text.
pub(super) fn text(plain: &[u8]) -> Result<ReplyText> {
    postcard::from_bytes(plain).map_err(|error| broken(&error.to_string()))
}

fn broken(reason: &str) -> StoreError {
    StoreError::Corrupt(format!("a judge's reply cannot be read: {reason}"))
}

#[derive(Default)]
pub(super) struct Packer(Option<Compressor<'static>>);

impl Packer {
    /// # Errors
    /// zstd cannot read the dictionary.
    pub(super) fn with(dictionary: &[u8], level: i32) -> std::io::Result<Self> {
        let mut compressor = Compressor::with_dictionary(level, dictionary)?;
        // The row already says which dictionary it is.
        compressor.include_dictid(false)?;
        compressor.include_contentsize(true)?;
        // An invalid dictionary fails at the first use.
        compressor.compress(&[])?;
        Ok(Self(Some(compressor)))
    }

    /// Packs bytes with zstd, or stores them unchanged if that is shorter or they are too long for
    /// a frame.
    pub(super) fn pack(&mut self, plain: Vec<u8>, level: i32) -> Vec<u8> {
        if self.0.is_none() {
            self.0 = Self::with(&[], level).ok().and_then(|packer| packer.0);
        }
        let frame = match &mut self.0 {
            Some(compressor) if plain.len() <= LARGEST => compressor.compress(&plain).ok(),
            _ => None,
        };
        let body = frame
            .as_deref()
            .and_then(|frame| frame.strip_prefix(&MAGIC));
        let (form, body) = match body {
            Some(body) if body.len() < plain.len() => (FRAME, body),
            _ => (AS_IS, &plain[..]),
        };
        let mut packed = Vec::with_capacity(body.len() + 1);
        packed.push(form);
        packed.extend_from_slice(body);
        packed
    }
}

pub(super) struct Unpacker(Decompressor<'static>);

impl Unpacker {
    pub(super) fn with(dictionary: &[u8]) -> Result<Self> {
        let made = Decompressor::with_dictionary(dictionary);
        Ok(Self(made.map_err(|error| broken(&error.to_string()))?))
    }

    /// Unpacks bytes, using no more memory than a frame may contain.
    pub(super) fn unpack(&mut self, packed: &[u8]) -> Result<Vec<u8>> {
        match packed.split_first() {
            Some((&AS_IS, body)) => Ok(body.to_vec()),
            Some((&FRAME, body)) => {
                let frame = [&MAGIC[..], body].concat();
                let size = match zstd::zstd_safe::get_frame_content_size(&frame) {
                    Ok(Some(size)) => size,
                    _ => return Err(broken("it does not say how long it is")),
                };
                let size = usize::try_from(size).ok().filter(|size| *size <= LARGEST);
                let size = size.ok_or_else(|| broken("it is longer than any reply"))?;
                let plain = self.0.decompress(&frame, size);
                plain.map_err(|error| broken(&error.to_string()))
            }
            _ => Err(broken("its first byte is of no known form")),
        }
    }
}
