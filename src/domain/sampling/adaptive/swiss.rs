//! Swiss rounds: pairs neighbors in the current ranking that have not met.

use super::{Round, SamplingState, Strategy};
use crate::domain::battle::Pair;
use crate::domain::sampling::SeededRng;

/// Pairs each document, from the best down, with the next free document such that the pair was
/// asked about least often: first only pairs that no judge has seen; if there are none, pairs that
/// one judge has seen, and so on.
pub(super) fn pairs(state: &SamplingState, strategy: &Strategy, round: &Round) -> Vec<Pair> {
    let scores = state.scores();
    let mut order: Vec<usize> = (0..state.documents()).collect();
    SeededRng::new(
        round.seed,
        &["swiss", round.query, &round.number.to_string()],
    )
    .shuffle(&mut order);
    order.sort_by(|x, y| scores[*y].total_cmp(&scores[*x]));
    let size = strategy.round_size(state.documents());
    (0..state.judges())
        .map(|level| {
            neighbors(&order, size, |pair| {
                state.asked(pair).len() == level && !state.free(pair).is_empty()
            })
        })
        .find(|pairs| !pairs.is_empty())
        .unwrap_or_default()
}

fn neighbors(order: &[usize], size: usize, open: impl Fn(Pair) -> bool) -> Vec<Pair> {
    let mut taken = vec![false; order.len()];
    let mut pairs = Vec::new();
    for (place, document) in order.iter().enumerate() {
        if pairs.len() == size {
            break;
        }
        if taken[place] {
            continue;
        }
        let partner = (place + 1..order.len()).find_map(|below| {
            let pair = Pair::new(*document, order[below])?;
            (!taken[below] && open(pair)).then_some((below, pair))
        });
        if let Some((below, pair)) = partner {
            taken[below] = true;
            pairs.push(pair);
        }
    }
    pairs
}
