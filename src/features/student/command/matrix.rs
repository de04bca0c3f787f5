//! The layer of `overrule matrix` with the predictions of a student.

use crate::app::error::AppError;
use crate::cli::matrix::AddedLayer;
use crate::cli::output::clean;
use crate::domain::prediction::{OutcomeProbabilities, QueryPredictions, prediction_of};
use crate::features::student::app::known_student;
use crate::features::student::store::StoredStudent;
use crate::store::Store;
use serde_json::{Value, json};

struct PredictionLayer {
    student: StoredStudent,
    predictions: QueryPredictions,
}

/// Reads the predictions of a student for a query.
pub(crate) fn read_layer(
    store: &Store,
    name: &str,
    query: String,
) -> Result<Option<Box<dyn AddedLayer>>, AppError> {
    let Some(student) = known_student(store, name)?.pop() else {
        return Ok(None);
    };
    let key = student.key;
    let predictions =
        store.read_blocking(move |db| db.predictions_of(key, db.find_query(&query)?))?;
    Ok(Some(Box::new(PredictionLayer {
        student,
        predictions,
    })))
}

impl AddedLayer for PredictionLayer {
    fn legend(&self) -> String {
        format!(
            "row's score as {} expects it, in tenths (₀–₉ₓ nobody has voted, · not predicted)",
            clean(&self.student.name)
        )
    }

    fn caption(&self) -> &'static str {
        "what a student expects; small squares: nobody has voted"
    }

    fn score(&self, row: usize, column: usize) -> Option<f64> {
        prediction_of(&self.predictions, column, row).map(OutcomeProbabilities::score)
    }

    /// The predictions with the row document as A.
    fn json(&self, order: &[usize]) -> (&'static str, Value) {
        let layer = |of: fn(OutcomeProbabilities) -> f64| -> Vec<Vec<Option<f64>>> {
            let row = |row: &usize| {
                let cells = order.iter();
                cells
                    .map(|column| prediction_of(&self.predictions, *row, *column).map(of))
                    .collect()
            };
            order.iter().map(row).collect()
        };
        let json = json!({
            "student": self.student.name,
            "step": self.student.step,
            "p_row": layer(OutcomeProbabilities::a),
            "p_tie": layer(OutcomeProbabilities::tie),
            "p_column": layer(OutcomeProbabilities::b),
        });
        ("student", json)
    }
}
