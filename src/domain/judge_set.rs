//! Sets of judges.

pub const MAX_JUDGES: usize = 64;

/// A set of judges by index in the ensemble, which must be below [`MAX_JUDGES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct JudgeSet(u64);

impl JudgeSet {
    pub const EMPTY: Self = Self(0);

    /// A set of one judge; empty if the index is out of range.
    pub fn one(seat: usize) -> Self {
        Self(if seat < MAX_JUDGES { 1 << seat } else { 0 })
    }

    pub fn first(judges: usize) -> Self {
        (0..judges.min(MAX_JUDGES)).collect()
    }

    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn contains(self, seat: usize) -> bool {
        !Self::one(seat).without(Self(!self.0)).is_empty()
    }

    #[must_use]
    pub fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    #[must_use]
    pub fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

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
