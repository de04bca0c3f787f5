//! What a list of pairs tells of them before they are judged: the documents' titles, why a pair comes so early, and
//! what people said of it.

use crate::domain::battle::Pair;
use crate::domain::corpus::DocId;
use crate::domain::priority::ValueParts;
use crate::domain::verdict::{AnnotatorVerdicts, Verdict};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use std::collections::HashMap;

/// What can be told of a pair beside its titles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairQuestion {
    Value,
    Verdicts,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PairDescription {
    /// What the value of a verdict on it is made of; `None` where it has none.
    Value(Option<ValueParts>),
    /// Each person's verdict on it.
    Verdicts(Vec<Verdict>),
}

/// Title, or else the first words, of a pair's low and high document.
pub type PairTitles = [String; 2];

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

/// The titles of these pairs' documents; no other document is read.
pub fn pair_titles(
    db: &Db,
    pairs: &[(QueryKey, Pair)],
) -> Result<HashMap<(QueryKey, Pair), PairTitles>> {
    let mut found = HashMap::new();
    for (query, pair) in pairs {
        let low = db.document_title(*query, pair.low())?;
        let high = db.document_title(*query, pair.high())?;
        found.insert((*query, *pair), [low, high]);
    }
    Ok(found)
}

/// The titles of these documents; no other document is read.
pub fn document_titles(
    db: &Db,
    wanted: Vec<(QueryKey, DocId)>,
) -> Result<HashMap<(QueryKey, DocId), String>> {
    let mut found = HashMap::new();
    for (query, document) in wanted {
        let at = db.find_document(query, document.as_str())?;
        let title = db.document_title(query, at)?;
        found.insert((query, document), title);
    }
    Ok(found)
}
