//! Choices between two documents in the formats of annotation tools and arenas.
//!
//! Each format is a module with one [`PairTool`].

mod annotated;
mod arena;
mod exported_pairs;
mod pair_tool;

use super::answers::AnswerOptions;
use super::listed::{FormatNames, Listed, ListedFormat};
use super::problem::Problem;
pub use exported_pairs::{
    ExportedChoice, ExportedItem, ExportedPair, LostDetails, PairForm, PairWriter,
};
pub use pair_tool::{PairAnswer, PairTool};
use std::io::BufRead;

/// All formats, in the order in which they are listed.
static FORMATS: [PairFormat; 4] = [
    Listed(&annotated::LABEL_STUDIO),
    Listed(&annotated::ARGILLA),
    Listed(&annotated::POTATO),
    Listed(&arena::Arena),
];

/// A format of choices between two documents.
pub type PairFormat = Listed<dyn PairTool>;

/// The choices of a file.
#[derive(Debug, Default)]
pub struct ReadPairs {
    /// In file order; a problem stands for each invalid record.
    pub pairs: Vec<Result<PairAnswer, Problem>>,
    /// Number of answers that say nothing.
    pub unanswered: usize,
}

impl ListedFormat for dyn PairTool {
    fn all() -> &'static [PairFormat] {
        &FORMATS
    }

    fn names(&self) -> &FormatNames {
        &self.info().names
    }

    fn recognizes(&self, start: &str) -> bool {
        PairTool::recognizes(self, start)
    }
}

impl PairForm {
    /// All forms, in the order in which they are listed.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().filter_map(|format| {
            let info = format.0.info();
            Some(Self {
                names: &info.names,
                written: info.written.as_ref()?,
            })
        })
    }
}

impl PairFormat {
    /// Reads a whole file.
    pub fn read(self, reader: &mut dyn BufRead, file: &str, options: &AnswerOptions) -> ReadPairs {
        let mut read = ReadPairs::default();
        read.unanswered = self
            .0
            .read(reader, file, options, &mut |pair| read.pairs.push(pair));
        read
    }
}

#[cfg(test)]
mod tests;
