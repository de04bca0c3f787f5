//! A judge's card: everything that its votes say about it.

use super::{
    Calibration, JudgeRegression, LengthBias, PeopleAgreement, PeopleGap, PositionFlips,
    PositionShift, Rating,
};
use crate::domain::agreement::Share;
use crate::domain::analysis;
use crate::domain::vote::{Margin, Outcome, VoteRule};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The card of a judge, or of the ensemble. A part is `None` if no vote is relevant to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeReport {
    /// The judge; `None` for the ensemble.
    pub judge: Option<usize>,
    /// Number of votes. Failed calls are not votes.
    pub votes: usize,
    pub ties: Option<Share>,
    pub people: PeopleAgreement,
    /// How its agreement with people compares with that of people with each other.
    pub gap: Option<PeopleGap>,
    /// Whether it is right when it is confident.
    pub calibration: Option<Calibration>,
    /// Outcomes that changed with the order of presentation. `None` for the ensemble, which is not
    /// shown anything.
    pub flips: Option<PositionFlips>,
    /// The simple diagnostic of position bias. `None` for the ensemble.
    pub position: Option<PositionShift>,
    /// β and γ given the fitted gaps. `None` for the ensemble. In contrast,
    /// [`super::judge_model()`] fits gaps and judges together, so the errors of the gaps do not
    /// pull its β toward 0.
    pub response: Option<JudgeRegression>,
    pub length: LengthBias,
    pub triads: TriadCounts,
    pub surprise: Option<MeanSurprise>,
}

/// Triads whose three pairs a judge decided, summed over queries. A pair with votes for both sides
/// is decided by their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriadCounts {
    /// Triads whose directions form a cycle.
    pub cyclic: usize,
    /// All triads. A coin toss makes a quarter of them cyclic.
    pub all: usize,
}

/// The mean surprise (negative log-likelihood) of votes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanSurprise {
    /// Mean of −[s log2 σ(d) + (1 − s) log2 σ(−d)] in bits, where s = 0, ½, 1 is the vote and d the
    /// fitted gap: 1 for uninformative gaps.
    pub bits: f64,
    /// Votes with a gap.
    pub n: usize,
}

pub(super) fn triads(ratings: &[Rating]) -> TriadCounts {
    let mut leads: BTreeMap<_, i64> = BTreeMap::new();
    for (key, outcome) in ratings.iter().filter_map(Rating::on_pair) {
        *leads.entry(key).or_default() += match outcome {
            Outcome::A => -1,
            Outcome::Tie => 0,
            Outcome::B => 1,
        };
    }
    let mut decided: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for ((query, pair), lead) in leads {
        let beats = match lead {
            1.. => (pair.high(), pair.low()),
            0 => continue,
            _ => (pair.low(), pair.high()),
        };
        decided.entry(query).or_default().push(beats);
    }
    let mut sum = TriadCounts::default();
    for beats in decided.into_values() {
        let (cyclic, all) = analysis::triads(beats);
        sum.cyclic += cyclic;
        sum.all += all;
    }
    sum
}

/// The ensemble's ballots: one per battle, with the orientation of the battle's first ballot. Their
/// order of presentation has no meaning.
pub(super) fn ensemble_ratings(ratings: &[Rating]) -> Vec<Rating> {
    let mut battles: BTreeMap<(usize, usize), Vec<Rating>> = BTreeMap::new();
    for rating in ratings.iter().filter(|rating| rating.a != rating.b) {
        let key = (rating.query, rating.battle);
        battles.entry(key).or_default().push(*rating);
    }
    battles
        .into_values()
        .filter_map(|votes| {
            let first = *votes.first()?;
            let turned = |rating: &Rating| match (rating.a, rating.b) {
                (a, b) if (a, b) == (first.a, first.b) => Some(rating.margin),
                (a, b) if (b, a) == (first.a, first.b) => Some(rating.margin.flipped()),
                _ => None,
            };
            let score = VoteRule::Ternary.score(votes.iter().filter_map(turned))?;
            Some(Rating {
                margin: Margin::new(2.0 * score - 1.0)?,
                ..first
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::HumanVerdict;
    use super::super::tests::{ensemble_report, judge_reports, mean_surprise, rating, verdict};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn triangles_are_counted_by_query_and_both_presentations_are_summed() {
        let other = |query: usize, rating: Rating| Rating { query, ..rating };
        let ratings = [
            rating(0, 0, 1, 1.0),
            rating(0, 1, 2, 1.0),
            rating(0, 0, 2, -1.0),
            // A tie and a win give the win; two opposite wins give nothing.
            Rating {
                battle: 77,
                ..rating(0, 0, 2, 0.0)
            },
            other(1, rating(0, 0, 1, 1.0)),
            other(1, rating(0, 1, 2, 1.0)),
            other(1, rating(0, 0, 2, 1.0)),
            other(1, rating(0, 0, 2, -1.0)),
        ];
        assert_eq!(triads(&ratings), TriadCounts { cyclic: 1, all: 1 });
    }

    #[test]
    fn shares_and_slopes_have_the_intervals_of_queries() {
        // The ten battles of each query are copies of one battle, so they carry the information of
        // ten queries, not of a hundred battles.
        let mut ratings = Vec::new();
        for query in 0..10 {
            for b in 1..=10 {
                let margin = [0.0, 0.6, -0.6, 0.4, 0.0][query % 5];
                ratings.push(Rating {
                    query,
                    length_b: 2 + query % 3,
                    gap: Some(0.1 * query as f64 - 0.3),
                    swapped: query % 2 == 0,
                    ..rating(0, 0, b, margin)
                });
            }
        }
        let verdicts: Vec<HumanVerdict> = (0..100)
            .map(|at| HumanVerdict {
                query: at / 10,
                ..verdict(0, 1 + at % 10, Some(f64::from(u8::from(at / 10 % 3 != 0))))
            })
            .collect();
        let card = &judge_reports(&ratings, &verdicts)[0];
        let width = |share: Share| share.interval.high - share.interval.low;
        let plain = |share: Share| width(Share::of_clusters([(share.part, share.n)]).unwrap());
        let shares = [
            card.ties.unwrap(),
            card.length.longer.unwrap(),
            card.calibration.as_ref().unwrap().bins[0].correct,
        ];
        for share in shares {
            assert!(width(share) > 2.0 * plain(share), "{share:?}");
        }
        // About the same as with one battle per query.
        let one: Vec<Rating> = ratings.iter().copied().step_by(10).collect();
        let one = &judge_reports(&one, &[])[0];
        let ratio = card.length.slope.unwrap().se / one.length.slope.unwrap().se;
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
        let ratio = card.response.unwrap().beta_se / one.response.unwrap().beta_se;
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn surprise_is_one_bit_where_the_fit_knows_nothing() {
        let with = |gap: f64, margin: f64| Rating {
            gap: Some(gap),
            ..rating(0, 0, 1, margin)
        };
        let bits = |ratings: &[Rating]| mean_surprise(ratings).map(|s| (s.bits, s.n));
        assert_eq!(bits(&[with(0.0, 1.0), with(0.0, 0.0)]), Some((1.0, 2)));
        let (expected, n) = bits(&[with(3.0f64.ln(), -1.0), rating(0, 0, 1, 1.0)]).unwrap();
        assert!((expected - 2.0).abs() < 1e-12 && n == 1);
        assert_eq!(bits(&[rating(0, 0, 1, 1.0), with(f64::NAN, 1.0)]), None);
    }

    #[test]
    fn the_ensemble_votes_once_a_battle() {
        let ratings = [
            rating(0, 0, 1, 1.0),
            rating(1, 0, 1, 0.2),
            rating(2, 0, 1, -1.0),
            rating(0, 0, 2, 1.0),
            rating(1, 0, 2, -1.0),
        ];
        let card = ensemble_report(
            &ratings,
            &[verdict(0, 1, Some(1.0)), verdict(0, 2, Some(0.5))],
        );
        assert_eq!(
            (card.judge, card.votes, card.ties.unwrap().part),
            (None, 2, 1.0)
        );
        assert_eq!(card.people.all.raw.unwrap().value, 1.0);
        let calibration = card.calibration.unwrap();
        assert!((calibration.bins[0].confidence - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(
            (card.flips, card.position, card.response),
            (None, None, None)
        );
    }

    #[test]
    fn a_judge_without_a_real_vote_has_an_empty_card() {
        let card = &judge_reports(&[rating(3, 5, 5, 1.0)], &[])[0];
        assert_eq!((card.judge, card.votes, card.ties), (Some(3), 0, None));
        assert_eq!((card.position, card.surprise), (None, None));
        assert_eq!(ensemble_report(&[], &[]).votes, 0);
    }

    fn exchanged(rating: &Rating) -> Rating {
        Rating {
            a: rating.b,
            b: rating.a,
            margin: rating.margin.flipped(),
            swapped: !rating.swapped,
            length_a: rating.length_b,
            length_b: rating.length_a,
            gap: rating.gap.map(|gap| -gap),
            ..*rating
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn who_is_called_a_does_not_matter(
            rows in prop::collection::vec(
                ((0usize..3, 0usize..5, 0usize..5), (-2i8..=2, any::<bool>()), (1usize..9, 1usize..9), -2.0f64..2.0),
                1..80,
            ),
        ) {
            let ratings: Vec<Rating> = rows
                .iter()
                .enumerate()
                .map(|(at, ((judge, a, b), (margin, swapped), (length_a, length_b), gap))| Rating {
                    battle: at,
                    swapped: *swapped,
                    length_a: *length_a,
                    length_b: *length_b,
                    gap: Some(*gap),
                    ..rating(*judge, *a, *b, f64::from(*margin) / 2.0)
                })
                .collect();
            let verdicts = [verdict(0, 1, Some(1.0)), verdict(2, 3, Some(0.5)), verdict(1, 4, Some(0.0))];
            let turned: Vec<Rating> = ratings.iter().map(exchanged).collect();
            let (one, other) = (judge_reports(&ratings, &verdicts), judge_reports(&turned, &verdicts));
            prop_assert_eq!(one.len(), other.len());
            let close = |x: Option<f64>, y: Option<f64>| match (x, y) {
                (Some(x), Some(y)) => (x - y).abs() < 1e-6,
                (x, y) => x.is_none() && y.is_none(),
            };
            for (one, other) in one.iter().zip(&other) {
                prop_assert_eq!(one.ties, other.ties);
                prop_assert_eq!(one.people, other.people);
                prop_assert_eq!(&one.calibration, &other.calibration);
                prop_assert_eq!(one.flips, other.flips);
                prop_assert_eq!(one.triads, other.triads);
                prop_assert_eq!(one.length.longer, other.length.longer);
                let shift = |card: &JudgeReport| card.position.map(|p| p.value);
                prop_assert!(close(shift(one), shift(other)));
                let gamma = |card: &JudgeReport| card.response.map(|r| r.gamma);
                prop_assert!(close(gamma(one), gamma(other)));
                let slope = |card: &JudgeReport| card.length.slope.map(|s| s.value);
                prop_assert!(close(slope(one), slope(other)));
                let bits = |card: &JudgeReport| card.surprise.map(|s| s.bits);
                prop_assert!(close(bits(one), bits(other)));
            }
        }
    }
}
