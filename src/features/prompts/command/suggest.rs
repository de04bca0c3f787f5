//! `overrule prompt suggest`: asks a judge to revise a prompt.

use super::try_prompt::{finish, progress};
use super::versions::{diff, version_named};
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult};
use crate::cli::output::{self, clean};
use crate::cli::signals::RunEnd;
use crate::cli::spending::{SpendingOptions, confirm_spending};
use crate::domain::sanitize;
use crate::domain::spend::Spend;
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::features::methods::command::rerank::terms::volume_table;
use crate::features::methods::command::rerank::watch::watch_questions;
use crate::features::prompts::app::suggestion::{
    PromptSuggestion, Proposal, SuggestionEstimate, SuggestionRequest, prepare_suggestion,
};
use clap::Args;
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::sync::Arc;

#[derive(Debug, Args)]
#[command(
    after_help = "Shows a judge the instructions of the prompt with which JUDGE voted, and judgments \
of the tuning part that people overruled, with their causes, notes and what JUDGE wrote. Texts of \
the held-out part are never shown. The judge proposes new instructions, which are stored as a \
version of the prompt; the rest of the prompt stays as it is. No judge changes.

The same request is never paid for twice. Another verdict, cause or note makes another request.

Examples:
  overrule prompt suggest gpt --dry-run
  overrule prompt suggest gpt --with claude
  overrule prompt diff 1f3a                        see what it proposes
  overrule prompt try gpt 1f3a                     and whether it helps"
)]
pub(super) struct SuggestCommand {
    /// The judge whose prompt is to be revised
    judge: String,
    /// The judge of overrule.toml to ask [default: JUDGE]
    #[arg(long, value_name = "OTHER")]
    with: Option<String>,
    /// Maximum number of overruled judgments to show
    #[arg(long, value_name = "N", default_value = "20")]
    judgments: NonZeroUsize,
    /// Ask again if the answer could not be read
    #[arg(long)]
    retry_failed: bool,
    #[command(flatten)]
    spending: SpendingOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl SuggestCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        // Two runs must not plan the same calls.
        let _lock = self.spending.lock(context)?;
        let request = SuggestionRequest {
            with: self.with.unwrap_or_else(|| self.judge.clone()),
            judge: self.judge,
            judgments: self.judgments.get(),
            retry: self.retry_failed,
        };
        let configuration = context.judges(self.spending.insecure_http);
        let suggestion = Arc::new(prepare_suggestion(&store, &configuration, request)?);
        for note in &suggestion.notes {
            output::message(&format!("note: {}", clean(note)));
        }
        let budget = self.spending.budget(context, Some(&store))?;
        if let Some(budget) = budget {
            suggestion.check_budget(budget)?;
        }
        let estimate = suggestion.estimate(&store)?;
        if self.spending.dry_run {
            return dry_run(&suggestion, &estimate, self.json);
        }
        let (mut end, mut spend) = (RunEnd::default(), Spend::default());
        if estimate.expected.calls > 0.0 {
            if suggestion.is_paid() {
                confirm_spending(&describe(&suggestion, &estimate), self.spending.yes)?;
            }
            let control = self
                .spending
                .control(context, budget, &suggestion.ensemble());
            let (project, asked) = (store.clone(), Arc::clone(&suggestion));
            let mut made = 0;
            (end, ()) = watch_questions(
                control,
                |control, events| async move { asked.ask(&project, control, events).await },
                |event| {
                    if let RerankEvent::Called(charge) = event {
                        made += 1;
                        spend += charge;
                    }
                },
            )?;
            output::message(&progress(made, 1, spend));
        }
        let prompt = match suggestion.proposal(&store)? {
            Some(Proposal::Prompt(prompt)) => prompt,
            Some(Proposal::Unchanged) => {
                output::message("the judge proposes no change; no version was stored");
                return match self.json {
                    true => output::json(&as_json(&suggestion, None, spend)),
                    false => Ok(()),
                };
            }
            Some(Proposal::Unreadable(why)) => {
                output::message(&format!(
                    "the reply holds no proposal: {}; no version was stored, and --retry-failed \
                     asks again",
                    clean(&why)
                ));
                return Err(CommandFailure::incomplete());
            }
            None => return finish(1, end),
        };
        let (hash, is_new) = suggestion.keep(&store, prompt, context.annotator())?;
        if self.json {
            return output::json(&as_json(&suggestion, Some((&hash, is_new)), spend));
        }
        let parent = &suggestion.parent;
        output::message(&if is_new {
            format!("stored prompt {hash}, made from {}", parent.hash)
        } else {
            format!("prompt {hash} is known already; nothing was stored")
        });
        let judge = clean(&suggestion.request.judge);
        output::message(&format!("`overrule prompt try {judge} {hash}` tries it"));
        output::raw(&sanitize::block(&diff(
            parent,
            &version_named(&store, &hash)?,
        )?))
    }
}

fn describe(suggestion: &PromptSuggestion, estimate: &SuggestionEstimate) -> String {
    let not_shown = &suggestion.not_shown;
    let left_out = [
        (not_shown.over_limit, "over the limit of --judgments"),
        (not_shown.in_held_out, "with a text of the held-out part"),
    ];
    let left_out = left_out
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("; left out: {count} {why}"));
    format!(
        "{} revises prompt {} of {}: {} of the tuning part shown{}\n{}",
        clean(&suggestion.request.with),
        suggestion.parent.hash,
        clean(&suggestion.request.judge),
        counted(suggestion.shown, "overruled judgment"),
        left_out.collect::<String>(),
        volume_table(&estimate.expected, &estimate.most)
    )
}

fn dry_run(
    suggestion: &PromptSuggestion,
    estimate: &SuggestionEstimate,
    json: bool,
) -> CommandResult {
    if json {
        return output::json(&json!({
            "judge": suggestion.request.judge,
            "with": suggestion.request.with,
            "parent": suggestion.parent.hash,
            "judgments": suggestion.shown,
            "not_shown": suggestion.not_shown,
            "expected": estimate.expected,
            "most": estimate.most,
        }));
    }
    output::text(&describe(suggestion, estimate))?;
    output::text("dry run: nothing was called and nothing was changed\n")
}

/// `stored` is the hash of the proposal, and whether it is new.
fn as_json(suggestion: &PromptSuggestion, stored: Option<(&str, bool)>, spend: Spend) -> Value {
    json!({
        "judge": suggestion.request.judge,
        "with": suggestion.request.with,
        "parent": suggestion.parent.hash,
        "judgments": suggestion.shown,
        "not_shown": suggestion.not_shown,
        "prompt": stored.map(|(hash, _)| hash),
        "new": stored.map(|(_, is_new)| is_new),
        "spent_usd": spend.told_usd(),
    })
}
