//! Parses rows of columns strictly into labels and ranked documents.

use super::error::ColumnError;
use super::layout::{Delimiter, Form, LONGEST, Layout, is_iteration, refuse_feature_lists};
use super::row::{GradedDocument, PoolRow, RankedDocument, ScoredText};
use crate::domain::corpus::{DocId, QueryId};
use crate::formats::grade::whole_grade;
use crate::formats::lines::{RestOfFile, TextLines};
use crate::formats::problem::Problem;
use crate::formats::table_rows::TableRows;
use std::io::BufRead;

/// The rows of a file with their line numbers. Reading continues after an invalid row.
pub struct ColumnRows<R, T> {
    rows: Rows<R>,
    layout: Layout,
    parse: ParseCells<T>,
}

type ParseCells<T> = fn(&Layout, &[&str]) -> Result<T, ColumnError>;

enum Rows<R> {
    Lines(TextLines<R>),
    Table(TableRows<RestOfFile<R>>),
}

/// Reads labels; a row without a grade gives `None`. `file` is the file's name in problems.
pub fn read_labels<R: BufRead>(
    reader: R,
    file: &str,
    layout: &Layout,
) -> ColumnRows<R, Option<GradedDocument>> {
    ColumnRows::new(reader, file, layout, Layout::label)
}

/// Reads rankings.
pub fn read_rankings<R: BufRead>(
    reader: R,
    file: &str,
    layout: &Layout,
) -> ColumnRows<R, RankedDocument> {
    ColumnRows::new(reader, file, layout, Layout::ranked)
}

/// Reads rankings with their texts from a table of scores.
pub fn read_scored_texts<R: BufRead>(
    reader: R,
    file: &str,
    layout: &Layout,
) -> ColumnRows<R, ScoredText> {
    ColumnRows::new(reader, file, &layout.first_stage(), Layout::scored_text)
}

/// Reads candidates with all texts from a table that [has pools](Layout::has_pools).
pub fn read_pool_rows<R: BufRead>(
    reader: R,
    file: &str,
    layout: &Layout,
) -> ColumnRows<R, PoolRow> {
    ColumnRows::new(reader, file, layout, Layout::pool_row)
}

impl<R: BufRead, T> ColumnRows<R, T> {
    fn new(reader: R, file: &str, layout: &Layout, parse: ParseCells<T>) -> Self {
        let mut lines = TextLines::new(reader, file).at_most(LONGEST);
        let Form::Headed(style) = layout.form else {
            return Self::of(Rows::Lines(lines), layout, parse);
        };
        let header = lines.next().is_some_and(|line| line.is_ok());
        if !header || layout.delimiter == Delimiter::Spaces {
            return Self::of(Rows::Lines(lines), layout, parse);
        }
        let (line, delimiter) = (lines.number(), layout.delimiter.byte());
        let mut rows = TableRows::new(lines.into_rest(), file, line, delimiter, style);
        // Skip the header, which may be quoted.
        rows.next();
        Self::of(Rows::Table(rows), layout, parse)
    }

    fn of(rows: Rows<R>, layout: &Layout, parse: ParseCells<T>) -> Self {
        Self {
            rows,
            layout: layout.clone(),
            parse,
        }
    }
}

impl<R: BufRead, T> Iterator for ColumnRows<R, T> {
    type Item = Result<(u64, T), Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let (layout, parse) = (&self.layout, self.parse);
        match &mut self.rows {
            Rows::Lines(lines) => {
                let parsed = match lines.next()? {
                    Ok(line) => line
                        .text()
                        .map_err(ColumnError::from)
                        .and_then(|text| parse(layout, &layout.cells(text)?)),
                    Err(problem) => return Some(Err(problem)),
                };
                Some(
                    parsed
                        .map_err(|error| lines.problem(error))
                        .map(|row| (lines.number(), row)),
                )
            }
            Rows::Table(rows) => {
                let parsed = match rows.next()? {
                    Ok(row) => parse(layout, &row.cells().collect::<Vec<_>>()),
                    Err(problem) => return Some(Err(problem)),
                };
                Some(
                    parsed
                        .map_err(|error| rows.problem(error))
                        .map(|row| (rows.number(), row)),
                )
            }
        }
    }
}

impl Layout {
    /// Splits a line without quoted cells.
    fn cells<'a>(&self, line: &'a str) -> Result<Vec<&'a str>, ColumnError> {
        refuse_feature_lists(line)?;
        if self.delimiter == Delimiter::Spaces && line.contains('\t') {
            return Err(ColumnError::TabAmongSpaces);
        }
        let cells = self.delimiter.split(line);
        match self.form {
            Form::Run => refuse_shifted_columns(&cells)?,
            Form::Qrels if cells.len() != self.width => {
                return Err(ColumnError::QrelsWidth(cells.len()));
            }
            Form::Qrels => {
                let iteration = cells.get(1).copied().unwrap_or_default();
                if !is_iteration(iteration) {
                    return Err(ColumnError::Iteration(iteration.to_owned()));
                }
            }
            Form::Bare | Form::Headed(_) => {}
        }
        Ok(cells)
    }

    /// Rejects a row whose number of cells differs from the first line's.
    fn check_width(&self, cells: &[&str]) -> Result<(), ColumnError> {
        if cells.len() == self.width || self.form == Form::Run {
            return Ok(());
        }
        Err(ColumnError::Width {
            found: cells.len(),
            expected: self.width,
            is_comma_separated: cells.len() > self.width && self.delimiter == Delimiter::Comma,
        })
    }

    fn ids(&self, cells: &[&str]) -> Result<(QueryId, DocId), ColumnError> {
        let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
        let (query, document) = (cell(self.roles.query), cell(self.roles.document));
        if query.is_empty() || document.is_empty() {
            return Err(ColumnError::EmptyIdentifier);
        }
        Ok((QueryId::new(query), DocId::new(document)))
    }

    fn label(&self, cells: &[&str]) -> Result<Option<GradedDocument>, ColumnError> {
        let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
        let value = self.roles.grade.map_or("", cell);
        let is_rated = matches!(self.form, Form::Headed(_)) && self.roles.grade != self.roles.score;
        let is_unrated = is_rated && value.is_empty() && !cell(self.roles.query).is_empty();
        // Quepid writes only the query in a row that nobody has rated.
        if is_unrated && (cells.len() == 1 || cells.len() == self.width) {
            return Ok(None);
        }
        self.check_width(cells)?;
        let (query, document) = self.ids(cells)?;
        Ok(Some(GradedDocument {
            query,
            document,
            // Tools that store ratings as decimals write 3.0. BEIR's scores are integers.
            grade: match whole_grade(value) {
                Some(grade) if is_rated => grade,
                _ => grade(value)?,
            },
        }))
    }

    fn ranked(&self, cells: &[&str]) -> Result<RankedDocument, ColumnError> {
        self.check_width(cells)?;
        let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
        let (query, document) = self.ids(cells)?;
        let score = self.roles.score.map(|at| number(cell(at))).transpose()?;
        let rank = self.roles.rank.map(cell);
        let rank = match (rank, score) {
            (None, _) => None,
            // Programs that write scores may leave the rank empty.
            (Some(rank), Some(_)) => rank.parse().ok(),
            (Some(rank), None) => Some(whole("rank", rank)?),
        };
        Ok(RankedDocument {
            query,
            document,
            rank,
            score,
        })
    }

    fn scored_text(&self, cells: &[&str]) -> Result<ScoredText, ColumnError> {
        let RankedDocument {
            query,
            document,
            score,
            ..
        } = self.ranked(cells)?;
        let text = self.roles.text.and_then(|at| cells.get(at));
        Ok(ScoredText {
            query,
            document,
            score: score.ok_or(ColumnError::ScoreMissing)?,
            text: text.map(|text| (*text).to_owned()),
        })
    }
}

impl Layout {
    fn pool_row(&self, cells: &[&str]) -> Result<PoolRow, ColumnError> {
        let ranked = self.ranked(cells)?;
        let text = |at: Option<usize>, name| {
            let cell = at.and_then(|at| cells.get(at)).copied().unwrap_or_default();
            if cell.trim().is_empty() {
                Err(ColumnError::BlankText(name))
            } else {
                Ok(cell.to_owned())
            }
        };
        Ok(PoolRow {
            query_text: text(self.roles.query_text, "query")?,
            text: text(self.roles.text, "document")?,
            ranked,
        })
    }
}

/// Rejects a line of a run with too few columns, or with too many if an identifier before the name
/// may contain a space.
fn refuse_shifted_columns(cells: &[&str]) -> Result<(), ColumnError> {
    let [_, iteration, _, rank, _, _, ..] = cells else {
        return Err(ColumnError::RunWidth(cells.len()));
    };
    let is_certain = is_iteration(iteration) && rank.parse::<i64>().is_ok();
    if cells.len() > 6 && !is_certain {
        return Err(ColumnError::ShiftedRun(cells.len()));
    }
    Ok(())
}

fn grade(text: &str) -> Result<i32, ColumnError> {
    if text.is_empty() {
        return Err(ColumnError::EmptyGrade);
    }
    text.parse()
        .map_err(|_| ColumnError::NotAGrade(text.to_owned()))
}

fn whole(name: &'static str, text: &str) -> Result<i32, ColumnError> {
    text.parse()
        .map_err(|_| wrong_number(name, "a whole number", text))
}

fn number(text: &str) -> Result<f64, ColumnError> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(number) if number.is_infinite() => Err(ColumnError::Infinite(text.to_owned())),
        _ => Err(wrong_number("score", "a number", text)),
    }
}

fn wrong_number(name: &'static str, expected: &'static str, text: &str) -> ColumnError {
    if text.is_empty() {
        return ColumnError::EmptyNumber(name);
    }
    ColumnError::NotANumber {
        name,
        expected,
        found: text.to_owned(),
    }
}
