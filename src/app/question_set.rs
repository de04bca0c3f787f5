//! Questions over the whole project that judges are asked beside a run, and that are priced before anybody is asked: picks, and
//! the anchors and links of a common scale.

use crate::domain::adjudication::PickMode;
use crate::domain::sanitise;

/// What judges are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionSet {
    /// Which documents of each pool are relevant, of all judges that a run would ask.
    Picks(PickMode),
    /// The grade of a few documents of each query, of one judge.
    Anchors(String),
    /// Which of two documents serves its own query better, of these judges.
    Links(Vec<String>),
}

impl QuestionSet {
    /// What the answers are called, in the plural.
    pub fn noun(&self) -> &'static str {
        match self {
            Self::Picks(_) => "picks",
            Self::Anchors(_) => "anchors",
            Self::Links(_) => "links",
        }
    }

    /// What is asked of whom.
    pub fn describe(&self) -> String {
        let judges = match self {
            Self::Picks(_) => return "picks".to_owned(),
            Self::Anchors(judge) => sanitise::line(judge).into_owned(),
            Self::Links(judges) => super::wording::first_names(judges),
        };
        format!("{} of {judges}", self.noun())
    }
}

/// What asking would take.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionSetPrice {
    /// What is asked about, such as "20 pools".
    pub about: String,
    /// Questions that are still to be asked.
    pub calls: usize,
    /// What is in the project already, such as "3 answers"; `None` where nothing is.
    pub already: Option<String>,
    /// Who is asked.
    pub judges: Vec<String>,
    /// Dollars expected; `None` where a price is not known.
    pub expected_usd: Option<f64>,
    /// Dollars at the very most; `None` where a price is not known.
    pub worst_usd: Option<f64>,
    /// Whether a judge's calls may cost money.
    pub paid: bool,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// What has come so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuestionSetProgress {
    /// Questions that are settled, of those that were to be asked.
    pub done: usize,
    pub all: usize,
    /// Settled by answers that cannot be used.
    pub invalid: usize,
    /// Settled by a call that failed for good.
    pub failed: usize,
}

/// How it ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuestionSetOutcome {
    pub progress: QuestionSetProgress,
    /// Ended before every question was settled, because a person stopped it.
    pub stopped: bool,
    pub budget_reached: bool,
    /// Judges that made no more calls, each with why.
    pub given_up: Vec<String>,
}

impl QuestionSetOutcome {
    /// Of so many questions, none of which is settled.
    pub fn of(all: usize) -> Self {
        Self {
            progress: QuestionSetProgress {
                all,
                ..QuestionSetProgress::default()
            },
            ..Self::default()
        }
    }

    /// It is over; `cancelled` says whether a person wanted that.
    #[must_use]
    pub fn ended(mut self, cancelled: bool) -> Self {
        self.stopped = cancelled && self.progress.done < self.progress.all;
        self
    }

    /// A judge makes no more calls.
    pub fn give_up(&mut self, judge: &str, why: &str) {
        self.given_up
            .push(format!("{} stopped: {why}", sanitise::line(judge)));
    }
}
