//! The candidates of a query in first-stage order: the project's pool, or the documents that a
//! ranking names; or shuffled.

use crate::app::error::AppError;
use crate::app::pool::texts_of_corpus;
use crate::domain::corpus::{DocId, Document, JsonObject, QueryId};
use crate::domain::document_cut::DocumentCut;
use crate::domain::sanitize;
use crate::features::methods::domain::reranking::{CpythonRandom, stable_seed};
use crate::judge::{PoolText, text_hash};
use crate::store::corpus::{QueryKey, first_stage_order};
use crate::store::{Db, Store, StoreError};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// The orders of a run, by query.
pub(super) type Orders = BTreeMap<QueryId, Vec<DocId>>;

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

/// One candidate.
struct Candidate {
    id: DocId,
    text: Arc<str>,
    metadata: JsonObject,
    title: Option<String>,
}

impl Candidate {
    /// A candidate with this text; `of` is the document of the pool, if it is in the pool.
    fn of(id: DocId, text: Arc<str>, of: Option<&Document>) -> Self {
        Self {
            id,
            text,
            metadata: of.map_or_else(JsonObject::default, |of| of.metadata.clone()),
            title: of.and_then(|of| of.title.clone()),
        }
    }
}

/// How the candidates of each query are shuffled: by CPython's generator, seeded by the seed, the
/// task and the query's identifier, as in ranksmith.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateShuffle {
    pub seed: u64,
    /// By default, the name of the dataset that the query was imported from.
    pub task: Option<String>,
}

/// The candidates that the methods of a run order, and their order.
#[derive(Debug, Default)]
pub(super) struct CandidateLists {
    /// The candidates of each query, best first; without it, the whole pools in first-stage order.
    pub(super) named: Option<HashMap<QueryKey, Vec<DocId>>>,
    /// Texts from a corpus, of documents whose texts the project lacks.
    pub(super) texts: HashMap<DocId, Arc<str>>,
    pub(super) shuffle: Option<CandidateShuffle>,
    /// How much of each document is shown; `None` for all of it.
    pub(super) limit: Option<DocumentCut>,
}

impl CandidateLists {
    /// Reads the candidates of a query.
    pub(super) fn read(&self, db: &Db, key: QueryKey) -> Result<Candidates, StoreError> {
        self.read_limited(db, key, self.limit)
    }

    /// Reads the candidates of a query, of which this much is shown.
    pub(super) fn read_limited(
        &self,
        db: &Db,
        key: QueryKey,
        limit: Option<DocumentCut>,
    ) -> Result<Candidates, StoreError> {
        let pool = db.pool(key)?;
        let mut documents: Vec<Candidate> = match &self.named {
            None => {
                let order = first_stage_order(pool.documents.iter().map(|one| &one.metadata));
                let ordered = order.iter().filter_map(|at| pool.documents.get(*at));
                ordered
                    .map(|one| {
                        let text = Arc::from(one.content.as_str());
                        Candidate::of(one.id.clone(), text, Some(one))
                    })
                    .collect()
            }
            Some(named) => {
                let further = db.candidates(key)?;
                let further = further.iter().map(|(id, text)| (id, text.as_str()));
                let of_pool = pool.documents.iter();
                let known: HashMap<&DocId, &str> = further
                    .chain(of_pool.map(|one| (&one.id, one.content.as_str())))
                    .collect();
                let in_pool: HashMap<&DocId, &Document> =
                    pool.documents.iter().map(|one| (&one.id, one)).collect();
                let text = |id: &DocId| match known.get(id) {
                    Some(text) => Some(Arc::from(*text)),
                    None => self.texts.get(id).cloned(),
                };
                let named = named.get(&key).into_iter().flatten();
                named
                    .filter_map(|id| {
                        let of = in_pool.get(id).copied();
                        Some(Candidate::of(id.clone(), text(id)?, of))
                    })
                    .collect()
            }
        };
        if let Some(shuffle) = &self.shuffle {
            let task = match &shuffle.task {
                Some(task) => task.clone(),
                None => db.dataset_of(key)?,
            };
            let seed = shuffle.seed.to_string();
            let seed = stable_seed(&[&seed, &task, pool.query.id.as_str()]);
            CpythonRandom::new(seed.into()).shuffle(&mut documents);
        }
        let mut hash = Sha256::new();
        hash_part(&mut hash, &pool.query.text);
        for of in &documents {
            hash_part(&mut hash, of.id.as_str());
            hash_part(&mut hash, &of.text);
        }
        let query = pool.query.id.clone();
        let (mut ids, mut texts) = (Vec::new(), Vec::new());
        let (mut metadata, mut titles) = (Vec::new(), Vec::new());
        for of in documents {
            ids.push(of.id);
            texts.push(of.text);
            metadata.push(of.metadata);
            titles.push(of.title);
        }
        let hashes = pool.documents.iter().map(|one| text_hash(&one.content));
        let pool = PoolText::new(pool.query.text.clone(), texts)
            .with_metadata(metadata)
            .with_inputs(titles, pool.query.extra)
            .in_pool(hashes)
            .with_limit(limit);
        Ok(Candidates {
            key,
            query,
            ids,
            pool: Arc::new(pool),
            hash: hash.finalize().into(),
        })
    }
}

/// Hashes a part together with its length, so that the boundary between two parts affects the hash.
pub(super) fn hash_part(hash: &mut Sha256, part: &str) {
    hash.update((part.len() as u64).to_le_bytes());
    hash.update(part.as_bytes());
}

/// The candidates that a ranking names for queries of the project, by query. Texts that the project
/// lacks are read from the corpus.
pub(super) fn named(
    store: &Store,
    queries: &[(QueryKey, QueryId)],
    ranking: &Orders,
    name: &Path,
    corpus: Option<&Path>,
) -> Result<CandidateLists, AppError> {
    if ranking.is_empty() {
        return Err(AppError::file(name, "contains no candidates"));
    }
    let keys: HashMap<&QueryId, QueryKey> = queries.iter().map(|(key, id)| (id, *key)).collect();
    let mut named = HashMap::new();
    for (query, documents) in ranking {
        let key = keys.get(query).ok_or_else(|| {
            let query = sanitize::line(query.as_str());
            AppError::file(
                name,
                format!("query {query:?} is not in the project; import its documents first"),
            )
        })?;
        named.insert(*key, documents.clone());
    }
    let ranked: Vec<QueryKey> = ranking
        .keys()
        .filter_map(|id| keys.get(id).copied())
        .collect();
    let known = |db: &Db, key| {
        let further = db.candidates(key)?.into_iter().map(|(id, _)| id);
        let held = db.document_ids(key)?.into_iter();
        Ok(held.chain(further).collect::<HashSet<DocId>>())
    };
    let mut missing: Vec<(QueryKey, DocId)> = Vec::new();
    store.read_each(&ranked, known, |key, known| {
        let strange = named.get(&key).into_iter().flatten();
        let strange = strange.filter(|id| !known.contains(*id));
        missing.extend(strange.map(|id| (key, id.clone())));
        Ok::<_, StoreError>(())
    })?;
    let texts = match corpus {
        Some(corpus) if !missing.is_empty() => {
            let wanted = missing.iter().map(|(_, id)| id.clone()).collect();
            texts_of_corpus(corpus, &wanted)?
        }
        _ => HashMap::new(),
    };
    if let Some((key, id)) = missing.iter().find(|(_, id)| !texts.contains_key(id)) {
        let query = queries.iter().find(|(known, _)| known == key);
        let query = query.map_or("", |(_, query)| query.as_str());
        let (query, id) = (sanitize::line(query), sanitize::line(id.as_str()));
        let remedy = match corpus {
            None => "--corpus FILE takes its text from corpus.jsonl".to_owned(),
            Some(corpus) => format!("{} lacks it, or its text is empty", corpus.display()),
        };
        return Err(AppError::file(
            name,
            format!(
                "document {id:?} of query {query:?} is not in its pool, nor among the candidates \
                 that `pool build` has kept; {remedy}"
            ),
        ));
    }
    Ok(CandidateLists {
        named: Some(named),
        texts,
        ..CandidateLists::default()
    })
}
