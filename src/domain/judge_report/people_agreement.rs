//! Agreement of a judge with people, and of people with each other.

use super::{HumanVerdict, Rating, reference_verdicts};
use crate::domain::agreement::{
    ClusteredError, Interval, SampledItem, Share, SurveyShare, survey_share,
};
use crate::domain::battle::Pair;
use crate::domain::vote::Outcome;
use serde::Serialize;
use std::collections::BTreeMap;

/// How often a judge agrees with people, over the pairs with both a vote and a verdict other than
/// *cannot tell*.
///
/// The unit is the pair, as in the review queue: a judge that voted on a pair twice counts with the
/// mean of its votes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PeopleAgreement {
    /// Over all pairs: the judge agrees if its outcome (A, tie or B) is the sign of the verdict.
    pub all: SurveyShare,
    /// Over the pairs that neither the person nor the judge called a tie: the judge agrees if it
    /// names the person's document.
    pub decided: SurveyShare,
    /// Over all pairs, using the verdicts after the judges' votes were revealed. People who see
    /// votes tend to adopt them, so this says less about the judges than `all` does.
    pub revealed: SurveyShare,
    /// Over the pairs whose verdict was given blind. Verdicts given with the votes in sight do not
    /// count here.
    pub blind: Option<Share>,
}

/// A person's blind verdict on a pair, oriented to the pair: `B` if the document with the higher
/// pool index is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PersonVote {
    /// Index of the person.
    pub person: usize,
    pub query: usize,
    pub pair: Pair,
    pub outcome: Outcome,
}

/// A judge's agreement with people minus that of people with each other, on the pairs that at least
/// two people judged blind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PeopleGap {
    /// In −1..=1; negative if the judge agrees with people less than they do with each other.
    pub value: f64,
    /// Its interval, clustered by query.
    pub interval: Option<Interval>,
    /// Number of pairs.
    pub n: usize,
}

type VotesByPair = BTreeMap<(usize, Pair), Vec<Outcome>>;

/// The pairs with verdicts of at least two people.
fn judged_twice(people: &[PersonVote]) -> VotesByPair {
    let mut found = VotesByPair::new();
    for said in people {
        let outcomes = found.entry((said.query, said.pair)).or_default();
        outcomes.push(said.outcome);
    }
    found.retain(|_, outcomes| outcomes.len() > 1);
    found
}

/// The share of equal pairs among all pairs of two outcomes of one list.
fn equal_pairs(outcomes: &[Outcome]) -> f64 {
    let n = outcomes.len() as f64;
    let same: f64 = [Outcome::A, Outcome::Tie, Outcome::B]
        .iter()
        .map(|one| outcomes.iter().filter(|outcome| *outcome == one).count() as f64)
        .map(|count| count * (count - 1.0))
        .sum();
    same / (n * (n - 1.0))
}

/// How often two people agree on a pair that both judged blind; a pair judged by more people counts
/// with the mean over every two of them.
pub fn people_with_each_other(people: &[PersonVote]) -> Option<Share> {
    Share::clustered(
        judged_twice(people)
            .iter()
            .map(|((query, _), outcomes)| (*query, equal_pairs(outcomes))),
    )
}

/// The gap of one judge's votes to people; `None` if no pair has both.
pub(super) fn people_gap(ratings: &[Rating], people: &[PersonVote]) -> Option<PeopleGap> {
    let mut votes = VotesByPair::new();
    for (key, outcome) in ratings.iter().filter_map(Rating::on_pair) {
        votes.entry(key).or_default().push(outcome);
    }
    let gap = |(key, said): ((usize, Pair), Vec<Outcome>)| {
        let votes = votes.get(&key)?;
        let equal: usize = votes
            .iter()
            .map(|vote| said.iter().filter(|outcome| *outcome == vote).count())
            .sum();
        let judge = equal as f64 / (votes.len() * said.len()) as f64;
        Some((key.0, judge - equal_pairs(&said)))
    };
    let gaps: Vec<(usize, f64)> = judged_twice(people).into_iter().filter_map(gap).collect();
    let n = gaps.len();
    let value = gaps.iter().map(|(_, gap)| gap).sum::<f64>() / n as f64;
    let error = ClusteredError::new(
        gaps.iter()
            .map(|(query, gap)| (*query, (gap - value) / n as f64)),
    );
    (n > 0).then(|| PeopleGap {
        value,
        interval: error.and_then(|error| error.interval(value, -1.0, 1.0)),
        n,
    })
}

/// The agreement of one judge's votes with people.
pub(super) fn people_agreement(ratings: &[Rating], verdicts: &[HumanVerdict]) -> PeopleAgreement {
    let (all, decided) = agreement(ratings, verdicts);
    let revealed: Vec<HumanVerdict> = verdicts
        .iter()
        .map(|verdict| HumanVerdict {
            score: verdict.revealed,
            ..*verdict
        })
        .collect();
    let blind: Vec<HumanVerdict> = verdicts.iter().copied().filter(|v| v.blind).collect();
    PeopleAgreement {
        all,
        decided,
        revealed: agreement(ratings, &revealed).0,
        blind: agreement(ratings, &blind).0.raw,
    }
}

/// Over all pairs, and over those without a tie.
fn agreement(ratings: &[Rating], verdicts: &[HumanVerdict]) -> (SurveyShare, SurveyShare) {
    let references = reference_verdicts(verdicts);
    let mut votes: BTreeMap<_, Vec<Outcome>> = BTreeMap::new();
    for (key, outcome) in ratings.iter().filter_map(Rating::on_pair) {
        if references.contains_key(&key) {
            votes.entry(key).or_default().push(outcome);
        }
    }
    let (mut all, mut decided) = (Vec::new(), Vec::new());
    for (key, mut outcomes) in votes {
        let Some(reference) = references.get(&key) else {
            continue;
        };
        let mean = |outcomes: &[Outcome]| {
            let right = outcomes.iter().filter(|o| **o == reference.outcome);
            SampledItem {
                value: right.count() as f64 / outcomes.len() as f64,
                inclusion: reference.inclusion,
                cluster: key.0,
            }
        };
        all.push(mean(&outcomes));
        outcomes.retain(|outcome| *outcome != Outcome::Tie);
        if reference.outcome != Outcome::Tie && !outcomes.is_empty() {
            decided.push(mean(&outcomes));
        }
    }
    (survey_share(&all), survey_share(&decided))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{rating, verdict};
    use super::*;

    #[test]
    fn a_tie_agrees_with_a_tie_and_with_nothing_else() {
        let table = [
            (-0.5, Some(0.0), Some(1.0), Some(1.0)),
            (-0.5, Some(1.0 / 3.0), Some(1.0), Some(1.0)),
            (-0.5, Some(1.0), Some(0.0), Some(0.0)),
            (-0.5, Some(0.5), Some(0.0), None),
            (0.0, Some(0.5), Some(1.0), None),
            (0.0, Some(1.0), Some(0.0), None),
            (0.5, None, None, None),
            (0.5, Some(f64::NAN), None, None),
        ];
        for (margin, score, all, decided) in table {
            // The verdict may swap the documents.
            let mirrored = score.map(|score| 1.0 - score);
            for verdict in [verdict(3, 7, score), verdict(7, 3, mirrored)] {
                let agreement = people_agreement(&[rating(0, 3, 7, margin)], &[verdict]);
                let value = |share: SurveyShare| share.raw.map(|share| share.value);
                assert_eq!(value(agreement.all), all, "{margin} {score:?}");
                assert_eq!(value(agreement.decided), decided, "{margin} {score:?}");
            }
        }
    }

    #[test]
    fn the_last_verdict_counts_and_both_presentations_are_one_pair() {
        let ratings = [
            rating(0, 1, 2, 0.5),
            Rating {
                battle: 9,
                swapped: true,
                ..rating(0, 1, 2, -0.5)
            },
            rating(0, 1, 3, 0.5),
        ];
        let verdicts = [
            verdict(1, 2, Some(0.0)),
            verdict(1, 2, Some(1.0)),
            verdict(1, 3, Some(1.0)),
            verdict(3, 1, None),
        ];
        let share = people_agreement(&ratings, &verdicts).all;
        let raw = share.raw.unwrap();
        assert_eq!((raw.part, raw.n, share.without_probability), (0.5, 1, 1));
        assert_eq!(share.corrected, None);
    }

    #[test]
    fn blind_verdicts_count_and_revealed_ones_are_reported_separately() {
        let ratings = [rating(0, 1, 2, 0.5), rating(0, 1, 3, 0.5)];
        let went_over = HumanVerdict {
            revealed: Some(1.0),
            ..verdict(1, 2, Some(0.0))
        };
        let people = people_agreement(&ratings, &[went_over, verdict(1, 3, Some(1.0))]);
        let value = |share: SurveyShare| share.raw.map(|share| share.value);
        assert_eq!(
            (value(people.all), value(people.revealed)),
            (Some(0.5), Some(1.0))
        );
    }

    #[test]
    fn verdicts_with_the_votes_in_sight_are_left_out_of_the_blind_share() {
        let ratings = [rating(0, 1, 2, 0.5), rating(0, 1, 3, 0.5)];
        let seen = HumanVerdict {
            blind: false,
            ..verdict(1, 2, Some(1.0))
        };
        let people = people_agreement(&ratings, &[seen, verdict(1, 3, Some(0.0))]);
        assert_eq!(people.all.raw.unwrap().part, 1.0);
        let blind = people.blind.unwrap();
        assert_eq!((blind.part, blind.n), (0.0, 1));
    }

    #[test]
    fn a_judge_is_compared_with_two_people_on_the_same_pairs() {
        let said = |person, query, outcome| PersonVote {
            person,
            query,
            pair: Pair::new(0, 1).unwrap(),
            outcome,
        };
        // The people agree in 3 of 4 queries; a pair with one person does not count.
        let mut people = vec![said(0, 9, Outcome::A)];
        for query in 0..4 {
            people.push(said(0, query, Outcome::B));
            let other = if query == 3 { Outcome::A } else { Outcome::B };
            people.push(said(1, query, other));
        }
        let each_other = people_with_each_other(&people).unwrap();
        assert_eq!((each_other.part, each_other.n), (3.0, 4));
        let votes = |margins: [f64; 4]| -> Vec<Rating> {
            let of = |(query, margin): (usize, &f64)| Rating {
                query,
                ..rating(0, 0, 1, *margin)
            };
            margins.iter().enumerate().map(of).collect()
        };
        // It agrees with both, both, nobody and one of the two.
        let gap = people_gap(&votes([1.0, 1.0, -1.0, 1.0]), &people).unwrap();
        assert_eq!((gap.value, gap.n), (2.5 / 4.0 - 0.75, 4));
        assert!(gap.interval.unwrap().low < -0.5);
        assert_eq!(people_gap(&[], &people), None);
        assert!((equal_pairs(&[Outcome::A, Outcome::A, Outcome::B]) - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn rare_reviews_weigh_more() {
        let ratings = [rating(0, 1, 2, 0.5), rating(0, 1, 3, 0.5)];
        let rare = HumanVerdict {
            inclusion: Some(0.1),
            ..verdict(1, 2, Some(1.0))
        };
        let sure = HumanVerdict {
            inclusion: Some(1.0),
            ..verdict(1, 3, Some(0.0))
        };
        let corrected = people_agreement(&ratings, &[rare, sure])
            .all
            .corrected
            .unwrap();
        assert!((corrected.value - 10.0 / 11.0).abs() < 1e-12);
    }
}
