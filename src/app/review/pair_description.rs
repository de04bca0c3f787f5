//! What a list of pairs tells of them before they are judged: the documents' titles, why a pair comes so early, and
//! what people said of it.

use crate::domain::battle::Pair;
use crate::domain::priority::{ValueParts, value_parts};
use crate::domain::verdict::{AnnotatorVerdicts, Verdict};
use crate::store::corpus::{DocumentInfo, QueryKey};
use crate::store::{Db, Result};
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq)]
pub struct PairDescription {
    pub titles: PairTitles,
    pub value: Option<ValueParts>,
    /// Each person's verdict on the pair.
    pub said: Vec<Verdict>,
}

/// Title, or else the first words, of a pair's low and high document.
pub type PairTitles = [String; 2];

pub fn describe_pair(db: &Db, query: QueryKey, pair: Pair) -> Result<PairDescription> {
    let given = db.standing_verdicts(Some(query))?;
    let given = given.into_iter().map(|row| row.verdict);
    let people = AnnotatorVerdicts::new(db.final_rule()?, given);
    Ok(PairDescription {
        titles: titles(&db.documents(query)?, pair),
        value: value_parts(&db.view(query)?, pair),
        said: people.on(pair).into_iter().cloned().collect(),
    })
}

/// The titles of these pairs' documents; the documents of a query are read once.
pub fn pair_titles(
    db: &Db,
    pairs: &[(QueryKey, Pair)],
) -> Result<HashMap<(QueryKey, Pair), PairTitles>> {
    let mut documents: HashMap<QueryKey, Vec<DocumentInfo>> = HashMap::new();
    let mut found = HashMap::new();
    for (query, pair) in pairs {
        if !documents.contains_key(query) {
            documents.insert(*query, db.documents(*query)?);
        }
        if let Some(documents) = documents.get(query) {
            found.insert((*query, *pair), titles(documents, *pair));
        }
    }
    Ok(found)
}

fn titles(documents: &[DocumentInfo], pair: Pair) -> PairTitles {
    let title = |at: usize| documents.get(at).map_or(String::new(), title);
    [title(pair.low()), title(pair.high())]
}

fn title(document: &DocumentInfo) -> String {
    match &document.title {
        Some(title) => title.clone(),
        None => document.snippet.clone(),
    }
}
