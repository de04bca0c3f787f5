//! Battles: which two documents of a pool meet, and how often.

use serde::{Deserialize, Serialize};

/// An unordered pair of documents, as indexes into a pool, the smaller index first. Projects have
/// millions of pairs, so an index takes four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pair {
    low: u32,
    high: u32,
}

impl Pair {
    /// The pair of two documents, or `None` if they are the same or an index is above `u32::MAX`.
    #[inline]
    pub fn new(x: usize, y: usize) -> Option<Self> {
        let (x, y) = (u32::try_from(x).ok()?, u32::try_from(y).ok()?);
        (x != y).then(|| Self {
            low: x.min(y),
            high: x.max(y),
        })
    }

    #[inline]
    pub fn low(self) -> usize {
        self.low as usize
    }

    #[inline]
    pub fn high(self) -> usize {
        self.high as usize
    }

    /// The other document of the pair, or `None` if `document` is in neither place.
    pub fn other(self, document: usize) -> Option<usize> {
        match document {
            d if d == self.low() => Some(self.high()),
            d if d == self.high() => Some(self.low()),
            _ => None,
        }
    }
}

/// All pairs of this many documents.
pub fn all_pairs(documents: usize) -> impl Iterator<Item = Pair> {
    let after = move |low: usize| (low + 1..documents).filter_map(move |high| Pair::new(low, high));
    (0..documents).flat_map(after)
}

/// The row ID of a battle in the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BattleId(pub i64);

/// The number of a pair's second battle, in which judges see the documents in the other order. The
/// fit includes it.
pub const SECOND_GAME: u32 = 1;

/// The number of a pair's probe, in which language models also see the documents in the other
/// order. It measures how the order influences a judge and is excluded from the fit, so that the
/// pair counts once. When a plan asks for a second battle of the pair, the probe becomes that
/// battle.
pub const PROBE_GAME: u32 = 1_000;

/// Document `a` against document `b` of a pool. All votes on it use this orientation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Battle {
    /// The row ID in the project.
    pub id: BattleId,
    /// Pool index of document A.
    pub a: usize,
    pub b: usize,
    /// Number of earlier battles of the same pair: 0 for the first. [`PROBE_GAME`] is a special
    /// value.
    pub game: u32,
}
