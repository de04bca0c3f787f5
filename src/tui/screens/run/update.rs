//! Starting, controlling and ending a run.

use super::begin::{begin, money_words};
use super::{ask_pair, begin, view};
use crate::app::annotate::estimate::CostEstimate;
use crate::app::annotate::progress::{JudgeProgress, RunProgress};
use crate::app::annotate::{RunError, RunOutcome};
use crate::domain::sanitize;
use crate::store::corpus::QueryKey;
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::run::{ALL_VOTES, RunEnd, RunScope};
use crate::tui::model::{ConfirmFor, Model, Overlay, PromptFor};
use crate::tui::requests;
use crate::tui::screens::Screen;
use crate::tui::text;
use crate::tui::widgets::page::Page;
use crate::tui::widgets::toast::Level;
use std::time::Duration;

/// Minimum interval between reloads of the open query during a run.
const RELOAD_EVERY: Duration = Duration::from_millis(150);
/// Minimum interval between requests of stale summaries during a run.
const SUMMARIZE_EVERY: Duration = Duration::from_millis(300);

/// Steps of the pace, in calls per second; after the last one, there is no limit.
const PACES: [f64; 9] = [
    20.0,
    50.0,
    100.0,
    200.0,
    400.0,
    1_000.0,
    2_000.0,
    5_000.0,
    f64::INFINITY,
];

pub(super) fn show(model: &mut Model) -> Vec<Effect> {
    if model.screen() != Screen::RUN {
        model.stack.push(Screen::RUN);
    }
    let mut effects = Vec::new();
    if model.run.progress.is_none() && model.run.last.is_none() {
        effects.push(model.read_last_run());
    }
    effects.push(model.read_run_notes());
    if !model.run.running {
        effects.push(model.price_next_run());
    }
    effects
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let control = model.run.control;
    match command {
        Command::StartRun => return start(model, None),
        Command::StopRun if model.run.running => {
            let question = format!(
                "What has been judged is kept, and {} resumes later. Stop?",
                key_on(Command::StartRun, Screen::RUN)
            );
            model.confirm("Stop the run", &question, ConfirmFor::Stop);
        }
        Command::StopRun => requests::stop_questions(model),
        Command::SetBudget => return ask_budget(model),
        Command::NextJudge => {
            let judges = model
                .run
                .progress
                .as_ref()
                .map_or(1, |progress| progress.judges.len())
                .max(1);
            model.run.chosen_judge = (model.run.chosen_judge + 1) % judges;
        }
        Command::ShowTables => {
            let text = view::page_text(model, Page::columns(model.size.0));
            let page = Page::new("This run", &text);
            model.overlays.push(Overlay::Page(page));
        }
        Command::DropJudge if model.run.running => {
            model.run.control.dropped.toggle(model.run.chosen_judge)
        }
        Command::MoreCalls => model.run.control.concurrency = (control.concurrency * 2).min(4096),
        Command::FewerCalls => model.run.control.concurrency = (control.concurrency / 2).max(1),
        Command::Faster => {
            let now = control.pace.unwrap_or(f64::INFINITY);
            let next = PACES
                .into_iter()
                .find(|pace| *pace > now)
                .unwrap_or(f64::INFINITY);
            model.run.control.pace = next.is_finite().then_some(next);
        }
        Command::Slower => {
            let now = control.pace.unwrap_or(f64::INFINITY);
            let next = PACES
                .into_iter()
                .rev()
                .find(|pace| *pace < now)
                .unwrap_or(PACES[0]);
            model.run.control.pace = Some(next);
        }
        Command::Up => {
            model.run.log_scroll =
                (model.run.log_scroll + 1).min(model.areas.lines.saturating_sub(model.areas.page))
        }
        Command::Down => model.run.log_scroll = model.run.log_scroll.saturating_sub(1),
        Command::First => model.run.log_scroll = model.areas.lines.saturating_sub(model.areas.page),
        Command::Last => model.run.log_scroll = 0,
        _ => {}
    }
    if model.run.control != control && model.run.running {
        return vec![Effect::Steer(model.run.control)];
    }
    Vec::new()
}

/// Which commands are available now: a run can be stopped and its judges dropped while it is in
/// progress, and batches submitted or fetched while it is not.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    match command {
        Command::StartRun => !model.run.running || model.run.control.paused,
        Command::StopRun => model.run.running || model.questions.going.is_some(),
        Command::NextJudge => model.run.progress.is_some(),
        Command::DropJudge => model.run.running,
        Command::Batches => !model.run.running,
        _ => true,
    }
}

/// Starts a run over the project or one query, as [`start_over`] does.
pub fn start(model: &mut Model, only: Option<QueryKey>) -> Vec<Effect> {
    start_over(model, only.map_or(RunScope::Project, RunScope::Query))
}

/// Starts a run, or resumes a paused one. If it costs money, or sets votes aside, the person is
/// asked first.
pub fn start_over(model: &mut Model, scope: RunScope) -> Vec<Effect> {
    if model.run.running {
        if model.run.control.paused {
            model.run.control.paused = false;
            return vec![Effect::Steer(model.run.control)];
        }
        return Vec::new();
    }
    if let Some((set, _)) = &model.questions.going {
        let words = format!(
            "judges are being asked for {}; start the run when that has ended",
            set.noun()
        );
        model.inform(&words);
        return Vec::new();
    }
    if let Some(why) = model.options.no_run.clone() {
        model.say(Level::Error, &why);
        return Vec::new();
    }
    let may_change = !model.queries.loaded || !model.votes.set_aside.is_empty();
    let only = match &scope {
        RunScope::Query(query) => Some(*query),
        _ => None,
    };
    if model.options.paid || may_change || model.queries.failures(only) > 0 {
        model.inform("counting the calls that are left");
        model.run.wanted = scope.clone();
        return vec![model.estimate(scope)];
    }
    model.run.scope = scope;
    begin(model)
}

/// What to price if no fresh calls are left: the failed calls, which have not been retried.
fn retry_of(model: &Model) -> Option<RunScope> {
    let query = match model.run.wanted {
        RunScope::Query(query) => Some(query),
        _ => None,
    };
    model
        .run
        .wanted
        .with_failed()
        .filter(|_| model.queries.failures(query) > 0)
}

/// Describes the cost of a run, and asks whether to start it.
pub fn ask_to_start(model: &mut Model, estimate: &CostEstimate) -> Vec<Effect> {
    if model.run.running || ask_pair::is_asked(model) {
        return Vec::new();
    }
    if estimate.calls() + estimate.free_votes() == 0
        && let Some(retry) = retry_of(model)
    {
        model.run.wanted = retry.clone();
        return vec![model.estimate(retry)];
    }
    let again = matches!(model.run.wanted, RunScope::Retry(_));
    let sets_aside = !estimate.history.set_aside.is_empty();
    if !sets_aside && (estimate.calls() == 0 || (!model.options.paid && !again)) {
        model.run.scope = model.run.wanted.clone();
        return begin(model);
    }
    if !model.overlays.is_empty() {
        // Keys being typed must not answer the confirmation.
        model.inform("the calls are counted now: press the key again to see them");
        return Vec::new();
    }
    model.run.scope = model.run.wanted.clone();
    let money = money_words(model, estimate);
    let changed: String = estimate
        .history
        .lines()
        .iter()
        .map(|line| format!("{line} "))
        .collect();
    let scope = match &model.run.scope {
        RunScope::Project | RunScope::Retry(None) => String::new(),
        RunScope::Queries(queries) => format!("{} only: ", text::counted(queries.len(), "query")),
        RunScope::Query(_) | RunScope::Retry(Some(_)) | RunScope::Pair(_) => {
            "This query only: ".to_owned()
        }
    };
    let calls = format!(
        "{}{}",
        if estimate.rounds { "At most " } else { "" },
        text::counted(estimate.calls(), "call")
    );
    let (title, question) = match (again, model.options.paid) {
        (false, true) => (
            "Start",
            format!("{scope}{changed}{calls} to language models: {money} Start?"),
        ),
        (false, false) => (
            "Start",
            format!("{scope}{changed}{calls}, at no cost. Start?"),
        ),
        (true, true) => (
            "Failed calls",
            format!(
                "{scope}{changed}Only calls that failed are left. {calls} to ask them again: \
                 {money} Ask?"
            ),
        ),
        (true, false) => (
            "Failed calls",
            format!(
                "{scope}{changed}Only calls that failed are left. {calls} to ask them again, at no \
                 cost. Ask?"
            ),
        ),
    };
    model.confirm(title, &question, ConfirmFor::Start);
    Vec::new()
}

/// Parses a budget in dollars; empty means no limit.
pub fn typed_budget(typed: &str) -> Result<Option<f64>, String> {
    let typed = typed.trim().trim_start_matches('$');
    match typed.parse::<f64>() {
        Ok(usd) if usd.is_finite() && usd >= 0.0 => Ok(Some(usd)),
        _ if typed.is_empty() => Ok(None),
        _ => Err("not a number of dollars, such as 2.50".to_owned()),
    }
}

/// Opens the line for the budget of the project.
pub(crate) fn ask_budget(model: &mut Model) -> Vec<Effect> {
    let placeholder = "total dollars that the project may spend; empty for no limit";
    let now = model.run.control.budget_usd.map(|usd| usd.to_string());
    let now = now.unwrap_or_default();
    model.ask("budget $", placeholder, &now, PromptFor::Budget);
    Vec::new()
}

/// Sets a budget that was typed.
pub fn set_budget(model: &mut Model, typed: &str) -> Vec<Effect> {
    let Ok(budget) = typed_budget(typed) else {
        return Vec::new();
    };
    model.run.control.budget_usd = budget;
    model.say(Level::Good, &begin::budget_words(model));
    vec![Effect::KeepBudget(budget)]
}

pub(crate) fn pause(model: &mut Model) -> Vec<Effect> {
    if !model.run.running {
        let start = key_on(Command::StartRun, Screen::RUN);
        model.inform(&format!(
            "no run is in progress; press {start} to start one"
        ));
        return Vec::new();
    }
    model.run.control.paused = !model.run.control.paused;
    vec![Effect::Steer(model.run.control)]
}

pub(crate) fn stop(model: &mut Model) -> Vec<Effect> {
    model.run.control.cancelled = true;
    vec![Effect::Steer(model.run.control)]
}

pub(crate) fn progressed(model: &mut Model, progress: RunProgress) -> Vec<Effect> {
    let before = model.run.progress.as_ref().map_or(0, RunProgress::done);
    let changed = progress.done() != before;
    let planned = model
        .run
        .progress
        .as_ref()
        .map_or(0, |progress| progress.queries_planned)
        != progress.queries_planned;
    model.run.pace.add(progress.elapsed_s, progress.done());
    model.run.progress = Some(progress);
    if !changed && !planned {
        return Vec::new();
    }
    let mut effects = Vec::new();
    if model.screen() == Screen::QUERIES
        && !model.is_listing()
        && model.now.duration_since(model.listed) >= SUMMARIZE_EVERY
    {
        model.listed = model.now;
        effects.push(model.list());
    }
    let watching = matches!(
        model.screen(),
        Screen::MATRIX | Screen::DOCUMENT | Screen::BATTLE | Screen::COMPARISON
    );
    if watching
        && model.saving == 0
        && !model.is_opening()
        && model.now.duration_since(model.loaded) >= RELOAD_EVERY
    {
        effects.extend(model.reload());
    }
    effects
}

pub(crate) fn ended(model: &mut Model, result: Result<RunOutcome, RunError>) -> Vec<Effect> {
    model.run.running = false;
    model.run.control.cancelled = false;
    let all = ask_pair::ended(model).unwrap_or(ALL_VOTES);
    let (level, words, badge) = match result {
        Ok(outcome) => {
            // If it had nothing to ask, keep showing the results and failures of the run before.
            let asked = outcome.progress.done() > 0;
            let earlier = model.run.earlier.take();
            model.run.progress = if asked {
                Some(outcome.progress)
            } else {
                earlier
            };
            match (outcome.cancelled, outcome.missing) {
                (true, _) => {
                    let start = key_on(Command::StartRun, Screen::RUN);
                    let words = format!("stopped; press {start} to resume");
                    (Level::Warn, words, "stopped")
                }
                (false, Some(0)) if asked => (Level::Good, all.to_owned(), "complete"),
                (false, Some(0)) => {
                    let words = format!("nothing was left to ask: {all}");
                    (Level::Good, words, "complete")
                }
                (false, missing) => {
                    let progress = model.run.progress.as_ref();
                    let (level, words) = incomplete(missing, progress, outcome.budget_reached);
                    let badge = match level {
                        Level::Good => "done",
                        _ => "votes missing",
                    };
                    (level, words, badge)
                }
            }
        }
        Err(error) => (Level::Error, error.to_string(), "run failed"),
    };
    model.say(level, &words);
    model.run.ended = Some(RunEnd {
        level,
        words,
        badge,
    });
    let mut effects = after_votes(model);
    effects.extend(ask_pair::price_again(model));
    effects
}

/// Reads what new votes have changed.
pub(crate) fn after_votes(model: &mut Model) -> Vec<Effect> {
    let mut effects = vec![model.list()];
    if model.run.progress.is_none() && model.run.last.is_none() {
        effects.push(model.read_last_run());
    }
    if model.screen() == Screen::RUN {
        effects.push(model.price_next_run());
        effects.push(model.read_run_notes());
    }
    effects.extend(model.reload());
    effects
}

/// The message at the end of a run with missing votes: which judges were dropped or stopped, and
/// how many other votes are missing. Calls to dropped judges do not count as missing.
fn incomplete(
    missing: Option<usize>,
    progress: Option<&RunProgress>,
    budget_reached: bool,
) -> (Level, String) {
    let calls = progress
        .and_then(RunProgress::not_asked_of_dropped)
        .map_or(0, |(calls, _)| calls);
    let left_out: Vec<String> = progress
        .iter()
        .flat_map(|progress| &progress.judges)
        .filter_map(left_out)
        .collect();
    let votes = match missing.map(|votes| votes.saturating_sub(calls)) {
        Some(0) => None,
        Some(1) => Some("1 vote is missing".to_owned()),
        Some(votes) => Some(format!("{} are missing", text::counted(votes, "vote"))),
        None => Some("votes are missing".to_owned()),
    };
    match votes {
        None if !left_out.is_empty() => (Level::Good, format!("done; {}", left_out.join("; "))),
        votes => {
            let why = if budget_reached {
                "the budget is reached: "
            } else {
                "done, but "
            };
            let parts: Vec<String> = left_out.into_iter().chain(votes).collect();
            (Level::Warn, format!("{why}{}", parts.join("; ")))
        }
    }
}

/// `mini was dropped after 107 of 400 calls`; `None` for a judge that has made all its calls.
fn left_out(judge: &JudgeProgress) -> Option<String> {
    let name = sanitize::line(&judge.name);
    let of = format!(
        "after {} of {}",
        text::count(judge.calls()),
        text::counted(judge.total, "call")
    );
    match &judge.stopped {
        _ if judge.calls() >= judge.total => None,
        _ if judge.dropped => Some(format!("{name} was dropped {of}")),
        Some(why) => Some(format!("{name} stopped {of}: {}", sanitize::line(why))),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::annotate::estimate::JudgeEstimate;
    use crate::store::runs::RunId;
    use crate::store::summary_cache::QuerySummary;
    use crate::tui::job::{answer, asked, fail, only};
    use crate::tui::screens::run::notes::ReadRunNotes;
    use crate::tui::screens::testing::{flat, model};
    use crate::tui::update::requests::queries::ReadLastRun;
    use crate::tui::update::requests::runs::Estimate;
    use crate::tui::update::update as apply;

    fn outcome(votes: usize) -> RunOutcome {
        let judge = JudgeProgress {
            votes,
            ..JudgeProgress::default()
        };
        let mut progress = RunProgress::default();
        progress.judges.push(judge);
        RunOutcome {
            run: RunId(1),
            progress,
            cancelled: false,
            budget_reached: false,
            model_changed: None,
            missing: Some(0),
        }
    }

    #[test]
    fn votes_of_a_dropped_judge_are_not_missing() {
        let judge = |name: &str, total, votes, dropped| JudgeProgress {
            name: name.to_owned(),
            total,
            votes,
            dropped,
            ..JudgeProgress::default()
        };
        let mut progress = RunProgress::default();
        progress.judges = vec![judge("a", 400, 400, false), judge("mini", 400, 107, true)];
        let words = |missing| incomplete(missing, Some(&progress), false);
        assert_eq!(
            words(Some(293)),
            (
                Level::Good,
                "done; mini was dropped after 107 of 400 calls".to_owned()
            )
        );
        assert_eq!(
            words(Some(294)).1,
            "done, but mini was dropped after 107 of 400 calls; 1 vote is missing"
        );
        let (_, without) = incomplete(Some(2), None, true);
        assert_eq!(without, "the budget is reached: 2 votes are missing");
    }

    #[test]
    fn notes_of_features_are_shown_before_and_after_a_run() {
        let mut model = model(Screen::RUN);
        let mut effects = show(&mut model);
        let notes = vec!["Drift: gpt has changed.".to_owned()];
        let now = model.now;
        apply(&mut model, answer::<ReadRunNotes>(&mut effects, notes), now);
        assert!(flat(&mut model, (80, 24)).contains("Drift: gpt has changed."));
        model.run.progress = Some(RunProgress::default());
        assert!(flat(&mut model, (80, 24)).contains("Drift: gpt has changed."));
        let effects = ended(&mut model, Ok(outcome(1)));
        assert!(asked::<ReadRunNotes>(&effects).is_some());
    }

    #[test]
    fn a_judge_that_stopped_is_named_with_its_reason() {
        let mut progress = RunProgress::default();
        progress.judges = vec![JudgeProgress {
            name: "mini".to_owned(),
            total: 400,
            votes: 100,
            failures: 7,
            stopped: Some("the key was refused".to_owned()),
            ..JudgeProgress::default()
        }];
        assert_eq!(
            incomplete(Some(300), Some(&progress), false).1,
            "done, but mini stopped after 107 of 400 calls: the key was refused; 300 votes are \
             missing"
        );
    }

    #[test]
    fn a_run_that_had_nothing_to_ask_leaves_the_one_before_in_sight() {
        let mut model = model(Screen::RUN);
        let run = |model: &mut Model, votes| {
            begin(model);
            progressed(model, outcome(votes).progress);
            ended(model, Ok(outcome(votes)))
        };
        let effects = run(&mut model, 0);
        assert!(
            model.run.progress.is_none(),
            "an earlier session had the last"
        );
        assert!(asked::<ReadLastRun>(&effects).is_some(), "{effects:?}");
        run(&mut model, 7);
        assert_eq!(
            model.run.ended.as_ref().map(|end| end.words.as_str()),
            Some("every battle has all its votes")
        );
        run(&mut model, 0);
        assert_eq!(model.run.progress.as_ref().map(RunProgress::votes), Some(7));
        assert!(
            model
                .run
                .ended
                .as_ref()
                .unwrap()
                .words
                .starts_with("nothing was left to ask")
        );
    }

    #[test]
    fn why_the_missing_votes_cannot_be_counted_is_kept_until_they_are_counted_again() {
        let mut model = model(Screen::RUN);
        let mut effects = vec![model.price_next_run()];
        let now = model.now;
        apply(&mut model, fail::<Estimate>(&mut effects, "no prompt"), now);
        assert!(matches!(&model.run.next, Some(Err(why)) if why.contains("no prompt")));
        let mut effects = vec![model.price_next_run()];
        let counted = answer::<Estimate>(&mut effects, CostEstimate::default());
        apply(&mut model, counted, now);
        assert!(matches!(&model.run.next, Some(Ok(_))));
    }

    /// A project with one query, this many of whose calls failed.
    fn failing(failures: usize) -> Model {
        let mut model = model(Screen::RUN);
        let open = model.open.as_ref().map(|open| open.info.clone()).unwrap();
        let summary = QuerySummary {
            failures,
            ..QuerySummary::default()
        };
        model.queries.set_rows(vec![(open, Some(summary))]);
        model
    }

    fn estimate(calls: usize) -> CostEstimate {
        let mut estimate = CostEstimate::default();
        estimate.judges.push(JudgeEstimate {
            calls,
            cost_usd: Some(0.25),
            worst_usd: Some(0.5),
            ..JudgeEstimate::default()
        });
        estimate
    }

    fn question(model: &Model) -> Option<String> {
        match model.overlays.last() {
            Some(Overlay::Confirm(confirm, ConfirmFor::Start)) => Some(format!("{confirm:?}")),
            _ => None,
        }
    }

    #[test]
    fn calls_that_failed_are_asked_again_after_a_yes_once_nothing_else_is_left() {
        for paid in [false, true] {
            let mut model = failing(22);
            model.options.paid = paid;
            let priced = start(&mut model, None);
            assert_eq!(only(&priced), Some(&Estimate(RunScope::Project)));
            let priced = ask_to_start(&mut model, &estimate(0));
            assert_eq!(only(&priced), Some(&Estimate(RunScope::Retry(None))));
            assert_eq!(question(&model), None);
            assert!(ask_to_start(&mut model, &estimate(22)).is_empty());
            let asked = question(&model).unwrap();
            assert!(asked.contains("22 calls to ask them again"), "{asked}");
            assert_eq!(asked.contains("$0.25"), paid, "{asked}");
            assert_eq!(begin(&mut model), [Effect::Start(RunScope::Retry(None))]);
        }
    }

    #[test]
    fn what_was_never_asked_comes_before_what_failed() {
        let mut model = failing(22);
        start(&mut model, None);
        let begun = ask_to_start(&mut model, &estimate(5));
        assert_eq!(begun, [Effect::Start(RunScope::Project)]);
        assert_eq!(question(&model), None, "judges here cost nothing");
    }

    #[test]
    fn a_retry_that_finds_nothing_to_ask_ends_as_a_run_does() {
        let mut model = failing(22);
        start(&mut model, None);
        ask_to_start(&mut model, &estimate(0));
        let begun = ask_to_start(&mut model, &estimate(0));
        assert_eq!(begun, [Effect::Start(RunScope::Retry(None))]);
    }

    #[test]
    fn a_run_that_asked_nothing_leaves_the_failures_in_sight() {
        let mut model = failing(1);
        begin(&mut model);
        let mut failed = outcome(3);
        failed.progress.judges[0].failures = 1;
        failed.missing = Some(1);
        progressed(&mut model, failed.progress.clone());
        ended(&mut model, Ok(failed));
        begin(&mut model);
        let mut nothing = outcome(0);
        nothing.missing = Some(1);
        ended(&mut model, Ok(nothing));
        assert_eq!(
            model.run.progress.as_ref().map(RunProgress::failures),
            Some(1)
        );
        assert_eq!(
            model.run.ended.as_ref().map(|end| end.words.as_str()),
            Some("done, but 1 vote is missing")
        );
    }
}
