//! The features of a pair for the built-in student: differences of its documents, which change sign
//! when the documents are swapped, and symmetric features, which do not change.

/// The name of the difference that is computed like
/// [`OTHER_BATTLES`](crate::domain::prediction::OTHER_BATTLES), but from the documents whose texts
/// are most similar to each.
pub const ALIKE_TEXTS: &str = "zELO of alike texts";

/// A document's numbers, one per feature; `None` for missing ones.
pub type DocumentNumbers = Vec<Option<f64>>;

/// The numbers of a query's documents, comparable within the query: each feature is scaled to mean
/// 0 and variance 1 over the documents that have it. It is 0 for the other documents, or if all
/// values are equal.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryFeatures {
    documents: Vec<Vec<f64>>,
}

impl QueryFeatures {
    /// Scales the numbers of one query's documents, by pool index; lists shorter than the first one
    /// are padded with missing values.
    pub fn new(documents: &[DocumentNumbers]) -> Self {
        let width = documents.first().map_or(0, Vec::len);
        let columns: Vec<Vec<f64>> = (0..width)
            .map(|feature| {
                let number = |of: &DocumentNumbers| of.get(feature).copied().flatten();
                scaled(documents.iter().map(number).collect())
            })
            .collect();
        let row = |at: usize| columns.iter().map(|column| column[at]).collect();
        Self {
            documents: (0..documents.len()).map(row).collect(),
        }
    }

    /// The features of a pair, with additional differences, which change sign when the documents
    /// are swapped, and additional symmetric numbers.
    pub fn pair(&self, a: usize, b: usize, differences: &[f64], others: &[f64]) -> PairFeatures {
        let of = |document: usize| self.documents.get(document).map_or(&[][..], Vec::as_slice);
        let (a, b) = (of(a), of(b));
        let odd: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
        let odd: Vec<f64> = odd.into_iter().chain(differences.iter().copied()).collect();
        let sizes = odd.iter().map(|x| x.abs());
        let even = std::iter::once(1.0).chain(sizes);
        let even = even.chain(others.iter().copied()).collect();
        PairFeatures { odd, even }
    }
}

/// Scales numbers to mean 0 and variance 1.
fn scaled(numbers: Vec<Option<f64>>) -> Vec<f64> {
    let known = || numbers.iter().flatten().filter(|number| number.is_finite());
    let n = known().count() as f64;
    let mean = known().sum::<f64>() / n;
    let squares: f64 = known().map(|x| (x - mean).powi(2)).sum();
    let deviation = (squares / n).sqrt();
    let varies = deviation > 1e-12 * (1.0 + mean.abs());
    let scale = |number: &Option<f64>| match number {
        Some(x) if varies && x.is_finite() => (x - mean) / deviation,
        _ => 0.0,
    };
    numbers.iter().map(scale).collect()
}

/// A pair as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct PairFeatures {
    /// B minus A: they change sign when the documents are swapped.
    pub odd: Vec<f64>,
    /// A constant 1, the magnitudes of the differences, and properties of both documents together:
    /// they are symmetric.
    pub even: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_scaled_within_the_query() {
        let numbers = [
            vec![Some(1.0), None],
            vec![Some(3.0), Some(7.0)],
            vec![None, Some(7.0)],
        ];
        let features = QueryFeatures::new(&numbers);
        let pair = features.pair(0, 1, &[0.5], &[0.7]);
        assert_eq!(pair.odd, [2.0, 0.0, 0.5]);
        assert_eq!(pair.even, [1.0, 2.0, 0.0, 0.5, 0.7]);
        // A document without the number is treated like an average one.
        assert_eq!(features.pair(2, 1, &[], &[]).odd, [1.0, 0.0]);
    }

    proptest! {
        #[test]
        fn exchanging_the_documents_changes_signs_and_nothing_else(
            numbers in prop::collection::vec(prop::collection::vec(prop::option::of(-9.0..9.0f64), 3), 2..5),
            extra in -3.0..3.0f64,
        ) {
            let features = QueryFeatures::new(&numbers);
            let (one, other) = (features.pair(0, 1, &[extra], &[2.0]), features.pair(1, 0, &[-extra], &[2.0]));
            prop_assert_eq!(&one.even, &other.even);
            prop_assert!(one.odd.iter().zip(&other.odd).all(|(x, y)| *x == -*y));
        }
    }
}
