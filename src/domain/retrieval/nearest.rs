//! Dense retrieval: exact nearest vectors for each query, with one document in memory at a time.

use crate::domain::corpus::DocId;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Number of accumulators of a dot product, which the processor adds in parallel.
const LANES: usize = 8;

/// `vector` normalized to length 1; `None` if it has no direction: empty, all zero, or not finite.
pub fn unit_vector(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let square: f64 = vector.iter().map(|x| f64::from(*x).powi(2)).sum();
    if !(square.is_finite() && square > 0.0) {
        return None;
    }
    let scale = square.sqrt().recip();
    for x in &mut vector {
        *x = (f64::from(*x) * scale) as f32;
    }
    Some(vector)
}

/// The cosine of two unit vectors of the same dimension, in −1..=1 up to rounding.
pub(super) fn cosine(x: &[f32], y: &[f32]) -> f64 {
    let mut sums = [0.0f32; LANES];
    for (x, y) in x.chunks(LANES).zip(y.chunks(LANES)) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    sums.iter().map(|sum| f64::from(*sum)).sum()
}

/// The best documents by cosine for each of several queries, among documents that are offered one
/// by one.
#[derive(Clone, Debug)]
pub struct NearestDocuments {
    depth: usize,
    queries: Vec<(Vec<f32>, BinaryHeap<KeptDocument>)>,
}

impl NearestDocuments {
    /// No documents yet. `queries` have length 1 each, or none where they have no direction and
    /// find nothing; `depth` documents of each are kept.
    pub fn new(queries: Vec<Vec<f32>>, depth: usize) -> Self {
        let queries = queries.into_iter().map(|query| (query, BinaryHeap::new()));
        Self {
            depth,
            queries: queries.collect(),
        }
    }

    /// Considers a document with its vector of length 1; one without a direction, and so without a
    /// vector, is not found.
    pub fn offer(&mut self, id: &DocId, vector: &[f32]) {
        if vector.is_empty() {
            return;
        }
        let queries = self.queries.iter_mut();
        for (query, kept) in queries.filter(|(query, _)| !query.is_empty()) {
            let score = cosine(query, vector);
            let full = kept.len() >= self.depth;
            let better =
                |worst: &KeptDocument| order(score, id, worst.score, &worst.id) == Ordering::Less;
            if full && !kept.peek().is_some_and(better) {
                continue;
            }
            if full {
                kept.pop();
            }
            let id = id.clone();
            kept.push(KeptDocument { score, id });
        }
    }

    /// The documents found for each query with their cosines, best first; ties by descending ID,
    /// like trec_eval.
    pub fn rankings(self) -> Vec<Vec<(DocId, f64)>> {
        let best_first = |(_, kept): (_, BinaryHeap<KeptDocument>)| {
            kept.into_sorted_vec()
                .into_iter()
                .map(|found| (found.id, found.score))
                .collect()
        };
        self.queries.into_iter().map(best_first).collect()
    }
}

/// `Less` if the first is ranked higher.
fn order(score: f64, id: &DocId, other: f64, other_id: &DocId) -> Ordering {
    other.total_cmp(&score).then_with(|| other_id.cmp(id))
}

/// A kept document; the greatest in a heap is the one ranked lowest.
#[derive(Clone, Debug)]
struct KeptDocument {
    score: f64,
    id: DocId,
}

impl Ord for KeptDocument {
    fn cmp(&self, other: &Self) -> Ordering {
        order(self.score, &self.id, other.score, &other.id)
    }
}

impl PartialOrd for KeptDocument {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for KeptDocument {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for KeptDocument {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_vector_without_direction_is_none() {
        assert_eq!(unit_vector(vec![3.0, 4.0]), Some(vec![0.6, 0.8]));
        for vector in [vec![], vec![0.0; 3], vec![1.0, f32::NAN]] {
            assert_eq!(unit_vector(vector), None);
        }
    }

    #[test]
    fn the_nearest_come_first_and_ties_by_descending_id() {
        let mut nearest = NearestDocuments::new(vec![vec![1.0, 0.0], vec![0.0, 1.0]], 2);
        for (id, vector) in [("a", [0.6, 0.8]), ("b", [1.0, 0.0]), ("c", [0.6, 0.8])] {
            nearest.offer(&DocId::new(id), &vector);
        }
        let names: Vec<Vec<String>> = nearest
            .rankings()
            .iter()
            .map(|found| found.iter().map(|(id, _)| id.to_string()).collect())
            .collect();
        assert_eq!(names, [["b", "c"], ["c", "a"]]);
    }

    #[test]
    fn what_has_no_direction_is_not_found_and_finds_nothing() {
        let mut nearest = NearestDocuments::new(vec![vec![1.0, 0.0], vec![]], 2);
        for (id, vector) in [("a", &[][..]), ("b", &[-1.0, 0.0])] {
            nearest.offer(&DocId::new(id), vector);
        }
        let found = nearest.rankings();
        assert_eq!(found, [vec![(DocId::new("b"), -1.0)], vec![]]);
    }

    proptest! {
        #[test]
        fn what_is_kept_is_the_head_of_all(
            vectors in prop::collection::vec(prop::collection::vec(-2i8..=2, 11), 0..20),
            depth in 0usize..6,
        ) {
            let found = |depth| {
                let query: Vec<f32> = (0..11).map(|at| at as f32).collect();
                let mut nearest = NearestDocuments::new(vec![unit_vector(query).unwrap()], depth);
                for (at, vector) in vectors.iter().enumerate() {
                    let vector: Vec<f32> = vector.iter().map(|x| f32::from(*x)).collect();
                    if let Some(vector) = unit_vector(vector) {
                        nearest.offer(&DocId::new(at.to_string()), &vector);
                    }
                }
                nearest.rankings().remove(0)
            };
            let all = found(usize::MAX);
            prop_assert!(all.is_sorted_by(|x, y| x.1 >= y.1));
            prop_assert!(all.iter().all(|(_, cosine)| cosine.abs() <= 1.0 + 1e-6));
            let few = found(depth);
            prop_assert_eq!(&all[..all.len().min(depth)], few.as_slice());
        }
    }
}
