//! Runs: asks judges about the battles of a plan, records their votes and refits the queries.
//!
//! One task, the dispatcher, owns the run and plans it. Each judge works through the queries at its
//! own speed, so that a slow, limited or failing judge does not hold up the others: its question
//! source prepares questions, and a client worker sends them. A question source keeps only the
//! texts of its current query in memory, so memory use does not grow with the number of battles. If
//! a query is played in rounds, the next round is planned when the previous one is over; a judge
//! that makes no more calls does not delay a round. The result of a call is counted only after the
//! store has confirmed it. Observers receive the latest [`progress::RunProgress`] and never a
//! backlog; they control the run with [`crate::client::RunControl`].

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
pub mod prompt_inputs;
mod question_source;
mod request;
mod rounds;
#[cfg_attr(
    not(feature = "remote"),
    expect(dead_code, reason = "for work that is shared")
)]
mod shared_work;
mod stored_answer;

pub use error::RunError;
pub use handle::RunHandle;
pub use plan::{check_judges, enter_listed};
#[cfg(feature = "remote")]
pub use plan::{pairs_of_round_part, probe_shares};
pub use request::{ListedBattles, RunOutcome, RunRequest};
#[cfg(feature = "remote")]
pub use rounds::{PlannedRound, plan_round};
#[cfg(feature = "remote")]
pub use shared_work::{PartEnd, PartKey, WorkFeed, WorkPart};
