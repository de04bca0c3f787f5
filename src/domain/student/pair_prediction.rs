//! What a student predicts of a pair, in the order or the orders that it was asked in.

use super::OutcomeProbabilities;
use crate::domain::battle::Pair;
use std::collections::BTreeMap;

/// What a student predicts of the pairs of a query.
pub type QueryPredictions = BTreeMap<Pair, PairPrediction>;

/// What a student predicts of a pair: A is its lower pool index.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairPrediction {
    /// Shown A first, and shown B first.
    pub orders: [Option<OutcomeProbabilities>; 2],
}

impl PairPrediction {
    /// Asked in one order only: A was shown first.
    pub fn in_order(predicted: OutcomeProbabilities) -> Self {
        Self {
            orders: [Some(predicted), None],
        }
    }

    /// Of the order that it was asked in, or the mean of both.
    pub fn predicted(self) -> Option<OutcomeProbabilities> {
        match self.orders {
            [Some(one), Some(other)] => Some(one.mean_with(other)),
            [one, other] => one.or(other),
        }
    }

    /// Shown A first and shown B first, where it was asked in both orders.
    pub fn both(self) -> Option<(OutcomeProbabilities, OutcomeProbabilities)> {
        self.orders[0].zip(self.orders[1])
    }
}

/// What a student predicts of two documents, the first of them as A, in whatever order it was asked.
pub fn prediction_of(
    predictions: &QueryPredictions,
    first: usize,
    second: usize,
) -> Option<OutcomeProbabilities> {
    let pair = Pair::new(first, second)?;
    let predicted = predictions.get(&pair)?.predicted()?;
    Some(match first == pair.low() {
        true => predicted,
        false => predicted.swapped(),
    })
}
