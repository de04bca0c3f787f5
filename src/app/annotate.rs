//! Runs: judges asked about the battles of a plan, their votes recorded, the queries fitted again.
//!
//! One task, the dispatcher, owns the run and plans it. Each judge then goes through the queries at its own speed, so that
//! one that is slow, limited or down leaves the others alone: its question source puts its questions, and a worker of the
//! caller asks them. A question source holds no more than the texts of the query it works on, so that memory does not grow
//! with the number of battles. Where a query is played in rounds, its next one is planned when the last one is over; a
//! judge that makes no more calls holds no round up. A call's result is counted only after the store has confirmed it.
//! Whoever watches gets the latest [`progress::RunProgress`], never a backlog; whoever steers sends a
//! [`crate::client::RunControl`].

pub mod batch;
mod battle_question;
mod context;
mod dispatch;
mod error;
pub mod estimate;
mod handle;
pub mod judge_history;
pub mod pair_question;
mod plan;
pub mod progress;
mod question_source;
mod request;
mod rounds;

pub use error::RunError;
pub use handle::RunHandle;
pub use plan::{check_judges, enter_listed};
pub use request::{ListedBattles, RunOutcome, RunRequest};
