//! One line to one record, strictly.

use super::row::{GradedDocument, RankedDocument};
use crate::domain::corpus::{DocId, QueryId};
use crate::formats::lines::{TextLine, TextLines};
use crate::formats::problem::quoted;
use crate::formats::records::{LineRecords, ParseLine};
use std::io::BufRead;

/// The longest line of a file in columns, in bytes.
pub(crate) const LONGEST: u64 = 1 << 20;

/// What the first column of candidates is called, without dashes.
const QUERIES: [&str; 4] = ["query", "queryid", "qid", "topic"];
/// What the second one is called.
const DOCUMENTS: [&str; 7] = [
    "document",
    "documentid",
    "doc",
    "docid",
    "corpusid",
    "passageid",
    "pid",
];

/// The rows of a file with their line numbers; `parse` is told whether a line is the first, and gives nothing for a header.
pub(crate) fn in_columns<R, T, F>(
    reader: R,
    file: &str,
    parse: F,
) -> LineRecords<R, impl ParseLine<Record = (u64, T)> + use<R, T, F>>
where
    R: BufRead,
    F: Fn(&str, bool) -> Result<Option<T>, String>,
{
    let mut first = true;
    let lines = TextLines::new(reader, file).at_most(LONGEST);
    LineRecords::new(lines, move |line: &TextLine<'_>| {
        let first = std::mem::take(&mut first);
        let row = line.text().and_then(|text| parse(text, first));
        let row = row.map_err(|what| vec![what])?;
        Ok(row.map(|row| (line.number, row)))
    })
}

/// Reads qrels in TREC's form; `file` is what problems call the file.
pub fn read_qrels<R: BufRead>(
    reader: R,
    file: &str,
) -> LineRecords<R, impl ParseLine<Record = (u64, GradedDocument)> + use<R>> {
    in_columns(reader, file, |text, _| {
        let [query, _, document, value] = columns(
            text.split_ascii_whitespace(),
            "a line of qrels has 4: query, iteration, document, grade",
        )?;
        Ok(Some(GradedDocument {
            query: QueryId::new(query),
            document: DocId::new(document),
            grade: grade(value)?,
        }))
    })
}

/// Reads a run; `file` is what problems call the file.
pub fn read_run<R: BufRead>(
    reader: R,
    file: &str,
) -> LineRecords<R, impl ParseLine<Record = (u64, RankedDocument)> + use<R>> {
    in_columns(reader, file, |text, _| {
        let [query, _, document, rank, score, _] = columns(
            text.split_ascii_whitespace(),
            "a line of a run has 6: query, Q0, document, rank, score, name",
        )?;
        Ok(Some(RankedDocument {
            query: QueryId::new(query),
            document: DocId::new(document),
            // Some programs leave it open; nobody reads it.
            rank: rank.parse().ok(),
            score: Some(number(score)?),
        }))
    })
}

/// Reads a list of candidates: query and document, then rank and score where there are any. The first line may be a
/// header; the cells stand between tabs, commas or white space. `file` is what problems call the file.
pub fn read_candidates<R: BufRead>(
    reader: R,
    file: &str,
) -> LineRecords<R, impl ParseLine<Record = (u64, RankedDocument)> + use<R>> {
    in_columns(reader, file, |text, first| {
        let cells = candidate_cells(text)?;
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        if first && is_heading(&cells) {
            return Ok(None);
        }
        let (query, document, rank, score) = match cells[..] {
            [query, document] => (query, document, None, None),
            // One with a fraction is a score.
            [query, document, score] if score.parse::<i64>().is_err() => {
                (query, document, None, Some(score))
            }
            [query, document, rank] => (query, document, Some(rank), None),
            [query, document, rank, score] => (query, document, Some(rank), Some(score)),
            _ => {
                return Err(format!(
                    "{}; a line of candidates has 2 to 4: query, document, rank, score",
                    count(cells.len())
                ));
            }
        };
        let rank = rank.map(|rank| {
            rank.parse::<i64>()
                .map_err(|_| format!("the rank {} is not a whole number", quoted(rank)))
        });
        Ok(Some(RankedDocument {
            query: QueryId::new(query),
            document: DocId::new(document),
            rank: rank.transpose()?,
            score: score.map(number).transpose()?,
        }))
    })
}

/// The cells of a line of candidates: between tabs where it has any, else as CSV has them where it has a comma, else
/// between white space.
pub(crate) fn candidate_cells(text: &str) -> Result<Vec<String>, String> {
    if text.contains('\t') || !text.contains(',') {
        let cells = text.split_ascii_whitespace();
        return Ok(cells.map(str::to_owned).collect());
    }
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    match reader.records().next() {
        Some(Ok(record)) => Ok(record.iter().map(str::to_owned).collect()),
        Some(Err(error)) => Err(format!("is not CSV: {error}")),
        None => Ok(Vec::new()),
    }
}

/// Whether cells are those of a header of candidates: a name of the query's column, then one of the document's.
pub(crate) fn is_heading(cells: &[&str]) -> bool {
    let of = |at: usize, known: &[&str]| {
        let cell = cells
            .get(at)
            .map(|cell| cell.to_lowercase().replace(['-', '_'], ""));
        cell.is_some_and(|cell| known.contains(&cell.as_str()))
    };
    of(0, &QUERIES) && of(1, &DOCUMENTS)
}

/// The N cells of a line, or how many there are instead of what is `expected`.
pub(crate) fn columns<'a, const N: usize>(
    cells: impl Iterator<Item = &'a str>,
    expected: &str,
) -> Result<[&'a str; N], String> {
    let (mut found, mut places) = ([""; N], 0);
    for cell in cells {
        if let Some(place) = found.get_mut(places) {
            *place = cell;
        }
        places += 1;
    }
    match places == N {
        true => Ok(found),
        false => Err(format!("{}; {expected}", count(places))),
    }
}

fn count(columns: usize) -> String {
    match columns {
        1 => "has 1 column".to_owned(),
        columns => format!("has {columns} columns"),
    }
}

pub(crate) fn grade(text: &str) -> Result<i32, String> {
    text.parse().map_err(|_| {
        format!(
            "the grade {} is not a whole number; scores belong into a run",
            quoted(text)
        )
    })
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| !number.is_nan());
    number.ok_or_else(|| format!("the score {} is not a number", quoted(text)))
}
