//! Pools as JSON lines, or as a JSON array: reads zBench's QueryDocuments, and reads and writes its
//! AnnotatedQueryDocuments.
//!
//! One line is one pool:
//! `{"query":{"id","query"},"documents":[{"id","content","metadata"?,"score"?}]}`. Unknown members
//! are stored as `extra` and written after the known ones; `metadata` is preserved verbatim.
//! Reranking requests of RankLLM and Umbrela, and reranking sets of MTEB, are also read as pools.

mod benchmark;
mod line;
mod mteb;
mod request;
mod write;

pub use benchmark::BenchmarkLabels;
pub(in crate::formats) use line::exported_pool;
pub use write::{Unscored, write_annotated, write_pool};

use super::jsonl;
use super::lines::TextLine;
use super::records::{LineRecords, ParseLine};
use crate::domain::corpus::Pool;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::BufRead;

/// Reads pools from JSON Lines. An invalid line yields its problems, up to five of them and a
/// count, and reading continues with the next line; a byte order mark, CRLF and blank lines are
/// accepted. Only one line is in memory at a time.
///
/// `file` is the file's name in problems.
pub fn read_pools<R: BufRead>(
    reader: R,
    file: &str,
) -> LineRecords<R, impl ParseLine<Record = Pool> + use<R>> {
    let mut first_lines: HashMap<String, u64> = HashMap::new();
    let split = mteb::split_of(file).to_owned();
    let mut indexes = 0..;
    let parse = move |line: &TextLine<'_>| {
        let index = indexes.next().unwrap_or_default();
        let pool = jsonl::record(line, "pool", |object| {
            if mteb::is_example(&object) {
                mteb::pool(object, &split, index)
            } else if object.has("candidates") && !object.has("documents") {
                request::pool(object)
            } else {
                line::pool(object)
            }
        })?;
        match first_lines.entry(pool.query.id.as_str().to_owned()) {
            Entry::Vacant(entry) => entry.insert(line.number),
            Entry::Occupied(first) => {
                let id = pool.query.id.as_str();
                return Err(vec![line::repeated_query(id, *first.get())]);
            }
        };
        Ok(Some(pool))
    };
    LineRecords::new(reader, file, parse)
}
