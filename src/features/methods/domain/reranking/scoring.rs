//! Asks a service, a program or a file one question about all candidates.

use super::call_list::CallList;
use super::pointwise::by_scores;
use super::{AnswerError, Call, Ranking, Strategy, Validation};
use crate::domain::candidate_question::{Answer, Question};

/// Highest score first, or the order returned instead of scores. Any other answer makes the query
/// fail.
#[derive(Debug)]
pub(super) struct Scoring {
    candidates: Vec<usize>,
    validation: Validation,
    ranking: Option<Ranking>,
    calls: CallList<()>,
}

impl Scoring {
    pub(super) fn new(candidates: usize, validation: Validation) -> Self {
        let mut new = Self {
            candidates: (0..candidates).collect(),
            validation,
            ranking: None,
            calls: CallList::default(),
        };
        let candidates = new.candidates.clone();
        if candidates.is_empty() {
            new.ranking = Some(Ranking {
                order: candidates,
                scores: None,
            });
        } else {
            new.calls.ask(Question::Score { candidates }, ());
        }
        new
    }

    fn read(&self, answer: &Answer) -> Result<(Ranking, bool), AnswerError> {
        match answer {
            Answer::Scores(scores) => {
                let (expected, found) = (self.candidates.len(), scores.len());
                if found != expected {
                    return Err(AnswerError::ScoreCount { expected, found });
                }
                if let Some(bad) = scores.iter().find(|score| !score.is_finite()) {
                    return Err(AnswerError::NotFinite(*bad));
                }
                let scores: Vec<Option<f64>> = scores.iter().copied().map(Some).collect();
                let order = by_scores(&scores);
                let scores = Some(scores);
                Ok((Ranking { order, scores }, false))
            }
            Answer::Numbers(_) => {
                let (order, repaired) = self.validation.ranked(answer, &self.candidates)?;
                let scores = None;
                Ok((Ranking { order, scores }, repaired))
            }
            other => Err(AnswerError::unusable(other)),
        }
    }
}

impl Strategy for Scoring {
    fn next(&mut self) -> Vec<Call> {
        self.calls.hand_out()
    }

    fn answer(&mut self, id: usize, answer: Answer) -> Result<(), AnswerError> {
        self.calls.take(id)?;
        let read = self.read(&answer);
        self.ranking = Some(self.calls.accept_repaired(read)?);
        Ok(())
    }

    fn outcome(&self) -> Option<Ranking> {
        self.ranking.clone()
    }

    fn repairs(&self) -> usize {
        self.calls.repairs()
    }
}
