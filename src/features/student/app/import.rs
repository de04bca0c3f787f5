//! Imports students into a project: predictions from a file, or the built-in student after
//! training.

use super::found::BUILT_IN;
use super::predictions::{ForeignLine, Predictions};
use super::train::TrainedStudent;
use crate::app::error::{AppError, invalid};
use crate::app::import::log_import;
use crate::app::input_files::display_name;
use crate::app::text_format::counted;
use crate::client::now_ms;
use crate::domain::battle::Pair;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::prediction::{PairPrediction, QueryPredictions};
use crate::domain::sanitize;
use crate::features::student::domain::OrderShift;
use crate::features::student::store::NewStudent;
use crate::formats::safe_json;
use crate::store::corpus::QueryKey;
use crate::store::{Store, StoreError};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display};
use std::path::Path;

/// Result of importing a student.
#[derive(Clone, Debug, Serialize)]
pub struct StudentImport {
    /// The file name as displayed, or `built-in`.
    pub source: String,
    pub student: String,
    /// In ascending order of steps.
    pub steps: Vec<StepImport>,
}

/// An imported checkpoint.
#[derive(Clone, Debug, Serialize)]
pub struct StepImport {
    pub step: Option<u64>,
    pub queries: usize,
    pub pairs: usize,
    /// Effect of the document order, if pairs were predicted in both orders.
    pub order: Option<OrderShift>,
    /// Whether it was stored: the current student with that name and step may make the same
    /// predictions.
    pub stored: bool,
}

/// Stores the predictions of a whole file as those of a student, or nothing.
pub fn import_student(
    store: &Store,
    path: &Path,
    name: &str,
    step: Option<u64>,
    annotator: &str,
) -> Result<StudentImport, AppError> {
    check_name(name)?;
    let pools = PoolPlaces::read(store)?;
    let find = |query: &QueryId, a: &DocId, b: &DocId| pools.find(query, a, b);
    let read = Predictions::read(path, find, ForeignLine::Refused)?;
    let own_steps = read.steps.keys().any(Option::is_some);
    if step.is_some() && own_steps {
        return Err(AppError::file(
            path,
            "its lines contain their own step; omit --step",
        ));
    }
    let students = read.steps.into_iter().map(|(own, pairs)| {
        let mut predictions: BTreeMap<QueryKey, QueryPredictions> = BTreeMap::new();
        for ((query, pair), of) in pairs {
            if let Some(key) = pools.keys.get(query) {
                predictions.entry(*key).or_default().insert(pair, of);
            }
        }
        NewStudent {
            name: name.to_owned(),
            step: own.or(step),
            source: display_name(path),
            model: None,
            annotator: annotator.to_owned(),
            predictions,
        }
    });
    put(store, students.collect())
}

/// Stores the built-in student under a name: its weights, the hash of its training data, and its
/// predictions.
pub fn keep_trained(
    store: &Store,
    trained: &TrainedStudent,
    name: &str,
    annotator: &str,
) -> Result<StudentImport, AppError> {
    check_name(name)?;
    let pools = PoolPlaces::read(store)?;
    let mut predictions: BTreeMap<QueryKey, QueryPredictions> = BTreeMap::new();
    for (query, a, b, predicted) in trained.predictions() {
        let (query, a, b) = (QueryId::new(query), DocId::new(a), DocId::new(b));
        let Some((query, a, b)) = pools.find(&query, &a, &b) else {
            continue;
        };
        if let (Some(pair), Some(key)) = (Pair::new(a, b), pools.keys.get(query)) {
            let of = PairPrediction::in_order(predicted);
            predictions.entry(*key).or_default().insert(pair, of);
        }
    }
    let student = NewStudent {
        name: name.to_owned(),
        step: None,
        source: BUILT_IN.to_owned(),
        model: Some(safe_json::pretty(&trained.model_json())?),
        annotator: annotator.to_owned(),
        predictions,
    };
    put(store, vec![student])
}

/// Rejects a name that cannot be typed on a command line, or that has another meaning.
pub fn check_name(name: &str) -> Result<(), AppError> {
    let typed = |c: char| c.is_alphanumeric() || "-_.@+".contains(c);
    if name.is_empty() || name.chars().count() > 64 || !name.chars().all(typed) {
        return Err(invalid!(
            "{name:?} is not a student name: expected up to 64 letters, digits and - _ . @ +"
        ));
    }
    if name == BUILT_IN {
        Err(invalid!(
            "{BUILT_IN} is the name of the built-in student that follows the votes; choose another \
             name"
        ))
    } else {
        Ok(())
    }
}

fn put(store: &Store, students: Vec<NewStudent>) -> Result<StudentImport, AppError> {
    let first = students.first();
    let mut import = StudentImport {
        source: first.map_or(String::new(), |of| of.source.clone()),
        student: first.map_or(String::new(), |of| of.name.clone()),
        steps: Vec::new(),
    };
    let annotator = first.map_or(String::new(), |of| of.annotator.clone());
    for of in &students {
        let pairs = || of.predictions.values().flat_map(BTreeMap::values);
        import.steps.push(StepImport {
            step: of.step,
            queries: of.predictions.len(),
            pairs: pairs().count(),
            order: OrderShift::of(pairs().filter_map(|pair| pair.both())),
            stored: false,
        });
    }
    let now = now_ms();
    let stored: Vec<bool> = store.write_blocking(move |db| {
        let stored: Vec<bool> = students
            .iter()
            .map(|of| db.add_student(of, now))
            .collect::<Result<_, StoreError>>()?;
        if stored.contains(&true) {
            let names: Vec<String> = students.iter().map(|of| of.name.clone()).collect();
            db.students_changed(&names)?;
        }
        Ok::<_, StoreError>(stored)
    })?;
    store.estimate_student()?;
    for (step, stored) in import.steps.iter_mut().zip(stored) {
        step.stored = stored;
    }
    if import.steps.iter().any(|step| step.stored) {
        log_import(store, &annotator, &import.to_string())?;
    }
    Ok(import)
}

impl Display for StudentImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, name) = (sanitize::line(&self.source), sanitize::line(&self.student));
        write!(f, "{source}: student {name}")?;
        for (at, of) in self.steps.iter().enumerate() {
            write!(f, "{}", if at == 0 { ", " } else { "; " })?;
            if let Some(step) = of.step {
                write!(f, "step {step}, ")?;
            }
            write!(
                f,
                "{} of {}",
                counted(of.pairs, "pair"),
                counted(of.queries, "query")
            )?;
            if let Some(order) = of.order {
                write!(f, ", {} in both orders", order.pairs)?;
            }
            if !of.stored {
                write!(f, ", already there")?;
            }
        }
        Ok(())
    }
}

/// Indices of the queries and documents of a project.
struct PoolPlaces {
    keys: Vec<QueryKey>,
    places: HashMap<QueryId, (usize, HashMap<DocId, usize>)>,
}

impl PoolPlaces {
    fn read(store: &Store) -> Result<Self, AppError> {
        let pools: Vec<(QueryKey, String, Vec<DocId>)> = store.read_blocking(|db| {
            let names = db.query_names()?.into_iter();
            let of = |(key, name)| Ok((key, name, db.document_ids(key)?));
            names.map(of).collect::<crate::store::Result<_>>()
        })?;
        let mut found = Self {
            keys: Vec::with_capacity(pools.len()),
            places: HashMap::with_capacity(pools.len()),
        };
        for (key, name, documents) in pools {
            let places = documents
                .into_iter()
                .enumerate()
                .map(|(at, id)| (id, at))
                .collect();
            found
                .places
                .insert(QueryId::new(name), (found.keys.len(), places));
            found.keys.push(key);
        }
        Ok(found)
    }

    /// The indices of a query and two of its documents.
    fn find(&self, query: &QueryId, a: &DocId, b: &DocId) -> Option<(usize, usize, usize)> {
        let (query, documents) = self.places.get(query)?;
        Some((*query, *documents.get(a)?, *documents.get(b)?))
    }
}
