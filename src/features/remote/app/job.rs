//! The terms of a job, on which all of its workers agree, and its units.

use crate::app::annotate::RunRequest;
use crate::app::error::{AppError, invalid};
use crate::app::import::datasets::CheckedDataset;
use crate::app::merge::PieceTerms;
use crate::app::shared_questions::{TextsHash, judges_term};
use crate::domain::sampling;
use crate::domain::sanitize;
use crate::features::remote::client::{Job, NewUnit, Server};
use crate::features::remote::store::check_query_name;
use crate::judge::{JudgeEnsemble, JudgeSpec};
use crate::registry;
use crate::store::merge::{SharedAnswers, Terms};
use crate::store::{Store, StoreError};
use serde_json::{Map, Value, json};

/// The command of jobs without a command in their terms.
const ANNOTATE: &str = "annotate";

/// A query of the dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedQuery {
    pub name: String,
    /// Number of documents that are judged.
    pub documents: usize,
}

/// The queries of a dataset, and a hash of their names and texts.
pub fn queries(
    dataset: &CheckedDataset,
    depth: Option<usize>,
) -> Result<(Vec<SharedQuery>, String), AppError> {
    let mut hash = TextsHash::default();
    let mut queries = Vec::new();
    for pool in dataset.pools()? {
        hash.add_pool(&pool);
        let documents = pool.documents.len();
        queries.push(SharedQuery {
            name: pool.query.id.to_string(),
            documents: depth.map_or(documents, |limit| limit.min(documents)),
        });
    }
    Ok((queries, hash.end()))
}

/// The terms that decide which calls are made and with which prompts.
///
/// # Errors
/// The plan is adaptive and its prior would be learned from votes: each worker has only a part of
/// them.
pub fn terms(
    store: &Store,
    dataset: &str,
    ensemble: &JudgeEnsemble,
    request: &RunRequest,
) -> Result<Map<String, Value>, AppError> {
    let settings = store.read_blocking(|db| db.settings())?;
    let texts = store.read_blocking(|db| db.project_texts())?;
    if request.campaign.is_some() && settings.learns_prior() {
        return Err(invalid!(
            "an adaptive sampler needs the same prior on all machines: set it with `overrule config \
             project --lambda 0.1`, or use the sampler cycles"
        ));
    }
    if request.campaign.is_some_and(|campaign| campaign.student) {
        return Err(invalid!(
            "rounds that a student helps to choose cannot be shared, since machines may have different \
             students: omit --prior student"
        ));
    }
    let lambda = request.campaign.map(|_| settings.rating().lambda);
    let terms = json!({
        "dataset": dataset,
        "judges": judges_term(ensemble),
        "seed": request.seed,
        "cycles": request.cycles,
        "document-limit": request.depth,
        "probe": request.probe,
        "sampler": request.campaign,
        "lambda": lambda,
        "guideline and notes": [texts.guideline, texts.domain, texts.language],
    });
    match terms {
        Value::Object(terms) => Ok(terms),
        _ => Ok(Map::new()),
    }
}

/// The command of a job with these terms.
fn command(terms: &Terms) -> &str {
    let command = terms.get("command").and_then(Value::as_str);
    command.unwrap_or(ANNOTATE)
}

/// The answers that the workers of a job share.
pub(super) enum JobAnswers {
    /// Votes of these judges.
    Votes(Vec<JudgeSpec>),
    /// Those of another command, under these terms.
    Of(&'static SharedAnswers, Terms),
}

impl JobAnswers {
    /// What pieces about a query may contain.
    pub(super) fn about<'a>(&'a self, name: &'a str) -> PieceTerms<'a> {
        match self {
            Self::Votes(judges) => PieceTerms::Query { name, judges },
            Self::Of(of, terms) => PieceTerms::Answers { name, of, terms },
        }
    }
}

/// The answers of a job.
pub(super) fn job_answers(job: &Job) -> Result<JobAnswers, StoreError> {
    let terms: Terms = serde_json::from_str(&job.terms)?;
    let command = command(&terms);
    if command == ANNOTATE {
        return Ok(JobAnswers::Votes(judges(&terms)?));
    }
    let mut known = registry::SHARED_ANSWERS.iter();
    let known = known.find(|of| of.command == command).ok_or_else(|| {
        StoreError::Conflict(format!(
            "it is a job of `overrule {}`, which this version of Overrule cannot share; update it",
            sanitize::line(command)
        ))
    })?;
    Ok(JobAnswers::Of(known, terms))
}

/// The judges in the terms of a job.
fn judges(terms: &Terms) -> Result<Vec<JudgeSpec>, StoreError> {
    let judges = terms.get("judges").cloned().unwrap_or_default();
    let judges: Vec<[String; 5]> = serde_json::from_value(judges)?;
    let judges = judges.into_iter();
    let judges = judges.map(|[name, provider, model, prompt_hash, params]| JudgeSpec {
        name,
        provider,
        model,
        prompt_hash,
        params,
    });
    Ok(judges.collect())
}

/// The units of a job: parts of each query's plan, or the planning of each query's first round if
/// its pairs are chosen in rounds.
fn units(queries: &[SharedQuery], request: &RunRequest) -> Vec<NewUnit> {
    let of_query = |query: &SharedQuery| {
        if request.campaign.is_some() {
            let planning = (query.documents > 1).then(|| NewUnit::first_round(query.name.clone()));
            return planning.into_iter().collect::<Vec<_>>();
        }
        let unit = |part: i32| NewUnit {
            part: Some(part),
            ..NewUnit::whole(query.name.clone())
        };
        let planned = sampling::plan(request.seed, &query.name, query.documents, request.cycles);
        let parts = 0..sampling::parts(&planned) as i32;
        parts.map(unit).collect()
    };
    queries.iter().flat_map(of_query).collect()
}

/// The job with this name, which is created if there is none. An existing job must have the same
/// terms.
///
/// # Errors
/// The job has other terms, or there is nothing to do.
pub async fn open_job(
    server: &mut Server,
    name: &str,
    terms: &Map<String, Value>,
    budget: Option<i64>,
    queries: &[SharedQuery],
    request: &RunRequest,
) -> Result<Job, AppError> {
    if server.job(name).await?.is_none() {
        let units = units(queries, request);
        if units.is_empty() {
            return Err(invalid!("no query has two documents to compare"));
        }
        create_job(server, name, terms, budget, &units).await?;
    }
    existing_job(server, name, terms, budget).await
}

/// Creates a job.
///
/// # Errors
/// The server cannot store the name of a query.
pub(super) async fn create_job(
    server: &mut Server,
    name: &str,
    terms: &Terms,
    budget: Option<i64>,
    units: &[NewUnit],
) -> Result<(), AppError> {
    for unit in units {
        check_query_name(&unit.query).map_err(|error| AppError::Invalid(error.to_string()))?;
    }
    let terms = serde_json::to_string(terms)?;
    Ok(server.create_job(name, &terms, budget, units).await?)
}

/// The job with this name, which must have these terms.
///
/// # Errors
/// It has other terms, or is one of another command.
pub(super) async fn existing_job(
    server: &Server,
    name: &str,
    terms: &Map<String, Value>,
    budget: Option<i64>,
) -> Result<Job, AppError> {
    let Some(job) = server.job(name).await? else {
        return Err(AppError::Failed(format!(
            "{}: the job {name:?} is gone",
            server.name()
        )));
    };
    if budget.is_some() && job.budget.is_none() {
        return Err(invalid!(
            "the job {:?} has no budget, and a job cannot get one later: name another job with \
             --job, or work without --budget",
            sanitize::line(name)
        ));
    }
    let theirs: Map<String, Value> = serde_json::from_str(&job.terms)?;
    let (command, asked) = (command(&theirs), command(terms));
    if command != asked {
        return Err(invalid!(
            "the job {:?} is one of `overrule {}`: name another job with --job",
            sanitize::line(name),
            sanitize::line(command)
        ));
    }
    // Numbers may change when they are written and read.
    let terms: Map<String, Value> = serde_json::from_str(&serde_json::to_string(terms)?)?;
    let differing: Vec<&str> = terms
        .iter()
        .filter(|(term, value)| theirs.get(*term) != Some(value))
        .map(|(term, _)| term.as_str())
        .collect();
    if !differing.is_empty() {
        return Err(invalid!(
            "the job {:?} has a different {}: use the same dataset, configuration and options as the \
             other workers, or name another job with --job",
            sanitize::line(name),
            differing.join(", a different ")
        ));
    }
    Ok(job)
}
