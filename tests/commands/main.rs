//! The command line from outside: what the binary prints, refuses, writes, and leaves alone.
#![cfg(test)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests set the times of files and headers"
)]
#![cfg(unix)]

#[path = "../support/fake_provider.rs"]
mod fake_provider;
#[path = "../support/mod.rs"]
mod support;

mod accepting;
mod agents;
mod annotate;
mod annotated;
mod candidates;
mod columns;
mod comparing_methods;
mod duel_answers;
mod duel_blindness;
mod duels;
mod embedded_reasoning;
mod embedder_limits;
mod embedding;
mod evaluating;
mod exits;
mod exported_tables;
mod exported_votes;
mod files;
mod fitting;
mod foreign;
mod gate;
mod gold;
mod hostile;
mod importing;
mod independent_votes;
mod ledgers;
mod manual;
mod measuring;
mod merging;
mod methods;
mod overruling;
mod people;
mod permuted;
mod picking;
mod pooling;
mod project_file;
mod queue_items;
mod read_only;
mod reading;
mod refusals;
mod reporting;
mod rerankers;
mod ruling;
mod sampling;
mod sbr;
mod scaling;
mod scripts;
mod sharding;
mod simulated_duels;
mod simulated_lists;
mod simulated_students;
mod students;
mod tool_judgments;
mod unshared;
