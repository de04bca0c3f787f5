//! The content of a report. Texts are free of control characters; the formats escape them.

/// A report on a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectReport {
    pub project: String,
    /// When it was made.
    pub made: String,
    /// The program that made it, with its version.
    pub program: String,
    /// What was judged, by whom and at what cost: names with values.
    pub facts: Vec<(&'static str, String)>,
    /// Notes to the reader, one sentence each.
    pub notes: Vec<String>,
    /// One sentence about the judges together.
    pub judges_in_short: String,
    pub judges: Vec<ReportedJudge>,
    /// All queries, one row each.
    pub overview: ReportTable,
    /// The queries with a section.
    pub queries: Vec<ReportedQuery>,
    /// Results of features, such as comparisons of methods.
    pub results: Vec<ReportedResult>,
}

/// A judge, with what its votes show about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportedJudge {
    pub name: String,
    pub model: String,
    pub sentence: String,
    /// Position, agreement, votes and cost, one sentence each.
    pub details: Vec<String>,
}

/// A query with its matrices, scores and conspicuous battles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportedQuery {
    /// A name that is unique in the page.
    pub anchor: String,
    pub id: String,
    pub text: String,
    pub sentences: Vec<String>,
    /// Both orders as SVG; `None` without scores.
    pub orders: Option<String>,
    pub scores: Option<ReportTable>,
    /// The pairs that people decided.
    pub decided: Vec<ReportedPair>,
    /// Number of decided pairs that are not in [`Self::decided`].
    pub decided_more: usize,
    /// The most surprising battles without a verdict.
    pub surprising: Vec<ReportedPair>,
}

/// A pair of documents with what judges and people said about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportedPair {
    /// The names of A and B.
    pub names: [String; 2],
    /// The texts of A and B.
    pub texts: [String; 2],
    /// The result of the votes, the verdict and its notes.
    pub facts: Vec<String>,
    pub votes: Vec<ReportedVote>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportedVote {
    pub judge: String,
    /// Its preference, or its failure.
    pub said: String,
    /// In the order of the columns; empty if it has none.
    pub reasoning: String,
}

/// A result of a feature.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportedResult {
    pub heading: String,
    pub sentences: Vec<String>,
    pub table: Option<ReportTable>,
    pub picture: Option<String>,
    /// Lines whose columns are aligned.
    pub lines: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportTable {
    pub columns: Vec<ReportColumn>,
    pub rows: Vec<Vec<String>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportColumn {
    pub name: String,
    pub is_number: bool,
}

impl ReportTable {
    /// A table whose columns of numbers begin with `>`.
    pub fn new<S: AsRef<str>>(columns: &[S], rows: Vec<Vec<String>>) -> Self {
        let columns = columns.iter().map(|name| {
            let name = name.as_ref();
            ReportColumn {
                name: name.trim_start_matches('>').to_owned(),
                is_number: name.starts_with('>'),
            }
        });
        Self {
            columns: columns.collect(),
            rows,
        }
    }

    /// The cells of a row, each with whether it is a number.
    pub fn cells<'a>(&'a self, row: &'a [String]) -> impl Iterator<Item = (bool, &'a String)> {
        self.columns.iter().map(|column| column.is_number).zip(row)
    }
}
