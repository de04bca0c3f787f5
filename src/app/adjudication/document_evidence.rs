//! The evidence on a document that is shown before a ruling.

use super::overview::{RELEVANT, judge_name};
use crate::domain::adjudication::{PickAnswer, PoolSet, Ruling, group_answers};
use crate::domain::corpus::{DocId, JsonObject};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, StoreError};
use std::sync::Arc;

/// A document with its query, label and the judges' answers.
#[derive(Clone, Debug)]
pub struct DocumentEvidence {
    pub query: QueryKey,
    pub document: DocId,
    /// Text of the query.
    pub asked: String,
    /// Title of the document, if it has one.
    pub title: Option<String>,
    /// Text of the document.
    pub text: Arc<str>,
    pub metadata: JsonObject,
    /// Its label; `None` for an unjudged document.
    pub label: Option<i32>,
    /// Each judge's picks in each order.
    pub picks: Vec<JudgePick>,
    /// Each person's current ruling.
    pub rulings: Vec<Ruling>,
}

/// A judge's answer about a document.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgePick {
    /// The judge's name, with details that distinguish it from others of the same name.
    pub judge: String,
    /// Whether it picked the document; `None` if its verdict on the document lacks evidence.
    pub picked: Option<bool>,
    /// Its reasons for its picks from the pool.
    pub reason: String,
}

pub fn document_evidence(db: &Db, query: QueryKey, document: &DocId) -> Result<DocumentEvidence> {
    let info = db.query(query)?;
    let at = db.find_document(query, document.as_str())?;
    let pool = db.judging_pool(query, RELEVANT)?;
    let (groups, _) = group_answers(db.picks_of(query)?, &PoolSet::new(vec![pool]));
    let mut picks = Vec::new();
    for group in &groups {
        for (order, given) in &group.orders {
            for given in given.values() {
                if let PickAnswer::Picks(_) = given.answer {
                    let proof = given.verdict_on(document).map(|verdict| {
                        let quoted = verdict
                            .sentence
                            .as_deref()
                            .map_or(String::new(), |text| format!(" “{text}”"));
                        let flaw = verdict
                            .unproven
                            .map_or(String::new(), |unproven| format!(" ({})", unproven.words()));
                        format!("{}{quoted}{flaw}", verdict.verdict.name())
                    });
                    let reasons = proof.into_iter().chain(given.thoughts.iter().cloned());
                    picks.push(JudgePick {
                        judge: judge_name(group, (group.orders.len() > 1).then_some(*order)),
                        picked: given.picks(document),
                        reason: reasons.collect::<Vec<_>>().join("\n"),
                    });
                }
            }
        }
    }
    let rulings = db.rulings_on(query, document)?.into_iter();
    let found = db.documents(query)?.into_iter().nth(at);
    let found = found.ok_or_else(|| StoreError::NotFound("no such document".to_owned()))?;
    Ok(DocumentEvidence {
        query,
        document: document.clone(),
        label: db.label(&info.id, document)?,
        asked: info.text,
        title: found.title,
        text: db.document_text(query, at)?,
        metadata: found.metadata,
        picks,
        rulings: rulings.map(|row| row.ruling).collect(),
    })
}
