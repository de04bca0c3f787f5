//! The built-in student: fits it to the judged pairs of a project, and evaluates it on unseen
//! queries.

use super::judged_pairs::{JudgedPairs, JudgedQuery, hash_of_pairs, short_hash};
use super::known_texts::{FEATURES, KnownTexts};
use super::other_scores::OtherScores;
use super::predictions::{ForeignLine, PairPlace, Predictions, StepPredictions};
use super::sample::all_judged;
use super::stored::stored_predictions;
use super::vectors::{KnownVectors, NamedEmbedder, PoolVectors};
use crate::app::error::{AppError, invalid};
use crate::app::text_format::first_names;
use crate::domain::battle::Pair;
use crate::domain::metrics::Resampling;
use crate::domain::prediction::{OTHER_BATTLES, OutcomeProbabilities};
use crate::features::student::domain::features::{ALIKE_TEXTS, PairFeatures, QueryFeatures};
use crate::features::student::domain::figures::{
    FigureOptions, Figures, ModelAccuracy, PreferenceTallies, StudentRow,
};
use crate::features::student::domain::model::{
    CrossValidation, NoModel, StudentModel, TrainingQuery, cross_validate,
};
use crate::formats::safe_json;
use crate::store::corpus::QueryKey;
use crate::store::{Store, StoreError};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

/// Name of the feature computed from the vectors of the query and a document.
const NEARNESS: &str = "cosine with query";
const BOTH_NEAR: &str = "cosine of both";

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

/// A student with its evaluation.
#[derive(Clone, Debug)]
pub struct TrainedStudent {
    options: TrainOptions,
    /// The embedder whose vectors were used.
    embedder: Option<NamedEmbedder>,
    pub model: StudentModel,
    /// Precision of its penalty.
    pub precision: f64,
    pub folds: usize,
    /// For predictions of each query by models that never saw it.
    pub figures: Figures,
    /// The student first, then each feature alone.
    pub accuracies: Vec<(String, ModelAccuracy)>,
    /// Hash of the training pairs with their features, scores and weights.
    pub training_hash: String,
    /// [`hash_of_pairs`] of the training pairs.
    pairs_hash: String,
    judged: JudgedPairs,
    /// By judged pair, in the order of the queries.
    predicted: Vec<OutcomeProbabilities>,
    /// The same for the other pairs, if they are predicted.
    unjudged: Vec<OutcomeProbabilities>,
}

/// The name of a feature, the weight of its difference (if any), and its weight for a tie.
pub type FeatureWeights = (&'static str, Option<f64>, f64);

/// What the features of a query's pairs are computed from.
struct QueryInput {
    /// The index of the query.
    query: usize,
    features: QueryFeatures,
    /// By judged pair: additional differences and symmetric numbers.
    differences: Vec<f64>,
    others: Vec<f64>,
    /// The same for the other pairs, if they are predicted.
    unjudged: Vec<f64>,
    scores: Option<OtherScores>,
}

/// Fits the built-in student to a project.
pub fn train(store: &Store, options: TrainOptions) -> Result<TrainedStudent, AppError> {
    train_with(store, options, None, &[])
}

/// As [`train`], with features from text vectors, and compared with other students: those of the
/// project by name, or files of predictions.
///
/// # Errors
/// There are no judged pairs, a text of a judged query has no vector, or another student cannot be
/// read.
pub fn train_with(
    store: &Store,
    options: TrainOptions,
    vectors: Option<&KnownVectors>,
    with: &[String],
) -> Result<TrainedStudent, AppError> {
    let judged = all_judged(store)?;
    let (inputs, training_hash) = read_inputs(store, &judged, options, vectors)?;
    let queries = training_queries(&judged, &inputs);
    let found = cross_validate(&queries, options.folds, options.seed, &|| store.is_wanted());
    let found = found.map_err(|error| match error {
        NoModel::TooFewQueries => invalid!("{error}; judge more with `overrule annotate`"),
        NoModel::NotFitted => invalid!(
            "{error}: a feature of its pairs is not finite, or too large; try it without --embed \
             and --other-battles"
        ),
        NoModel::NotWanted => AppError::from(StoreError::Closed),
    })?;
    let with = with
        .iter()
        .map(|name| OtherStudent::read(store, name, &judged))
        .collect::<Result<Vec<_>, AppError>>()?;
    let features = feature_names(options, vectors.is_some());
    let accuracies = compared(&queries, &found.predicted, &with, features)?;
    let unjudged = predict_unjudged(&judged, &inputs, &found, options);
    // What remains needs the predictions only.
    drop(queries);
    drop((inputs, with));
    let figures = figures_of(&judged, &found.predicted)?;
    let named = judged.queries.iter().map(|query| {
        let pairs = query.pairs.iter();
        let names = pairs.filter_map(|target| query.names(target.pair));
        (query.id.as_str(), names.collect())
    });
    Ok(TrainedStudent {
        options,
        embedder: vectors.map(KnownVectors::embedder),
        precision: found.precision,
        folds: found.folds,
        accuracies,
        training_hash,
        pairs_hash: hash_of_pairs(named),
        predicted: found.predicted,
        unjudged,
        model: found.model,
        figures,
        judged,
    })
}

/// Reads what the features of all queries are computed from, and hashes the training pairs.
fn read_inputs(
    store: &Store,
    judged: &JudgedPairs,
    options: TrainOptions,
    vectors: Option<&KnownVectors>,
) -> Result<(Vec<QueryInput>, String), AppError> {
    let settings = store.read_blocking(|db| db.settings_in_force())?.rating();
    let is_needed = |query: &&JudgedQuery| options.all_pairs || !query.pairs.is_empty();
    let keys = judged
        .queries
        .iter()
        .filter(is_needed)
        .map(|query| query.key);
    let keys: Vec<QueryKey> = keys.collect();
    let places: HashMap<QueryKey, usize> = judged
        .queries
        .iter()
        .enumerate()
        .map(|(place, query)| (query.key, place))
        .collect();
    let has_vectors = vectors.is_some();
    let mut inputs = Vec::with_capacity(keys.len());
    let mut hash = Sha256::new();
    let (mut known, mut all) = (0, 0);
    store.read_each(
        &keys,
        |db, key| {
            let query = places
                .get(&key)
                .and_then(|place| judged.queries.get(*place));
            let query = query.ok_or_else(|| StoreError::NotFound("no such query".to_owned()))?;
            let read = KnownTexts::read(db, query.id.as_str())?;
            let scores = options
                .other_battles
                .then(|| OtherScores::of(query, &settings, &read.texts));
            let pool = has_vectors.then_some(read.pool);
            Ok((query, read.numbers, scores.transpose(), pool))
        },
        |key, (query, mut numbers, scores, pool)| {
            let scores = scores?;
            let near = match (vectors, &pool) {
                (Some(vectors), Some(pool)) => vectors.of_pool(pool)?,
                _ => PoolVectors::default(),
            };
            if vectors.is_some() {
                known += near.known();
                all += numbers.len();
                for (document, numbers) in numbers.iter_mut().enumerate() {
                    numbers.push(near.with_query(document));
                }
            }
            let pairs = || query.pairs.iter().map(|target| target.pair);
            let both = |pair: Pair| near.of_both(pair.low(), pair.high());
            let unjudged = query.unjudged().filter(|_| options.all_pairs);
            let gaps = scores.iter().flat_map(|scores| scores.gaps.as_flattened());
            let input = QueryInput {
                query: places.get(&key).copied().unwrap_or_default(),
                features: QueryFeatures::new(&numbers),
                differences: gaps.copied().collect(),
                others: pairs().filter_map(both).collect(),
                unjudged: unjudged.filter_map(both).collect(),
                scores: scores.filter(|_| options.all_pairs),
            };
            hash_training(&mut hash, query, &input);
            inputs.push(input);
            Ok::<(), AppError>(())
        },
    )?;
    if let Some(vectors) = vectors {
        vectors.check(known, all)?;
    }
    Ok((inputs, short_hash(hash)))
}
/// Adds a query's training pairs with their features to a hash.
fn hash_training(hash: &mut Sha256, query: &JudgedQuery, input: &QueryInput) {
    let (mut features, mut bytes) = (PairFeatures::default(), Vec::new());
    let training = input.training(query);
    for (at, target) in query.pairs.iter().enumerate() {
        training.read(at, &mut features);
        bytes.extend(query.id.as_str().as_bytes());
        let targets = [target.score, target.weight];
        let numbers = targets
            .iter()
            .chain(features.odd())
            .chain(training.others_of(at));
        bytes.extend(numbers.flat_map(|number| number.to_le_bytes()));
    }
    hash.update(&bytes);
}

impl QueryInput {
    fn training<'a>(&'a self, query: &'a JudgedQuery) -> TrainingQuery<'a> {
        TrainingQuery {
            query: self.query,
            features: &self.features,
            pairs: &query.pairs,
            differences: &self.differences,
            others: &self.others,
        }
    }
}

/// The queries with judged pairs.
fn training_queries<'a>(
    judged: &'a JudgedPairs,
    inputs: &'a [QueryInput],
) -> Vec<TrainingQuery<'a>> {
    let queries = inputs.iter().filter_map(|input| {
        let query = judged.queries.get(input.query)?;
        (!query.pairs.is_empty()).then(|| input.training(query))
    });
    queries.collect()
}

/// Predicts the pairs that are not judged, in the order of the queries; none if they are not
/// wanted.
fn predict_unjudged(
    judged: &JudgedPairs,
    inputs: &[QueryInput],
    found: &CrossValidation,
    options: TrainOptions,
) -> Vec<OutcomeProbabilities> {
    let mut predicted = Vec::new();
    let mut features = PairFeatures::default();
    for input in inputs.iter().filter(|_| options.all_pairs) {
        let Some(query) = judged.queries.get(input.query) else {
            continue;
        };
        for (at, pair) in query.unjudged().enumerate() {
            let gaps = input.scores.as_ref().map(|scores| scores.gap(pair));
            let both = input.unjudged.get(at..=at).unwrap_or_default();
            input.features.read_pair(
                (pair.low(), pair.high()),
                gaps.as_slice().as_flattened(),
                both,
                &mut features,
            );
            predicted.push(found.predict(input.query, &features));
        }
    }
    predicted
}

fn figures_of(
    judged: &JudgedPairs,
    predicted: &[OutcomeProbabilities],
) -> Result<Figures, AppError> {
    let queries = judged.queries.iter().enumerate();
    let scores =
        queries.flat_map(|(at, query)| query.pairs.iter().map(move |pair| (at, pair.score)));
    let rows = scores
        .zip(predicted)
        .map(|((query, score), predicted)| StudentRow {
            score,
            predicted: *predicted,
            query,
        });
    let rows: Vec<StudentRow> = rows.collect();
    let options = FigureOptions::of(rows.len());
    Figures::of(rows, &options).ok_or_else(|| invalid!("no judged pair has a score"))
}

/// Another student that this one is compared with.
struct OtherStudent {
    name: String,
    predictions: StepPredictions,
}

impl OtherStudent {
    /// Reads a file of predictions or a student of the project; uses the last of several
    /// checkpoints.
    fn read(store: &Store, name: &str, judged: &JudgedPairs) -> Result<Self, AppError> {
        let path = Path::new(name);
        let found = if path.exists() {
            Predictions::read(
                path,
                |query, a, b| judged.find(query, a, b),
                ForeignLine::Counted,
            )?
        } else {
            stored_predictions(store, name, judged)?
        };
        Ok(Self {
            name: name.to_owned(),
            predictions: found.steps.into_values().next_back().unwrap_or_default(),
        })
    }

    fn preference(&self, place: &PairPlace) -> Option<f64> {
        Some(self.predictions.get(place)?.predicted()?.preference())
    }
}

/// How often the student, other students and each feature agree with the ensemble's preference, on
/// the pairs that all of them predict.
fn compared(
    queries: &[TrainingQuery<'_>],
    predicted: &[OutcomeProbabilities],
    others: &[OtherStudent],
    features: impl Iterator<Item = &'static str>,
) -> Result<Vec<(String, ModelAccuracy)>, AppError> {
    let mut tallies = PreferenceTallies::default();
    let (mut all, mut compared) = (0, 0);
    let mut pair = PairFeatures::default();
    let mut predicted = predicted.iter();
    for query in queries {
        for ((at, target), predicted) in query.pairs.iter().enumerate().zip(&mut predicted) {
            all += 1;
            let place = (query.query, target.pair);
            let of_others = others.iter().map(|other| other.preference(&place));
            let Some(of_others) = of_others.collect::<Option<Vec<f64>>>() else {
                continue;
            };
            compared += 1;
            query.read(at, &mut pair);
            let preferences = std::iter::once(predicted.preference())
                .chain(of_others)
                .chain(pair.odd().iter().copied());
            tallies.add(query.query, target.score, preferences);
        }
    }
    if compared == 0 {
        let names: Vec<&str> = others.iter().map(|other| other.name.as_str()).collect();
        return Err(invalid!(
            "no judged pair is predicted by all of {}; name fewer with --with",
            first_names(&names)
        ));
    }
    let names = std::iter::once("student".to_owned())
        .chain(others.iter().map(|other| other.name.clone()))
        .chain(features.map(str::to_owned));
    Ok(names
        .zip(tallies.accuracies(&Resampling::of(all)))
        .collect())
}

/// The features that change sign when the documents are swapped.
fn feature_names(options: TrainOptions, has_vectors: bool) -> impl Iterator<Item = &'static str> {
    let near = has_vectors.then_some(NEARNESS);
    let others = options
        .other_battles
        .then_some([OTHER_BATTLES, ALIKE_TEXTS]);
    let others = others.into_iter().flatten();
    FEATURES.into_iter().chain(near).chain(others)
}

impl TrainedStudent {
    /// The features with the student's weights. For ties, the inputs are the size of each
    /// difference, and the cosine of both documents.
    pub fn weights(&self) -> Vec<FeatureWeights> {
        let differences = self
            .model
            .odd
            .iter()
            .copied()
            .map(Some)
            .chain(std::iter::once(None));
        // The first even weight is the constant.
        let ties = self.model.even.iter().skip(1).copied();
        let named = self.feature_names().into_iter().zip(differences).zip(ties);
        named
            .map(|((name, difference), tie)| (name, difference, tie))
            .collect()
    }

    fn feature_names(&self) -> Vec<&'static str> {
        let has_vectors = self.embedder.is_some();
        let both = has_vectors.then_some(BOTH_NEAR);
        feature_names(self.options, has_vectors)
            .chain(both)
            .collect()
    }

    pub fn json(&self) -> Value {
        let accuracies: Vec<Value> = self
            .accuracies
            .iter()
            .map(|(name, of)| {
                json!({
                    "name": name,
                    "accuracy": of.accuracy,
                    "student_above": of.behind_first,
                    "battles": of.battles,
                })
            })
            .collect();
        json!({
            "model": self.model_json(),
            "folds": self.folds,
            "consensus_accuracy": accuracies,
            "divergence": self.figures.divergence(),
            "figures": self.figures,
        })
    }

    /// The model with a description of its input. `odd` has one weight for the difference of each
    /// of `features` in order, except for the cosine of both documents, which comes last. `even`
    /// has the constant, one weight for the size of each difference, and that of the cosine of both
    /// documents.
    pub(super) fn model_json(&self) -> Value {
        json!({
            "features": self.feature_names(),
            "embedder": self.embedder,
            "odd": self.model.odd,
            "even": self.model.even,
            "temperature": self.model.temperature,
            "isotonic": self.model.isotonic,
            "precision": self.precision,
            "pairs": self.figures.n,
            "queries": self.figures.queries,
            "training_hash": self.training_hash,
            "pairs_hash": self.pairs_hash,
            "seed": self.options.seed,
        })
    }

    /// Query, A, B and the predicted probabilities, where A has the lower pool index. Judged pairs
    /// are predicted by models that never saw their query, others by the model fitted to all.
    pub(super) fn predictions(
        &self,
    ) -> impl Iterator<Item = (&str, &str, &str, OutcomeProbabilities)> {
        let queries = self.judged.queries.iter();
        let judged = queries.clone().flat_map(|query| {
            let pairs = query.pairs.iter();
            pairs.map(move |target| (query, target.pair))
        });
        let unjudged = queries.flat_map(|query| query.unjudged().map(move |pair| (query, pair)));
        let all = judged
            .zip(&self.predicted)
            .chain(unjudged.zip(&self.unjudged));
        all.filter_map(|((query, pair), predicted)| {
            let [a, b] = query.names(pair)?;
            Some((query.id.as_str(), a, b, *predicted))
        })
    }

    /// Writes predictions: of judged pairs by models that never saw their query, of others by the
    /// model fitted to all.
    pub fn write_predictions(&self, out: &mut dyn Write) -> Result<(), AppError> {
        for (query, a, b, p) in self.predictions() {
            let line = json!({
                "query": query,
                "a": a,
                "b": b,
                "p_a": p.a(),
                "p_b": p.b(),
                "p_tie": p.tie(),
            });
            safe_json::write_line(out, &line)?;
        }
        Ok(())
    }

    /// Writes the model with a description of its input.
    pub fn write_model(&self, out: &mut dyn Write) -> Result<(), AppError> {
        out.write_all(safe_json::pretty(&self.model_json())?.as_bytes())?;
        Ok(())
    }
}
