//! Determines the roles of columns from the names in the header.

use super::error::ColumnError;

/// The meaning of a column's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    QueryId,
    /// Identifies the query if there is no `QueryId`.
    Query,
    /// Comes before `DocumentId`: PyTerrier has an internal `docid` next to it.
    DocNo,
    DocumentId,
    /// Identifies the document if there is no column of identifiers.
    Document,
    Grade,
    Score,
    Rank,
    Text,
    QueryText,
    /// Known, but ignored.
    Other,
}

/// The meaning of a name, ignoring case and separators.
fn word(cell: &str) -> Option<Word> {
    Some(match bare(cell).as_str() {
        "queryid" | "qid" | "topic" | "topicid" => Word::QueryId,
        "query" => Word::Query,
        "docno" => Word::DocNo,
        "documentid" | "docid" | "corpusid" | "passageid" | "pid" | "productid" | "itemid" => {
            Word::DocumentId
        }
        "document" | "doc" => Word::Document,
        "rating" | "relevance" | "label" | "grade" | "rel" | "judgment" | "judgement" => {
            Word::Grade
        }
        "score" | "similarity" | "sim" => Word::Score,
        "rank" | "position" => Word::Rank,
        "text" | "content" => Word::Text,
        "querytext" => Word::QueryText,
        "" | "title" | "contents" | "passage" | "body" | "url" | "iteration" | "iter" | "q0"
        | "run" | "runid" | "runname" | "tag" | "name" | "system" | "note" | "notes"
        | "comment" => Word::Other,
        _ => return None,
    })
}

fn bare(cell: &str) -> String {
    cell.chars()
        .filter(|ch| !matches!(ch, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// The indexes of the columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Roles {
    pub(super) query: usize,
    pub(super) document: usize,
    pub(super) grade: Option<usize>,
    pub(super) score: Option<usize>,
    pub(super) rank: Option<usize>,
    pub(super) text: Option<usize>,
    /// Whether the column of queries is called `query`, so that it may contain texts.
    pub(super) is_query_named: bool,
    /// The query's text: `query_text`, or `query` next to an identifier.
    pub(super) query_text: Option<usize>,
    /// For a table written by `overrule sbr`, the score before boosting.
    pub(super) first_score: Option<usize>,
}

/// The parsed first line of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) roles: Roles,
    /// Whether the column `score` contains grades, as in BEIR's qrels.
    pub(super) is_beir: bool,
    /// Unknown names.
    pub(super) unknown: Vec<String>,
}

impl Header {
    /// Parses the cells of a first line; `None` if they do not name a query and a document.
    ///
    /// # Errors
    /// If two columns have the same meaning.
    pub(super) fn of(cells: &[&str]) -> Result<Option<Self>, ColumnError> {
        // A line with numbers is not a header.
        if cells.iter().any(|cell| cell.parse::<f64>().is_ok()) {
            return Ok(None);
        }
        let one = |words: &[Word]| one(cells, words);
        let query = one(&[Word::QueryId, Word::Query])?;
        let document = one(&[Word::DocNo, Word::DocumentId, Word::Document])?;
        let (Some(query), Some(document)) = (query, document) else {
            return Ok(None);
        };
        let query_text = one(&[Word::QueryText, Word::Query])?.filter(|at| *at != query);
        let roles = Roles {
            query,
            is_query_named: word(cells[query]) == Some(Word::Query),
            document,
            query_text,
            first_score: None,
            grade: one(&[Word::Grade])?,
            score: one(&[Word::Score])?,
            rank: one(&[Word::Rank])?,
            text: one(&[Word::Text])?,
        };
        let unknown = cells.iter().filter(|cell| word(cell).is_none());
        Ok(Some(Self {
            is_beir: bare(cells[document]) == "corpusid"
                && roles.score.is_some()
                && roles.rank.is_none(),
            unknown: unknown.map(|cell| (*cell).to_owned()).collect(),
            roles,
        }))
    }
}

/// Whether at least two cells are known column names.
pub(super) fn has_words(cells: &[&str]) -> bool {
    let known = |cell: &&&str| word(cell).is_some_and(|word| word != Word::Other);
    cells.iter().filter(known).count() > 1
}

/// Whether a cell is the name of a column that tables have.
pub(in crate::formats) fn is_column_name(cell: &str) -> bool {
    word(cell).is_some()
}

/// The column with the first of these meanings that occurs in the header.
fn one(cells: &[&str], words: &[Word]) -> Result<Option<usize>, ColumnError> {
    for wanted in words {
        let mut found = (0..)
            .zip(cells)
            .filter(|(_, cell)| word(cell) == Some(*wanted));
        if let Some((at, first)) = found.next() {
            return match found.next() {
                None => Ok(Some(at)),
                Some((_, second)) => Err(ColumnError::SameMeaning(
                    (*first).to_owned(),
                    (*second).to_owned(),
                )),
            };
        }
    }
    Ok(None)
}
