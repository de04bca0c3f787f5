//! Samples of pairs: draws them from judged pairs or plans new ones, writes them, and reads them
//! back for the export and for a run.

use super::judged_pairs::{JudgedPairs, JudgedQuery};
use crate::app::annotate::estimate::CostEstimate;
use crate::app::annotate::{ListedBattles, RunRequest, check_judges};
use crate::app::error::{AppError, FileProblems, invalid};
use crate::app::input_files::{display_name, open};
use crate::domain::battle::Pair;
use crate::domain::corpus::DocId;
use crate::features::student::domain::sample::{
    AllowedPairs, PairSample, SampleQuery, SampleRequest, SampledPair, sample,
};
use crate::features::student::formats::sample::{SampleLine, SampleSide, read_sample};
use crate::formats::problem::Problem;
use crate::formats::safe_json;
use crate::judge::{JudgeEnsemble, JudgeSpec};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// A sample with its statistics.
#[derive(Clone, Debug)]
pub struct DrawnSample {
    pub lines: Vec<SampleLine>,
    /// Number of queries with a training pair, and with a test pair.
    pub train_queries: usize,
    pub test_queries: usize,
    /// Number of queries with both.
    pub both_queries: usize,
    /// Minimum and maximum number of pairs per query, over queries with any.
    pub pairs_a_query: (usize, usize),
}

/// Draws a sample from the judged pairs of a project.
pub fn draw_sample(store: &Store, request: SampleRequest) -> Result<DrawnSample, AppError> {
    let judged = all_judged(store)?;
    let allowed = |query: &JudgedQuery| {
        let pairs = query.pairs.iter().map(|target| target.pair);
        AllowedPairs::Listed(pairs.collect())
    };
    draw(&judged, usize::MAX, allowed, request)
}

fn draw(
    judged: &JudgedPairs,
    depth: usize,
    allowed: impl Fn(&JudgedQuery) -> AllowedPairs,
    request: SampleRequest,
) -> Result<DrawnSample, AppError> {
    let mut numbers: HashMap<&DocId, usize> = HashMap::new();
    let queries = judged.queries.iter().map(|query| {
        let documents = query.documents.iter().take(depth).map(|id| {
            let next = numbers.len();
            *numbers.entry(id).or_insert(next)
        });
        SampleQuery {
            documents: documents.collect(),
            pairs: allowed(query),
        }
    });
    let queries: Vec<SampleQuery> = queries.collect();
    let drawn = sample(&queries, request).map_err(|refusal| invalid!("{refusal}"))?;
    Ok(DrawnSample::new(&drawn, judged))
}

/// New battles for judges: a sample of unjudged pairs, and the cost of judging them.
#[derive(Clone, Debug)]
pub struct SamplePlan {
    pub drawn: DrawnSample,
    /// The request of the run that judges them.
    pub request: RunRequest,
    pub estimate: CostEstimate,
}

/// Plans a sample of unjudged pairs; `usual` is how the project is usually run. Changes nothing.
///
/// # Errors
/// There are not enough pairs, or a query's votes come from other judges.
pub fn plan_sample(
    store: &Store,
    request: SampleRequest,
    ensemble: &JudgeEnsemble,
    usual: &RunRequest,
) -> Result<SamplePlan, AppError> {
    let keys = store.read_blocking(|db| db.runnable_queries())?;
    check_all(store, &keys, ensemble)?;
    let judged = JudgedPairs::read(store, &keys)?;
    let depth = usual.depth.unwrap_or(usize::MAX);
    let allowed = |query: &JudgedQuery| {
        let fought = query.pairs.iter().map(|target| target.pair);
        let fought: BTreeSet<Pair> = fought.filter(|pair| pair.high() < depth).collect();
        if fought.is_empty() {
            AllowedPairs::All
        } else {
            AllowedPairs::AllBut(fought)
        }
    };
    let drawn = draw(&judged, depth, allowed, request)?;
    let listed: Vec<(usize, Pair)> = drawn
        .lines
        .iter()
        .filter_map(|line| {
            let (query, a, b) = judged.find(&line.query, &line.a, &line.b)?;
            Some((query, Pair::new(a, b)?))
        })
        .collect();
    let request = run_request(&keys, &judged, listed.into_iter(), usual);
    let mut estimate = CostEstimate::of_project(store, ensemble, &request)?;
    estimate.recall_times(store)?;
    Ok(SamplePlan {
        drawn,
        request,
        estimate,
    })
}

/// The request of a run that judges only the pairs of a sample.
///
/// # Errors
/// The file is not a sample, names something that the project does not have, or a query's votes
/// come from other judges.
pub fn sample_request(
    store: &Store,
    path: &Path,
    ensemble: &JudgeEnsemble,
    usual: &RunRequest,
) -> Result<RunRequest, AppError> {
    let keys = store.read_blocking(|db| db.runnable_queries())?;
    let judged = JudgedPairs::read(store, &keys)?;
    let places = read_pairs(path, &judged, |_, _| true)?;
    let request = run_request(&keys, &judged, places.into_keys(), usual);
    check_all(
        store,
        request.queries.as_deref().unwrap_or_default(),
        ensemble,
    )?;
    Ok(request)
}

fn run_request(
    keys: &[QueryKey],
    judged: &JudgedPairs,
    pairs: impl Iterator<Item = (usize, Pair)>,
    usual: &RunRequest,
) -> RunRequest {
    let pairs: BTreeSet<(usize, Pair)> = pairs.collect();
    let queries: BTreeSet<usize> = pairs.iter().map(|(query, _)| *query).collect();
    let named = pairs.into_iter();
    let named = named.filter_map(|(at, pair)| Some((judged.queries.get(at)?.id.clone(), pair)));
    RunRequest {
        listed: Some(Arc::new(ListedBattles::new(named))),
        queries: Some(
            queries
                .into_iter()
                .filter_map(|at| keys.get(at).copied())
                .collect(),
        ),
        probe: 0,
        ..usual.clone()
    }
}

/// Rejects what the run would reject.
fn check_all(store: &Store, keys: &[QueryKey], ensemble: &JudgeEnsemble) -> Result<(), AppError> {
    let specs: Vec<JudgeSpec> = ensemble.iter().map(|judge| judge.spec().clone()).collect();
    let keys = keys.to_vec();
    Ok(store.read_blocking(move |db| {
        let asked = db.known_judges(&specs)?;
        keys.into_iter()
            .try_for_each(|key| check_judges(db, key, &asked))
    })?)
}

/// The judged pairs of all queries.
pub(super) fn all_judged(store: &Store) -> Result<JudgedPairs, AppError> {
    let judged = judged_pairs(store, None)?;
    match judged.len() {
        0 => Err(none_judged()),
        _ => Ok(judged),
    }
}

pub(super) fn none_judged() -> AppError {
    invalid!("no pair of the project is judged; run `overrule annotate` first")
}

/// The judged pairs of one query or of all; there may be none.
pub(super) fn judged_pairs(
    store: &Store,
    scope: Option<QueryKey>,
) -> Result<JudgedPairs, AppError> {
    let keys: Vec<QueryKey> = match scope {
        Some(key) => vec![key],
        None => {
            let queries = store.read_blocking(|db| db.query_names())?;
            queries.into_iter().map(|(key, _)| key).collect()
        }
    };
    JudgedPairs::read(store, &keys)
}

impl DrawnSample {
    fn new(drawn: &PairSample, judged: &JudgedPairs) -> Self {
        let line = |one: &SampledPair, side| {
            let query = judged.queries.get(one.query)?;
            Some(SampleLine {
                query: query.id.clone(),
                a: query.documents.get(one.pair.low())?.clone(),
                b: query.documents.get(one.pair.high())?.clone(),
                side,
            })
        };
        let train = drawn.train.iter();
        let train = train.filter_map(|one| line(one, SampleSide::Train));
        let test = drawn.test.iter();
        let test = test.filter_map(|one| line(one, SampleSide::Test));
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for one in drawn.train.iter().chain(&drawn.test) {
            *counts.entry(one.query).or_default() += 1;
        }
        let queries = |side: &[SampledPair]| -> BTreeSet<usize> {
            side.iter().map(|one| one.query).collect()
        };
        let (train_queries, test_queries) = (queries(&drawn.train), queries(&drawn.test));
        Self {
            lines: train.chain(test).collect(),
            train_queries: train_queries.len(),
            test_queries: test_queries.len(),
            both_queries: train_queries.intersection(&test_queries).count(),
            pairs_a_query: (
                counts.values().copied().min().unwrap_or_default(),
                counts.values().copied().max().unwrap_or_default(),
            ),
        }
    }

    /// Writes one line per pair.
    pub fn write(&self, out: &mut dyn Write) -> Result<(), AppError> {
        for line in &self.lines {
            safe_json::write_line(out, line)?;
        }
        Ok(())
    }
}

/// The pairs of a sample by their indices in the project.
pub(super) type SamplePlaces = BTreeMap<(usize, Pair), SampleSide>;

/// Reads a stored sample; every pair must be judged.
pub(super) fn read_places(path: &Path, judged: &JudgedPairs) -> Result<SamplePlaces, AppError> {
    read_pairs(path, judged, |query, pair| {
        judged.target(query, pair).is_some()
    })
}

fn read_pairs(
    path: &Path,
    judged: &JudgedPairs,
    is_ready: impl Fn(usize, Pair) -> bool,
) -> Result<SamplePlaces, AppError> {
    let name = display_name(path);
    let mut problems = FileProblems::of(path);
    let mut places = SamplePlaces::new();
    for line in read_sample(open(path)?, &name) {
        let Some((number, line)) = problems.keep(line) else {
            continue;
        };
        let mut wrong = |what: &str| problems.add(Problem::new(&name, Some(number), what));
        let place = judged
            .find(&line.query, &line.a, &line.b)
            .and_then(|(query, a, b)| Some((query, Pair::new(a, b)?)));
        match place {
            None => wrong("the project does not have this query with these two documents"),
            Some((query, pair)) if !is_ready(query, pair) => {
                wrong(
                    "the pair is not judged; `overrule annotate --sample` judges the pairs of a \
                     sample",
                );
            }
            Some(place) => {
                if places.insert(place, line.side).is_some() {
                    wrong("the pair occurs twice; keep one of the two");
                }
            }
        }
    }
    problems.refuse_any()?;
    if places.is_empty() {
        Err(AppError::file(path, "contains no pairs"))
    } else {
        Ok(places)
    }
}
