//! The stages of a tournament: how many groups the candidates form, and how many go on.

/// Candidates of a group at most.
const GROUP: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stage {
    pub(super) groups: usize,
    /// How many go on, of all groups together.
    pub(super) selected: usize,
}

impl Stage {
    /// How many of the group with this number go on: the groups share them out, the first ones taking what is left over.
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

/// Half of the candidates go on from stage to stage until one is left, in groups of 20 at most whose sizes differ by one at
/// most. 100 candidates take the paper's stages.
pub(super) fn balanced(candidates: usize) -> Vec<Stage> {
    halving(candidates, |left| left.div_ceil(GROUP))
}

/// As ranksmith does: one group, however large, but for 100 candidates.
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
