//! Reads the judged pairs of a project with their features into scratch files, query by query.

use super::judged_pairs::{JudgedQuery, PairsHash, short_hash, unjudged};
use super::known_texts::KnownTexts;
use super::other_scores::OtherScores;
use super::vectors::{KnownVectors, PoolVectors};
use crate::app::error::AppError;
use crate::domain::battle::Pair;
use crate::domain::corpus::{DocId, QueryId};
use crate::features::student::domain::features::{PairFeatures, QueryFeatures};
use crate::features::student::domain::model::{TrainingPairs, TrainingQuery, UnjudgedNumbers};
use crate::features::student::domain::spool::{Scratch, ScratchFile, SpoolError};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use sha2::{Digest as _, Sha256};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainOptions {
    /// Whether to use the zELO of both documents and of those most similar to each, fitted without
    /// the pair itself.
    pub other_battles: bool,
    /// Number of folds for cross-validation.
    pub folds: usize,
    pub seed: u64,
    /// Whether unjudged pairs are predicted too.
    pub all_pairs: bool,
}

/// The queries of a project, ordered by their names.
pub(super) struct TrainingPools {
    /// The index of a query is its place among all queries.
    pub(super) pairs: TrainingPairs,
    /// The names of each query and its documents, in the order of `pairs`.
    names: NameFile,
    /// Hash of the training pairs with their features, scores and weights.
    pub(super) training_hash: String,
    /// [`hash_of_pairs`](super::judged_pairs::hash_of_pairs) of the training pairs.
    pub(super) pairs_hash: String,
}

/// A query with the names of its documents, by pool index.
pub(super) struct NamedPool {
    pub(super) key: QueryKey,
    pub(super) id: QueryId,
    pub(super) documents: Vec<DocId>,
}

impl NamedPool {
    /// The names of the documents of a pair, that with the lower pool index first.
    pub(super) fn names(&self, pair: Pair) -> Option<[&str; 2]> {
        let name = |at: usize| self.documents.get(at).map(DocId::as_str);
        Some([name(pair.low())?, name(pair.high())?])
    }
}

impl TrainingPools {
    pub(super) fn read(
        store: &Store,
        options: TrainOptions,
        vectors: Option<&KnownVectors>,
        scratch: &dyn Scratch,
    ) -> Result<Self, AppError> {
        let settings = store.read_blocking(|db| db.settings_in_force())?;
        let settings = settings.without_tastes().rating();
        let mut names = store.read_blocking(|db| db.query_names())?;
        // The order of queries in a project must not affect resampling.
        names.sort_by(|x, y| x.1.cmp(&y.1));
        let keys: Vec<QueryKey> = names.into_iter().map(|(key, _)| key).collect();
        let has_vectors = vectors.is_some();
        let mut pairs = TrainingPairs::new(scratch)?;
        let mut names = NameFile::new(scratch)?;
        let (mut hash, mut pairs_hash) = (Sha256::new(), PairsHash::default());
        let (mut known, mut all, mut place) = (0, 0, 0);
        store.read_each(
            &keys,
            |db, key| {
                let query = JudgedQuery::read(db, key)?;
                if !options.all_pairs && query.pairs.is_empty() {
                    return Ok((query, None));
                }
                let read = KnownTexts::read(db, query.id.as_str())?;
                let scores = options
                    .other_battles
                    .then(|| OtherScores::of(&query, &settings, &read.texts));
                let pool = has_vectors.then_some(read.pool);
                Ok((query, Some((read.numbers, scores.transpose(), pool))))
            },
            |_, (query, read)| {
                let at = place;
                place += 1;
                let Some((mut numbers, scores, pool)) = read else {
                    return Ok(());
                };
                let scores = scores?;
                let near = match (vectors, &pool) {
                    (Some(vectors), Some(pool)) => vectors.of_pool(pool)?,
                    _ => PoolVectors::default(),
                };
                if has_vectors {
                    known += near.known();
                    all += numbers.len();
                    for (document, numbers) in numbers.iter_mut().enumerate() {
                        numbers.push(near.with_query(document));
                    }
                }
                let both = |pair: Pair| near.of_both(pair.low(), pair.high());
                let judged = query.pairs.iter().map(|target| target.pair);
                let others = unjudged(query.documents.len(), &query.pairs);
                let others: Vec<Pair> = others.filter(|_| options.all_pairs).collect();
                let gap = |pair: &Pair| scores.as_ref().map(|scores| scores.gap(*pair));
                let gaps = scores.iter().flat_map(|scores| scores.gaps.as_flattened());
                let training = TrainingQuery {
                    query: at,
                    features: &QueryFeatures::new(&numbers),
                    pairs: &query.pairs,
                    differences: &gaps.copied().collect::<Vec<_>>(),
                    others: &judged.clone().filter_map(both).collect::<Vec<_>>(),
                };
                hash_training(&mut hash, query.id.as_str(), &training);
                let names_of = judged.filter_map(|pair| query.names(pair));
                pairs_hash.add(query.id.as_str(), names_of.collect());
                let unjudged = UnjudgedNumbers {
                    differences: &others.iter().filter_map(gap).flatten().collect::<Vec<_>>(),
                    others: &others.iter().copied().filter_map(both).collect::<Vec<_>>(),
                };
                pairs.add(training, unjudged)?;
                names.add(&query)?;
                Ok::<(), AppError>(())
            },
        )?;
        if let Some(vectors) = vectors {
            vectors.check(known, all)?;
        }
        Ok(Self {
            pairs,
            names,
            training_hash: short_hash(hash),
            pairs_hash: short_hash(pairs_hash.0),
        })
    }

    /// Visits the queries in order.
    pub(super) fn each(
        &self,
        mut visit: impl FnMut(
            &NamedPool,
            &TrainingQuery<'_>,
            UnjudgedNumbers<'_>,
        ) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        let mut places = self.names.places.iter();
        self.pairs.each(|query, numbers| match places.next() {
            Some(place) => visit(&self.names.read(place)?, query, numbers),
            None => Ok(()),
        })
    }
}

/// Adds a query's training pairs with their features to a hash.
fn hash_training(hash: &mut Sha256, name: &str, query: &TrainingQuery<'_>) {
    let (mut features, mut bytes) = (PairFeatures::default(), Vec::new());
    let add = |numbers: &[f64], bytes: &mut Vec<u8>| {
        for number in numbers {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    };
    for (at, target) in query.pairs.iter().enumerate() {
        query.read(at, &mut features);
        bytes.extend_from_slice(name.as_bytes());
        add(&[target.score, target.weight], &mut bytes);
        add(features.odd(), &mut bytes);
        add(query.others_of(at), &mut bytes);
    }
    hash.update(&bytes);
}

/// Names of queries and their documents in a scratch file, each preceded by its length.
struct NameFile {
    file: Box<dyn ScratchFile>,
    places: Vec<NamePlace>,
    size: u64,
}

/// A query with the place of its names, in bytes.
struct NamePlace {
    key: QueryKey,
    start: u64,
    length: usize,
}

impl NameFile {
    fn new(scratch: &dyn Scratch) -> Result<Self, SpoolError> {
        Ok(Self {
            file: scratch.file()?,
            places: Vec::new(),
            size: 0,
        })
    }

    fn add(&mut self, query: &JudgedQuery) -> Result<(), SpoolError> {
        let mut bytes = Vec::new();
        let documents = query.documents.iter().map(DocId::as_str);
        for name in std::iter::once(query.id.as_str()).chain(documents) {
            bytes.extend((name.len() as u64).to_le_bytes());
            bytes.extend(name.as_bytes());
        }
        self.file.append(&bytes)?;
        self.places.push(NamePlace {
            key: query.key,
            start: self.size,
            length: bytes.len(),
        });
        self.size += bytes.len() as u64;
        Ok(())
    }

    fn read(&self, place: &NamePlace) -> Result<NamedPool, SpoolError> {
        let mut bytes = vec![0; place.length];
        self.file.read(place.start, &mut bytes)?;
        let mut rest = &bytes[..];
        let mut names = std::iter::from_fn(|| {
            let (length, others) = rest.split_first_chunk()?;
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            let (name, others) = others.split_at_checked(length)?;
            rest = others;
            Some(String::from_utf8_lossy(name).into_owned())
        });
        Ok(NamedPool {
            key: place.key,
            id: QueryId::new(names.next().unwrap_or_default()),
            documents: names.map(DocId::new).collect(),
        })
    }
}
