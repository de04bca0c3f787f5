//! Reports on judges: how far each agrees with people and with the other judges, and its biases
//! (order of presentation, length, inconsistency).
//!
//! Everything is a pure function of plain rows. One orientation is used throughout: a vote for
//! document B is positive (or 1 on the scale 0, ½, 1), one for A is negative (or 0), and an effect
//! that favors the document **shown first** is positive. Failed calls are not votes and are not
//! included here. Rows whose two documents are the same are skipped.

mod alt_test;
mod both_orders;
mod calibration;
mod cards;
mod conclusion;
mod independence;
mod judge_model;
mod judge_pairs;
mod length_bias;
mod logistic;
mod margin_curves;
mod people_agreement;
mod position_counts;
mod position_flips;
mod position_shift;
mod query_tally;
mod report;
mod vote_cases;
mod weakest_judge;

pub use alt_test::{AltTest, EPSILON, TooFewItems, alt_test, alt_test_items};
pub use both_orders::{BothOrders, as_shown};
pub use calibration::Calibration;
pub use cards::ReportSums;
pub use conclusion::{JudgeConclusion, answer_finding};
pub use independence::{
    IndependenceUnknown, JudgePanel, PairErrors, PanelChange, judge_panel, pair_errors,
};
pub use judge_model::{JudgeModel, ParameterBasis, judge_model};
pub use judge_pairs::{JudgePair, judge_alpha, judge_pairs};
pub use length_bias::{LengthBias, LengthSlope};
pub use logistic::JudgeRegression;
#[cfg(test)]
pub use logistic::{RegressionTrial, judge_regression};
pub use margin_curves::{
    CalibratedMargins, MarginEvidence, MarginReference, margin_curves, margin_evidence,
};
pub use people_agreement::{
    ENOUGH_PAIRS, PeopleAgreement, PeopleGap, PersonVote, agreement_by_query,
    people_with_each_other,
};
pub use position_counts::{AnswerFinding, PositionCounts};
pub use position_flips::PositionFlips;
pub use position_shift::PositionShift;
pub use query_tally::QueryTally;
pub use report::JudgeReport;
pub use vote_cases::{CardFits, FitSearch, VoteCases};
pub use weakest_judge::{JudgeRecord, WeakestJudge, weakest_judge};

use super::battle::Pair;
use super::vote::{Margin, Outcome};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rating {
    pub query: usize,
    /// The number of the battle within the query: judges with the same number voted on the same
    /// battle. A pair with two battles has two numbers.
    pub battle: usize,
    /// Pool index of document A.
    pub a: usize,
    pub b: usize,
    pub judge: usize,
    /// The vote, oriented from A to B: negative if A is better.
    pub margin: Margin,
    /// Whether the judge was shown B first.
    pub swapped: bool,
    /// Length of document A, in the same unit as B's.
    pub length_a: usize,
    /// Length of document B.
    pub length_b: usize,
    /// The fitted gap e_b − e_a in natural-log strength, or `None` without a fit.
    pub gap: Option<f64>,
}

impl Rating {
    /// The query and pair, with the outcome oriented to the pair: `B` if the document with the
    /// higher pool index won.
    fn on_pair(&self) -> Option<((usize, Pair), Outcome)> {
        let pair = Pair::new(self.a, self.b)?;
        Some(((self.query, pair), oriented(self.margin, self.a, self.b)))
    }

    /// The vote as a score: 0 for A, ½ for a tie, 1 for B.
    fn score(&self) -> f64 {
        score(self.margin.outcome())
    }

    /// Which document the presentation favors: +1 if B was shown first, −1 if A was.
    fn order(&self) -> f64 {
        if self.swapped { 1.0 } else { -1.0 }
    }

    /// The fitted gap, if it is finite.
    fn finite_gap(&self) -> Option<f64> {
        self.gap.filter(|gap| gap.is_finite())
    }
}

/// A person's decision about a pair: the effective verdict, as it was before the votes were
/// revealed if it was given blind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HumanVerdict {
    pub query: usize,
    /// Pool index of document A.
    pub a: usize,
    pub b: usize,
    /// The verdict in 0..=1 (below ½: A better), or `None` for *cannot tell*.
    pub score: Option<f64>,
    /// The effective verdict since the judges' votes were revealed; the same as `score` if it was
    /// not changed.
    pub revealed: Option<f64>,
    /// Whether it was given before the judges' votes were revealed.
    pub blind: bool,
    /// The probability that the pair was selected for review, in (0, 1]; `None` if it was found in
    /// another way.
    pub inclusion: Option<f64>,
}

fn oriented(margin: Margin, a: usize, b: usize) -> Outcome {
    if a < b { margin } else { margin.flipped() }.outcome()
}

fn score(outcome: Outcome) -> f64 {
    match outcome {
        Outcome::A => 0.0,
        Outcome::Tie => 0.5,
        Outcome::B => 1.0,
    }
}

/// A verdict that states a preference or a tie, oriented to its pair.
#[derive(Clone, Copy, Debug)]
struct ReferenceVerdict {
    outcome: Outcome,
    inclusion: Option<f64>,
}

/// The verdicts by pair; if a pair has several, the last one is used. Skips *cannot tell* and
/// scores outside 0..=1.
fn reference_verdicts(verdicts: &[HumanVerdict]) -> BTreeMap<(usize, Pair), ReferenceVerdict> {
    let mut found = BTreeMap::new();
    for verdict in verdicts {
        let Some(pair) = Pair::new(verdict.a, verdict.b) else {
            continue;
        };
        let margin = verdict
            .score
            .and_then(|score| Margin::new(2.0 * score - 1.0));
        match margin {
            Some(margin) => found.insert(
                (verdict.query, pair),
                ReferenceVerdict {
                    outcome: oriented(margin, verdict.a, verdict.b),
                    inclusion: verdict.inclusion,
                },
            ),
            None => found.remove(&(verdict.query, pair)),
        };
    }
    found
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The cards of all judges, and of all judges together, from all ratings and verdicts at once.
    pub(crate) fn cards(ratings: &[Rating], verdicts: &[HumanVerdict]) -> cards::JudgeCards {
        let mut by_query: BTreeMap<usize, Vec<Rating>> = BTreeMap::new();
        for rating in ratings {
            by_query.entry(rating.query).or_default().push(*rating);
        }
        let judges = ratings.iter().map(|rating| rating.judge + 1).max();
        let mut sums = ReportSums::default();
        let mut search = FitSearch::new(judges.unwrap_or(0));
        let mut cases = Vec::new();
        for (query, own) in by_query {
            let judged = verdicts.iter().filter(|verdict| verdict.query == query);
            let judged = judged.filter_map(|verdict| Pair::new(verdict.a, verdict.b));
            let (tally, of_query) = QueryTally::of(&own, &[], &judged.collect());
            sums.add(query, tally);
            cases.push(of_query);
        }
        let numbers: Vec<usize> = (0..judges.unwrap_or(0)).collect();
        while search.goes_on() {
            let mut terms = search.nothing();
            for cases in &cases {
                terms.join(&search.terms(cases, &numbers));
            }
            search.take(terms);
        }
        sums.cards(verdicts, &[], &search.found())
    }

    /// The cards of all judges that occur in the ballots, in ascending order.
    pub(crate) fn judge_reports(ratings: &[Rating], verdicts: &[HumanVerdict]) -> Vec<JudgeReport> {
        cards(ratings, verdicts).judges
    }

    pub(crate) fn ensemble_report(ratings: &[Rating], verdicts: &[HumanVerdict]) -> JudgeReport {
        cards(ratings, verdicts).together
    }

    pub(super) fn length_bias(ratings: &[Rating]) -> LengthBias {
        let cards = judge_reports(ratings, &[]);
        cards.first().map(|card| card.length).unwrap_or_default()
    }

    pub(super) fn mean_surprise(ratings: &[Rating]) -> Option<report::MeanSurprise> {
        judge_reports(ratings, &[]).first()?.surprise
    }

    /// A vote on a pair of query 0 with one battle, shown in the stored order.
    pub(super) fn rating(judge: usize, a: usize, b: usize, margin: f64) -> Rating {
        Rating {
            query: 0,
            battle: a.wrapping_mul(100).wrapping_add(b),
            a,
            b,
            judge,
            margin: Margin::new(margin).unwrap(),
            swapped: false,
            length_a: 1,
            length_b: 1,
            gap: None,
        }
    }

    /// A verdict on a pair of query 0 that was not drawn from a queue.
    pub(super) fn verdict(a: usize, b: usize, score: Option<f64>) -> HumanVerdict {
        HumanVerdict {
            query: 0,
            a,
            b,
            score,
            revealed: score,
            blind: true,
            inclusion: None,
        }
    }
}
