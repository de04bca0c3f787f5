//! `overrule override`: records a person's verdict on a pair.

use super::command::{CommandContext, CommandResult, usage};
use super::output::{self, clean};
use crate::app::review::override_pair::{
    OverrideEffect, OverrideTarget, PairOverride, override_pair,
};
use crate::cli::similar_name::note_similar_name;
use crate::domain::verdict::{Confidence, Decision, ErrorCause};
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
#[command(after_help = "\
You can judge any two documents of a query, including pairs without a battle. --item answers an
item that `overrule queue` printed for you, as a blind verdict in the workbench does: query and
documents follow from the item, A is the document that was printed first, and the probability with
which the item was chosen is stored with the verdict.

Examples:
  overrule override --query scifact-641 --a 24159217 --b 38752049 --verdict a
  overrule override --item 4kx0t9m2qz --verdict b --confidence high
  overrule override --query scifact-641 --a 24159217 --b 38752049 --verdict a --note \"names the \
  trial\" \\
      --confidence high --cause judge-wrong --annotator ada")]
pub(crate) struct OverrideCommand {
    /// Item of `overrule queue` to answer, instead of --query, --a and --b
    #[arg(long, value_name = "ID", conflicts_with_all = ["query", "a", "b"])]
    item: Option<String>,
    /// Query id
    #[arg(long, required_unless_present = "item", value_name = "QUERY")]
    query: Option<String>,
    /// Document A
    #[arg(long, required_unless_present = "item", value_name = "A")]
    a: Option<String>,
    /// Document B
    #[arg(long, required_unless_present = "item", value_name = "B")]
    b: Option<String>,
    /// a, b, tie, cannot-tell, or much-a, much-b for a clear win
    #[arg(long)]
    verdict: Decision,
    /// Reason
    #[arg(long, allow_hyphen_values = true)]
    note: Option<String>,
    /// Your confidence: low, medium or high
    #[arg(long)]
    confidence: Option<Confidence>,
    /// Why the judges differ: judge-wrong, both-defensible, query-unclear, guideline-gap,
    /// document-broken or other
    #[arg(long)]
    cause: Option<ErrorCause>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl OverrideCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let on = match (self.item.clone(), self.query, self.a, self.b) {
            (Some(item), ..) => OverrideTarget::Item(item),
            (None, _, Some(a), Some(b)) if a == b => {
                return Err(usage!("--a and --b are the same document"));
            }
            (None, Some(query), Some(a), Some(b)) => OverrideTarget::Pair { query, a, b },
            _ => return Err(usage!("expected --item, or --query, --a and --b")),
        };
        let given = PairOverride {
            on,
            decision: self.verdict,
            note: self.note,
            confidence: self.confidence,
            cause: self.cause,
            annotator: context.annotator(),
        };
        note_similar_name(context, &store)?;
        let effect = override_pair(&store, given)?;
        if self.json {
            let moved = effect.moved.iter();
            let moved =
                moved.map(|(id, from, to)| json!({ "document": id, "from": from, "to": to }));
            return output::json(&json!({
                "uid": effect.uid,
                "item": self.item,
                "query": effect.query,
                "a": effect.a,
                "b": effect.b,
                "verdict": self.verdict.name(),
                "confidence": self.confidence,
                "cause": self.cause,
                "final": effect.rule.name(),
                "in_force": effect.counts(),
                "relation": effect.effect.map(|effect| effect.relation),
                "replaces_votes": effect.effect.map(|effect| effect.replaces_votes),
                "counts_as": effect.effect.map(|effect| effect.counts_as()),
                "moved": moved.collect::<Vec<_>>(),
            }));
        }
        let verdict = self
            .verdict
            .words(&clean(effect.a.as_str()), &clean(effect.b.as_str()));
        let mut text = format!("{verdict}: {}\n", describe(&effect));
        for (id, from, to) in &effect.moved {
            text.push_str(&format!("  {}  rank {from} → {to}\n", clean(id.as_str())));
        }
        if effect.moved.is_empty() {
            text.push_str("  no document changed its rank\n");
        }
        output::text(&text)
    }
}

fn describe(effect: &OverrideEffect) -> String {
    if !effect.counts() {
        return format!("stored; {}", other_in_force(effect));
    }
    match &effect.effect {
        None => "stored; the judges' votes stay as they are".to_owned(),
        Some(effect) => effect.words(),
    }
}

/// What is effective instead of a verdict that is not.
fn other_in_force(effect: &OverrideEffect) -> String {
    let Some((verdict, a, b)) = &effect.in_force else {
        return "people differ on the pair and no direction has a majority: the judges' votes stay \
                as they are"
            .to_owned();
    };
    format!(
        "the verdict of {} counts ({}): {}",
        clean(&verdict.annotator),
        effect.rule.name(),
        verdict
            .decision
            .words(&clean(a.as_str()), &clean(b.as_str()))
    )
}
