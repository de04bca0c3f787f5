//! Connectivity of battles: which scores the battles alone can determine.

use super::Observation;

/// The structure of a pool's battles. All lists contain pool indexes in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// For each document, the group of documents linked to it by battles, numbered in the order of
    /// their first documents.
    pub components: Vec<usize>,
    /// Number of such groups.
    pub component_count: usize,
    /// For each document, the set of documents linked to it by wins both ways, numbered in the
    /// order of their first documents.
    pub strong: Vec<usize>,
    /// Number of such sets.
    pub strong_count: usize,
    /// Documents with battles that lost nothing, not even a part of a battle: their score is "at
    /// least".
    pub undefeated: Vec<usize>,
    /// Documents with battles that won nothing: their score is "at most".
    pub winless: Vec<usize>,
    /// Documents without battles: their score is the prior's, 0.
    pub isolated: Vec<usize>,
    /// Documents whose score would diverge without a prior: those outside the largest `strong` set
    /// of their group (the first one in a tie), or the whole group if no set has two documents.
    pub unbounded: Vec<usize>,
}

impl Structure {
    /// Whether the battles alone determine every score (Ford 1957): all documents are reachable
    /// from each other by wins. True for 0 or 1 documents.
    pub fn is_strongly_connected(&self) -> bool {
        self.strong_count <= 1
    }
}

/// The structure of the battles between `documents` documents; skips battles with other documents.
pub fn structure(documents: usize, observations: &[Observation]) -> Structure {
    let mut pairs = Vec::new();
    let mut wins = Vec::new();
    let mut won = vec![false; documents];
    let mut lost = vec![false; documents];
    let mut win = |winner: usize, loser: usize, share: f64| {
        if share > 0.0 {
            wins.push((winner, loser));
            won[winner] = true;
            lost[loser] = true;
        }
    };
    for o in observations {
        if !o.counts() || o.slope == 0.0 || o.a >= documents || o.b >= documents {
            continue;
        }
        let (a, b) = if o.slope > 0.0 {
            (o.a, o.b)
        } else {
            (o.b, o.a)
        };
        pairs.push((a, b));
        win(b, a, o.score);
        win(a, b, 1.0 - o.score);
    }
    let (components, component_count) = groups(documents, pairs.into_iter());
    let (strong, strong_count) = strong_sets(documents, &wins);
    let select = |keep: &dyn Fn(usize) -> bool| (0..documents).filter(|&d| keep(d)).collect();
    let unbounded = outside_the_core(&components, component_count, &strong, strong_count);
    Structure {
        undefeated: select(&|d| won[d] && !lost[d]),
        winless: select(&|d| lost[d] && !won[d]),
        isolated: select(&|d| !won[d] && !lost[d]),
        components,
        component_count,
        strong,
        strong_count,
        unbounded,
    }
}

fn outside_the_core(
    components: &[usize],
    component_count: usize,
    strong: &[usize],
    strong_count: usize,
) -> Vec<usize> {
    let mut sizes = vec![0; strong_count];
    for &set in strong {
        sizes[set] += 1;
    }
    let mut members = vec![0; component_count];
    let mut core = vec![usize::MAX; component_count];
    for (&group, &set) in components.iter().zip(strong) {
        members[group] += 1;
        if core[group] == usize::MAX || sizes[set] > sizes[core[group]] {
            core[group] = set;
        }
    }
    (0..strong.len())
        .filter(|&d| {
            let core = core[components[d]];
            strong[d] != core || (sizes[core] == 1 && members[components[d]] > 1)
        })
        .collect()
}

/// Connected components of documents joined by pairs: a group number for each, from 0 in the order
/// of their first documents, and the number of groups.
pub(super) fn groups(
    documents: usize,
    pairs: impl Iterator<Item = (usize, usize)>,
) -> (Vec<usize>, usize) {
    let mut parent: Vec<usize> = (0..documents).collect();
    for (a, b) in pairs {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent[a.max(b)] = a.min(b);
    }
    let labels: Vec<usize> = (0..documents).map(|d| root(&mut parent, d)).collect();
    number(&labels)
}

fn root(parent: &mut [usize], mut document: usize) -> usize {
    while parent[document] != document {
        parent[document] = parent[parent[document]];
        document = parent[document];
    }
    document
}

/// Renumbers labels below `labels.len()` by first appearance.
fn number(labels: &[usize]) -> (Vec<usize>, usize) {
    let mut names = vec![usize::MAX; labels.len()];
    let mut count = 0;
    let numbered = labels
        .iter()
        .map(|&label| {
            if names[label] == usize::MAX {
                names[label] = count;
                count += 1;
            }
            names[label]
        })
        .collect();
    (numbered, count)
}

/// Tarjan's strongly connected components without recursion.
fn strong_sets(documents: usize, wins: &[(usize, usize)]) -> (Vec<usize>, usize) {
    let mut starts = vec![0; documents + 1];
    for &(winner, _) in wins {
        starts[winner + 1] += 1;
    }
    for d in 0..documents {
        starts[d + 1] += starts[d];
    }
    let mut free = starts.clone();
    let mut losers = vec![0; wins.len()];
    for &(winner, loser) in wins {
        losers[free[winner]] = loser;
        free[winner] += 1;
    }

    const UNSEEN: usize = usize::MAX;
    let mut order = vec![UNSEEN; documents];
    let mut low = vec![0; documents];
    let mut label = vec![UNSEEN; documents];
    let mut next = starts.clone();
    let mut open = Vec::new();
    let mut path = Vec::new();
    let mut seen = 0;
    for first in 0..documents {
        if order[first] != UNSEEN {
            continue;
        }
        path.push(first);
        while let Some(&d) = path.last() {
            if order[d] == UNSEEN {
                order[d] = seen;
                low[d] = seen;
                seen += 1;
                open.push(d);
            }
            if next[d] < starts[d + 1] {
                let loser = losers[next[d]];
                next[d] += 1;
                if order[loser] == UNSEEN {
                    path.push(loser);
                } else if label[loser] == UNSEEN {
                    low[d] = low[d].min(order[loser]);
                }
                continue;
            }
            path.pop();
            if let Some(&above) = path.last() {
                low[above] = low[above].min(low[d]);
            }
            if low[d] == order[d] {
                while let Some(member) = open.pop() {
                    label[member] = d;
                    if member == d {
                        break;
                    }
                }
            }
        }
    }
    number(&label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(documents: usize, battles: &[(usize, usize, f64)]) -> Structure {
        let observations: Vec<_> = battles
            .iter()
            .map(|&(a, b, score)| Observation::new(a, b, score, 1.0))
            .collect();
        structure(documents, &observations)
    }

    #[test]
    fn a_chain_of_wins_leaves_every_document_unbounded() {
        let chain = of(3, &[(0, 1, 1.0), (1, 2, 1.0)]);
        assert_eq!(chain.strong_count, 3);
        assert_eq!((chain.undefeated, chain.winless), (vec![2], vec![0]));
        assert_eq!(chain.unbounded, vec![0, 1, 2]);
    }

    #[test]
    fn only_documents_outside_the_core_are_unbounded() {
        let s = of(
            6,
            &[
                (0, 1, 0.5),
                (1, 2, 0.3),
                (2, 3, 1.0),
                (4, 0, 1.0),
                (3, 3, 1.0),
            ],
        );
        assert_eq!(s.components, vec![0, 0, 0, 0, 0, 1]);
        assert_eq!(s.unbounded, vec![3, 4]);
        assert_eq!(s.isolated, vec![5]);
        assert!(s.component_count > 1);
    }

    #[test]
    fn a_judge_who_prefers_the_worse_document_turns_its_wins_around() {
        let mut upside_down = Observation::new(0, 1, 1.0, 1.0);
        upside_down.slope = -1.0;
        assert_eq!(structure(2, &[upside_down]).undefeated, vec![0]);
        upside_down.slope = 0.0;
        assert_eq!(structure(2, &[upside_down]).isolated, vec![0, 1]);
    }

    #[test]
    fn a_long_cycle_does_not_exhaust_the_stack() {
        let battles: Vec<_> = (0..50_000).map(|d| (d, (d + 1) % 50_000, 1.0)).collect();
        assert!(of(50_000, &battles).is_strongly_connected());
    }
}
