//! Descriptions of pairs in a list before they are judged: the documents' titles, the reason for
//! the pair's position, and people's verdicts.

use crate::domain::battle::Pair;
use crate::domain::corpus::DocId;
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

/// The title, or else the first words, of a pair's low and high document.
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

/// The titles of these pairs' documents. No other document is read.
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

/// The titles of these documents. No other document is read.
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
