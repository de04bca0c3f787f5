//! Rankings with texts as CSV: the columns qid, docno and score, and text and query where they are there.

use super::problem::Problem;
use crate::domain::corpus::{DocId, QueryId};
use std::io::Read;

/// A line of such a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredText {
    pub query: QueryId,
    pub document: DocId,
    pub score: f64,
    /// `None` where the file has no column of texts.
    pub text: Option<String>,
}

/// Reads the lines of a file in their order. The first problem ends it.
pub fn read_scored_texts(reader: impl Read, file: &str) -> Result<Vec<ScoredText>, Problem> {
    let mut table = csv::Reader::from_reader(reader);
    let unreadable = |error: csv::Error| {
        let line = error.position().map(csv::Position::line);
        Problem::new(file, line, &error.to_string())
    };
    let header = table.headers().map_err(unreadable)?.clone();
    let column = |names: &[&str]| {
        let same = |cell: &str| names.contains(&cell.trim().to_lowercase().as_str());
        header.iter().position(same)
    };
    let needed = |names: &[&str]| {
        column(names).ok_or_else(|| {
            let name = names.first().copied().unwrap_or_default();
            let words = format!("has no column {name}; the columns are qid, docno, score and text");
            Problem::new(file, Some(1), &words)
        })
    };
    let query = needed(&["qid", "query_id", "query-id"])?;
    let document = needed(&["docno", "doc_id", "docid", "corpus-id"])?;
    let (score, text) = (needed(&["score"])?, column(&["text", "content"]));
    let mut lines = Vec::new();
    for record in table.records() {
        let record = record.map_err(unreadable)?;
        let line = record.position().map(csv::Position::line);
        let cell = |at: usize| record.get(at).unwrap_or_default();
        let wrong = |what: String| Problem::new(file, line, &what);
        let (query, document) = (cell(query).trim(), cell(document).trim());
        if query.is_empty() || document.is_empty() {
            return Err(wrong("qid or docno is empty".to_owned()));
        }
        let number: Option<f64> = cell(score).trim().parse().ok();
        let number = number.filter(|number| number.is_finite());
        lines.push(ScoredText {
            query: QueryId::new(query),
            document: DocId::new(document),
            score: number
                .ok_or_else(|| wrong(format!("score: {:?} is not a number", cell(score))))?,
            text: text.map(|at| cell(at).to_owned()),
        });
    }
    if lines.is_empty() {
        return Err(Problem::new(file, None, "holds no documents"));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_their_names() {
        let file = "score,docno,query,qid,text\n1.5,d,what,7,\"a, b\"\n";
        let read = read_scored_texts(file.as_bytes(), "f").unwrap();
        let expected = ScoredText {
            query: QueryId::new("7"),
            document: DocId::new("d"),
            score: 1.5,
            text: Some("a, b".to_owned()),
        };
        assert_eq!(read, [expected]);
        let read = read_scored_texts("qid,docno,score\n7,d,1\n".as_bytes(), "f").unwrap();
        assert_eq!(read[0].text, None);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let told = |file: &str| {
            read_scored_texts(file.as_bytes(), "f")
                .unwrap_err()
                .to_string()
        };
        assert!(told("qid,score\n").starts_with("f:1: has no column docno"));
        assert!(told("qid,docno,score\n7,d,1\n7,e,high\n").starts_with("f:3: score: \"high\""));
        assert!(told("qid,docno,score\n7,d,NaN\n").contains("not a number"));
        assert!(told("qid,docno,score\n7,,1\n").contains("is empty"));
        assert!(told("qid,docno,score\n7,d\n").starts_with("f:2"));
        assert!(told("qid,docno,score\n").contains("no documents"));
    }
}
