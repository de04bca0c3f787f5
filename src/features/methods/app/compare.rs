//! Runs the comparison.

use super::measure::{MethodsOptions, metrics, values};
use super::report::{BaselineTest, MethodEntry, MethodsReport};
use super::self_preference::ranks_without_own_votes;
use super::truncation::truncation_notes;
use crate::app::error::{AppError, invalid};
use crate::app::text_format::{counted, first_names, own_documents};
use crate::app::truth::{AGAINST_JUDGES, Truth};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{Metric, Resampling, compare, holm, ranked_with_own};
use crate::features::methods::domain::{
    MethodEffort, MethodRow, MethodValues, ORIGINAL, methods_on_front,
};
use crate::store::Store;
use crate::store::corpus::first_stage_order;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Evaluates every method that has been run, and the first-stage order, against a truth.
pub fn compare_methods(
    store: &Store,
    truth: &Truth,
    options: &MethodsOptions,
) -> Result<MethodsReport, AppError> {
    let (rows, pools, labeled) = store.read_blocking(|db| {
        let labeled = db.labeled_documents()?;
        let rows: Vec<MethodRow> = db
            .rerank_results()?
            .into_iter()
            .map(|result| result.row)
            .collect();
        let mut pools = Vec::new();
        if rows.iter().any(|row| row.method == ORIGINAL) {
            return Ok((rows, pools, labeled));
        }
        let run: HashSet<&QueryId> = rows.iter().map(|row| &row.query).collect();
        for query in db.queries()? {
            if !run.contains(&query.id) {
                continue;
            }
            let documents = db.documents(query.key)?;
            let order = first_stage_order(documents.iter().map(|document| &document.metadata));
            let ids = order
                .into_iter()
                .filter_map(|at| documents.get(at))
                .map(|document| document.id.clone());
            pools.push((query.id, ids.collect::<Vec<DocId>>()));
        }
        Ok((rows, pools, labeled))
    })?;
    if rows.is_empty() {
        return Err(invalid!(
            "no method has been run; `overrule rerank --method rankgpt@20` runs one"
        ));
    }
    let mut report = measured(rows, pools, truth, options)?;
    let longest = report.longest_ranking();
    if options.depth > longest {
        report.notes.push(format!(
            "the longest ranking has {}, so a depth of {} covers all rankings completely",
            counted(longest, "document"),
            options.depth
        ));
    }
    let from_labels = |query: &QueryId| {
        let labeled = labeled.get(query)?;
        let orders = report.methods.iter();
        let of_order = |order: &[DocId]| {
            let beyond = |rank: &Option<usize>| rank.is_none_or(|rank| rank > order.len());
            order
                .iter()
                .filter_map(|id| labeled.get(id))
                .filter(|rank| beyond(rank))
                .count()
        };
        orders
            .filter_map(|method| method.order(query).map(of_order))
            .max()
    };
    report.from_labels = report.queries.iter().filter_map(from_labels).sum();
    if report.from_labels > 0 {
        report.notes.push(format!(
            "{} in the pools only because of labels: the first stage did not find {}. Every \
             method, including the hybrid order ({ORIGINAL}), looks better than on the first \
             stage's own candidates (--candidates FILE measures on those)",
            match report.from_labels {
                1 => "1 document is".to_owned(),
                forced => format!("{} are", counted(forced, "document")),
            },
            if report.from_labels == 1 {
                "it"
            } else {
                "them"
            }
        ));
    }
    report.notes.extend(other_candidates(&report));
    ranks_without_own_votes(store, truth, options, &mut report)?;
    Ok(report)
}

/// A note for each method that ranked other candidates than the original order has.
fn other_candidates(report: &MethodsReport) -> Vec<String> {
    let Some(original) = report.method(ORIGINAL) else {
        return Vec::new();
    };
    let differs = |method: &MethodEntry, query: &QueryId| {
        let (Some(theirs), Some(ours)) = (original.order(query), method.order(query)) else {
            return false;
        };
        let theirs: HashSet<&DocId> = theirs.iter().collect();
        theirs.len() != ours.len() || ours.iter().any(|id| !theirs.contains(id))
    };
    let methods = report.methods.iter();
    methods
        .filter_map(|method| {
            let count = report
                .queries
                .iter()
                .filter(|query| differs(method, query))
                .count();
            (count > 0).then(|| {
                format!(
                    "{}: ranked other candidates than {ORIGINAL} on {} of {}: not comparable \
                     there; run it again on the same ones",
                    method.name,
                    count,
                    counted(report.queries.len(), "query")
                )
            })
        })
        .collect()
}

fn measured(
    rows: Vec<MethodRow>,
    pools: Vec<(QueryId, Vec<DocId>)>,
    truth: &Truth,
    options: &MethodsOptions,
) -> Result<MethodsReport, AppError> {
    let metrics = metrics(options.depth)?;
    let mut notes = truth.notes.clone();
    let run: BTreeSet<&QueryId> = rows.iter().map(|row| &row.query).collect();
    let queries: Vec<QueryId> = run
        .iter()
        .filter(|query| truth.qrels.contains_key(**query))
        .map(|query| (*query).clone())
        .collect();
    if queries.is_empty() {
        return Err(invalid!(
            "none of the queries on which methods were run is judged by {}; use --truth zelo to \
             measure against the judges of the project",
            truth.name
        ));
    }
    let unjudged: Vec<&str> = run
        .iter()
        .filter(|query| !truth.qrels.contains_key(**query))
        .map(|query| query.as_str())
        .collect();
    if !unjudged.is_empty() {
        notes.push(format!(
            "skipped {} without labels: {}",
            counted(unjudged.len(), "query"),
            first_names(&unjudged)
        ));
    }
    let ranked = rows.iter().map(|row| (&row.query, &row.order));
    notes.extend(own_documents(&ranked_with_own(&truth.qrels, ranked)));
    let mut by_method: BTreeMap<String, Vec<MethodRow>> = BTreeMap::new();
    for row in rows {
        by_method.entry(row.method.clone()).or_default().push(row);
    }
    by_method
        .entry(ORIGINAL.to_owned())
        .or_insert_with(|| original_rows(pools, &queries));
    let how = Resampling::of(queries.len());
    let mut methods = Vec::new();
    for (name, rows) in by_method {
        methods.push(entry(name, rows, &queries, &metrics, truth, options, &how)?);
    }
    methods.sort_by_key(|method| method.name != ORIGINAL);
    let baseline = options
        .baseline
        .clone()
        .unwrap_or_else(|| ORIGINAL.to_owned());
    let base = methods.iter().position(|method| method.name == baseline);
    let base = base.ok_or_else(|| {
        let names: Vec<&str> = methods.iter().map(|method| method.name.as_str()).collect();
        invalid!(
            "--baseline: no method {baseline:?}; the methods are {}",
            first_names(&names)
        )
    })?;
    test_against(&mut methods, base, metrics.len(), &how);
    for method in &methods {
        let missing = queries.len() - method.effort.queries.min(queries.len());
        if missing > 0 {
            notes.push(format!(
                "{}: not run on {} of {}: its means are not comparable with the others'",
                method.name,
                missing,
                counted(queries.len(), "query")
            ));
        }
    }
    notes.extend(truncation_notes(&methods));
    let usd: Vec<Option<f64>> = methods.iter().map(|method| method.cost(true)).collect();
    let in_usd = usd.iter().all(Option::is_some) && usd.iter().flatten().any(|cost| *cost > 0.0);
    let points: Vec<Option<(f64, f64)>> = methods
        .iter()
        .map(|method| Some((method.cost(in_usd)?, method.values.first()?.all?.mean)))
        .collect();
    for (method, on_front) in methods.iter_mut().zip(methods_on_front(&points)) {
        method.on_front = on_front;
    }
    Ok(MethodsReport {
        truth: truth.name.clone(),
        against: truth.is_of_judges().then_some(AGAINST_JUDGES),
        notes,
        grades: queries
            .iter()
            .filter_map(|query| truth.qrels.get_key_value(query))
            .map(|(query, grades)| (query.clone(), grades.clone()))
            .collect(),
        queries,
        metrics,
        baseline,
        methods,
        in_usd,
        from_labels: 0,
    })
}

/// The first-stage order of the candidates, which took no calls.
fn original_rows(pools: Vec<(QueryId, Vec<DocId>)>, queries: &[QueryId]) -> Vec<MethodRow> {
    let wanted: BTreeSet<&QueryId> = queries.iter().collect();
    let pools = pools
        .into_iter()
        .filter(|(query, _)| wanted.contains(query));
    let row = |(query, order)| MethodRow {
        query,
        method: ORIGINAL.to_owned(),
        judges: Vec::new(),
        order,
        scores: None,
        calls: 0,
        failed_calls: 0,
        shared_calls: Some(0),
        tokens_in: 0,
        tokens_out: 0,
        cost_usd: Some(0.0),
        wall_ms: None,
        service_ms: 0,
        repairs: 0,
        truncated: 0,
        document_chars: None,
        cut: Some(Vec::new()),
        failure: None,
        created_ms: 0,
    };
    pools.map(row).collect()
}

fn entry(
    name: String,
    rows: Vec<MethodRow>,
    queries: &[QueryId],
    metrics: &[Metric],
    truth: &Truth,
    options: &MethodsOptions,
    how: &Resampling,
) -> Result<MethodEntry, AppError> {
    let judges: BTreeSet<String> = rows.iter().flat_map(|row| row.judges.clone()).collect();
    let measured: HashMap<QueryId, MethodRow> = rows
        .into_iter()
        .filter(|row| queries.binary_search(&row.query).is_ok())
        .map(|row| (row.query.clone(), row))
        .collect();
    let run: Vec<bool> = queries
        .iter()
        .map(|query| measured.contains_key(query))
        .collect();
    let mut entry = MethodEntry {
        name,
        judges: judges.into_iter().collect(),
        effort: MethodEffort::of(measured.values()),
        values: Vec::new(),
        tests: Vec::new(),
        on_front: false,
        self_preference: None,
        rows: measured,
    };
    let found = values(
        entry.orders(queries),
        queries,
        metrics,
        truth,
        options.level,
    )?;
    entry.values = found
        .into_iter()
        .map(|per_query| MethodValues::new(per_query, &run, how))
        .collect();
    Ok(entry)
}

/// Tests all other methods against the one at `base`, metric by metric.
fn test_against(methods: &mut [MethodEntry], base: usize, metrics: usize, how: &Resampling) {
    let Some(baseline) = methods.get(base).map(|method| method.values.clone()) else {
        return;
    };
    for at in 0..metrics {
        let mut tests: Vec<Option<BaselineTest>> = methods
            .iter()
            .enumerate()
            .map(|(place, method)| {
                let (mine, theirs) = method.values.get(at)?.paired(baseline.get(at)?);
                (place != base).then_some(())?;
                Some(BaselineTest {
                    comparison: compare(&mine, &theirs, how)?,
                    randomization_holm: None,
                })
            })
            .collect();
        let randomization: Vec<Option<f64>> = tests
            .iter()
            .map(|test| Some(test.as_ref()?.comparison.randomization_p))
            .collect();
        for (test, corrected) in tests.iter_mut().zip(holm(&randomization)) {
            if let Some(test) = test {
                test.randomization_holm = corrected;
            }
        }
        for (method, test) in methods.iter_mut().zip(tests) {
            method.tests.push(test);
        }
    }
}
