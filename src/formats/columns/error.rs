//! Why a file cannot be read as labels or rankings in columns.

use crate::formats::lines::NotText;
use crate::formats::problem::quoted;

/// Names of the columns that a header needs.
const NAMES: &str = "query_id, doc_id and score, rank or rating";
const RUN: &str = "a line of a run has 6: query, Q0, document, rank, score, name";

/// Why a first line or a row cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(in crate::formats) enum ColumnError {
    #[error(transparent)]
    NotText(#[from] NotText),
    #[error("its lines end with carriage returns alone; save it with line feeds")]
    CarriageReturns,
    #[error(
        "is a line of a judgment list for learning to rank (qid: and #), which cannot be among other \
         columns and is not a ranking"
    )]
    FeatureList,
    #[error(
        "has {0} between its cells; save it with commas or tabs between them, and with decimal \
         points"
    )]
    Delimiter(&'static str),
    #[error(
        "has semicolons between its cells; save it with commas or tabs between them, under a \
         header, and with decimal points"
    )]
    SemicolonsWithoutHeader,
    #[error("the text of the {0} is empty; judges cannot read it")]
    BlankText(&'static str),
    #[error(
        "is a table of pairs; `overrule import votes`, `overrule student import` and `overrule \
         gold import` read such tables"
    )]
    TableOfPairs,
    #[error(
        "is a header that names no column of queries or none of documents; the first line must \
         name {NAMES}"
    )]
    HeaderLacksIds,
    #[error("has {0} columns and no header; the first line must name them: {NAMES}")]
    NoHeader(usize),
    #[error(
        "begins with {}, which is neither qrels (4 columns), a run (6 columns), a table whose \
         first line names {NAMES}, nor JSON",
        quoted(.0)
    )]
    UnknownContent(String),
    #[error("the columns {0} and {1} mean the same; remove or rename one of them")]
    SameMeaning(String, String),
    #[error("no column of the header is a rating, relevance, label or grade")]
    NoGrade,
    #[error(
        "no column of the header is a score or a rank, and {} may be anything; name it score, \
         rank or rating, or remove it, or read judges of a book of Quepid with --as quepid-book",
        .unknown.join(", ")
    )]
    NoScore { unknown: Vec<String> },
    #[error(
        "has a tab, and the first line has spaces between its columns; use one of them in the \
         whole file"
    )]
    TabAmongSpaces,
    #[error("{}; a line of qrels has 4: query, iteration, document, grade", columns(*.0))]
    QrelsWidth(usize),
    #[error(
        "the second column of qrels is the iteration (0 or Q0), found {}; give other columns a \
         header",
        quoted(.0)
    )]
    Iteration(String),
    #[error("{}; {RUN}", columns(*.0))]
    RunWidth(usize),
    #[error("{}; {RUN}; separate identifiers with spaces by tabs", columns(*.0))]
    ShiftedRun(usize),
    #[error(
        "{} where the first line has {expected}{}",
        columns(*.found),
        if *.is_comma_separated { "; quote a cell that has a comma, and write decimal points" } else { "" }
    )]
    Width {
        found: usize,
        expected: usize,
        is_comma_separated: bool,
    },
    #[error("an identifier is empty")]
    EmptyIdentifier,
    #[error("has no score")]
    ScoreMissing,
    #[error("the grade is empty; scores belong in a run")]
    EmptyGrade,
    #[error("the {0} is empty")]
    EmptyNumber(&'static str),
    #[error("the {name} {} is not {expected}{}", quoted(.found), decimal_comma(.found))]
    NotANumber {
        name: &'static str,
        expected: &'static str,
        found: String,
    },
    #[error(
        "the grade {} is not a whole number{}; scores belong in a run",
        quoted(.0),
        decimal_comma(.0)
    )]
    NotAGrade(String),
    #[error("the score {} is infinite; write a finite score, or remove the row", quoted(.0))]
    Infinite(String),
}

fn columns(count: usize) -> String {
    match count {
        1 => "has 1 column".to_owned(),
        count => format!("has {count} columns"),
    }
}

/// A hint for a number with a decimal comma; otherwise empty.
pub(in crate::formats) fn decimal_comma(text: &str) -> String {
    let pointed = text.replacen(',', ".", 1);
    if text.contains(',') && pointed.parse::<f64>().is_ok() {
        format!("; write it with a decimal point: {pointed}")
    } else {
        String::new()
    }
}
