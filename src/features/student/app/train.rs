//! The built-in student: fits it to the judged pairs of a project, and evaluates it on unseen
//! queries.

use super::judged_pairs::{JudgedPairs, hash_of_pairs, short_hash};
use super::known_texts::{FEATURES, KnownTexts};
use super::other_scores::OtherScores;
use super::predictions::{ForeignLine, PairPlace, Predictions, StepPredictions};
use super::sample::all_judged;
use super::stored::stored_predictions;
use super::vectors::{KnownVectors, NamedEmbedder, PoolVectors};
use crate::app::error::{AppError, invalid};
use crate::app::text_format::first_names;
use crate::domain::battle::{Pair, all_pairs};
use crate::domain::metrics::Resampling;
use crate::domain::prediction::{OTHER_BATTLES, OutcomeProbabilities};
use crate::features::student::domain::features::{ALIKE_TEXTS, PairFeatures, QueryFeatures};
use crate::features::student::domain::figures::{
    FigureOptions, Figures, ModelAccuracy, PreferenceRow, StudentRow, accuracies,
};
use crate::features::student::domain::model::{NoModel, StudentModel, TrainingRow, cross_validate};
use crate::formats::safe_json;
use crate::store::{Store, StoreError};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
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
    predictions: Vec<PredictedPair>,
}

/// The name of a feature, the weight of its difference (if any), and its weight for a tie.
pub type FeatureWeights = (&'static str, Option<f64>, f64);

#[derive(Clone, Debug)]
struct PredictedPair {
    query: String,
    a: String,
    b: String,
    predicted: OutcomeProbabilities,
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
    let (mut known, mut all) = (0, 0);
    let judged = all_judged(store)?;
    let settings = store.read_blocking(|db| db.settings_in_force())?.rating();
    let mut rows = Vec::new();
    let mut places: Vec<(usize, Pair)> = Vec::new();
    let mut hash = Sha256::new();
    let mut unjudged: Vec<(usize, Pair, PairFeatures)> = Vec::new();
    for (number, query) in judged.queries.iter().enumerate() {
        if query.pairs.is_empty() && !options.all_pairs {
            continue;
        }
        let name = query.id.as_str().to_owned();
        let KnownTexts {
            mut numbers,
            pool,
            texts,
        } = store.read_blocking(move |db| KnownTexts::read(db, &name))?;
        let near = match vectors {
            Some(vectors) => vectors.of_pool(&pool)?,
            None => PoolVectors::default(),
        };
        if vectors.is_some() {
            known += near.known();
            all += numbers.len();
            for (document, numbers) in numbers.iter_mut().enumerate() {
                numbers.push(near.with_query(document));
            }
        }
        let features = QueryFeatures::new(&numbers);
        let scores = if options.other_battles {
            Some(OtherScores::of(query, &settings, &texts)?)
        } else {
            None
        };
        if options.all_pairs {
            let judged: HashSet<Pair> = query.pairs.iter().map(|target| target.pair).collect();
            for pair in all_pairs(query.documents.len()).filter(|pair| !judged.contains(pair)) {
                let gaps = scores.as_ref().map(|scores| scores.gap(pair));
                let both = near.of_both(pair.low(), pair.high());
                let gaps = gaps.as_slice().as_flattened();
                let of = features.pair(pair.low(), pair.high(), gaps, both.as_slice());
                unjudged.push((number, pair, of));
            }
        }
        for (at, target) in query.pairs.iter().enumerate() {
            let gaps = scores.as_ref().and_then(|scores| scores.gaps.get(at));
            let gaps = gaps.map_or(&[][..], |gaps| gaps);
            let (low, high) = (target.pair.low(), target.pair.high());
            let both = near.of_both(low, high);
            let pair = features.pair(low, high, gaps, both.as_slice());
            hash.update(query.id.as_str());
            let numbers = [target.score, target.weight];
            for number in numbers.iter().chain(&pair.odd).chain(&both) {
                hash.update(number.to_le_bytes());
            }
            rows.push(TrainingRow {
                features: pair,
                score: target.score,
                weight: target.weight,
                query: number,
            });
            places.push((number, target.pair));
        }
    }
    if let Some(vectors) = vectors {
        vectors.check(known, all)?;
    }
    let found = cross_validate(&rows, options.folds, options.seed, &|| store.is_wanted());
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
    let student_rows: Vec<StudentRow> = rows
        .iter()
        .zip(&found.predicted)
        .map(|(row, predicted)| StudentRow {
            score: row.score,
            predicted: *predicted,
            query: row.query,
        })
        .collect();
    let figures = Figures::of(&student_rows, &FigureOptions::of(rows.len()))
        .ok_or_else(|| invalid!("no judged pair has a score"))?;
    let predicted = places.iter().zip(&found.predicted);
    let judged_ones = predicted.map(|((query, pair), predicted)| (*query, *pair, *predicted));
    let others = unjudged
        .iter()
        .map(|(query, pair, features)| (*query, *pair, found.predict(*query, features)));
    Ok(TrainedStudent {
        options,
        embedder: vectors.map(KnownVectors::embedder),
        precision: found.precision,
        folds: found.folds,
        accuracies: compared(
            (&rows, &places),
            &found.predicted,
            &with,
            feature_names(options, vectors.is_some()),
        )?,
        training_hash: short_hash(hash),
        pairs_hash: hash_of_pairs(places.iter().filter_map(|(query, pair)| {
            let query = judged.queries.get(*query)?;
            let id = |at: usize| Some(query.documents.get(at)?.as_str());
            Some([query.id.as_str(), id(pair.low())?, id(pair.high())?])
        })),
        predictions: judged_ones
            .chain(others)
            .filter_map(|(query, pair, predicted)| named(&judged, query, pair, predicted))
            .collect(),
        model: found.model,
        figures,
    })
}

fn named(
    judged: &JudgedPairs,
    query: usize,
    pair: Pair,
    predicted: OutcomeProbabilities,
) -> Option<PredictedPair> {
    let query = judged.queries.get(query)?;
    let id = |at: usize| Some(query.documents.get(at)?.as_str().to_owned());
    Some(PredictedPair {
        query: query.id.as_str().to_owned(),
        a: id(pair.low())?,
        b: id(pair.high())?,
        predicted,
    })
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
    (rows, places): (&[TrainingRow], &[PairPlace]),
    predicted: &[OutcomeProbabilities],
    others: &[OtherStudent],
    features: impl Iterator<Item = &'static str>,
) -> Result<Vec<(String, ModelAccuracy)>, AppError> {
    let preferences: Vec<PreferenceRow> = rows
        .iter()
        .zip(places)
        .zip(predicted)
        .filter_map(|((row, place), predicted)| {
            let of_others = others.iter().map(|other| other.preference(place));
            let of_others = of_others.collect::<Option<Vec<f64>>>()?;
            Some(PreferenceRow {
                score: row.score,
                preferences: std::iter::once(predicted.preference())
                    .chain(of_others)
                    .chain(row.features.odd.iter().copied())
                    .collect(),
                query: row.query,
            })
        })
        .collect();
    if preferences.is_empty() {
        let names: Vec<&str> = others.iter().map(|other| other.name.as_str()).collect();
        return Err(invalid!(
            "no judged pair is predicted by all of {}; name fewer with --with",
            first_names(&names)
        ));
    }
    let names = std::iter::once("student".to_owned())
        .chain(others.iter().map(|other| other.name.clone()))
        .chain(features.map(str::to_owned));
    let found = accuracies(&preferences, &Resampling::of(rows.len()));
    Ok(names.zip(found).collect())
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
        self.predictions
            .iter()
            .map(|one| (&*one.query, &*one.a, &*one.b, one.predicted))
    }

    /// Writes predictions: of judged pairs by models that never saw their query, of others by the
    /// model fitted to all.
    pub fn write_predictions(&self, out: &mut dyn Write) -> Result<(), AppError> {
        for one in &self.predictions {
            let p = one.predicted;
            let line = json!({
                "query": one.query,
                "a": one.a,
                "b": one.b,
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
