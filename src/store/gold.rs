//! Gold items (pairs with a known answer) and how annotators do on them.

use super::corpus::QueryKey;
use super::{Db, Result};
use crate::domain::battle::Pair;
use crate::domain::verdict::{Decision, GoldItem, GoldScore, gold_score};
use rusqlite::params;
use std::collections::{BTreeMap, HashMap};

/// Result of adding a gold item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoldAdded {
    New,
    Same,
    /// A different answer existed and was replaced.
    Replaced,
    /// This different answer exists and was kept; it is given for the same order of the documents.
    Contradicts(Decision),
}

impl Db {
    /// Adds a pair with a known answer. If a different answer exists, `replace` decides whether it
    /// is replaced; a note stays with its answer.
    pub fn add_gold(&self, query: QueryKey, item: &GoldItem, replace: bool) -> Result<GoldAdded> {
        let (a, b) = (item.a.min(item.b), item.a.max(item.b));
        let turned = item.a > item.b;
        let turn = |decision: Decision| if turned { decision.flipped() } else { decision };
        let decision = turn(item.decision);
        let stored: Option<Decision> = self.maybe_value(
            "SELECT decision FROM gold WHERE query = ?1 AND a = ?2 AND b = ?3",
            params![query.0, a, b],
        )?;
        let outcome = match stored {
            None => GoldAdded::New,
            Some(stored) if stored == decision => return Ok(GoldAdded::Same),
            Some(_) if replace => GoldAdded::Replaced,
            Some(stored) => return Ok(GoldAdded::Contradicts(turn(stored))),
        };
        self.change(
            "INSERT INTO gold (query, a, b, decision, note) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (query, a, b) DO UPDATE SET decision = excluded.decision,
             note = excluded.note",
            params![query.0, a, b, decision.name(), item.note],
        )?;
        Ok(outcome)
    }

    /// The gold items of one query or of all, ordered by query and pair.
    pub fn gold(&self, query: Option<QueryKey>) -> Result<Vec<(QueryKey, GoldItem)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT query, a, b, decision, note FROM gold WHERE ?1 IS NULL OR query = ?1
             ORDER BY query, a, b",
        )?;
        let mut rows = statement.query([query.map(|query| query.0)])?;
        let mut items = Vec::new();
        while let Some(row) = rows.next()? {
            let item = GoldItem {
                a: row.get(1)?,
                b: row.get(2)?,
                decision: row.get(3)?,
                note: row.get(4)?,
            };
            items.push((QueryKey(row.get(0)?), item));
        }
        Ok(items)
    }

    /// The score of each annotator on gold items, by name, based on their current verdicts.
    pub fn gold_scores(&self) -> Result<Vec<(String, GoldScore)>> {
        let known: HashMap<(QueryKey, Pair), Decision> = self
            .gold(None)?
            .into_iter()
            .filter_map(|(query, item)| Some(((query, Pair::new(item.a, item.b)?), item.decision)))
            .collect();
        // A person's later verdicts on a pair replace the earlier ones.
        let mut answers: BTreeMap<String, HashMap<(QueryKey, Pair), Decision>> = BTreeMap::new();
        for row in self.standing_verdicts(None)? {
            let verdict = row.verdict;
            if let Some(pair) = Pair::new(verdict.a, verdict.b)
                && known.contains_key(&(row.query, pair))
            {
                let given = verdict.seen_from(pair.low());
                let own = answers.entry(verdict.annotator).or_default();
                own.insert((row.query, pair), given);
            }
        }
        let scored = answers.into_iter().map(|(annotator, given)| {
            let both = given
                .iter()
                .filter_map(|(item, given)| Some((item.0, *known.get(item)?, *given)));
            (annotator, gold_score(both))
        });
        Ok(scored.collect())
    }
}
