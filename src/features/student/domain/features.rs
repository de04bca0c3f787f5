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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryFeatures {
    /// Number of features.
    width: usize,
    /// By document, then by feature.
    numbers: Vec<f64>,
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
        let row = |at: usize| columns.iter().map(move |column| column[at]);
        Self {
            width,
            numbers: (0..documents.len()).flat_map(row).collect(),
        }
    }

    /// Number of features of a document.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The numbers by document, then by feature.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// Replaces the numbers, which [`numbers`](Self::numbers) returned for this many features.
    pub fn refill(&mut self, width: usize, fill: impl FnOnce(&mut Vec<f64>)) {
        self.width = width;
        fill(&mut self.numbers);
    }

    #[inline]
    fn document(&self, at: usize) -> &[f64] {
        let numbers = self.numbers.get(at * self.width..(at + 1) * self.width);
        numbers.unwrap_or_default()
    }

    /// As [`read_pair`](Self::read_pair), into new features.
    #[cfg(test)]
    pub fn pair(&self, a: usize, b: usize, differences: &[f64], others: &[f64]) -> PairFeatures {
        let mut found = PairFeatures::default();
        self.read_pair((a, b), differences, others, &mut found);
        found
    }

    /// Reads the features of a pair, with additional differences, which change sign when the
    /// documents are swapped, and additional symmetric numbers.
    #[inline]
    pub fn read_pair(
        &self,
        (a, b): (usize, usize),
        differences: &[f64],
        others: &[f64],
        into: &mut PairFeatures,
    ) {
        let (a, b) = (self.document(a), self.document(b));
        let of_documents = a.len().min(b.len());
        into.resize(of_documents + differences.len(), others.len());
        let (signed, even) = into.parts_mut();
        // The constant precedes the magnitudes.
        even[0] = 1.0;
        let (sizes, symmetric) = even[1..].split_at_mut(signed.len());
        let (a, b) = (&a[..of_documents], &b[..of_documents]);
        for at in 0..of_documents {
            let number = b[at] - a[at];
            signed[at] = number;
            sizes[at] = number.abs();
        }
        for (at, number) in differences.iter().enumerate() {
            signed[of_documents + at] = *number;
            sizes[of_documents + at] = number.abs();
        }
        for (at, number) in others.iter().enumerate() {
            symmetric[at] = *number;
        }
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

/// Number of features that are computed at once: the width of a vector register of every x86-64 and
/// ARM64 processor.
pub const LANES: usize = 2;

/// [`LANES`] consecutive numbers.
pub type Lanes = [f64; LANES];

/// A pair as numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairFeatures {
    /// Number of odd, and of even features.
    odd: usize,
    even: usize,
    /// The odd features, then the even ones, each followed by zeros up to whole lanes.
    numbers: Vec<f64>,
}

impl PairFeatures {
    /// Prepares for this many odd features, and even ones besides the constant and the magnitudes.
    #[inline]
    fn resize(&mut self, odd: usize, others: usize) {
        let even = odd + 1 + others;
        if (self.odd, self.even) != (odd, even) {
            (self.odd, self.even) = (odd, even);
            self.numbers.clear();
            let numbers = odd.next_multiple_of(LANES) + even.next_multiple_of(LANES);
            self.numbers.resize(numbers, 0.0);
        }
    }

    /// The odd and the even features.
    #[inline]
    fn parts_mut(&mut self) -> (&mut [f64], &mut [f64]) {
        let (odd, even) = self.numbers.split_at_mut(self.odd.next_multiple_of(LANES));
        (&mut odd[..self.odd], &mut even[..self.even])
    }

    /// B minus A: they change sign when the documents are swapped.
    #[inline]
    pub fn odd(&self) -> &[f64] {
        &self.numbers[..self.odd]
    }

    /// A constant 1, the magnitudes of the differences, and properties of both documents together:
    /// they are symmetric.
    #[inline]
    pub fn even(&self) -> &[f64] {
        let (_, even) = self.padded();
        &even[..self.even]
    }

    /// The odd and the even features, each followed by zeros up to whole lanes.
    #[inline]
    pub fn padded(&self) -> (&[f64], &[f64]) {
        self.numbers.split_at(self.odd.next_multiple_of(LANES))
    }
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
        assert_eq!(pair.odd(), [2.0, 0.0, 0.5]);
        assert_eq!(pair.even(), [1.0, 2.0, 0.0, 0.5, 0.7]);
        // A document without the number is treated like an average one.
        assert_eq!(features.pair(2, 1, &[], &[]).odd(), [1.0, 0.0]);
    }

    proptest! {
        #[test]
        fn exchanging_the_documents_changes_signs_and_nothing_else(
            numbers in prop::collection::vec(prop::collection::vec(prop::option::of(-9.0..9.0f64), 3), 2..5),
            extra in -3.0..3.0f64,
        ) {
            let features = QueryFeatures::new(&numbers);
            let (one, other) = (features.pair(0, 1, &[extra], &[2.0]), features.pair(1, 0, &[-extra], &[2.0]));
            prop_assert_eq!(one.even(), other.even());
            prop_assert!(one.odd().iter().zip(other.odd()).all(|(x, y)| *x == -*y));
        }
    }
}
