//! The binary with judges behind a provider on loopback: what is bought, recorded, handed over and
//! never said.
#![cfg(test)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests set the times of files and headers"
)]

mod asking_programs;
mod battery;
mod desk;
mod drift;
#[path = "../support/encrypted.rs"]
mod encrypted;
mod exporting;
mod failing;
#[path = "../support/fake_provider.rs"]
mod fake_provider;
mod first_file;
mod handed_over;
mod identity;
mod ledger;
mod list_batches;
mod list_rankings;
mod lists;
mod metadata;
mod models;
mod open_files;
mod outcomes;
mod pair;
mod permissions;
mod picks;
mod position;
mod prompts;
mod ready_blocks;
#[cfg(feature = "remote")]
mod remote;
mod repeated;
mod replies;
mod reranking;
#[cfg(feature = "remote")]
mod roles;
#[cfg(feature = "remote")]
mod rounds;
mod runs;
mod scaling;
mod secrets;
#[cfg(feature = "remote")]
mod shared_queries;
mod student;
mod student_weight;
#[cfg(feature = "remote")]
mod sync;
mod tls;
