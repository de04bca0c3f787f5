//! Pairwise ranking prompting with sliding passes (PRP-Sliding-K; Qin et al. 2024).

use super::call_list::CallList;
use super::validation::compared;
use super::{AnswerError, Call, Ranking, Strategy};
use crate::domain::candidate_question::{Answer, Question};
use std::collections::{HashMap, HashSet};

/// The default number of passes.
pub(super) const PASSES: usize = 10;

/// Each pass moves from the end of the list to its start and swaps two neighbors if the lower one
/// wins in both orders. Answers are cached by ordered pair, so no question is asked twice, and a
/// pass that would change nothing asks nothing.
///
/// Passes are pipelined: each runs two positions behind the previous one, where the list is already
/// settled. The order and the questions are the same as if the passes ran one after another.
#[derive(Debug)]
pub(super) struct Prp {
    order: Vec<usize>,
    /// By pass: the lower position of the next pair; 0 when the pass is done.
    next: Vec<usize>,
    /// Whether the second candidate won, by the candidates shown first and second.
    known: HashMap<(usize, usize), bool>,
    asked: HashSet<(usize, usize)>,
    calls: CallList<(usize, usize)>,
}

impl Prp {
    pub(super) fn new(candidates: usize, passes: usize) -> Self {
        let mut new = Self {
            order: (0..candidates).collect(),
            next: vec![candidates.saturating_sub(1); passes],
            known: HashMap::new(),
            asked: HashSet::new(),
            calls: CallList::default(),
        };
        new.advance();
        new
    }

    /// Maximum number of calls: two per step of each pass, and two per pair.
    pub(super) fn most_calls(candidates: usize, passes: usize) -> usize {
        let steps = candidates.saturating_sub(1);
        passes
            .saturating_mul(2)
            .saturating_mul(steps)
            .min(candidates.saturating_mul(steps))
    }

    /// Continues every pass as far as possible with the answers, and asks the missing questions.
    fn advance(&mut self) {
        for pass in 0..self.next.len() {
            while let Some((left, right)) = self.pair_of(pass) {
                let shown = [(left, right), (right, left)];
                let answers = shown.map(|pair| self.known.get(&pair).copied());
                let [Some(first), Some(second)] = answers else {
                    for pair in shown {
                        if self.asked.insert(pair) {
                            let question = Question::Compare {
                                a: pair.0,
                                b: pair.1,
                            };
                            self.calls.ask(question, pair);
                        }
                    }
                    break;
                };
                let at = self.next[pass];
                if first && !second {
                    self.order.swap(at - 1, at);
                }
                self.next[pass] = at - 1;
            }
        }
    }

    /// The neighbors that the pass looks at next, if the previous pass is far enough ahead.
    fn pair_of(&self, pass: usize) -> Option<(usize, usize)> {
        let at = *self.next.get(pass)?;
        let before = match pass {
            0 => 0,
            _ => *self.next.get(pass - 1)?,
        };
        let settled = before == 0 || before + 2 <= at;
        let left = *self.order.get(at.checked_sub(1)?)?;
        let right = *self.order.get(at)?;
        settled.then_some((left, right))
    }
}

impl Strategy for Prp {
    fn next(&mut self) -> Vec<Call> {
        self.calls.hand_out()
    }

    fn answer(&mut self, id: usize, answer: Answer) -> Result<(), AnswerError> {
        let pair = self.calls.take(id)?;
        let second_wins = self.calls.accept(compared(&answer))?;
        self.known.insert(pair, second_wins);
        if self.known.contains_key(&(pair.1, pair.0)) {
            self.advance();
        }
        Ok(())
    }

    fn outcome(&self) -> Option<Ranking> {
        self.calls.is_over().then(|| Ranking {
            order: self.order.clone(),
            scores: None,
        })
    }

    fn repairs(&self) -> usize {
        self.calls.repairs()
    }
}
