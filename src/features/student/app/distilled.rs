//! Exports the scores that a student's predictions give to documents, judged or not, as training
//! data for pointwise students.

use super::export::{ExportForm, ExportedLines, QueryTexts, TestQueries};
use super::stored::known_student;
use crate::app::error::{AppError, invalid};
use crate::app::text_format::{counted, first_names};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::rating::{RatingModel, RatingOptions};
use crate::domain::sanitize;
use crate::features::student::domain::distilled::{DistilledScores, PairStrength};
use crate::features::student::store::StoredStudent;
use crate::formats::table_file::{TableFormat, TableWriter};
use crate::store::corpus::QueryKey;
use crate::store::{Store, StoreError};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// The value of the column `target_is`.
const TARGET: &str = "student";

/// An export of a student's scores.
#[derive(Clone, Debug)]
pub struct DistilledExport {
    /// The student; `None` for the project's own, or the only one.
    pub student: Option<String>,
    pub strength: PairStrength,
    /// `None` for the project's model.
    pub model: Option<RatingModel>,
    pub format: TableFormat,
    /// Files with test queries, which are skipped.
    pub test_queries: Vec<PathBuf>,
}

/// Queries with an incomplete fit, by name.
#[derive(Default)]
struct Doubts {
    without_prediction: usize,
    in_groups: Vec<String>,
    unbounded: Vec<String>,
    not_converged: Vec<String>,
}

impl DistilledExport {
    /// Writes a line per scored document, ordered by query.
    pub fn write(
        &self,
        store: &Store,
        out: &mut (dyn Write + Send),
    ) -> Result<ExportedLines, AppError> {
        let student = self.find(store)?;
        let settings = store.read_blocking(|db| db.settings())?;
        let options = RatingOptions {
            model: self.model.unwrap_or(settings.model),
            lambda: settings.lambda.value(None),
            taste: 0.0,
        };
        let key = student.key;
        let mut queries: Vec<(QueryId, QueryKey)> = store.read_blocking(move |db| {
            let queries = db.predicted_queries(key)?.into_iter();
            let named = queries.map(|query| Ok((db.query(query)?.id, query)));
            named.collect::<Result<_, StoreError>>()
        })?;
        queries.sort();
        let mut done = ExportedLines::default();
        let is_known = |query: &QueryId| queries.binary_search_by(|(id, _)| id.cmp(query)).is_ok();
        let test = TestQueries::read(&self.test_queries, is_known, &mut done.notes)?;
        let (left_out, wanted): (Vec<_>, Vec<_>) = queries
            .into_iter()
            .partition(|(query, _)| test.contains(query));
        let keys: Vec<QueryKey> = wanted.iter().map(|(_, key)| *key).collect();
        let columns = ExportForm::Pointwise.columns();
        let mut rows = TableWriter::new(&columns, self.format, out)?;
        let mut doubts = Doubts::default();
        let mut names = wanted.iter().map(|(id, _)| id);
        store.read_each(
            &keys,
            |db, query| {
                let predictions = db.predictions_of(key, query)?;
                let documents = db.document_ids(query)?;
                let count = documents.len();
                let fitted = DistilledScores::fit(count, &predictions, self.strength, &options);
                Ok((QueryTexts::read(db, query)?, documents, fitted))
            },
            |_, (texts, documents, fitted)| {
                let Some(query) = names.next() else {
                    return Ok(());
                };
                let name = |at: usize| documents.get(at).map_or("", DocId::as_str).to_owned();
                let fitted = fitted.map_err(|error| {
                    let blamed = error.blamed(name);
                    let query = sanitize::line(query.as_str());
                    invalid!("query {query:?}: {error}{}", sanitize::line(&blamed))
                })?;
                doubts.add(query, &fitted);
                let scored = fitted.scores.iter().enumerate();
                let mut lines = 0;
                for (at, score) in scored.filter_map(|(at, score)| Some((at, (*score)?))) {
                    rows.write(json!({
                        "query_id": query,
                        "document_id": documents.get(at),
                        "query": texts.query(),
                        "text": texts.text(at),
                        "target": score,
                        "target_is": TARGET,
                        "zelo": score,
                    }))?;
                    lines += 1;
                }
                done.lines += lines;
                done.queries += usize::from(lines > 0);
                Ok::<(), AppError>(())
            },
        )?;
        rows.finish()?;
        if done.lines == 0 {
            return Err(invalid!(
                "nothing is left to write: student {} has no predictions outside of the test \
                 queries",
                sanitize::line(&student.name)
            ));
        }
        done.notes.push(format!(
            "target is the score of the predictions of student {}{}, which compares documents of \
             one query only: model {}, strength {}",
            sanitize::line(&student.name),
            student
                .step
                .map_or(String::new(), |step| format!(" step {step}")),
            options.model,
            self.strength
        ));
        done.notes.extend(doubts.notes(options.model));
        done.add_left_out(left_out.iter().map(|(query, _)| query));
        done.add_known(store, wanted.iter().map(|(query, _)| query))?;
        Ok(done)
    }

    /// The latest checkpoint of the student.
    fn find(&self, store: &Store) -> Result<StoredStudent, AppError> {
        let name = match &self.student {
            Some(name) => name.clone(),
            None => {
                let (named, stored) = store.read_blocking(|db| {
                    Ok::<_, StoreError>((db.named_student()?, db.latest_checkpoints()?))
                })?;
                let names: Vec<String> = stored.into_keys().collect();
                match (named, names.as_slice()) {
                    (Some(named), _) => named.name,
                    (None, [only]) => only.clone(),
                    (None, []) => {
                        return Err(invalid!(
                            "the project has no student; `overrule student import FILE --name \
                             NAME` stores predictions"
                        ));
                    }
                    (None, all) => {
                        return Err(invalid!(
                            "which student? --student names one of {}",
                            first_names(all)
                        ));
                    }
                }
            }
        };
        let mut checkpoints = known_student(store, &name)?;
        checkpoints
            .pop()
            .ok_or_else(|| invalid!("no student {:?} in the project", sanitize::line(&name)))
    }
}

impl Doubts {
    fn add(&mut self, query: &QueryId, fitted: &DistilledScores) {
        let mut note = |list: fn(&mut Self) -> &mut Vec<String>, is_true: bool| {
            if is_true {
                list(self).push(query.as_str().to_owned());
            }
        };
        note(|of| &mut of.in_groups, fitted.groups > 1);
        note(|of| &mut of.unbounded, !fitted.is_bounded);
        note(|of| &mut of.not_converged, !fitted.converged);
        self.without_prediction += fitted.scores.iter().filter(|of| of.is_none()).count();
    }

    fn notes(&self, model: RatingModel) -> Vec<String> {
        let mut notes = Vec::new();
        if self.without_prediction > 0 {
            notes.push(format!(
                "{} of these queries without a prediction: left out",
                counted(self.without_prediction, "document")
            ));
        }
        let origin = match model {
            RatingModel::Zbench => "zBench's stopping rule",
            RatingModel::Map | RatingModel::Mle | RatingModel::Thurstone => "the prior",
        };
        let kinds = [
            (
                &self.in_groups,
                "whose documents fall into groups that no prediction compares: scores of \
                 different groups are not comparable"
                    .to_owned(),
            ),
            (
                &self.unbounded,
                format!(
                    "with documents that are certain to win or to lose: how far their scores are \
                     from the others is set by {origin}"
                ),
            ),
            (
                &self.not_converged,
                "whose fit has not converged".to_owned(),
            ),
        ];
        for (queries, what) in kinds {
            if !queries.is_empty() {
                notes.push(format!(
                    "{} {what}: {}",
                    counted(queries.len(), "query"),
                    first_names(queries)
                ));
            }
        }
        notes
    }
}
