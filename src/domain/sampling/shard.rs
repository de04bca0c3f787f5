//! Shards of a dataset's queries, for machines that share the work without a server.

use super::SeededRng;
use std::fmt::{self, Display};
use std::num::NonZeroUsize;
use std::str::FromStr;

/// Maximum number of shards.
const MOST: usize = 1_000_000;

/// One of several parts of the queries. Each query belongs to one shard, which follows from its
/// name alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    number: usize,
    of: NonZeroUsize,
}

/// Why a text does not name a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidShard;

impl Shard {
    pub fn contains(self, query: &str) -> bool {
        let mut rng = SeededRng::new(0, &["shard", query]);
        rng.below(self.of.get()) + 1 == self.number
    }

    /// The shard's part of a total; the parts of all shards add up to it.
    pub fn share(self, total: usize) -> usize {
        let of = self.of.get() as u128;
        let up_to = |number: usize| (total as u128 * number as u128 / of) as usize;
        up_to(self.number) - up_to(self.number - 1)
    }

    /// An equal part of an amount; the parts of all shards do not exceed it.
    pub fn part(self, amount: f64) -> f64 {
        amount / self.of.get() as f64
    }

    /// `3-of-16`, for names of files.
    pub fn file_suffix(self) -> String {
        format!("{}-of-{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = InvalidShard;

    fn from_str(text: &str) -> Result<Self, InvalidShard> {
        let (number, of) = text.split_once('/').ok_or(InvalidShard)?;
        let number: usize = number.parse().map_err(|_| InvalidShard)?;
        let of: NonZeroUsize = of.parse().map_err(|_| InvalidShard)?;
        if (1..=of.get()).contains(&number) && of.get() <= MOST {
            Ok(Self { number, of })
        } else {
            Err(InvalidShard)
        }
    }
}

impl Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.number, self.of)
    }
}

impl Display for InvalidShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected NUMBER/SHARDS, such as 3/16 for the third of 16 shards")
    }
}

impl std::error::Error for InvalidShard {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shards(of: usize) -> Vec<Shard> {
        (1..=of)
            .map(|number| format!("{number}/{of}").parse().unwrap())
            .collect()
    }

    #[test]
    fn only_a_number_of_a_count_is_a_shard() {
        assert_eq!("3/16".parse::<Shard>().unwrap().to_string(), "3 of 16");
        for text in [
            "",
            "3",
            "0/4",
            "5/4",
            "1/0",
            "-1/4",
            "1/2/3",
            "a/b",
            "1/9999999",
        ] {
            assert_eq!(text.parse::<Shard>(), Err(InvalidShard), "{text:?}");
        }
    }

    #[test]
    fn shards_have_about_the_same_size() {
        for shard in shards(4) {
            let queries = (0..4_000).filter(|at| shard.contains(&format!("q{at}")));
            assert!((900..1_100).contains(&queries.count()));
        }
    }

    proptest! {
        #[test]
        fn every_query_is_in_exactly_one_shard(query: String, of in 1usize..40) {
            let holders = shards(of).into_iter().filter(|shard| shard.contains(&query));
            prop_assert_eq!(holders.count(), 1);
        }

        #[test]
        fn shares_add_up(total: usize, of in 1usize..40) {
            let shares: usize = shards(of).into_iter().map(|shard| shard.share(total)).sum();
            prop_assert_eq!(shares, total);
        }
    }
}
