//! A prediction for a pair, in one or both orders.

use super::OutcomeProbabilities;
use crate::domain::battle::Pair;
use std::collections::BTreeMap;

/// Predictions for the pairs of a query.
pub type QueryPredictions = BTreeMap<Pair, PairPrediction>;

/// A prediction for a pair; A is its lower pool index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairPrediction {
    /// With A shown first, and with B shown first.
    pub orders: [Option<OutcomeProbabilities>; 2],
}

impl PairPrediction {
    /// From one order only: A was shown first.
    pub fn in_order(predicted: OutcomeProbabilities) -> Self {
        Self {
            orders: [Some(predicted), None],
        }
    }

    /// The prediction of the order that was asked, or the mean of both.
    pub fn predicted(self) -> Option<OutcomeProbabilities> {
        match self.orders {
            [Some(one), Some(other)] => Some(one.mean_with(other)),
            [one, other] => one.or(other),
        }
    }

    /// With A shown first and with B shown first, if both orders were asked.
    pub fn both(self) -> Option<(OutcomeProbabilities, OutcomeProbabilities)> {
        self.orders[0].zip(self.orders[1])
    }
}

/// The prediction for two documents, with `first` as A, from whatever orders were asked.
pub fn prediction_of(
    predictions: &QueryPredictions,
    first: usize,
    second: usize,
) -> Option<OutcomeProbabilities> {
    let pair = Pair::new(first, second)?;
    let predicted = predictions.get(&pair)?.predicted()?;
    Some(if first == pair.low() {
        predicted
    } else {
        predicted.swapped()
    })
}
