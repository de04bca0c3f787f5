//! Students and their predictions. Rows are only appended; for each name and step, the latest
//! counts.

use crate::domain::battle::Pair;
use crate::domain::corpus::DocId;
use crate::domain::prediction::{OTHER_BATTLES, OutcomeProbabilities, QueryPredictions};
use crate::domain::ranking::{
    self, LearnedWeight, NamedOpinion, NotLearned, OpinionEffect, OpinionWeight, PriorOpinion,
};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, Store, StoreError};
use rusqlite::{Row, params};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Row ID of a student.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StudentKey(pub i64);

/// A student at a checkpoint, as received.
#[derive(Clone, Debug, PartialEq)]
pub struct NewStudent {
    pub name: String,
    /// The checkpoint, if it is one of several.
    pub step: Option<u64>,
    /// The file that it was imported from, or `built-in`.
    pub source: String,
    /// The model as JSON, if it was trained here.
    pub model: Option<String>,
    /// Who imported it.
    pub annotator: String,
}

/// The current student at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredStudent {
    pub key: StudentKey,
    pub uid: String,
    pub name: String,
    pub step: Option<u64>,
    pub source: String,
    pub model: Option<String>,
    pub annotator: String,
    /// In milliseconds since the Unix epoch.
    pub created_ms: i64,
    /// Number of predicted queries, and of their pairs.
    pub queries: usize,
    pub pairs: usize,
    /// Number of pairs predicted in both orders.
    pub both: usize,
}

/// The setting that names the project's student.
const NAMED: &str = "student";

/// Bytes per prediction: two positions and two probabilities.
const PREDICTION: usize = 4 + 4 + 8 + 8;

const IN_FORCE: &str =
    "SELECT id, uid, name, step, source, model, annotator, created_ms FROM student
     WHERE NOT EXISTS (
         SELECT 1 FROM student AS later WHERE later.name = student.name
         AND later.step IS student.step
             AND (later.created_ms, later.uid) > (student.created_ms, student.uid))";

impl Db {
    /// Stores a student with its predictions, unless the current one with that name and step makes
    /// the same ones. Returns whether it was stored. If the fit uses that student, the affected
    /// queries are marked as changed.
    pub fn add_student(
        &self,
        new: &NewStudent,
        predictions: &BTreeMap<QueryKey, QueryPredictions>,
        now_ms: i64,
    ) -> Result<bool> {
        let packed: Vec<(QueryKey, Packed)> = predictions
            .iter()
            .map(|(query, of)| Ok((*query, Packed::of(of)?)))
            .collect::<Result<_>>()?;
        let mut named: BTreeMap<String, (Vec<DocId>, &[u8])> = BTreeMap::new();
        for (query, of) in &packed {
            let query_name = self.query(*query)?.id.as_str().to_owned();
            named.insert(query_name, (self.document_ids(*query)?, &of.bytes));
        }
        let mut hash = StudentHash::new(new.model.as_deref());
        for (query, (documents, bytes)) in named {
            hash.add(&query, &documents, bytes);
        }
        self.add_packed_student(new, &hash.finish(), packed.into_iter().map(Ok), now_ms)
    }

    /// As [`Db::add_student`], with the hash of the student and its encoded predictions, which are
    /// only read if it is stored.
    pub(crate) fn add_packed_student(
        &self,
        new: &NewStudent,
        hash: &[u8; 32],
        predictions: impl Iterator<Item = Result<(QueryKey, Packed)>>,
        now_ms: i64,
    ) -> Result<bool> {
        let known: Option<Vec<u8>> = self.maybe_value(
            "SELECT hash FROM student WHERE name = ?1 AND step IS ?2 ORDER BY created_ms DESC,
             uid DESC LIMIT 1",
            params![new.name, new.step],
        )?;
        if known.is_some_and(|known| known == hash) {
            return Ok(false);
        }
        self.change(
            "INSERT INTO student (uid, name, step, source, hash, model, annotator, created_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                Uuid::now_v7().to_string(),
                new.name,
                new.step,
                new.source,
                &hash[..],
                new.model,
                new.annotator,
                now_ms
            ],
        )?;
        let key = self.connection.last_insert_rowid();
        for stored in predictions {
            let (query, of) = stored?;
            self.change(
                "INSERT INTO prediction (student, query, pairs, both, packed) VALUES (?1, ?2, ?3,
                 ?4, ?5)",
                params![key, query.0, of.pairs, of.both, of.bytes],
            )?;
        }
        Ok(true)
    }

    /// The current students ordered by name and checkpoints by step, with the one without a step
    /// first.
    pub fn students(&self) -> Result<Vec<StoredStudent>> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("{IN_FORCE} ORDER BY name, step"))?;
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(self.student(row)?);
        }
        Ok(found)
    }

    fn student(&self, row: &Row<'_>) -> Result<StoredStudent> {
        let key: i64 = row.get(0)?;
        let (queries, pairs, both) = self.one(
            "SELECT count(*), coalesce(sum(pairs), 0), coalesce(sum(both), 0) FROM prediction
             WHERE student = ?1",
            [key],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        Ok(StoredStudent {
            key: StudentKey(key),
            uid: row.get(1)?,
            name: row.get(2)?,
            step: row.get(3)?,
            source: row.get(4)?,
            model: row.get(5)?,
            annotator: row.get(6)?,
            created_ms: row.get(7)?,
            queries,
            pairs,
            both,
        })
    }

    /// The latest checkpoint of each student, by name: the highest step, or the one without a step.
    pub fn latest_checkpoints(&self) -> Result<BTreeMap<String, StoredStudent>> {
        Ok(self
            .students()?
            .into_iter()
            .map(|of| (of.name.clone(), of))
            .collect())
    }

    /// A student's predictions for one query; empty if there are none.
    pub fn predictions_of(&self, student: StudentKey, query: QueryKey) -> Result<QueryPredictions> {
        let packed: Option<Vec<u8>> = self.maybe_value(
            "SELECT packed FROM prediction WHERE student = ?1 AND query = ?2",
            [student.0, query.0],
        )?;
        unpacked(packed.as_deref().unwrap_or_default())
    }

    /// The predictions of each student's latest checkpoint for a query, without students that have
    /// none.
    pub fn students_of(&self, query: QueryKey) -> Result<Vec<(String, QueryPredictions)>> {
        let mut found = Vec::new();
        for (name, student) in self.latest_checkpoints()? {
            let predictions = self.predictions_of(student.key, query)?;
            if !predictions.is_empty() {
                found.push((name, predictions));
            }
        }
        Ok(found)
    }

    /// The project's student.
    pub fn named_student(&self) -> Result<Option<NamedOpinion>> {
        let stored = self.remembered(NAMED)?;
        stored
            .map(|text| {
                serde_json::from_str(&text).map_err(|error| {
                    StoreError::Corrupt(format!("the project's student cannot be read: {error}"))
                })
            })
            .transpose()
    }

    /// Sets or clears the project's student, which invalidates the numbers of every query.
    pub fn name_student(&self, student: Option<&NamedOpinion>) -> Result<()> {
        match student {
            None => {
                self.change("DELETE FROM setting WHERE name = 'student'", [])?;
            }
            Some(named) => self.remember(NAMED, &serde_json::to_string(named)?)?,
        }
        self.touch_all()
    }

    /// A student with the weight that the votes support, if the weight is to be estimated. Changes
    /// nothing. Fits many queries repeatedly, so do not call it in a transaction that others wait
    /// for.
    pub fn estimated_student(&self, name: &str, weight: OpinionWeight) -> Result<NamedOpinion> {
        let (learned, not_learned) = match weight {
            OpinionWeight::Set(_) => (None, None),
            OpinionWeight::Auto => match self.learn_student_weight(name)? {
                Ok(learned) => (Some(learned), None),
                Err(reason) => (None, Some(reason)),
            },
        };
        Ok(NamedOpinion {
            name: name.to_owned(),
            weight,
            learned,
            not_learned,
        })
    }

    /// Clears the estimated weight of the project's student if it is one of these, since the weight
    /// belongs to an earlier version. Until [`Store::estimate_student`] estimates it again, the
    /// student has no weight.
    pub(crate) fn students_changed(&self, names: &[String]) -> Result<()> {
        match self.named_student()? {
            Some(named) if names.contains(&named.name) => {
                let estimated = named.weight == OpinionWeight::Auto;
                self.name_student(Some(&NamedOpinion {
                    learned: None,
                    not_learned: estimated.then_some(NotLearned::Changed),
                    ..named
                }))
            }
            _ => Ok(()),
        }
    }

    /// The project's student, if its weight must be estimated again.
    fn outdated_student(&self) -> Result<Option<NamedOpinion>> {
        let named = self.named_student()?;
        Ok(named.filter(|named| named.not_learned == Some(NotLearned::Changed)))
    }

    /// Stores an estimate, if the project's student is still the one it was made for and still
    /// needs it.
    fn keep_estimated_student(&self, estimated: &NamedOpinion) -> Result<()> {
        match self.outdated_student()? {
            Some(named) if named.name == estimated.name => self.name_student(Some(estimated)),
            _ => Ok(()),
        }
    }

    /// The project's student, if it makes predictions for a query.
    pub fn student_opinion(&self, query: QueryKey) -> Result<Option<PriorOpinion>> {
        let Some(named) = self.named_student()? else {
            return Ok(None);
        };
        let Some(student) = self.latest_checkpoint(&named.name)? else {
            return Ok(None);
        };
        let predictions = self.predictions_of(student, query)?;
        Ok((!predictions.is_empty()).then(|| PriorOpinion {
            weight: named.in_force(),
            name: named.name.into(),
            predictions: predictions.into(),
        }))
    }

    /// The effect of the project's student on the fits of these queries.
    pub fn student_effect(&self, queries: &[QueryKey]) -> Result<OpinionEffect> {
        let named = self.named_student()?;
        let nowhere = || Ok(queries.iter().map(|_| None).collect());
        let Some(named) = named.filter(|named| named.in_force() > 0.0) else {
            return nowhere();
        };
        if self.latest_checkpoint(&named.name)?.is_none() {
            return nowhere();
        }
        queries
            .iter()
            .map(|query| {
                let settings = self.settings_under(self.ensemble_of(*query)?)?;
                let rows = self.fitted_rows(*query, &settings)?;
                Ok(ranking::opinion_share(&rows, &settings).map(|share| share.weight))
            })
            .collect()
    }

    /// The project's student, with its weight in the fits of all queries.
    pub fn student_with_effect(&self) -> Result<Option<(NamedOpinion, OpinionEffect)>> {
        let Some(named) = self.named_student()? else {
            return Ok(None);
        };
        let queries: Vec<QueryKey> = self.queries()?.into_iter().map(|query| query.key).collect();
        Ok(Some((named, self.student_effect(&queries)?)))
    }

    /// Describes whether and how much the student counts, as a phrase that follows its name.
    pub fn student_words(&self) -> Result<Option<String>> {
        Ok(self
            .student_with_effect()?
            .map(|(named, effect)| named.words(&effect)))
    }

    /// The weight of a student that the votes support, or why it cannot be estimated.
    fn learn_student_weight(
        &self,
        name: &str,
    ) -> Result<std::result::Result<LearnedWeight, NotLearned>> {
        let Some(student) = self.latest_checkpoint(name)? else {
            return Ok(Err(NotLearned::FewQueries));
        };
        if self.saw_votes(student)? {
            return Ok(Err(NotLearned::SawVotes));
        }
        let mut evidence = Vec::new();
        for ensemble in self.ensembles_in_force()? {
            let settings = self.settings_under(Some(ensemble))?;
            let (sampled, _) = self.sampled(ensemble)?;
            for query in sampled {
                let mut rows = self.fitted_rows(query, &settings)?;
                // The pairs of one answer cannot be held out from each other.
                rows.answers = None;
                let predictions = self.predictions_of(student, query)?;
                evidence.extend(ranking::opinion_evidence(&rows, &settings, &predictions));
            }
        }
        Ok(LearnedWeight::of(&evidence).ok_or(NotLearned::FewQueries))
    }

    /// Whether a student predicts pairs from the votes on other pairs of the same query. Its
    /// predictions for pairs without a vote then depend on every vote, and no vote can be held out.
    fn saw_votes(&self, student: StudentKey) -> Result<bool> {
        #[derive(Deserialize)]
        struct Model {
            #[serde(default)]
            features: Vec<String>,
        }
        let model: Option<String> =
            self.value("SELECT model FROM student WHERE id = ?1", [student.0])?;
        let Some(model) = model else {
            return Ok(false);
        };
        let model: Model = serde_json::from_str(&model).map_err(|error| {
            StoreError::Corrupt(format!("the model of a student cannot be read: {error}"))
        })?;
        Ok(model.features.iter().any(|name| name == OTHER_BATTLES))
    }

    /// The latest checkpoint of a student: the highest step, or the one without a step.
    fn latest_checkpoint(&self, name: &str) -> Result<Option<StudentKey>> {
        let key = self.maybe_value(
            "SELECT id FROM student WHERE name = ?1 ORDER BY step DESC, created_ms DESC, uid DESC
             LIMIT 1",
            [name],
        )?;
        Ok(key.map(StudentKey))
    }

    /// The queries that a student makes predictions for.
    pub fn predicted_queries(&self, student: StudentKey) -> Result<Vec<QueryKey>> {
        self.all(
            "SELECT query FROM prediction WHERE student = ?1 ORDER BY query",
            [student.0],
            |row| Ok(QueryKey(row.get(0)?)),
        )
    }
}

impl Store {
    /// Estimates the weight of the project's student again if the student has changed. It runs
    /// after the write that changed the student and not inside it, because it fits many queries
    /// while other writers would wait.
    pub fn estimate_student(&self) -> Result<()> {
        let estimated = self.read_blocking(|db| {
            let named = db.outdated_student()?;
            let estimated = named.map(|named| db.estimated_student(&named.name, named.weight));
            estimated.transpose()
        })?;
        match estimated {
            Some(estimated) => self.write_blocking(move |db| db.keep_estimated_student(&estimated)),
            None => Ok(()),
        }
    }
}

/// Hash that distinguishes students with the same name and step: the model and all predictions,
/// with queries and documents by name.
pub(crate) struct StudentHash(Sha256);

impl StudentHash {
    pub(crate) fn new(model: Option<&str>) -> Self {
        let mut hash = Sha256::new();
        hash.update(model.unwrap_or_default());
        Self(hash)
    }

    /// Adds a query with its documents by pool index and its encoded predictions. Queries come in
    /// ascending order of their names.
    pub(crate) fn add(&mut self, query: &str, documents: &[DocId], packed: &[u8]) {
        let mut lines: Vec<(&str, &str, &[u8])> = Vec::new();
        for one in packed.chunks_exact(PREDICTION) {
            let (first, second) = places(one);
            let name = |at: usize| documents.get(at).map_or("", DocId::as_str);
            lines.push((name(first), name(second), &one[8..]));
        }
        lines.sort_unstable();
        self.0.update(query.as_bytes());
        for (first, second, numbers) in lines {
            for text in [first, second] {
                self.0.update((text.len() as u64).to_le_bytes());
                self.0.update(text);
            }
            self.0.update(numbers);
        }
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

/// The encoded predictions of one query.
pub(crate) struct Packed {
    pub(crate) pairs: usize,
    pub(crate) both: usize,
    pub(crate) bytes: Vec<u8>,
}

impl Packed {
    pub(crate) fn of(predictions: &QueryPredictions) -> Result<Self> {
        let mut packed = Self {
            pairs: predictions.len(),
            both: 0,
            bytes: Vec::with_capacity(PREDICTION * predictions.len()),
        };
        for (pair, of) in predictions {
            packed.both += usize::from(of.both().is_some());
            let [low_first, high_first] = of.orders;
            let high_first = high_first.map(OutcomeProbabilities::swapped);
            for (first, second, predicted) in [
                (pair.low(), pair.high(), low_first),
                (pair.high(), pair.low(), high_first),
            ] {
                let Some(predicted) = predicted else {
                    continue;
                };
                for place in [first, second] {
                    let place = u32::try_from(place).map_err(|_| {
                        StoreError::Conflict(format!("document {place} of a pool is out of range"))
                    })?;
                    packed.bytes.extend(place.to_le_bytes());
                }
                packed.bytes.extend(predicted.a().to_le_bytes());
                packed.bytes.extend(predicted.b().to_le_bytes());
            }
        }
        Ok(packed)
    }
}

/// The documents of an encoded prediction, the one shown first in front.
fn places(one: &[u8]) -> (usize, usize) {
    let place = |at: usize| {
        let bytes = one.get(at..at + 4).and_then(|of| of.try_into().ok());
        u32::from_le_bytes(bytes.unwrap_or_default()) as usize
    };
    (place(0), place(4))
}

pub(crate) fn unpacked(bytes: &[u8]) -> Result<QueryPredictions> {
    let corrupt = || StoreError::Corrupt("predictions of a student cannot be read".to_owned());
    let mut found = QueryPredictions::new();
    for one in bytes.chunks(PREDICTION) {
        if one.len() < PREDICTION {
            return Err(corrupt());
        }
        let (first, second) = places(one);
        let number = |at: usize| {
            let bytes = one.get(at..at + 8).and_then(|of| of.try_into().ok());
            f64::from_le_bytes(bytes.unwrap_or_default())
        };
        let pair = Pair::new(first, second).ok_or_else(corrupt)?;
        let predicted = OutcomeProbabilities::new(number(8), number(16)).ok_or_else(corrupt)?;
        let turned = first == pair.high();
        let orders = &mut found.entry(pair).or_default().orders;
        orders[usize::from(turned)] = Some(if turned {
            predicted.swapped()
        } else {
            predicted
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::prediction::PairPrediction;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_packed_is_read_to_the_last_bit(
            rows in prop::collection::btree_map((0usize..9, 9usize..20), prop::array::uniform2(prop::option::of((0.0..=1.0f64, 0.0..=1.0f64))), 0..30),
        ) {
            let rows = rows.into_iter().filter(|(_, orders)| orders.iter().any(Option::is_some));
            let predictions: QueryPredictions = rows
                .map(|((low, high), orders)| {
                    let of = |(a, share): (f64, f64)| OutcomeProbabilities::new(a, (1.0 - a) * share).unwrap();
                    (Pair::new(low, high).unwrap(), PairPrediction { orders: orders.map(|one| one.map(of)) })
                })
                .collect();
            let packed = Packed::of(&predictions).unwrap();
            prop_assert_eq!(packed.pairs, predictions.len());
            prop_assert_eq!(unpacked(&packed.bytes).unwrap(), predictions);
        }
    }

    #[test]
    fn damaged_predictions_are_refused() {
        for bytes in [&[0u8; 23][..], &[0; 24], &[255; 24]] {
            assert!(unpacked(bytes).is_err());
        }
        assert!(unpacked(&[]).unwrap().is_empty());
    }
}
