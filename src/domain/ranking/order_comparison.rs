//! Compares a query's hybrid order with its zELO order: the documents that moved, and which
//! of the movements are certain.

use super::{Standing, View};
use crate::domain::number_words::{count, counted};
use std::ops::Range;

/// Number of standard errors between two scores from which one of the documents is truly better
/// with a probability of 95 %.
const CERTAIN_GAP: f64 = 1.644_853_626_951_472_2;

/// A scored document in both orders. Ranks count the scored documents only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderChange {
    /// Its pool index.
    pub document: usize,
    /// Its rank in hybrid order, from 1.
    pub hybrid: usize,
    pub standing: Standing,
    /// Number of ranks that it rose, negative if it fell. A document rises to the worst of the
    /// ranks that it shares with equal scores.
    pub rose: isize,
}

impl OrderChange {
    /// `▲2`, `▼11`, or `=`.
    pub fn movement(&self) -> String {
        match self.rose {
            0 => "=".to_owned(),
            up @ 1.. => format!("▲{up}"),
            down => format!("▼{}", -down),
        }
    }

    /// Whether the 95 % intervals, which cover the true ranks of all documents at once, exclude
    /// its rank in hybrid order.
    pub fn is_certain(&self) -> bool {
        self.standing
            .interval
            .is_some_and(|ranks| !(ranks.low_at_once..=ranks.high_at_once).contains(&self.hybrid))
    }
}

/// Pairs of documents with different scores, by the order of each pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairAgreement {
    /// Pairs that have the same order in both.
    pub same: usize,
    pub reversed: usize,
    /// The reversed pairs whose zELO order is true with a probability of at least 95 %; `None`
    /// without standard errors.
    pub reversed_certainly: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OrderComparison {
    /// The scored documents, best first.
    pub changes: Vec<OrderChange>,
    /// Number of ranks that count as the top.
    pub top: usize,
    pub pairs: PairAgreement,
}

impl OrderComparison {
    /// `None` without scores.
    pub fn of(view: &View, top: usize) -> Option<Self> {
        let mut changes: Vec<OrderChange> = view
            .entered()
            .iter()
            .enumerate()
            .map(|(place, document)| {
                Some(OrderChange {
                    document: *document,
                    hybrid: place + 1,
                    standing: (*view.standings.get(*document)?)?,
                    rose: 0,
                })
            })
            .collect::<Option<_>>()?;
        // Comparing all pairs takes long in large pools, and screens ask for it in each frame.
        let pairs = *view
            .pair_agreement
            .get_or_init(|| pair_agreement(view, &changes));
        changes.sort_by(|x, y| y.standing.zelo.total_cmp(&x.standing.zelo));
        for at in 0..changes.len() {
            let ranks = shared_ranks(&changes, at);
            changes[at].rose = risen(changes[at].hybrid, &ranks);
        }
        (!changes.is_empty()).then_some(Self {
            changes,
            top,
            pairs,
        })
    }

    /// The scored documents in hybrid order.
    pub fn in_hybrid_order(&self) -> Vec<OrderChange> {
        let mut changes = self.changes.clone();
        changes.sort_by_key(|change| change.hybrid);
        changes
    }

    /// The documents that entered the top, best first.
    pub fn entered(&self) -> impl Iterator<Item = &OrderChange> {
        let top = self.top;
        self.changes
            .iter()
            .take(top)
            .filter(move |change| change.hybrid > top)
    }

    /// The documents that left the top, best first.
    pub fn left(&self) -> impl Iterator<Item = &OrderChange> {
        let top = self.top;
        self.changes
            .iter()
            .skip(top)
            .filter(move |change| change.hybrid <= top)
    }

    /// The documents that rose, most first.
    pub fn risen(&self) -> Vec<&OrderChange> {
        let mut found: Vec<_> = self
            .changes
            .iter()
            .filter(|change| change.rose > 0)
            .collect();
        found.sort_by_key(|change| -change.rose);
        found
    }

    /// The documents that fell, most first.
    pub fn fallen(&self) -> Vec<&OrderChange> {
        let mut found: Vec<_> = self
            .changes
            .iter()
            .filter(|change| change.rose < 0)
            .collect();
        found.sort_by_key(|change| change.rose);
        found
    }

    /// How far the orders agree, and how the top changed, each with the number of changes that are
    /// certain at 95 %.
    pub fn sentences(&self) -> [String; 2] {
        [self.agreement_words(), self.top_words()]
    }

    fn agreement_words(&self) -> String {
        let PairAgreement {
            same,
            reversed,
            reversed_certainly,
        } = self.pairs;
        if same + reversed == 0 {
            return "All scores are equal: zELO neither confirms nor changes the hybrid order."
                .to_owned();
        }
        if reversed == 0 {
            return "zELO has the hybrid order: no pair is reversed.".to_owned();
        }
        let percent = 100 * same / (same + reversed);
        let lead = format!("zELO keeps the hybrid order on {percent} % of pairs");
        let reversals = counted(reversed, "reversal");
        match reversed_certainly {
            None => format!("{lead}: {reversals}."),
            Some(0) => format!("{lead}; none of {reversals} is certain."),
            Some(1) => format!("{lead}; 1 of {reversals} is certain."),
            Some(certain) => format!("{lead}; {} of {reversals} are certain.", count(certain)),
        }
    }

    fn top_words(&self) -> String {
        let top = self.top;
        let entered: Vec<&OrderChange> = self.entered().collect();
        if entered.is_empty() {
            return format!("The top {top} has the same documents in both orders.");
        }
        let certain = |change: &&&OrderChange, is: fn(usize, usize, usize) -> bool| {
            change
                .standing
                .interval
                .is_some_and(|ranks| is(ranks.low, ranks.high, top))
        };
        let words = |certain: usize| match certain {
            0 => "none for certain".to_owned(),
            certain => format!("{certain} for certain"),
        };
        let left: Vec<&OrderChange> = self.left().collect();
        let surely_in = entered
            .iter()
            .filter(|one| certain(one, |_, high, top| high <= top));
        let surely_out = left
            .iter()
            .filter(|one| certain(one, |low, _, top| low > top));
        format!(
            "{} entered the top {top}, {}; {} left it, {}.",
            counted(entered.len(), "document"),
            words(surely_in.count()),
            left.len(),
            words(surely_out.count()),
        )
    }
}

/// The ranks, from 1, that the document at a place shares with equal scores.
fn shared_ranks(best_first: &[OrderChange], at: usize) -> Range<usize> {
    let score = best_first[at].standing.zelo;
    let above = best_first.partition_point(|change| change.standing.zelo > score);
    let to = best_first.partition_point(|change| change.standing.zelo >= score);
    above + 1..to + 1
}

fn risen(hybrid: usize, ranks: &Range<usize>) -> isize {
    let nearest = hybrid.clamp(ranks.start, ranks.end - 1);
    hybrid as isize - nearest as isize
}

/// Compares the pairs of documents, which are given in hybrid order.
fn pair_agreement(view: &View, changes: &[OrderChange]) -> PairAgreement {
    let covariance = view.covariance();
    let mut found = PairAgreement {
        reversed_certainly: covariance.map(|_| 0),
        ..PairAgreement::default()
    };
    for (i, upper) in changes.iter().enumerate() {
        for (j, lower) in changes.iter().enumerate().skip(i + 1) {
            let gap = lower.standing.zelo - upper.standing.zelo;
            if gap < 0.0 {
                found.same += 1;
            } else if gap > 0.0 {
                found.reversed += 1;
                if let Some((covariance, certain)) =
                    covariance.zip(found.reversed_certainly.as_mut())
                {
                    *certain += usize::from(gap >= CERTAIN_GAP * covariance.gap_se(i, j));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::{Battle, BattleId};
    use crate::domain::ranking::{BattleRecord, QueryRows, RankingSettings};
    use crate::domain::vote::{JudgeId, Margin, Vote};
    use proptest::prelude::*;

    /// A view of battles, each with the number of votes for its second document.
    fn view(documents: usize, battles: &[(usize, usize, f64)]) -> View {
        let records = battles
            .iter()
            .enumerate()
            .map(|(at, (a, b, margin))| BattleRecord {
                battle: Battle {
                    id: BattleId(at as i64),
                    a: *a,
                    b: *b,
                    game: 0,
                },
                votes: (1..=3)
                    .filter_map(|judge| {
                        Some(Vote {
                            judge: JudgeId(judge),
                            margin: Margin::new(*margin)?,
                            swapped: false,
                        })
                    })
                    .collect(),
                failed: Vec::new(),
                asked: None,
            });
        let rows = QueryRows {
            by_identifier: Vec::new(),
            responses: Vec::new(),
            curves: Vec::new(),
            answers: None,
            student: None,
            documents,
            depth: None,
            judges: (1..=3).map(JudgeId).collect(),
            battles: records.collect(),
            probes: Vec::new(),
            verdicts: Vec::new(),
        };
        View::new(rows, RankingSettings::default())
    }

    fn all_pairs(documents: usize, margin: f64) -> Vec<(usize, usize, f64)> {
        (0..documents)
            .flat_map(|a| (a + 1..documents).map(move |b| (a, b, margin)))
            .collect()
    }

    #[test]
    fn a_reversed_order_is_certain_if_the_votes_are_many() {
        let compared = OrderComparison::of(&view(8, &all_pairs(8, 0.9)), 3).unwrap();
        assert_eq!(compared.pairs.reversed, 28);
        assert!(compared.pairs.reversed_certainly.unwrap() > 0);
        let moved = |changes: Vec<&OrderChange>| {
            changes
                .iter()
                .map(|change| (change.document, change.rose))
                .collect::<Vec<_>>()
        };
        assert_eq!(moved(compared.risen())[0], (7, 7));
        assert_eq!(moved(compared.fallen())[0], (0, -7));
        assert_eq!(compared.entered().count(), 3);
        assert_eq!(compared.left().count(), 3);
        let [agreement, top] = compared.sentences();
        assert!(
            agreement.starts_with("zELO keeps the hybrid order on 0 % of pairs; "),
            "{agreement}"
        );
        assert!(top.starts_with("3 documents entered the top 3, "), "{top}");
    }

    #[test]
    fn the_same_order_is_said_to_be_the_same() {
        let compared = OrderComparison::of(&view(6, &all_pairs(6, -0.9)), 3).unwrap();
        assert_eq!(compared.pairs.reversed, 0);
        assert!(compared.risen().is_empty() && compared.fallen().is_empty());
        assert_eq!(
            compared.sentences(),
            [
                "zELO has the hybrid order: no pair is reversed.",
                "The top 3 has the same documents in both orders.",
            ]
        );
    }

    #[test]
    fn the_first_sentence_says_what_the_votes_decide() {
        let words = |same, reversed, reversed_certainly| {
            let pairs = PairAgreement {
                same,
                reversed,
                reversed_certainly,
            };
            let compared = OrderComparison {
                changes: Vec::new(),
                top: 1,
                pairs,
            };
            compared.sentences()[0].clone()
        };
        let lead = "zELO keeps the hybrid order on 70 % of pairs";
        assert_eq!(words(7, 3, None), format!("{lead}: 3 reversals."));
        assert_eq!(
            words(7, 3, Some(0)),
            format!("{lead}; none of 3 reversals is certain.")
        );
        assert_eq!(
            words(7, 3, Some(1)),
            format!("{lead}; 1 of 3 reversals is certain.")
        );
        assert_eq!(
            words(7, 3, Some(2)),
            format!("{lead}; 2 of 3 reversals are certain.")
        );
        assert!(words(0, 0, None).starts_with("All scores are equal"));
        assert!(words(9_999, 1, None).contains(" 99 % "));
    }

    #[test]
    fn equal_scores_move_nothing() {
        assert_eq!(risen(3, &(1..5)), 0);
        assert_eq!(risen(7, &(2..4)), 4);
        assert_eq!(risen(1, &(3..5)), -2);
        assert_eq!(OrderComparison::of(&view(4, &[]), 2), None);
    }

    proptest! {
        #[test]
        fn as_many_leave_the_top_as_enter_it_and_pairs_are_counted_once(
            battles in proptest::collection::vec((0usize..7, 0usize..7, -10i32..=10), 1..30),
            top in 1usize..5,
        ) {
            let battles: Vec<_> = battles
                .into_iter()
                .filter(|(a, b, _)| a != b)
                .map(|(a, b, margin)| (a, b, f64::from(margin) / 10.0))
                .collect();
            let view = view(7, &battles);
            if let Some(compared) = OrderComparison::of(&view, top) {
                let scored = compared.changes.len();
                prop_assert_eq!(compared.entered().count(), compared.left().count());
                let PairAgreement { same, reversed, reversed_certainly } = compared.pairs;
                prop_assert!(same + reversed <= scored * (scored - 1) / 2);
                prop_assert!(reversed_certainly.unwrap_or(0) <= reversed);
                for (place, change) in compared.in_hybrid_order().iter().enumerate() {
                    prop_assert_eq!(change.hybrid, place + 1);
                }
            }
        }
    }
}
