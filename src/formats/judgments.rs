//! Judgments in the formats of other search tools.
//!
//! Each format is a module with one [`ToolFormat`].

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
use super::listed::{FormatNames, Listed, ListedFormat};
use super::problem::{Problem, quoted};
use ratings::Ratings;
pub use read_judgments::ReadJudgments;
use std::io::{self, BufRead, Write};
use tool_format::JudgmentItem;
pub use tool_format::{ExportedLabels, FormatInfo, ToolFormat, comparable_text};

/// All formats, in the order in which they are tried and listed.
static FORMATS: [JudgmentFormat; 8] = [
    Listed(&quepid::Quepid),
    Listed(&quepid_book::QuepidBook),
    Listed(&workbench::Workbench),
    Listed(&rank_eval::RankEval),
    Listed(&ltr::JudgmentList),
    Listed(&annotated_items::LABEL_STUDIO),
    Listed(&annotated_items::ARGILLA),
    Listed(&annotated_items::POTATO),
];

/// A format of judgments.
pub type JudgmentFormat = Listed<dyn ToolFormat>;

impl ListedFormat for dyn ToolFormat {
    fn all() -> &'static [JudgmentFormat] {
        &FORMATS
    }

    fn names(&self) -> &FormatNames {
        &self.info().names
    }

    fn recognizes(&self, start: &str) -> bool {
        ToolFormat::recognizes(self, start)
    }
}

impl JudgmentFormat {
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
}

#[cfg(test)]
mod tests;
