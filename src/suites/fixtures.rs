//! Pools generated from a seed.

use crate::domain::corpus::{DocId, Document, JsonObject, Pool, Query, QueryId};
use crate::domain::sampling::SeededRng;

const WORDS: [&str; 48] = [
    "apple", "river", "stone", "cloud", "market", "engine", "garden", "letter", "window", "winter",
    "copper", "falcon", "harbour", "island", "journey", "kettle", "lantern", "meadow", "needle",
    "orchard", "pepper", "quarry", "ribbon", "saddle", "timber", "umbrella", "valley", "willow",
    "yellow", "zephyr", "anchor", "basket", "candle", "desert", "ember", "feather", "granite",
    "hollow", "ivory", "jasmine", "kernel", "ladder", "marble", "nectar", "opal", "parcel",
    "quiver", "rocket",
];

fn sentence(rng: &mut SeededRng, words: usize) -> String {
    (0..words)
        .map(|_| WORDS[rng.below(WORDS.len())])
        .collect::<Vec<_>>()
        .join(" ")
}

/// A pool of generated texts that depends only on the seed; no two of its documents are alike.
pub(crate) fn pool(seed: u64, documents: usize) -> Pool {
    let mut rng = SeededRng::new(seed, &["test pool"]);
    Pool {
        query: Query {
            id: QueryId::new(format!("q{seed}")),
            text: sentence(&mut rng, 4),
            extra: JsonObject::default(),
        },
        documents: (0..documents)
            .map(|at| Document {
                id: DocId::new(format!("d{at}")),
                title: None,
                content: format!("{} number {at}", sentence(&mut rng, 25)),
                metadata: JsonObject::default(),
                extra: JsonObject::default(),
                input_score: None,
            })
            .collect(),
        extra: JsonObject::default(),
    }
}
