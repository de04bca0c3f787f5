//! Imports students into a project: predictions from a file, or the built-in student after
//! training.

use super::found::BUILT_IN;
use super::predictions::{ForeignLine, Predictions};
use super::scratch::ScratchFolder;
use super::train::TrainedStudent;
use crate::app::error::{AppError, invalid};
use crate::app::import::log_import;
use crate::app::input_files::display_name;
use crate::app::text_format::counted;
use crate::client::now_ms;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::prediction::QueryPredictions;
use crate::domain::sanitize;
use crate::features::student::domain::OrderShift;
use crate::features::student::domain::spool::{Scratch, ScratchFile, SpoolError};
use crate::features::student::store::{NewStudent, Packed, StudentHash};
use crate::formats::safe_json;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Store, StoreError};
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
        let student = NewStudent {
            name: name.to_owned(),
            step: own.or(step),
            source: display_name(path),
            model: None,
            annotator: annotator.to_owned(),
        };
        (student, predictions)
    });
    let students: Vec<(NewStudent, BTreeMap<QueryKey, QueryPredictions>)> = students.collect();
    let steps = students.iter().map(|(of, predictions)| {
        let pairs = || predictions.values().flat_map(BTreeMap::values);
        StepImport {
            step: of.step,
            queries: predictions.len(),
            pairs: pairs().count(),
            order: OrderShift::of(pairs().filter_map(|pair| pair.both())),
            stored: false,
        }
    });
    let import = StudentImport {
        source: display_name(path),
        student: name.to_owned(),
        steps: steps.collect(),
    };
    put(store, import, annotator, move |db, now| {
        let stored = students
            .iter()
            .map(|(of, predictions)| db.add_student(of, predictions, now));
        stored.collect()
    })
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
    let student = NewStudent {
        name: name.to_owned(),
        step: None,
        source: BUILT_IN.to_owned(),
        model: Some(safe_json::pretty(&trained.model_json())?),
        annotator: annotator.to_owned(),
    };
    let mut hash = StudentHash::new(student.model.as_deref());
    let mut packed = PackedFile::new(&ScratchFolder::of(store))?;
    let mut step = StepImport {
        step: None,
        queries: 0,
        pairs: 0,
        order: None,
        stored: false,
    };
    trained.each_query(|pool, predictions| {
        if predictions.is_empty() {
            return Ok(());
        }
        step.queries += 1;
        step.pairs += predictions.len();
        let of = Packed::of(&predictions)?;
        hash.add(pool.id.as_str(), &pool.documents, &of.bytes);
        Ok(packed.add(pool.key, &of)?)
    })?;
    let import = StudentImport {
        source: BUILT_IN.to_owned(),
        student: name.to_owned(),
        steps: vec![step],
    };
    let hash = hash.finish();
    put(store, import, annotator, move |db, now| {
        let stored = db.add_packed_student(&student, &hash, packed.by_key(), now)?;
        Ok(vec![stored])
    })
}

/// Encoded predictions in a scratch file.
struct PackedFile {
    file: Box<dyn ScratchFile>,
    /// By query: the place of its predictions, in bytes, and their numbers.
    queries: BTreeMap<QueryKey, PackedPlace>,
    size: u64,
}

#[derive(Clone, Copy)]
struct PackedPlace {
    start: u64,
    length: usize,
    pairs: usize,
    both: usize,
}

impl PackedFile {
    fn new(scratch: &dyn Scratch) -> Result<Self, SpoolError> {
        Ok(Self {
            file: scratch.file()?,
            queries: BTreeMap::new(),
            size: 0,
        })
    }

    fn add(&mut self, query: QueryKey, of: &Packed) -> Result<(), SpoolError> {
        self.file.append(&of.bytes)?;
        let place = PackedPlace {
            start: self.size,
            length: of.bytes.len(),
            pairs: of.pairs,
            both: of.both,
        };
        self.queries.insert(query, place);
        self.size += of.bytes.len() as u64;
        Ok(())
    }

    /// The predictions of each query, in the order of their keys.
    fn by_key(&self) -> impl Iterator<Item = Result<(QueryKey, Packed), StoreError>> + '_ {
        self.queries.iter().map(|(query, of)| {
            let mut bytes = vec![0; of.length];
            let read = self.file.read(of.start, &mut bytes);
            read.map_err(|error| StoreError::Internal(error.to_string()))?;
            let packed = Packed {
                pairs: of.pairs,
                both: of.both,
                bytes,
            };
            Ok((*query, packed))
        })
    }
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

/// Stores what `add` stores in one transaction. It returns for each step whether it was stored.
fn put(
    store: &Store,
    mut import: StudentImport,
    annotator: &str,
    add: impl FnOnce(&Db, i64) -> Result<Vec<bool>, StoreError> + Send + 'static,
) -> Result<StudentImport, AppError> {
    let now = now_ms();
    let name = import.student.clone();
    let stored: Vec<bool> = store.write_blocking(move |db| {
        let stored = add(db, now)?;
        if stored.contains(&true) {
            db.students_changed(&[name])?;
        }
        Ok::<_, StoreError>(stored)
    })?;
    store.estimate_student()?;
    for (step, stored) in import.steps.iter_mut().zip(stored) {
        step.stored = stored;
    }
    if import.steps.iter().any(|step| step.stored) {
        log_import(store, annotator, &import.to_string())?;
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
