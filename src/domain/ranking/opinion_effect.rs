//! The weight that predictions have in the fits, which may be lower than the weight that was set.

use crate::domain::rating::Observation;
use serde::Serialize;

/// The weight of predictions in the fit of one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpinionShare {
    pub pairs: usize,
    /// In battles per document: the weight that was set, or less if the predictions support no
    /// more.
    pub weight: f64,
}

impl OpinionShare {
    /// The share of `predictions` in the fit of a query with this number of documents; `None`
    /// without predictions.
    pub fn of(predictions: &[Observation], documents: usize) -> Option<Self> {
        let total: f64 = predictions.iter().map(|of| of.weight).sum();
        (total > 0.0 && documents > 0).then(|| Self {
            pairs: predictions.len(),
            weight: total / documents as f64,
        })
    }
}

/// The weight of predictions in the fits of several queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct OpinionEffect {
    pub queries: usize,
    /// Number of queries in whose scores it counts.
    pub counted: usize,
    /// The smallest and the largest weight among them, in battles per document.
    pub least: f64,
    pub most: f64,
}

impl FromIterator<Option<f64>> for OpinionEffect {
    /// From the weight in the fit of each query, `None` if it does not count.
    fn from_iter<I: IntoIterator<Item = Option<f64>>>(weights: I) -> Self {
        weights.into_iter().fold(Self::default(), |sum, weight| {
            let queries = sum.queries + 1;
            match weight {
                None => Self { queries, ..sum },
                Some(weight) if sum.counted == 0 => Self {
                    queries,
                    counted: 1,
                    least: weight,
                    most: weight,
                },
                Some(weight) => Self {
                    queries,
                    counted: sum.counted + 1,
                    least: sum.least.min(weight),
                    most: sum.most.max(weight),
                },
            }
        })
    }
}

impl OpinionEffect {
    /// `0.21 battles per document`, or `0.19 to 0.23 battles per document` if queries differ.
    pub fn words(&self) -> String {
        let (least, most) = (rounded(self.least), rounded(self.most));
        if least == most {
            format!("{most} battles per document")
        } else {
            format!("{least} to {most} battles per document")
        }
    }

    /// Whether it counts for less than was set in any query.
    pub fn is_capped(&self, set: f64) -> bool {
        self.counted > 0 && self.least < 0.999 * set
    }
}

/// A weight rounded to a readable number of decimals.
pub(super) fn rounded(weight: f64) -> f64 {
    let scale = if weight < 0.1 { 1e4 } else { 1e3 };
    (weight * scale).round() / scale
}

/// Why predictions count for less than was set.
pub(super) const CAP: &str =
    "a prediction counts for no more than its strength in votes of one judge";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_of_queries_are_summed_up() {
        let effect: OpinionEffect = [None, Some(0.214_2), None, Some(0.3)].into_iter().collect();
        assert_eq!((effect.queries, effect.counted), (4, 2));
        assert_eq!(effect.words(), "0.214 to 0.3 battles per document");
        assert!(effect.is_capped(30.0) && effect.is_capped(0.3) && !effect.is_capped(0.2));
        let one: OpinionEffect = [Some(0.4 + 1e-12)].into_iter().collect();
        assert_eq!(one.words(), "0.4 battles per document");
        assert!(!one.is_capped(0.4) && !OpinionEffect::default().is_capped(1.0));
    }
}
