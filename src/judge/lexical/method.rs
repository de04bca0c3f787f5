//! The three measures by name.

/// The names of the embedded judges, in ensemble order.
pub const NAMES: [&str; 3] = ["bm25", "proximity", "ngram"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LexicalMethod {
    /// BM25 over stems.
    Bm25,
    /// Coverage of the query's terms, their proximity and their order.
    Proximity,
    /// Cosine similarity over character sequences.
    Ngram,
}

impl LexicalMethod {
    /// All methods, in the order of [`NAMES`].
    pub const ALL: [Self; 3] = [Self::Bm25, Self::Proximity, Self::Ngram];

    /// The name of the judge, one of [`NAMES`].
    pub fn name(self) -> &'static str {
        NAMES[self.index()]
    }

    pub(super) fn index(self) -> usize {
        self as usize
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Bm25 => "BM25",
            Self::Proximity => "Proximity",
            Self::Ngram => "Letter-sequence similarity",
        }
    }

    /// The verb for a document that contains a term, according to this method.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::Bm25 | Self::Proximity => "has",
            Self::Ngram => "has at least half of",
        }
    }
}
