//! The votes of a query as regressions take them, and the regressions of all cards, a query at a time.

use super::logistic::{JudgeRegression, LikelihoodTerms, LogisticSearch, RegressionCase};
use super::{LengthSlope, Rating};
use serde::{Deserialize, Serialize};

/// The number that stands for all judges together.
const TOGETHER: u32 = u32::MAX;

/// The votes of one query with what is to explain them. Judges are numbered within the query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VoteCases {
    /// Battles with a fitted gap: the gap, ln of the ratio of B's length to A's (NaN where one is empty), and how many of
    /// the votes are about them.
    battles: Vec<(f64, f64, u32)>,
    /// The judge of each vote, twice its score, and whether B was shown first.
    votes: Vec<(u32, u8, bool)>,
}

impl VoteCases {
    /// Of the judges' ratings and those of all together.
    pub(super) fn of(ratings: &[Rating], together: &[Rating]) -> Self {
        let together = together.iter().map(|rating| Rating {
            judge: TOGETHER as usize,
            ..*rating
        });
        let real = ratings.iter().copied().chain(together);
        let mut rows: Vec<(f64, Rating)> = real
            .filter(|rating| rating.a != rating.b)
            .filter_map(|rating| Some((rating.finite_gap()?, rating)))
            .collect();
        let spot = |gap: f64, rating: &Rating| {
            let lengths = (rating.length_a, rating.length_b);
            (rating.battle, rating.a, rating.b, lengths, gap.to_bits())
        };
        rows.sort_by_key(|(gap, rating)| spot(*gap, rating));
        let mut cases = Self::default();
        for like in rows.chunk_by(|(x, one), (y, other)| spot(*x, one) == spot(*y, other)) {
            let (gap, first) = like[0];
            let ratio = match first.length_a > 0 && first.length_b > 0 {
                true => (first.length_b as f64 / first.length_a as f64).ln(),
                false => f64::NAN,
            };
            cases.battles.push((gap, ratio, like.len() as u32));
            let vote = |(_, rating): &(f64, Rating)| {
                let score = (2.0 * rating.score()) as u8;
                (rating.judge as u32, score, rating.swapped)
            };
            cases.votes.extend(like.iter().map(vote));
        }
        cases
    }
}

/// What the regressions say of one judge, or of all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CardFits {
    pub(super) response: Option<JudgeRegression>,
    pub(super) slope: Option<LengthSlope>,
}

/// The regressions of all cards, in step with each other: each round takes one look at every query's cases.
#[derive(Clone, Debug)]
pub struct FitSearch {
    /// By judge, and all together last: the response to gap and order, and the slope on length.
    searches: Vec<[LogisticSearch; 2]>,
}

/// What the votes of one query add to a round of [`FitSearch`].
#[derive(Clone, Debug)]
pub struct FitTerms(Vec<[LikelihoodTerms; 2]>);

impl FitTerms {
    /// Adds those of another query.
    pub fn join(&mut self, other: &Self) {
        for (sums, parts) in self.0.iter_mut().zip(&other.0) {
            for (sum, part) in sums.iter_mut().zip(parts) {
                sum.join(part);
            }
        }
    }
}

impl FitSearch {
    /// For so many judges.
    pub fn new(judges: usize) -> Self {
        Self {
            searches: vec![Default::default(); judges + 1],
        }
    }

    /// Whether another round is wanted.
    pub fn goes_on(&self) -> bool {
        let mut searches = self.searches.iter().flatten();
        searches.any(|search| search.trial().is_some())
    }

    /// The terms of no query.
    pub fn nothing(&self) -> FitTerms {
        FitTerms(vec![Default::default(); self.searches.len()])
    }

    /// What a query adds; `numbers` says which judge each of its own is.
    pub fn terms(&self, cases: &VoteCases, numbers: &[usize]) -> FitTerms {
        let mut terms = self.nothing();
        let trials: Vec<[Option<[f64; 2]>; 2]> = self
            .searches
            .iter()
            .map(|[response, slope]| [response.trial(), slope.trial()])
            .collect();
        let last = self.searches.len() - 1;
        let mut votes = cases.votes.iter();
        for (gap, ratio, count) in &cases.battles {
            for (judge, score, swapped) in votes.by_ref().take(*count as usize) {
                let (at, together) = match *judge {
                    TOGETHER => (last, true),
                    judge => (numbers.get(judge as usize).copied().unwrap_or(last), false),
                };
                let case = |x: f64| RegressionCase {
                    x: [*gap, x],
                    vote: f64::from(*score) / 2.0,
                    weight: 1.0,
                };
                let (terms, trials) = (&mut terms.0[at], &trials[at]);
                // All together were shown nothing.
                if let (false, Some(trial)) = (together, trials[0]) {
                    terms[0].add(&case(if *swapped { 1.0 } else { -1.0 }), trial);
                }
                if let (false, Some(trial)) = (ratio.is_nan(), trials[1]) {
                    terms[1].add(&case(*ratio), trial);
                }
            }
        }
        // Votes of one query are alike.
        let judges = terms.0.iter_mut().flatten();
        judges.for_each(LikelihoodTerms::close_cluster);
        terms
    }

    /// Ends a round with the sum over all queries.
    pub fn take(&mut self, terms: FitTerms) {
        for (searches, terms) in self.searches.iter_mut().zip(terms.0) {
            for (search, terms) in searches.iter_mut().zip(terms) {
                search.take(terms);
            }
        }
    }

    /// What was found, by judge, and of all together last.
    pub fn found(self) -> Vec<CardFits> {
        let fits = self.searches.into_iter();
        fits.map(|[response, slope]| CardFits {
            response: JudgeRegression::of(response),
            slope: LengthSlope::of(slope),
        })
        .collect()
    }
}
