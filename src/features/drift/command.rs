//! `overrule drift`: asks a judge again about frozen pairs, and says whether it has changed.

pub(crate) mod judges;

use crate::app::text_format::{counted, moment_words, rfc_3339};
use crate::cli::argument::ArgumentError;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult};
use crate::cli::output::{self, clean};
use crate::cli::spending::{SpendingOptions, confirm_spending};
use crate::domain::number_words::{duration, fixed, probability, signed};
use crate::domain::spend::Spend;
use crate::features::drift::app::{
    CheckEstimate, CheckWish, CheckedRound, DriftCheck, DriftReport, evidence_words,
    interval_words, prepare_check, read_report, sentences,
};
use crate::features::drift::domain::{DriftConclusion, JudgeCheck, MARGIN};
use crate::features::methods::app::rerank::pair_judge::PairJudge;
use crate::features::methods::command::rerank::terms::volume_table;
use crate::features::methods::command::rerank::watch::{AnswersEnd, watch_answers};
use crate::store::Store;
use clap::Args;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(
    after_help = "The first --ask chooses pairs once and asks the judge about each of them twice: \
its reference answers. Each later --ask is a check, which asks about each pair once. Answers are \
stored, count as spending and are never paid for twice; no fit uses them. A check that was stopped \
continues for a day. If the judge's model, prompt or parameters in overrule.toml change, it starts anew; \
if they change back, its earlier pairs are used again.

If the judge has not changed, it contradicts its reference answers about as often as these \
contradict each other. The test of this may be looked at after every answer: over all checks \
together, it raises a false alarm in at most 5 % of the cases. Votes that the judge cast on the same \
questions before the start are the first check, except with --anew.

With --before and --after, two rankings of the search system are compared by NDCG@10 under the \
scores of the project. A difference is attributed to the system only if the judge is unchanged.

The conclusion and the exit code:

  unchanged so far      0   an excess of .10 or more is excluded
  the judge changed     1
  the system changed    1   the rankings differ, and the judge is unchanged
  not enough to tell    3   also if answers are missing

If no conclusion is printed, there is none: exit code 1 or 2 then means an error.

Examples:
  overrule drift gpt --ask --dry-run
  overrule drift gpt --ask --every 7d --yes
  overrule drift gpt --ask --if-changed --yes --json | jq .conclusion
  overrule drift gpt --before march.run --after april.run"
)]
pub(crate) struct DriftCommand {
    /// The judge of overrule.toml
    judge: String,
    /// Ask the judge; otherwise, only stored answers are read
    #[arg(long)]
    ask: bool,
    /// Ask only if the last round is at least this old, such as 7d, 12h or 30m, or if the model or
    /// its fingerprint has changed
    #[arg(long, value_name = "TIME", value_parser = time, requires = "ask")]
    every: Option<Duration>,
    /// Ask only if the judge has answered as another model or with another fingerprint since
    #[arg(long, requires = "ask")]
    if_changed: bool,
    /// Number of pairs to choose at the start
    #[arg(long, value_name = "N", default_value_t = 100, requires = "ask",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pairs: u32,
    /// Choose pairs and ask for reference answers again, such as after a change
    #[arg(long, requires = "ask", conflicts_with_all = ["every", "if_changed"])]
    anew: bool,
    /// A ranking of the search system: a ranking of the project, a method, or a file
    #[arg(long, value_name = "RUN", requires = "after")]
    before: Option<String>,
    /// A later ranking of the search system
    #[arg(long, value_name = "RUN", requires = "before")]
    after: Option<String>,
    #[command(flatten)]
    spending: SpendingOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Parses a span of time.
fn time(text: &str) -> Result<Duration, ArgumentError> {
    const EXPECTED: ArgumentError =
        ArgumentError::Expected("a time such as 7d, 12h or 30m, in days, hours or minutes");
    let seconds: u64 = match text.chars().last() {
        Some('d') => 86_400,
        Some('h') => 3_600,
        Some('m') => 60,
        _ => return Err(EXPECTED),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| EXPECTED)?;
    number
        .checked_mul(seconds)
        .map(Duration::from_secs)
        .filter(|time| !time.is_zero())
        .ok_or(EXPECTED)
}

impl DriftCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let (judge, end) = if self.ask {
            // Two runs must not plan the same calls.
            let _lock = self.spending.lock(context)?;
            let Some((judge, end)) = self.check(context, &store)? else {
                return Ok(());
            };
            (Some(judge), end)
        } else {
            (self.configured(context), AnswersEnd::default())
        };
        let rankings = self.before.as_deref().zip(self.after.as_deref());
        let rankings = rankings.map(<[&str; 2]>::from);
        let report = read_report(&store, &self.judge, judge, rankings)?;
        if self.json {
            output::json(&as_json(&report, end.spend))?;
        } else {
            output::text(&as_text(&report))?;
        }
        finish(&end, report.conclusion)
    }

    /// The judge as it is configured, with the permissions that the user has already given.
    fn configured(&self, context: &CommandContext) -> Option<PairJudge> {
        let configuration = context.judges_without_asking(self.spending.insecure_http);
        PairJudge::configured(&configuration, &self.judge)
    }

    /// Asks the judge, unless no check is due. `None` after a dry run.
    fn check(
        &self,
        context: &CommandContext,
        store: &Store,
    ) -> Result<Option<(PairJudge, AnswersEnd)>, CommandFailure> {
        let wish = CheckWish {
            judge: self.judge.clone(),
            pairs: self.pairs as usize,
            anew: self.anew,
            only_if_changed: self.if_changed,
            every: self.every,
        };
        let author = context.annotator();
        let configuration = context.judges(self.spending.insecure_http);
        let check = Arc::new(prepare_check(store, &configuration, &wish, &author)?);
        for note in &check.notes {
            output::message(&format!("note: {}", clean(note)));
        }
        let budget = self.spending.budget(context, Some(store))?;
        if let Some(budget) = budget {
            check.judge.check_budget(budget)?;
        }
        let estimate = check.estimate();
        if self.spending.dry_run {
            dry_run(&check, &estimate, self.json)?;
            return Ok(None);
        }
        if check.open() == 0 {
            output::message(&nothing_to_ask(&check));
            return Ok(Some((check.judge.clone(), AnswersEnd::default())));
        }
        if check.judge.is_paid() {
            confirm_spending(&describe(&check, &estimate), self.spending.yes)?;
        }
        check.begin(store, &author)?;
        let ensemble = vec![Arc::clone(&check.judge.judge)];
        let control = self.spending.control(context, budget, &ensemble);
        let (project, asked) = (store.clone(), Arc::clone(&check));
        let ask = |control, events| async move { asked.ask(&project, control, events).await };
        let (end, _) = watch_answers(control, check.open(), ask, |missing| *missing)?;
        Ok(Some((check.judge.clone(), end)))
    }
}

/// Reports missing answers, and returns the exit code.
fn finish(end: &AnswersEnd, conclusion: DriftConclusion) -> CommandResult {
    end.report()?;
    match conclusion {
        DriftConclusion::JudgeChanged | DriftConclusion::SystemChanged => {
            Err(CommandFailure::negative())
        }
        DriftConclusion::Unchanged if end.missing == 0 => Ok(()),
        DriftConclusion::Unchanged | DriftConclusion::NotEnough => {
            Err(CommandFailure::incomplete())
        }
    }
}

fn nothing_to_ask(check: &DriftCheck) -> String {
    let not_due = check.due.as_ref().filter(|due| !due.is_due());
    match not_due.and_then(|due| due.age_ms) {
        Some(age) => format!(
            "no check is due: the last round is {} old, and no other model has answered since",
            duration(age as f64 / 1e3)
        ),
        None => "nothing to ask: the texts of all pairs have changed; --anew chooses others".into(),
    }
}

fn describe(check: &DriftCheck, estimate: &CheckEstimate) -> String {
    let what = if check.is_start {
        format!("{}, asked about twice", counted(estimate.pairs, "pair"))
    } else {
        counted(estimate.pairs, "pair")
    };
    let left_out = |pairs: usize, why: &str| match pairs {
        0 => String::new(),
        pairs => format!("; {} left out, {why}", counted(pairs, "pair")),
    };
    let altered = left_out(check.altered, "because their texts have changed");
    let unreferenced = left_out(check.unreferenced, "without two readable reference answers");
    format!(
        "{}: {what}, {} already there{altered}{unreferenced}\n{}",
        clean(&check.set.judge),
        counted(estimate.known, "answer"),
        volume_table(&estimate.expected, &estimate.most)
    )
}

fn dry_run(check: &DriftCheck, estimate: &CheckEstimate, as_json: bool) -> CommandResult {
    if as_json {
        return output::json(&json!({
            "judge": check.set.judge,
            "is_start": check.is_start,
            "pairs": estimate.pairs,
            "altered_pairs": check.altered,
            "unreferenced_pairs": check.unreferenced,
            "known_answers": estimate.known,
            "due": check.due,
            "expected": estimate.expected,
            "most": estimate.most,
        }));
    }
    if check.open() == 0 {
        output::text(&(nothing_to_ask(check) + "\n"))?;
    } else {
        output::text(&describe(check, estimate))?;
    }
    output::text("dry run: nothing was called and nothing was changed\n")
}

fn as_text(report: &DriftReport) -> String {
    let mut text = sentences(report).join("\n") + "\n";
    if report.checks.is_empty() {
        return text;
    }
    let header = [
        ">check",
        "asked",
        "answered as",
        ">pairs",
        ">contradicts",
        ">itself",
        ">excess",
        "95 % interval",
        ">evidence",
        ">enough",
    ];
    let row = |of: &CheckedRound| {
        let served: Vec<String> = of.served.iter().map(clean).collect();
        let shown = |words: fn(&JudgeCheck) -> String| output::or_dash(of.check.as_ref(), words);
        vec![
            of.number.to_string(),
            of.asked_ms.map_or_else(|| "votes".to_owned(), moment_words),
            output::or_dash(Some(served).filter(|of| !of.is_empty()), |of| of.join(", ")),
            of.pairs.to_string(),
            shown(|check| probability(check.turned)),
            shown(|check| probability(check.own)),
            shown(|check| signed(check.excess, 3)),
            shown(|check| interval_words(check.interval)),
            shown(|check| evidence_words(check.e_value)),
            shown(|check| fixed(check.needed, 0)),
        ]
    };
    let rows: Vec<Vec<String>> = report.checks.iter().map(row).collect();
    text += "\n";
    text += &output::table(&header, &rows);
    text
}

fn as_json(report: &DriftReport, spend: Spend) -> Value {
    let checks = report.checks.iter().map(|of| {
        let mut check = json!(of);
        let is = |test: fn(&JudgeCheck) -> bool| of.check.as_ref().is_some_and(test);
        check["shows_change"] = is(JudgeCheck::shows_change).into();
        check["excludes_change"] = is(JudgeCheck::excludes_change).into();
        check["asked"] = json!(of.asked_ms.map(rfc_3339));
        check
    });
    json!({
        "conclusion": report.conclusion,
        "sentences": sentences(report),
        "judge": report.set.judge,
        "model": report.set.model,
        "since": rfc_3339(report.set.created_ms),
        "pairs": report.pairs,
        "margin": MARGIN,
        "reference_served": report.reference_served,
        "checks": checks.collect::<Vec<_>>(),
        "rankings": report.rankings,
        "due": report.due,
        "is_as_configured": report.is_as_configured,
        "missing_answers": report.missing,
        "spent_usd": spend.usd(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(time("7d").unwrap(), Duration::from_secs(7 * 86_400));
        assert_eq!(time("30m").unwrap(), Duration::from_secs(1_800));
        for bad in [
            "",
            "7",
            "d",
            "0d",
            "-1h",
            "7w",
            "1.5h",
            "99999999999999999999d",
            "７d",
            "7ｄ",
        ] {
            assert!(time(bad).is_err(), "{bad}");
        }
    }
}
