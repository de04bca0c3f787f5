//! Graded relevance derived from a ranking, and how well another order matches it.

/// The gain 2^grade − 1 of each document, if the given order is the truth: the first 3 % of the
/// documents have grade 3, up to 10 % grade 2, up to 25 % grade 1, the rest 0
/// (science.md § Priorities); each share is rounded up to whole documents.
pub fn gains(truth: &[usize]) -> Vec<f64> {
    let documents = truth.len();
    let up_to = |percent: usize| (documents * percent).div_ceil(100);
    let mut gains = vec![0.0; documents];
    for (place, document) in truth.iter().enumerate() {
        let gain = if place < up_to(3) {
            7.0
        } else if place < up_to(10) {
            3.0
        } else if place < up_to(25) {
            1.0
        } else {
            break;
        };
        if let Some(entry) = gains.get_mut(*document) {
            *entry = gain;
        }
    }
    gains
}

/// NDCG of the first `top` documents of an order, with the discount 1 / log₂(rank + 1), rank from 1
/// (Järvelin & Kekäläinen 2002). 1 if no document has a gain: nothing can be lost.
pub fn ndcg(order: &[usize], gains: &[f64], top: usize) -> f64 {
    let discounted = |gains: &mut dyn Iterator<Item = f64>| -> f64 {
        gains
            .take(top)
            .enumerate()
            .map(|(place, gain)| gain / ((place + 2) as f64).log2())
            .sum()
    };
    let mut ideal = gains.to_vec();
    ideal.sort_unstable_by(|x, y| y.total_cmp(x));
    let best = discounted(&mut ideal.into_iter());
    let found = discounted(&mut order.iter().map(|d| gains.get(*d).copied().unwrap_or(0.0)));
    if best > 0.0 { found / best } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_quarter_is_relevant() {
        let truth: Vec<usize> = (0..100).collect();
        let gains = gains(&truth);
        let count = |gain: f64| gains.iter().filter(|g| **g == gain).count();
        assert_eq!((count(7.0), count(3.0), count(1.0)), (3, 7, 15));
        assert_eq!(ndcg(&truth, &gains, 10), 1.0);
        let backwards: Vec<usize> = truth.iter().rev().copied().collect();
        assert_eq!(ndcg(&backwards, &gains, 10), 0.0);
        assert_eq!(super::gains(&[0]), [7.0]);
        assert_eq!(ndcg(&[], &[], 10), 1.0);
    }
}
