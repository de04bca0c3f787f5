//! Active top-K selection: knockouts in K groups, and a heap of their champions (Mohajer et al.
//! 2017), with one call per pair in random order (Figueiredo Paschmann et al. 2026,
//! arXiv:2605.14236).

use super::call_list::CallList;
use super::single_comparison::SingleComparison;
use super::validation::compared;
use super::{AnswerError, Call, CallBounds, Ranking, Strategy};
use crate::domain::battle::Pair;
use crate::domain::candidate_question::{Answer, Question};
use std::collections::HashMap;

/// Default number of ranks to select, and of groups.
pub(super) const TOP: usize = 10;

/// The candidates are dealt to K groups in first-stage order. A knockout in each group selects its
/// champion, and the champions form a heap. K times, the best champion is taken, and the next one
/// of its group, selected by another knockout of the remaining candidates, is added to the heap.
/// All matches of a level are asked at once, and so are a knockout and the heap's comparison.
///
/// Answers are kept, so no pair is asked twice. A pair is asked once, with its candidates in random
/// order, and the answer always names a winner. Below the K best follow the champions that are left
/// in the heap, and then the others in first-stage order. After the last selection nothing is
/// asked; the authors' code still refills the heap.
#[derive(Debug)]
pub(super) struct Mohajer {
    candidates: usize,
    seed: u64,
    top: usize,
    /// The candidates that are not selected, in first-stage order.
    groups: Vec<Vec<usize>>,
    /// Groups whose champions are not in the heap.
    without_champion: Vec<usize>,
    /// Champions, each better than those at twice its position plus 1 and 2.
    heap: Vec<usize>,
    /// Whether the root of the heap was selected, and must be replaced.
    root_taken: bool,
    best: Vec<usize>,
    /// Winners by pair.
    known: HashMap<Pair, usize>,
    calls: CallList<SingleComparison>,
}

/// Pairs whose winners are not known yet.
#[derive(Debug, Default)]
struct Missing(Vec<Pair>);

impl Mohajer {
    /// Selects the `top` best ones, from 1.
    pub(super) fn new(candidates: usize, top: usize, seed: u64) -> Self {
        let top = top.min(candidates);
        let group = |first: usize| (first..candidates).step_by(top).collect();
        let mut new = Self {
            candidates,
            seed,
            top,
            groups: (0..top).map(group).collect(),
            without_champion: (0..top).collect(),
            heap: Vec::new(),
            root_taken: false,
            best: Vec::new(),
            known: HashMap::new(),
            calls: CallList::default(),
        };
        new.advance();
        new
    }

    /// Maximum number of calls: the first knockouts, and for each champion its way up the heap; for
    /// each selection but the last, the way of its replacement down and up the heap, and a knockout
    /// of the rest of its group. There are at most as many as pairs.
    pub(super) fn most_calls(candidates: usize, top: usize) -> usize {
        let groups = top.min(candidates);
        if groups == 0 {
            return 0;
        }
        let group = candidates.div_ceil(groups);
        let depth = groups.ilog2() as usize;
        let selection = 3 * depth + group.saturating_sub(2);
        let first = candidates - groups + groups * depth;
        let all = (groups - 1).saturating_mul(selection).saturating_add(first);
        all.min(candidates.saturating_mul(candidates - 1) / 2)
    }

    /// The expected number of calls is the mean over simulated queries, the others are bounds: at
    /// least, every candidate but one loses once.
    pub(super) fn calls(candidates: usize, top: usize) -> CallBounds {
        CallBounds {
            least: candidates.saturating_sub(1),
            most: Self::most_calls(candidates, top),
            ..CallBounds::simulated(candidates, |n| Box::new(Self::new(n, top, 0)))
        }
    }

    /// Continues as far as possible with the answers, and asks the missing questions.
    fn advance(&mut self) {
        let mut missing = Missing::default();
        while self.best.len() < self.top && self.step(&mut missing).is_some() {}
        for pair in missing.0 {
            let comparison = SingleComparison::new(pair, self.seed);
            let question = Question::Compare {
                a: comparison.first,
                b: comparison.second,
            };
            self.calls.ask(question, comparison);
        }
    }

    /// Completes the heap and selects the best champion; `None` if answers are missing.
    fn step(&mut self, missing: &mut Missing) -> Option<()> {
        let champions: Vec<Option<usize>> = self
            .without_champion
            .iter()
            .map(|group| self.champion(self.groups.get(*group)?, missing))
            .collect();
        if self.root_taken {
            self.heap = self.without_root(missing)?;
            self.root_taken = false;
        }
        for champion in champions.into_iter().collect::<Option<Vec<usize>>>()? {
            self.heap = self.with(champion, missing)?;
            self.without_champion.remove(0);
        }
        let best = *self.heap.first()?;
        self.best.push(best);
        self.root_taken = true;
        let group = best % self.top;
        if let Some(rest) = self.groups.get_mut(group) {
            rest.retain(|candidate| *candidate != best);
            if !rest.is_empty() {
                self.without_champion.push(group);
            }
        }
        Some(())
    }

    /// The winner of a knockout: neighbors meet, and without one a candidate advances.
    fn champion(&self, group: &[usize], missing: &mut Missing) -> Option<usize> {
        let mut left = group.to_vec();
        while left.len() > 1 {
            let winners: Vec<Option<usize>> = left
                .chunks(2)
                .map(|pair| match *pair {
                    [one, other] => self.winner(one, other, missing),
                    _ => pair.first().copied(),
                })
                .collect();
            left = winners.into_iter().collect::<Option<_>>()?;
        }
        left.first().copied()
    }

    /// The heap with another champion.
    fn with(&self, champion: usize, missing: &mut Missing) -> Option<Vec<usize>> {
        let mut heap = self.heap.clone();
        heap.push(champion);
        let last = heap.len() - 1;
        self.rise(&mut heap, last, missing)?;
        Some(heap)
    }

    /// The heap without its root: the better child moves up at each level down to the bottom, and
    /// the last champion rises from there.
    fn without_root(&self, missing: &mut Missing) -> Option<Vec<usize>> {
        let mut heap = self.heap.clone();
        let last = heap.pop()?;
        let mut at = 0;
        while let Some(&left) = heap.get(2 * at + 1) {
            let better = match heap.get(2 * at + 2) {
                Some(&right) if self.winner(left, right, missing)? == right => 2 * at + 2,
                _ => 2 * at + 1,
            };
            heap.swap(at, better);
            at = better;
        }
        if let Some(place) = heap.get_mut(at) {
            *place = last;
        }
        self.rise(&mut heap, at, missing)?;
        Some(heap)
    }

    /// Moves a champion up as long as it is better than its parent.
    fn rise(&self, heap: &mut [usize], mut at: usize, missing: &mut Missing) -> Option<()> {
        while at > 0 {
            let parent = (at - 1) / 2;
            let pair = [at, parent].map(|place| heap.get(place).copied());
            let [Some(one), Some(above)] = pair else {
                break;
            };
            if self.winner(one, above, missing)? == above {
                break;
            }
            heap.swap(at, parent);
            at = parent;
        }
        Some(())
    }

    /// The better of two candidates; `None` if their match is not decided.
    fn winner(&self, one: usize, other: usize, missing: &mut Missing) -> Option<usize> {
        let pair = Pair::new(one, other)?;
        let winner = self.known.get(&pair).copied();
        if winner.is_none() {
            missing.0.push(pair);
        }
        winner
    }
}

impl Strategy for Mohajer {
    fn next(&mut self) -> Vec<Call> {
        self.calls.hand_out()
    }

    fn answer(&mut self, id: usize, answer: Answer) -> Result<(), AnswerError> {
        let SingleComparison {
            pair,
            first,
            second,
        } = self.calls.take(id)?;
        let second_wins = self.calls.accept(compared(&answer))?;
        self.known
            .insert(pair, if second_wins { second } else { first });
        if self.calls.is_over() {
            self.advance();
        }
        Ok(())
    }

    fn outcome(&self) -> Option<Ranking> {
        self.calls.is_over().then(|| {
            let mut order = self.best.clone();
            order.extend(self.heap.iter().skip(1));
            let mut placed = vec![false; self.candidates];
            for candidate in &order {
                if let Some(place) = placed.get_mut(*candidate) {
                    *place = true;
                }
            }
            order.extend((0..self.candidates).filter(|at| placed.get(*at) == Some(&false)));
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
