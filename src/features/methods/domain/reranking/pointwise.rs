//! Grades each candidate separately.

use super::call_list::CallList;
use super::validation::graded;
use super::{AnswerError, Call, Ranking, Strategy};
use crate::domain::candidate_question::{Answer, GradeScale, Question};

/// Best grade first; ties keep the first-stage order.
#[derive(Debug)]
pub(super) struct Pointwise {
    grades: Vec<Option<f64>>,
    /// Whether candidates may remain without a grade, which puts them last.
    gaps: bool,
    calls: CallList<usize>,
}

impl Pointwise {
    pub(super) fn new(candidates: usize, scale: GradeScale, gaps: bool) -> Self {
        let mut calls = CallList::default();
        for candidate in 0..candidates {
            calls.ask(Question::Grade { candidate, scale }, candidate);
        }
        Self {
            grades: vec![None; candidates],
            gaps,
            calls,
        }
    }
}

impl Strategy for Pointwise {
    fn next(&mut self) -> Vec<Call> {
        self.calls.hand_out()
    }

    fn answer(&mut self, id: usize, answer: Answer) -> Result<(), AnswerError> {
        let candidate = self.calls.take(id)?;
        let grade = match graded(&answer) {
            Err(_) if self.gaps => None,
            graded => Some(self.calls.accept(graded)?),
        };
        if let Some(place) = self.grades.get_mut(candidate) {
            *place = grade;
        }
        Ok(())
    }

    fn outcome(&self) -> Option<Ranking> {
        self.calls.is_over().then(|| Ranking {
            order: by_scores(&self.grades),
            scores: Some(self.grades.clone()),
        })
    }

    fn repairs(&self) -> usize {
        self.calls.repairs()
    }
}

/// Highest score first, candidates without a score last; ties keep the first-stage order.
pub(super) fn by_scores(scores: &[Option<f64>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let key = |at: &usize| scores.get(*at).copied().flatten();
    order.sort_by(|x, y| match (key(x), key(y)) {
        (Some(x), Some(y)) => y.total_cmp(&x),
        (x, y) => y.is_some().cmp(&x.is_some()),
    });
    order
}
