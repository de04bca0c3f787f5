//! The values of a metric by groups of queries, and whether a group differs from all others.

use super::significance::{MeanEstimate, Resampling, estimate, has_width, holm};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The queries of a slice under one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSlice {
    /// `None` for the queries without a value of the field.
    pub slice: Option<String>,
    pub estimate: MeanEstimate,
    /// `None` if the slice or the rest has fewer than two queries, or if the values of either do not
    /// vary: equal values say nothing about how much others might differ.
    pub rest: Option<RestDifference>,
}

/// The mean of a slice minus the mean of all other queries, by Welch's t-test (1947).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RestDifference {
    pub difference: f64,
    /// The interval of the difference at 95 %.
    pub low: f64,
    pub high: f64,
    /// Two-sided p-value of a difference of zero.
    pub p: f64,
    /// With Holm's correction over the slices.
    pub p_holm: f64,
}

/// The slices of the values of queries, in the order of their names, the queries without one last.
pub fn metric_slices(values: &[(Option<&str>, f64)]) -> Vec<MetricSlice> {
    let mut names: Vec<Option<&str>> = values.iter().map(|(name, _)| *name).collect();
    names.sort_unstable_by_key(|name| (name.is_none(), *name));
    names.dedup();
    let slices = names.into_iter().filter_map(|name| {
        let (own, rest): (Vec<_>, Vec<_>) = values.iter().partition(|(of, _)| *of == name);
        let numbers = |of: Vec<&(_, f64)>| of.into_iter().map(|(_, value)| *value).collect();
        let [own, rest]: [Vec<f64>; 2] = [own, rest].map(numbers);
        Some(MetricSlice {
            slice: name.map(str::to_owned),
            estimate: estimate(&own, &Resampling::of(own.len()))?,
            rest: welch(&own, &rest),
        })
    });
    let mut slices: Vec<MetricSlice> = slices.collect();
    let p: Vec<Option<f64>> = slices.iter().map(|of| Some(of.rest?.p)).collect();
    for (slice, p) in slices.iter_mut().zip(holm(&p)) {
        if let (Some(rest), Some(p)) = (&mut slice.rest, p) {
            rest.p_holm = p;
        }
    }
    slices
}

/// The difference of two means, not yet corrected. Degrees of freedom are Satterthwaite's (1946).
fn welch(own: &[f64], rest: &[f64]) -> Option<RestDifference> {
    let (mean, error) = mean_and_error(own)?;
    let (other, other_error) = mean_and_error(rest)?;
    let variance = error + other_error;
    let share = |part: f64, n: usize| part.powi(2) / (n as f64 - 1.0);
    let degrees = variance.powi(2) / (share(error, own.len()) + share(other_error, rest.len()));
    let student = StudentsT::new(0.0, 1.0, degrees).ok()?;
    let (difference, se) = (mean - other, variance.sqrt());
    let half = student.inverse_cdf(0.975) * se;
    let p = 2.0 * student.cdf(-difference.abs() / se);
    Some(RestDifference {
        difference,
        low: difference - half,
        high: difference + half,
        p,
        p_holm: p,
    })
}

/// The mean, and the square of its standard error; `None` for values that do not vary.
fn mean_and_error(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    has_width(&(low, high)).then(|| (mean, squares / (n - 1.0) / n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_slice_is_compared_with_all_other_queries() {
        // The values of scipy.stats.ttest_ind(own, rest, equal_var=False) and its interval.
        let own = [0.2, 0.4, 0.1, 0.3];
        let rest = [0.9, 0.7, 0.8, 0.95, 0.6, 0.5];
        let mut values: Vec<_> = own.iter().map(|value| (Some("cars"), *value)).collect();
        values.extend(rest.iter().map(|value| (Some("sea"), *value)));
        let found = metric_slices(&values);
        let cars = found[0].rest.unwrap();
        assert_eq!(found[0].slice.as_deref(), Some("cars"));
        for (found, expected) in [
            (cars.difference, -0.491_666_666_666_666_7),
            (cars.p, 0.000_983_386_351_717_450_5),
            (cars.low, -0.714_241_975_360_442),
            (cars.high, -0.269_091_357_972_891_63),
            (cars.p_holm, 2.0 * 0.000_983_386_351_717_450_5),
        ] {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        assert!((found[1].rest.unwrap().difference + cars.difference).abs() < 1e-12);
    }

    #[test]
    fn slices_of_one_query_or_of_equal_values_are_not_tested() {
        let values = [
            (Some("a"), 0.5),
            (Some("b"), 0.1),
            (Some("b"), 0.3),
            (None, 1.0),
        ];
        let found = metric_slices(&values);
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].rest, found[0].estimate.interval), (None, None));
        assert!(found[1].rest.is_some());
        assert_eq!(found[2].slice, None);
        for rest in [1.0, 0.2] {
            let equal = [
                (Some("a"), 0.1),
                (Some("a"), 0.1),
                (None, rest),
                (None, 1.0),
            ];
            assert!(metric_slices(&equal).iter().all(|of| of.rest.is_none()));
        }
    }

    proptest! {
        /// Every query is in one slice, and the corrected p-values are not below the others.
        #[test]
        fn slices_are_a_partition(values in proptest::collection::vec((0..4_u8, 0.0..1.0), 0..40)) {
            let names = [Some("a"), Some("b"), Some("c"), None];
            let values: Vec<_> = values.iter().map(|(at, value)| (names[usize::from(*at)], *value)).collect();
            let found = metric_slices(&values);
            prop_assert_eq!(found.iter().map(|of| of.estimate.n).sum::<usize>(), values.len());
            let sum: f64 = found.iter().map(|of| of.estimate.mean * of.estimate.n as f64).sum();
            prop_assert!((sum - values.iter().map(|(_, value)| value).sum::<f64>()).abs() < 1e-9);
            for rest in found.iter().filter_map(|of| of.rest) {
                prop_assert!(rest.p <= rest.p_holm && rest.p_holm <= 1.0);
                prop_assert!(rest.low <= rest.difference && rest.difference <= rest.high);
            }
        }
    }
}
