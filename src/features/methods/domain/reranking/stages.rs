//! The stages of a tournament: the number of groups of candidates, and how many candidates advance.

/// Maximum number of candidates in a group.
const GROUP: usize = 20;

/// A stage as ranksmith configures it: groups of one size, each of which selects the same number of
/// candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageConfig {
    pub groups: usize,
    pub size: usize,
    pub selected: usize,
}

impl StageConfig {
    /// Number of candidates that take part.
    pub fn candidates(self) -> usize {
        self.groups.saturating_mul(self.size)
    }

    /// Number of candidates that advance.
    pub fn advancing(self) -> usize {
        self.groups.saturating_mul(self.selected)
    }
}

/// The configured stages for this number of candidates. If it is not the number that they are made
/// for, the candidates are dealt to as many groups, and each group selects as many as configured,
/// but at most all but one.
pub(super) fn configured(configs: &[StageConfig], candidates: usize) -> Vec<Stage> {
    let mut stages = Vec::new();
    let mut left = candidates;
    for config in configs {
        // A group has at least two candidates.
        let groups = config.groups.min(left / 2);
        if groups == 0 {
            break;
        }
        let size_of = |group| left / groups + usize::from(group < left % groups);
        let selected = (0..groups)
            .map(|group| config.selected.min(size_of(group) - 1))
            .sum();
        stages.push(stage(groups, selected));
        left = selected;
    }
    stages
}

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
