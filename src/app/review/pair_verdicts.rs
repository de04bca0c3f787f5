//! All verdicts on a pair, for commands that show it.

use crate::domain::battle::Pair;
use crate::domain::sanitize;
use crate::domain::verdict::{AnnotatorVerdicts, FinalRule, Verdict};
use crate::store::corpus::QueryKey;
use crate::store::verdicts::StoredVerdict;
use crate::store::{Db, Result};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap, HashSet};

/// People's verdicts on a query, with all stored details.
pub struct PairVerdicts {
    people: AnnotatorVerdicts,
    stored: HashMap<String, StoredVerdict>,
    conflicts: HashSet<Pair>,
}

impl PairVerdicts {
    pub fn load(db: &Db, query: QueryKey) -> Result<Self> {
        let stored = db.standing_verdicts(Some(query))?;
        let given = stored.iter().map(|row| row.verdict.clone());
        let people = AnnotatorVerdicts::new(db.final_rule()?, given);
        Ok(Self {
            conflicts: people.conflicts().into_iter().collect(),
            people,
            stored: stored
                .into_iter()
                .map(|row| (row.verdict.uid.clone(), row))
                .collect(),
        })
    }

    pub fn pairs(&self) -> BTreeSet<Pair> {
        self.people
            .said()
            .iter()
            .filter_map(|verdict| Pair::new(verdict.a, verdict.b))
            .collect()
    }

    /// Each annotator's verdict on each pair, with all stored details and whether it is the
    /// effective one.
    pub fn rows(&self) -> impl Iterator<Item = (&StoredVerdict, bool)> {
        let in_force: HashSet<String> = self
            .people
            .in_force()
            .into_iter()
            .map(|verdict| verdict.uid)
            .collect();
        self.people.said().iter().filter_map(move |verdict| {
            Some((
                self.stored.get(&verdict.uid)?,
                in_force.contains(&verdict.uid),
            ))
        })
    }

    fn chosen(&self, pair: Pair) -> Option<&Verdict> {
        self.people.rule.choose(&self.people.on(pair))
    }

    /// Each annotator's verdict on a pair seen with `a` first, which one is effective, and whether
    /// they disagree.
    pub fn json(&self, pair: Pair, a: usize) -> (Value, bool) {
        let chosen = self.chosen(pair).map(|verdict| &verdict.uid);
        let said: Vec<Value> = self
            .people
            .on(pair)
            .into_iter()
            .filter_map(|verdict| {
                let row = self.stored.get(&verdict.uid)?;
                Some(json!({
                    "uid": verdict.uid,
                    "annotator": verdict.annotator,
                    "decision": verdict.seen_from(a).name(),
                    "note": verdict.note,
                    "confidence": row.confidence,
                    "cause": row.cause,
                    "blind": row.blind,
                    "role": row.role,
                    "created_ms": verdict.created_ms,
                    "in_force": Some(&verdict.uid) == chosen,
                }))
            })
            .collect();
        (said.into(), self.conflicts.contains(&pair))
    }

    /// The text besides the effective verdict: its reasons, other people's verdicts, and whether
    /// they disagree.
    pub fn lines(&self, pair: Pair, name: impl Fn(usize) -> String) -> String {
        let on = self.people.on(pair);
        let mut text = String::new();
        for verdict in &on {
            let row = self.stored.get(&verdict.uid);
            let words = verdict.decision.words(&name(verdict.a), &name(verdict.b));
            let why = [
                row.and_then(|row| row.confidence)
                    .map(|confidence| confidence.words().to_owned()),
                row.and_then(|row| row.cause)
                    .map(|cause| cause.words().to_owned()),
                verdict
                    .note
                    .as_deref()
                    .map(|note| sanitize::line(note).into_owned()),
            ];
            let why: Vec<String> = why.into_iter().flatten().collect();
            let who = sanitize::line(&verdict.annotator);
            let line = match (on.len(), why.is_empty()) {
                (1, true) => continue,
                (1, false) => why.join("; "),
                (_, true) => format!("{who}: {words}"),
                (_, false) => format!("{who}: {words} ({})", why.join("; ")),
            };
            text.push_str(&format!("      {line}\n"));
        }
        if self.conflicts.contains(&pair) {
            let outcome = match (&self.people.rule, self.chosen(pair)) {
                (_, None) => "no majority, so the judges' votes count".to_owned(),
                (FinalRule::Majority, Some(_)) => "the majority counts".to_owned(),
                (rule, Some(verdict)) => format!(
                    "{} counts ({})",
                    sanitize::line(&verdict.annotator),
                    rule.name()
                ),
            };
            text.push_str(&format!("      people differ: {outcome}\n"));
        }
        text
    }
}
