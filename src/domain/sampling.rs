//! Chooses the pairs that battle, and the document that a judge is shown first.
//!
//! A plan is a pure function of the seed, the query's ID, the number of documents and the number of
//! cycles, and it is a prefix of every plan with more cycles. Rounds of [`adaptive`] sampling
//! depend on the votes that exist when they are planned. Randomness is ChaCha8 keyed by a SHA-256
//! hash of the seed and the names of its purpose. Integers are drawn by rejection and shuffles are
//! Fisher–Yates from the end, so the same seed gives the same plan on every platform and with every
//! version of the random-number crates.

pub mod adaptive;
mod cycles;
mod part;
mod probe;
mod rng;
mod seen_orders;
mod shard;
mod walecki;

pub use cycles::{PlannedBattle, plan, presentations};
#[cfg(feature = "remote")]
pub use part::{PAIRS_PER_PART, parts};
pub use part::{PAIRS_PER_ROUND_PART, pairs_of_part};
pub use probe::{PROBED_PAIRS, probe_pairs, probe_shares};
pub use rng::SeededRng;
pub use seen_orders::SeenOrders;
pub use shard::Shard;

/// The default number of cycles per query, in which every document has about eight battles.
pub const DEFAULT_CYCLES: usize = 4;

/// Maximum number of battles of a pair in a plan: one for each order of the two documents. A third
/// one would ask the same judges the same question again.
pub const MAX_GAMES: u32 = 2;
