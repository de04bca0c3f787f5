//! What a list of pairs tells of one of them before it is judged: the documents' titles and why it comes so early.

use crate::domain::battle::Pair;
use crate::domain::priority::{ValueParts, value_parts};
use crate::store::corpus::{DocumentInfo, QueryKey};
use crate::store::{Db, Result};

#[derive(Clone, Debug, PartialEq)]
pub struct PairDescription {
    /// Title, or else the first words, of the pair's low and high document.
    pub titles: [String; 2],
    pub value: Option<ValueParts>,
}

pub fn describe_pair(db: &Db, query: QueryKey, pair: Pair) -> Result<PairDescription> {
    let documents = db.documents(query)?;
    let title = |at: usize| documents.get(at).map_or(String::new(), title);
    Ok(PairDescription {
        titles: [title(pair.low()), title(pair.high())],
        value: value_parts(&db.view(query)?, pair),
    })
}

fn title(document: &DocumentInfo) -> String {
    match &document.title {
        Some(title) => title.clone(),
        None => document.snippet.clone(),
    }
}
