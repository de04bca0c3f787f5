//! The core types and algorithms. Synchronous and deterministic: randomness comes from a seed, time
//! is an argument, and nothing here does I/O.

pub mod adjudication;
pub mod agreement;
pub mod analysis;
pub mod annotator_name;
pub mod answering_models;
pub mod auto_or_number;
pub mod battle;
pub mod candidate_question;
pub mod caught_panic;
pub mod common_scale;
pub mod corpus;
pub mod document_cut;
pub mod document_names;
pub mod hex;
pub mod judge_report;
pub mod judge_set;
pub mod metrics;
pub(crate) mod named;
pub mod non_inferiority;
pub mod number_words;
pub(crate) mod numeric;
pub(crate) mod parallel;
pub mod permission;
pub mod prediction;
pub mod priority;
pub mod ranking;
pub mod rating;
pub mod reasoning;
pub mod retrieval;
pub mod sampling;
pub mod sanitize;
pub mod spend;
pub mod text;
pub mod verdict;
pub mod vote;
