//! The candidates of a query in first-stage order: the project's pool, or the part of it named in a
//! file.

use crate::app::error::{AppError, invalid};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::document_cut::DocumentCut;
use crate::domain::sanitise;
use crate::judge::PoolText;
use crate::store::corpus::{QueryKey, first_stage_order};
use crate::store::{Db, StoreError};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::Arc;

/// The candidates for methods to order.
#[derive(Debug)]
pub(super) struct Candidates {
    pub(super) key: QueryKey,
    pub(super) query: QueryId,
    pub(super) ids: Vec<DocId>,
    /// Text of the query, and texts of the candidates in order.
    pub(super) pool: Arc<PoolText>,
    /// Hash of the query's text, and of the IDs and texts of the candidates in order.
    pub(super) hash: [u8; 32],
}

/// The candidates of each query, best first; a query without an entry uses all of its pool.
pub(super) type NamedCandidates = HashMap<QueryId, Vec<DocId>>;

impl Candidates {
    /// Reads the candidates of a query, of which at most `limit` is shown.
    pub(super) fn read(
        db: &Db,
        key: QueryKey,
        named: Option<&[DocId]>,
        limit: Option<DocumentCut>,
    ) -> Result<Self, StoreError> {
        let pool = db.pool(key)?;
        let positions: Vec<usize> = match named {
            None => first_stage_order(pool.documents.iter().map(|document| &document.metadata)),
            Some(named) => {
                let places: HashMap<&DocId, usize> = pool
                    .documents
                    .iter()
                    .enumerate()
                    .map(|(at, document)| (&document.id, at))
                    .collect();
                named
                    .iter()
                    .filter_map(|id| places.get(id).copied())
                    .collect()
            }
        };
        let documents = || positions.iter().filter_map(|at| pool.documents.get(*at));
        let mut hash = Sha256::new();
        hash_part(&mut hash, &pool.query.text);
        for document in documents() {
            hash_part(&mut hash, document.id.as_str());
            hash_part(&mut hash, &document.content);
        }
        let texts = documents()
            .map(|document| Arc::from(document.content.as_str()))
            .collect();
        let metadata = documents().map(|document| document.metadata.clone());
        Ok(Self {
            key,
            query: pool.query.id.clone(),
            ids: documents().map(|document| document.id.clone()).collect(),
            pool: Arc::new(
                PoolText::new(pool.query.text.clone(), texts)
                    .with_metadata(metadata.collect())
                    .with_limit(limit),
            ),
            hash: hash.finalize().into(),
        })
    }
}

/// Hashes a part together with its length, so that the boundary between two parts affects the hash.
pub(super) fn hash_part(hash: &mut Sha256, part: &str) {
    hash.update((part.len() as u64).to_le_bytes());
    hash.update(part.as_bytes());
}

/// Checks a file of candidates against the project.
pub(super) fn check(
    db: &Db,
    queries: &[(QueryKey, QueryId)],
    named: &NamedCandidates,
    file: &std::path::Path,
) -> Result<(), AppError> {
    let keys: HashMap<&QueryId, QueryKey> = queries.iter().map(|(key, id)| (id, *key)).collect();
    for (query, documents) in named {
        let Some(key) = keys.get(query) else {
            let name = sanitise::line(query.as_str());
            return Err(AppError::file(
                file,
                format!("query {name:?} is not in the project; import its documents first"),
            ));
        };
        let known: std::collections::HashSet<String> = db
            .documents(*key)?
            .into_iter()
            .map(|document| document.id.as_str().to_owned())
            .collect();
        if let Some(strange) = documents.iter().find(|id| !known.contains(id.as_str())) {
            let (query, id) = (
                sanitise::line(query.as_str()),
                sanitise::line(strange.as_str()),
            );
            return Err(AppError::file(
                file,
                format!(
                    "document {id:?} of query {query:?} is not in its pool; import it first, or \
                     remove the line"
                ),
            ));
        }
    }
    if named.is_empty() {
        return Err(invalid!("{}: contains no candidates", file.display()));
    }
    Ok(())
}
