//! Invariants of the design, tested on the library: failures, cancels, crashes and concurrent users
//! change no score.

mod batches;
mod bench;
mod files;
mod money;
mod plans_and_rounds;
mod priorities;
mod repeated_pairs;
mod reports;
mod reviews;
mod rounds;
mod runs;
mod scripted;
#[cfg(feature = "remote")]
mod shared_work;
mod summaries;
mod verdict_direction;
mod views;
mod vote_rules;
mod votes;
