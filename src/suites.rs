//! Tests of more than one file: golden vectors, file formats, and the laws that hold over the whole.

mod documents;
mod fixtures;
mod formats;
mod golden;
mod laws;
