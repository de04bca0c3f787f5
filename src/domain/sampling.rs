//! Which pairs battle, and which of the two documents a judge is shown first.
//!
//! A plan is a pure function of the seed, the query's id, the number of documents and the number of cycles, and it is
//! a prefix of every plan with more cycles. Rounds of [`adaptive`] sampling follow from the votes that are there when
//! they are planned. Randomness is ChaCha8 keyed by SHA-256 over the seed and the names it is for; integers are drawn
//! by rejection and shuffles are Fisher–Yates from the end, so that the same seed gives the same plan on every
//! platform and with every version of the random-number crates.

pub mod adaptive;
mod cycles;
mod probe;
mod rng;
mod seen_orders;
mod walecki;

pub use cycles::{PlannedBattle, plan, presentations};
pub use probe::{PROBED_PAIRS, probe_pairs, probe_shares};
pub use rng::SeededRng;
pub use seen_orders::SeenOrders;

/// Cycles a query when nothing else is asked: every document fights about eight battles.
pub const DEFAULT_CYCLES: usize = 4;

/// How many battles of a pair a plan may hold: one for each order of the two documents. A third one would ask the same judges
/// the same question again.
pub const MAX_GAMES: u32 = 2;
