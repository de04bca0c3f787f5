//! `overrule lists qualify`: tests whether the lists of judges may count.

use super::ask::ListOptions;
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult};
use crate::cli::output::{self, clean, or_dash};
use crate::cli::spending::{SpendingOptions, confirm_spending};
use crate::domain::number_words::probability;
use crate::features::lists::app::{JudgeQualification, ListWish, ProbePlan, prepare_lists};
use crate::features::lists::domain::{
    CallCount, ListPlan, MIN_QUERIES, ProbeFigures, ProbeShare, Qualification,
};
use crate::features::methods::command::rerank::terms::volume_table;
use crate::features::methods::command::rerank::watch::watch_answers;
use clap::Args;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Debug, Args)]
#[command(
    after_help = "Asks each judge 60 probes: 30 lists, each in one order and in the reverse order. \
The lists are spread over the queries on which the judge has voted; if these are fewer than 10, over \
others as well. If votes on other queries come later, a few more probes may be asked to reach 10. Probes \
are stored and never paid for twice; a judge with another model, prompt or other parameters is tested anew.

A judge passes if at most 5 % of its answers are malformed, and if it orders the pairs of a list as \
consistently as it votes: the share of pairs with the same order in both answers to a list, and the \
share with the same order as in its votes, must be above one half and at most .15 below the share of \
its votes that stay the same when the pair is swapped (95 % intervals, clustered by query). It \
fails if more answers are malformed, or if one of these shares is significantly below one half, or \
significantly below that of its votes while a loss of .15 is not excluded. Otherwise it is undecided, \
as it is if a share is about fewer than 10 queries. It also fails if scores fitted to its lists predict \
its votes on pairs that no answered list has shown together significantly less often than they expect, \
in the same sense; without such pairs, this does not matter. Votes in both orders come from `overrule \
annotate --probe` and `overrule lists ask --mix`.

The result and the exit code: 0 if all judges passed, 1 if one failed, 3 otherwise.

Examples:
  overrule lists qualify --dry-run
  overrule lists qualify --size 5 --judges gpt --yes"
)]
pub(crate) struct QualifyCommand {
    #[command(flatten)]
    lists: ListOptions,
    #[command(flatten)]
    spending: SpendingOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl QualifyCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let wish = ListWish {
            judges: self.lists.judges.clone(),
            queries: Vec::new(),
            kind: self.lists.kind()?,
            plan: ListPlan::Random,
            calls: CallCount::Fixed(0),
            mix: None,
            seed: self.lists.seed,
        };
        let store = context.open()?;
        // Two runs must not plan the same calls.
        let _lock = self.spending.lock(context)?;
        let judges = context.judges(self.spending.insecure_http);
        let run = prepare_lists(&store, &judges, &wish)?;
        for note in &run.notes {
            output::message(&format!("note: {}", clean(note)));
        }
        let budget = self.spending.budget(context, Some(&store))?;
        if let Some(budget) = budget {
            run.check_budget(budget)?;
        }
        let plan = Arc::new(ProbePlan::of(&store, &run)?);
        let (expected, most) = plan.estimate();
        let table = volume_table(&expected, &most);
        if self.spending.dry_run {
            if self.json {
                return output::json(&json!({ "expected": expected, "most": most }));
            }
            output::text(&table)?;
            return output::text("dry run: nothing was called and nothing was changed\n");
        }
        if plan.calls() > 0 && run.is_paid() {
            confirm_spending(&table, self.spending.yes)?;
        }
        let control = self.spending.control(context, budget, run.judges());
        let (author, asked) = (context.annotator(), Arc::clone(&plan));
        let ask = |control, events| async move { asked.ask(&store, author, control, events).await };
        let missing = |found: &Vec<JudgeQualification>| found.iter().map(|of| of.missing).sum();
        let (end, found) = watch_answers(control, plan.calls(), ask, missing)?;
        if self.json {
            output::json(&json!({
                "judges": found.iter().map(as_json).collect::<Vec<_>>(),
                "spent_usd": end.spend.usd(),
            }))?;
        } else {
            let words: Vec<String> = found.iter().map(words).collect();
            output::text(&(words.join("\n") + "\n"))?;
        }
        end.report()?;
        finish(&found)
    }
}

fn finish(found: &[JudgeQualification]) -> CommandResult {
    let is = |of: Qualification| found.iter().any(|judge| judge.qualification == of);
    if is(Qualification::Failed) {
        Err(CommandFailure::negative())
    } else if is(Qualification::Undecided) {
        Err(CommandFailure::incomplete())
    } else {
        Ok(())
    }
}

fn share_words(share: Option<ProbeShare>) -> String {
    or_dash(share, |share| {
        format!(
            "{} ({}–{}) of {}{}",
            probability(share.value),
            probability(share.low),
            probability(share.high),
            counted(share.comparisons, "comparison"),
            share.queries.map_or_else(String::new, |queries| {
                format!(" about {}", counted(queries, "query"))
            })
        )
    })
}

fn predictions(figures: &ProbeFigures) -> String {
    let expected = figures.expected_predictions;
    let expected = expected.map(|share| format!(", {} expected", probability(share)));
    share_words(figures.predictions) + &expected.unwrap_or_default()
}

fn words(of: &JudgeQualification) -> String {
    let figures = &of.figures;
    let why = if of.missing > 0 {
        format!("{} missing", counted(of.missing, "probe"))
    } else if figures.swaps.is_none() {
        "no votes in both orders; run `overrule annotate --probe`".to_owned()
    } else if figures.votes.is_none() {
        "no votes on the pairs of its lists".to_owned()
    } else if [figures.shuffles, figures.votes]
        .into_iter()
        .flatten()
        .any(|share| share.queries < Some(MIN_QUERIES))
    {
        format!("fewer than {MIN_QUERIES} queries with comparisons")
    } else {
        String::new()
    };
    let why = match of.qualification {
        Qualification::Undecided if !why.is_empty() => format!(": {why}"),
        _ => String::new(),
    };
    let malformed = or_dash((figures.calls > 0).then_some(figures), |of| {
        format!("{} of {}", of.malformed, of.calls)
    });
    format!(
        "{}, lists of {} ({}): {}{why}\n  malformed answers: {} ({})\n  both orders of a \
         list agree on {} ({})\n  lists agree with votes on {} ({})\n  scores of lists predict \
         votes on other pairs: {} ({})\n  votes stay the same when swapped: {}",
        clean(&of.judge),
        of.kind.size(),
        of.kind.form(),
        of.qualification,
        malformed,
        figures.malformed(),
        share_words(figures.shuffles),
        figures.shuffles(),
        share_words(figures.votes),
        figures.votes(),
        predictions(figures),
        figures.predictions(),
        share_words(figures.swaps),
    )
}

fn as_json(of: &JudgeQualification) -> Value {
    json!({
        "judge": of.judge,
        "size": of.kind.size(),
        "answer_form": of.kind.form().to_string(),
        "qualification": of.qualification,
        "missing_probes": of.missing,
        "figures": of.figures,
        "malformed": of.figures.malformed(),
        "shuffles": of.figures.shuffles(),
        "votes": of.figures.votes(),
        "predictions": of.figures.predictions(),
    })
}
