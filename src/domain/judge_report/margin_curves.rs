//! Calibrates each judge's margins against people or other votes on the same pairs.

use super::{HumanVerdict, Rating, reference_verdicts, score};
use crate::domain::agreement::{ClusteredError, Interval};
use crate::domain::vote::{Margin, MarginCurve, Outcome};
use serde::Serialize;
use std::collections::BTreeMap;

/// The reference for a judge's margins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MarginReference {
    /// People's blind verdicts.
    People,
    /// The judge's own votes in the other order, and the other judges' votes.
    Judges,
}

/// The calibration curve of one judge's margins.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibratedMargins {
    pub reference: MarginReference,
    pub curve: MarginCurve,
}

/// Whether a judge's margins carry more information than their direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MarginEvidence {
    /// How often people agree with the larger half of its margins.
    pub larger: f64,
    /// How often people agree with the smaller half.
    pub smaller: f64,
    /// The difference with its 95 % interval, clustered by query.
    pub difference: f64,
    pub interval: Option<Interval>,
    pub comparisons: usize,
}

impl MarginEvidence {
    /// Whether the larger margins are significantly and substantially more often right.
    pub fn suggests_calibration(&self) -> bool {
        self.interval.is_some_and(|interval| interval.low > 0.05)
    }
}

/// A vote's margin and how far the reference agrees with it.
struct Compared {
    query: usize,
    margin: Margin,
    agreed: f64,
}

/// The comparisons of each judge: with people if there are enough of them for a curve, otherwise
/// with other votes.
fn comparisons(
    ratings: &[Rating],
    verdicts: &[HumanVerdict],
) -> BTreeMap<usize, (MarginReference, Vec<Compared>)> {
    let references = reference_verdicts(verdicts);
    let mut pairs: BTreeMap<_, Vec<(&Rating, Margin)>> = BTreeMap::new();
    for rating in ratings {
        if let Some((key, _)) = rating.on_pair() {
            let margin = if rating.a < rating.b {
                rating.margin
            } else {
                rating.margin.flipped()
            };
            pairs.entry(key).or_default().push((rating, margin));
        }
    }
    let mut found: BTreeMap<usize, [Vec<Compared>; 2]> = BTreeMap::new();
    let stated = |margin: Margin| margin.outcome() != Outcome::Tie;
    for ((query, pair), votes) in &pairs {
        for (own, margin) in votes.iter().filter(|(_, margin)| stated(*margin)) {
            let agreed = |other: Outcome| match score(margin.outcome()) {
                1.0 => score(other),
                _ => 1.0 - score(other),
            };
            let compared = |other: Outcome| Compared {
                query: *query,
                margin: *margin,
                agreed: agreed(other),
            };
            let [people, judges] = found.entry(own.judge).or_default();
            let verdict = references.get(&(*query, *pair));
            people.extend(verdict.map(|verdict| compared(verdict.outcome)));
            // Whether the document earlier in the pool was shown first, whatever the battle calls
            // it.
            let low_first = |rating: &Rating| rating.swapped == (rating.a > rating.b);
            let others = votes.iter().filter(|(other, _)| {
                other.judge != own.judge || low_first(other) != low_first(own)
            });
            judges.extend(others.map(|(_, other)| compared(other.outcome())));
        }
    }
    let choose = |(judge, [people, judges]): (usize, [Vec<Compared>; 2])| {
        let of = |votes: &[Compared]| MarginCurve::fit(pairs_of(votes)).is_some();
        let chosen = if of(&people) {
            (MarginReference::People, people)
        } else {
            (MarginReference::Judges, judges)
        };
        (judge, chosen)
    };
    found.into_iter().map(choose).collect()
}

fn pairs_of(votes: &[Compared]) -> impl Iterator<Item = (Margin, f64)> + '_ {
    votes.iter().map(|vote| (vote.margin, vote.agreed))
}

/// The calibration curves of the judges' margins, by judge: against people's blind verdicts if at
/// least 100 votes have one, otherwise against the same judge's votes in the other order and the
/// other judges' votes on the same pairs. Judges with fewer comparisons are skipped.
pub fn margin_curves(
    ratings: &[Rating],
    verdicts: &[HumanVerdict],
) -> BTreeMap<usize, CalibratedMargins> {
    let fitted = |(judge, (reference, votes)): (usize, (MarginReference, Vec<Compared>))| {
        let curve = MarginCurve::fit(pairs_of(&votes))?;
        Some((judge, CalibratedMargins { reference, curve }))
    };
    comparisons(ratings, verdicts)
        .into_iter()
        .filter_map(fitted)
        .collect()
}

/// Whether each judge's margins carry more information than their direction, based on people's
/// blind verdicts, by judge. Judges with fewer than 100 comparisons, or whose margins are all of
/// the same size, are skipped. The ratings may be restricted to the pairs that people judged.
pub fn margin_evidence(
    ratings: &[Rating],
    verdicts: &[HumanVerdict],
) -> BTreeMap<usize, MarginEvidence> {
    let compared = comparisons(ratings, verdicts).into_iter();
    compared
        .filter(|(_, (reference, _))| *reference == MarginReference::People)
        .filter_map(|(judge, (_, votes))| Some((judge, evidence(&votes)?)))
        .collect()
}

fn evidence(votes: &[Compared]) -> Option<MarginEvidence> {
    MarginCurve::fit(pairs_of(votes))?;
    let mut sizes: Vec<f64> = votes.iter().map(|vote| vote.margin.get().abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let (least, median) = (*sizes.first()?, *sizes.get(sizes.len() / 2)?);
    // The median belongs to the larger half, unless everything does.
    let is_larger = |vote: &Compared| {
        let size = vote.margin.get().abs();
        size > median || (size == median && median > least)
    };
    let (larger, smaller): (Vec<&Compared>, Vec<&Compared>) =
        votes.iter().partition(|vote| is_larger(vote));
    let mean = |part: &[&Compared]| {
        let sum: f64 = part.iter().map(|vote| vote.agreed).sum();
        (!part.is_empty()).then(|| sum / part.len() as f64)
    };
    let (high, low) = (mean(&larger)?, mean(&smaller)?);
    let pull = |part: &[&Compared], mean: f64, sign: f64| -> Vec<(usize, f64)> {
        let n = part.len() as f64;
        let pull = |vote: &&Compared| (vote.query, sign * (vote.agreed - mean) / n);
        part.iter().map(pull).collect()
    };
    let mut pulls = pull(&larger, high, 1.0);
    pulls.extend(pull(&smaller, low, -1.0));
    let error = ClusteredError::new(pulls);
    Some(MarginEvidence {
        larger: high,
        smaller: low,
        difference: high - low,
        interval: error.and_then(|error| error.interval(high - low, -1.0, 1.0)),
        comparisons: votes.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{rating, verdict};
    use super::*;

    /// Pairs on which judge 0 states .9 and judge 1 agrees in nine of ten, and pairs on which it
    /// states .2 and judge 1 agrees in six of ten; judge 1's battles swap the documents.
    fn ratings() -> Vec<Rating> {
        let mut found = Vec::new();
        for at in 0..200 {
            let (size, of_ten) = if at % 2 == 0 { (0.9, 9) } else { (0.2, 6) };
            let agrees = if at / 2 % 10 < of_ten { 1.0 } else { -1.0 };
            let query = at / 10;
            found.push(Rating {
                query,
                ..rating(0, at, 999, size)
            });
            found.push(Rating {
                query,
                ..rating(1, 999, at, -agrees)
            });
        }
        found
    }

    #[test]
    fn margins_are_held_against_other_judges() {
        let curves = margin_curves(&ratings(), &[]);
        let curve = &curves[&0];
        assert_eq!(
            (curve.reference, curve.curve.comparisons),
            (MarginReference::Judges, 200)
        );
        assert!((curve.curve.share(0.9) - 0.9).abs() < 1e-12);
        assert!((curve.curve.share(0.2) - 0.6).abs() < 1e-12);
        // Judge 1 always states 1, so its value is the share that agrees.
        assert!((curves[&1].curve.share(1.0) - 0.75).abs() < 1e-12);
        assert!(margin_evidence(&ratings(), &[]).is_empty());
    }

    #[test]
    fn larger_margins_that_people_agree_with_more_often_are_told() {
        let people: Vec<HumanVerdict> = ratings()
            .iter()
            .filter(|rating| rating.judge == 1)
            .map(|rating| HumanVerdict {
                query: rating.query,
                ..verdict(rating.a, rating.b, Some(0.5 + 0.5 * rating.margin.get()))
            })
            .collect();
        let evidence = margin_evidence(&ratings(), &people);
        let of = evidence[&0];
        assert!((of.difference - 0.3).abs() < 1e-12, "{of:?}");
        assert!(of.suggests_calibration(), "{of:?}");
        assert_eq!(evidence.get(&1), None);
    }

    #[test]
    fn people_come_first_where_they_are_enough() {
        let people: Vec<HumanVerdict> = (0..100)
            .map(|at| HumanVerdict {
                query: at / 10,
                ..verdict(at, 999, Some(1.0))
            })
            .collect();
        let curve = &margin_curves(&ratings(), &people)[&0];
        assert_eq!(curve.reference, MarginReference::People);
        assert_eq!(curve.curve.share(0.2), 1.0);
        let curve = &margin_curves(&ratings(), &people[1..])[&0];
        assert_eq!(curve.reference, MarginReference::Judges);
    }
}
