//! The only code that calls paid services. The `worker` of each service admits, records, sends and
//! charges every attempt of a vote, a pick or an embedding, and retries if that can help.
//!
//! A worker owns the call queue of one service. Every attempt, including retries, passes the same
//! `gate`: the [`window`], the per-minute limits and the learned rate ([`pace`]), and the
//! `health` of the server. Money is reserved before a call and charged after it ([`budget`]); the
//! attempt is recorded in the project before it is sent (`call_ledger`).

pub mod budget;
pub(crate) mod call_key;
pub(crate) mod call_ledger;
mod clock;
mod control;
pub(crate) mod gate;
pub(crate) mod health;
pub(crate) mod lock;
pub mod open_files;
pub mod pace;
pub(crate) mod question;
pub(crate) mod single_call;
mod slots;
pub mod window;
pub(crate) mod worker;

pub use clock::{now_ms, today};
pub use control::RunControl;
pub(crate) use lock::lock;
