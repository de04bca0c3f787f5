//! Finds cycles (A over B over C over A) of the ensemble or of one judge, which no order can
//! explain.

use crate::domain::analysis;
use crate::domain::battle::Pair;
use crate::domain::ranking::View;
use crate::domain::vote::{JudgeId, Outcome};
use std::collections::BTreeMap;

/// Scores closer than this to one half are ties, and strengths closer than this are equal, because
/// scores are sums of thirds.
const ROUNDING: f64 = 1e-9;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecidedPair {
    pub winner: usize,
    pub loser: usize,
    /// |s − ½|, in 0..=½.
    pub strength: f64,
    /// |d|: the fitted gap between the two, if both have a score.
    pub gap: Option<f64>,
}

/// Three documents, each of which is preferred to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CyclicTriad {
    /// Pool indexes, ascending.
    pub documents: [usize; 3],
    /// The pair most likely to be wrong: the one with the smallest strength, then the smallest
    /// fitted gap.
    pub weakest: Pair,
    pub strength: f64,
    /// The sum of the strengths of the other two pairs: the evidence against the weakest one.
    pub against: f64,
}

/// Whether a score in 0..=1 is a tie.
pub(super) fn is_tie(score: f64) -> bool {
    (score - 0.5).abs() < ROUNDING
}

/// The decided pairs of a query, by the effective verdict or the mean of the judges' scores, in
/// pool order.
pub fn decided_pairs(view: &View) -> Vec<DecidedPair> {
    decide(view, |pair| view.score_in_force(pair))
}

/// The decided pairs of one judge, in pool order: the direction of its mean ternary outcome, with
/// half its mean margin as strength.
pub fn decided_pairs_of_judge(view: &View, judge: JudgeId) -> Vec<DecidedPair> {
    decide(view, |pair| {
        let (mut outcome, mut margin, mut votes) = (0i32, 0.0, 0u32);
        for record in view
            .battles_of(pair)
            .iter()
            .filter_map(|index| view.rows().battles.get(*index))
        {
            for vote in record.votes.iter().filter(|vote| vote.judge == judge) {
                let towards = if record.battle.b == pair.high() {
                    vote.margin
                } else {
                    vote.margin.flipped()
                };
                outcome += match towards.outcome() {
                    Outcome::A => -1,
                    Outcome::Tie => 0,
                    Outcome::B => 1,
                };
                margin += towards.get();
                votes += 1;
            }
        }
        if votes == 0 || outcome == 0 {
            return None;
        }
        let strength = (margin / f64::from(votes)).abs().max(4.0 * ROUNDING) / 2.0;
        Some(0.5 + f64::from(outcome.signum()) * strength)
    })
}

/// Pairs whose score (for the document with the higher index) is not a tie.
fn decide(view: &View, score: impl Fn(Pair) -> Option<f64>) -> Vec<DecidedPair> {
    let zelo = |document: usize| Some(view.standings.get(document)?.as_ref()?.zelo);
    let mut pairs: Vec<Pair> = view.pairs().collect();
    pairs.sort_unstable();
    pairs
        .into_iter()
        .filter_map(|pair| {
            let score = score(pair).filter(|score| !is_tie(*score))?;
            let (winner, loser) = if score > 0.5 {
                (pair.high(), pair.low())
            } else {
                (pair.low(), pair.high())
            };
            let gap = match (zelo(winner), zelo(loser)) {
                (Some(winner), Some(loser)) => Some((winner - loser).abs()),
                _ => None,
            };
            Some(DecidedPair {
                winner,
                loser,
                strength: (score - 0.5).abs(),
                gap,
            })
        })
        .collect()
}

/// The cyclic triads among decided pairs, the most suspicious first: by the total strength of the
/// other two pairs (descending), then by the strength of the weakest pair (ascending), then in pool
/// order.
pub fn cyclic_triads(edges: &[DecidedPair]) -> Vec<CyclicTriad> {
    let by_pair: BTreeMap<Pair, &DecidedPair> = edges
        .iter()
        .filter_map(|edge| Some((Pair::new(edge.winner, edge.loser)?, edge)))
        .collect();
    let mut triads = Vec::new();
    let decided = by_pair.values().map(|edge| (edge.winner, edge.loser));
    analysis::each_triad(decided, |documents, cyclic| {
        if cyclic {
            triads.extend(triad(documents, &by_pair));
        }
    });
    triads.sort_by_key(|triad| {
        (
            std::cmp::Reverse(rounded(triad.against)),
            rounded(triad.strength),
            triad.documents,
        )
    });
    triads
}

fn triad(documents: [usize; 3], by_pair: &BTreeMap<Pair, &DecidedPair>) -> Option<CyclicTriad> {
    let [x, y, z] = documents;
    let mut sides = [(x, y), (x, z), (y, z)]
        .into_iter()
        .filter_map(|(x, y)| {
            let pair = Pair::new(x, y)?;
            Some((pair, *by_pair.get(&pair)?))
        })
        .collect::<Vec<_>>();
    sides.sort_by(|(_, x), (_, y)| {
        let gap = |edge: &DecidedPair| edge.gap.unwrap_or(f64::INFINITY);
        rounded(x.strength)
            .cmp(&rounded(y.strength))
            .then(gap(x).total_cmp(&gap(y)))
    });
    let (weakest, edge) = *sides.first()?;
    Some(CyclicTriad {
        documents,
        weakest,
        strength: edge.strength,
        against: sides.iter().skip(1).map(|(_, edge)| edge.strength).sum(),
    })
}

fn rounded(strength: f64) -> u64 {
    (strength / ROUNDING).round() as u64
}

/// For each pair that is the weakest of a triad, the sum of the evidence against it over its
/// triads.
pub(super) fn weakest_pairs(triads: &[CyclicTriad]) -> BTreeMap<Pair, f64> {
    let mut sums = BTreeMap::new();
    for triad in triads {
        *sums.entry(triad.weakest).or_insert(0.0) += triad.against;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(winner: usize, loser: usize, strength: f64, gap: f64) -> DecidedPair {
        DecidedPair {
            winner,
            loser,
            strength,
            gap: Some(gap),
        }
    }

    #[test]
    fn the_weakest_pair_of_a_cycle_is_named_and_cycles_against_strong_pairs_come_first() {
        let edges = [
            edge(0, 1, 0.5, 2.0),
            edge(1, 2, 0.5, 1.0),
            edge(2, 0, 1.0 / 6.0, 0.1),
            edge(3, 4, 2.0 / 3.0 - 0.5, 0.3),
            edge(4, 5, 0.5 - 1.0 / 3.0, 0.2),
            edge(5, 3, 0.5, 0.1),
            edge(0, 3, 0.5, 0.1),
        ];
        let triads = cyclic_triads(&edges);
        assert_eq!(triads.len(), 2);
        assert_eq!(triads[0].documents, [0, 1, 2]);
        assert_eq!(Some(triads[0].weakest), Pair::new(0, 2));
        assert_eq!(triads[0].against, 1.0);
        // Two pairs of 2:1 are equally strong despite the rounding of a third, so the smaller gap
        // decides.
        assert_eq!(Some(triads[1].weakest), Pair::new(4, 5));
        let sums = weakest_pairs(&triads);
        assert_eq!(sums.get(&triads[0].weakest), Some(&1.0));
        assert_eq!(sums.len(), 2);
    }
}
