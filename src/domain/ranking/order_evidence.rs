//! Explains why one document is ranked above another: their own battles, their common opponents,
//! and the chain of wins from one to the other.

use super::View;
use crate::domain::battle::Pair;
use std::collections::{BTreeMap, VecDeque};

/// An opponent of both documents, with each one's share against it, in 0..=1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommonOpponent {
    /// Pool index.
    pub document: usize,
    pub a: f64,
    pub b: f64,
}

impl CommonOpponent {
    /// How much it separates the two: positive if A did better against it.
    pub fn apart(&self) -> f64 {
        self.a - self.b
    }
}

/// A win, with the winner's share, above ½.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WinLink {
    pub winner: usize,
    pub loser: usize,
    pub share: f64,
}

/// The evidence for the order of two documents. Shares come from the effective verdict, or else
/// from the mean of the pair's battles.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderEvidence {
    pub a: usize,
    pub b: usize,
    /// P(A is truly better than B), from the fit and its covariance.
    pub above: Option<f64>,
    /// The fitted probability that A wins a battle against B.
    pub expected: Option<f64>,
    /// A's share in their own battles.
    pub direct: Option<f64>,
    /// The opponents that separate the two most come first, then in pool order.
    pub common: Vec<CommonOpponent>,
    /// The wins that lead from the document with the higher score to the other: among all chains
    /// the one with the largest minimum share, and the shortest of those. Empty if there is no
    /// chain.
    pub chain: Vec<WinLink>,
}

impl OrderEvidence {
    /// The weakest link of the chain (the first one in a tie), which is the one to doubt.
    pub fn weakest(&self) -> Option<WinLink> {
        let mut links = self.chain.iter().copied();
        let first = links.next()?;
        Some(links.fold(first, |weakest, link| {
            if link.share < weakest.share {
                link
            } else {
                weakest
            }
        }))
    }
}

/// Each document's opponents, with its share against them.
type Shares = Vec<BTreeMap<usize, f64>>;

impl View {
    /// The evidence for the order of two documents; `None` for a document and itself, and for one
    /// outside the pool.
    pub fn order_evidence(&self, a: usize, b: usize) -> Option<OrderEvidence> {
        let pair = Pair::new(a, b).filter(|pair| pair.high() < self.rows.documents)?;
        let mut shares: Shares = vec![BTreeMap::new(); self.rows.documents];
        for pair in self.pairs() {
            if let Some(score) = self.score_in_force(pair) {
                shares[pair.high()].insert(pair.low(), score);
                shares[pair.low()].insert(pair.high(), 1.0 - score);
            }
        }
        let mut common: Vec<CommonOpponent> = shares[a]
            .iter()
            .filter_map(|(document, own)| {
                let other = *shares[b].get(document)?;
                Some(CommonOpponent {
                    document: *document,
                    a: *own,
                    b: other,
                })
            })
            .collect();
        common.sort_by(|x, y| y.apart().abs().total_cmp(&x.apart().abs()));
        let zelo = |document: usize| self.standings[document].map(|standing| standing.zelo);
        let (upper, lower) = if zelo(a) < zelo(b) { (b, a) } else { (a, b) };
        Some(OrderEvidence {
            a,
            b,
            above: self.outranks(a, b),
            expected: self.expected(a, b),
            direct: self
                .score_in_force(pair)
                .map(|score| if a == pair.high() { score } else { 1.0 - score }),
            common,
            chain: widest_chain(&shares, upper, lower),
        })
    }
}

/// The chain of wins between two documents with the largest minimum share: the threshold is found
/// by bisection, the chain by breadth-first search.
fn widest_chain(shares: &Shares, from: usize, to: usize) -> Vec<WinLink> {
    let mut steps: Vec<f64> = shares
        .iter()
        .flat_map(|row| row.values().copied())
        .filter(|share| *share > 0.5 + super::EVEN)
        .collect();
    steps.sort_unstable_by(f64::total_cmp);
    steps.dedup();
    // Thresholds for which a chain exists come first.
    let open = steps.partition_point(|least| shortest_chain(shares, from, to, *least).is_some());
    let least = open.checked_sub(1).and_then(|at| steps.get(at));
    least
        .and_then(|least| shortest_chain(shares, from, to, *least))
        .unwrap_or_default()
}

fn shortest_chain(shares: &Shares, from: usize, to: usize, least: f64) -> Option<Vec<WinLink>> {
    let mut came_from: Vec<Option<usize>> = vec![None; shares.len()];
    let mut waiting = VecDeque::from([from]);
    while let Some(winner) = waiting.pop_front() {
        for (loser, share) in &shares[winner] {
            if *share >= least && *loser != from && came_from[*loser].is_none() {
                came_from[*loser] = Some(winner);
                waiting.push_back(*loser);
            }
        }
    }
    let mut chain = Vec::new();
    let mut loser = to;
    while loser != from {
        let winner = came_from[loser]?;
        let share = *shares[winner].get(&loser)?;
        chain.push(WinLink {
            winner,
            loser,
            share,
        });
        loser = winner;
    }
    chain.reverse();
    Some(chain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::{Battle, BattleId};
    use crate::domain::ranking::{BattleRecord, QueryRows, RankingSettings};
    use crate::domain::verdict::{Decision, Verdict};
    use crate::domain::vote::{JudgeId, Margin, Vote};
    use proptest::prelude::*;

    /// Battles as (A, B, the votes of three judges: −1 for A, 0 a tie, 1 for B).
    fn view(documents: usize, battles: &[(usize, usize, [i8; 3])]) -> View {
        let battle = |(at, (a, b, votes)): (usize, &(usize, usize, [i8; 3]))| BattleRecord {
            battle: Battle {
                id: BattleId(at as i64),
                a: *a,
                b: *b,
                game: 0,
            },
            votes: votes
                .iter()
                .enumerate()
                .map(|(judge, margin)| Vote {
                    judge: JudgeId(judge as i64),
                    margin: Margin::new(f64::from(*margin)).unwrap(),
                    swapped: false,
                })
                .collect(),
            failed: Vec::new(),
            asked: None,
        };
        let rows = QueryRows {
            documents,
            depth: Some(documents),
            judges: (0..3).map(JudgeId).collect(),
            battles: battles.iter().enumerate().map(battle).collect(),
            ..QueryRows::default()
        };
        View::new(rows, RankingSettings::default())
    }

    #[test]
    fn evidence_as_counted_by_hand() {
        // 0 and 4 never met. 0 beat 1 3 : 0 and 2 2 : 1, and lost to 3 1 : 2; 1 beat 4 2 : 1, 2
        // beat 4 3 : 0, and 3 and 4 are tied.
        let view = view(
            5,
            &[
                (0, 1, [-1, -1, -1]),
                (2, 0, [1, 1, -1]),
                (0, 3, [1, 1, -1]),
                (4, 1, [1, 1, -1]),
                (2, 4, [-1, -1, -1]),
                (3, 4, [0, 0, 0]),
            ],
        );
        let evidence = view.order_evidence(0, 4).unwrap();
        assert_eq!(evidence.direct, None);
        let near = |one: f64, other: f64| (one - other).abs() < 1e-12;
        let common: Vec<(usize, f64, f64)> = evidence
            .common
            .iter()
            .map(|common| (common.document, common.a, common.b))
            .collect();
        let expected = [
            (1, 1.0, 1.0 / 3.0),
            (2, 2.0 / 3.0, 0.0),
            (3, 1.0 / 3.0, 0.5),
        ];
        assert_eq!(common.len(), 3);
        for ((document, a, b), (want, of_a, of_b)) in common.into_iter().zip(expected) {
            assert!(
                document == want && near(a, of_a) && near(b, of_b),
                "{document} {a} {b}"
            );
        }
        assert!(near(evidence.common[0].apart(), 2.0 / 3.0));
        // Both chains have a link of 2 : 1; the one through 1 comes first in pool order.
        let ways: Vec<(usize, usize)> = evidence
            .chain
            .iter()
            .map(|link| (link.winner, link.loser))
            .collect();
        assert_eq!(ways, [(0, 1), (1, 4)]);
        let weakest = evidence.weakest().unwrap();
        assert_eq!((weakest.winner, weakest.loser), (1, 4));
        assert!(near(weakest.share, 2.0 / 3.0));
        assert!(evidence.above.unwrap() > 0.5 && evidence.expected.unwrap() > 0.5);
    }

    #[test]
    fn a_verdict_counts_in_place_of_the_votes() {
        let plain = view(
            3,
            &[
                (0, 1, [-1, -1, -1]),
                (1, 2, [-1, -1, 1]),
                (0, 2, [-1, 1, 1]),
            ],
        );
        let mut rows = plain.rows().clone();
        rows.verdicts.push(Verdict {
            uid: "v".to_owned(),
            a: 2,
            b: 0,
            decision: Decision::MuchB,
            note: None,
            annotator: "ann".to_owned(),
            created_ms: 1,
        });
        let view = View::new(rows, RankingSettings::default());
        assert_eq!(view.order_evidence(0, 2).unwrap().direct, Some(1.0));
        assert_eq!(view.order_evidence(2, 0).unwrap().direct, Some(0.0));
        let evidence = plain.order_evidence(0, 2).unwrap();
        assert!((evidence.direct.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn no_wins_lead_from_a_document_that_only_tied() {
        let view = view(2, &[(0, 1, [0, 0, 0])]);
        let evidence = view.order_evidence(0, 1).unwrap();
        assert!(evidence.chain.is_empty() && evidence.weakest().is_none());
        assert_eq!(evidence.direct, Some(0.5));
        assert_eq!(evidence.above, Some(0.5));
        assert_eq!(view.order_evidence(1, 1), None);
        assert_eq!(view.order_evidence(0, 2), None);
    }

    prop_compose! {
        fn battles()(
            list in proptest::collection::vec((0usize..7, 1usize..7, [-1i8..=1, -1i8..=1, -1i8..=1]), 1..30),
        ) -> Vec<(usize, usize, [i8; 3])> {
            list.into_iter().map(|(a, step, votes)| (a, (a + step) % 7, votes)).collect()
        }
    }

    proptest! {
        #[test]
        fn the_two_sides_of_a_pair_agree(battles in battles(), a in 0usize..7, step in 1usize..7) {
            let b = (a + step) % 7;
            let view = view(7, &battles);
            let (one, other) = (view.order_evidence(a, b).unwrap(), view.order_evidence(b, a).unwrap());
            if let (Some(above), Some(below)) = (one.above, other.above) {
                prop_assert!((above + below - 1.0).abs() < 1e-9);
            }
            if let (Some(wins), Some(loses)) = (one.expected, other.expected) {
                prop_assert!((wins + loses - 1.0).abs() < 1e-9);
            }
            prop_assert_eq!(one.direct.is_some(), other.direct.is_some());
            prop_assert!((one.direct.unwrap_or(0.5) + other.direct.unwrap_or(0.5) - 1.0).abs() < 1e-9);
            prop_assert_eq!(one.common.len(), other.common.len());
            prop_assert!(one.common.is_sorted_by(|x, y| x.apart().abs() >= y.apart().abs()));
        }

        #[test]
        fn a_chain_leads_down_by_wins_and_none_is_wider(battles in battles(), a in 0usize..7, step in 1usize..7) {
            let b = (a + step) % 7;
            let view = view(7, &battles);
            let evidence = view.order_evidence(a, b).unwrap();
            let zelo = |document: usize| view.standings[document].map(|standing| standing.zelo);
            let (upper, lower) = if zelo(a) < zelo(b) { (b, a) } else { (a, b) };
            // The minimum share of the widest chain, by trying every document in between
            // (Floyd–Warshall).
            let mut widest = [[0.0f64; 7]; 7];
            for pair in view.pairs() {
                let Some(score) = view.score_in_force(pair) else { continue };
                for (winner, loser, share) in [(pair.high(), pair.low(), score), (pair.low(), pair.high(), 1.0 - score)] {
                    if share > 0.5 + 1e-9 {
                        widest[winner][loser] = share;
                    }
                }
            }
            for over in 0..7 {
                for from in 0..7 {
                    for to in 0..7 {
                        let way = widest[from][over].min(widest[over][to]);
                        widest[from][to] = widest[from][to].max(way);
                    }
                }
            }
            let found = evidence.weakest().map_or(0.0, |link| link.share);
            prop_assert!((found - widest[upper][lower]).abs() < 1e-9, "{} {}", found, widest[upper][lower]);
            let mut at = upper;
            for link in &evidence.chain {
                prop_assert_eq!(link.winner, at);
                prop_assert!(link.share > 0.5);
                at = link.loser;
            }
            prop_assert!(evidence.chain.is_empty() || at == lower);
        }
    }
}
