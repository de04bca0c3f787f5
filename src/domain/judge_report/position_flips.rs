//! What a judge says when the same pair is shown the other way round.

use super::Rating;
use crate::domain::agreement::Share;
use crate::domain::vote::Outcome;
use serde::Serialize;
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

/// The flips of one judge's ballots, the last ballot of a pair in each presentation counting. `None` where no pair was
/// voted on in both.
pub fn position_flips(ratings: &[Rating]) -> Option<PositionFlips> {
    let mut shown: BTreeMap<_, [Option<Outcome>; 2]> = BTreeMap::new();
    for rating in ratings {
        if let Some((key, outcome)) = rating.on_pair() {
            // Which of the pair was first, whatever the battle calls it.
            let high_first = rating.swapped == (rating.b > rating.a);
            shown.entry(key).or_default()[usize::from(high_first)] = Some(outcome);
        }
    }
    let both: Vec<(usize, Outcome, Outcome)> = shown
        .into_iter()
        .filter_map(|((query, _), outcomes)| match outcomes {
            [Some(one), Some(other)] => Some((query, one, other)),
            _ => None,
        })
        .collect();
    let share = |counts: fn(Outcome, Outcome) -> bool| {
        let count = |(query, one, other): &(usize, Outcome, Outcome)| {
            (
                *query,
                f64::from(u8::from(one != other && counts(*one, *other))),
            )
        };
        Share::clustered(both.iter().map(count))
    };
    let a_tie = |one: Outcome, other: Outcome| one == Outcome::Tie || other == Outcome::Tie;
    Some(PositionFlips {
        changed: share(|_, _| true)?,
        reversed: share(|one, other| one != Outcome::Tie && other != Outcome::Tie)?,
        softened: share(a_tie)?,
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
        let flips = position_flips(&ratings).unwrap();
        assert_eq!((flips.changed.part, flips.changed.n), (2.0, 3));
        assert_eq!((flips.reversed.part, flips.softened.part), (1.0, 1.0));
        assert_eq!(super::position_flips(&ratings[6..]), None);
    }
}
