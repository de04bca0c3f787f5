//! Descriptions of pairs in a list before they are judged: the documents' titles, the reason for
//! the pair's position, and people's verdicts.

use crate::domain::battle::Pair;
use crate::domain::corpus::{DocId, JsonObject};
use crate::domain::priority::ValueParts;
use crate::domain::verdict::{AnnotatorVerdicts, Verdict};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use std::collections::HashMap;

/// Additional information on a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairQuestion {
    Value,
    Verdicts,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PairDescription {
    /// The factors of the value of a verdict on it; `None` if it has no value.
    Value(Option<ValueParts>),
    /// Each person's verdict on it.
    Verdicts(Vec<Verdict>),
}

/// What a list shows of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedDocument {
    /// Its title, or else its first words.
    pub title: String,
    pub metadata: JsonObject,
}

impl ListedDocument {
    fn read(db: &Db, query: QueryKey, position: usize) -> Result<Self> {
        Ok(Self {
            title: db.document_title(query, position)?,
            metadata: db.document_metadata(query, position)?,
        })
    }
}

/// A pair's low and high document.
pub type ListedPair = [ListedDocument; 2];

pub fn describe_pair(
    db: &Db,
    query: QueryKey,
    pair: Pair,
    question: PairQuestion,
) -> Result<PairDescription> {
    Ok(match question {
        PairQuestion::Value => PairDescription::Value(db.value_parts(query, pair)?),
        PairQuestion::Verdicts => {
            let given = db.standing_verdicts(Some(query))?.into_iter();
            let given = given.map(|row| row.verdict);
            let people = AnnotatorVerdicts::new(db.final_rule()?, given);
            PairDescription::Verdicts(people.on(pair).into_iter().cloned().collect())
        }
    })
}

/// What a list shows of these pairs' documents. No other document is read.
pub fn listed_pairs(
    db: &Db,
    pairs: &[(QueryKey, Pair)],
) -> Result<HashMap<(QueryKey, Pair), ListedPair>> {
    let mut found = HashMap::new();
    for (query, pair) in pairs {
        let low = ListedDocument::read(db, *query, pair.low())?;
        let high = ListedDocument::read(db, *query, pair.high())?;
        found.insert((*query, *pair), [low, high]);
    }
    Ok(found)
}

/// What a list shows of these documents. No other document is read.
pub fn listed_documents(
    db: &Db,
    wanted: Vec<(QueryKey, DocId)>,
) -> Result<HashMap<(QueryKey, DocId), ListedDocument>> {
    let mut found = HashMap::new();
    for (query, document) in wanted {
        let at = db.find_document(query, document.as_str())?;
        found.insert((query, document), ListedDocument::read(db, query, at)?);
    }
    Ok(found)
}
