//! A person's decisions on a pair before and after each of their actions.

use super::{Decision, Verdict};
use crate::domain::battle::Pair;
use std::collections::HashMap;
use std::hash::Hash;

/// An action of an annotator, on a query identified by `Q`.
#[derive(Clone, Copy, Debug)]
pub enum VerdictEvent<'a, Q> {
    /// Gave a verdict, which may replace an earlier one.
    Gave {
        query: Q,
        verdict: &'a Verdict,
        /// The identifier of the verdict that it replaces.
        replaces: Option<&'a str>,
    },
    /// Undid the verdict with this identifier.
    TookBack(&'a str),
}

/// An annotator's decision on a pair before and after, with the event's document A first; `None` if
/// there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecisionChange {
    pub before: Option<Decision>,
    pub after: Option<Decision>,
}

/// Verdicts that have not been undone, with the verdicts that they replace.
type LiveVerdicts<'a> = Vec<(&'a Verdict, Option<&'a str>)>;

/// The change made by each event, in the given (chronological) order.
pub fn decision_changes<'a, Q: Copy + Eq + Hash>(
    events: impl IntoIterator<Item = VerdictEvent<'a, Q>>,
) -> Vec<DecisionChange> {
    let mut live: HashMap<(Q, Option<Pair>, &'a str), LiveVerdicts<'a>> = HashMap::new();
    let mut given: HashMap<&'a str, (Q, &'a Verdict)> = HashMap::new();
    let place = |query, verdict: &'a Verdict| {
        let pair = Pair::new(verdict.a, verdict.b);
        (query, pair, verdict.annotator.as_str())
    };
    let events = events.into_iter().map(|event| match event {
        VerdictEvent::Gave {
            query,
            verdict,
            replaces,
        } => {
            given.insert(&verdict.uid, (query, verdict));
            let live = live.entry(place(query, verdict)).or_default();
            let before = standing(live, verdict.a);
            live.push((verdict, replaces));
            DecisionChange {
                before,
                after: standing(live, verdict.a),
            }
        }
        VerdictEvent::TookBack(uid) => {
            let Some((query, verdict)) = given.get(uid).copied() else {
                return DecisionChange::default();
            };
            let live = live.entry(place(query, verdict)).or_default();
            let before = standing(live, verdict.a);
            live.retain(|(verdict, _)| verdict.uid != uid);
            DecisionChange {
                before,
                after: standing(live, verdict.a),
            }
        }
    });
    events.collect()
}

/// The latest verdict that is not replaced by another one.
fn standing(live: &LiveVerdicts<'_>, a: usize) -> Option<Decision> {
    let replaced = |uid: &str| live.iter().any(|(_, replaces)| *replaces == Some(uid));
    let mut latest_first = live.iter().rev();
    latest_first
        .find(|(verdict, _)| !replaced(&verdict.uid))
        .map(|(verdict, _)| verdict.seen_from(a))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(uid: &str, annotator: &str, a: usize, decision: Decision) -> Verdict {
        Verdict {
            uid: uid.to_owned(),
            a,
            b: 1 - a,
            decision,
            note: None,
            annotator: annotator.to_owned(),
            created_ms: 0,
        }
    }

    #[test]
    fn each_deed_knows_what_it_changed_for_its_own_annotator() {
        use Decision::{A, B, MuchB, Tie};
        let first = verdict("1", "ada", 0, A);
        let turned = verdict("2", "ada", 1, A);
        let other = verdict("3", "eve", 0, Tie);
        let explained = verdict("4", "ada", 0, MuchB);
        let gave = |verdict, replaces| VerdictEvent::Gave {
            query: 7,
            verdict,
            replaces,
        };
        let changes = decision_changes([
            gave(&first, None),
            gave(&turned, None),
            gave(&other, None),
            gave(&explained, Some("2")),
            VerdictEvent::TookBack("4"),
            VerdictEvent::TookBack("2"),
            VerdictEvent::TookBack("9"),
        ]);
        let change = |before, after| DecisionChange { before, after };
        assert_eq!(
            changes,
            [
                change(None, Some(A)),
                // With the verdict's own A first, the previous verdict said the opposite.
                change(Some(B), Some(A)),
                change(None, Some(Tie)),
                change(Some(B), Some(MuchB)),
                change(Some(MuchB), Some(B)),
                change(Some(A), Some(B)),
                DecisionChange::default(),
            ]
        );
    }
}
