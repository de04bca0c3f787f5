//! The judged pairs that a student learns from. The numbers of each document are stored once; the
//! features of a pair are computed when it is read.

use crate::domain::ranking::PairTarget;
use crate::features::student::domain::features::{PairFeatures, QueryFeatures};

/// The judged pairs of one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainingQuery<'a> {
    /// The index of the query.
    pub query: usize,
    pub features: &'a QueryFeatures,
    /// The ensemble's scores, which determine the soft targets, and weights in battles.
    pub pairs: &'a [PairTarget],
    /// Additional differences and symmetric numbers, as many for each pair, in the order of the
    /// pairs.
    pub differences: &'a [f64],
    pub others: &'a [f64],
}

impl TrainingQuery<'_> {
    /// Reads the features of the pair at an index.
    #[inline]
    pub fn read(&self, at: usize, into: &mut PairFeatures) {
        let Some(target) = self.pairs.get(at) else {
            return;
        };
        let documents = (target.pair.low(), target.pair.high());
        let differences = self.of_pair(self.differences, at);
        let features = self.features;
        features.read_pair(documents, differences, self.others_of(at), into);
    }

    /// The additional symmetric numbers of the pair at an index.
    #[inline]
    pub fn others_of(&self, at: usize) -> &[f64] {
        self.of_pair(self.others, at)
    }

    #[inline]
    fn of_pair<'b>(&self, numbers: &'b [f64], at: usize) -> &'b [f64] {
        let width = numbers.len() / self.pairs.len().max(1);
        numbers
            .get(at * width..(at + 1) * width)
            .unwrap_or_default()
    }

    /// Number of features that each pair has: those of its documents, additional differences, and
    /// additional symmetric numbers. `None` if pairs have different features.
    fn shape(&self) -> Option<[usize; 3]> {
        let of = |numbers: &[f64]| {
            let pairs = self.pairs.len();
            numbers
                .len()
                .is_multiple_of(pairs)
                .then(|| numbers.len() / pairs)
        };
        Some([
            self.features.width(),
            of(self.differences)?,
            of(self.others)?,
        ])
    }
}

/// Training pairs that all have the same features.
#[derive(Clone, Copy)]
pub(super) struct TrainingTable<'a> {
    queries: &'a [TrainingQuery<'a>],
    odd: usize,
    width: usize,
}

impl<'a> TrainingTable<'a> {
    /// `None` without pairs, and if pairs have different features, a weight of 0 or a score outside
    /// 0..=1. Every query has pairs.
    pub(super) fn new(queries: &'a [TrainingQuery<'a>]) -> Option<Self> {
        let shape = queries.first()?.shape()?;
        let is_sound = |query: &TrainingQuery<'_>| {
            let mut pairs = query.pairs.iter();
            query.shape() == Some(shape)
                && pairs.all(|pair| pair.weight > 0.0 && (0.0..=1.0).contains(&pair.score))
        };
        let [documents, differences, others] = shape;
        let odd = documents + differences;
        queries.iter().all(is_sound).then_some(Self {
            queries,
            odd,
            width: 2 * odd + 1 + others,
        })
    }

    /// Number of features, and how many of them (the first ones) are odd.
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.width, self.odd)
    }

    /// The queries at some indexes.
    pub(super) fn at<'b>(
        &self,
        places: &'b [usize],
    ) -> impl Iterator<Item = &'a TrainingQuery<'a>> + Clone + use<'a, 'b> {
        let queries = self.queries;
        places.iter().filter_map(|at| queries.get(*at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::Pair;

    #[test]
    fn features_are_those_of_the_pair_with_its_own_additional_numbers() {
        let numbers: Vec<Vec<Option<f64>>> =
            [1.0, 3.0, 8.0].map(|x| vec![Some(x), Some(-x)]).to_vec();
        let features = QueryFeatures::new(&numbers);
        let target = |low, high| PairTarget {
            pair: Pair::new(low, high).unwrap(),
            score: 1.0,
            weight: 2.0,
        };
        let pairs = [target(0, 1), target(1, 2)];
        let query = TrainingQuery {
            query: 4,
            features: &features,
            pairs: &pairs,
            differences: &[0.1, 0.2, 0.3, 0.4],
            others: &[5.0, 6.0],
        };
        let mut read = PairFeatures::default();
        query.read(1, &mut read);
        assert_eq!(read, features.pair(1, 2, &[0.3, 0.4], &[6.0]));
        query.read(0, &mut read);
        assert_eq!(read, features.pair(0, 1, &[0.1, 0.2], &[5.0]));
        let table = [query];
        assert_eq!(
            TrainingTable::new(&table).unwrap().shape(),
            (read.all().len(), read.odd().len())
        );
        for wrong in [
            TrainingQuery {
                differences: &[0.1],
                ..query
            },
            TrainingQuery {
                others: &[0.1],
                ..query
            },
        ] {
            assert!(TrainingTable::new(&[wrong]).is_none());
            assert!(TrainingTable::new(&[query, wrong]).is_none());
        }
        assert!(
            TrainingTable::new(&[
                query,
                TrainingQuery {
                    others: &[],
                    ..query
                }
            ])
            .is_none()
        );
    }
}
