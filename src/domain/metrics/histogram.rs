//! How the values of a metric are distributed over queries.

/// The values of a metric, one per query, under the name of a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricDistribution {
    pub name: String,
    /// In 0..=1.
    pub values: Vec<f64>,
}

impl MetricDistribution {
    /// The mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        let count = self.values.len();
        (count > 0).then(|| self.values.iter().sum::<f64>() / count as f64)
    }

    /// The number of values in each of `N` equal parts of 0..=1.
    pub fn counts<const N: usize>(&self) -> [usize; N] {
        histogram(self.values.iter().copied())
    }
}

/// The number of values in each of `N` equal parts of 0..=1; 1 is in the last.
pub fn histogram<const N: usize>(values: impl Iterator<Item = f64>) -> [usize; N] {
    let mut counts = [0; N];
    for value in values {
        let bin = ((value * N as f64).floor().max(0.0) as usize).min(N.saturating_sub(1));
        if let Some(count) = counts.get_mut(bin) {
            *count += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_by_part() {
        let counts: [usize; 10] = histogram([0.0, 0.05, 0.1, 0.95, 1.0].into_iter());
        assert_eq!(counts, [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
        let of = MetricDistribution {
            name: "ndcg@10".to_owned(),
            values: vec![0.5, 1.0],
        };
        assert_eq!((of.mean(), of.counts::<2>()), (Some(0.75), [0, 2]));
        let none = MetricDistribution {
            values: Vec::new(),
            ..of
        };
        assert_eq!((none.mean(), none.counts::<2>()), (None, [0, 0]));
    }
}
