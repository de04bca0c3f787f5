//! Samples of judged pairs: drawn, written, and read back for the export.

use super::judged_pairs::JudgedPairs;
use crate::app::error::{AppError, FileProblems, invalid};
use crate::app::input_files::{display_name, open};
use crate::domain::battle::Pair;
use crate::domain::corpus::DocId;
use crate::domain::student::sample::{PairSample, SampleQuery, SampleRequest, SampledPair, sample};
use crate::formats::problem::Problem;
use crate::formats::safe_json;
use crate::formats::student_sample::{SampleLine, SampleSide, read_sample};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::path::Path;

/// A drawn sample with what it is of.
#[derive(Clone, Debug)]
pub struct DrawnSample {
    pub lines: Vec<SampleLine>,
    /// Queries with a pair to learn from, and with one to test on.
    pub train_queries: usize,
    pub test_queries: usize,
    /// The fewest and the most pairs of a query that has some.
    pub pairs_a_query: (usize, usize),
}

/// Draws a sample from the judged pairs of a project.
pub fn draw_sample(store: &Store, request: SampleRequest) -> Result<DrawnSample, AppError> {
    let judged = all_judged(store)?;
    let mut numbers: HashMap<&DocId, usize> = HashMap::new();
    let queries = judged.queries.iter().map(|query| {
        let documents = query.documents.iter().map(|id| {
            let next = numbers.len();
            *numbers.entry(id).or_insert(next)
        });
        SampleQuery {
            documents: documents.collect(),
            pairs: Some(query.pairs.iter().map(|target| target.pair).collect()),
        }
    });
    let queries: Vec<SampleQuery> = queries.collect();
    let drawn = sample(&queries, request).map_err(|refusal| invalid!("{refusal}"))?;
    Ok(DrawnSample::new(&drawn, &judged))
}

/// The judged pairs of all queries.
pub(super) fn all_judged(store: &Store) -> Result<JudgedPairs, AppError> {
    let keys: Vec<QueryKey> = store
        .read_blocking(|db| db.queries())?
        .into_iter()
        .map(|query| query.key)
        .collect();
    let judged = JudgedPairs::read(store, &keys)?;
    match judged.len() {
        0 => Err(invalid!(
            "no pair of the project is judged; `overrule annotate` has pairs judged"
        )),
        _ => Ok(judged),
    }
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
        let queries = |side: &[SampledPair]| {
            let queries: BTreeSet<usize> = side.iter().map(|one| one.query).collect();
            queries.len()
        };
        Self {
            lines: train.chain(test).collect(),
            train_queries: queries(&drawn.train),
            test_queries: queries(&drawn.test),
            pairs_a_query: (
                counts.values().copied().min().unwrap_or_default(),
                counts.values().copied().max().unwrap_or_default(),
            ),
        }
    }

    /// Writes a line a pair.
    pub fn write(&self, out: &mut dyn Write) -> Result<(), AppError> {
        for line in &self.lines {
            safe_json::write_line(out, line)?;
        }
        Ok(())
    }
}

/// The pairs of a sample by their places in the project.
pub(super) type SamplePlaces = BTreeMap<(usize, Pair), SampleSide>;

/// Reads a sample that was written before; every pair has to be judged still.
pub(super) fn read_places(path: &Path, judged: &JudgedPairs) -> Result<SamplePlaces, AppError> {
    let name = display_name(path);
    let mut problems = FileProblems::of(path);
    let mut places = SamplePlaces::new();
    for line in read_sample(open(path)?, &name) {
        let Some((number, line)) = problems.keep(line) else {
            continue;
        };
        let mut wrong = |what: &str| problems.add(Problem::new(&name, Some(number), what));
        let found = judged.find(&line.query, &line.a, &line.b);
        let place = found.and_then(|(query, a, b)| Some((query, Pair::new(a, b)?)));
        match place {
            None => wrong("the project does not have this query with these two documents"),
            Some((query, pair)) if judged.target(query, pair).is_none() => {
                wrong("the pair is not judged");
            }
            Some(place) => {
                if places.insert(place, line.side).is_some() {
                    wrong("the pair is there twice; keep one of the two");
                }
            }
        }
    }
    problems.refuse_any()?;
    match places.is_empty() {
        true => Err(AppError::file(path, "holds no pair")),
        false => Ok(places),
    }
}
