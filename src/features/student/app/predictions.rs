//! A student's predictions matched to the project: by checkpoint, query and pair, with both orders
//! if the student was asked twice.

use crate::app::error::{AppError, FileProblems};
use crate::app::input_files::{display_name, open};
use crate::domain::battle::Pair;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::prediction::PairPrediction;
use crate::formats::predictions::{PredictionLine, read_predictions};
use crate::formats::problem::Problem;
use std::collections::BTreeMap;
use std::path::Path;

/// Why a prediction of a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum PredictionError {
    #[error(
        "the project has no query {:?} with documents {:?} and {:?} (`overrule queries` lists the \
         queries)",
        .query.as_str(),
        .a.as_str(),
        .b.as_str()
    )]
    NotInProject { query: QueryId, a: DocId, b: DocId },
    #[error("the pair was already predicted in this order; keep one of the two")]
    Repeated,
}

/// The index of a query, and one of its pairs.
pub(super) type PairPlace = (usize, Pair);

/// The predictions of one checkpoint.
pub(super) type StepPredictions = BTreeMap<PairPlace, PairPrediction>;

#[derive(Clone, Debug, Default)]
pub(super) struct Predictions {
    /// By step; `None` for a file without steps.
    pub(super) steps: BTreeMap<Option<u64>, StepPredictions>,
    /// Number of lines about queries or documents that the project does not have.
    pub(super) foreign: usize,
}

/// How to treat a line about a query or document that the project does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForeignLine {
    /// Count it and read the others.
    Counted,
    /// Reject the file.
    Refused,
}

impl Predictions {
    /// Reads a whole file, or rejects it with all its problems. `find` returns the indices of a
    /// query and two of its documents.
    pub(super) fn read(
        path: &Path,
        find: impl Fn(&QueryId, &DocId, &DocId) -> Option<(usize, usize, usize)>,
        foreign: ForeignLine,
    ) -> Result<Self, AppError> {
        let name = display_name(path);
        let (lines, wrong) = read_predictions(open(path)?, &name);
        let mut problems = FileProblems::of(path);
        wrong.into_iter().for_each(|problem| problems.add(problem));
        let mut found = Self::default();
        for line in &lines {
            let place = find(&line.query, &line.a, &line.b);
            if let Err(what) = found.add(line, place, foreign) {
                problems.add(Problem::new(&name, Some(line.line), what));
            }
        }
        problems.refuse_any()?;
        if lines.is_empty() {
            Err(AppError::file(
                path,
                "contains no predictions; expected query, a, b, p_a and p_b on each line",
            ))
        } else {
            Ok(found)
        }
    }

    fn add(
        &mut self,
        line: &PredictionLine,
        place: Option<(usize, usize, usize)>,
        foreign: ForeignLine,
    ) -> Result<(), PredictionError> {
        let Some((query, a, b)) = place else {
            self.foreign += 1;
            return match foreign {
                ForeignLine::Counted => Ok(()),
                ForeignLine::Refused => Err(PredictionError::NotInProject {
                    query: line.query.clone(),
                    a: line.a.clone(),
                    b: line.b.clone(),
                }),
            };
        };
        let Some(pair) = Pair::new(a, b) else {
            return Ok(());
        };
        let turned = a == pair.high();
        let predicted = if turned {
            line.predicted.swapped()
        } else {
            line.predicted
        };
        let step = self.steps.entry(line.step).or_default();
        let orders = &mut step.entry((query, pair)).or_default().orders;
        match &mut orders[usize::from(turned)] {
            Some(_) => Err(PredictionError::Repeated),
            place => {
                *place = Some(predicted);
                Ok(())
            }
        }
    }
}
