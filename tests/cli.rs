//! The command line from outside: what the binary prints, refuses, writes, and leaves alone.
#![cfg(test)]
#![cfg(unix)]

#[path = "support/fake_provider.rs"]
mod fake_provider;
mod support;

#[path = "cli/annotated.rs"]
mod annotated;
#[path = "cli/embedding.rs"]
mod embedding;
#[path = "cli/evaluating.rs"]
mod evaluating;
#[path = "cli/files.rs"]
mod files;
#[path = "cli/fitting.rs"]
mod fitting;
#[path = "cli/foreign.rs"]
mod foreign;
#[path = "cli/gold.rs"]
mod gold;
#[path = "cli/hostile.rs"]
mod hostile;
#[path = "cli/importing.rs"]
mod importing;
#[path = "cli/ledgers.rs"]
mod ledgers;
#[path = "cli/manual.rs"]
mod manual;
#[path = "cli/merging.rs"]
mod merging;
#[path = "cli/overruling.rs"]
mod overruling;
#[path = "cli/people.rs"]
mod people;
#[path = "cli/picking.rs"]
mod picking;
#[path = "cli/pooling.rs"]
mod pooling;
#[path = "cli/reading.rs"]
mod reading;
#[path = "cli/ruling.rs"]
mod ruling;
#[path = "cli/sampling.rs"]
mod sampling;
