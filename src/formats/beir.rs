//! BEIR's folder: `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`.

use super::json::{Members, kind, object, string};
use super::jsonl::{self, required, text};
use super::lines::TextLines;
use super::problem::{LineProblems, Problem, quoted};
use super::trec::{GradedDocument, TrecRows, columns, grade};
use crate::domain::corpus::{DocId, JsonObject, QueryId};
use crate::domain::metrics::Qrels;
use crate::domain::sanitise::is_hazard;
use serde_json::value::RawValue;
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufRead, Write};

/// The header of a file of labels.
const HEADER: [&str; 3] = ["query-id", "corpus-id", "score"];

/// One document of a corpus. Title and text may both be empty.
#[derive(Clone, Debug, PartialEq)]
pub struct BeirDocument {
    /// `_id`
    pub id: DocId,
    /// `title`, empty where there is none.
    pub title: String,
    /// `text`
    pub text: String,
    /// `metadata`, untouched.
    pub metadata: JsonObject,
}

impl BeirDocument {
    /// What a judge reads: the title, an empty line, the text.
    pub fn content(&self) -> String {
        let (title, text) = (self.title.trim(), self.text.trim());
        if title.is_empty() || text.is_empty() {
            return format!("{title}{text}");
        }
        format!("{title}\n\n{text}")
    }
}

/// One query.
#[derive(Clone, Debug, PartialEq)]
pub struct BeirQuery {
    /// `_id`
    pub id: QueryId,
    /// `text`
    pub text: String,
    /// `metadata`, untouched.
    pub metadata: JsonObject,
}

/// The records of a file of JSON lines; see [`read_corpus`].
pub struct BeirRecords<R, T> {
    lines: TextLines<R>,
    noun: &'static str,
    read: fn(Members<'_>, &mut LineProblems) -> Option<T>,
    id: fn(&T) -> &str,
    /// Hashes of the ids so far: eight bytes an id, where the ids would be many times that.
    seen: HashSet<u64>,
    hasher: RandomState,
    pending: VecDeque<Problem>,
}

/// Reads `corpus.jsonl`. A bad line gives its problems and the next one follows; only one line is in memory at a time.
/// `file` is what problems call the file.
pub fn read_corpus<R: BufRead>(reader: R, file: &str) -> BeirRecords<R, BeirDocument> {
    BeirRecords::new(reader, file, "document", passage, |passage| {
        passage.id.as_str()
    })
}

/// Reads `queries.jsonl`, as [`read_corpus`] does.
pub fn read_queries<R: BufRead>(reader: R, file: &str) -> BeirRecords<R, BeirQuery> {
    BeirRecords::new(reader, file, "query", question, |question| {
        question.id.as_str()
    })
}

/// Reads `qrels/SPLIT.tsv`: a header, then query, document and grade between tabs.
pub fn read_qrels<R: BufRead>(reader: R, file: &str) -> TrecRows<R, GradedDocument> {
    TrecRows::new(reader, file, |text, first| {
        let cells = text.split('\t').map(str::trim_ascii);
        let cells: [&str; 3] = columns(
            cells,
            "a line of BEIR's qrels has 3, with tabs between them: query-id, corpus-id, score",
        )?;
        if first {
            return match cells == HEADER {
                true => Ok(None),
                false => Err(format!(
                    "the header is missing; the first line is {}",
                    HEADER.join(", ")
                )),
            };
        }
        let [query, document, value] = cells;
        if query.is_empty() || document.is_empty() {
            return Err("an identifier is empty".to_owned());
        }
        Ok(Some(GradedDocument {
            query: QueryId::new(query),
            document: DocId::new(document),
            grade: grade(value)?,
        }))
    })
}

/// Writes labels as `qrels/SPLIT.tsv`. Buffer `out`.
///
/// # Errors
/// An identifier with a tab or a line break, which columns cannot hold.
pub fn write_qrels(out: &mut impl Write, qrels: &Qrels) -> io::Result<()> {
    writeln!(out, "{}", HEADER.join("\t"))?;
    for (query, grades) in qrels {
        let query = cell(query.as_str())?;
        for (document, grade) in grades {
            writeln!(out, "{query}\t{}\t{grade}", cell(document.as_str())?)?;
        }
    }
    Ok(())
}

fn cell(text: &str) -> io::Result<&str> {
    if text.trim_ascii() != text || text.is_empty() || text.contains(is_hazard) {
        let what = format!(
            "{text:?} is empty or holds control characters or white space around it, which BEIR's columns cannot"
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok(text)
}

impl<R: BufRead, T> BeirRecords<R, T> {
    fn new(
        reader: R,
        file: &str,
        noun: &'static str,
        read: fn(Members<'_>, &mut LineProblems) -> Option<T>,
        id: fn(&T) -> &str,
    ) -> Self {
        Self {
            lines: TextLines::new(reader, file),
            noun,
            read,
            id,
            seen: HashSet::new(),
            hasher: RandomState::new(),
            pending: VecDeque::new(),
        }
    }
}

impl<R: BufRead, T> Iterator for BeirRecords<R, T> {
    type Item = Result<T, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(problem) = self.pending.pop_front() {
                return Some(Err(problem));
            }
            let mut findings = LineProblems::default();
            let record = match self.lines.next()? {
                Ok(line) => jsonl::members(&line, self.noun),
                Err(problem) => return Some(Err(problem)),
            };
            let messages = match record.map(|members| (self.read)(members, &mut findings)) {
                Ok(Some(record)) if findings.is_empty() => {
                    let id = (self.id)(&record);
                    if self.seen.insert(self.hasher.hash_one(id)) {
                        return Some(Ok(record));
                    }
                    vec![format!(
                        "_id: {} is on an earlier line too; keep one",
                        quoted(id)
                    )]
                }
                Ok(_) => findings.into_messages("line"),
                Err(messages) => messages,
            };
            let problems = messages.iter().map(|message| self.lines.problem(message));
            self.pending.extend(problems);
        }
    }
}

fn passage(mut members: Members<'_>, findings: &mut LineProblems) -> Option<BeirDocument> {
    let id = text(&mut members, "_id", format_args!("_id"), findings);
    let title = member(&mut members, "title", findings)
        .and_then(|value| findings.check(format_args!("title"), string(value)));
    let text = required(&mut members, "text", format_args!("text"), findings)
        .and_then(|value| findings.check(format_args!("text"), string(value)));
    let metadata = metadata(&mut members, findings);
    Some(BeirDocument {
        id: DocId::new(id?),
        title: title.unwrap_or_default(),
        text: text?,
        metadata,
    })
}

fn question(mut members: Members<'_>, findings: &mut LineProblems) -> Option<BeirQuery> {
    let id = text(&mut members, "_id", format_args!("_id"), findings);
    let text = text(&mut members, "text", format_args!("text"), findings);
    let metadata = metadata(&mut members, findings);
    Some(BeirQuery {
        id: QueryId::new(id?),
        text: text?,
        metadata,
    })
}

/// An optional member; null is none.
fn member<'a>(
    members: &mut Members<'a>,
    key: &str,
    findings: &mut LineProblems,
) -> Option<&'a RawValue> {
    let value = findings.check(format_args!("{key}"), members.take(key))?;
    value.filter(|value| kind(value) != "null")
}

fn metadata(members: &mut Members<'_>, findings: &mut LineProblems) -> JsonObject {
    member(members, "metadata", findings)
        .and_then(|value| findings.check(format_args!("metadata"), object(value)))
        .unwrap_or_default()
}
