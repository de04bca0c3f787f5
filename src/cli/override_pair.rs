//! `overrule override`: a person's verdict on a pair.

use super::command::{CommandContext, CommandResult, usage};
use super::output::{self, clean};
use crate::app::review::override_pair::{OverrideEffect, PairOverride, override_pair};
use crate::domain::ranking::VerdictRelation;
use crate::domain::verdict::{Confidence, Decision, ErrorCause, OverrideMode};
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
#[command(
    after_help = "Any two documents of the query can be judged, also a pair that was never fought.

Example:
  overrule override --query scifact-641 --a 24159217 --b 38752049 --verdict a --note \"names the trial\" \\
      --confidence high --cause judge-wrong --annotator ada"
)]
pub(super) struct OverrideCommand {
    /// The query's identifier
    #[arg(long)]
    query: String,
    /// Document A
    #[arg(long)]
    a: String,
    /// Document B
    #[arg(long)]
    b: String,
    /// a, b, tie, cannot-tell, or much-a, much-b for a clear win
    #[arg(long)]
    verdict: Decision,
    /// Why
    #[arg(long)]
    note: Option<String>,
    /// How sure you are: low, medium or high
    #[arg(long)]
    confidence: Option<Confidence>,
    /// Why the judges differ: judge-wrong, both-defensible, query-unclear, guideline-gap, document-broken or other
    #[arg(long)]
    cause: Option<ErrorCause>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl OverrideCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        if self.a == self.b {
            return Err(usage!("--a and --b are the same document"));
        }
        let given = PairOverride {
            query: self.query.clone(),
            a: self.a.clone(),
            b: self.b.clone(),
            decision: self.verdict,
            note: self.note,
            confidence: self.confidence,
            cause: self.cause,
            annotator: context.annotator(),
        };
        let effect = override_pair(&store, given)?;
        if self.json {
            let moved = effect.moved.iter();
            let moved =
                moved.map(|(id, from, to)| json!({ "document": id, "from": from, "to": to }));
            return output::json(&json!({
                "uid": effect.uid,
                "query": self.query,
                "a": self.a,
                "b": self.b,
                "verdict": self.verdict.name(),
                "confidence": self.confidence,
                "cause": self.cause,
                "final": effect.rule.name(),
                "in_force": effect.counts(),
                "moved": moved.collect::<Vec<_>>(),
            }));
        }
        let verdict = self.verdict.words(&clean(&self.a), &clean(&self.b));
        let mut text = format!("{verdict}: {}\n", describe(&effect, self.verdict));
        for (id, from, to) in &effect.moved {
            text.push_str(&format!("  {}  rank {from} → {to}\n", clean(id.as_str())));
        }
        if effect.moved.is_empty() {
            text.push_str("  no document changed its rank\n");
        }
        output::text(&text)
    }
}

fn describe(effect: &OverrideEffect, decision: Decision) -> String {
    if !effect.counts() {
        return format!("stored; {}", other_in_force(effect));
    }
    let Some(relation) = effect.relation else {
        return "stored; the judges' votes stay as they are".to_owned();
    };
    let counted = match effect.weight {
        None => "it says which way, not how far".to_owned(),
        Some(weight) => format!(
            "score {:.2} with the weight of {weight} battles",
            decision.score().unwrap_or(0.5),
        ),
    };
    let how = match (relation, effect.mode) {
        (VerdictRelation::Alone, _) => "no votes on the pair",
        (VerdictRelation::Contradicts, OverrideMode::Replace) => {
            "replaces the judges' votes on the pair"
        }
        (VerdictRelation::Contradicts, OverrideMode::Beside) => {
            "contradicts the judges' votes and stands beside them"
        }
        (VerdictRelation::Confirms, _) => "confirms the judges' votes and stands beside them",
    };
    format!("{how}: {counted}")
}

/// What is in force instead of a verdict that is not.
fn other_in_force(effect: &OverrideEffect) -> String {
    let Some((verdict, a, b)) = &effect.in_force else {
        return "people differ on the pair and no direction has a majority: the judges' votes stay as they are"
            .to_owned();
    };
    format!(
        "in force is the verdict of {} ({}): {}",
        clean(&verdict.annotator),
        effect.rule.name(),
        verdict
            .decision
            .words(&clean(a.as_str()), &clean(b.as_str()))
    )
}
