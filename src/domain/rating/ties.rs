//! Equal scores: gives documents that would tie in exact arithmetic identical bits.

use crate::domain::numeric::best_first;

/// Sets the scores of each tie to their mean.
///
/// A tie is a chain of neighbors in score order, each closer to the next than `tolerance`. Ranks,
/// sorting and exports can then compare scores exactly.
pub(super) fn merge_ties(scores: &mut [f64], tolerance: f64) {
    let order = best_first(scores);
    let descending: Vec<f64> = order.iter().map(|&at| scores[at]).collect();
    let mut from = 0;
    for chain in descending.chunk_by(|upper, lower| upper - lower < tolerance) {
        if chain.iter().any(|score| *score != chain[0]) {
            let mean = chain.iter().sum::<f64>() / chain.len() as f64;
            for &at in &order[from..from + chain.len()] {
                scores[at] = mean;
            }
        }
        from += chain.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_close_neighbors_shares_its_mean() {
        let mut scores = [
            1.0,
            2.6e-17,
            0.0,
            -2.6e-17,
            -1.0,
            -1.0 + 3e-10,
            -1.0 + 6e-10,
        ];
        merge_ties(&mut scores, 5e-10);
        assert_eq!(scores[0], 1.0);
        assert!(scores[1..4].iter().all(|score| *score == 0.0));
        assert!(scores[4..].iter().all(|score| *score == scores[4]));
        assert!((scores[4] - (-1.0 + 3e-10)).abs() < 1e-15);
    }

    #[test]
    fn scores_further_apart_keep_their_bits() {
        let before = [0.1, 0.1 + 1e-9, -0.3, 7.0];
        let mut scores = before;
        merge_ties(&mut scores, 1e-10);
        assert_eq!(scores.map(f64::to_bits), before.map(f64::to_bits));
    }
}
