//! Question sets over the whole project that are asked outside a run and priced before any call:
//! picks, and the anchors and links for calibrating scores across queries.

use crate::domain::adjudication::PickMode;
use crate::domain::sanitise;

/// What judges are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionSet {
    /// Which documents of each pool are relevant, asked of all judges that a run would ask.
    Picks(PickMode),
    /// The grade of a few documents of each query, asked of one judge.
    Anchors(String),
    /// Which of two documents serves its own query better, asked of these judges.
    Links(Vec<String>),
}

impl QuestionSet {
    /// The plural noun for the answers.
    pub fn noun(&self) -> &'static str {
        match self {
            Self::Picks(_) => "picks",
            Self::Anchors(_) => "anchors",
            Self::Links(_) => "links",
        }
    }

    /// Describes what is asked of whom.
    pub fn describe(&self) -> String {
        let judges = match self {
            Self::Picks(_) => return "picks".to_owned(),
            Self::Anchors(judge) => sanitise::line(judge).into_owned(),
            Self::Links(judges) => super::text_format::first_names(judges),
        };
        format!("{} of {judges}", self.noun())
    }
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
    /// Judges that made no more calls, each with the reason.
    pub given_up: Vec<String>,
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
        self.given_up
            .push(format!("{} stopped: {why}", sanitise::line(judge)));
    }
}
