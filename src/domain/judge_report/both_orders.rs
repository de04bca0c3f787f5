//! Measures how often a judge's answer changes with the order of the documents.

use super::PositionCounts;
use crate::domain::agreement::{ClusteredError, Share};
use crate::domain::number_words::counted;
use crate::domain::vote::Outcome;
use serde::{Deserialize, Serialize};

/// The share of changed answers above which a judge depends on the order too much to be used.
const TOO_MANY: f64 = 0.4;

/// Pairs that a judge saw in both orders, by how its answer changed. Intervals are clustered by
/// query: a judge's errors on the pairs of one query are correlated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BothOrders {
    pairs: usize,
    /// Pairs whose answer changed with the order.
    flips: usize,
    #[serde(skip)]
    sums: QuerySums,
}

/// Sums over queries from which the error of a mean over their pairs is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct QuerySums {
    queries: usize,
    /// Sum of the squared sums of the queries' values.
    squares: f64,
    /// Sum of the queries' sums times their numbers of pairs.
    products: f64,
    /// Sum of the squared numbers of pairs.
    pairs_squared: f64,
}

impl QuerySums {
    fn add(&mut self, sum: f64, pairs: f64) {
        self.queries += 1;
        self.squares += sum * sum;
        self.products += sum * pairs;
        self.pairs_squared += pairs * pairs;
    }

    fn join(&mut self, other: Self) {
        self.queries += other.queries;
        self.squares += other.squares;
        self.products += other.products;
        self.pairs_squared += other.pairs_squared;
    }

    /// The error of the mean of `pairs` values, clustered by query; `None` for fewer than two
    /// queries, or if each has one pair, in which case clustering changes nothing.
    fn error(&self, mean: f64, pairs: usize) -> Option<ClusteredError> {
        if self.queries < 2 || self.queries == pairs {
            return None;
        }
        let groups = self.queries as f64;
        let squares = self.squares - 2.0 * mean * self.products + mean * mean * self.pairs_squared;
        // If the queries do not differ, the terms cancel up to rounding.
        let squares = if squares > 1e-12 * self.squares {
            squares
        } else {
            0.0
        };
        Some(ClusteredError {
            se: (squares * groups / (groups - 1.0)).sqrt() / pairs as f64,
            degrees: self.queries - 1,
        })
    }
}

impl BothOrders {
    /// Adds the pairs of one query. The outcomes of each pair are as presented to the judge: `A` is
    /// the document shown first.
    pub fn add_query(&mut self, pairs: impl IntoIterator<Item = (Outcome, Outcome)>) {
        let (mut flips, mut n) = (0, 0);
        for pair in pairs {
            let is_same = matches!(
                pair,
                (Outcome::A, Outcome::B) | (Outcome::B, Outcome::A) | (Outcome::Tie, Outcome::Tie)
            );
            flips += usize::from(!is_same);
            n += 1;
        }
        if n > 0 {
            self.pairs += n;
            self.flips += flips;
            self.sums.add(flips as f64, n as f64);
        }
    }

    /// Adds the pairs of other queries.
    pub fn join(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.flips += other.flips;
        self.sums.join(other.sums);
    }

    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// Pairs whose answer changed with the order.
    pub fn flips(&self) -> usize {
        self.flips
    }

    /// The share of pairs whose answer changed with the order; `None` without pairs.
    pub fn flip_share(&self) -> Option<Share> {
        let (part, n) = (self.flips() as f64, self.pairs());
        Share::of_sum(part, n, self.sums.error(part / n.max(1) as f64, n))
    }

    /// Whether significantly more than 40 % of the answers change.
    pub fn flips_too_often(&self) -> bool {
        self.flip_share()
            .is_some_and(|share| share.interval.low > TOO_MANY)
    }

    /// A short form, such as `flips 30 % (20–43) of 60`; `None` without pairs.
    pub fn in_short(&self) -> Option<String> {
        let Share {
            value, interval, n, ..
        } = self.flip_share()?;
        Some(format!(
            "flips {:.0} % ({:.0}–{:.0}) of {n}",
            100.0 * value,
            100.0 * interval.low,
            100.0 * interval.high,
        ))
    }

    /// The same as a clause to be appended to the judge's name.
    pub fn words(&self) -> Option<String> {
        let Share {
            value, interval, n, ..
        } = self.flip_share()?;
        let mut words = format!(
            "changes its answer with the order in {:.0} % ({:.0}–{:.0} %) of {} seen in both orders",
            100.0 * value,
            100.0 * interval.low,
            100.0 * interval.high,
            counted(n, "pair")
        );
        if self.flips_too_often() {
            words += ": its answers depend on the order; try another prompt or a larger model";
        }
        Some(words)
    }
}

/// The outcome of a vote as presented to the judge: `A` is the document shown first.
pub fn as_shown(outcome: Outcome, swapped: bool) -> Outcome {
    let mut counts = PositionCounts::default();
    counts.count(outcome, swapped);
    match (counts.first, counts.second) {
        (1, _) => Outcome::A,
        (_, 1) => Outcome::B,
        _ => Outcome::Tie,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs with these shifts, each from a different query.
    fn orders(shifts: [usize; 5]) -> BothOrders {
        let mut both = BothOrders::default();
        for (at, pairs) in shifts.into_iter().enumerate() {
            for _ in 0..pairs {
                both.add_query([pair(at)]);
            }
        }
        both
    }

    /// Two answers with the shift at this index.
    fn pair(at: usize) -> (Outcome, Outcome) {
        use Outcome::{A, B, Tie};
        [(B, B), (B, Tie), (A, B), (A, Tie), (A, A)][at]
    }

    #[test]
    fn a_pair_flips_where_another_document_is_named() {
        let mut both = BothOrders::default();
        // The same document both times, and a tie both times.
        both.add_query([(Outcome::A, Outcome::B), (Outcome::Tie, Outcome::Tie)]);
        assert_eq!((both.pairs(), both.flips()), (2, 0));
        // The document shown first both times, then B followed by a tie.
        both.add_query([(Outcome::A, Outcome::A), (Outcome::B, Outcome::Tie)]);
        assert_eq!((both.pairs(), both.flips()), (4, 2));
    }

    #[test]
    fn intervals_take_the_queries_for_what_was_drawn() {
        // In half of the queries every answer changes, in the others none.
        let mut some = BothOrders::default();
        for query in 0..10 {
            some.add_query((0..8).map(|_| pair(if query % 2 == 0 { 4 } else { 2 })));
        }
        let wide = some.flip_share().unwrap().interval;
        let narrow = orders([0, 0, 40, 0, 40]).flip_share().unwrap().interval;
        assert!(wide.high - wide.low > 2.0 * (narrow.high - narrow.low));
        // The clustered sums equal those computed value by value.
        let clustered = ClusteredError::new(
            (0..10).flat_map(|query| (0..8).map(move |_| (query, [0.5, -0.5][query % 2] / 80.0))),
        );
        let found = some.sums.error(0.5, 80).unwrap();
        assert!((found.se - clustered.unwrap().se).abs() < 1e-12);
        let mut joined = BothOrders::default();
        joined.join(some);
        joined.join(some);
        assert_eq!((joined.pairs(), joined.flips()), (160, 80));
    }

    #[test]
    fn queries_that_do_not_differ_have_the_interval_of_their_pairs() {
        let mut alike = BothOrders::default();
        for _ in 0..10 {
            alike.add_query([pair(4), pair(4), pair(2), pair(4), pair(4), pair(4)]);
        }
        let plain = Share::of_sum(50.0, 60, None);
        assert_eq!(alike.flip_share(), plain);
    }

    #[test]
    fn a_vote_is_turned_to_what_was_shown() {
        assert_eq!(as_shown(Outcome::A, false), Outcome::A);
        assert_eq!(as_shown(Outcome::B, true), Outcome::A);
        assert_eq!(as_shown(Outcome::A, true), Outcome::B);
        assert_eq!(as_shown(Outcome::Tie, true), Outcome::Tie);
    }

    #[test]
    fn shares_have_intervals() {
        let both = orders([1, 0, 42, 0, 17]);
        assert_eq!(both.in_short().unwrap(), "flips 30 % (20–43) of 60");
        assert!(!both.flips_too_often());
        assert!(
            orders([0, 0, 20, 0, 40])
                .words()
                .unwrap()
                .contains("depend on the order")
        );
        assert_eq!(BothOrders::default().words(), None);
        assert_eq!(
            orders([0, 0, 9, 0, 0]).words().unwrap(),
            "changes its answer with the order in 0 % (0–30 %) of 9 pairs seen in both orders"
        );
    }
}
