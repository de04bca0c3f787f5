//! Reads and stores prompts, and the results of trials.

use super::configured::configured;
use super::state::{FoundPrompt, OpenReasonings, OpenSet, OpenTrial, PairTitles};
use super::update;
use crate::app::error::{AppError, invalid};
use crate::app::review::pair_description::listed_pairs;
use crate::domain::battle::Pair;
use crate::domain::sanitize;
use crate::features::prompts::app::trial::{
    TrialReading, TrialRequest, TriedPair, look_at, prepare_trial,
};
use crate::features::prompts::app::{
    NewVersion, RegressionSet, RequestPreview, add_version, request_preview, versions,
};
use crate::features::prompts::domain::{PromptVersion, SetPart};
use crate::store::corpus::QueryKey;
use crate::store::{self, Db, Store};
use crate::tui::job::{Job, JobContext, Request, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

const OPEN: Slot = Slot::of(Screen::PROMPT, "prompt");
const PREVIEW: Slot = Slot::of(Screen::PROMPT, "preview");
const TRIAL: Slot = Slot::of(Screen::PROMPT_TRIAL, "trial");
const REASONINGS: Slot = Slot::of(Screen::PROMPT_REASONINGS, "reasonings");
const SET: Slot = Slot::of(Screen::PROMPT_SET, "set");

/// The version with this hash.
fn version_of(store: &Store, hash: &str) -> Result<PromptVersion, AppError> {
    let found = store.read_blocking(|db| versions(db))?;
    let found = found.into_iter().find(|version| version.hash == hash);
    found.ok_or_else(|| invalid!("there is no prompt {:?}", sanitize::line(hash)))
}

/// Reads the prompt of a judge.
#[derive(Debug, PartialEq)]
pub(super) struct OpenPrompt {
    judge: String,
    hash: String,
    /// The pair on screen.
    case: Option<(QueryKey, Pair)>,
}

impl Task for OpenPrompt {
    type Answer = FoundPrompt;

    fn run(self, context: &JobContext) -> Result<FoundPrompt, AppError> {
        let store = context.store();
        let version = version_of(&store, &self.hash)?;
        let case = match self.case {
            Some(case) => Some(case),
            None => first_case(&store)?,
        };
        let setting = format!("prompt of {}", self.judge);
        let changes = store.read_blocking(|db| db.setting_changes())?;
        Ok(FoundPrompt {
            version,
            case,
            is_undoable: changes.iter().any(|change| change.setting == setting),
        })
    }
}

/// A tuning pair, or else the first two documents of the first query that has two.
fn first_case(store: &Store) -> Result<Option<(QueryKey, Pair)>, AppError> {
    let set = RegressionSet::read(store)?;
    let mut tuning = set.pairs.iter();
    if let Some((query, of)) = tuning.find(|(_, of)| of.part() == SetPart::Tuning) {
        return Ok(Some((*query, of.pair)));
    }
    Ok(store.read_blocking(|db| {
        let queries = db.queries()?;
        let first = queries.iter().find(|query| query.documents > 1);
        Ok(first.and_then(|query| Some((query.key, Pair::new(0, 1)?))))
    })?)
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct PreviewRequest {
    judge: String,
    text: String,
    case: (QueryKey, Pair),
}

impl Task for PreviewRequest {
    type Answer = RequestPreview;
    const AFTER_WRITES: bool = false;

    fn run(self, context: &JobContext) -> Result<RequestPreview, AppError> {
        configured(context, |store, configuration| {
            request_preview(store, configuration, &self.judge, &self.text, self.case)
        })
    }
}

/// Stores an edited text as a version.
#[derive(Debug, PartialEq)]
pub(super) struct StoreVersion {
    text: String,
    parent: PromptVersion,
}

impl Task for StoreVersion {
    type Answer = PromptVersion;

    fn run(self, context: &JobContext) -> Result<PromptVersion, AppError> {
        let store = context.store();
        let new = NewVersion {
            text: self.text,
            examples: self.parent.examples.clone(),
            parent: Some(self.parent),
            note: None,
            author: context.annotator().to_owned(),
        };
        let (hash, _) = add_version(&store, new, context.asked_ms)?;
        version_of(&store, &hash)
    }
}

/// Reads the result of a trial from the stored answers. A complete final test is a look.
#[derive(Debug, PartialEq)]
pub(super) struct ReadTrial(TrialRequest);

impl Task for ReadTrial {
    type Answer = OpenTrial;

    fn run(self, context: &JobContext) -> Result<OpenTrial, AppError> {
        let is_final = self.0.part == SetPart::HeldOut;
        configured(context, |store, configuration| {
            let trial = prepare_trial(store, configuration, self.0)?;
            let result = trial.result(store)?;
            let missing = result.missing;
            let is_look = is_final && missing == 0 && result.comparison.pairs > 0;
            let looks = is_look
                .then(|| look_at(store, &trial, &result, context.annotator()))
                .transpose()?;
            let pairs: Vec<(QueryKey, Pair)> = trial
                .cases
                .iter()
                .map(|case| (case.query, case.decided.pair))
                .collect();
            let (titles, tuning) = store.read_blocking(move |db| {
                let queries = db.queries()?;
                let tuning: HashSet<QueryKey> = queries
                    .iter()
                    .filter(|query| SetPart::of(&query.id) == SetPart::Tuning)
                    .map(|query| query.key)
                    .collect();
                Ok((pair_titles(db, &pairs)?, tuning))
            })?;
            Ok(OpenTrial {
                reading: (!is_final || missing == 0).then(|| {
                    Arc::new(TrialReading {
                        trial,
                        result,
                        looks,
                    })
                }),
                missing,
                titles,
                tuning,
            })
        })
    }
}

/// Reads the reasonings about a tried pair.
#[derive(Debug)]
pub(super) struct ReadReasonings {
    reading: Arc<TrialReading>,
    tried: TriedPair,
}

impl PartialEq for ReadReasonings {
    fn eq(&self, other: &Self) -> bool {
        self.tried == other.tried
    }
}

impl Request for ReadReasonings {
    type Answer = OpenReasonings;

    fn answer(self, db: &mut Db, _: &JobContext) -> store::Result<OpenReasonings> {
        let (query, pair) = (self.tried.query, self.tried.decided.pair);
        let found = self.reading.trial.reasonings(db, query, pair)?;
        let mut titles = pair_titles(db, &[(query, pair)])?;
        Ok(OpenReasonings {
            titles: titles.remove(&(query, pair)).unwrap_or_default(),
            query: db.query(query)?.text,
            tried: self.tried,
            found,
        })
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct ReadSet;

impl Task for ReadSet {
    type Answer = OpenSet;

    fn run(self, context: &JobContext) -> Result<OpenSet, AppError> {
        let store = context.store();
        let set = RegressionSet::read(&store)?;
        let pairs: Vec<(QueryKey, Pair)> = set
            .pairs
            .iter()
            .map(|(query, of)| (*query, of.pair))
            .collect();
        let (titles, looks) =
            store.read_blocking(move |db| Ok((pair_titles(db, &pairs)?, db.prompt_looks()?)))?;
        let count = |part| {
            let of_part = set.pairs.iter().filter(|(_, of)| of.part() == part);
            of_part.count()
        };
        Ok(OpenSet {
            parts: [count(SetPart::Tuning), count(SetPart::HeldOut)],
            set,
            titles,
            looks,
        })
    }
}

/// The titles of these pairs' documents.
fn pair_titles(
    db: &Db,
    pairs: &[(QueryKey, Pair)],
) -> store::Result<HashMap<(QueryKey, Pair), PairTitles>> {
    let found = listed_pairs(db, pairs)?.into_iter();
    Ok(found
        .map(|(pair, documents)| (pair, documents.map(|document| document.title)))
        .collect())
}

impl Model {
    /// Reads the prompt with this hash, then edits it.
    pub(super) fn open_prompt(&mut self, hash: String) -> Vec<Effect> {
        let (judge, case) = (self.prompt().judge.clone(), self.prompt().case);
        let job = Job::try_task(
            OpenPrompt { judge, hash, case },
            |model, found| match found {
                Ok(found) => update::opened(model, found),
                Err(error) => {
                    model.prompt_mut().problem = Some(error.to_string());
                    Vec::new()
                }
            },
        );
        vec![job.latest(&mut self.jobs, OPEN).into()]
    }

    /// The request that the screen is to show.
    fn wanted_preview(&self) -> Option<PreviewRequest> {
        let state = self.prompt();
        Some(PreviewRequest {
            judge: state.judge.clone(),
            text: state.draft.clone(),
            case: state.case?,
        })
    }

    /// Computes the request of the draft. While an earlier one is being computed, a person may go on
    /// typing: the latest draft follows when it is done.
    pub(super) fn preview_request(&mut self) -> Vec<Effect> {
        let wanted = self.wanted_preview();
        let Some(request) = wanted.filter(|_| !self.jobs.is_pending(PREVIEW)) else {
            return Vec::new();
        };
        let computed = request.clone();
        let job = Job::try_task(request, move |model, preview| {
            model.prompt_mut().preview = Some(preview.map_err(|error| error.to_string()));
            if model.wanted_preview() == Some(computed) {
                return Vec::new();
            }
            model.preview_request()
        });
        vec![job.latest(&mut self.jobs, PREVIEW).into()]
    }

    pub(super) fn store_version(&mut self, text: String, parent: PromptVersion) -> Vec<Effect> {
        let job = Job::try_task(StoreVersion { text, parent }, |model, stored| {
            update::stored(model, stored);
            Vec::new()
        });
        vec![job.kept().into()]
    }

    /// Reads the trial of the draft. With `asks`, the questions without an answer are offered.
    pub(super) fn read_trial(&mut self, asks: bool) -> Vec<Effect> {
        let job = Job::try_task(ReadTrial(self.prompt().request()), move |model, found| {
            super::trial::found(model, found, asks)
        });
        vec![job.latest(&mut self.jobs, TRIAL).kept().into()]
    }

    pub(super) fn read_reasonings(&mut self) -> Vec<Effect> {
        let state = self.prompt();
        let (Some(reading), Some(tried)) = (state.reading(), state.tried()) else {
            return Vec::new();
        };
        let request = ReadReasonings {
            reading: Arc::clone(reading),
            tried: tried.clone(),
        };
        let job = Job::read(request, |model, found| {
            model.prompt_mut().reasonings = Some(found);
            Vec::new()
        });
        vec![job.latest(&mut self.jobs, REASONINGS).into()]
    }

    pub(super) fn read_prompt_set(&mut self) -> Vec<Effect> {
        let job = Job::task(ReadSet, |model, set| {
            model.prompt_mut().set = Some(set);
            Vec::new()
        });
        vec![job.latest(&mut self.jobs, SET).into()]
    }
}
