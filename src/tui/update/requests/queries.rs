//! Reads the list of queries, and what belongs to the open query.

use crate::app::annotate::judge_history::set_aside;
use crate::app::error::AppError;
use crate::domain::common_scale::ProjectScale;
use crate::judge::JudgeSpec;
use crate::registry::project_scale;
use crate::store::corpus::{QueryInfo, QueryKey};
use crate::store::last_run::LastRun;
use crate::store::summary_cache::QuerySummary;
use crate::store::{Db, Result};
use crate::tui::job::{Job, JobContext, Request, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::model::votes::CurrentVotes;
use crate::tui::requests::{ReadTexts, read_query};
use crate::tui::screens::queries;
use crate::tui::slot::Slot;
use crate::tui::update::results;

/// The list of queries.
const LIST: Slot = Slot::shared("list");
/// The open query.
const OPEN: Slot = Slot::shared("open query");
/// The query that will be needed next.
const AHEAD: Slot = Slot::shared("prefetched query");
/// The common scale of the queries.
const SCALE: Slot = Slot::shared("scale");
const LAST_RUN: Slot = Slot::shared("last run");
/// The recomputed summary of one query.
const SUMMARY: Slot = Slot::shared("summary");

#[derive(Debug, PartialEq)]
pub(crate) struct ListQueries;

impl Request for ListQueries {
    type Answer = (Vec<(QueryInfo, Option<QuerySummary>)>, CurrentVotes);

    fn answer(self, db: &mut Db, context: &JobContext) -> Result<Self::Answer> {
        let specs: Vec<JudgeSpec> = context
            .ensemble()
            .iter()
            .map(|judge| judge.spec().clone())
            .collect();
        let votes = CurrentVotes {
            counting: db.judges_in_force()?,
            set_aside: set_aside(db, &specs, None)?,
        };
        Ok((db.overview()?, votes))
    }
}

/// Recomputes stale summaries on all cores.
#[derive(Debug, PartialEq)]
pub(crate) struct Summarize {
    pub(crate) keys: Vec<QueryKey>,
    /// Whether the numbers have just changed, so that earlier answers are superseded.
    anew: bool,
}

impl Task for Summarize {
    type Answer = ();
    const AFTER_WRITES: bool = false;

    fn run(self, context: &JobContext) -> std::result::Result<(), AppError> {
        let Self { keys, anew } = self;
        context.store().summarize_all(&keys, |key, summary| {
            context.tell(move |model| {
                let superseded = !anew && model.jobs.is_pending(SUMMARY.keyed(key.0));
                queries::update::summarized(model, key, Some(summary).filter(|_| !superseded))
            });
            true
        })?;
        Ok(())
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct ReadScale;

impl Task for ReadScale {
    type Answer = Option<ProjectScale>;

    fn run(self, context: &JobContext) -> std::result::Result<Self::Answer, AppError> {
        project_scale(&context.store())
    }
}

/// Reads the summary of the latest run.
#[derive(Debug, PartialEq)]
pub(crate) struct ReadLastRun;

impl Request for ReadLastRun {
    type Answer = Option<LastRun>;

    fn answer(self, db: &mut Db, _: &JobContext) -> Result<Self::Answer> {
        db.last_run()
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct ReadQuery(QueryKey);

impl Request for ReadQuery {
    type Answer = OpenQuery;

    fn answer(self, db: &mut Db, _: &JobContext) -> Result<OpenQuery> {
        read_query(db, self.0)
    }
}

/// Reads a query with some of its texts before it is needed.
#[derive(Debug, PartialEq)]
pub(crate) struct Prefetch(QueryKey, Vec<usize>);

impl Request for Prefetch {
    type Answer = OpenQuery;

    fn answer(self, db: &mut Db, context: &JobContext) -> Result<OpenQuery> {
        let Self(key, documents) = self;
        let texts = ReadTexts { key, documents }.answer(db, context)?;
        Ok(OpenQuery {
            texts: texts.into_iter().collect(),
            ..read_query(db, key)?
        })
    }
}

impl Model {
    /// Requests the list of queries.
    pub fn list(&mut self) -> Effect {
        let then = |model: &mut Self, (rows, votes)| {
            model.votes = votes;
            queries::update::listed(model, rows)
        };
        Job::read(ListQueries, then)
            .latest(&mut self.jobs, LIST)
            .into()
    }

    /// Whether the list of queries was requested.
    pub(crate) fn is_listing(&self) -> bool {
        self.jobs.is_pending(LIST)
    }

    /// Whether the open query was requested.
    pub(crate) fn is_opening(&self) -> bool {
        self.jobs.is_pending(OPEN)
    }

    /// Requests the summaries of rows that are stale.
    pub(crate) fn summarize(&mut self, keys: Vec<QueryKey>) -> Effect {
        let request = Summarize { keys, anew: false };
        Job::task(request, |_, ()| Vec::new()).into()
    }

    /// Requests the summary of a query whose numbers have just changed.
    pub(crate) fn summarize_anew(&mut self, key: QueryKey) -> Vec<Effect> {
        self.queries.put_summary(key, None);
        self.queries.asked.remove(&key);
        let keys = vec![key];
        let job = Job::task(Summarize { keys, anew: true }, |_, ()| Vec::new());
        vec![job.latest(&mut self.jobs, SUMMARY.keyed(key.0)).into()]
    }

    /// Requests the common scale of the queries.
    pub(crate) fn read_scale(&mut self) -> Effect {
        let then = |model: &mut Self, found: Option<ProjectScale>| {
            model.scale.found = found.map(Box::new);
            Vec::new()
        };
        Job::task(ReadScale, then)
            .latest(&mut self.jobs, SCALE)
            .into()
    }

    /// Requests the summary of the latest run.
    pub(crate) fn read_last_run(&mut self) -> Effect {
        let then = |model: &mut Self, run: Option<LastRun>| {
            model.run.last = Some(run.map(Box::new));
            Vec::new()
        };
        Job::read(ReadLastRun, then)
            .latest(&mut self.jobs, LAST_RUN)
            .into()
    }

    /// Requests a query and closes the open one.
    pub(crate) fn open_query(&mut self, key: QueryKey) -> Vec<Effect> {
        if self.open.as_ref().is_none_or(|open| open.info.key != key) {
            self.open = None;
            self.matrix.cursor = Default::default();
            self.matrix.zoom = None;
            self.matrix.layer = Default::default();
            self.matrix.surprise = None;
            self.matrix.slice = None;
            self.matrix.colors = None;
            self.battle.before = None;
        }
        if let Some(open) = self.prefetched.take_if(|open| open.info.key == key) {
            self.jobs.cancel(OPEN);
            return results::opened(self, open);
        }
        self.ask_for(key)
    }

    pub(crate) fn reload(&mut self) -> Vec<Effect> {
        match self.open.as_ref().map(|open| open.info.key) {
            Some(key) => self.ask_for(key),
            None => Vec::new(),
        }
    }

    /// A verdict was given: pending answers were computed without it and must not be shown.
    pub(crate) fn overtake(&mut self) {
        self.jobs.cancel(OPEN);
    }

    fn ask_for(&mut self, key: QueryKey) -> Vec<Effect> {
        self.loaded = self.now;
        let job = Job::read(ReadQuery(key), results::opened);
        vec![job.latest(&mut self.jobs, OPEN).into()]
    }

    /// Requests a query that will be needed next.
    pub(crate) fn prefetch(&mut self, key: QueryKey, documents: Vec<usize>) -> Effect {
        let then = |model: &mut Self, open: OpenQuery| {
            let now = model.open.as_ref();
            if now.is_none_or(|now| now.info.key != open.info.key) {
                model.prefetched = Some(open);
            }
            Vec::new()
        };
        Job::read(Prefetch(key, documents), then)
            .latest(&mut self.jobs, AHEAD)
            .into()
    }

    /// Verdicts have changed, so data that was loaded ahead is stale.
    pub(crate) fn forget_prefetched(&mut self) {
        self.jobs.cancel(AHEAD);
        self.prefetched = None;
    }
}
