//! The votes of a query as input for regressions, and the regressions of all cards, processed one
//! query at a time.

use super::logistic::{JudgeRegression, LikelihoodTerms, LogisticSearch, RegressionCase};
use super::{LengthSlope, Rating};
use serde::{Deserialize, Serialize};

/// The judge number that represents all judges together.
const TOGETHER: u32 = u32::MAX;

/// The votes of one query with their predictors. Judges have numbers local to the query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VoteCases {
    /// Battles with a fitted gap: the gap, ln of the ratio of B's length to A's (NaN if one is
    /// empty), and the number of votes on the battle.
    battles: Vec<(f64, f64, u32)>,
    /// The judge of each vote, twice its score, and whether B was shown first.
    votes: Vec<(u32, u8, bool)>,
}

impl VoteCases {
    /// Collects the cases of the judges' ratings and of all judges together.
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
            let ratio = if first.length_a > 0 && first.length_b > 0 {
                (first.length_b as f64 / first.length_a as f64).ln()
            } else {
                f64::NAN
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

/// The regression results of one judge, or of all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CardFits {
    pub(super) response: Option<JudgeRegression>,
    pub(super) slope: Option<LengthSlope>,
}

/// The regressions of all cards, run in lockstep: each round visits every query's cases once.
#[derive(Clone, Debug)]
pub struct FitSearch {
    /// By judge, with all together last: the response to gap and order, and the slope on length.
    searches: Vec<[LogisticSearch; 2]>,
}

/// One query's contribution to a round of [`FitSearch`].
#[derive(Clone, Debug)]
pub struct FitTerms(Vec<[LikelihoodTerms; 2]>);

impl FitTerms {
    /// Adds the terms of another query.
    pub fn join(&mut self, other: &Self) {
        for (sums, parts) in self.0.iter_mut().zip(&other.0) {
            for (sum, part) in sums.iter_mut().zip(parts) {
                sum.join(part);
            }
        }
    }
}

impl FitSearch {
    /// Creates the searches for this many judges.
    pub fn new(judges: usize) -> Self {
        Self {
            searches: vec![Default::default(); judges + 1],
        }
    }

    /// Whether another round is needed.
    pub fn goes_on(&self) -> bool {
        self.searches
            .iter()
            .flatten()
            .any(|search| search.trial().is_some())
    }

    /// Empty terms.
    pub fn nothing(&self) -> FitTerms {
        FitTerms(vec![Default::default(); self.searches.len()])
    }

    /// One query's contribution; `numbers` maps the query's local judge numbers to global ones.
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
                // All judges together were not shown anything in any order.
                if let (false, Some(trial)) = (together, trials[0]) {
                    terms[0].add(&case(if *swapped { 1.0 } else { -1.0 }), trial);
                }
                if let (false, Some(trial)) = (ratio.is_nan(), trials[1]) {
                    terms[1].add(&case(*ratio), trial);
                }
            }
        }
        // Votes of one query are correlated, so they form a cluster.
        terms
            .0
            .iter_mut()
            .flatten()
            .for_each(LikelihoodTerms::close_cluster);
        terms
    }

    /// Ends a round, given the sum over all queries.
    pub fn take(&mut self, terms: FitTerms) {
        for (searches, terms) in self.searches.iter_mut().zip(terms.0) {
            for (search, terms) in searches.iter_mut().zip(terms) {
                search.take(terms);
            }
        }
    }

    /// The results by judge, with all together last.
    pub fn found(self) -> Vec<CardFits> {
        self.searches
            .into_iter()
            .map(|[response, slope]| CardFits {
                response: JudgeRegression::of(response),
                slope: LengthSlope::of(slope),
            })
            .collect()
    }
}
