//! RankGPT: a window that slides from the end of the list to its start and is ranked as a whole
//! (Sun et al. 2023).

use super::call_list::CallList;
use super::{AnswerError, Call, Ranking, Strategy, Validation};
use crate::domain::candidate_question::{Answer, Question};

/// Default number of candidates shown at once.
pub(super) const WINDOW: usize = 20;

/// Default distance by which the window moves.
pub(super) const STRIDE: usize = 10;

/// Every window has exactly `window` candidates: the last one is aligned with the start of the
/// list, whereas the authors' code would leave the first candidates unseen. A single candidate is
/// asked about as well, as in ranksmith.
#[derive(Debug)]
pub(super) struct RankGpt {
    order: Vec<usize>,
    window: usize,
    stride: usize,
    validation: Validation,
    /// The purpose of each call: the start of its window and the window's candidates.
    calls: CallList<(usize, Vec<usize>)>,
}

impl RankGpt {
    /// Creates the strategy; `stride` is at most `window`.
    pub(super) fn new(
        candidates: usize,
        window: usize,
        stride: usize,
        validation: Validation,
    ) -> Self {
        let window = window.max(1);
        let mut new = Self {
            order: (0..candidates).collect(),
            window,
            stride: stride.clamp(1, window),
            validation,
            calls: CallList::default(),
        };
        new.ask(candidates.saturating_sub(window));
        new
    }

    /// Number of calls: 1 for up to a window, and 1 + ⌈(n − w) / s⌉ for more.
    pub(super) fn calls(candidates: usize, window: usize, stride: usize) -> usize {
        match candidates {
            0 => 0,
            _ => 1 + candidates.saturating_sub(window).div_ceil(stride.max(1)),
        }
    }

    fn ask(&mut self, start: usize) {
        let shown: Vec<usize> = self
            .order
            .iter()
            .skip(start)
            .take(self.window)
            .copied()
            .collect();
        if !shown.is_empty() {
            let candidates = shown.clone();
            self.calls
                .ask(Question::Rank { candidates }, (start, shown));
        }
    }
}

impl Strategy for RankGpt {
    fn next(&mut self) -> Vec<Call> {
        self.calls.hand_out()
    }

    fn answer(&mut self, id: usize, answer: Answer) -> Result<(), AnswerError> {
        let (start, shown) = self.calls.take(id)?;
        let ranked = self.validation.ranked(&answer, &shown);
        let ranked = self.calls.accept_repaired(ranked)?;
        for (place, candidate) in self.order.iter_mut().skip(start).zip(ranked) {
            *place = candidate;
        }
        if start > 0 {
            self.ask(start.saturating_sub(self.stride));
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
