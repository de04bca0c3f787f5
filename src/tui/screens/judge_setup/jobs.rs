//! Looks for judges, makes test calls, and writes the file.

use super::state::{Outlook, TestState};
use crate::app::annotate::estimate::CostEstimate;
use crate::app::annotate::judge_history::set_aside;
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::AppError;
use crate::app::init::FilePrompts;
use crate::app::init::discovery::look_around;
use crate::app::init::setup::{Candidate, JudgeSetup, folder_of};
use crate::app::judge_check::{TestCall, test_call};
use crate::judge::JudgeSpec;
use crate::judge::ensemble::JudgeConfig;
use crate::tui::job::{Job, JobContext, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;
use crate::tui::widgets::toast::Level;

const FOUND: Slot = Slot::of(Screen::JUDGE_SETUP, "found");
const OUTLOOK: Slot = Slot::of(Screen::JUDGE_SETUP, "outlook");
const TEST: Slot = Slot::of(Screen::JUDGE_SETUP, "test");
/// The file that is being written, also after the screen was left.
const SAVE: Slot = Slot::shared("judges of the project");

/// Works with the configuration of the open project, using only permissions that were given.
fn configured<T>(
    context: &JobContext,
    work: impl FnOnce(&JudgeConfiguration<'_>) -> Result<T, AppError>,
) -> Result<T, AppError> {
    let (store, config) = (context.store(), &context.options().config);
    work(&JudgeConfiguration {
        project: store.path(),
        config,
        insecure_http: false,
        consent: &config.permissions,
    })
}

/// A runtime for the calls of one task.
fn runtime() -> Result<tokio::runtime::Runtime, AppError> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?)
}

#[derive(Debug, PartialEq)]
pub(super) struct LookAround;

impl Task for LookAround {
    type Answer = JudgeSetup;
    const AFTER_WRITES: bool = false;

    fn run(self, context: &JobContext) -> Result<JudgeSetup, AppError> {
        configured(context, |configuration| {
            let folder = folder_of(configuration.project);
            let keys = &configuration.config.keys;
            let found = runtime()?.block_on(look_around(folder, keys, Vec::new()))?;
            let prompts = context
                .store()
                .read_blocking(|db| FilePrompts::of_project(db))?;
            JudgeSetup::read(configuration, &found, prompts)
        })
    }
}

/// One question to one judge.
#[derive(Debug, PartialEq)]
pub(super) struct TestJudge {
    candidate: Candidate,
    /// The spending limit of the project in dollars.
    limit_usd: Option<f64>,
}

impl Task for TestJudge {
    type Answer = TestCall;
    const AFTER_WRITES: bool = false;
    const IN_TURN: bool = false;

    fn run(self, context: &JobContext) -> Result<TestCall, AppError> {
        configured(context, |configuration| {
            let judge = JudgeSetup::judge(configuration, &self.candidate)?;
            let store = context.store();
            Ok(runtime()?.block_on(test_call(&store, judge.as_ref(), self.limit_usd)))
        })
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct LookAhead(JudgeSetup);

impl Task for LookAhead {
    type Answer = Outlook;
    const AFTER_WRITES: bool = false;

    fn run(self, context: &JobContext) -> Result<Outlook, AppError> {
        let (ensemble, missing) =
            configured(context, |configuration| self.0.ensemble(configuration))?;
        let specs: Vec<JudgeSpec> = ensemble.iter().map(|judge| judge.spec().clone()).collect();
        let store = context.store();
        let estimate = CostEstimate::of_project(&store, &ensemble, &context.options().request)?;
        let set_aside = store.read_blocking(move |db| set_aside(db, &specs, None))?;
        Ok(Outlook {
            estimate,
            set_aside,
            missing,
        })
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct SaveJudges(JudgeSetup);

impl Task for SaveJudges {
    type Answer = String;
    const AFTER_WRITES: bool = false;

    fn run(self, context: &JobContext) -> Result<String, AppError> {
        self.0.save()?;
        Ok(context.store().path().to_string_lossy().into_owned())
    }
}

impl Model {
    pub(super) fn look_around(&mut self) -> Vec<Effect> {
        let job = Job::try_task(LookAround, |model, found| {
            match found {
                Ok(setup) => {
                    model.judge_setup_mut().setup = Some(Box::new(setup));
                }
                Err(error) => model.judge_setup_mut().problem = Some(error.to_string()),
            }
            model.look_ahead()
        });
        vec![job.latest(&mut self.jobs, FOUND).into()]
    }

    /// Calls the judge under the cursor once.
    pub(super) fn test_judge(&mut self) -> Vec<Effect> {
        let state = self.judge_setup();
        let (at, Some(candidate)) = (state.cursor, state.selected().cloned()) else {
            return Vec::new();
        };
        let calling = TestState::Calling;
        self.judge_setup_mut().tests.insert(at, calling);
        let asked = candidate.config.clone();
        let request = TestJudge {
            candidate,
            limit_usd: self.run.control.budget_usd,
        };
        let job = Job::try_task(request, move |model, answer| {
            let answer = answer.unwrap_or_else(|error| TestCall::failed(&error.to_string()));
            let state = model.judge_setup_mut();
            // Its name and its number of calls do not change the answer.
            let is_same = |setup: &JudgeSetup| {
                setup.candidates.get(at).is_some_and(|now| {
                    let asked = JudgeConfig {
                        name: now.config.name.clone(),
                        concurrency: now.config.concurrency,
                        ..asked.clone()
                    };
                    now.config == asked
                })
            };
            if state.setup.as_deref().is_some_and(is_same) {
                state.tests.insert(at, TestState::Answered(answer));
            }
            Vec::new()
        });
        vec![job.part_of(&mut self.jobs, TEST).into()]
    }

    /// The judges were found or edited: computes the cost of asking the chosen ones, and which
    /// votes would be set aside.
    pub(super) fn look_ahead(&mut self) -> Vec<Effect> {
        let state = self.judge_setup_mut();
        state.outlook = None;
        state.is_changed = state.setup.as_ref().is_some_and(|setup| setup.is_changed());
        let setup = self.judge_setup().setup.clone();
        let Some(setup) = setup.filter(|setup| setup.chosen().next().is_some()) else {
            self.jobs.cancel(OUTLOOK);
            return Vec::new();
        };
        let job = Job::try_task(LookAhead(*setup), |model, outlook| {
            match outlook {
                Ok(outlook) => model.judge_setup_mut().outlook = Some(outlook),
                Err(error) => model.say(Level::Error, &error.to_string()),
            }
            Vec::new()
        });
        vec![job.latest(&mut self.jobs, OUTLOOK).into()]
    }

    /// Writes the file, and opens the project again with its judges unless the person has left the
    /// screen in the meantime.
    pub(super) fn save_judges(&mut self) -> Vec<Effect> {
        let Some(setup) = self.judge_setup().setup.clone() else {
            return Vec::new();
        };
        self.judge_setup_mut().is_saving = true;
        let job = Job::try_task(SaveJudges(*setup), |model, saved| {
            let is_waiting = std::mem::take(&mut model.judge_setup_mut().is_saving);
            match saved {
                Ok(project) if is_waiting => {
                    model.next_project = Some(project);
                    return vec![Effect::Quit];
                }
                Ok(_) => model.inform(
                    "the judges are saved; they are asked after the project is opened again",
                ),
                Err(error) => model.say(Level::Error, &error.to_string()),
            }
            Vec::new()
        });
        vec![job.kept().latest(&mut self.jobs, SAVE).into()]
    }
}
