//! Judgments exported from a book of Quepid: a CSV file with the columns `query`, `docid` and one
//! per judge. A blank cell is a document that the judge has not rated. Since the names of judges may
//! be anything, the user must name the format.

use super::tool_format::{
    ExportedLabels, FormatInfo, JudgmentItem, Rating, ReadItem, ToolFormat, unwritable,
};
use crate::domain::corpus::{DocId, QueryId};
use crate::formats::answers::{AnswerOptions, no_answers_of};
use crate::formats::columns::{GradedDocument, is_column_name};
use crate::formats::grade::whole_grade;
use crate::formats::listed::FormatNames;
use crate::formats::problem::{Problem, quoted};
use crate::formats::table_rows::{CellStyle, TableRows};
use std::io::{self, BufRead, Write};

static INFO: FormatInfo = FormatInfo {
    names: FormatNames {
        name: "quepid-book",
        describe: "judgments of a book (Quepid)",
        looks_like: "query,docid,JUDGE,… (only with --as)",
    },
    file_words: "CSV (.csv)",
    endings: &["csv"],
    needs_index: false,
    writes_documents: false,
    is_written: false,
    unrated: "row",
};

pub(super) struct QuepidBook;

impl ToolFormat for QuepidBook {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    /// Columns with other names may be anything: such a file is only read if the user says so.
    fn recognizes(&self, _: &str) -> bool {
        false
    }

    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &AnswerOptions,
        found: &mut dyn FnMut(ReadItem),
    ) {
        let mut rows = TableRows::new(reader, file, 1, b',', CellStyle::Trimmed);
        let judges = match rows.next() {
            None => return found(Err(Problem::new(file, None, "is empty"))),
            Some(Err(problem)) => return found(Err(problem)),
            Some(Ok(row)) => judges_of(row.cells()),
        };
        let Some(judges) = judges else {
            let what = "is not the header of a book of Quepid, which is query,docid and a column \
                        with the name of each judge";
            return found(Err(rows.problem(what)));
        };
        if let Some(name) = repeated(&judges) {
            let what = format!("two judges are called {}; rename one of them", quoted(name));
            return found(Err(rows.problem(what)));
        }
        if let Some(wanted) = &options.rater
            && !judges.contains(wanted)
        {
            let people = judges.iter().cloned().collect();
            return found(Err(no_answers_of(file, wanted, &people)));
        }
        loop {
            let read = match rows.next() {
                None => return,
                Some(Err(problem)) => Err(problem),
                Some(Ok(row)) => Ok(ratings(&row.cells().collect::<Vec<_>>(), &judges, options)),
            };
            let line = rows.number();
            match read {
                Err(problem) => found(Err(problem)),
                Ok(Err(what)) => found(Err(rows.problem(what))),
                Ok(Ok(ratings)) if ratings.is_empty() => found(Ok(JudgmentItem::Unrated)),
                Ok(Ok(ratings)) => {
                    for (rater, label) in ratings {
                        found(Ok(JudgmentItem::Rating(Rating {
                            line,
                            label,
                            rater,
                            may_be_text: false,
                        })));
                    }
                }
            }
        }
    }

    fn write(&self, _: &mut dyn Write, _: &ExportedLabels<'_>) -> io::Result<()> {
        Err(unwritable(
            "Quepid reads no such files; use --form quepid for the ratings of a case".to_owned(),
        ))
    }
}

/// The judges that a header names; `None` if it is not that of a book.
fn judges_of<'a>(mut cells: impl Iterator<Item = &'a str>) -> Option<Vec<String>> {
    let has = |cell: Option<&str>, name: &str| {
        cell.is_some_and(|cell| cell.trim().eq_ignore_ascii_case(name))
    };
    if !has(cells.next(), "query") || !has(cells.next(), "docid") {
        return None;
    }
    let judges: Vec<String> = cells.map(|cell| cell.trim().to_owned()).collect();
    // A column of grades, scores or texts is not a judge.
    let is_judge = |name: &String| !is_column_name(name) && name.parse::<f64>().is_err();
    (!judges.is_empty() && judges.iter().all(is_judge)).then_some(judges)
}

fn repeated(judges: &[String]) -> Option<&str> {
    let is_repeated = |(at, name): &(usize, &String)| judges[..*at].contains(name);
    let mut names = judges.iter().enumerate();
    names.find(is_repeated).map(|(_, name)| name.as_str())
}

/// The grades of a row with their judges, as far as they are wanted.
fn ratings(
    cells: &[&str],
    judges: &[String],
    options: &AnswerOptions,
) -> Result<Vec<(String, GradedDocument)>, String> {
    let wanted = judges.len() + 2;
    if cells.len() > wanted {
        return Err(format!("has {} cells, the header {wanted}", cells.len()));
    }
    let cell = |at: usize| cells.get(at).map_or("", |cell| cell.trim());
    if cell(0).is_empty() {
        return Err("query: is empty".to_owned());
    }
    if cell(1).is_empty() {
        return Err("docid: is empty".to_owned());
    }
    let rated = judges
        .iter()
        .enumerate()
        .filter(|(at, judge)| options.wants(Some(judge)) && !cell(at + 2).is_empty());
    rated
        .map(|(at, judge)| {
            let text = cell(at + 2);
            let grade = whole_grade(text)
                .ok_or_else(|| format!("{judge}: {} is not a whole number", quoted(text)))?;
            let label = GradedDocument {
                query: QueryId::new(cell(0)),
                document: DocId::new(cell(1)),
                grade,
            };
            Ok((judge.clone(), label))
        })
        .collect()
}
