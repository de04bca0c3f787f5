//! Decides which verdict counts on a pair that several people have judged.

use super::{Decision, Verdict};
use crate::domain::battle::Pair;
use crate::domain::vote::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strum::IntoStaticStr;

/// How the effective verdict is derived from people's verdicts. Only each annotator's latest
/// verdict on a pair counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum FinalRule {
    /// The latest verdict by any annotator.
    #[default]
    Latest,
    /// The direction (A, equal, B) that more than half of those who stated one agree on. Without
    /// such a majority, no verdict is effective, and the judges' votes remain.
    Majority,
    /// This annotator's verdict; if there is none, as [`FinalRule::Majority`].
    Adjudicator(String),
}

impl FinalRule {
    /// The name used on the command line and in files.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// The effective verdict on one pair, given each annotator's latest verdict, earliest first.
    ///
    /// Under [`FinalRule::Majority`], it is one of the majority's verdicts: the latest one with the
    /// median strength of the majority, using the weaker of the two middle ones. *Cannot tell* does
    /// not vote, and is effective only if nobody says anything else.
    pub fn choose<'a>(&self, said: &[&'a Verdict]) -> Option<&'a Verdict> {
        match self {
            Self::Latest => said.last().copied(),
            Self::Majority => majority(said),
            Self::Adjudicator(name) => said
                .iter()
                .rev()
                .find(|verdict| verdict.annotator == *name)
                .copied()
                .or_else(|| majority(said)),
        }
    }
}

fn majority<'a>(said: &[&'a Verdict]) -> Option<&'a Verdict> {
    let a = said.first()?.a;
    let voting: Vec<(Outcome, &'a Verdict)> = said
        .iter()
        .filter_map(|verdict| Some((verdict.seen_from(a).direction()?, *verdict)))
        .collect();
    if voting.is_empty() {
        return said.last().copied();
    }
    let winner = [Outcome::A, Outcome::Tie, Outcome::B]
        .into_iter()
        .find(|outcome| {
            let votes = voting.iter().filter(|(of, _)| of == outcome).count();
            2 * votes > voting.len()
        })?;
    let camp: Vec<&'a Verdict> = voting
        .into_iter()
        .filter(|(outcome, _)| *outcome == winner)
        .map(|(_, verdict)| verdict)
        .collect();
    let strong = |verdict: &Verdict| matches!(verdict.decision, Decision::MuchA | Decision::MuchB);
    // The median of plain and strong steps is strong if the strong ones are more than half.
    let median = 2 * camp.iter().filter(|verdict| strong(verdict)).count() > camp.len();
    camp.into_iter().rfind(|verdict| strong(verdict) == median)
}

/// All verdicts of people on a query, and the rule that chooses the effective ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnnotatorVerdicts {
    pub rule: FinalRule,
    /// Each annotator's verdict on each pair, earliest first.
    said: Vec<Verdict>,
}

impl AnnotatorVerdicts {
    /// Collects verdicts in the order in which they were given; an annotator's last verdict on a
    /// pair counts.
    pub fn new(rule: FinalRule, given: impl IntoIterator<Item = Verdict>) -> Self {
        let mut latest: BTreeMap<(Option<Pair>, String), (usize, Verdict)> = BTreeMap::new();
        for (at, verdict) in given.into_iter().enumerate() {
            let pair = Pair::new(verdict.a, verdict.b);
            latest.insert((pair, verdict.annotator.clone()), (at, verdict));
        }
        let mut said: Vec<(usize, Verdict)> = latest.into_values().collect();
        said.sort_by_key(|(at, _)| *at);
        Self {
            rule,
            said: said.into_iter().map(|(_, verdict)| verdict).collect(),
        }
    }

    /// Adds a new latest verdict, which replaces its annotator's previous one on the pair.
    pub fn give(&mut self, verdict: Verdict) {
        let pair = Pair::new(verdict.a, verdict.b);
        self.said.retain(|earlier| {
            earlier.annotator != verdict.annotator || Pair::new(earlier.a, earlier.b) != pair
        });
        self.said.push(verdict);
    }

    /// Each annotator's verdict on each pair, earliest first.
    pub fn said(&self) -> &[Verdict] {
        &self.said
    }

    /// Each annotator's verdict on a pair, earliest first.
    pub fn on(&self, pair: Pair) -> Vec<&Verdict> {
        self.said
            .iter()
            .filter(|verdict| Pair::new(verdict.a, verdict.b) == Some(pair))
            .collect()
    }

    pub fn by(&self, annotator: &str, pair: Pair) -> Option<&Verdict> {
        self.on(pair)
            .into_iter()
            .find(|verdict| verdict.annotator == annotator)
    }

    /// The effective verdicts, at most one per pair, ordered by the first current verdict on each
    /// pair.
    pub fn in_force(&self) -> Vec<Verdict> {
        let mut pairs = self.by_pair();
        let in_turn = self.said.iter().filter_map(|verdict| {
            let said = pairs.remove(&Pair::new(verdict.a, verdict.b)?)?;
            self.rule.choose(&said).cloned()
        });
        in_turn.collect()
    }

    /// The pairs on which annotators disagree about the direction (A, equal, B), regardless of the
    /// rule. *Cannot tell* has no direction.
    pub fn conflicts(&self) -> Vec<Pair> {
        self.by_pair()
            .into_iter()
            .filter(|(pair, said)| {
                let mut ways = said
                    .iter()
                    .filter_map(|verdict| verdict.seen_from(pair.low()).direction());
                let first = ways.next();
                ways.any(|way| Some(way) != first)
            })
            .map(|(pair, _)| pair)
            .collect()
    }

    fn by_pair(&self) -> BTreeMap<Pair, Vec<&Verdict>> {
        let mut pairs: BTreeMap<Pair, Vec<&Verdict>> = BTreeMap::new();
        for verdict in &self.said {
            if let Some(pair) = Pair::new(verdict.a, verdict.b) {
                pairs.entry(pair).or_default().push(verdict);
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(annotator: &str, a: usize, b: usize, decision: Decision) -> Verdict {
        Verdict {
            uid: format!("{annotator} {a} {b} {decision}"),
            a,
            b,
            decision,
            note: None,
            annotator: annotator.to_owned(),
            created_ms: 0,
        }
    }

    fn chosen(rule: &FinalRule, decisions: &[Decision]) -> Option<Decision> {
        let given = decisions
            .iter()
            .enumerate()
            .map(|(at, decision)| said(&format!("p{at}"), 0, 1, *decision));
        let in_force = AnnotatorVerdicts::new(rule.clone(), given).in_force();
        in_force.first().map(|verdict| verdict.decision)
    }

    #[test]
    fn a_majority_is_more_than_half_of_those_who_state_a_direction() {
        use Decision::{A, B, CannotTell, MuchA, Tie};
        let table: &[(&[Decision], Option<Decision>)] = &[
            (&[A], Some(A)),
            (&[A, B], None),
            (&[A, B, MuchA], Some(A)),
            (&[MuchA, B, MuchA], Some(MuchA)),
            (&[MuchA, A, MuchA], Some(MuchA)),
            (&[A, Tie, B], None),
            (&[A, A, Tie, B], None),
            (&[Tie, Tie, B], Some(Tie)),
            (&[B, CannotTell], Some(B)),
            (&[A, B, CannotTell, CannotTell], None),
            (&[CannotTell, CannotTell], Some(CannotTell)),
            (&[], None),
        ];
        for (decisions, expected) in table {
            assert_eq!(
                chosen(&FinalRule::Majority, decisions),
                *expected,
                "{decisions:?}"
            );
            assert_eq!(
                chosen(&FinalRule::Latest, decisions),
                decisions.last().copied()
            );
        }
    }

    #[test]
    fn the_adjudicator_stands_above_the_majority_and_is_missed_by_nobody() {
        use Decision::{A, B, CannotTell};
        let rule = FinalRule::Adjudicator("p2".to_owned());
        assert_eq!(chosen(&rule, &[A, A, B]), Some(B));
        assert_eq!(chosen(&rule, &[A, A, CannotTell]), Some(CannotTell));
        assert_eq!(chosen(&rule, &[A, A]), Some(A));
        assert_eq!(chosen(&rule, &[A, B]), None);
    }

    #[test]
    fn one_say_a_person_and_pair_in_either_orientation() {
        let mut people = AnnotatorVerdicts::new(
            FinalRule::Majority,
            [
                said("ada", 0, 1, Decision::B),
                said("ada", 1, 0, Decision::B),
                said("eve", 0, 1, Decision::MuchA),
                said("eve", 2, 3, Decision::Tie),
            ],
        );
        let pair = Pair::new(0, 1).unwrap();
        assert_eq!(people.on(pair).len(), 2);
        assert_eq!(people.conflicts(), []);
        assert_eq!(people.in_force().len(), 2);
        people.give(said("eve", 1, 0, Decision::A));
        assert_eq!(people.conflicts(), [pair]);
        assert_eq!(people.in_force().len(), 1, "no majority of two");
        assert_eq!(people.by("eve", pair).unwrap().a, 1);
        assert!(people.by("eva", pair).is_none());
    }

    fn anyone() -> impl Strategy<Value = Vec<(u8, bool, usize)>> {
        prop::collection::vec((0u8..4, any::<bool>(), 0usize..6), 0..12)
    }

    proptest! {
        #[test]
        fn turning_verdicts_round_changes_nothing(given in anyone(), last in any::<bool>()) {
            let rules = [FinalRule::Latest, FinalRule::Majority, FinalRule::Adjudicator("1".to_owned())];
            for rule in rules {
                let people = |turn: bool| {
                    AnnotatorVerdicts::new(rule.clone(), given.iter().map(|(who, swap, decision)| {
                        let decision = Decision::ALL[*decision];
                        let who = who.to_string();
                        if turn && *swap { said(&who, 1, 0, decision.flipped()) } else { said(&who, 0, 1, decision) }
                    }))
                };
                let seen = |people: &AnnotatorVerdicts| {
                    people.in_force().iter().map(|verdict| verdict.seen_from(0)).collect::<Vec<_>>()
                };
                let (plain, turned) = (people(false), people(true));
                prop_assert_eq!(seen(&plain), seen(&turned));
                prop_assert_eq!(plain.conflicts(), turned.conflicts());
                if plain.conflicts().is_empty() && !given.is_empty() {
                    prop_assert_eq!(plain.in_force().len(), 1, "without a conflict somebody's verdict counts");
                }
                let mut given_last = plain.clone();
                given_last.give(said("9", usize::from(last), usize::from(!last), Decision::A));
                prop_assert_eq!(given_last.said().len(), plain.said().len() + 1);
            }
        }
    }
}
