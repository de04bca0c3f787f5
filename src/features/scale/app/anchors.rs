//! Anchors: the documents of each query whose grades calibrate scores across queries, and the
//! judges' grades for them.

use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::app::scored_pools::{ScoreSource, ScoredPool, Unfitted, fitted_pools};
use crate::app::text_format::counted;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::Qrels;
use crate::domain::sanitize;
use crate::features::methods::app::rerank::{PreparedRun, prepare_anchors};
use crate::features::scale::domain::{anchor_places, more_anchor_places};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The highest grade that judges give to anchors.
const HIGHEST: f64 = 3.0;

/// A document to be graded.
#[derive(Clone, Debug, PartialEq)]
pub struct AnchorDocument {
    pub query: QueryId,
    pub document: DocId,
    /// Rank by zELO, from 1.
    pub rank: usize,
}

/// The keys of all queries of a project.
pub(super) fn all_queries(store: &Store) -> Result<Vec<QueryKey>, AppError> {
    let queries = store.read_blocking(|db| db.queries())?;
    Ok(queries.into_iter().map(|query| query.key).collect())
}

/// Selects `count` documents of each query, spread over its zELO ranking.
pub fn anchors(store: &Store, count: usize) -> Result<Vec<AnchorDocument>, AppError> {
    let (pools, _) = fitted_pools(store, &all_queries(store)?, ScoreSource::Project)?;
    let mut found = Vec::new();
    for pool in pools {
        let ranking = pool.ranking();
        for place in anchor_places(ranking.len(), count) {
            found.extend(ranking.get(place).map(|(document, _)| AnchorDocument {
                query: pool.query.clone(),
                document: document.clone(),
                rank: place + 1,
            }));
        }
    }
    if found.is_empty() {
        Err(unscored())
    } else {
        Ok(found)
    }
}

fn unscored() -> AppError {
    invalid!("no document has a zELO score; run `overrule annotate` first")
}

/// Prepares the run in which `judge` grades `count` anchors of each query, or of the named queries.
/// Documents that the judge has already graded stay anchors, even if the ranking has changed; more
/// are added only if there are too few.
///
/// # Errors
/// No document has a score, a query does not exist, or the judge cannot be asked for grades.
pub fn prepare_anchor_run(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    judge: &str,
    count: usize,
    named: &[String],
    retry_failed: bool,
) -> Result<PreparedRun, AppError> {
    let mut keys = all_queries(store)?;
    if !named.is_empty() {
        let wanted = named.to_vec();
        let wanted = store.read_blocking(move |db| {
            let keys = wanted.iter().map(|name| db.find_query(name));
            keys.collect::<Result<HashSet<QueryKey>, _>>()
        })?;
        keys.retain(|key| wanted.contains(key));
    }
    let (pools, unfitted) = fitted_pools(store, &keys, ScoreSource::Project)?;
    let mut known = Qrels::new();
    for (query, grades) in grades_by_setting(store)?
        .remove(judge)
        .into_iter()
        .flatten()
        .flat_map(|of| of.grades)
    {
        known.entry(query).or_default().extend(grades);
    }
    let mut chosen: HashMap<QueryKey, Vec<DocId>> = HashMap::new();
    let mut bare = 0;
    for (key, pool) in keys.iter().zip(&pools) {
        let documents = documents_of(pool, count, &known);
        if documents.is_empty() {
            bare += 1
        } else {
            drop(chosen.insert(*key, documents))
        }
    }
    if chosen.is_empty() {
        return Err(unscored());
    }
    let mut prepared = prepare_anchors(store, configuration, judge, &chosen, retry_failed)?;
    prepared.notes.extend(Unfitted::note(&unfitted));
    let bare = bare - unfitted.len();
    if bare > 0 {
        prepared.notes.push(format!(
            "skipped {} without a zELO score; run `overrule annotate` to have them judged",
            counted(bare, "query")
        ));
    }
    prepared.notes.extend(own_vendor(&pools, judge));
    Ok(prepared)
}

/// A judge that also judged the battles makes the same errors in both.
fn own_vendor(pools: &[ScoredPool], judge: &str) -> Option<String> {
    let fought = pools
        .iter()
        .any(|pool| pool.judges.iter().any(|name| name == judge));
    fought.then(|| {
        format!(
            "{} judged the battles too: the errors of a judge from another vendor are more \
             independent",
            sanitize::line(judge)
        )
    })
}

/// The documents of a query to grade: existing anchors, and more if there are too few.
fn documents_of(pool: &ScoredPool, count: usize, known: &Qrels) -> Vec<DocId> {
    let ranking = pool.ranking();
    let known = known.get(&pool.query);
    let is_known = |document: &DocId| known.is_some_and(|known| known.contains_key(document));
    let have: Vec<usize> = (0..ranking.len())
        .filter(|at| is_known(&ranking[*at].0))
        .collect();
    let mut places = more_anchor_places(ranking.len(), count, &have);
    places.extend(have);
    places.sort_unstable();
    places
        .into_iter()
        .filter_map(|place| ranking.get(place))
        .map(|(document, _)| document.clone())
        .collect()
}

/// A judge's grades of anchors, 0 to 3, under one model, prompt and parameters.
#[derive(Debug, Default)]
struct SettingGrades {
    grades: Qrels,
    /// Time of the last one in milliseconds since the Unix epoch.
    latest_ms: i64,
}

/// A judge's grades of anchors, 0 to 3, and the number of further grades under another model,
/// prompt or parameters.
#[derive(Debug)]
pub(super) struct StoredGrades {
    pub(super) grades: Qrels,
    pub(super) others: usize,
}

/// The judges' grades of anchors, by judge: those under the model, prompt and parameters with which
/// it graded the most queries, or the latest of these if there are several. A document whose
/// grading failed has no grade.
pub(super) fn stored_grades(store: &Store) -> Result<BTreeMap<String, StoredGrades>, AppError> {
    let given = |grades: &Qrels| -> usize { grades.values().map(BTreeMap::len).sum() };
    let counted = grades_by_setting(store)?
        .into_iter()
        .filter_map(|(judge, settings)| {
            let all: usize = settings.iter().map(|of| given(&of.grades)).sum();
            let most = settings.into_iter();
            let most = most.max_by_key(|of| (of.grades.len(), of.latest_ms))?;
            let grades = StoredGrades {
                others: all - given(&most.grades),
                grades: most.grades,
            };
            Some((judge, grades))
        });
    Ok(counted.collect())
}

/// All grades of anchors, by judge and then by the judge's settings.
fn grades_by_setting(store: &Store) -> Result<BTreeMap<String, Vec<SettingGrades>>, AppError> {
    let mut settings: BTreeMap<(String, String), SettingGrades> = BTreeMap::new();
    for result in store.read_blocking(|db| db.anchor_results())? {
        let row = result.row;
        let Some(judge) = row.judges.into_iter().next() else {
            continue;
        };
        let scores = row.scores.unwrap_or_default();
        let graded = row.order.into_iter().zip(scores);
        let graded = graded
            .filter_map(|(document, share)| Some((document, (HIGHEST * share?).round() as i32)));
        let of_setting = settings.entry((judge, row.method)).or_default();
        let of_query = of_setting.grades.entry(row.query).or_default();
        of_query.extend(graded);
        of_setting.latest_ms = of_setting.latest_ms.max(row.created_ms);
    }
    let mut grades: BTreeMap<String, Vec<SettingGrades>> = BTreeMap::new();
    for ((judge, _), of_setting) in settings {
        grades.entry(judge).or_default().push(of_setting);
    }
    Ok(grades)
}
