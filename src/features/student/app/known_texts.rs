//! The built-in student's data on a query's documents: their texts, and numbers computed from them.

use crate::domain::text::NumberedTokens;
use crate::features::student::domain::features::DocumentNumbers;
use crate::features::student::domain::texts::PoolTexts;
use crate::judge::PoolText;
use crate::judge::offline::{LexicalMethod, LexicalScores};
use crate::store::corpus::first_stage_order;
use crate::store::{Db, StoreError};

/// The features of a single document.
pub(super) const FEATURES: [&str; 10] = [
    "BM25",
    "proximity",
    "n-grams",
    "terms matched",
    "words covered",
    "phrases",
    "term density",
    "likeness",
    "length",
    "first stage",
];

/// The documents of one query.
pub(super) struct KnownTexts {
    pub(super) pool: PoolText,
    pub(super) texts: PoolTexts,
    /// By pool index, in the order of [`FEATURES`].
    pub(super) numbers: Vec<DocumentNumbers>,
}

impl KnownTexts {
    pub(super) fn read(db: &Db, query: &str) -> Result<Self, StoreError> {
        let key = db.find_query(query)?;
        let pool = db.pool_text(key, None)?;
        let tokens = NumberedTokens::of(&pool.documents);
        let analysis = LexicalScores::new(&pool.query, &pool.documents, &tokens);
        let texts = PoolTexts::read(&pool.query, &tokens);
        let order = first_stage_order(pool.metadata.iter());
        let mut ranks = vec![0usize; pool.documents.len()];
        for (rank, at) in order.into_iter().enumerate() {
            if let Some(place) = ranks.get_mut(at) {
                *place = rank;
            }
        }
        let numbers = pool.documents.iter().zip(texts.numbers()).zip(ranks);
        let numbers = numbers.enumerate().map(|(at, ((text, found), rank))| {
            let matched = analysis.matched(LexicalMethod::Proximity, at).count_ones();
            [
                analysis.score(LexicalMethod::Bm25, at),
                analysis.score(LexicalMethod::Proximity, at),
                analysis.score(LexicalMethod::Ngram, at),
                f64::from(matched),
                found.words_covered,
                found.phrases,
                found.density,
                found.likeness,
                (1.0 + text.chars().count() as f64).ln(),
                -(1.0 + rank as f64).ln(),
            ]
            .map(Some)
            .to_vec()
        });
        let numbers = numbers.collect();
        Ok(Self {
            numbers,
            pool,
            texts,
        })
    }
}
