//! Battles: which two documents of a pool meet, and how often.

use serde::{Deserialize, Serialize};

/// An unordered pair of documents, as indexes into a pool, first the smaller index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pair {
    low: usize,
    high: usize,
}

impl Pair {
    /// The pair of two different documents, or `None` where they are the same.
    pub fn new(x: usize, y: usize) -> Option<Self> {
        (x != y).then(|| Self {
            low: x.min(y),
            high: x.max(y),
        })
    }

    pub fn low(self) -> usize {
        self.low
    }

    pub fn high(self) -> usize {
        self.high
    }

    /// The other document of the pair, where `document` is one of the two.
    pub fn other(self, document: usize) -> Option<usize> {
        match document {
            d if d == self.low => Some(self.high),
            d if d == self.high => Some(self.low),
            _ => None,
        }
    }
}

/// The pairs of so many documents.
pub fn all_pairs(documents: usize) -> impl Iterator<Item = Pair> {
    let after = move |low: usize| (low + 1..documents).filter_map(move |high| Pair::new(low, high));
    (0..documents).flat_map(after)
}

/// A battle's row in the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BattleId(pub i64);

/// The number of a pair's second battle, in which judges are shown the documents in the other order. It counts in the fit.
pub const SECOND_GAME: u32 = 1;

/// The number of a pair's probe, in which language models are shown the documents in the other order too. It shows how the
/// order influences a judge and is left out of the fit, so that the pair counts once. When a plan asks for a second battle of
/// the pair, the probe becomes that battle.
pub const PROBE_GAME: u32 = 1_000;

/// Document `a` against document `b` of a pool. All votes on it are oriented to this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Battle {
    /// The row in the project.
    pub id: BattleId,
    /// Pool index of document A.
    pub a: usize,
    pub b: usize,
    /// How many battles of the same pair came before this one: 0 for the first. [`PROBE_GAME`] stands apart.
    pub game: u32,
}
