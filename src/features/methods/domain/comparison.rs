//! Compares methods: values with and without failed queries, tests with Holm's correction, and the
//! methods on the Pareto front of quality and cost.

use crate::domain::metrics::{MeanEstimate, Resampling, estimate};

/// A method's values of one measure, per query.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodValues {
    /// In the order of the compared queries; `None` for a query without an order or without a
    /// value.
    pub per_query: Vec<Option<f64>>,
    /// The mean with failed queries as 0.
    pub all: Option<MeanEstimate>,
    /// The mean over the queries with a value.
    pub answered: Option<MeanEstimate>,
}

impl MethodValues {
    /// `run` marks the queries that have a result, failed or not; only those count in the mean
    /// `all`.
    pub fn new(per_query: Vec<Option<f64>>, run: &[bool], how: &Resampling) -> Self {
        let answered: Vec<f64> = per_query.iter().flatten().copied().collect();
        let all: Vec<f64> = per_query
            .iter()
            .zip(run)
            .filter(|(_, run)| **run)
            .map(|(value, _)| value.unwrap_or(0.0))
            .collect();
        let answered_mean = estimate(&answered, how);
        Self {
            all: if all.len() == answered.len() {
                answered_mean
            } else {
                estimate(&all, how)
            },
            answered: answered_mean,
            per_query,
        }
    }

    /// The values on the queries where both have one, this method's first.
    pub fn paired(&self, other: &Self) -> (Vec<f64>, Vec<f64>) {
        self.per_query
            .iter()
            .zip(&other.per_query)
            .filter_map(|(mine, theirs)| Some(((*mine)?, (*theirs)?)))
            .unzip()
    }

    /// The queries on which the two differ, this method's largest losses first.
    pub fn deltas(&self, other: &Self) -> Vec<QueryDelta> {
        let both = self.per_query.iter().zip(&other.per_query).enumerate();
        let mut deltas: Vec<QueryDelta> = both
            .filter_map(|(query, (mine, theirs))| {
                let delta = (*mine)? - (*theirs)?;
                (delta != 0.0).then_some(QueryDelta { query, delta })
            })
            .collect();
        deltas.sort_by(|x, y| x.delta.total_cmp(&y.delta));
        deltas
    }
}

/// The difference of two methods on one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryDelta {
    /// Index among the compared queries.
    pub query: usize,
    pub delta: f64,
}

/// Which methods, each with cost and quality, are on the Pareto front: no other method has at most
/// their cost and at least their quality, with one of the two better. A method without both values
/// is not on the front.
pub fn methods_on_front(methods: &[Option<(f64, f64)>]) -> Vec<bool> {
    let beaten = |one: (f64, f64)| {
        methods.iter().flatten().any(|(cost, quality)| {
            *cost <= one.0 && *quality >= one.1 && (*cost < one.0 || *quality > one.1)
        })
    };
    let on_front = |one: &Option<(f64, f64)>| one.is_some_and(|one| !beaten(one));
    methods.iter().map(on_front).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::metrics::histogram;

    #[test]
    fn failed_queries_are_missing_or_nothing_and_never_both() {
        let how = Resampling::default();
        let values = MethodValues::new(
            vec![Some(0.5), None, Some(1.0), None],
            &[true, true, true, false],
            &how,
        );
        assert_eq!(values.all.map(|of| (of.mean, of.n)), Some((0.5, 3)));
        assert_eq!(values.answered.map(|of| (of.mean, of.n)), Some((0.75, 2)));
        let other = MethodValues::new(
            vec![Some(0.75), Some(1.0), Some(1.0), None],
            &[true; 4],
            &how,
        );
        assert_eq!(values.paired(&other), (vec![0.5, 1.0], vec![0.75, 1.0]));
        let delta = QueryDelta {
            query: 0,
            delta: -0.25,
        };
        assert_eq!(values.deltas(&other), [delta]);
    }

    #[test]
    fn the_front_holds_what_no_other_beats() {
        let methods = [
            Some((0.0, 0.5)),
            Some((1.0, 0.7)),
            Some((2.0, 0.6)),
            Some((3.0, 0.9)),
            None,
            Some((3.0, 0.9)),
        ];
        assert_eq!(
            methods_on_front(&methods),
            [true, true, false, true, false, true]
        );
    }

    #[test]
    fn tenths_are_counted() {
        let counts: [usize; 10] = histogram([0.0, 0.05, 0.1, 0.95, 1.0].into_iter());
        assert_eq!((counts[0], counts[1], counts[9]), (2, 1, 2));
    }
}
