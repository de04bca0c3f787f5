//! Similarity-boosted ranking (SBR): reranks documents by their own scores and their similarity to
//! the best documents.
//!
//! sbr = normalized · (1 + α · similarity): a document gains by being similar to the current top,
//! so a positive α makes the top more uniform, not more diverse. The document with the lowest score
//! always has 0.

use crate::domain::corpus::DocId;
use crate::domain::named::named;
use crate::domain::text::folded;
use serde::Serialize;
use std::collections::HashSet;

named! {
    "a profile", "kebab-case";
    /// The rules to follow.
    #[derive(Default)]
    pub enum SbrProfile {
        /// If several documents have the same text, the best one counts; ties are broken by score,
        /// then by ID.
        #[default]
        Overrule,
        /// The original's rules: if several documents have the same text, the first in the file
        /// counts; ties keep that order.
        Original,
    }
}

/// A document of a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct SbrCandidate<'a> {
    pub id: &'a DocId,
    /// The ranking's score; higher is better. Must be a number.
    pub score: f64,
    pub text: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SbrOptions {
    /// Weight of the similarity; 0 keeps the order.
    pub alpha: f64,
    /// Number of best documents that similarity is measured to; at least 1.
    pub top_k: usize,
    pub profile: SbrProfile,
}

impl Default for SbrOptions {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            top_k: 5,
            profile: SbrProfile::default(),
        }
    }
}

/// A document in the new order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SbrRow {
    /// Its index in the input of [`boosted_ranking`].
    #[serde(skip)]
    pub at: usize,
    pub score: f64,
    /// The score scaled from the query's lowest (0) to its highest (1); 0.5 if all are equal.
    pub normalized: f64,
    /// The mean cosine to the best documents, excluding itself; 0 if there is no other.
    pub semantic_sim: f64,
    pub sbr_score: f64,
    /// From 1.
    pub sbr_rank: usize,
}

/// Texts with the same key count as one text. [`SbrProfile::Overrule`] ignores case and the amount
/// of whitespace; [`SbrProfile::Original`] lowercases the text and trims whitespace around it.
pub fn text_key(text: &str, profile: SbrProfile) -> String {
    match profile {
        SbrProfile::Overrule => {
            let words: Vec<&str> = text.split_whitespace().collect();
            folded(&words.join(" "))
        }
        // The original's table reader turns an empty field into NaN, whose text is "nan".
        SbrProfile::Original if text.is_empty() => "nan".to_owned(),
        SbrProfile::Original => text.trim().to_lowercase(),
    }
}

/// The candidates of a query that remain when each text and each ID counts once, as indexes into
/// `candidates`, in the order in which similarity and ranks are computed. Under
/// [`SbrProfile::Original`], an ID may occur twice.
pub fn distinct_candidates(candidates: &[SbrCandidate<'_>], profile: SbrProfile) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    if profile == SbrProfile::Overrule {
        order.sort_by(|&x, &y| best_first(&candidates[x], &candidates[y]));
    }
    let (mut texts, mut ids) = (HashSet::new(), HashSet::new());
    order.retain(|&at| {
        let candidate = &candidates[at];
        let known = profile == SbrProfile::Overrule && !ids.insert(candidate.id);
        !known && texts.insert(text_key(candidate.text, profile))
    });
    order
}

/// The SBR order of a query's distinct candidates, best first. `candidates` are in the order of
/// [`distinct_candidates`], with one vector each, all of the same dimension; a vector without a
/// direction has similarity 0.
pub fn boosted_ranking<T: Copy + Into<f64>>(
    candidates: &[SbrCandidate<'_>],
    vectors: &[Vec<T>],
    options: &SbrOptions,
) -> Vec<SbrRow> {
    let units: Vec<Vec<f64>> = vectors.iter().map(|vector| unit(vector)).collect();
    let mut by_score: Vec<usize> = (0..candidates.len()).collect();
    by_score.sort_by(|&x, &y| candidates[y].score.total_cmp(&candidates[x].score));
    by_score.truncate(options.top_k);
    // Compare by ID: under the original's rules, a document with two texts is among the best with
    // both.
    let best: HashSet<&DocId> = by_score.iter().map(|&at| candidates[at].id).collect();
    let compared = candidates.iter().zip(&units);
    let compared: Vec<(&DocId, &[f64])> = compared
        .filter(|(one, _)| best.contains(one.id))
        .map(|(one, unit)| (one.id, unit.as_slice()))
        .collect();
    let similarity = |at: usize| {
        let (id, own) = (candidates[at].id, units.get(at).map_or(&[][..], |own| own));
        let others = compared.iter().filter(|(other, _)| *other != id);
        mean(others.map(|(_, other)| dot(own, other)))
    };
    let scores: Vec<f64> = candidates.iter().map(|one| one.score).collect();
    let similarities: Vec<f64> = (0..candidates.len()).map(similarity).collect();
    boosted(&scores, &similarities, options.alpha)
}

/// The rows of documents with these scores and similarities, best first; ties keep their order.
pub(crate) fn boosted(scores: &[f64], similarities: &[f64], alpha: f64) -> Vec<SbrRow> {
    let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let rows = scores.iter().zip(similarities).enumerate();
    let mut rows: Vec<SbrRow> = rows
        .map(|(at, (score, similarity))| {
            let normalized = if most <= least {
                0.5
            } else if (most - least).is_finite() {
                (score - least) / (most - least)
            } else {
                (score / 2.0 - least / 2.0) / (most / 2.0 - least / 2.0)
            };
            SbrRow {
                at,
                score: *score,
                normalized,
                semantic_sim: *similarity,
                sbr_score: normalized * (1.0 + alpha * similarity),
                sbr_rank: 0,
            }
        })
        .collect();
    rows.sort_by(|x, y| descending(x.sbr_score, y.sbr_score));
    for (rank, row) in (1..).zip(&mut rows) {
        row.sbr_rank = rank;
    }
    rows
}

/// Best first by score, then by id.
fn best_first(x: &SbrCandidate<'_>, y: &SbrCandidate<'_>) -> std::cmp::Ordering {
    descending(x.score, y.score).then_with(|| x.id.cmp(y.id))
}

/// Descending order; 0 and −0 are equal.
fn descending(x: f64, y: f64) -> std::cmp::Ordering {
    (y + 0.0).total_cmp(&(x + 0.0))
}

/// A vector normalized to length 1, or zeros if it has no direction.
pub(crate) fn unit<T: Copy + Into<f64>>(vector: &[T]) -> Vec<f64> {
    let vector: Vec<f64> = vector.iter().map(|x| (*x).into()).collect();
    let length = dot(&vector, &vector).sqrt();
    let scale = if length > 0.0 && length.is_finite() {
        length
    } else {
        return vec![0.0; vector.len()];
    };
    vector.into_iter().map(|x| x / scale).collect()
}

pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// The mean; 0 without values.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0usize), |(sum, n), value| (sum + value, n + 1));
    if n == 0 { 0.0 } else { sum / n as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidates<'a>(ids: &'a [DocId], rows: &[(f64, &'a str)]) -> Vec<SbrCandidate<'a>> {
        ids.iter()
            .zip(rows)
            .map(|(id, (score, text))| SbrCandidate {
                id,
                score: *score,
                text,
            })
            .collect()
    }

    fn ids(names: &[&str]) -> Vec<DocId> {
        names.iter().map(|name| DocId::new(*name)).collect()
    }

    #[test]
    fn of_one_text_the_best_stays_and_ties_go_by_id() {
        let ids = ids(&["c", "b", "a", "d", "c"]);
        let rows = [
            (1.0, "x y"),
            (2.0, " X\n y "),
            (2.0, "z"),
            (2.0, "w"),
            (9.0, "v"),
        ];
        let candidates = candidates(&ids, &rows);
        assert_eq!(
            distinct_candidates(&candidates, SbrProfile::Overrule),
            [4, 2, 1, 3]
        );
        assert_eq!(
            distinct_candidates(&candidates, SbrProfile::Original),
            [0, 1, 2, 3, 4]
        );
        assert_eq!(
            text_key("", SbrProfile::Original),
            text_key(" NaN", SbrProfile::Original)
        );
    }

    #[test]
    fn documents_like_the_top_go_up() {
        let ids = ids(&["a", "b", "c", "d"]);
        let rows = [(3.0, "1"), (2.0, "2"), (1.9, "3"), (0.0, "4")];
        let vectors = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]].map(Vec::from);
        let order = |alpha: f64| -> Vec<usize> {
            let options = SbrOptions {
                alpha,
                top_k: 1,
                ..SbrOptions::default()
            };
            let rows = boosted_ranking(&candidates(&ids, &rows), &vectors, &options);
            rows.iter().map(|row| row.at).collect()
        };
        assert_eq!(order(0.0), [0, 1, 2, 3]);
        assert_eq!(order(1.0), [2, 0, 1, 3]);
    }

    #[test]
    fn scores_at_the_ends_of_the_numbers_are_scaled() {
        let scores = [f64::MAX, 0.0, -f64::MAX, f64::MIN_POSITIVE];
        let rows = boosted(&scores, &[0.0; 4], 1.0);
        let scaled: Vec<(usize, f64)> = rows.iter().map(|row| (row.at, row.normalized)).collect();
        assert_eq!(scaled, [(0, 1.0), (1, 0.5), (3, 0.5), (2, 0.0)]);
    }

    proptest! {
        #[test]
        fn without_alpha_the_order_is_that_of_the_scores(
            scores in prop::collection::vec(-5i8..5, 0..20), like in prop::collection::vec(-1.0..1.0f64, 20),
        ) {
            let scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
            let rows = boosted(&scores, &like, 0.0);
            prop_assert_eq!(rows.len(), scores.len());
            prop_assert!(rows.is_sorted_by(|x, y| (y.score, x.at) <= (x.score, y.at)));
            prop_assert!(rows.iter().all(|row| (0.0..=1.0).contains(&row.normalized)));
        }
    }
}
