//! Judgments in the formats of other search tools.
//!
//! Each format is a module with one [`ToolFormat`](tool_format::ToolFormat). Everything else follows from the list of them:
//! how files are recognized, the values of the options, the help and the error messages.

mod annotated_items;
mod ltr;
mod quepid;
mod quepid_book;
mod rank_eval;
mod rated_lists;
mod ratings;
mod read_judgments;
mod tool_format;
mod workbench;

use super::answers::AnswerOptions;
use super::problem::{Problem, quoted};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use ratings::Ratings;
pub use read_judgments::ReadJudgments;
use std::fmt;
use std::io::{self, BufRead, Write};
pub use tool_format::{ExportedLabels, FormatInfo, comparable_text};
use tool_format::{JudgmentItem, ToolFormat};

/// All formats, in the order in which they are tried and listed.
static FORMATS: [JudgmentFormat; 8] = [
    JudgmentFormat(&quepid::Quepid),
    JudgmentFormat(&quepid_book::QuepidBook),
    JudgmentFormat(&workbench::Workbench),
    JudgmentFormat(&rank_eval::RankEval),
    JudgmentFormat(&ltr::JudgmentList),
    JudgmentFormat(&annotated_items::LABEL_STUDIO),
    JudgmentFormat(&annotated_items::ARGILLA),
    JudgmentFormat(&annotated_items::POTATO),
];

/// A format of judgments.
#[derive(Clone, Copy)]
pub struct JudgmentFormat(&'static dyn ToolFormat);

impl JudgmentFormat {
    /// The format of a file that begins with `start`, without leading whitespace.
    ///
    /// # Errors
    /// If it may be one of several, which are named.
    pub fn recognize(start: &str) -> Result<Option<Self>, String> {
        let formats = FORMATS.iter().copied();
        let found: Vec<Self> = formats
            .filter(|format| format.0.recognizes(start))
            .collect();
        match found.as_slice() {
            [] => Ok(None),
            [format] => Ok(Some(*format)),
            several => {
                let names = several.iter().map(|format| {
                    let info = format.info();
                    format!("{} (--as {})", info.describe, info.name)
                });
                let names: Vec<String> = names.collect();
                Err(format!(
                    "may hold {}; say which with --as",
                    names.join(" or ")
                ))
            }
        }
    }

    pub fn info(self) -> &'static FormatInfo {
        self.0.info()
    }

    /// Reads a whole file. Calls `report` with each problem.
    pub fn read(
        self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &AnswerOptions,
        report: &mut dyn FnMut(Problem),
    ) -> ReadJudgments {
        let mut read = ReadJudgments::default();
        let mut ratings = Ratings::default();
        self.0.read(reader, file, options, &mut |item| match item {
            Ok(JudgmentItem::Label(line, label)) => {
                read.collected.add(line, label, file, report);
            }
            Ok(JudgmentItem::Rating(rating)) => {
                ratings.add(rating, options, file, report);
            }
            Ok(JudgmentItem::Text(line, query, text)) => {
                let problem = match read.texts.get(&query) {
                    Some(known) if *known != text => format!(
                        "query {} has another text on an earlier line; keep one",
                        quoted(query.as_str())
                    ),
                    _ => {
                        read.texts.insert(query, text);
                        return;
                    }
                };
                report(Problem::new(file, Some(line), problem));
            }
            Ok(JudgmentItem::Unrated) => read.collected.unrated += 1,
            Err(problem) => report(problem),
        });
        ratings.settle(options, file, &mut read, report);
        read
    }

    /// Writes labels. Use a buffered `out`.
    ///
    /// # Errors
    /// If the format cannot represent a query or a document, or if a needed text or the name of the
    /// index is missing.
    pub fn write(self, out: &mut dyn Write, labels: &ExportedLabels<'_>) -> io::Result<()> {
        self.0.write(out, labels)
    }

    /// One line of help for each format: its name, and what a file looks like.
    pub fn help_lines() -> String {
        FORMATS
            .iter()
            .map(|format| {
                let info = format.info();
                format!("  {:<38}  {}\n", info.looks_like, info.describe)
            })
            .collect()
    }
}

impl fmt::Debug for JudgmentFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JudgmentFormat({})", self.info().name)
    }
}

impl PartialEq for JudgmentFormat {
    fn eq(&self, other: &Self) -> bool {
        self.info().name == other.info().name
    }
}

impl Eq for JudgmentFormat {}

impl ValueEnum for JudgmentFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &FORMATS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let info = self.info();
        Some(PossibleValue::new(info.name).help(info.describe))
    }
}

#[cfg(test)]
mod tests;
