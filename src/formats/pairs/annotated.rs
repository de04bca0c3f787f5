//! Choices between two documents in the exports of annotation tools.

use super::pair_tool::{PairAnswer, PairTool};
use crate::formats::answers::{
    AnswerOptions, AnswerTool, AnsweredPair, Argilla, LabelStudio, Potato, read_answers,
};
use crate::formats::listed::FormatNames;
use crate::formats::problem::Problem;
use std::io::BufRead;

/// Choices in the export of an annotation tool.
pub(super) struct AnnotatedPairs {
    tool: &'static dyn AnswerTool,
    names: FormatNames,
}

pub(super) static LABEL_STUDIO: AnnotatedPairs = AnnotatedPairs {
    tool: &LabelStudio,
    names: FormatNames {
        name: "label-studio",
        describe: "choices between two documents (Label Studio)",
        looks_like: "tasks with \"data\" and \"annotations\"",
    },
};

pub(super) static ARGILLA: AnnotatedPairs = AnnotatedPairs {
    tool: &Argilla,
    names: FormatNames {
        name: "argilla",
        describe: "choices between two documents (Argilla)",
        looks_like: "records with \"fields\" and \"responses\"",
    },
};

pub(super) static POTATO: AnnotatedPairs = AnnotatedPairs {
    tool: &Potato,
    names: FormatNames {
        name: "potato",
        describe: "choices between two documents (Potato)",
        looks_like: "lines with \"instance_id\" and \"labels\"",
    },
};

impl PairTool for AnnotatedPairs {
    fn names(&self) -> &FormatNames {
        &self.names
    }

    fn recognizes(&self, start: &str) -> bool {
        self.tool.recognizes(start)
    }

    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &AnswerOptions,
        found: &mut dyn FnMut(Result<PairAnswer, Problem>),
    ) -> usize {
        let answers = read_answers(self.tool, reader, file, options, &mut |problem| {
            found(Err(problem));
        });
        for pair in answers.pairs(file, self.tool, options) {
            found(pair.and_then(|pair| answer(pair, file)));
        }
        answers.unanswered
    }
}

fn answer(pair: AnsweredPair, file: &str) -> Result<PairAnswer, Problem> {
    let by = pair.rater.filter(|rater| !rater.trim().is_empty());
    let by = by.ok_or_else(|| {
        let what = "does not say who has chosen, which a verdict needs";
        Problem::new(file, Some(pair.line), what)
    })?;
    Ok(PairAnswer {
        line: pair.line,
        query: pair.query,
        a: pair.a,
        b: pair.b,
        by,
        choice: pair.choice,
        note: String::new(),
        created_ms: pair.created_ms,
    })
}
