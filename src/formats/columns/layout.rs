//! Determines from the first line how to parse the lines of a file.

use super::error::ColumnError;
use super::header::{Header, Roles, has_words};
use crate::formats::own_tables::{is_own_header, is_sbr_header};
use crate::formats::table_rows::{CellStyle, TableRows};

/// The longest line without a header, and the longest header, in bytes.
pub(in crate::formats) const LONGEST: u64 = 1 << 20;

/// The column with the score after boosting in the CSV of `overrule sbr`, whose `score` is the one
/// before.
const SBR_AFTER: &str = "sbr_score";

/// The content of the rows of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableContent {
    Labels,
    Rankings,
}

/// The separator of the cells of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delimiter {
    Tab,
    Comma,
    /// Whitespace; the first line contains no tab.
    Spaces,
}

/// The form of a file, according to its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// TREC's qrels.
    Qrels,
    /// TREC's run.
    Run,
    /// No header; the user specifies the content.
    Bare,
    Headed(CellStyle),
}

/// How to parse the rows of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub content: TableContent,
    pub(super) form: Form,
    pub(super) delimiter: Delimiter,
    /// Number of cells in a row.
    pub(super) width: usize,
    pub(super) roles: Roles,
}

impl Delimiter {
    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Tab => b'\t',
            Self::Comma => b',',
            Self::Spaces => b' ',
        }
    }

    /// Splits a line without quoted cells.
    pub(super) fn split(self, line: &str) -> Vec<&str> {
        match self {
            Self::Tab => line.split('\t').map(str::trim_ascii).collect(),
            Self::Comma => line.split(',').map(str::trim_ascii).collect(),
            Self::Spaces => line.split_ascii_whitespace().collect(),
        }
    }
}

impl Layout {
    /// The layout of a file that starts with `line`; `wanted` is the content specified by the user.
    ///
    /// # Errors
    /// If the line does not determine the content of the file, or contradicts `wanted`.
    pub(in crate::formats) fn of(
        line: &str,
        wanted: Option<TableContent>,
    ) -> Result<Self, ColumnError> {
        refuse_feature_lists(line)?;
        if line.trim_end_matches('\r').contains('\r') {
            return Err(ColumnError::CarriageReturns);
        }
        for delimiter in [Delimiter::Tab, Delimiter::Comma] {
            let cells = header_cells(line, delimiter.byte());
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            if let Some(layout) = Self::headed(&cells, delimiter, wanted)? {
                return Ok(layout);
            }
        }
        refused_delimiter(line, |cells| Ok(Header::of(cells)?.is_some()))?;
        match Self::headed(&Delimiter::Spaces.split(line), Delimiter::Spaces, wanted)? {
            Some(layout) => Ok(layout),
            None => Self::without_header(line, wanted).ok_or_else(|| unknown_content(line)),
        }
    }

    /// The content of the file, as part of a sentence.
    pub fn describe(&self) -> &'static str {
        match (self.content, self.form) {
            (TableContent::Labels, _) => "labels (qrels)",
            (TableContent::Rankings, Form::Run) => "a run",
            (TableContent::Rankings, _) if self.roles.score.is_some() => "rankings",
            (TableContent::Rankings, _) => "a list of candidates",
        }
    }

    /// Whether the queries may be named by their texts: a header calls the column `query`, and no
    /// other column has identifiers or texts of queries.
    pub fn may_name_texts(&self) -> bool {
        matches!(self.form, Form::Headed(_))
            && self.roles.is_query_named
            && self.roles.query_text.is_none()
    }

    /// For a table of labels that also has scores or ranks, the layout of its rankings.
    pub fn rankings_too(&self) -> Option<Self> {
        let Roles { score, rank, .. } = self.roles;
        let has_both = matches!(self.form, Form::Headed(_)) && self.roles.grade != score;
        (has_both && score.or(rank).is_some()).then(|| Self {
            content: TableContent::Rankings,
            ..self.clone()
        })
    }

    /// Whether the file is a table of scores with a header, which may also contain texts.
    pub fn is_table_of_scores(&self) -> bool {
        matches!(self.form, Form::Headed(_))
            && self.content == TableContent::Rankings
            && self.roles.score.is_some()
    }

    /// Whether the file is a table of candidates with the texts of queries and documents, so that
    /// pools can be made of it.
    pub fn has_pools(&self) -> bool {
        let Roles {
            query_text, text, ..
        } = self.roles;
        matches!(self.form, Form::Headed(_))
            && self.content == TableContent::Rankings
            && query_text.is_some()
            && text.is_some()
    }

    /// For a table written by `overrule sbr`, the layout with the scores before boosting.
    pub(super) fn first_stage(&self) -> Self {
        let mut layout = self.clone();
        layout.roles.score = self.roles.first_score.or(self.roles.score);
        layout
    }

    /// The layout of a table with a header; `None` if the cells are not a header.
    fn headed(
        cells: &[&str],
        delimiter: Delimiter,
        wanted: Option<TableContent>,
    ) -> Result<Option<Self>, ColumnError> {
        let Some(header) = Header::of(cells)? else {
            return Ok(None);
        };
        let mut roles = header.roles;
        if is_sbr_header(cells) {
            roles.first_score = roles.score;
            roles.score = cells.iter().position(|cell| *cell == SBR_AFTER);
        }
        let is_labels = roles.grade.is_some() || header.is_beir;
        let content = wanted.unwrap_or(if is_labels {
            TableContent::Labels
        } else {
            TableContent::Rankings
        });
        if content == TableContent::Labels {
            roles.grade = roles.grade.or(roles.score);
            if roles.grade.is_none() {
                return Err(ColumnError::NoGrade);
            }
        } else if roles.score.or(roles.rank).is_none() {
            let grade = roles.grade.map(|at| cells[at].to_owned());
            let unknown: Vec<String> = header.unknown.into_iter().chain(grade).collect();
            if !unknown.is_empty() {
                return Err(ColumnError::NoScore { unknown });
            }
        }
        let is_own = delimiter == Delimiter::Comma && is_own_header(cells);
        Ok(Some(Self {
            content,
            form: Form::Headed(if is_own {
                CellStyle::Ours
            } else {
                CellStyle::Trimmed
            }),
            delimiter,
            width: cells.len(),
            roles,
        }))
    }

    /// The layout of one of TREC's files, or of columns specified by the user; `None` if the number
    /// of columns does not match.
    fn without_header(line: &str, wanted: Option<TableContent>) -> Option<Self> {
        let delimiter = if line.contains('\t') {
            Delimiter::Tab
        } else {
            Delimiter::Spaces
        };
        let cells = delimiter.split(line);
        let width = cells.len();
        // Prose and programs also have lines of four or six words.
        let is_trec = |numbers: &[usize]| {
            let is_number = |at: &usize| cells[*at].parse::<f64>().is_ok();
            wanted.is_some() || is_iteration(cells[1]) || numbers.iter().all(is_number)
        };
        let trec = |content, form, width, roles| Self {
            content,
            form,
            delimiter,
            width,
            roles: Roles {
                document: 2,
                ..roles
            },
        };
        match (width, wanted) {
            (4, None | Some(TableContent::Labels)) if is_trec(&[3]) => {
                let roles = Roles {
                    grade: Some(3),
                    ..Roles::default()
                };
                return Some(trec(TableContent::Labels, Form::Qrels, 4, roles));
            }
            (6.., None | Some(TableContent::Rankings)) if is_trec(&[3, 4]) => {
                let roles = Roles {
                    rank: Some(3),
                    score: Some(4),
                    ..Roles::default()
                };
                return Some(trec(TableContent::Rankings, Form::Run, 6, roles));
            }
            _ => {}
        }
        let by_words = Self::bare(line, delimiter, wanted?);
        let by_commas = match delimiter {
            Delimiter::Spaces => Self::bare(line, Delimiter::Comma, wanted?),
            _ => None,
        };
        // A line that can be split both ways is ambiguous.
        by_words.xor(by_commas)
    }

    /// The layout of columns without a header.
    fn bare(line: &str, delimiter: Delimiter, content: TableContent) -> Option<Self> {
        let width = delimiter.split(line).len();
        let (grade, score, rank) = match (content, width) {
            (TableContent::Labels, 3) => (Some(2), None, None),
            (TableContent::Rankings, 2) => (None, None, None),
            (TableContent::Rankings, 3) => (None, Some(2), None),
            (TableContent::Rankings, 4) => (None, Some(3), Some(2)),
            _ => return None,
        };
        Some(Self {
            content,
            form: Form::Bare,
            delimiter,
            width,
            roles: Roles {
                document: 1,
                grade,
                score,
                rank,
                ..Roles::default()
            },
        })
    }
}

/// The cells of a header; empty if its quotes are broken.
fn header_cells(line: &str, delimiter: u8) -> Vec<String> {
    let mut rows = TableRows::new(line.as_bytes(), "", 1, delimiter, CellStyle::Trimmed);
    match rows.next() {
        Some(Ok(row)) => row.cells().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Rejects a header with a delimiter other than tabs and commas; `is_header` recognizes a header.
pub(in crate::formats) fn refused_delimiter(
    line: &str,
    is_header: impl Fn(&[&str]) -> Result<bool, ColumnError>,
) -> Result<(), ColumnError> {
    for (delimiter, name) in [(';', "semicolons"), ('|', "vertical bars")] {
        let cells = line
            .split(delimiter)
            .map(|cell| cell.trim().trim_matches('"'));
        if is_header(&cells.collect::<Vec<_>>())? {
            return Err(ColumnError::Delimiter(name));
        }
    }
    Ok(())
}

/// Rejects judgment lists for learning to rank, which are not columns.
pub(super) fn refuse_feature_lists(line: &str) -> Result<(), ColumnError> {
    let mut words = line.split_ascii_whitespace();
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    if second.starts_with("qid:") || first == "#" && !is_iteration(second) {
        return Err(ColumnError::FeatureList);
    }
    Ok(())
}

/// Whether a cell may be the second one of a line in TREC's files, which is never used: Q0, or a
/// small number.
pub(super) fn is_iteration(cell: &str) -> bool {
    let number = cell.parse::<f64>();
    cell.eq_ignore_ascii_case("q0") || number.is_ok_and(|number| (0.0..1000.0).contains(&number))
}

/// The error for a first line without a header.
fn unknown_content(line: &str) -> ColumnError {
    let delimiter = if line.contains('\t') {
        Delimiter::Tab
    } else if line.contains(',') && !line.trim().contains(' ') {
        Delimiter::Comma
    } else {
        Delimiter::Spaces
    };
    let cells = delimiter.split(line);
    if ["query", "a", "b"].iter().all(|name| cells.contains(name)) {
        return ColumnError::TableOfPairs;
    }
    if line.contains(';') && cells.len() == 1 {
        return ColumnError::SemicolonsWithoutHeader;
    }
    if has_words(&cells) {
        return ColumnError::HeaderLacksIds;
    }
    // A line with more words may be prose.
    let is_table = match delimiter {
        Delimiter::Spaces => (2..4).contains(&cells.len()),
        _ => cells.len() > 1,
    };
    if is_table {
        ColumnError::NoHeader(cells.len())
    } else {
        ColumnError::UnknownContent(line.trim().to_owned())
    }
}
