//! Setwise: a heap sort whose comparisons select the best of a set (Zhuang et al. 2024).

use super::call_list::CallList;
use super::{AnswerError, Call, Ranking, Strategy, Validation};
use crate::domain::candidate_question::{Answer, Question};

/// Default number of candidates shown at once, including the parent.
pub(super) const SET: usize = 3;

/// Default number of ranks to sort.
pub(super) const TOP: usize = 10;

/// A parent is shown with its children, itself first; if a child is the best, the two are swapped.
/// Independent subtrees of the heap are built in parallel. Candidates below the sorted ranks follow
/// in first-stage order.
#[derive(Debug)]
pub(super) struct Setwise {
    candidates: usize,
    heap: Vec<usize>,
    /// Number of children per parent.
    children: usize,
    /// By position in the heap: number of subtrees below it that are still being built.
    unbuilt: Vec<usize>,
    built: bool,
    top: usize,
    best: Vec<usize>,
    validation: Validation,
    calls: CallList<Sift>,
}

/// A candidate being sifted down.
#[derive(Clone, Copy, Debug)]
struct Sift {
    /// The position where it started.
    root: usize,
    at: usize,
    shown: usize,
}

impl Setwise {
    /// Shows `set` candidates at once, at least 2, and sorts the `top` best ones.
    pub(super) fn new(candidates: usize, set: usize, top: usize, validation: Validation) -> Self {
        let children = set.saturating_sub(1).max(1);
        let is_parent = |at: usize| at * children + 1 < candidates;
        let below =
            |at: usize| (at * children + 1..=at * children + children).filter(|&at| is_parent(at));
        let mut new = Self {
            candidates,
            heap: (0..candidates).collect(),
            children,
            unbuilt: (0..candidates).map(|at| below(at).count()).collect(),
            built: candidates < 2,
            top: top.min(candidates),
            best: Vec::new(),
            validation,
            calls: CallList::default(),
        };
        if new.built {
            new.take_out();
        } else {
            (0..candidates)
                .filter(|&at| is_parent(at) && below(at).next().is_none())
                .for_each(|at| new.sift(at, at));
        }
        new
    }

    /// Asks for the best candidate among a position of the heap and its children; at the bottom
    /// there is nothing to ask.
    fn sift(&mut self, root: usize, at: usize) {
        let below = self.heap.iter().skip(at * self.children + 1);
        let mut shown: Vec<usize> = self.heap.get(at).copied().into_iter().collect();
        shown.extend(below.take(self.children));
        if shown.len() > 1 {
            let sift = Sift {
                root,
                at,
                shown: shown.len(),
            };
            let candidates = shown;
            self.calls.ask(Question::Best { candidates }, sift);
        } else {
            self.settled(root);
        }
    }

    /// Called when the subtree with this root is a heap again.
    fn settled(&mut self, root: usize) {
        if !self.built && root > 0 {
            let parent = (root - 1) / self.children;
            if let Some(left) = self.unbuilt.get_mut(parent) {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    self.sift(parent, parent);
                }
            }
            return;
        }
        self.built = true;
        self.take_out();
    }

    /// Removes the best candidates from the heap, until a question must be asked.
    fn take_out(&mut self) {
        while self.best.len() < self.top && !self.heap.is_empty() {
            self.best.push(self.heap.swap_remove(0));
            if self.best.len() < self.top && self.heap.len() > 1 {
                return self.sift(0, 0);
            }
        }
    }
}

impl Strategy for Setwise {
    fn next(&mut self) -> Vec<Call> {
        self.calls.hand_out()
    }

    fn answer(&mut self, id: usize, answer: Answer) -> Result<(), AnswerError> {
        let sift = self.calls.take(id)?;
        let best = self.validation.best(&answer, sift.shown);
        match self.calls.accept_repaired(best)? {
            0 => self.settled(sift.root),
            place => {
                let child = sift.at * self.children + place;
                self.heap.swap(sift.at, child);
                self.sift(sift.root, child);
            }
        }
        Ok(())
    }

    fn outcome(&self) -> Option<Ranking> {
        self.calls.is_over().then(|| {
            let mut order = self.best.clone();
            order.extend((0..self.candidates).filter(|one| !self.best.contains(one)));
            Ranking {
                order,
                scores: None,
            }
        })
    }

    fn repairs(&self) -> usize {
        self.calls.repairs()
    }
}
