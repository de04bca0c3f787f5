//! zBench's own measures of test scores against true scores, with one pair of scores per document
//! (science.md § Metrics).
//!
//! `limit` keeps the first documents in input order, not the best ones; zBench uses 10, so its NDCG
//! is not NDCG@10. Equal scores are ranked in reverse input order.

/// zBench's default `limit`.
pub const DOCUMENT_LIMIT: usize = 10;

/// NDCG with the gain exp(true score) over all documents within the limit.
///
/// If scores are spread widely, this depends almost only on the rank of the single best document,
/// so prefer a graded NDCG@10 as the main metric. `None` for lists of different lengths, without
/// documents, and if a score is not finite.
pub fn ndcg(test: &[f64], truth: &[f64], limit: Option<usize>) -> Option<f64> {
    let (test, truth) = limited(test, truth, limit)?;
    // A common factor of all gains cancels out; without it, exp overflows above 709.
    let top = truth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let gain = |order: Vec<usize>| -> f64 {
        order
            .into_iter()
            .enumerate()
            .map(|(above, at)| (truth[at] - top).exp() / ((above + 2) as f64).log2())
            .sum()
    };
    Some(gain(order(test)) / gain(order(truth)))
}

/// The share of document pairs whose test scores are ordered like their true scores; a tie in
/// either counts as wrong.
///
/// `None` for fewer than two documents, and in the same cases as [`ndcg`].
pub fn pairwise_accuracy(test: &[f64], truth: &[f64], limit: Option<usize>) -> Option<f64> {
    let (test, truth) = limited(test, truth, limit)?;
    let (mut right, mut pairs) = (0usize, 0usize);
    for i in 0..test.len() {
        for j in 0..i {
            pairs += 1;
            let same = (test[i] > test[j] && truth[i] > truth[j])
                || (test[i] < test[j] && truth[i] < truth[j]);
            right += usize::from(same);
        }
    }
    (pairs > 0).then(|| right as f64 / pairs as f64)
}

/// How many of the `k_truth` best documents by true score are among the `k` best by test score,
/// divided by `k_truth` even if there are fewer documents.
///
/// `None` for a `k_truth` of 0, and in the same cases as [`ndcg`].
pub fn recall(
    test: &[f64],
    truth: &[f64],
    k: usize,
    k_truth: usize,
    limit: Option<usize>,
) -> Option<f64> {
    let (test, truth) = limited(test, truth, limit)?;
    let found: Vec<usize> = order(test).into_iter().take(k).collect();
    let best = order(truth);
    let hits = best
        .iter()
        .take(k_truth)
        .filter(|at| found.contains(at))
        .count();
    (k_truth > 0).then(|| hits as f64 / k_truth as f64)
}

fn limited<'a>(
    test: &'a [f64],
    truth: &'a [f64],
    limit: Option<usize>,
) -> Option<(&'a [f64], &'a [f64])> {
    let kept = limit.unwrap_or(usize::MAX).min(test.len());
    let usable =
        test.len() == truth.len() && test.iter().chain(truth).all(|score| score.is_finite());
    (usable && kept > 0).then(|| (&test[..kept], &truth[..kept]))
}

/// Indexes by descending score; among equal scores, later ones come first.
fn order(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).rev().collect();
    order.sort_by(|i, j| (scores[*j] + 0.0).total_cmp(&(scores[*i] + 0.0)));
    order
}
