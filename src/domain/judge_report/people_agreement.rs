//! Agreement of a judge with people.

use super::{HumanVerdict, Rating, reference_verdicts};
use crate::domain::agreement::{SampledItem, SurveyShare, survey_share};
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
    PeopleAgreement {
        all,
        decided,
        revealed: agreement(ratings, &revealed).0,
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
    fn the_last_verdict_is_in_force_and_both_presentations_are_one_pair() {
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
    fn what_was_said_blind_counts_and_what_was_said_then_stands_next_to_it() {
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
