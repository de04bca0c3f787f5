//! Adjudication: where judges' picks and labels differ, and what rulings make of it.

pub mod data;
