//! Prices runs and questions.

use crate::app::annotate::estimate::CostEstimate;
use crate::app::annotate::pair_question::PricedQuestion;
use crate::app::error::AppError;
use crate::app::question_set::{QuestionSet, QuestionSetPrice};
use crate::domain::battle::Pair;
use crate::judge::JudgeEnsemble;
use crate::store::corpus::QueryKey;
use crate::tui::effects::question_set::prepare;
use crate::tui::effects::runs::run_request;
use crate::tui::job::{Job, JobContext, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::run::RunScope;
use crate::tui::screens::run;
use crate::tui::slot::Slot;
use crate::tui::update::question_set;

/// The cost of the run that a person wants to start.
const ESTIMATE: Slot = Slot::shared("cost of a run");
/// The cost of what is missing, on the run's screen.
const NEXT: Slot = Slot::shared("cost of what is missing");
/// The cost of a question that a person wants to ask about a pair.
const QUESTION: Slot = Slot::shared("cost of a question");
/// The cost of a question about the pair on screen.
const PRICE: Slot = Slot::shared("price on screen");
/// The prices of the options in a dialog.
const OPTIONS: Slot = Slot::shared("prices of options");

/// Computes the cost of a run.
#[derive(Debug, PartialEq)]
pub(crate) struct Estimate(pub(crate) RunScope);

impl Task for Estimate {
    type Answer = CostEstimate;
    const AFTER_WRITES: bool = false;

    fn run(self, context: &JobContext) -> Result<CostEstimate, AppError> {
        let usual = &context.options().request;
        let (ensemble, request) = run_request(&self.0, context.ensemble(), usual);
        let estimate = CostEstimate::of_project(&context.store(), &ensemble, &request);
        estimate.map_err(AppError::failed)
    }
}

/// Computes the cost of a question about a pair; judges that a person has dropped are not asked.
#[derive(Debug, PartialEq)]
pub(crate) struct PricePair(pub(crate) QueryKey, pub(crate) Pair);

impl Task for PricePair {
    type Answer = Box<PricedQuestion>;
    const AFTER_WRITES: bool = false;

    fn run(self, context: &JobContext) -> Result<Self::Answer, AppError> {
        let Self(query, pair) = self;
        let ensemble: JudgeEnsemble = (0..)
            .zip(context.ensemble())
            .filter(|(at, _)| !context.control.dropped.contains(*at))
            .map(|(_, judge)| judge.clone())
            .collect();
        let usual = &context.options().request;
        PricedQuestion::of(&context.store(), (query, pair), &ensemble, usual).map(Box::new)
    }
}

/// Computes the price of these questions.
#[derive(Debug, PartialEq)]
pub(crate) struct PriceQuestions(pub(crate) QuestionSet);

impl Task for PriceQuestions {
    type Answer = QuestionSetPrice;
    const AFTER_WRITES: bool = false;
    /// No price of a dialog supersedes another.
    const IN_TURN: bool = false;

    fn run(self, context: &JobContext) -> Result<Self::Answer, AppError> {
        prepare(
            &context.store(),
            context.ensemble(),
            context.options(),
            &self.0,
        )
        .map(|prepared| prepared.price())
    }
}

impl Model {
    pub(crate) fn estimate(&mut self, scope: RunScope) -> Effect {
        Job::task(Estimate(scope), |model, estimate| {
            run::update::ask_to_start(model, &estimate)
        })
        .latest(&mut self.jobs, ESTIMATE)
        .into()
    }

    /// Requests the cost of what a run would ask now.
    pub(crate) fn price_next_run(&mut self) -> Effect {
        Job::try_task(Estimate(RunScope::Project), |model, estimate| {
            model.run.next = Some(estimate.map(Box::new).map_err(|error| error.to_string()));
            Vec::new()
        })
        .latest(&mut self.jobs, NEXT)
        .into()
    }

    /// Requests the price of a question that is asked once the price is known.
    pub(crate) fn price_question(&mut self, query: QueryKey, pair: Pair) -> Effect {
        Job::try_task(PricePair(query, pair), move |model, priced| {
            run::ask_pair::priced(model, query, pair, priced)
        })
        .latest(&mut self.jobs, QUESTION)
        .into()
    }

    /// Requests the price of a question about the pair on screen.
    pub(crate) fn price_pair(&mut self, query: QueryKey, pair: Pair) -> Effect {
        Job::try_task(PricePair(query, pair), move |model, priced| {
            run::ask_pair::show_price(model, query, pair, &priced);
            Vec::new()
        })
        .latest(&mut self.jobs, PRICE)
        .into()
    }

    /// The options of a dialog that was closed are no longer of interest.
    pub(crate) fn forget_prices(&mut self) {
        self.jobs.cancel(OPTIONS);
    }

    pub(crate) fn price_questions(&mut self, set: QuestionSet) -> Effect {
        let asked = set.clone();
        Job::try_task(PriceQuestions(set), move |model, price| {
            question_set::priced(model, &asked, price);
            Vec::new()
        })
        .part_of(&mut self.jobs, OPTIONS)
        .into()
    }
}
