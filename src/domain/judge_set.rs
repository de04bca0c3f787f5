//! Sets of judges.

/// Maximum number of judges of a run.
pub const MAX_JUDGES: usize = 128;

/// A set of judges by index in the ensemble, which must be below [`MAX_JUDGES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct JudgeSet(u128);

impl JudgeSet {
    pub const EMPTY: Self = Self(0);

    /// A set of one judge; empty if the index is out of range.
    pub fn one(judge: usize) -> Self {
        Self(if judge < MAX_JUDGES { 1 << judge } else { 0 })
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

    pub fn contains(self, judge: usize) -> bool {
        self.0 & Self::one(judge).0 != 0
    }

    #[must_use]
    pub fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    #[must_use]
    pub fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Adds the judge at this index, or removes it.
    pub fn toggle(&mut self, judge: usize) {
        self.0 ^= Self::one(judge).0;
    }

    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..MAX_JUDGES).filter(move |judge| self.contains(*judge))
    }
}

impl FromIterator<usize> for JudgeSet {
    fn from_iter<I: IntoIterator<Item = usize>>(judges: I) -> Self {
        judges
            .into_iter()
            .fold(Self::EMPTY, |set, judge| set.with(Self::one(judge)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judges_are_a_set() {
        let mut judges: JudgeSet = [0, 2, 127, 128, 2].into_iter().collect();
        assert_eq!(judges.iter().collect::<Vec<_>>(), [0, 2, 127]);
        assert_eq!(judges.len(), 3);
        assert!(judges.contains(2) && !judges.contains(1) && !judges.contains(128));
        assert_eq!(
            judges.without(JudgeSet::one(2)).with(JudgeSet::one(1)),
            [0, 1, 127].into_iter().collect()
        );
        judges.toggle(0);
        judges.toggle(69);
        assert_eq!(judges, [2, 69, 127].into_iter().collect());
        assert_eq!(JudgeSet::first(3).len(), 3);
        assert_eq!(JudgeSet::first(999).len(), MAX_JUDGES);
        assert!(JudgeSet::first(0).is_empty());
    }
}
