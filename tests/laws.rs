//! The laws of the design page, against the library: failures, cancels, crashes and other hands change no score.
#![cfg(test)]

mod support;

#[path = "laws/bench.rs"]
mod bench;
#[path = "laws/files.rs"]
mod files;
#[path = "laws/money.rs"]
mod money;
#[path = "laws/rounds.rs"]
mod rounds;
#[path = "laws/runs.rs"]
mod runs;
#[path = "laws/scripted.rs"]
mod scripted;
#[path = "laws/summaries.rs"]
mod summaries;
#[path = "laws/views.rs"]
mod views;
#[path = "laws/votes.rs"]
mod votes;
