//! Agreement of a judge with people, and of people with each other.

use super::{HumanVerdict, Rating, reference_verdicts};
use crate::domain::agreement::{
    ClusteredError, Interval, SampledItem, Share, SurveyShare, survey_share,
};
use crate::domain::battle::Pair;
use crate::domain::number_words::{counted, fixed, signed};
use crate::domain::vote::Outcome;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Minimum number of pairs for a statement about agreement with people.
pub const ENOUGH_PAIRS: usize = 20;
/// A judge is as good as a person if its agreement with people is at most this much below that of
/// people with each other.
const MARGIN: f64 = 0.05;

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

/// A judge's agreement with people minus the agreement of people with each other, on the pairs that
/// at least two people judged blind.
///
/// Each person in turn is compared with the others on a pair, and so is the judge; the pair counts
/// with the mean over its people. The judge could not do better than `people` by imitating a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PeopleGap {
    /// In −1..=1; negative if the judge agrees with people less than they do with each other.
    pub value: f64,
    /// Its t interval, clustered by query.
    pub interval: Option<Interval>,
    /// Number of pairs.
    pub n: usize,
    pub queries: usize,
    /// The agreement of a person with the others on these pairs: the ceiling.
    pub people: MeanAgreement,
    /// The agreement of the judge with the same people on these pairs.
    pub judge: MeanAgreement,
}

/// A mean agreement in 0..=1 with its t interval, clustered by query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MeanAgreement {
    pub value: f64,
    pub interval: Option<Interval>,
}

/// How a judge compares with a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonComparison {
    AsGood,
    Worse,
    NotEnough,
}

impl PeopleGap {
    /// The comparison that the interval supports. A gap of less than 5 points is as good.
    pub fn comparison(&self) -> PersonComparison {
        match self.interval.filter(|_| self.n >= ENOUGH_PAIRS) {
            Some(gap) if gap.low >= -MARGIN => PersonComparison::AsGood,
            Some(gap) if gap.high < 0.0 => PersonComparison::Worse,
            _ => PersonComparison::NotEnough,
        }
    }

    /// The comparison in words.
    pub fn words(&self) -> String {
        match self.comparison() {
            PersonComparison::AsGood => "as good as a person".to_owned(),
            PersonComparison::Worse => worse_by(-self.value),
            PersonComparison::NotEnough => "not enough to tell".to_owned(),
        }
    }

    /// The comparison with its numbers.
    pub fn sentence(&self) -> String {
        let percent = |of: MeanAgreement| {
            let interval = of.interval.map_or(String::new(), |interval| {
                format!(
                    " ({:.0}–{:.0})",
                    100.0 * interval.low,
                    100.0 * interval.high
                )
            });
            format!("{:.0} %{interval}", 100.0 * of.value)
        };
        let gap = self.interval.map_or(String::new(), |interval| {
            format!(
                " (gap {} to {} points)",
                signed(100.0 * interval.low, 0),
                signed(100.0 * interval.high, 0)
            )
        });
        format!(
            "{}{gap}: it agrees with people on {}, a person with the others on {}, over {} of {}",
            self.words(),
            percent(self.judge),
            percent(self.people),
            counted(self.n, "pair"),
            counted(self.queries, "query"),
        )
    }
}

/// `worse than a person by 22 points`, of a share.
pub(super) fn worse_by(share: f64) -> String {
    let points = fixed(100.0 * share, 0);
    let unit = if points == "1" { "point" } else { "points" };
    format!("worse than a person by {points} {unit}")
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
    let agreements = |(key, said): ((usize, Pair), Vec<Outcome>)| {
        let votes = votes.get(&key)?;
        let equal: usize = votes
            .iter()
            .map(|vote| said.iter().filter(|outcome| *outcome == vote).count())
            .sum();
        let judge = equal as f64 / (votes.len() * said.len()) as f64;
        Some((key.0, [judge, equal_pairs(&said)]))
    };
    let found: Vec<(usize, [f64; 2])> = judged_twice(people)
        .into_iter()
        .filter_map(agreements)
        .collect();
    let of = |least: f64, value: &dyn Fn([f64; 2]) -> f64| {
        mean_agreement(found.iter().map(|(query, of)| (*query, value(*of))), least)
    };
    let gap = of(-1.0, &|[judge, people]| judge - people)?;
    let queries: BTreeSet<usize> = found.iter().map(|(query, _)| *query).collect();
    Some(PeopleGap {
        value: gap.value,
        interval: gap.interval,
        n: found.len(),
        queries: queries.len(),
        people: of(0.0, &|[_, people]| people)?,
        judge: of(0.0, &|[judge, _]| judge)?,
    })
}

/// The mean of values in `least`..=1, each with its query; `None` without values.
fn mean_agreement(
    values: impl Iterator<Item = (usize, f64)> + Clone,
    least: f64,
) -> Option<MeanAgreement> {
    let n = values.clone().count() as f64;
    let value = values.clone().map(|(_, value)| value).sum::<f64>() / n;
    let influences = values.map(|(query, of)| (query, (of - value) / n));
    let error = ClusteredError::new(influences);
    (n > 0.0).then(|| MeanAgreement {
        value,
        interval: error.and_then(|error| error.interval(value, least, 1.0)),
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

/// By query, the share of its pairs with verdicts on which a judge agrees with people: the mean of
/// the items of [`PeopleAgreement::all`], in 0..=1.
pub fn agreement_by_query(ratings: &[Rating], verdicts: &[HumanVerdict]) -> BTreeMap<usize, f64> {
    let (all, _) = agreement_items(ratings, verdicts);
    let mut sums: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
    for item in all {
        let (sum, n) = sums.entry(item.cluster).or_default();
        *sum += item.value;
        *n += 1;
    }
    let sums = sums.into_iter();
    sums.map(|(query, (sum, n))| (query, sum / n as f64))
        .collect()
}

/// Over all pairs, and over those without a tie.
fn agreement(ratings: &[Rating], verdicts: &[HumanVerdict]) -> (SurveyShare, SurveyShare) {
    let (all, decided) = agreement_items(ratings, verdicts);
    (survey_share(&all), survey_share(&decided))
}

/// The pairs with verdicts, and those without a tie, each with the share of the judge's votes that
/// agree.
fn agreement_items(
    ratings: &[Rating],
    verdicts: &[HumanVerdict],
) -> (Vec<SampledItem>, Vec<SampledItem>) {
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
    (all, decided)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{rating, verdict};
    use super::*;
    use serde::Deserialize;

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
    fn agreement_by_query_is_the_mean_of_its_pairs() {
        let of = |query, b, margin| Rating {
            query,
            ..rating(0, 1, b, margin)
        };
        let said = |query, b| HumanVerdict {
            query,
            ..verdict(1, b, Some(1.0))
        };
        let ratings = [of(0, 2, -0.5), of(0, 3, 0.5), of(4, 2, 0.5), of(5, 2, 0.5)];
        let found = agreement_by_query(&ratings, &[said(0, 2), said(0, 3), said(4, 2)]);
        assert_eq!(found, BTreeMap::from([(0, 0.5), (4, 1.0)]));
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

    const CEILING: &str = include_str!("../../../tests/golden/trust2/ceiling.json");
    const LABELS: &str = include_str!("../../../tests/golden/agreement/pandalm_labels.json");

    #[derive(Deserialize)]
    struct Ceiling {
        tolerance: f64,
        pandalm: BTreeMap<String, Expected>,
        synthetic: Synthetic,
    }

    #[derive(Deserialize)]
    struct Expected {
        items: usize,
        human: Bounds,
        judge: Bounds,
        gap: Bounds,
    }

    #[derive(Deserialize)]
    struct Bounds {
        value: f64,
        low: f64,
        high: f64,
    }

    #[derive(Deserialize)]
    struct Synthetic {
        people: Vec<Vec<usize>>,
        judge: Vec<usize>,
        cluster: Vec<usize>,
        expected: Expected,
    }

    fn agrees(found: &PeopleGap, expected: &Expected, tolerance: f64) {
        assert_eq!(found.n, expected.items);
        for (value, interval, expected) in [
            (found.value, found.interval, &expected.gap),
            (found.people.value, found.people.interval, &expected.human),
            (found.judge.value, found.judge.interval, &expected.judge),
        ] {
            let interval = interval.unwrap();
            for (found, expected) in [
                (value, expected.value),
                (interval.low, expected.low),
                (interval.high, expected.high),
            ] {
                assert!((found - expected).abs() < tolerance, "{found} {expected}");
            }
        }
    }

    /// The votes of people and of a judge on items, each with its query.
    fn labelled(
        items: impl IntoIterator<Item = (usize, Vec<Outcome>, Outcome)>,
    ) -> (Vec<Rating>, Vec<PersonVote>) {
        let (mut ratings, mut people) = (Vec::new(), Vec::new());
        for (item, (query, said, judge)) in items.into_iter().enumerate() {
            let margin = match judge {
                Outcome::A => -1.0,
                Outcome::Tie => 0.0,
                Outcome::B => 1.0,
            };
            ratings.push(Rating {
                query,
                ..rating(0, 2 * item, 2 * item + 1, margin)
            });
            let pair = Pair::new(2 * item, 2 * item + 1).unwrap();
            people.extend(
                said.into_iter()
                    .enumerate()
                    .map(|(person, outcome)| PersonVote {
                        person,
                        query,
                        pair,
                        outcome,
                    }),
            );
        }
        (ratings, people)
    }

    #[test]
    fn the_ceiling_is_that_of_the_reference() {
        let golden: Ceiling = serde_json::from_str(CEILING).unwrap();
        let outcome = |label| [Outcome::A, Outcome::Tie, Outcome::B][label];
        let made = &golden.synthetic;
        let items = made.cluster.iter().zip(&made.people).zip(&made.judge);
        let (ratings, people) = labelled(items.map(|((query, people), judge)| {
            let people = people.iter().map(|label| outcome(*label)).collect();
            (*query, people, outcome(*judge))
        }));
        let found = people_gap(&ratings, &people).unwrap();
        agrees(&found, &made.expected, golden.tolerance);
        assert_eq!(found.queries, 40);
        assert_eq!(found.comparison(), PersonComparison::NotEnough);

        // One cluster for each battle.
        let labels: serde_json::Value = serde_json::from_str(LABELS).unwrap();
        let battles: Vec<Vec<Option<Outcome>>> = labels["battles"]
            .as_array()
            .unwrap()
            .iter()
            .map(|labels| {
                let labels = labels.as_str().unwrap().chars();
                let label = |label| match label {
                    '1' => Some(Outcome::A),
                    '2' => Some(Outcome::B),
                    '0' => Some(Outcome::Tie),
                    _ => None,
                };
                labels.map(label).collect()
            })
            .collect();
        let items = battles.iter().enumerate().filter_map(|(query, labels)| {
            let people = labels[..3].iter().map(|label| label.unwrap()).collect();
            Some((query, people, labels[3]?))
        });
        let (ratings, people) = labelled(items);
        let found = people_gap(&ratings, &people).unwrap();
        let expected = &golden.pandalm["gpt-3.5-turbo"];
        agrees(&found, expected, golden.tolerance);
        assert_eq!(found.words(), "worse than a person by 22 points");
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
