//! Tests that span several modules: golden vectors, file formats, providers, screens, and
//! properties of the whole program.

mod documents;
#[path = "../tests/support/encrypted.rs"]
mod encrypted;
#[path = "../tests/support/fake_provider.rs"]
mod fake_provider;
pub(crate) mod fixtures;
mod formats;
mod golden;
mod keys;
mod laws;
mod layers;
mod manifest;
mod numbers;
#[cfg(feature = "parquet")]
#[path = "../tests/support/parquet.rs"]
#[allow(dead_code, reason = "not every part is needed here")]
pub(crate) mod parquet_file;
mod plans;
mod providers;
pub(crate) mod screens;
