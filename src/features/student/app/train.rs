//! The built-in student: fits it to the judged pairs of a project, and evaluates it on unseen
//! queries.

use super::judged_pairs::{JudgedPairs, unjudged};
use super::known_texts::FEATURES;
use super::predictions::{ForeignLine, PairPlace, Predictions, StepPredictions};
use super::sample::{all_judged, none_judged};
use super::scratch::ScratchFolder;
use super::stored::stored_predictions;
use super::training_pools::{NamedPool, TrainingPools};
use super::vectors::{KnownVectors, NamedEmbedder};
use crate::app::error::{AppError, invalid};
use crate::app::text_format::first_names;
use crate::domain::battle::Pair;
use crate::domain::metrics::Resampling;
use crate::domain::parallel::both;
use crate::domain::prediction::{
    OTHER_BATTLES, OutcomeProbabilities, PairPrediction, QueryPredictions,
};
use crate::features::student::domain::features::{ALIKE_TEXTS, PairFeatures};
use crate::features::student::domain::figures::{
    FigureOptions, Figures, ModelAccuracy, PreferenceTallies, StudentRow, StudentRows,
};
use crate::features::student::domain::model::{
    CrossValidation, NoModel, TrainingPairs, TrainingQuery, UnjudgedNumbers, cross_validate,
};
use crate::formats::safe_json;
use crate::store::{Store, StoreError};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

pub use super::training_pools::TrainOptions;

/// Name of the feature computed from the vectors of the query and a document.
const NEARNESS: &str = "cosine with query";
const BOTH_NEAR: &str = "cosine of both";

/// A student with its evaluation. Its training pairs are in scratch files.
pub struct TrainedStudent {
    options: TrainOptions,
    /// The embedder whose vectors were used.
    embedder: Option<NamedEmbedder>,
    pub(super) pools: TrainingPools,
    pub found: CrossValidation,
    /// For predictions of each query by models that never saw it, without their rows.
    pub figures: Figures,
    /// The student first, then each feature alone.
    pub accuracies: Vec<(String, ModelAccuracy)>,
}

/// The name of a feature, the weight of its difference (if any), and its weight for a tie.
pub type FeatureWeights = (&'static str, Option<f64>, f64);

/// Fits the built-in student to a project.
pub fn train(store: &Store, options: TrainOptions) -> Result<TrainedStudent, AppError> {
    train_with(store, options, None, &[])
}

/// As [`train`], with features from text vectors, and compared with other students: those of the
/// project by name, or files of predictions.
///
/// # Errors
/// There are no judged pairs, a text of a judged query has no vector, another student cannot be
/// read, or queries were added meanwhile.
pub fn train_with(
    store: &Store,
    options: TrainOptions,
    vectors: Option<&KnownVectors>,
    with: &[String],
) -> Result<TrainedStudent, AppError> {
    let scratch = ScratchFolder::of(store);
    let queries = counted_queries(store)?;
    let pools = TrainingPools::read(store, options, vectors, &scratch)?;
    if pools.pairs.counts().0 == 0 {
        return Err(none_judged());
    }
    let found = cross_validate(&pools.pairs, options.folds, options.seed, &scratch, &|| {
        store.is_wanted()
    });
    let found = found.map_err(|error| match error {
        NoModel::TooFewQueries => invalid!("{error}; judge more with `overrule annotate`"),
        NoModel::NotFitted => invalid!(
            "{error}: a feature of its pairs is not finite, or too large; try it without --embed \
             and --other-battles"
        ),
        NoModel::NotWanted => AppError::from(StoreError::Closed),
        NoModel::Spool(error) => AppError::failed(error),
    })?;
    let with = OtherStudent::read_all(store, with)?;
    // Other students are matched by the places of queries.
    if !with.is_empty() && queries != counted_queries(store)? {
        return Err(AppError::Failed(
            "queries were added to the project during the training; run it again".to_owned(),
        ));
    }
    let mut rows = StudentRows::new(&scratch)?;
    let tallies = compared(&pools.pairs, &found, &with, &mut rows)?;
    let features = feature_names(options, vectors.is_some()).map(str::to_owned);
    let names: Vec<String> = std::iter::once("student".to_owned())
        .chain(with.into_iter().map(|other| other.name))
        .chain(features)
        .collect();
    let (accuracies, figures) = both(
        || tallies.accuracies(&Resampling::of(rows.len())),
        || Figures::measure(&rows, &FigureOptions::of(rows.len()), false, &scratch),
    );
    Ok(TrainedStudent {
        options,
        embedder: vectors.map(KnownVectors::embedder),
        figures: figures?.ok_or_else(|| invalid!("no judged pair has a score"))?,
        accuracies: names.into_iter().zip(accuracies).collect(),
        found,
        pools,
    })
}

/// Number of queries of a project.
fn counted_queries(store: &Store) -> Result<usize, StoreError> {
    store.read_blocking(|db| Ok(db.queries()?.len()))
}

/// Another student that this one is compared with.
struct OtherStudent {
    name: String,
    predictions: StepPredictions,
}

impl OtherStudent {
    fn read_all(store: &Store, names: &[String]) -> Result<Vec<Self>, AppError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let judged = all_judged(store)?;
        let names = names.iter();
        names.map(|name| Self::read(store, name, &judged)).collect()
    }

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

/// The judged pairs of a query, as the student predicts them, and how often the student, other
/// students and each feature, in this order, agree with the ensemble's preference on those that all
/// of them predict.
#[derive(Default)]
struct ComparedQuery {
    rows: Vec<StudentRow>,
    tallies: PreferenceTallies,
    compared: usize,
}

impl ComparedQuery {
    fn of(query: &TrainingQuery<'_>, student: &CrossValidation, others: &[OtherStudent]) -> Self {
        let mut found = Self::default();
        let mut pair = PairFeatures::default();
        for (at, target) in query.pairs.iter().enumerate() {
            query.read(at, &mut pair);
            let predicted = student.predict(query.query, &pair);
            found.rows.push(StudentRow {
                score: target.score,
                predicted,
                query: query.query,
            });
            let place = (query.query, target.pair);
            let of_others = others.iter().map(|other| other.preference(&place));
            let Some(of_others) = of_others.collect::<Option<Vec<f64>>>() else {
                continue;
            };
            found.compared += 1;
            let preferences = std::iter::once(predicted.preference())
                .chain(of_others)
                .chain(pair.odd().iter().copied());
            let tallies = &mut found.tallies;
            tallies.add(query.query, target.score, preferences);
        }
        found
    }
}

/// How often the student, other students and each feature, in this order, agree with the ensemble's
/// preference, on the pairs that all of them predict. Adds all judged pairs to `rows`, as the student
/// predicts them.
fn compared(
    pairs: &TrainingPairs,
    student: &CrossValidation,
    others: &[OtherStudent],
    rows: &mut StudentRows,
) -> Result<PreferenceTallies, AppError> {
    let mut tallies = PreferenceTallies::default();
    let mut compared = 0;
    let of_query = |query: &TrainingQuery<'_>| ComparedQuery::of(query, student, others);
    pairs.each_in_parallel(of_query, |found: ComparedQuery| {
        compared += found.compared;
        tallies.join(found.tallies);
        found.rows.into_iter().try_for_each(|row| rows.push(row))
    })?;
    if compared == 0 {
        let names: Vec<&str> = others.iter().map(|other| other.name.as_str()).collect();
        return Err(invalid!(
            "no judged pair is predicted by all of {}; name fewer with --with",
            first_names(&names)
        ));
    }
    Ok(tallies)
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
            .found
            .model
            .odd
            .iter()
            .copied()
            .map(Some)
            .chain(std::iter::once(None));
        // The first even weight is the constant.
        let ties = self.found.model.even.iter().skip(1).copied();
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

    /// Hash of the training pairs with their features, scores and weights.
    pub fn training_hash(&self) -> &str {
        &self.pools.training_hash
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
            "folds": self.found.folds,
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
            "odd": self.found.model.odd,
            "even": self.found.model.even,
            "temperature": self.found.model.temperature,
            "isotonic": self.found.model.isotonic,
            "precision": self.found.precision,
            "pairs": self.figures.n,
            "queries": self.figures.queries,
            "training_hash": self.pools.training_hash,
            "pairs_hash": self.pools.pairs_hash,
            "seed": self.options.seed,
        })
    }

    /// Visits the judged pairs of a query with their predictions, by models that never saw the
    /// query.
    fn each_judged(
        &self,
        query: &TrainingQuery<'_>,
        visit: &mut dyn FnMut(Pair, OutcomeProbabilities) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        let mut features = PairFeatures::default();
        for (at, target) in query.pairs.iter().enumerate() {
            query.read(at, &mut features);
            visit(target.pair, self.found.predict(query.query, &features))?;
        }
        Ok(())
    }

    /// Visits the other pairs of a query with its number of documents, if they are predicted.
    fn each_unjudged(
        &self,
        query: &TrainingQuery<'_>,
        numbers: UnjudgedNumbers<'_>,
        documents: usize,
        visit: &mut dyn FnMut(Pair, OutcomeProbabilities) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        if !self.options.all_pairs {
            return Ok(());
        }
        let mut features = PairFeatures::default();
        let pairs: Vec<Pair> = unjudged(documents, query.pairs).collect();
        for (at, pair) in pairs.iter().enumerate() {
            let (differences, others) = numbers.of(at, pairs.len());
            let documents = (pair.low(), pair.high());
            let known = query.features;
            known.read_pair(documents, differences, others, &mut features);
            visit(*pair, self.found.predict(query.query, &features))?;
        }
        Ok(())
    }

    /// Visits the predictions of each query: those of judged pairs are by models that never saw
    /// their query, others by the model fitted to all.
    pub(super) fn each_query(
        &self,
        mut visit: impl FnMut(&NamedPool, QueryPredictions) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        self.pools.each(|pool, query, numbers| {
            let mut found = QueryPredictions::new();
            let mut keep = |pair: Pair, predicted: OutcomeProbabilities| {
                found.insert(pair, PairPrediction::in_order(predicted));
                Ok(())
            };
            self.each_judged(query, &mut keep)?;
            self.each_unjudged(query, numbers, pool.documents.len(), &mut keep)?;
            visit(pool, found)
        })
    }

    /// Writes predictions: of judged pairs by models that never saw their query, of others by the
    /// model fitted to all.
    pub fn write_predictions(&self, out: &mut dyn Write) -> Result<(), AppError> {
        let mut write = |pool: &NamedPool, pair: Pair, p: OutcomeProbabilities| {
            let Some([a, b]) = pool.names(pair) else {
                return Ok(());
            };
            let line = json!({
                "query": pool.id,
                "a": a,
                "b": b,
                "p_a": p.a(),
                "p_b": p.b(),
                "p_tie": p.tie(),
            });
            safe_json::write_line(out, &line)?;
            Ok(())
        };
        self.pools
            .each(|pool, query, _| self.each_judged(query, &mut |pair, p| write(pool, pair, p)))?;
        self.pools.each(|pool, query, numbers| {
            let documents = pool.documents.len();
            let mut write = |pair: Pair, p: OutcomeProbabilities| write(pool, pair, p);
            self.each_unjudged(query, numbers, documents, &mut write)
        })
    }

    /// Writes the model with a description of its input.
    pub fn write_model(&self, out: &mut dyn Write) -> Result<(), AppError> {
        out.write_all(safe_json::pretty(&self.model_json())?.as_bytes())?;
        Ok(())
    }
}
