//! The results of other features: methods, measurements, duels, and the battles that need no
//! person.

use crate::app::error::AppError;
use crate::app::text_format::{counted, p_value};
use crate::app::truth::{GradeBasis, TruthSource, project_truth};
use crate::domain::metrics::Metric;
use crate::domain::number_words::{fixed, signed, usd};
use crate::domain::sanitize;
use crate::features::accept::app::read_report;
use crate::features::duel::app::{
    duel_name, duel_result, ends_blindness, listed_duels, result_lines,
};
use crate::features::measure::app::{
    MeasureReport, MeasureRequest, ReportOptions, read_measurement,
};
use crate::features::measure::domain::IntervalKind;
use crate::features::measure::store::StoredMeasurement;
use crate::features::methods::app::{MethodEntry, MethodsOptions, MethodsReport, compare_methods};
use crate::features::report::domain::{ReportTable, ReportedResult};
use crate::store::Store;

/// Cutoff of the metrics of methods.
const DEPTH: usize = 10;
/// The lowest relevant grade.
const LEVEL: i32 = 1;
/// The largest difference of a metric that counts as equal.
const MARGIN: f64 = 0.05;

/// The results, and notes on what is left out.
pub(super) fn results(
    store: &Store,
    annotator: &str,
) -> Result<(Vec<ReportedResult>, Vec<String>), AppError> {
    let (mut results, mut notes) = (Vec::new(), Vec::new());
    match methods(store) {
        Ok(found) => results.extend(found),
        Err(error) => notes.push(format!("The comparison of methods is left out: {error}.")),
    }
    for stored in store.read_blocking(|db| db.measurements())? {
        match measurement(store, &stored) {
            Ok(result) => results.push(result),
            // Its runs have changed since.
            Err(error) => notes.push(format!(
                "The measurement of {} is left out: {error}.",
                sanitize::line(&stored.run)
            )),
        }
    }
    for listed in store.read_blocking(|db| listed_duels(db))? {
        let key = listed.stored.key;
        if ends_blindness(store, key, annotator)? {
            notes.push(format!(
                "The result of {} is left out, because {} still has tasks in it, which would no \
                 longer be blind.",
                duel_name(&listed.stored),
                sanitize::line(annotator)
            ));
            continue;
        }
        let result = store.read_blocking(move |db| duel_result(db, key))?;
        results.push(ReportedResult {
            heading: capital(&duel_name(&listed.stored)),
            lines: result_lines(&result),
            ..ReportedResult::default()
        });
    }
    if let Some(report) = read_report(store)? {
        results.push(ReportedResult {
            heading: "Battles that need no person".to_owned(),
            sentences: [report.sentence()]
                .into_iter()
                .chain(report.remarks())
                .collect(),
            ..ReportedResult::default()
        });
    }
    Ok((results, notes))
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_uppercase());
    first.into_iter().flatten().chain(letters).collect()
}

/// The methods that were run, against the labels, or the judges if there are none.
fn methods(store: &Store) -> Result<Option<ReportedResult>, AppError> {
    let has_labels = !store.read_blocking(|db| db.labels())?.is_empty();
    let source = if has_labels {
        TruthSource::Qrels
    } else {
        TruthSource::Zelo
    };
    if !store.read_blocking(|db| Ok(!db.rerank_results()?.is_empty()))? {
        return Ok(None);
    }
    let truth = project_truth(store, source, GradeBasis::Auto)?;
    let options = MethodsOptions {
        baseline: None,
        depth: DEPTH,
        level: LEVEL,
    };
    let report = compare_methods(store, &truth, &options)?;
    let mut sentences = vec![format!("{}.", capital(&report.heading()))];
    sentences.extend(report.notes.iter().map(|note| capital(note)));
    sentences.push(format!(
        "Intervals are 95 % intervals over queries. Tests are against {}, two-sided and corrected \
         by Holm's method.",
        sanitize::line(&report.baseline)
    ));
    Ok(Some(ReportedResult {
        heading: "Methods".to_owned(),
        sentences,
        table: Some(methods_table(&report)),
        picture: Some(report.quality_cost_svg()),
        lines: Vec::new(),
    }))
}

fn methods_table(report: &MethodsReport) -> ReportTable {
    let metric = report
        .metrics
        .first()
        .map_or(String::new(), Metric::to_string);
    let columns = [
        "method".to_owned(),
        format!(">{metric}"),
        "95 % interval".to_owned(),
        format!(">− {}", sanitize::line(&report.baseline)),
        ">p (Holm)".to_owned(),
        "better/equal/worse".to_owned(),
        ">calls per query".to_owned(),
        ">$ per query".to_owned(),
        ">failed queries".to_owned(),
    ];
    let rows = report.methods.iter().map(method_row).collect();
    ReportTable::new(&columns, rows)
}

fn method_row(method: &MethodEntry) -> Vec<String> {
    let dash = || "–".to_owned();
    let mean = method.values.first().and_then(|values| values.all);
    let test = method.first_test();
    let effort = &method.effort;
    vec![
        sanitize::line(&method.name).into_owned(),
        mean.map_or_else(dash, |of| fixed(of.mean, 4)),
        mean.and_then(|of| of.interval)
            .map_or_else(dash, |(low, high)| {
                format!("{} to {}", fixed(low, 4), fixed(high, 4))
            }),
        test.map_or_else(dash, |test| signed(test.comparison.mean_difference, 4)),
        test.and_then(|test| test.randomization_holm)
            .map_or_else(dash, p_value),
        test.map_or_else(dash, |test| {
            let (better, equal, worse) = test.comparison.wins_ties_losses;
            format!("{better}/{equal}/{worse}")
        }),
        effort
            .a_query(effort.calls)
            .map_or_else(dash, |calls| fixed(calls, 1)),
        effort.usd_a_query().map_or_else(dash, usd),
        format!("{} of {}", effort.failed, effort.queries),
    ]
}

fn measurement(store: &Store, stored: &StoredMeasurement) -> Result<ReportedResult, AppError> {
    let request = MeasureRequest {
        run: stored.run.clone(),
        baseline: stored.baseline.clone(),
        metric: stored.metric.parse().map_err(AppError::invalid)?,
        level: LEVEL,
    };
    let measurement = read_measurement(store, &request)?;
    let options = ReportOptions {
        interval: IntervalKind::Sequence,
        margin: MARGIN,
    };
    let report = MeasureReport::new(&measurement, &measurement.design(), options);
    let mut sentences = vec![report.sentence()];
    sentences.push(format!(
        "{} of {} that can change the value are ruled on, over {}.",
        report.ruled,
        counted(report.documents, "document"),
        counted(report.queries, "query")
    ));
    sentences.extend(report.caveats());
    sentences.extend(report.notes.iter().map(|note| capital(note)));
    Ok(ReportedResult {
        heading: "Corrected metric".to_owned(),
        sentences,
        ..ReportedResult::default()
    })
}
