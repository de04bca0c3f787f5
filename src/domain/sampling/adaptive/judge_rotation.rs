//! Rotates through the judges.

use super::state::SamplingState;
use crate::domain::battle::Pair;
use crate::domain::judge_set::JudgeSet;
use crate::domain::sampling::SeededRng;

/// How often each judge has been asked about each document, to give all judges an equal share.
pub(super) struct JudgeRotation {
    judges: usize,
    /// The judge that goes first in a tie.
    first: usize,
    totals: Vec<u32>,
    /// For each document, one count per judge.
    counts: Vec<u32>,
}

impl JudgeRotation {
    pub(super) fn new(state: &SamplingState, rng: &mut SeededRng) -> Self {
        let judges = state.judges();
        let mut rotation = Self {
            judges,
            first: rng.below(judges),
            totals: vec![0; judges],
            counts: vec![0; judges * state.documents()],
        };
        for (pair, seats) in state.all_asked() {
            rotation.seat(pair, seats);
        }
        rotation
    }

    /// The free judge that has been asked least often about the pair's documents, then least often
    /// overall.
    pub(super) fn next(&self, pair: Pair, free: JudgeSet) -> JudgeSet {
        free.iter()
            .min_by_key(|seat| {
                let seen = [pair.low(), pair.high()]
                    .map(|document| self.counts.get(document * self.judges + seat))
                    .map(|count| count.copied().unwrap_or(0));
                let turn = (seat + self.judges - self.first.min(self.judges)) % self.judges.max(1);
                (seen[0] + seen[1], self.totals.get(*seat).copied(), turn)
            })
            .map_or(JudgeSet::EMPTY, JudgeSet::one)
    }

    /// Records that the judges are asked about the pair.
    pub(super) fn seat(&mut self, pair: Pair, judges: JudgeSet) {
        for seat in judges.iter().filter(|seat| *seat < self.judges) {
            for document in [pair.low(), pair.high()] {
                if let Some(count) = self.counts.get_mut(document * self.judges + seat) {
                    *count += 1;
                }
            }
            if let Some(total) = self.totals.get_mut(seat) {
                *total += 1;
            }
        }
    }
}
