//! The one caller of paid services: every attempt of a vote, a pick or an embedding is admitted, written down, sent,
//! charged and, where that helps, made again by the `worker` of its service.
//!
//! A worker owns one service's queue of calls. Each attempt, the first and every later one, passes the same gate: a place
//! in the [`window`], the limits a minute and what was learnt of them ([`pace`]), and the `health` of the server. Money
//! is set aside before and charged after ([`budget`]); the row of the attempt is in the project before it is sent
//! (`ledger`).

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
mod slots;
pub mod window;
pub(crate) mod worker;

pub use clock::now_ms;
pub use control::RunControl;
pub(crate) use lock::lock;
