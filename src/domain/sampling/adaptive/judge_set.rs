//! Judges by their seat in the ensemble, and whose turn it is.

use super::SamplingState;
use crate::domain::battle::Pair;
use crate::domain::sampling::SeededRng;

/// The most judges an ensemble may have here.
pub const MAX_JUDGES: usize = 64;

/// A set of judges, by seat: the judge's place in the ensemble, from 0 and below [`MAX_JUDGES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct JudgeSet(u64);

impl JudgeSet {
    /// No judge.
    pub const EMPTY: Self = Self(0);

    /// One judge; nobody where there is no such seat.
    pub fn one(seat: usize) -> Self {
        Self(if seat < MAX_JUDGES { 1 << seat } else { 0 })
    }

    /// The first `judges` seats.
    pub fn first(judges: usize) -> Self {
        (0..judges.min(MAX_JUDGES)).collect()
    }

    /// How many judges.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is no judge.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the judge at `seat` is among them.
    pub fn contains(self, seat: usize) -> bool {
        !Self::one(seat).without(Self(!self.0)).is_empty()
    }

    /// These and those.
    #[must_use]
    pub fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// These without those.
    #[must_use]
    pub fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// The seats in ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..MAX_JUDGES).filter(move |seat| self.contains(*seat))
    }
}

impl FromIterator<usize> for JudgeSet {
    fn from_iter<I: IntoIterator<Item = usize>>(seats: I) -> Self {
        seats
            .into_iter()
            .fold(Self::EMPTY, |set, seat| set.with(Self::one(seat)))
    }
}

/// How often each judge has been asked about each document, so that everyone gets the same share.
pub(super) struct JudgeRotation {
    judges: usize,
    /// The seat that is first in line where nothing else decides.
    first: usize,
    totals: Vec<u32>,
    /// Document by document, one count a seat.
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

    /// The free judge that has seen the pair's documents least often, then the one asked least often of all.
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

    /// Notes that the judges are asked about the pair.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_are_a_set() {
        let seats: JudgeSet = [0, 2, 63, 64, 2].into_iter().collect();
        assert_eq!(seats.iter().collect::<Vec<_>>(), [0, 2, 63]);
        assert_eq!(seats.len(), 3);
        assert!(seats.contains(2) && !seats.contains(1) && !seats.contains(64));
        assert_eq!(
            seats.without(JudgeSet::one(2)).with(JudgeSet::one(1)),
            [0, 1, 63].into_iter().collect()
        );
        assert_eq!(JudgeSet::first(3).len(), 3);
        assert_eq!(JudgeSet::first(99).len(), MAX_JUDGES);
        assert!(JudgeSet::first(0).is_empty());
    }
}
