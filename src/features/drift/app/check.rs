//! Asks a judge about its pairs: twice at the start, and once in each check.

use super::pairs::{choose_pairs, unchanged};
use super::rounds::{Due, REFERENCE_ROUNDS, answer_key, due, latest_set};
use crate::app::annotate::prompt_inputs::check_project;
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::app::frozen_pairs::PoolTexts;
use crate::app::text_format::{counted, moment_words};
use crate::client::call_key::identity_of;
use crate::client::{RunControl, now_ms};
use crate::domain::frozen_pair::FrozenPair;
use crate::domain::sanitize;
use crate::features::drift::store::StoredRound;
use crate::features::methods::app::rerank::estimate::CallVolume;
use crate::features::methods::app::rerank::pair_judge::{AskedPair, ChosenPairJudge, PairJudge};
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::features::prompts::app::RegressionSet;
use crate::store::frozen_sets::FrozenSet;
use crate::store::{Db, Store, StoreError};
use serde::Serialize;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

/// How long an unfinished round is continued: later answers are no answers of the same time.
const ROUND_LASTS: Duration = Duration::from_secs(24 * 3_600);

fn is_over(round: &StoredRound, now: i64) -> bool {
    now - round.created_ms >= ROUND_LASTS.as_millis() as i64
}

/// What is wanted of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckWish {
    pub judge: String,
    /// Number of pairs to choose at the start.
    pub pairs: usize,
    /// Whether to choose pairs and ask for reference answers again.
    pub anew: bool,
    /// Ask only if the judge answers as another model, or with another fingerprint, than before.
    pub only_if_changed: bool,
    /// Ask also if the last round is at least this old.
    pub every: Option<Duration>,
}

/// A prepared check.
#[derive(Clone, Debug)]
pub struct DriftCheck {
    pub judge: PairJudge,
    pub set: FrozenSet,
    pub pairs: Vec<FrozenPair>,
    /// The rounds to ask, with their open questions.
    rounds: Vec<OpenRound>,
    /// Whether the pairs were chosen for this check.
    pub is_start: bool,
    /// Number of answers that the project holds.
    pub known: usize,
    /// Number of pairs whose texts have changed, or are missing.
    pub altered: usize,
    /// Number of pairs that a check does not ask about, because they lack a readable reference
    /// answer.
    pub unreferenced: usize,
    /// Whether a check is due, if it depends on that.
    pub due: Option<Due>,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug)]
struct OpenRound {
    number: usize,
    /// Whether it was started before.
    is_stored: bool,
    /// The questions without an answer, and the keys of their answers.
    questions: Vec<(AskedPair, [u8; 32])>,
}

/// The remaining calls of a check and their cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CheckEstimate {
    pub pairs: usize,
    /// Answers that the project already holds.
    pub known: usize,
    pub expected: CallVolume,
    pub most: CallVolume,
}

/// Reads what a check needs. Changes nothing.
///
/// # Errors
/// The judge cannot be asked, or there is no pair.
pub fn prepare_check(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    wish: &CheckWish,
    author: &str,
) -> Result<DriftCheck, AppError> {
    let ChosenPairJudge {
        judge,
        lacking,
        notes,
    } = PairJudge::choose(configuration, &wish.judge, "always answers the same")?;
    let decided = RegressionSet::read(store)?;
    let shown = sanitize::line(&wish.judge).into_owned();
    let (wish, author) = (wish.clone(), author.to_owned());
    let now = now_ms();
    let check = store
        .read_blocking(move |db| {
            check_project(db, lacking, &[])?;
            Ok(prepared(db, judge, &decided, &wish, &author, now, notes)?
                .filter(|check| !check.pairs.is_empty()))
        })?
        .ok_or_else(|| {
            invalid!(
                "there is no pair to ask {shown} about: it has no votes, and people have decided \
                 no pair blindly; run `overrule annotate` first, or import gold pairs (`overrule \
                 gold import`)"
            )
        })?;
    if check.unreferenced > 0 && check.asked_pairs() == 0 {
        return Err(invalid!(
            "no pair of {shown} has two readable reference answers, so a check could compare \
             nothing; `overrule drift {shown} --ask --anew` asks for reference answers again"
        ));
    }
    Ok(check)
}

/// A set with its rounds, and the questions about the pairs whose texts are as they were.
struct Followed {
    set: FrozenSet,
    pairs: Vec<FrozenPair>,
    rounds: Vec<StoredRound>,
    questions: Vec<AskedPair>,
}

impl Followed {
    fn read(
        db: &Db,
        judge: &PairJudge,
        set: FrozenSet,
        pairs: Vec<FrozenPair>,
    ) -> Result<Self, StoreError> {
        let mut texts = PoolTexts::default();
        let mut questions = Vec::with_capacity(pairs.len());
        for pair in &pairs {
            questions.extend(unchanged(&mut texts, db, judge, pair)?);
        }
        Ok(Self {
            rounds: db.drift_rounds(&set.uid)?,
            set,
            pairs,
            questions,
        })
    }

    /// Whether it was started anew less than a day ago and lacks reference answers.
    fn is_unfinished_restart(
        &self,
        db: &Db,
        judge: &PairJudge,
        now: i64,
    ) -> Result<bool, StoreError> {
        if self.rounds.len() > REFERENCE_ROUNDS
            || self.rounds.iter().any(|round| is_over(round, now))
            || self.pairs.iter().any(|pair| pair.vote.is_some())
        {
            return Ok(false);
        }
        for asked in &self.questions {
            for number in 0..REFERENCE_ROUNDS {
                let key = answer_key(&self.set.uid, number, &judge.key(asked));
                if db.rerank_answer(&key, false)?.is_none() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The questions with two readable reference answers.
    fn referenced(&self, db: &Db, judge: &PairJudge) -> Result<Vec<AskedPair>, StoreError> {
        let mut referenced = Vec::with_capacity(self.questions.len());
        for asked in &self.questions {
            let mut is_referenced = true;
            for number in 0..REFERENCE_ROUNDS {
                let key = answer_key(&self.set.uid, number, &judge.key(asked));
                is_referenced &= db.served_answer(&key)?.is_some();
            }
            if is_referenced {
                referenced.push(asked.clone());
            }
        }
        Ok(referenced)
    }
}

fn prepared(
    db: &Db,
    judge: PairJudge,
    decided: &RegressionSet,
    wish: &CheckWish,
    author: &str,
    now: i64,
    mut notes: Vec<String>,
) -> Result<Option<DriftCheck>, StoreError> {
    let identity = identity_of(judge.judge.spec());
    let mut known = None;
    if let Some(set) = latest_set(db, &wish.judge, Some(&identity))? {
        let pairs = db.drift_pairs(&set.uid)?;
        let followed = Followed::read(db, &judge, set, pairs)?;
        if !wish.anew {
            known = Some(followed);
        } else if followed.is_unfinished_restart(db, &judge, now)? {
            notes.push(format!(
                "the start of {} on {} continues",
                moment_words(followed.set.created_ms),
                counted(followed.pairs.len(), "pair")
            ));
            known = Some(followed);
        }
    } else if !wish.anew && latest_set(db, &wish.judge, None)?.is_some() {
        notes.push(format!(
            "{} has another model, prompt or other parameters than when its pairs were chosen; it \
             starts anew",
            sanitize::line(&wish.judge)
        ));
    }
    let is_start = known.is_none();
    let followed = match known {
        Some(followed) => followed,
        None => {
            let set = FrozenSet {
                uid: Uuid::now_v7().to_string(),
                judge: wish.judge.clone(),
                identity,
                model: judge.judge.spec().model.clone(),
                author: author.to_owned(),
                created_ms: now,
            };
            let pairs = choose_pairs(db, &judge, decided, wish.pairs, !wish.anew)?;
            Followed::read(db, &judge, set, pairs)?
        }
    };
    let referenced = followed.referenced(db, &judge)?;
    let Followed {
        set,
        pairs,
        rounds,
        questions,
    } = followed;
    let mut check = DriftCheck {
        altered: pairs.len() - questions.len(),
        judge,
        set,
        pairs,
        rounds: Vec::new(),
        is_start,
        known: 0,
        unreferenced: 0,
        due: None,
        notes,
    };
    let stored = rounds.len();
    let latest = stored.saturating_sub(1);
    let unfinished: Vec<usize> = match stored {
        0..=REFERENCE_ROUNDS => (0..REFERENCE_ROUNDS).collect(),
        _ => vec![latest],
    };
    for number in unfinished {
        let begun = rounds.get(number);
        let is_over = begun.is_some_and(|round| is_over(round, now));
        let asked = if number < REFERENCE_ROUNDS {
            &questions
        } else {
            &referenced
        };
        let mut round = check.open_round(db, number, begun.is_some(), asked)?;
        if is_over && number < REFERENCE_ROUNDS {
            // Calls that failed stay without an answer; the others were never made.
            let mut untried = Vec::new();
            for (asked, key) in round.questions {
                if !db.has_rerank_call(&key)? {
                    untried.push((asked, key));
                }
            }
            round.questions = untried;
        } else if is_over {
            round.questions.clear();
        }
        check.rounds.push(round);
    }
    // A round that was stopped continues; otherwise, the next one begins.
    if check.rounds.iter().all(|round| round.questions.is_empty()) {
        check.known = 0;
        check.rounds.clear();
        let due = due(db, &check.set, &rounds, now, wish.every)?;
        let is_wanted = !wish.only_if_changed && wish.every.is_none() || due.is_due();
        check.due = (wish.only_if_changed || wish.every.is_some()).then_some(due);
        if is_wanted {
            let round = check.open_round(db, stored, false, &referenced)?;
            check.rounds.push(round);
        }
    }
    if check.rounds.iter().any(|of| of.number >= REFERENCE_ROUNDS) {
        check.unreferenced = questions.len() - referenced.len();
    }
    Ok(Some(check))
}

impl DriftCheck {
    fn open_round(
        &mut self,
        db: &Db,
        number: usize,
        is_stored: bool,
        asked: &[AskedPair],
    ) -> Result<OpenRound, StoreError> {
        let mut questions = Vec::new();
        for pair in asked {
            let key = answer_key(&self.set.uid, number, &self.judge.key(pair));
            // An unreadable answer is an answer: it is paid for, and asked for once.
            if db.rerank_answer(&key, false)?.is_none() {
                questions.push((pair.clone(), key));
            } else {
                self.known += 1;
            }
        }
        Ok(OpenRound {
            number,
            is_stored,
            questions,
        })
    }

    /// Number of calls to make, if none fails.
    pub fn open(&self) -> usize {
        self.rounds.iter().map(|round| round.questions.len()).sum()
    }

    /// Number of pairs that the check is about.
    fn asked_pairs(&self) -> usize {
        self.pairs.len() - self.altered - self.unreferenced
    }

    pub fn estimate(&self) -> CheckEstimate {
        let of_rounds = self.rounds.iter().map(|round| {
            let asked: Vec<&AskedPair> = round.questions.iter().map(|(asked, _)| asked).collect();
            self.judge.estimate(&asked)
        });
        let (expected, most): (Vec<CallVolume>, Vec<CallVolume>) = of_rounds.unzip();
        CheckEstimate {
            pairs: self.asked_pairs(),
            known: self.known,
            expected: expected.into_iter().sum(),
            most: most.into_iter().sum(),
        }
    }

    /// Stores the pairs and the rounds, so that a check that is stopped can be continued.
    pub fn begin(&self, store: &Store, author: &str) -> Result<(), AppError> {
        let (set, pairs, author) = (self.set.clone(), self.pairs.clone(), author.to_owned());
        let new: Vec<usize> = self
            .rounds
            .iter()
            .filter(|round| !round.is_stored)
            .map(|round| round.number)
            .collect();
        Ok(store.write_blocking(move |db| {
            db.add_drift_set(&set, &pairs)?;
            for number in new {
                let round = StoredRound {
                    number,
                    author: author.clone(),
                    created_ms: now_ms(),
                };
                db.add_drift_round(&set.uid, &round)?;
            }
            Ok(())
        })?)
    }

    /// Asks the questions that have no stored answer. Returns how many are left without one.
    pub async fn ask(
        &self,
        store: &Store,
        control: watch::Receiver<RunControl>,
        events: mpsc::UnboundedSender<RerankEvent>,
    ) -> Result<usize, AppError> {
        let rounds = self.rounds.iter();
        let questions: Vec<(AskedPair, [u8; 32])> =
            rounds.flat_map(|round| round.questions.clone()).collect();
        let answers = self
            .judge
            .ask_keyed(store, questions, control, &events)
            .await?;
        Ok(answers.iter().filter(|answer| answer.is_none()).count())
    }
}
