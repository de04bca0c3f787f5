//! Question sets over the whole project that are asked outside a run and priced before any call:
//! picks, and those of features.

use super::choose_judges::{JudgeConfiguration, are_paid};
use super::error::AppError;
use super::run_lock::RunLock;
use crate::client::RunControl;
use crate::domain::adjudication::PickMode;
use crate::domain::sanitize;
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use futures::future::BoxFuture;
use std::fmt::Debug;
use std::sync::Arc;
use tokio::sync::watch;

/// A part of the work with batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchStep {
    /// Fetch the batches that have ended, and submit the calls that a run would make.
    Submit,
    /// Fetch the batches that have ended.
    Fetch,
}

/// What judges are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionSet {
    /// Which documents of each pool are relevant, asked of all judges that a run would ask.
    Picks(PickMode),
    /// The questions of a run, through the batch endpoints of the providers.
    Batches(BatchStep),
    /// Questions of a feature, asked of these judges.
    Added(&'static dyn AddedQuestions, Vec<String>),
    /// Questions of a feature that take parameters.
    Given(Arc<dyn AddedQuestions>),
}

impl QuestionSet {
    /// The plural noun for the answers.
    pub fn noun(&self) -> &str {
        match self {
            Self::Picks(_) => "picks",
            Self::Batches(_) => "batches",
            Self::Added(questions, _) => questions.noun(),
            Self::Given(questions) => questions.noun(),
        }
    }

    /// The noun for one of them.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Batches(_) => "call",
            Self::Picks(_) | Self::Added(..) | Self::Given(_) => "answer",
        }
    }

    /// The action that asks them.
    pub fn action(&self) -> &'static str {
        match self {
            Self::Batches(BatchStep::Submit) => "submit",
            Self::Batches(BatchStep::Fetch) => "fetch",
            Self::Picks(_) | Self::Added(..) | Self::Given(_) => "ask the judges",
        }
    }

    /// Describes what is asked of whom.
    pub fn describe(&self) -> String {
        match self {
            Self::Picks(_) | Self::Batches(_) | Self::Given(_) => self.noun().to_owned(),
            Self::Added(_, judges) => {
                format!(
                    "{} of {}",
                    self.noun(),
                    super::text_format::first_names(judges)
                )
            }
        }
    }
}

/// A kind of questions that a feature asks.
pub trait AddedQuestions: Debug + Send + Sync {
    /// The plural noun for the answers.
    fn noun(&self) -> &str;

    /// The noun for an answer that has arrived.
    fn answer_noun(&self) -> &'static str;

    /// Determines the remaining questions to these judges.
    ///
    /// # Errors
    /// A judge cannot be asked, or the project has nothing to ask about.
    fn prepare(
        &self,
        store: &Store,
        configuration: &JudgeConfiguration<'_>,
        judges: &[String],
        seed: u64,
    ) -> Result<Box<dyn PreparedQuestions>, AppError>;
}

impl PartialEq for dyn AddedQuestions {
    fn eq(&self, other: &Self) -> bool {
        self.noun() == other.noun()
    }
}

impl Eq for dyn AddedQuestions {}

/// The questions that a feature offers in one dialog.
#[derive(Debug)]
pub struct QuestionOffer {
    /// The title of the dialog.
    pub title: &'static str,
    /// The questions that these judges can be asked.
    pub choices: fn(&[String]) -> Vec<QuestionChoice>,
}

/// Questions, and the judges to ask together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionChoice {
    pub questions: &'static dyn AddedQuestions,
    pub judges: Vec<String>,
    /// Its name in a list of choices.
    pub name: String,
    /// What these judges are asked.
    pub doc: String,
}

/// The project and the run that asks.
pub struct QuestionSession<'a> {
    pub store: &'a Store,
    /// Held while judges are asked.
    pub lock: Arc<RunLock>,
    pub control: watch::Receiver<RunControl>,
    pub tell: TellProgress<'a>,
}

#[cfg(test)]
impl<'a> QuestionSession<'a> {
    /// A session that locks the project.
    pub fn locking(
        store: &'a Store,
        control: watch::Receiver<RunControl>,
        tell: TellProgress<'a>,
    ) -> Self {
        Self {
            store,
            lock: Arc::new(RunLock::take(store.path()).unwrap()),
            control,
            tell,
        }
    }
}

/// Receives the progress after each answer.
pub type TellProgress<'a> = Box<dyn FnMut(&QuestionSetProgress) + Send + 'a>;

/// The remaining questions of a set, and the judges to ask.
pub trait PreparedQuestions: Send {
    fn price(&self) -> QuestionSetPrice;

    /// Asks the questions. Every answer is in the project before it is reported.
    ///
    /// # Errors
    /// The worst-case cost of a call is unknown although there is a budget, or the project fails.
    fn run(
        self: Box<Self>,
        session: QuestionSession<'_>,
    ) -> BoxFuture<'_, Result<QuestionSetOutcome, AppError>>;
}

/// The effort and cost of asking.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionSetPrice {
    /// The subject, such as "20 pools".
    pub about: String,
    /// Number of questions still to be asked.
    pub calls: usize,
    /// Existing answers, such as "3 answers"; `None` if there are none.
    pub already: Option<String>,
    /// Batches whose votes are fetched first, such as "2 open batches"; `None` if there are none.
    pub pending: Option<String>,
    /// The judges to ask.
    pub judges: Vec<String>,
    /// Expected cost in dollars; `None` if a price is unknown.
    pub expected_usd: Option<f64>,
    /// Worst-case cost in dollars; `None` if a price is unknown.
    pub worst_usd: Option<f64>,
    /// Whether a judge's calls may cost money.
    pub paid: bool,
    /// Notes to the reader.
    pub notes: Vec<String>,
}

impl QuestionSetPrice {
    /// Whether there is nothing to ask and nothing to fetch.
    pub fn is_empty(&self) -> bool {
        self.calls == 0 && self.pending.is_none()
    }

    /// The price of asking these judges nothing.
    pub fn of(ensemble: &JudgeEnsemble) -> Self {
        Self {
            about: String::new(),
            calls: 0,
            already: None,
            pending: None,
            judges: ensemble
                .iter()
                .map(|judge| judge.spec().name.clone())
                .collect(),
            expected_usd: Some(0.0),
            worst_usd: Some(0.0),
            paid: are_paid(ensemble),
            notes: Vec::new(),
        }
    }
}

/// Progress so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuestionSetProgress {
    /// Resolved questions, of those to be asked.
    pub done: usize,
    pub all: usize,
    /// Resolved by unusable answers.
    pub invalid: usize,
    /// Resolved by a call that failed for good.
    pub failed: usize,
}

/// The result of asking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuestionSetOutcome {
    pub progress: QuestionSetProgress,
    /// Ended before every question was resolved, because a person stopped it.
    pub stopped: bool,
    pub budget_reached: bool,
    /// What happened, in addition to the answers.
    pub notes: Vec<String>,
    /// Judges that made no more calls and other obstacles, each with the reason.
    pub troubles: Vec<String>,
}

impl QuestionSetOutcome {
    /// The state before the first of `all` questions is resolved.
    pub fn of(all: usize) -> Self {
        Self {
            progress: QuestionSetProgress {
                all,
                ..QuestionSetProgress::default()
            },
            ..Self::default()
        }
    }

    /// Marks it as ended; `cancelled` says whether a person stopped it.
    #[must_use]
    pub fn ended(mut self, cancelled: bool) -> Self {
        self.stopped = cancelled && self.progress.done < self.progress.all;
        self
    }

    /// Records that a judge makes no more calls.
    pub fn give_up(&mut self, judge: &str, why: &str) {
        self.troubles
            .push(format!("{} stopped: {why}", sanitize::line(judge)));
    }
}
