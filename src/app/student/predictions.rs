//! A student's predictions, found in the project: by checkpoint, query and pair, with both orders where it was asked twice.

use super::judged_pairs::JudgedPairs;
use crate::app::error::{AppError, FileProblems};
use crate::app::input_files::{display_name, open};
use crate::domain::battle::Pair;
use crate::domain::student::OutcomeProbabilities;
use crate::formats::predictions::{PredictionLine, read_predictions};
use crate::formats::problem::Problem;
use std::collections::BTreeMap;
use std::path::Path;

/// A query's place, and one of its pairs.
pub(super) type PairPlace = (usize, Pair);

/// What a student predicts of a pair: A is its lower pool index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PairPrediction {
    /// Shown A first, and shown B first.
    pub(super) orders: [Option<OutcomeProbabilities>; 2],
}

impl PairPrediction {
    /// Of the order that it was asked in, or the mean of both.
    pub(super) fn predicted(self) -> Option<OutcomeProbabilities> {
        match self.orders {
            [Some(one), Some(other)] => Some(one.mean_with(other)),
            [one, other] => one.or(other),
        }
    }

    pub(super) fn both(self) -> Option<(OutcomeProbabilities, OutcomeProbabilities)> {
        self.orders[0].zip(self.orders[1])
    }
}

/// The predictions of one checkpoint.
pub(super) type StepPredictions = BTreeMap<PairPlace, PairPrediction>;

#[derive(Clone, Debug, Default)]
pub(super) struct Predictions {
    /// By step; `None` stands for a file without steps.
    pub(super) steps: BTreeMap<Option<u64>, StepPredictions>,
    /// Lines about queries or documents that the project does not have.
    pub(super) foreign: usize,
}

impl Predictions {
    /// Reads a file whole, or refuses it with everything that is wrong.
    pub(super) fn read(path: &Path, judged: &JudgedPairs) -> Result<Self, AppError> {
        let name = display_name(path);
        let (lines, wrong) = read_predictions(open(path)?, &name);
        let mut problems = FileProblems::of(path);
        wrong.into_iter().for_each(|problem| problems.add(problem));
        let mut found = Self::default();
        for line in &lines {
            if let Err(what) = found.add(line, judged) {
                problems.add(Problem::new(&name, Some(line.line), &what));
            }
        }
        problems.refuse_any()?;
        match lines.is_empty() {
            true => Err(AppError::file(
                path,
                "holds no prediction; expected query, a, b, p_a and p_b a line",
            )),
            false => Ok(found),
        }
    }

    fn add(&mut self, line: &PredictionLine, judged: &JudgedPairs) -> Result<(), String> {
        let Some((query, a, b)) = judged.find(&line.query, &line.a, &line.b) else {
            self.foreign += 1;
            return Ok(());
        };
        let Some(pair) = Pair::new(a, b) else {
            return Ok(());
        };
        let turned = a == pair.high();
        let predicted = match turned {
            true => line.predicted.swapped(),
            false => line.predicted,
        };
        let step = self.steps.entry(line.step).or_default();
        let orders = &mut step.entry((query, pair)).or_default().orders;
        match &mut orders[usize::from(turned)] {
            Some(_) => {
                Err("the pair was predicted in this order before; keep one of the two".to_owned())
            }
            place => {
                *place = Some(predicted);
                Ok(())
            }
        }
    }
}
