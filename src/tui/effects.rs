//! Carries out effects, whose results come back as messages.

pub(crate) mod duel;
mod export;
mod import;
mod judges;
pub(crate) mod methods;
mod question_set;
mod queue;
mod runs;
mod settings;
pub(crate) mod student;
mod watch;

use super::message::{Complaint, Effect, Msg};
use super::model::TuiOptions;
use super::model::open_query::OpenQuery;
use super::model::remembered::Remembered;
use crate::app::adjudication::document_evidence::document_evidence;
use crate::app::adjudication::overview::overview;
use crate::app::embedded_reasoning::EmbeddedReasoning;
use crate::app::judge_report::ranking_shift::ranking_without_judge;
use crate::app::log::rows::{LogFilter, log_rows};
use crate::app::review::pair_description::{describe_pair, document_titles, pair_titles};
use crate::app::review::undo::{redone_text, undo_ruling_within, undo_verdict_within};
use crate::app::settings::ProjectSettings;
use crate::client::{RunControl, lock, now_ms};
use crate::features::student::app::naming::StudentChoice;
use crate::judge::JudgeEnsemble;
use crate::judge::provider::calls_in_flight;
use crate::store::corpus::QueryKey;
use crate::store::rulings::NewRuling;
use crate::store::verdicts::NewVerdict;
use crate::store::{Db, Result, Store};
use futures::FutureExt as _;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

#[derive(Debug)]
pub struct Runner {
    store: Store,
    ensemble: JudgeEnsemble,
    options: TuiOptions,
    results: mpsc::Sender<Msg>,
    control: Option<tokio::sync::watch::Sender<RunControl>>,
    /// Number of the latest requested overview, and the lock of the one being computed.
    adjudications: Arc<(AtomicU64, Mutex<()>)>,
    /// Number of times a student was chosen: the latest choice counts, however long the previous
    /// one takes.
    namings: Arc<AtomicU64>,
    /// Number of queue pairs described so far; only the latest request is still needed.
    descriptions: Arc<AtomicU64>,
    /// Controls the questions asked outside a run.
    asking: Option<tokio::sync::watch::Sender<RunControl>>,
    /// Regenerates embedded judges' reasoning; it keeps the latest pool for the next battle.
    reasoning: Arc<Mutex<EmbeddedReasoning>>,
    /// The end of the current run, and its error if there is one.
    end: Option<JoinHandle<Option<String>>>,
    /// A person's decisions that are being written; each yields an error if the screen is gone.
    writes: Vec<JoinHandle<Option<String>>>,
}

/// Maximum number of log entries read; `overrule log` prints all.
pub(crate) const LOGGED: usize = 500;

/// Waits longer than this are announced.
const NOTICE_AFTER: Duration = Duration::from_millis(500);

/// Writes that take longer than this are announced: the disk is slow, or another program holds a
/// lock.
const LONG_WRITE: Duration = Duration::from_secs(1);

/// How long to wait on exit for readers that were told to stop. Those that are computing need
/// longer, and end with the process.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long to wait on an immediate exit for received answers to be written.
const LAST_WRITES: Duration = Duration::from_secs(1);

/// Named in the announcement while a person's decisions, an import or an export are being written.
const WRITING: &str = "what is still being written";

impl Runner {
    pub fn new(
        store: Store,
        ensemble: JudgeEnsemble,
        options: TuiOptions,
        results: mpsc::Sender<Msg>,
    ) -> Self {
        Self {
            store,
            ensemble,
            options,
            results,
            control: None,
            asking: None,
            adjudications: Arc::default(),
            namings: Arc::default(),
            descriptions: Arc::default(),
            reasoning: Arc::default(),
            end: None,
            writes: Vec::new(),
        }
    }

    /// Starts an effect on the project or a run; effects on the terminal are handled by the event
    /// loop.
    pub fn carry_out(&mut self, effect: Effect, control: RunControl) {
        match effect {
            Effect::Start(scope) => self.start(&scope, control),
            Effect::Estimate(scope) => self.estimate(&scope),
            Effect::PricePair(query, pair) => self.price_pair(query, pair, control),
            Effect::Queue(request, generation) => self.queue(request, generation),
            Effect::DescribePair(query, pair, question) => self.describe(query, pair, question),
            Effect::LookAtFiles(wanted, generation) => self.look_at_files(wanted, generation),
            Effect::Export(order, overwrite) => self.export(order, overwrite),
            Effect::StoreSettings(before, after) => self.store_settings(*before, *after),
            Effect::NameStudent(choice) => self.name_student(choice),
            Effect::Import(path) => self.import(&path),
            Effect::MakeProject { source, project } => self.make_project(&source, project),
            Effect::PriceQuestions(set, generation) => self.price_questions(set, generation),
            Effect::AskQuestions(set, calls) => self.ask_questions(set, calls, control),
            Effect::StopQuestions => self.stop_questions(),
            Effect::Watch => self.watch(),
            Effect::ReportJudges(request) => self.report_judges(request),
            Effect::ReadScale(asked) => self.read_scale(asked),
            Effect::CompareMethods(choice) => self.compare_methods(choice),
            Effect::ReportStudent(name, generation, request) => {
                self.report_student(name, generation, request);
            }
            Effect::MakeDuel(request, generation) => self.make_duel(*request, generation),
            effect @ (Effect::Without(_)
            | Effect::LoadDisagreements(..)
            | Effect::LoadDuelResult(_)) => self.answer_apart(effect),
            Effect::Steer(control) => {
                if let Some(sender) = &self.control {
                    sender.send_replace(control);
                }
            }
            Effect::KeepBudget(usd) => {
                self.limit_spending(usd);
                self.ask(effect);
            }
            Effect::Copy(_) | Effect::Suspend | Effect::Redraw | Effect::Quit => {}
            effect => self.ask(effect),
        }
    }

    /// Applies a budget to the current run and questions.
    fn limit_spending(&self, usd: Option<f64>) {
        for control in [&self.control, &self.asking].into_iter().flatten() {
            control.send_modify(|control| control.budget_usd = usd);
        }
    }

    /// Queues an effect for the project immediately, so that a verdict and its undo keep their
    /// order.
    fn ask(&mut self, effect: Effect) {
        let results = self.results.clone();
        let annotator = self.options.annotator.clone();
        let asked_ms = now_ms();
        if let Effect::Summarise(keys) = effect {
            let store = self.store.clone();
            tokio::spawn(async move {
                for key in keys {
                    let msg = match store.summarise(key).await {
                        Ok(summary) => Msg::Summarised(vec![(key, summary)]),
                        Err(error) => Msg::Failed(error.to_string()),
                    };
                    drop(results.send(msg).await);
                }
            });
            return;
        }
        let (writes, complaint) = (effect.writes(), Complaint::of(&effect));
        let reasoning = Arc::clone(&self.reasoning);
        let work = move |db: &mut Db| answer(db, effect, &annotator, asked_ms, &reasoning);
        let mut answered = if writes {
            self.store.write(work).boxed()
        } else {
            self.store.read(work).boxed()
        };
        let told = tokio::spawn(async move {
            let soon = tokio::time::timeout(LONG_WRITE, &mut answered).await;
            if writes && soon.is_err() {
                drop(results.send(Msg::StillWriting).await);
            }
            let answer = match soon {
                Ok(answer) => answer,
                Err(_) => answered.await,
            };
            let (msg, wrong) = match answer {
                Ok(msg) => (msg, None),
                Err(error) => {
                    let (msg, wrong) = complaint.about(&error.to_string());
                    (Some(msg), Some(wrong))
                }
            };
            let told = match msg {
                Some(msg) => results.send(msg).await.is_ok(),
                None => true,
            };
            wrong.filter(|_| !told)
        });
        if writes {
            self.writes.retain(|write| !write.is_finished());
            self.writes.push(told);
        }
    }

    /// Waits for a person's decisions to reach the disk. This comes first, so that nobody who does
    /// not wait for a run loses them. Then stops the current run and waits for its end: its calls
    /// in flight are paid for, and the run limits the wait itself. `tell` receives messages for the
    /// person. Returns false if `insists` completed first.
    pub async fn finish(
        &mut self,
        insists: impl Future<Output = ()>,
        tell: &mut dyn FnMut(&str),
    ) -> bool {
        // The controllers stay, since a run without one drops its calls, and the caller counts the
        // calls in flight.
        for control in [&self.control, &self.asking].into_iter().flatten() {
            control.send_modify(|control| control.cancelled = true);
        }
        let ended = async {
            let mut told = false;
            for write in self.writes.drain(..) {
                let (tell, told) = (&mut *tell, &mut told);
                if let Ok(Some(wrong)) = noticed(write, WRITING, told, tell).await {
                    tell(&wrong);
                }
            }
            if let Some(end) = self.end.take() {
                ended(end, tell).await;
            }
            let written = self.store.write(|_| Ok(()));
            drop(noticed(written, WRITING, &mut told, tell).await);
        };
        tokio::select! {
            () = ended => true,
            () = insists => false,
        }
    }

    /// Closes the project without waiting for readers.
    pub fn close(self) {
        self.store.close(PATIENCE);
    }

    /// Abandons the project, waiting only for received answers to be written.
    pub fn leave(self) {
        self.store.leave(LAST_WRITES);
    }

    /// Computes in the background what takes seconds on a large project.
    fn answer_apart(&self, effect: Effect) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let reasoning = Arc::clone(&self.reasoning);
        let annotator = self.options.annotator.clone();
        let written = self.store.write(|_| Ok(()));
        let adjudications = self.adjudications.clone();
        let wanted = match &effect {
            Effect::LoadDisagreements(_, _, generation) => Some(*generation),
            _ => None,
        };
        if let Some(generation) = wanted {
            adjudications.0.store(generation, Ordering::Relaxed);
        }
        tokio::task::spawn_blocking(move || {
            let _turn = wanted.map(|_| adjudications.1.lock());
            if wanted
                .is_some_and(|generation| adjudications.0.load(Ordering::Relaxed) != generation)
            {
                return;
            }
            // Earlier requests to the project must be included.
            drop(tokio::runtime::Handle::current().block_on(written));
            let found =
                store.read_blocking(move |db| answer(db, effect, &annotator, 0, &reasoning));
            let msg = match found {
                Ok(msg) => msg,
                Err(error) => Some(Msg::Failed(error.to_string())),
            };
            if let Some(msg) = msg {
                drop(results.blocking_send(msg));
            }
        });
    }
}

/// Waits, announcing `what` once if it takes long.
async fn noticed<T>(
    work: impl Future<Output = T>,
    what: &str,
    told: &mut bool,
    tell: &mut dyn FnMut(&str),
) -> T {
    let mut work = pin!(work);
    if let Ok(done) = tokio::time::timeout(NOTICE_AFTER, &mut work).await {
        return done;
    }
    if !std::mem::replace(told, true) {
        tell(&waiting(what));
    }
    work.await
}

fn waiting(what: &str) -> String {
    format!("waiting for {what}; press Ctrl-C again to leave at once")
}

/// Waits for the end of a run, announcing it if it takes long.
async fn ended(mut end: JoinHandle<Option<String>>, tell: &mut dyn FnMut(&str)) {
    let mut result = None;
    if !end.is_finished() {
        match calls_in_flight() {
            0 => {
                let soon = tokio::time::timeout(NOTICE_AFTER, &mut end).await;
                match soon {
                    Ok(ended) => result = Some(ended),
                    Err(_) => tell(&waiting("the run to end")),
                }
            }
            1 => tell(&waiting("1 call in flight")),
            calls => tell(&waiting(&format!("{calls} calls in flight"))),
        }
    }
    let result = match result {
        Some(result) => result,
        None => end.await,
    };
    if let Ok(Some(wrong)) = result {
        tell(&format!("the run stopped: {wrong}"));
    }
}

/// A query without texts and votes.
fn opened(db: &Db, key: QueryKey) -> Result<OpenQuery> {
    let view = db.view(key)?;
    // Prepared here, so that no frame waits for it.
    view.prepare_matrix();
    Ok(OpenQuery {
        info: db.query(key)?,
        documents: db.documents(key)?,
        judges: db.judges_of(key)?,
        view,
        students: db.students_of(key)?,
        people: db.people(key)?,
        texts: HashMap::new(),
        votes: HashMap::new(),
    })
}

/// The project's response to an effect; `None` for effects that do not concern the project.
pub fn answer(
    db: &mut Db,
    effect: Effect,
    annotator: &str,
    now_ms: i64,
    reasoning: &Mutex<EmbeddedReasoning>,
) -> Result<Option<Msg>> {
    Ok(Some(match effect {
        Effect::List => Msg::Listed(db.overview()?),
        Effect::LoadLastRun => Msg::LastRun(db.last_run()?.map(Box::new)),
        Effect::Summarise(keys) => {
            let keys = keys.into_iter();
            Msg::Summarised(
                keys.map(|key| Ok((key, db.cache_summary(key)?)))
                    .collect::<Result<_>>()?,
            )
        }
        Effect::Open(key, generation) => Msg::Opened(generation, Box::new(opened(db, key)?)),
        Effect::Texts(key, documents) => {
            let documents = documents.into_iter();
            Msg::Texts(
                key,
                documents
                    .map(|at| Ok((at, db.document_text(key, at)?)))
                    .collect::<Result<_>>()?,
            )
        }
        Effect::Votes(key, battles, judges) => {
            let mut reasoning = lock(reasoning);
            let votes = battles.into_iter().map(|battle| {
                let votes = reasoning.battle_votes(db, key, battle, &judges)?;
                Ok((battle, votes))
            });
            Msg::Votes(key, votes.collect::<Result<_>>()?)
        }
        Effect::Prefetch(key, documents) => {
            let documents = documents.into_iter();
            Msg::Prefetched(Box::new(OpenQuery {
                texts: documents
                    .map(|at| Ok((at, db.document_text(key, at)?)))
                    .collect::<Result<_>>()?,
                ..opened(db, key)?
            }))
        }
        Effect::PutOff(query, pair, shown) => {
            db.postpone(annotator, query, pair, &shown, now_ms)?;
            return Ok(None);
        }
        Effect::PutOffRuling(query, document) => {
            db.postpone_ruling(annotator, query, &document, now_ms)?;
            return Ok(None);
        }
        Effect::Draft(subject, note) => {
            db.set_draft(annotator, &subject, note.as_deref())?;
            return Ok(None);
        }
        Effect::Queue(request, generation) => queue::queued(db, &request, generation)?,
        Effect::DescribePair(query, pair, question) => {
            Msg::PairDescribed(query, pair, describe_pair(db, query, pair, question)?)
        }
        Effect::ReadPairTitles(pairs) => match pair_titles(db, &pairs) {
            Ok(titles) => Msg::PairTitles(titles),
            Err(error) => Msg::NoPairTitles(pairs, error.to_string()),
        },
        Effect::ReadTitles(documents) => Msg::Titles(document_titles(db, documents)?),
        Effect::KeepBudget(usd) => {
            db.set_project_budget(usd)?;
            return Ok(None);
        }
        Effect::Guideline => Msg::GuidelineLoaded(db.guideline()?),
        Effect::Without(judge) => Msg::Without(judge, ranking_without_judge(db, judge)?),
        Effect::Save(verdict) => {
            let query = verdict.query;
            let before = if verdict.is_first_word() {
                db.own_verdict(&verdict)?
            } else {
                None
            };
            let a = verdict.a;
            db.add_verdict(&NewVerdict {
                created_ms: now_ms,
                ..verdict
            })?;
            match before {
                Some(before) => Msg::SavedAgain(query, before.verdict.seen_from(a)),
                None => Msg::Saved(query),
            }
        }
        Effect::Undo(limit) => Msg::Undone(undo_verdict_within(db, annotator, &limit, now_ms)?),
        Effect::Redo(uid) => match db.redo_verdict(annotator, &uid, now_ms)? {
            None => Msg::Redone(None),
            Some(redone) => {
                let info = db.query(redone.query)?;
                let words = redone_text(db, &redone)?;
                Msg::Redone(Some((redone, info, words)))
            }
        },
        Effect::LookUpContents => Msg::ContentsLookedUp(db.contents()?),
        Effect::ReadSettings => Msg::SettingsRead(
            Box::new(ProjectSettings::read(db)?),
            StudentChoice::read(db)?,
        ),
        Effect::ReadLog => {
            let filter = LogFilter {
                limit: Some(LOGGED),
                ..LogFilter::default()
            };
            Msg::LogRead(log_rows(db, &filter)?)
        }
        Effect::Remember(remembered) => {
            let text = serde_json::to_string(&remembered)?;
            db.remember(&Remembered::name(annotator), &text)?;
            return Ok(None);
        }
        Effect::LoadDisagreements(rule, list, generation) => {
            let overview = overview(db, &rule, list, annotator)?;
            Msg::Disagreements(generation, Box::new(overview))
        }
        Effect::LoadEvidence(query, document) => {
            Msg::Evidence(Box::new(document_evidence(db, query, &document)?))
        }
        Effect::Rule(ruling) => {
            db.add_ruling(&NewRuling {
                created_ms: now_ms,
                ..ruling
            })?;
            Msg::Ruled
        }
        Effect::RedoRuling(uid) => {
            Msg::RulingRedone(db.redo_ruling(annotator, &uid, now_ms)?.map(Box::new))
        }
        Effect::UndoRuling(limit) => {
            Msg::RulingUndone(undo_ruling_within(db, annotator, &limit, now_ms)?)
        }
        effect @ (Effect::OpenDuel(..)
        | Effect::ReadDuelRankings(_)
        | Effect::LoadDuelTexts(..)
        | Effect::RecordDuel(..)
        | Effect::LoadDuelResult(_)) => return duel::answer(db, effect, annotator, now_ms),
        Effect::ReportJudges(_)
        | Effect::CompareMethods(_)
        | Effect::ReadScale(_)
        | Effect::ReportStudent(..)
        | Effect::MakeDuel(..)
        | Effect::LookAtFiles(..)
        | Effect::Import(_)
        | Effect::MakeProject { .. }
        | Effect::PriceQuestions(..)
        | Effect::AskQuestions(..)
        | Effect::StopQuestions
        | Effect::Export(..)
        | Effect::StoreSettings(..)
        | Effect::NameStudent(_)
        | Effect::Start(_)
        | Effect::Estimate(_)
        | Effect::PricePair(..)
        | Effect::Steer(_)
        | Effect::Copy(_)
        | Effect::Suspend
        | Effect::Redraw
        | Effect::Watch
        | Effect::Quit => return Ok(None),
    }))
}
