//! Measures how often a judge changes its answer when the documents are swapped.

use super::Rating;
use crate::domain::agreement::Share;
use crate::domain::vote::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often the outcome, in terms of the documents, changed with the order of presentation, over
/// the pairs that one judge voted on in both orders.
///
/// `changed` is the strict rate: any difference, including a tie against a preference. It is the
/// sum of the two parts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PositionFlips {
    /// The two outcomes differ.
    pub changed: Share,
    /// One document is better in one order and the other document in the other.
    pub reversed: Share,
    /// A tie in one order only.
    pub softened: Share,
}

/// One query's contribution to a judge's flips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FlipTally {
    /// Pairs that were voted on in both orders.
    both: u32,
    reversed: u32,
    softened: u32,
}

impl FlipTally {
    /// Tallies one judge's ballots on one query; if a pair has several ballots in one order, the
    /// last one counts.
    pub(super) fn of(ratings: &[Rating]) -> Self {
        let mut shown: BTreeMap<_, [Option<Outcome>; 2]> = BTreeMap::new();
        for rating in ratings {
            if let Some((key, outcome)) = rating.on_pair() {
                // Whether the document later in the pool was shown first, whatever the battle calls
                // it.
                let high_first = rating.swapped == (rating.b > rating.a);
                shown.entry(key).or_default()[usize::from(high_first)] = Some(outcome);
            }
        }
        let mut tally = Self::default();
        for outcomes in shown.into_values() {
            let [Some(one), Some(other)] = outcomes else {
                continue;
            };
            tally.both += 1;
            match one == Outcome::Tie || other == Outcome::Tie {
                _ if one == other => {}
                true => tally.softened += 1,
                false => tally.reversed += 1,
            }
        }
        tally
    }
}

/// The flips of one judge over its queries. `None` if no pair was voted on in both orders.
pub(super) fn position_flips(queries: &[FlipTally]) -> Option<PositionFlips> {
    let share = |count: fn(&FlipTally) -> u32| {
        let of = |tally: &FlipTally| (f64::from(count(tally)), tally.both as usize);
        Share::of_clusters(queries.iter().map(of))
    };
    Some(PositionFlips {
        changed: share(|tally| tally.reversed + tally.softened)?,
        reversed: share(|tally| tally.reversed)?,
        softened: share(|tally| tally.softened)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::rating;
    use super::*;

    fn shown(a: usize, b: usize, margin: f64, swapped: bool) -> Rating {
        Rating {
            swapped,
            ..rating(0, a, b, margin)
        }
    }

    #[test]
    fn any_change_is_a_flip_and_the_two_kinds_add_up() {
        let ratings = [
            // The document shown first both times: reversed.
            shown(0, 1, -1.0, false),
            shown(0, 1, 1.0, true),
            // The same document both times, with the second battle stored the other way round.
            shown(0, 2, -1.0, false),
            shown(2, 0, 1.0, false),
            // A tie in one of the orders.
            shown(0, 3, 0.0, true),
            shown(0, 3, 1.0, false),
            // One order only.
            shown(0, 4, 1.0, true),
        ];
        let flips = position_flips(&[FlipTally::of(&ratings)]).unwrap();
        assert_eq!((flips.changed.part, flips.changed.n), (2.0, 3));
        assert_eq!((flips.reversed.part, flips.softened.part), (1.0, 1.0));
        assert_eq!(position_flips(&[FlipTally::of(&ratings[6..])]), None);
    }
}
