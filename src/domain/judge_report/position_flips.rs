//! What a judge says when the same pair is shown the other way round.

use super::Rating;
use crate::domain::agreement::Share;
use crate::domain::vote::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often the outcome in terms of the documents changed with the order of presentation, over the pairs that one
/// judge voted on in both.
///
/// `changed` is the strict rate: any difference, a tie against a preference included. It is the sum of the two parts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PositionFlips {
    /// The two outcomes differ.
    pub changed: Share,
    /// Once the one document is better and once the other.
    pub reversed: Share,
    /// Once a tie and once not.
    pub softened: Share,
}

/// What one query adds to the flips of a judge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FlipTally {
    /// Pairs that were voted on in both presentations.
    both: u32,
    reversed: u32,
    softened: u32,
}

impl FlipTally {
    /// Of one judge's ballots on one query, the last ballot of a pair in each presentation counting.
    pub(super) fn of(ratings: &[Rating]) -> Self {
        let mut shown: BTreeMap<_, [Option<Outcome>; 2]> = BTreeMap::new();
        for rating in ratings {
            if let Some((key, outcome)) = rating.on_pair() {
                // Which of the pair was first, whatever the battle calls it.
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

/// The flips of one judge over its queries. `None` where no pair was voted on in both.
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
            // Always the document shown first: reversed.
            shown(0, 1, -1.0, false),
            shown(0, 1, 1.0, true),
            // The same document both times, the second battle stored the other way round.
            shown(0, 2, -1.0, false),
            shown(2, 0, 1.0, false),
            // A tie once.
            shown(0, 3, 0.0, true),
            shown(0, 3, 1.0, false),
            // One presentation only.
            shown(0, 4, 1.0, true),
        ];
        let flips = position_flips(&[FlipTally::of(&ratings)]).unwrap();
        assert_eq!((flips.changed.part, flips.changed.n), (2.0, 3));
        assert_eq!((flips.reversed.part, flips.softened.part), (1.0, 1.0));
        assert_eq!(position_flips(&[FlipTally::of(&ratings[6..])]), None);
    }
}
