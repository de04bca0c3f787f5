//! Queue items that were printed, each with an ID that is used to answer it.
//!
//! Printing writes nothing to a person's ledger. Answering an item adds it to the ledger, together
//! with the items printed above it that are not there yet, which the person has skipped. The ledger
//! thus follows the queue order, whatever the order of the answers, and controls keep their
//! probability.

use super::assignments::{NewAssignment, draw_name, draw_of};
use super::corpus::QueryKey;
use super::{Db, Result, StoreError};
use crate::domain::battle::Pair;
use crate::domain::corpus::DocId;
use crate::domain::priority::DrawReason;
use rusqlite::{OptionalExtension as _, Row, params};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// A pair printed by a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedPair {
    pub query: QueryKey,
    /// The document printed first.
    pub a: usize,
    pub b: usize,
    pub item: NewAssignment,
}

/// A disagreement between picks and label printed by a queue.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedDocument {
    pub query: QueryKey,
    pub document: DocId,
    /// Number of disagreements from which it was randomly drawn; 0 if it was not drawn at random.
    pub control_of: usize,
}

/// A short ID derived from an item's content, so that the same item keeps its ID.
fn item_id(parts: &[&str]) -> String {
    const SIGNS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let sign = |byte: &u8| SIGNS.get(usize::from(byte % 32)).copied();
    let signs = hash.finalize();
    signs
        .iter()
        .take(10)
        .filter_map(sign)
        .map(char::from)
        .collect()
}

impl Db {
    /// Stores a list of pairs printed for a person and returns an ID for each.
    pub fn print_pairs(&self, annotator: &str, pairs: &[PrintedPair]) -> Result<Vec<String>> {
        let list = Uuid::now_v7().to_string();
        let mut ids = Vec::with_capacity(pairs.len());
        for (place, pair) in pairs.iter().enumerate() {
            let id = self.pair_id(annotator, pair)?;
            let (draw, of) = (draw_name(pair.item.draw), draw_of(pair.item.draw));
            self.change(
                "INSERT INTO queue_item (id, annotator, list, place, query, a, b, policy, draw,
                 drawn_of)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                 ON CONFLICT (id) DO UPDATE SET list = ?3, place = ?4, a = ?6, b = ?7",
                params![
                    id,
                    annotator,
                    list,
                    place,
                    pair.query.0,
                    pair.a,
                    pair.b,
                    pair.item.policy.name(),
                    draw,
                    of
                ],
            )?;
            ids.push(id);
        }
        Ok(ids)
    }

    fn pair_id(&self, annotator: &str, pair: &PrintedPair) -> Result<String> {
        let (low, high) = (pair.a.min(pair.b), pair.a.max(pair.b));
        let of = draw_of(pair.item.draw).map_or(String::new(), |of| of.to_string());
        Ok(item_id(&[
            "pair",
            annotator,
            self.query(pair.query)?.id.as_str(),
            &low.to_string(),
            &high.to_string(),
            pair.item.policy.name(),
            draw_name(pair.item.draw),
            &of,
        ]))
    }

    /// The pair of an item that `annotator` is about to answer. The item and all items above it in
    /// its list count as shown from now on.
    ///
    /// # Errors
    /// An item that was not printed, that was printed for someone else, or that has been answered.
    pub fn begin_printed_pair(
        &self,
        annotator: &str,
        id: &str,
        now_ms: i64,
    ) -> Result<PrintedPair> {
        let found = self
            .connection
            .prepare_cached(
                "SELECT annotator, query, a, b, policy, draw, drawn_of, list, place FROM queue_item
                 WHERE id = ?1",
            )?
            .query_row([id], |row| {
                let owner: String = row.get(0)?;
                let place: (String, i64) = (row.get(7)?, row.get(8)?);
                Ok((owner, printed_pair(row)?, place))
            })
            .optional()?;
        let Some((owner, printed, (list, place))) = found else {
            return Err(unknown_item(id, "overrule queue"));
        };
        refuse_foreign(id, &owner, annotator)?;
        if self.is_answered(annotator, &printed)? {
            return Err(StoreError::Conflict(format!(
                "item {id} has been answered by {annotator:?}: `overrule undo` undoes the latest verdict, and `overrule override` with --query, --a and --b adds another one"
            )));
        }
        let above: Vec<PrintedPair> = self.all(
            "SELECT annotator, query, a, b, policy, draw, drawn_of FROM queue_item
             WHERE list = ?1 AND place <= ?2 ORDER BY place",
            params![list, place],
            printed_pair,
        )?;
        for item in &above {
            if !self.is_in_ledger(annotator, item)? {
                self.add_assignment(annotator, item.query, item.pair()?, &item.item, now_ms)?;
            }
        }
        Ok(printed)
    }

    /// Whether the person has a current verdict on the pair; for a repeat, one that answers a
    /// repeat.
    fn is_answered(&self, annotator: &str, printed: &PrintedPair) -> Result<bool> {
        let pair = printed.pair()?;
        let repeat = printed.item.draw == DrawReason::Repeat;
        self.value(
            "SELECT EXISTS (SELECT 1 FROM verdict WHERE query = ?1 AND a IN (?2, ?3) AND b IN (?2,
             ?3)
                            AND annotator = ?4 AND (NOT ?5 OR role IS 'repeat')
                            AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.verdict = verdict.uid))",
            params![printed.query.0, pair.low(), pair.high(), annotator, repeat],
        )
    }

    /// Whether the pair was shown to the person, by a queue or for a verdict; for a repeat, as a
    /// repeat.
    fn is_in_ledger(&self, annotator: &str, printed: &PrintedPair) -> Result<bool> {
        let pair = printed.pair()?;
        let repeat = printed.item.draw == DrawReason::Repeat;
        let shown: bool = self.value(
            "SELECT EXISTS (SELECT 1 FROM shown WHERE annotator = ?1 AND query = ?2 AND a = ?3
             AND b = ?4
                            AND (NOT ?5 OR draw = 'repeat'))",
            params![annotator, printed.query.0, pair.low(), pair.high(), repeat],
        )?;
        Ok(shown || self.is_answered(annotator, printed)?)
    }

    /// Stores disagreements printed for a person and returns an ID for each.
    pub fn print_documents(
        &self,
        annotator: &str,
        documents: &[PrintedDocument],
    ) -> Result<Vec<String>> {
        let mut ids = Vec::with_capacity(documents.len());
        for item in documents {
            let name = self.query(item.query)?.id;
            let of = item.control_of.to_string();
            let parts = ["document", annotator, name.as_str(), item.document.as_str()];
            let id = item_id(&[&parts[..], &[&of]].concat());
            self.change(
                "INSERT INTO ruling_item (id, annotator, query, document, drawn_of) VALUES (?1, ?2,
                 ?3, ?4, ?5)
                 ON CONFLICT DO NOTHING",
                params![
                    id,
                    annotator,
                    item.query.0,
                    item.document.as_str(),
                    item.control_of
                ],
            )?;
            ids.push(id);
        }
        Ok(ids)
    }

    /// The document of an item that `annotator` is about to rule on.
    ///
    /// # Errors
    /// As [`Db::begin_printed_pair`].
    pub fn printed_document(&self, annotator: &str, id: &str) -> Result<PrintedDocument> {
        let found = self.maybe(
            "SELECT annotator, query, document, drawn_of FROM ruling_item WHERE id = ?1",
            [id],
            |row| {
                let item = PrintedDocument {
                    query: QueryKey(row.get(1)?),
                    document: DocId::new(row.get::<_, String>(2)?),
                    control_of: row.get(3)?,
                };
                Ok((row.get::<_, String>(0)?, item))
            },
        )?;
        let Some((owner, item)) = found else {
            return Err(unknown_item(id, "overrule adjudication --disagreements"));
        };
        refuse_foreign(id, &owner, annotator)?;
        let standing = self.rulings_on(item.query, &item.document)?;
        let answered = standing.iter().any(|row| row.ruling.annotator == annotator);
        if answered {
            Err(StoreError::Conflict(format!(
                "item {id} has been answered by {annotator:?}: `overrule undo --ruling` undoes the latest ruling, and `overrule rule` with --query and --document adds another one"
            )))
        } else {
            Ok(item)
        }
    }
}

impl PrintedPair {
    fn pair(&self) -> Result<Pair> {
        Pair::new(self.a, self.b)
            .ok_or_else(|| StoreError::Corrupt("a pair of one in a printed queue".to_owned()))
    }
}

/// Reads a pair from a row that starts with annotator, query, a, b, policy, draw, drawn_of.
fn printed_pair(row: &Row<'_>) -> rusqlite::Result<PrintedPair> {
    let draw: String = row.get(5)?;
    let draw = match (draw.as_str(), row.get::<_, Option<usize>>(6)?) {
        ("control", Some(of)) => DrawReason::Control { of },
        ("repeat", _) => DrawReason::Repeat,
        _ => DrawReason::Priority,
    };
    Ok(PrintedPair {
        query: QueryKey(row.get(1)?),
        a: row.get(2)?,
        b: row.get(3)?,
        item: NewAssignment {
            policy: row.get(4)?,
            draw,
        },
    })
}

fn unknown_item(id: &str, command: &str) -> StoreError {
    StoreError::NotFound(format!(
        "no item {id:?} has been printed from this project; `{command}` prints them"
    ))
}

fn refuse_foreign(id: &str, owner: &str, annotator: &str) -> Result<()> {
    if owner == annotator {
        return Ok(());
    }
    Err(StoreError::Conflict(format!(
        "item {id} was printed for {owner:?}, not for {annotator:?}; answer it with --annotator {owner:?}, or print your own list"
    )))
}
