//! A card for each student: agreement with the ensemble, effect of the document order, ties and
//! calibration.

use super::predictions::Predictions;
use super::report::report_predictions;
use super::sample::judged_pairs;
use super::stored::stored_predictions;
use crate::app::error::AppError;
use crate::domain::number_words::signed;
use crate::features::student::domain::OrderShift;
use crate::features::student::domain::figures::{FoldedRow, Measured};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use serde::Serialize;

/// Statistics on a student's latest checkpoint, for judged pairs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudentCard {
    pub student: String,
    pub step: Option<u64>,
    /// Number of judged pairs that it predicts; if it is 0, the other fields are undefined.
    pub pairs: usize,
    /// Number of battles on which all votes name the same document, and the share of them on which
    /// the student prefers that document.
    pub consensus: usize,
    pub consensus_accuracy: Option<Measured>,
    /// Effect of the document order, if pairs were predicted in both orders.
    pub order: Option<OrderShift>,
    /// Mean of P(tie), and of the ensemble's 1 − |C|.
    pub ties_expected: Option<f64>,
    pub ties_observed: Option<f64>,
    /// Mean distance between expected and observed score, over buckets of equal population.
    pub ece: Option<Measured>,
}

/// A card for each student of the project, by name, for one query or all.
pub fn student_cards(store: &Store, scope: Option<QueryKey>) -> Result<Vec<StudentCard>, AppError> {
    let students = store.read_blocking(|db| db.latest_checkpoints())?;
    if students.is_empty() {
        return Ok(Vec::new());
    }
    let judged = judged_pairs(store, scope)?;
    let mut cards = Vec::new();
    for (name, latest) in students {
        let mut predictions = stored_predictions(store, &name, &judged)?;
        let pairs = predictions.steps.remove(&latest.step).unwrap_or_default();
        let only = Predictions {
            steps: [(latest.step, pairs)].into(),
            foreign: 0,
        };
        let report = report_predictions(name.clone(), &only, &judged);
        let step = report.as_ref().and_then(|report| report.steps.first());
        let figures = step.map(|step| &step.figures);
        let mean = |of: fn(&FoldedRow) -> f64| {
            let rows = &figures?.rows;
            Some(1.0 - rows.iter().map(of).sum::<f64>() / rows.len() as f64)
        };
        cards.push(StudentCard {
            student: name,
            step: latest.step,
            pairs: figures.map_or(0, |figures| figures.n),
            consensus: figures.map_or(0, |figures| figures.consensus),
            consensus_accuracy: figures.and_then(|figures| figures.consensus_accuracy),
            order: step.and_then(|step| step.order),
            ties_expected: mean(FoldedRow::decisiveness),
            ties_observed: mean(FoldedRow::observed_decisiveness),
            ece: figures.map(|figures| figures.calibration.ece),
        });
    }
    Ok(cards)
}

impl StudentCard {
    /// The values in the order of [`StudentCard::HEADER`]; `–` for undefined ones.
    pub fn cells(&self) -> [String; 8] {
        let dash = || "–".to_owned();
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let measured = |of: Option<Measured>, scale: f64, unit: &str| match of {
            None => dash(),
            Some(of) => {
                let digits = if scale > 1.0 { 0 } else { 3 };
                let value = format!("{:.digits$}{unit}", scale * of.value);
                match of.interval {
                    None => value,
                    Some((low, high)) => format!(
                        "{value} ({:.digits$}–{:.digits$})",
                        scale * low,
                        scale * high
                    ),
                }
            }
        };
        let name = match self.step {
            Some(step) => format!("{} step {step}", self.student),
            None => self.student.clone(),
        };
        [
            name,
            self.pairs.to_string(),
            measured(self.consensus_accuracy, 100.0, " %"),
            self.order.map_or_else(dash, |of| percent(of.flips)),
            self.order
                .map_or_else(dash, |of| signed(of.toward_first, 3)),
            self.ties_expected.map_or_else(dash, percent),
            self.ties_observed.map_or_else(dash, percent),
            measured(self.ece, 1.0, ""),
        ]
    }

    pub const HEADER: [&'static str; 8] = [
        "student",
        ">judged pairs",
        ">agrees with consensus",
        ">flips",
        ">lean",
        ">ties expected",
        ">ties observed",
        ">ECE",
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lean_has_a_real_minus_sign() {
        let card = StudentCard {
            student: "own".to_owned(),
            step: None,
            pairs: 1,
            consensus: 0,
            consensus_accuracy: None,
            order: Some(OrderShift {
                pairs: 4,
                toward_first: -0.05,
                flips: 0.25,
            }),
            ties_expected: None,
            ties_observed: None,
            ece: None,
        };
        assert_eq!(card.cells()[3..5], ["25 %", "−0.050"]);
    }
}
