//! BEIR's folder format: reads `corpus.jsonl` and `queries.jsonl`, and writes `qrels/SPLIT.tsv`,
//! which [`super::columns`] reads.

use super::json::{object, string};
use super::jsonl;
use super::lines::TextLine;
use super::object::ObjectReader;
use super::problem::quoted;
use super::records::{LineRecords, ParseLine};
use crate::domain::corpus::{DocId, JsonObject, QueryId};
use crate::domain::metrics::Qrels;
use crate::domain::sanitize::is_hazard;
use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufRead, Write};

/// The header of a labels file.
const HEADER: [&str; 3] = ["query-id", "corpus-id", "score"];

/// One document of a corpus. Title and text may both be empty.
#[derive(Clone, Debug, PartialEq)]
pub struct BeirDocument {
    pub id: DocId,
    /// `title`; empty if missing.
    pub title: String,
    pub text: String,
    pub metadata: JsonObject,
}

impl BeirDocument {
    /// The text shown to a judge: the title, an empty line, the text.
    pub fn content(&self) -> String {
        let (title, text) = (self.title.trim(), self.text.trim());
        if title.is_empty() || text.is_empty() {
            return format!("{title}{text}");
        }
        format!("{title}\n\n{text}")
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct BeirQuery {
    pub id: QueryId,
    pub text: String,
    pub metadata: JsonObject,
}

/// Reads `corpus.jsonl`. An invalid line yields its problems, and reading continues with the next
/// one; only one line is in memory at a time. `file` is the file's name in problems.
pub fn read_corpus<R: BufRead>(
    reader: R,
    file: &str,
) -> LineRecords<R, impl ParseLine<Record = BeirDocument> + use<R>> {
    let id = |document: &BeirDocument| document.id.as_str().to_owned();
    LineRecords::new(reader, file, unique("document", document, id))
}

/// Reads `queries.jsonl` like [`read_corpus`].
pub fn read_queries<R: BufRead>(
    reader: R,
    file: &str,
) -> LineRecords<R, impl ParseLine<Record = BeirQuery> + use<R>> {
    let id = |query: &BeirQuery| query.id.as_str().to_owned();
    LineRecords::new(reader, file, unique("query", query, id))
}

/// Reads records and rejects repeated IDs.
fn unique<T>(
    unit: &'static str,
    read: fn(ObjectReader<'_, '_>) -> Option<T>,
    id: fn(&T) -> String,
) -> impl ParseLine<Record = T> {
    // Store hashes of the IDs, which take eight bytes each; the IDs themselves are many times
    // larger.
    let (mut seen, hasher) = (HashSet::new(), RandomState::new());
    move |line: &TextLine<'_>| {
        let record = jsonl::record(line, unit, read)?;
        let id = id(&record);
        if seen.insert(hasher.hash_one(&id)) {
            Ok(Some(record))
        } else {
            let id = quoted(&id);
            Err(vec![format!(
                "_id: {id} is on an earlier line too; keep one"
            )])
        }
    }
}

/// Writes labels as `qrels/SPLIT.tsv`. Use a buffered `out`.
///
/// # Errors
/// If an identifier contains a tab or a line break, which columns cannot represent.
pub fn write_qrels(out: &mut impl Write, qrels: &Qrels) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new().delimiter(b'\t').from_writer(out);
    table.write_record(HEADER)?;
    for (query, grades) in qrels {
        let query = cell(query.as_str())?;
        for (document, grade) in grades {
            table.write_record([query, cell(document.as_str())?, &grade.to_string()])?;
        }
    }
    table.flush()
}

fn cell(text: &str) -> io::Result<&str> {
    if text.trim_ascii() != text || text.is_empty() || text.contains(is_hazard) {
        let what = format!(
            "{text:?} is empty or holds control characters or white space around it, which BEIR's \
             columns cannot"
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok(text)
}

/// `_id`, or `id` if there is no `_id`.
fn identifier(object: &mut ObjectReader<'_, '_>) -> Option<String> {
    if object.has("id") && !object.has("_id") {
        object.identifier("id")
    } else {
        object.identifier("_id")
    }
}

fn document(mut document: ObjectReader<'_, '_>) -> Option<BeirDocument> {
    let id = identifier(&mut document);
    let title = document.nullable("title", string);
    let text = document.string("text");
    let metadata = document.nullable("metadata", object);
    Some(BeirDocument {
        id: DocId::new(id?),
        title: title.unwrap_or_default(),
        text: text?,
        metadata: metadata.unwrap_or_default(),
    })
}

fn query(mut query: ObjectReader<'_, '_>) -> Option<BeirQuery> {
    let (id, text) = (identifier(&mut query), query.text("text"));
    let metadata = query.nullable("metadata", object);
    Some(BeirQuery {
        id: QueryId::new(id?),
        text: text?,
        metadata: metadata.unwrap_or_default(),
    })
}
