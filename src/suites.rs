//! Tests of more than one file: golden vectors, file formats, and the laws that hold over the whole.

mod fixtures;
mod formats;
mod golden;
mod laws;
mod manifest;
mod plans;
