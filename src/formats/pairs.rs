//! Choices between two documents in the formats of annotation tools and arenas.
//!
//! Each format is a module with one [`PairTool`](pair_tool::PairTool).

mod annotated;
mod arena;
mod pair_tool;

use super::answers::AnswerOptions;
use super::problem::Problem;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use pair_tool::PairTool;
pub use pair_tool::{PairAnswer, PairInfo};
use std::fmt;
use std::io::BufRead;

/// All formats, in the order in which they are listed.
static FORMATS: [PairFormat; 4] = [
    PairFormat(&annotated::LABEL_STUDIO),
    PairFormat(&annotated::ARGILLA),
    PairFormat(&annotated::POTATO),
    PairFormat(&arena::Arena),
];

/// A format of choices between two documents.
#[derive(Clone, Copy)]
pub struct PairFormat(&'static dyn PairTool);

/// The choices of a file.
#[derive(Debug, Default)]
pub struct ReadPairs {
    /// In file order; a problem stands for each invalid record.
    pub pairs: Vec<Result<PairAnswer, Problem>>,
    /// Number of answers that say nothing.
    pub unanswered: usize,
}

impl PairFormat {
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

    pub fn info(self) -> &'static PairInfo {
        self.0.info()
    }

    /// Reads a whole file.
    pub fn read(self, reader: &mut dyn BufRead, file: &str, options: &AnswerOptions) -> ReadPairs {
        let mut read = ReadPairs::default();
        read.unanswered = self
            .0
            .read(reader, file, options, &mut |pair| read.pairs.push(pair));
        read
    }

    /// One line of help for each format: what a file looks like, and what it holds.
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

impl fmt::Debug for PairFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PairFormat({})", self.info().name)
    }
}

impl PartialEq for PairFormat {
    fn eq(&self, other: &Self) -> bool {
        self.info().name == other.info().name
    }
}

impl Eq for PairFormat {}

impl ValueEnum for PairFormat {
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
