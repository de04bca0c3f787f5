//! Detects methods that are evaluated against their own judges, and ranks them without those
//! judges' votes.

use super::measure::{MethodsOptions, metrics, values};
use super::report::MethodsReport;
use crate::app::error::{AppError, invalid};
use crate::app::scored_pools::{ScoredPool, student_in_scores};
use crate::app::truth::{GradeBasis, Truth, zelo_truth};
use crate::domain::metrics::{MeanEstimate, Qrels};
use crate::store::Store;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Warns of methods whose judges are those of the truth, and ranks them without those judges'
/// votes.
pub(super) fn ranks_without_own_votes(
    store: &Store,
    truth: &Truth,
    options: &MethodsOptions,
    report: &mut MethodsReport,
) -> Result<(), AppError> {
    if !truth.is_of_judges() {
        return Ok(());
    }
    report.notes.push(format!(
        "zELO was judged by {}; nobody else has confirmed the order",
        truth.judges.join(", ")
    ));
    let means: Vec<Option<f64>> = report
        .methods
        .iter()
        .map(|method| mean(method.values.first()?.all))
        .collect();
    // Methods with the same judges are evaluated against the same remaining ones.
    let mut means_without: HashMap<Vec<String>, Option<Vec<Option<f64>>>> = HashMap::new();
    for at in 0..report.methods.len() {
        let own: Vec<String> = match report.methods.get(at) {
            Some(method) => {
                let judges = method.judges.iter();
                judges
                    .filter(|name| truth.judges.contains(name))
                    .cloned()
                    .collect()
            }
            None => continue,
        };
        let Some(with) = rank(&means, at).filter(|_| !own.is_empty()) else {
            continue;
        };
        let without = match means_without.entry(own.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                place.insert(means_without_judges(store, &own, options, report)?)
            }
        };
        let without = without.as_ref().and_then(|means| rank(means, at));
        let name = report
            .methods
            .get(at)
            .map_or("", |method| method.name.as_str());
        report.notes.push(format!(
            "{name} asked {}, which judged the truth too, and looks better than it is: rank {with} \
             of {}, without its votes {}",
            own.join(", "),
            report.methods.len(),
            without.map_or_else(|| "–".to_owned(), |rank| rank.to_string())
        ));
        if let Some(method) = report.methods.get_mut(at) {
            method.self_preference = Some((with, without));
        }
    }
    Ok(())
}

/// The mean of the first metric for each method, evaluated without the votes of these judges;
/// `None` if no other judge has voted.
fn means_without_judges(
    store: &Store,
    own: &[String],
    options: &MethodsOptions,
    report: &MethodsReport,
) -> Result<Option<Vec<Option<f64>>>, AppError> {
    let keys = store.read_blocking(|db| db.queries())?;
    let keys: Vec<_> = keys.into_iter().map(|query| query.key).collect();
    let student = student_in_scores(store, &keys)?;
    let mut pools = Vec::with_capacity(keys.len());
    store.read_each(
        &keys,
        |db, key| {
            let ids = db.documents(key)?.into_iter().map(|document| document.id);
            Ok((
                db.query(key)?.id,
                ids.collect::<Vec<_>>(),
                db.scores_without(key, own)?,
            ))
        },
        |_, (query, ids, scores)| {
            let scores = scores.map_err(|error| invalid!("query {:?}: {error}", query.as_str()))?;
            pools.push(ScoredPool {
                query,
                documents: ids.into_iter().zip(scores).collect(),
                judges: Vec::new(),
                student: student.clone(),
            });
            Ok::<(), AppError>(())
        },
    )?;
    // Without other judges, there is nothing to rank by.
    let Ok(truth) = zelo_truth(&pools, &Qrels::new(), GradeBasis::Auto, None) else {
        return Ok(None);
    };
    let first = metrics(options.depth)?;
    let first = first.get(..1).unwrap_or_default();
    let mut means = Vec::new();
    for method in &report.methods {
        let found = values(
            method.orders(&report.queries),
            &report.queries,
            first,
            &truth,
            options.level,
        )?;
        let found: Vec<f64> = found.into_iter().flatten().flatten().collect();
        let mean = found.iter().sum::<f64>() / method.effort.queries.max(1) as f64;
        means.push((!found.is_empty()).then_some(mean));
    }
    Ok(Some(means))
}

fn mean(estimate: Option<MeanEstimate>) -> Option<f64> {
    estimate.map(|estimate| estimate.mean)
}

/// The rank of one of several means, where 1 is the largest.
fn rank(means: &[Option<f64>], at: usize) -> Option<usize> {
    let own = means.get(at).copied().flatten()?;
    let above = means.iter().flatten();
    Some(
        1 + above
            .filter(|other| other.total_cmp(&own) == Ordering::Greater)
            .count(),
    )
}
