//! File formats: each is parsed into the domain's types and written from them.
//!
//! Readers stream, report every problem with file and line, and never stop at the first one. They
//! keep data that they do not use, so that writing a file back loses nothing.

pub mod ai_scores;
pub mod answers;
pub mod beir;
pub mod columns;
pub mod csv_cell;
pub mod dataset;
pub mod file;
pub mod file_kind;
pub mod gold;
mod grade;
pub(crate) mod json;
mod json_scan;
pub(crate) mod jsonl;
pub mod judgments;
pub(crate) mod lines;
pub mod listed;
pub(crate) mod object;
pub mod own_tables;
pub mod pairs;
#[cfg(feature = "parquet")]
mod parquet_lines;
#[cfg(feature = "parquet")]
pub mod parquet_shards;
pub mod picks;
#[cfg(feature = "png")]
pub(crate) mod png;
pub mod predictions;
pub mod problem;
pub(crate) mod python;
pub mod query_fields;
pub mod query_list;
pub mod ranx;
pub mod records;
pub mod safe_json;
pub mod safe_stdout;
pub mod search_request;
pub mod svg;
pub mod table_file;
mod table_objects;
mod table_rows;
pub mod trec;
pub mod vectors;
pub mod votes;
