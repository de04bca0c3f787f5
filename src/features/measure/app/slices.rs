//! A measurement by a field of the queries.

use super::read::Measurement;
use super::report::{MeasuredValue, metric_words};
use crate::app::error::{AppError, invalid};
use crate::app::evaluate::{NO_VALUE, SliceField};
use crate::app::text_format::{counted, first_names, p_value};
use crate::domain::metrics::{Metric, holm};
use crate::domain::number_words::{fixed, signed};
use crate::domain::sanitize;
use crate::features::measure::domain::{ALPHA, CombinedEstimate, DrawParts, SliceState};
use crate::store::Store;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A measurement by slice.
#[derive(Clone, Debug, PartialEq)]
pub struct SlicedMeasurement {
    pub field: String,
    pub metric: Metric,
    pub baseline: Option<String>,
    pub rows: Vec<MeasuredSlice>,
    /// Number of ruled draws without the numbers that slices need.
    pub unused_draws: usize,
}

/// The mean over the queries of a slice.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredSlice {
    /// `None` for the queries without a value of the field.
    pub slice: Option<String>,
    pub queries: usize,
    /// Number of documents whose ruling can change the value, and how many are ruled on.
    pub documents: usize,
    pub ruled: usize,
    /// Within the limits; `None` as long as documents are open and no draw can be used.
    pub value: Option<MeasuredValue>,
    /// Whether everything that counts is ruled on.
    pub is_exact: bool,
    /// The smallest and the largest value that the rulings leave possible.
    pub limits: (f64, f64),
    /// For a difference: the p-value, with Holm's correction over all slices.
    pub p_holm: Option<f64>,
    /// The ends of the interval with error α divided by the number of slices.
    joint: Option<(f64, f64)>,
}

impl MeasuredSlice {
    /// The name on screen.
    pub fn name(&self) -> &str {
        self.slice.as_deref().unwrap_or(NO_VALUE)
    }

    fn is_negative(&self) -> bool {
        self.value.is_some_and(|of| of.value < 0.0)
    }
}

/// Measures the slices of a measurement.
///
/// # Errors
/// A metric that is not a sum over documents, or a field that no measured query has.
pub fn sliced(
    store: &Store,
    measurement: &Measurement,
    field: &SliceField,
) -> Result<SlicedMeasurement, AppError> {
    if !measurement.is_linear {
        return Err(invalid!(
            "--slice: {} cannot be measured by slice, because its value depends on a model of \
             relevance that can be wrong in a slice; use p@K",
            measurement.metric
        ));
    }
    let queries = &measurement.queries;
    field.check_known(queries.iter().map(|query| &query.id), queries.len())?;
    let mut members: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for (at, query) in queries.iter().enumerate() {
        members.entry(field.value(&query.id)).or_default().push(at);
    }
    let parts = read_parts(store, measurement)?;
    let series = &measurement.series;
    let ruled = series.ruled_draws().into_iter();
    let unused =
        ruled.filter(|(draw, _)| !parts.contains_key(&(draw.annotator.clone(), draw.step)));
    let unused_draws = unused.count();
    let count = members.len();
    let is_difference = measurement.baseline.is_some();
    let mut rows = Vec::new();
    let mut p = Vec::new();
    // Queries without a value come last.
    let without = members.remove(&None).map(|members| (None, members));
    for (slice, members) in members.into_iter().chain(without) {
        let state = series.slice(&members, &parts);
        rows.push(row(slice, members.len(), &state, count));
        p.push(Some(state.p()));
    }
    if is_difference {
        for (row, p) in rows.iter_mut().zip(holm(&p)) {
            row.p_holm = p.filter(|_| row.value.is_some());
        }
    }
    Ok(SlicedMeasurement {
        field: field.name.clone(),
        metric: measurement.metric,
        baseline: measurement.baseline.clone(),
        rows,
        unused_draws,
    })
}

fn row(slice: Option<&str>, queries: usize, state: &SliceState, slices: usize) -> MeasuredSlice {
    let estimate = state.estimate.as_ref();
    let value = || {
        let (low, high) = state.interval(ALPHA)?;
        Some(MeasuredValue {
            rulings: estimate?.draws,
            value: state.value()?,
            low,
            high,
        })
    };
    MeasuredSlice {
        slice: slice.map(str::to_owned),
        queries,
        documents: state.documents,
        ruled: state.ruled,
        value: value(),
        is_exact: estimate.is_some_and(CombinedEstimate::is_exact),
        limits: state.limits,
        p_holm: None,
        joint: state.interval(ALPHA / slices as f64),
    }
}

fn read_parts(store: &Store, measurement: &Measurement) -> Result<DrawParts, AppError> {
    let id = measurement.id;
    let stored = store.read_blocking(move |db| db.draw_parts(&id))?;
    let series = &measurement.series;
    let known = series.draws().iter().filter_map(|draw| {
        let key = (draw.annotator.clone(), draw.step);
        let parts = series.checked_parts(draw, stored.get(&key)?)?;
        Some((key, parts))
    });
    Ok(known.collect())
}

impl SlicedMeasurement {
    /// The slices with the lowest value that is known. Slices without a document that counts are left
    /// out.
    fn worst(&self) -> Vec<&MeasuredSlice> {
        let known = || {
            let counting = self.rows.iter().filter(|row| row.documents > 0);
            counting.filter_map(|row| Some((row, row.value?.value)))
        };
        let lowest = known()
            .map(|(_, value)| value)
            .fold(f64::INFINITY, f64::min);
        let worst = known().filter(|(_, value)| *value <= lowest);
        worst.map(|(row, _)| row).collect()
    }

    /// Names the worst slice, and says whether it is shown to be worse; `None` if there is one slice,
    /// or if nothing is known.
    pub fn sentence(&self) -> Option<String> {
        let worst = self.worst();
        let value = worst.first()?.value?.value;
        if self.rows.len() < 2 {
            return None;
        }
        let metric = metric_words(self.metric);
        let baseline = self.baseline.as_deref().map(sanitize::line);
        let number = if baseline.is_some() { signed } else { fixed };
        let value = number(value, 3);
        let unknown = self.rows.iter().filter(|row| row.value.is_none());
        let unknown: Vec<&str> = unknown.map(MeasuredSlice::name).collect();
        let unknown = match unknown.as_slice() {
            [] => String::new(),
            names => format!(" Not known yet: {}.", first_names(names)),
        };
        let is_worse =
            |row: &MeasuredSlice| row.p_holm.filter(|p| *p <= ALPHA && row.is_negative());
        let worst_p = worst.iter().map(|row| is_worse(row));
        // If several slices are worst, the largest of their p-values.
        let worst_p = worst_p
            .reduce(|one, other| Some(one?.max(other?)))
            .flatten();
        let shown = match (&baseline, worst.as_slice(), worst_p) {
            (Some(_), _, Some(p)) => format!("worse (Holm {})", p_value(p)),
            (Some(_), _, None) => "not shown to be worse".to_owned(),
            (None, [worst], _) if self.is_below_all_others(worst) => {
                "below every other slice".to_owned()
            }
            (None, ..) => "not shown to be below every other slice".to_owned(),
        };
        let (words, slices) = match worst.as_slice() {
            [worst] => {
                let queries = counted(worst.queries, "query");
                (
                    "Worst slice",
                    format!("{} ({queries})", sanitize::line(worst.name())),
                )
            }
            several => {
                let names: Vec<&str> = several.iter().map(|row| row.name()).collect();
                ("Worst slices", first_names(&names))
            }
        };
        let lead = baseline.map_or_else(
            || format!("Lowest {metric}"),
            |baseline| format!("{words} by {metric} against {baseline}"),
        );
        Some(format!("{lead}: {slices}, {value}, {shown}.{unknown}"))
    }

    /// Whether the slice is below all others at a joint error of α, by intervals with Bonferroni's
    /// correction. The limits hold without error.
    fn is_below_all_others(&self, slice: &MeasuredSlice) -> bool {
        let Some((_, high)) = slice.joint else {
            return false;
        };
        let others = self.rows.iter().filter(|row| row.slice != slice.slice);
        let mut lows = others.map(|row| row.joint.unwrap_or(row.limits).0);
        lows.all(|low| high < low)
    }

    pub fn json(&self) -> Value {
        let worst = self.worst();
        let rows = self.rows.iter().map(|row| {
            let of = row.value;
            json!({
                "slice": row.slice,
                "queries": row.queries,
                "documents": row.documents,
                "ruled": row.ruled,
                "rulings": of.map_or(0, |of| of.rulings),
                "value": of.map(|of| of.value),
                "low": of.map(|of| of.low),
                "high": of.map(|of| of.high),
                "least": row.limits.0,
                "greatest": row.limits.1,
                "exact": row.is_exact,
                "p_holm": row.p_holm,
                "worst": self.rows.len() > 1 && worst.iter().any(|of| std::ptr::eq(*of, row)),
            })
        });
        json!({
            "field": self.field,
            "rows": rows.collect::<Vec<_>>(),
            "family": self.rows.len(),
            "unused_draws": self.unused_draws,
            "sentence": self.sentence(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slice of 2 queries with a value and half the width of its interval.
    fn slice(name: &str, known: Option<(f64, f64)>, p_holm: Option<f64>) -> MeasuredSlice {
        MeasuredSlice {
            slice: Some(name.to_owned()),
            queries: 2,
            documents: 9,
            ruled: 4,
            value: known.map(|(value, half)| MeasuredValue {
                rulings: 4,
                value,
                low: value - half,
                high: value + half,
            }),
            is_exact: false,
            limits: (-0.5, 0.5),
            p_holm,
            joint: known.map(|(value, half)| (value - half, value + half)),
        }
    }

    fn sentence(baseline: Option<&str>, rows: Vec<MeasuredSlice>) -> Option<String> {
        let of = SlicedMeasurement {
            field: "topic".to_owned(),
            metric: "p@10".parse().unwrap(),
            baseline: baseline.map(str::to_owned),
            rows,
            unused_draws: 0,
        };
        of.sentence()
    }

    #[test]
    fn the_worst_slice_is_named_with_what_is_shown() {
        let (low, high) = (Some((-0.3, 0.1)), Some((0.1, 0.1)));
        let of = |rows| sentence(Some("old"), rows).unwrap();
        assert_eq!(
            of(vec![
                slice("a", low, Some(0.01)),
                slice("b", high, Some(0.01))
            ]),
            "Worst slice by P@10 against old: a (2 queries), −0.300, worse (Holm 0.0100)."
        );
        assert_eq!(
            of(vec![slice("a", low, Some(0.2)), slice("b", None, None)]),
            "Worst slice by P@10 against old: a (2 queries), −0.300, not shown to be worse. Not \
             known yet: b."
        );
        let equal = |p| vec![slice("a", low, Some(0.01)), slice("b", low, Some(p))];
        assert_eq!(
            of(equal(0.02)),
            "Worst slices by P@10 against old: a, b, −0.300, worse (Holm 0.0200)."
        );
        assert!(of(equal(0.2)).ends_with("not shown to be worse."));
        // A positive difference is never worse.
        assert!(of(vec![slice("a", high, Some(0.01)); 2]).ends_with("not shown to be worse."));
        assert_eq!(
            sentence(Some("old"), vec![slice("a", low, Some(0.01))]),
            None
        );
        assert_eq!(sentence(Some("old"), vec![slice("a", None, None); 2]), None);
    }

    #[test]
    fn the_lowest_slice_is_below_the_others_if_no_interval_and_no_limit_overlaps() {
        let of = |other| sentence(None, vec![slice("a", Some((0.2, 0.1)), None), other]).unwrap();
        assert_eq!(
            of(slice("b", Some((0.5, 0.1)), None)),
            "Lowest P@10: a (2 queries), 0.200, below every other slice."
        );
        assert_eq!(
            of(slice("b", Some((0.5, 0.25)), None)),
            "Lowest P@10: a (2 queries), 0.200, not shown to be below every other slice."
        );
        let unknown = slice("b", None, None);
        assert!(of(unknown.clone()).contains("not shown to be below"));
        let high = MeasuredSlice {
            limits: (0.4, 0.9),
            ..unknown
        };
        assert!(of(high).contains(", below every other slice. Not known yet: b."));
    }
}
