//! Summarizes one query's votes: enough for every judge's card, without keeping the votes.

use super::calibration::states_confidence;
use super::judge_pairs::pair_labels;
use super::length_bias::LengthTally;
use super::logistic::surprise;
use super::position_flips::FlipTally;
use super::position_shift::ShiftTally;
use super::report::{TriadCounts, ensemble_ratings, triads};
use super::{Rating, VoteCases};
use crate::domain::agreement::{BattleLabels, LabelShares, LabelTable};
use crate::domain::battle::Pair;
use crate::domain::vote::{Margin, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One query's contribution to every judge's card and to the agreement between judges. Judges have
/// numbers local to the query until [`QueryTally::renumber`] is called.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryTally {
    /// The tally of each judge, in ascending order.
    pub(super) judges: Vec<(usize, JudgeTally)>,
    /// The tally of all judges together, with one vote per battle.
    pub(super) ensemble: VoteTally,
    /// For every two judges, the number of pairs with each combination of labels.
    pub(super) tables: Vec<PairTable>,
    /// The label combinations of pairs, and the number of pairs with each.
    pub(super) units: Vec<(PairLabels, u32)>,
    /// The votes on pairs that people judged.
    pub(super) reviewed: Vec<ReviewedVote>,
    /// The ensemble's votes on those pairs.
    pub(super) reviewed_together: Vec<ReviewedVote>,
    /// All pairs with a vote, in order.
    voted: Vec<(u32, u32)>,
}

/// The tally of the votes of one judge, or of all together, on one query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct VoteTally {
    pub(super) votes: u32,
    pub(super) ties: u32,
    pub(super) length: LengthTally,
    pub(super) triads: TriadCounts,
    /// The sum of the surprise, in nats, of the votes with a gap, and their number.
    pub(super) nats: f64,
    pub(super) with_gap: u32,
    /// Whether a vote states a confidence.
    pub(super) confident: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct JudgeTally {
    pub(super) votes: VoteTally,
    pub(super) flips: FlipTally,
    pub(super) shift: ShiftTally,
}

/// For two judges, the smaller number first, the number of pairs of a query with each combination
/// of labels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PairTable {
    pub(super) judges: (usize, usize),
    pub(super) counts: [[f64; 3]; 3],
}

/// The judges' labels of a pair, as in [`BattleLabels`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PairLabels {
    pub(super) labels: [f64; 3],
    pub(super) squares: f64,
    pub(super) raters: usize,
}

/// A vote on a pair that a person judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ReviewedVote {
    a: usize,
    b: usize,
    judge: usize,
    margin: Margin,
}

impl ReviewedVote {
    fn of(rating: &Rating) -> Self {
        Self {
            a: rating.a,
            b: rating.b,
            judge: rating.judge,
            margin: rating.margin,
        }
    }

    /// The vote as a rating with only the fields that agreement and calibration use.
    pub(super) fn rating(&self, query: usize) -> Rating {
        Rating {
            query,
            battle: 0,
            a: self.a,
            b: self.b,
            judge: self.judge,
            margin: self.margin,
            swapped: false,
            length_a: 0,
            length_b: 0,
            gap: None,
        }
    }
}

impl VoteTally {
    fn of(ratings: &[Rating]) -> Self {
        let mut tally = Self {
            length: LengthTally::of(ratings),
            triads: triads(ratings),
            confident: ratings.iter().any(states_confidence),
            ..Self::default()
        };
        for rating in ratings.iter().filter(|rating| rating.a != rating.b) {
            tally.votes += 1;
            tally.ties += u32::from(rating.margin.outcome() == Outcome::Tie);
            if let Some(gap) = rating.finite_gap() {
                tally.nats += surprise(gap, rating.score());
                tally.with_gap += 1;
            }
        }
        tally
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.votes += other.votes;
        self.ties += other.ties;
        self.triads.cyclic += other.triads.cyclic;
        self.triads.all += other.triads.all;
        self.nats += other.nats;
        self.with_gap += other.with_gap;
        self.confident |= other.confident;
    }
}

impl QueryTally {
    /// Tallies the ratings of one query, given the pairs that people judged, and returns the cases
    /// for the regressions. The judges' votes on `probes`, pairs shown to them again in the other
    /// order, are used only to measure the effect of the order.
    pub fn of(ratings: &[Rating], probes: &[Rating], judged: &BTreeSet<Pair>) -> (Self, VoteCases) {
        let mut by_judge: BTreeMap<usize, Vec<Rating>> = BTreeMap::new();
        for rating in ratings {
            by_judge.entry(rating.judge).or_default().push(*rating);
        }
        let together = ensemble_ratings(ratings);
        let pair = |rating: &Rating| Pair::new(rating.a, rating.b);
        let reviewed = |ratings: &[Rating]| -> Vec<ReviewedVote> {
            let on_judged = ratings
                .iter()
                .filter(|rating| pair(rating).is_some_and(|pair| judged.contains(&pair)));
            on_judged.map(ReviewedVote::of).collect()
        };
        let mut tables: BTreeMap<(usize, usize), LabelTable> = BTreeMap::new();
        // Keyed by the bits of the labels, so that pairs with the same labels are stored once.
        let mut units: BTreeMap<([u64; 4], usize), (PairLabels, u32)> = BTreeMap::new();
        let mut voted = Vec::new();
        for ((_, pair), labels) in pair_labels(ratings) {
            voted.push((pair.low() as u32, pair.high() as u32));
            for (at, (first, one)) in labels.iter().enumerate() {
                for (second, other) in &labels[at + 1..] {
                    tables.entry((*first, *second)).or_default().add(one, other);
                }
            }
            let shares: Vec<LabelShares> = labels.into_iter().map(|(_, shares)| shares).collect();
            let BattleLabels {
                labels,
                squares,
                raters,
                ..
            } = BattleLabels::of(0, &shares);
            let [a, tie, b] = labels.map(f64::to_bits);
            let unit = PairLabels {
                labels,
                squares,
                raters,
            };
            let key = ([a, tie, b, squares.to_bits()], raters);
            units.entry(key).or_insert((unit, 0)).1 += 1;
        }
        let judges = by_judge.into_iter().map(|(judge, mut own)| {
            let votes = VoteTally::of(&own);
            own.extend(probes.iter().filter(|probe| probe.judge == judge));
            let tally = JudgeTally {
                votes,
                flips: FlipTally::of(&own),
                shift: ShiftTally::of(&own),
            };
            (judge, tally)
        });
        let tally = Self {
            judges: judges.collect(),
            ensemble: VoteTally::of(&together),
            tables: tables
                .into_iter()
                .map(|(judges, LabelTable { counts, .. })| PairTable { judges, counts })
                .collect(),
            units: units.into_values().collect(),
            reviewed: reviewed(ratings),
            reviewed_together: reviewed(&together),
            voted,
        };
        (tally, VoteCases::of(ratings, &together))
    }

    /// Renumbers the judges: judge `i` becomes `numbers[i]`.
    pub fn renumber(&mut self, numbers: &[usize]) {
        let new = |judge: usize| numbers.get(judge).copied().unwrap_or(judge);
        for (judge, _) in &mut self.judges {
            *judge = new(*judge);
        }
        self.judges.sort_by_key(|(judge, _)| *judge);
        for vote in &mut self.reviewed {
            vote.judge = new(vote.judge);
        }
        for table in &mut self.tables {
            let (first, second) = (new(table.judges.0), new(table.judges.1));
            table.judges = (first.min(second), first.max(second));
            if first > second {
                let old = table.counts;
                table.counts = [0, 1, 2].map(|x| [0, 1, 2].map(|y| old[y][x]));
            }
        }
        self.tables.sort_by_key(|table| table.judges);
    }

    /// Number of pairs with a vote.
    pub fn voted(&self) -> usize {
        self.voted.len()
    }

    pub fn has_voted(&self, pair: Pair) -> bool {
        let place = (pair.low() as u32, pair.high() as u32);
        self.voted.binary_search(&place).is_ok()
    }

    /// The judges' votes on pairs that people judged, with only the fields that agreement uses.
    pub fn reviewed(&self, query: usize) -> impl Iterator<Item = Rating> + '_ {
        self.reviewed.iter().map(move |vote| vote.rating(query))
    }
}
