//! The stages of a tournament: the number of groups of candidates, and how many candidates advance.

/// Maximum number of candidates in a group.
const GROUP: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stage {
    pub(super) groups: usize,
    /// Number of candidates that advance, over all groups.
    pub(super) selected: usize,
}

impl Stage {
    /// Number of candidates of this group that advance: divided evenly among the groups, with the
    /// remainder going to the first ones.
    pub(super) fn selected_of(self, group: usize) -> usize {
        let groups = self.groups.max(1);
        self.selected / groups + usize::from(group < self.selected % groups)
    }
}

const fn stage(groups: usize, selected: usize) -> Stage {
    Stage { groups, selected }
}

/// The stages of the paper: 100 → 50 → 20 → 10 → 5 → 2 (Chen et al. 2024).
const HUNDRED: [Stage; 5] = [
    stage(5, 50),
    stage(5, 20),
    stage(1, 10),
    stage(1, 5),
    stage(1, 2),
];

/// Half of the candidates advance from each stage to the next until one is left, in groups of at
/// most 20 whose sizes differ by at most one. 100 candidates use the stages of the paper.
pub(super) fn balanced(candidates: usize) -> Vec<Stage> {
    halving(candidates, |left| left.div_ceil(GROUP))
}

/// As in ranksmith: a single group of any size, except for 100 candidates.
pub(super) fn single_group(candidates: usize) -> Vec<Stage> {
    halving(candidates, |_| 1)
}

fn halving(candidates: usize, groups: impl Fn(usize) -> usize) -> Vec<Stage> {
    if candidates == 100 {
        return HUNDRED.to_vec();
    }
    let mut stages = Vec::new();
    let mut left = candidates;
    while left > 1 {
        let selected = left / 2;
        stages.push(stage(groups(left), selected));
        left = selected;
    }
    stages
}
