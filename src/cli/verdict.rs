//! `overrule override` and `overrule undo`.

use super::{CommandContext, CommandFailure, CommandResult, output};
use crate::client::now_ms;
use crate::domain::battle::Pair;
use crate::domain::ranking::VerdictRelation;
use crate::domain::ranking::View;
use crate::domain::sanitise;
use crate::domain::verdict::{Confidence, Decision, ErrorCause, FinalRule, OverrideMode, Verdict};
use crate::store::corpus::DocumentInfo;
use crate::store::verdicts::NewVerdict;
use anyhow::anyhow;
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

#[derive(Debug, Args)]
pub(super) struct UndoCommand {
    /// Take back your latest ruling on a label instead of your latest verdict on a pair
    #[arg(long)]
    ruling: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl OverrideCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        if self.a == self.b {
            return Err(CommandFailure::usage(anyhow!(
                "--a and --b are the same document"
            )));
        }
        let annotator = context.annotator();
        let (query, a, b) = (self.query.clone(), self.a.clone(), self.b.clone());
        let (decision, note) = (self.verdict, self.note.clone());
        let (confidence, cause) = (self.confidence, self.cause);
        let (uid, before, after, rule, pair, documents) = store.write_blocking(move |db| {
            let query = db.find_query(&query)?;
            let (a, b) = (db.find_document(query, &a)?, db.find_document(query, &b)?);
            let before = db.view(query)?;
            let uid = db.add_verdict(&NewVerdict {
                note,
                confidence,
                cause,
                created_ms: now_ms(),
                ..NewVerdict::open(query, a, b, decision, &annotator)
            })?;
            let (after, rule) = (db.view(query)?, db.final_rule()?);
            Ok((
                uid,
                before,
                after,
                rule,
                Pair::new(a, b),
                db.documents(query)?,
            ))
        })?;
        let in_force = pair.and_then(|pair| after.verdict(pair));
        let counts = in_force.is_some_and(|verdict| verdict.uid == uid);
        let moved = moves(&before, &after, &documents);
        if self.json {
            output::json(&json!({
                "uid": uid,
                "query": self.query,
                "a": self.a,
                "b": self.b,
                "verdict": decision.name(),
                "confidence": confidence,
                "cause": cause,
                "final": rule.name(),
                "in_force": counts,
                "moved": moved.iter().map(|(id, from, to)| json!({ "document": id, "from": from, "to": to }))
                    .collect::<Vec<_>>(),
            }))?;
            return Ok(());
        }
        let words = decision.words(&sanitise::line(&self.a), &sanitise::line(&self.b));
        let weight = after.settings.override_weight;
        let stance = pair.and_then(|pair| after.stance(pair));
        let counted = match (decision, decision.score(), stance) {
            (
                Decision::A | Decision::B,
                _,
                Some(VerdictRelation::Confirms | VerdictRelation::Alone),
            ) => "it says which way, not how far".to_owned(),
            (_, score, _) => format!(
                "score {:.2} with the weight of {weight} battles",
                score.unwrap_or(0.5)
            ),
        };
        let effect = match (stance, after.settings.override_mode) {
            _ if !counts => format!("stored; {}", other(&rule, in_force, &documents)),
            (None, _) => "stored; the judges' votes stay as they are".to_owned(),
            (Some(VerdictRelation::Alone), _) => format!("no votes on the pair: {counted}"),
            (Some(VerdictRelation::Contradicts), OverrideMode::Replace) => {
                format!("replaces the judges' votes on the pair: {counted}")
            }
            (Some(VerdictRelation::Contradicts), OverrideMode::Beside) => {
                format!("contradicts the judges' votes and stands beside them: {counted}")
            }
            (Some(VerdictRelation::Confirms), _) => {
                format!("confirms the judges' votes and stands beside them: {counted}")
            }
        };
        let mut text = format!("{words}: {effect}\n");
        for (id, from, to) in &moved {
            text.push_str(&format!("  {}  rank {from} → {to}\n", sanitise::line(id)));
        }
        if moved.is_empty() {
            text.push_str("  no document changed its rank\n");
        }
        output::text(&text)?;
        Ok(())
    }
}

/// What is in force instead of a verdict that is not.
fn other(rule: &FinalRule, in_force: Option<&Verdict>, documents: &[DocumentInfo]) -> String {
    let Some(verdict) = in_force else {
        return "people differ on the pair and no direction has a majority: the judges' votes stay as they are"
            .to_owned();
    };
    let name = |at: usize| sanitise::line(documents[at].id.as_str()).into_owned();
    format!(
        "in force is the verdict of {} ({}): {}",
        sanitise::line(&verdict.annotator),
        rule.name(),
        verdict.decision.words(&name(verdict.a), &name(verdict.b))
    )
}

/// Documents whose rank differs: identifier, rank before, rank after.
fn moves(before: &View, after: &View, documents: &[DocumentInfo]) -> Vec<(String, usize, usize)> {
    after
        .by_zelo
        .iter()
        .filter_map(|at| {
            let (from, to) = (before.standings[*at]?.rank, after.standings[*at]?.rank);
            (from != to).then(|| (documents[*at].id.to_string(), from, to))
        })
        .collect()
}

impl UndoCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        if self.ruling {
            return self.ruling(context);
        }
        let store = context.open()?;
        let annotator = context.annotator();
        let who = annotator.clone();
        let undone = store.write_blocking(move |db| {
            let Some(undone) = db.undo_verdict(&annotator, now_ms())? else {
                return Ok(None);
            };
            let (query, documents) = (db.query(undone.query)?, db.documents(undone.query)?);
            let words = crate::tui::effects::undone_text(db, &undone)?;
            Ok(Some((undone.verdict, query, documents, words)))
        })?;
        let Some((verdict, query, documents, words)) = undone else {
            return Err(CommandFailure::usage(anyhow!(
                "no verdict by {:?} to take back",
                sanitise::line(&who)
            )));
        };
        let (a, b) = (&documents[verdict.a].id, &documents[verdict.b].id);
        if self.json {
            output::json(&json!({
                "uid": verdict.uid, "query": query.id, "a": a, "b": b, "verdict": verdict.decision.name(),
            }))?;
        } else {
            let query = sanitise::line(query.id.as_str()).into_owned();
            output::text(&format!("{query}: {}\n", sanitise::line(&words)))?;
        }
        Ok(())
    }

    fn ruling(&self, context: &CommandContext) -> CommandResult {
        let annotator = context.annotator();
        let who = annotator.clone();
        let undone = context
            .open()?
            .write_blocking(move |db| db.undo_ruling(&annotator, now_ms()))?;
        let Some(undone) = undone else {
            return Err(CommandFailure::usage(anyhow!(
                "no ruling by {:?} to take back",
                sanitise::line(&who)
            )));
        };
        let ruling = undone.ruling;
        if self.json {
            return Ok(output::json(&json!({
                "uid": ruling.uid, "query": ruling.query, "document": ruling.document, "ruling": ruling.finding,
            }))?);
        }
        let query = sanitise::line(ruling.query.as_str());
        let document = sanitise::line(ruling.document.as_str());
        output::text(&format!(
            "query {query}, document {document}: taken back: {}\n",
            ruling.finding.words()
        ))?;
        Ok(())
    }
}
