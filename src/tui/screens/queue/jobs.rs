//! Computes a queue and describes its pairs.

use super::update;
use crate::app::error::AppError;
use crate::app::review::annotator_statistics::{AnnotatorStatistics, annotator_statistics};
use crate::app::review::pair_description::{
    ListedPair, PairDescription, PairQuestion, describe_pair, listed_pairs,
};
use crate::app::review::review_queue::{
    QueueItem, QueueRequest, build_review_queue, judged_conflicts,
};
use crate::domain::battle::Pair;
use crate::registry::{AcceptanceOffer, acceptance_offer, start_acceptance};
use crate::store::assignments::NewAssignment;
use crate::store::corpus::QueryKey;
use crate::store::{self, Db};
use crate::tui::job::{Job, JobContext, Request, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;
use crate::tui::widgets::toast::Level;
use std::collections::HashMap;

const QUEUE: Slot = Slot::of(Screen::QUEUE, "queue");
const ACCEPTANCE: Slot = Slot::of(Screen::QUEUE, "acceptance");
const DESCRIPTION: Slot = Slot::of(Screen::QUEUE, "description");

/// Number of queries between two reports of how many a queue is waiting for.
const TOLD_EVERY: usize = 50;

/// Computes a queue, with stale numbers recomputed on all cores.
#[derive(Debug, PartialEq)]
pub(crate) struct BuildQueue {
    request: QueueRequest,
    /// Number of its first pairs that are read with their titles.
    page: usize,
}

#[derive(Debug, Default)]
pub(crate) struct BuiltQueue {
    items: Vec<QueueItem>,
    /// The statistics so far.
    statistics: AnnotatorStatistics,
    /// The titles of the pairs on the first page.
    titles: HashMap<(QueryKey, Pair), ListedPair>,
}

impl Task for BuildQueue {
    type Answer = BuiltQueue;

    fn run(self, context: &JobContext) -> Result<Self::Answer, AppError> {
        let (Self { request, page }, store) = (self, context.store());
        store.refresh_priorities(&mut |left| {
            if left % TOLD_EVERY == 0 {
                context.tell(move |model| {
                    model.queue.waits_for = Some(left);
                    Vec::new()
                });
            }
        })?;
        let queue = move |db: &mut Db| {
            let mut statistics = annotator_statistics(db, &request.annotator, request.scope)?;
            if request.conflicts {
                statistics.conflicts = judged_conflicts(db, &request.annotator, request.scope)?;
            }
            let items = build_review_queue(db, &request)?;
            let first = items.iter().take(page);
            let first: Vec<_> = first.map(|item| (item.query, item.pair)).collect();
            Ok(BuiltQueue {
                // The screen asks for missing ones, and reports why they cannot be read.
                titles: listed_pairs(db, &first).unwrap_or_default(),
                items,
                statistics,
            })
        };
        Ok(store.read_blocking(queue)?)
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct DescribePair {
    query: QueryKey,
    pub(super) pair: Pair,
    pub(super) question: PairQuestion,
}

impl Request for DescribePair {
    type Answer = PairDescription;

    fn answer(self, db: &mut Db, _: &JobContext) -> store::Result<PairDescription> {
        describe_pair(db, self.query, self.pair, self.question)
    }
}

/// Reads the titles and the metadata for a page of the queue.
#[derive(Debug, PartialEq)]
pub(crate) struct ReadPairTitles(pub(super) Vec<(QueryKey, Pair)>);

impl Request for ReadPairTitles {
    type Answer = HashMap<(QueryKey, Pair), ListedPair>;

    fn answer(self, db: &mut Db, _: &JobContext) -> store::Result<Self::Answer> {
        listed_pairs(db, &self.0)
    }
}

/// Moves a pair to the end of the queue.
#[derive(Debug, PartialEq)]
pub(crate) struct PostponePair {
    query: QueryKey,
    pair: Pair,
    shown: NewAssignment,
}

impl Request for PostponePair {
    type Answer = ();

    fn answer(self, db: &mut Db, context: &JobContext) -> store::Result<()> {
        let (by, now) = (context.annotator(), context.asked_ms);
        db.postpone(by, self.query, self.pair, &self.shown, now)
    }
}

/// Reads the acceptance of the project, and counts the battles of a new one.
#[derive(Debug, PartialEq)]
pub(crate) struct ReadAcceptance;

impl Task for ReadAcceptance {
    type Answer = AcceptanceOffer;

    fn run(self, context: &JobContext) -> Result<Self::Answer, AppError> {
        acceptance_offer(&context.store())
    }
}

/// Starts an acceptance with this seed.
#[derive(Debug, PartialEq)]
pub(crate) struct StartAcceptance(u64);

impl Task for StartAcceptance {
    type Answer = ();

    fn run(self, context: &JobContext) -> Result<(), AppError> {
        let (by, now) = (context.annotator(), context.asked_ms);
        start_acceptance(&context.store(), by, self.0, now)
    }
}

impl Model {
    pub(super) fn read_acceptance(&mut self) -> Effect {
        self.inform("reading the votes …");
        Job::task(ReadAcceptance, |model, offer| {
            model.toast = None;
            update::offered(model, offer)
        })
        .latest(&mut self.jobs, ACCEPTANCE)
        .into()
    }

    pub(super) fn start_acceptance(&mut self) -> Effect {
        let start = StartAcceptance(self.options.request.seed);
        Job::task(start, |model, ()| {
            model.inform("alpha is fixed and the controls are drawn: rule on them first");
            update::show_accept(model)
        })
        .into()
    }

    /// Requests the queue that is chosen now.
    pub(crate) fn build_queue(&mut self) -> Vec<Effect> {
        let filter = self.queue.filter.trim();
        let only = (!filter.is_empty()).then(|| self.queries.matching_keys(filter, None));
        self.queue.narrowed = only.is_some();
        let within = self.queue.within.clone();
        let only = match (only, within) {
            (Some(only), Some(within)) => Some(&only & &within),
            (only, within) => only.or(within),
        };
        let request = QueueRequest {
            policy: self.queue.policy,
            scope: self.queue.scope,
            only,
            annotator: self.options.annotator.clone(),
            seed: self.options.request.seed,
            limit: super::LISTED,
            against: self.queue.against,
            conflicts: self.queue.conflicts,
            gold: self.options.judging.gold,
            overlap: self.options.judging.overlap,
        };
        // A new list starts at its first page. Its titles come with it, so that it takes one frame.
        let page = if self.queue.loaded {
            0
        } else {
            self.areas.page.max(update::PAGE)
        };
        let then = |model: &mut Model, built: BuiltQueue| {
            let titles = built.titles.into_iter();
            let titles = titles.map(|(pair, titles)| (pair, Some(titles)));
            model.queue.titles.extend(titles);
            update::queued(model, built.items, built.statistics)
        };
        let job = Job::task(BuildQueue { request, page }, then).or_else(|model, error| {
            let why = error.to_string();
            model.say(Level::Error, &why);
            model.queue.failed = Some(why);
            Vec::new()
        });
        vec![job.latest(&mut self.jobs, QUEUE).into()]
    }

    /// Requests a description, for the lines about the selected item.
    pub(crate) fn describe_pair(
        &mut self,
        query: QueryKey,
        pair: Pair,
        question: PairQuestion,
    ) -> Effect {
        self.queue.described = Some((query, pair, None));
        let request = DescribePair {
            query,
            pair,
            question,
        };
        Job::read(request, move |model, found| {
            model.queue.described = Some((query, pair, Some(found)));
            Vec::new()
        })
        .latest(&mut self.jobs, DESCRIPTION)
        .into()
    }

    pub(crate) fn read_pair_titles(&mut self, wanted: Vec<(QueryKey, Pair)>) -> Effect {
        for pair in &wanted {
            self.queue.titles.insert(*pair, None);
        }
        let asked = wanted.clone();
        Job::read(ReadPairTitles(wanted), |model, titles| {
            let titles = titles.into_iter().map(|(pair, found)| (pair, Some(found)));
            model.queue.titles.extend(titles);
            Vec::new()
        })
        .or_else(move |model, error| {
            for pair in asked {
                model.queue.titles.remove(&pair);
            }
            model.say(Level::Error, &error.to_string());
            Vec::new()
        })
        .into()
    }

    pub(crate) fn postpone_pair(
        &mut self,
        query: QueryKey,
        pair: Pair,
        shown: NewAssignment,
    ) -> Effect {
        let request = PostponePair { query, pair, shown };
        Job::write(request, |_, ()| Vec::new()).into()
    }
}
