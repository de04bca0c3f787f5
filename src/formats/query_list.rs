//! Reads lists of queries: one identifier per line, without whitespace and commas, so that a table
//! is never mistaken for a list.

use super::lines::{NotText, TextLine, TextLines};
use super::problem::Problem;
use super::records::LineRecords;
use crate::domain::corpus::QueryId;
use std::io::BufRead;

/// Maximum number of bytes per line to look at.
const LONGEST: u64 = 4096;

/// Whether the first line is only an identifier.
pub fn is_query_list<R: BufRead>(reader: R, file: &str) -> bool {
    let mut lines = TextLines::new(reader, file).at_most(LONGEST);
    lines
        .next()
        .is_some_and(|line| line.is_ok_and(|line| identifier(&line).is_ok()))
}

/// Reads the queries of a list, line by line.
pub fn read_query_list<R: BufRead>(
    reader: R,
    file: &str,
) -> impl Iterator<Item = Result<QueryId, Problem>> {
    LineRecords::of_text(reader, file, |line: &TextLine<'_>| {
        identifier(line)
            .map(Some)
            .map_err(|error| vec![error.to_string()])
    })
}

/// Why a line is not the identifier of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum NotAQuery {
    #[error(transparent)]
    NotText(#[from] NotText),
    #[error("expected the identifier of a query and nothing else")]
    More,
}

fn identifier(line: &TextLine<'_>) -> Result<QueryId, NotAQuery> {
    let text = line.text()?.trim();
    if text.starts_with(['{', '[']) || text.contains(|ch: char| ch.is_whitespace() || ch == ',') {
        Err(NotAQuery::More)
    } else {
        Ok(QueryId::new(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_told_from_labels_and_read_line_by_line() {
        assert!(is_query_list(&b"\nq1\nq2\n"[..], "f"));
        for other in ["q1 0 d1 1\n", "q1,d1,1\n", "{\"query\":1}\n", "", "{}\n"] {
            assert!(!is_query_list(other.as_bytes(), "f"), "{other}");
        }
        let found: Vec<_> = read_query_list(&b"q1\r\n\n q2 \nq3 d\n"[..], "f").collect();
        assert_eq!(found[0], Ok(QueryId::new("q1")));
        assert_eq!(found[1], Ok(QueryId::new("q2")));
        let problem = found[2].as_ref().unwrap_err().to_string();
        assert!(
            problem.starts_with("f:4: expected the identifier"),
            "{problem}"
        );
    }
}
