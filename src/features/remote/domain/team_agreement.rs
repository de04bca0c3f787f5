//! How far the people of a project agree on the pairs that at least two of them have judged.

use crate::domain::agreement::{Alpha, BattleLabels, Share, battle_alpha, label_shares};
use crate::domain::battle::Pair;
use crate::domain::judge_report::{PersonVote, people_with_each_other};
use std::collections::BTreeMap;

/// The agreement of people with each other. *Cannot tell* does not count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TeamAgreement {
    /// How often two people agree, over the pairs that at least two have judged.
    pub share: Option<Share>,
    /// Krippendorff's α over the same pairs.
    pub alpha: Option<Alpha>,
    /// How often each person agrees with the others who have judged the same pair; a pair with
    /// several others counts with the mean. `None` for a person who shares no pair with others.
    pub people: Vec<Option<Share>>,
}

/// The agreement of `people` people, each with one vote per pair at most.
pub fn team_agreement(votes: &[PersonVote], people: usize) -> TeamAgreement {
    let mut pairs: BTreeMap<(usize, Pair), Vec<&PersonVote>> = BTreeMap::new();
    for vote in votes {
        pairs.entry((vote.query, vote.pair)).or_default().push(vote);
    }
    pairs.retain(|_, of| of.len() > 1);
    let mut with_others: Vec<Vec<(usize, f64)>> = vec![Vec::new(); people];
    let mut units = Vec::new();
    for ((query, _), of) in &pairs {
        let labels: Vec<_> = of
            .iter()
            .filter_map(|vote| label_shares([vote.outcome]))
            .collect();
        units.push(BattleLabels::of(*query, &labels));
        for vote in of {
            let same = of.iter().filter(|other| other.outcome == vote.outcome);
            let share = (same.count() - 1) as f64 / (of.len() - 1) as f64;
            if let Some(shares) = with_others.get_mut(vote.person) {
                shares.push((*query, share));
            }
        }
    }
    TeamAgreement {
        share: people_with_each_other(votes),
        alpha: battle_alpha(&units),
        people: with_others.into_iter().map(Share::clustered).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::vote::Outcome::{self, A, B, Tie};

    fn vote(person: usize, low: usize, outcome: Outcome) -> PersonVote {
        PersonVote {
            person,
            query: low % 2,
            pair: Pair::new(low, 99).unwrap(),
            outcome,
        }
    }

    #[test]
    fn only_pairs_with_several_people_count() {
        let votes = [
            vote(0, 1, A),
            vote(1, 1, A),
            vote(2, 1, B),
            vote(0, 2, Tie),
            vote(1, 2, Tie),
            vote(0, 3, A),
        ];
        let found = team_agreement(&votes, 4);
        let share = found.share.unwrap();
        // One of three pairs of people agrees on the first pair, and all on the second.
        assert_eq!((share.part, share.n), (1.0 / 3.0 + 1.0, 2));
        assert!(found.alpha.is_some());
        let parts: Vec<_> = found
            .people
            .iter()
            .map(|of| of.as_ref().map(|of| (of.part, of.n)))
            .collect();
        assert_eq!(
            parts,
            [Some((1.5, 2)), Some((1.5, 2)), Some((0.0, 1)), None]
        );
    }

    #[test]
    fn one_person_agrees_with_nobody() {
        let found = team_agreement(&[vote(0, 1, A), vote(0, 2, B)], 1);
        assert_eq!((found.share, found.alpha), (None, None));
        assert_eq!(found.people, [None]);
    }
}
