//! What one query's votes come to: enough for every judge's card, without the votes.

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

/// What one query adds to every judge's card and to the agreement between judges. Judges are numbered within the query
/// until [`QueryTally::renumber`] says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryTally {
    /// What the votes of each judge come to, in ascending order.
    pub(super) judges: Vec<(usize, JudgeTally)>,
    /// What the votes of all judges together come to, one a battle.
    pub(super) ensemble: VoteTally,
    /// Of every two judges, how many pairs have each two labels.
    pub(super) tables: Vec<PairTable>,
    /// The labels of pairs, and of how many pairs.
    pub(super) units: Vec<(PairLabels, u32)>,
    /// The votes on pairs that people judged.
    pub(super) reviewed: Vec<ReviewedVote>,
    /// The ensemble's votes on them.
    pub(super) reviewed_together: Vec<ReviewedVote>,
    /// Every pair with a vote, in order.
    voted: Vec<(u32, u32)>,
}

/// What the votes of one judge, or of all together, on one query come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct VoteTally {
    pub(super) votes: u32,
    pub(super) ties: u32,
    pub(super) length: LengthTally,
    pub(super) triads: TriadCounts,
    /// The sum of the surprise in nats of votes with a gap, and how many these are.
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

/// Of two judges, the smaller number first, how many pairs of a query have each two labels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PairTable {
    pub(super) judges: (usize, usize),
    pub(super) counts: [[f64; 3]; 3],
}

/// What the judges said of a pair, as in [`BattleLabels`].
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

    /// The vote as a rating, as far as it goes: agreement and calibration take no more.
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
    /// Of the ratings of one query, with the pairs that people judged; and the cases that regressions go over. What judges
    /// say of `probes`, pairs that they were asked about again in the other order, tells about the order alone.
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
        // By the bits of the labels, so that pairs with the same labels are kept once.
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

    /// Gives each judge another number: the one at its own in `numbers`.
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

    /// Pairs with a vote.
    pub fn voted(&self) -> usize {
        self.voted.len()
    }

    pub fn has_voted(&self, pair: Pair) -> bool {
        let place = (pair.low() as u32, pair.high() as u32);
        self.voted.binary_search(&place).is_ok()
    }

    /// The judges' votes on pairs that people judged, as far as agreement goes.
    pub fn reviewed(&self, query: usize) -> impl Iterator<Item = Rating> + '_ {
        self.reviewed.iter().map(move |vote| vote.rating(query))
    }
}
