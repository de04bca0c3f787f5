//! What there is to know of a document before it is ruled on.

use super::overview::{RELEVANT, judge_name};
use crate::domain::adjudication::{PickAnswer, PoolSet, Ruling, group_answers};
use crate::domain::corpus::{DocId, JsonObject};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, StoreError};
use std::sync::Arc;

/// A document with its query, its label and what the judges said of it.
#[derive(Clone, Debug)]
pub struct DocumentEvidence {
    /// The query.
    pub query: QueryKey,
    /// The document.
    pub document: DocId,
    /// The query's text.
    pub asked: String,
    /// The document's title, where it has one.
    pub title: Option<String>,
    /// The document's text.
    pub text: Arc<str>,
    /// Its metadata.
    pub metadata: JsonObject,
    /// Its label; none for an unjudged document.
    pub label: Option<i32>,
    /// What each judge picked, in each order.
    pub picks: Vec<JudgePick>,
    /// What people have ruled, as it stands.
    pub rulings: Vec<Ruling>,
}

/// What a judge said of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgePick {
    /// The judge, with what tells it from others of the name.
    pub judge: String,
    /// Whether it picked the document; `None` where its verdict on it lacks its proof.
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
                        let sentence = verdict.sentence.as_deref();
                        let quoted = sentence.map_or(String::new(), |text| format!(" “{text}”"));
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
