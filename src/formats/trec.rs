//! Writes TREC's qrels and runs, which [`super::columns`] reads.

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::Qrels;
use crate::domain::sanitize::is_hazard;
use std::io::{self, Write};

/// Writes labels as qrels. Use a buffered `out`.
///
/// # Errors
/// If an identifier is empty or contains whitespace, which columns cannot represent.
pub fn write_qrels(out: &mut impl Write, qrels: &Qrels) -> io::Result<()> {
    for (query, grades) in qrels {
        let query = cell(query.as_str())?;
        for (document, grade) in grades {
            writeln!(out, "{query} 0 {} {grade}", cell(document.as_str())?)?;
        }
    }
    Ok(())
}

/// Writes one query's ranking, best first, as lines of a run called `name`. Use a buffered `out`.
///
/// # Errors
/// As for [`write_qrels`].
pub fn write_run(
    out: &mut impl Write,
    query: &QueryId,
    ranking: &[(DocId, f64)],
    name: &str,
) -> io::Result<()> {
    let (query, name) = (cell(query.as_str())?, cell(name)?);
    for (above, (document, score)) in ranking.iter().enumerate() {
        let (document, rank) = (cell(document.as_str())?, above + 1);
        writeln!(out, "{query} Q0 {document} {rank} {score} {name}")?;
    }
    Ok(())
}

/// An identifier as a column.
pub fn cell(text: &str) -> io::Result<&str> {
    if text.is_empty() || text.contains(|c: char| c.is_ascii_whitespace() || is_hazard(c)) {
        let what = format!(
            "the identifier {text:?} is empty or holds white space or control characters, which \
             TREC's columns cannot"
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok(text)
}
