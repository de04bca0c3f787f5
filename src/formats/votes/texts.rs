//! Tracks the texts of queries and documents in a file: an identifier must not stand for two texts.

use super::vote::{ExternalAnswer, ExternalDocument, ExternalVote};
use crate::formats::problem::quoted;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::error::Error;

/// The texts of a query, as hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownTexts {
    /// Of the query.
    pub query: [u8; 32],
    /// Of its documents, by identifier.
    pub documents: HashMap<String, [u8; 32]>,
}

/// Why the texts of a query cannot be looked up.
pub type LookupError = Box<dyn Error + Send + Sync>;

/// The hash of a text; equal texts have equal hashes.
pub fn text_hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

pub struct TextRegistry<K> {
    pub(super) known: HashMap<String, KnownTexts>,
    look_up: K,
    /// Verdicts with a later time are rejected.
    pub(super) latest_ms: Option<i64>,
}

impl<K> TextRegistry<K>
where
    K: FnMut(&str) -> Result<Option<KnownTexts>, LookupError>,
{
    pub(super) fn new(look_up: K) -> Self {
        Self {
            known: HashMap::new(),
            look_up,
            latest_ms: None,
        }
    }

    /// Rejects a person's verdict with a time in the future: it would remain the latest until then.
    pub(super) fn check_time(&self, vote: &ExternalVote) -> Result<(), Vec<String>> {
        let ahead = vote
            .created_ms
            .zip(self.latest_ms)
            .is_some_and(|(given, latest)| given > latest);
        if ahead && matches!(vote.answer, ExternalAnswer::Verdict(_)) {
            return Err(vec![
                "created_ms: is in the future; correct it, or omit it".to_owned(),
            ]);
        }
        Ok(())
    }

    /// Records the texts of a vote, or returns which of them are missing or differ from earlier
    /// ones. A rejected vote records nothing.
    pub(super) fn agree(&mut self, vote: &ExternalVote) -> Result<(), Vec<String>> {
        let id = vote.query.as_str();
        if !self.known.contains_key(id) {
            let looked_up = (self.look_up)(id).map_err(|error| vec![error.to_string()])?;
            if let Some(texts) = looked_up {
                self.known.insert(id.to_owned(), texts);
            }
        }
        let known = self.known.get(id);
        let mut problems = Vec::new();
        let remedy = match vote.exported {
            Some(_) => {
                "import its dataset first, or export the votes as JSON lines, which have the texts"
            }
            None => "write its text where it first occurs",
        };
        let query = settle(
            "query.query",
            id,
            known.map(|texts| &texts.query),
            vote.query_text.as_deref(),
            remedy,
            &mut problems,
        );
        let mut document = |member: &str, document: &ExternalDocument| {
            settle(
                &format!("{member}.content"),
                document.id.as_str(),
                known.and_then(|texts| texts.documents.get(document.id.as_str())),
                document.content.as_deref(),
                remedy,
                &mut problems,
            )
        };
        let pool = vote.exported.as_ref().and_then(|place| place.pool.as_ref());
        let pooled: Vec<ExternalDocument> = pool
            .iter()
            .flat_map(|pool| &pool.documents)
            .map(|document| ExternalDocument {
                id: document.id.clone(),
                content: Some(document.content.clone()),
            })
            .collect();
        let mut hashes = vec![
            (&vote.a, document("a", &vote.a)),
            (&vote.b, document("b", &vote.b)),
        ];
        hashes.extend(
            pooled
                .iter()
                .map(|pooled| (pooled, document("pool", pooled))),
        );
        let (true, Some(query)) = (problems.is_empty(), query) else {
            return Err(problems);
        };
        let texts = self
            .known
            .entry(id.to_owned())
            .or_insert_with(|| KnownTexts {
                query,
                documents: HashMap::new(),
            });
        for (document, hash) in hashes {
            if let Some(hash) = hash
                && !texts.documents.contains_key(document.id.as_str())
            {
                texts
                    .documents
                    .insert(document.id.as_str().to_owned(), hash);
            }
        }
        Ok(())
    }
}

/// The hash of the text of `id`.
fn settle(
    member: &str,
    id: &str,
    known: Option<&[u8; 32]>,
    text: Option<&str>,
    remedy: &str,
    problems: &mut Vec<String>,
) -> Option<[u8; 32]> {
    let given = text.map(text_hash);
    match (known, given) {
        (Some(known), Some(given)) if *known != given => {
            problems.push(format!(
                "{member}: {} has a different text than before; give it another id",
                quoted(id)
            ));
            None
        }
        (Some(known), _) => Some(*known),
        (None, Some(given)) => Some(given),
        (None, None) => {
            problems.push(format!(
                "{member}: is missing, and {} has not been seen before; {remedy}",
                quoted(id)
            ));
            None
        }
    }
}
