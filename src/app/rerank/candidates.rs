//! The candidates of a query, in the order of the first stage: the project's pools, or what a file names of them.

use crate::app::error::{AppError, invalid};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::sanitise;
use crate::judge::PoolText;
use crate::store::corpus::{QueryKey, first_stage_order};
use crate::store::{Db, StoreError};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::Arc;

/// The candidates that methods put in order.
#[derive(Debug)]
pub(super) struct Candidates {
    pub(super) key: QueryKey,
    pub(super) query: QueryId,
    pub(super) ids: Vec<DocId>,
    /// The query's text, and those of the candidates, in their order.
    pub(super) pool: Arc<PoolText>,
    /// The hash of the query's text, and of ids and texts of the candidates in their order.
    pub(super) hash: [u8; 32],
}

/// Which documents of a query are candidates, best first; all of its pool where nothing else is said.
pub(super) type NamedCandidates = HashMap<QueryId, Vec<DocId>>;

impl Candidates {
    /// Reads the candidates of a query.
    pub(super) fn read(
        db: &Db,
        key: QueryKey,
        named: Option<&[DocId]>,
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
        Ok(Self {
            key,
            query: pool.query.id.clone(),
            ids: documents().map(|document| document.id.clone()).collect(),
            pool: Arc::new(PoolText::new(pool.query.text.clone(), texts)),
            hash: hash.finalize().into(),
        })
    }
}

/// Adds a part and its length: the border between two parts is a part of what is hashed.
pub(super) fn hash_part(hash: &mut Sha256, part: &str) {
    hash.update((part.len() as u64).to_le_bytes());
    hash.update(part.as_bytes());
}

/// What a file says of the candidates, checked against the project.
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
                    "document {id:?} of query {query:?} is not in its pool; import it first, or take the line out"
                ),
            ));
        }
    }
    if named.is_empty() {
        return Err(invalid!("{}: names no candidates", file.display()));
    }
    Ok(())
}
