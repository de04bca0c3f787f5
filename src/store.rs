//! The project file: one SQLite database, owned by one writing thread and a few reading threads.
//!
//! Work is passed as closures on [`Db`]. Queued writes share a transaction. [`Store::write`]
//! completes after that transaction is on disk, so confirmed data survives a power loss.
//! [`Store::note`] completes once the transaction is committed, which survives a kill. Both are
//! committed within milliseconds, however slow the disk is.

pub mod answering_models;
pub mod append;
pub mod assignments;
pub mod backup;
pub mod batches;
mod call_totals;
mod candidates;
pub(crate) mod changes;
pub(crate) mod columns;
mod completeness;
pub mod contents;
pub mod corpus;
pub mod days;
mod db;
pub mod drafts;
mod error;
pub mod estimates;
pub(crate) mod file;
pub mod frozen_sets;
pub mod gold;
mod handle;
pub mod identical_calls;
pub mod imports;
pub mod integrity;
pub mod judge_calls;
pub mod judge_names;
pub mod judge_tallies;
pub mod judge_weights;
pub mod judges;
pub mod labels;
pub mod last_run;
pub mod ledger;
pub mod links;
pub mod merge;
pub mod outstanding;
mod parallel;
mod picks;
pub mod printed_items;
mod prior;
pub mod priority_cache;
mod query_rows;
mod reading;
mod refresh;
mod replies;
mod reply_rows;
pub mod rounds;
pub mod rulings;
pub mod runs;
mod schema;
pub mod setting_changes;
pub mod settings;
pub mod stale_votes;
pub mod summary_cache;
mod tastes;
mod threads;
pub mod upgrade;
mod used_tokens;
pub mod verdicts;
pub mod vote_details;
pub mod voted_pairs;
pub mod votes;

pub use db::Db;
pub use error::{Result, StoreError};
pub use handle::Store;
#[cfg(feature = "remote")]
pub use schema::SCHEMA_VERSION;
