//! `overrule rule`: a person's ruling on a label.

use crate::app::adjudication::data::ruling_context;
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output;
use crate::client::now_ms;
use crate::domain::adjudication::{
    DisagreementCause, Finding, LabelCorrection, Ruling, rulings_in_force,
};
use crate::domain::corpus::DocId;
use crate::domain::sanitise;
use crate::store::rulings::NewRuling;
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
#[command(
    after_help = "Any document of a pool can be ruled on, also one on which picks and label agree. A ruling changes no file: `overrule export qrels
--corrected` writes the labels that follow, `overrule adjudication` shows what that makes of the rankings, `overrule undo
--ruling` takes the latest one back. In the workbench (key C) label and picks stay hidden until you have ruled.

Example:
  overrule rule --query 1 --document 21456232 --ruling relevant --cause label-missing --note \"states the effect\""
)]
pub(super) struct RuleCommand {
    /// The query's identifier
    #[arg(long)]
    query: String,
    /// The document's identifier
    #[arg(long)]
    document: String,
    /// relevant, partially, not or cannot-tell
    #[arg(long, value_name = "FINDING")]
    ruling: Finding,
    /// Why label and picks differ: label-wrong, label-missing, judge-wrong, both-defensible or query-unclear
    #[arg(long)]
    cause: Option<DisagreementCause>,
    /// Why, in your words
    #[arg(long)]
    note: Option<String>,
    /// The grade from which on a document counts as labelled relevant
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl RuleCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let (name, document) = (self.query.clone(), DocId::new(self.document.as_str()));
        let (finding, fault, note) = (self.ruling, self.cause, self.note.clone());
        let (annotator, level) = (context.annotator(), self.level);
        let (uid, correction, rule) = store.write_blocking(move |db| {
            let query = db.find_query(&name)?;
            let about = ruling_context(db, query, &document, level)?;
            let before = about.grade;
            let uid = db.add_ruling(&NewRuling {
                query,
                document: document.clone(),
                finding,
                fault,
                note,
                annotator,
                created_ms: now_ms(),
                about,
                after_reveal: false,
            })?;
            let rule = db.final_rule()?;
            let standing = db.rulings_on(query, &document)?.into_iter();
            let standing: Vec<Ruling> = standing.map(|row| row.ruling).collect();
            let in_force = rulings_in_force(&rule, &standing).0.pop();
            let correction = in_force.map(|ruling| LabelCorrection::of(ruling, before));
            Ok((uid, correction, rule))
        })?;
        let in_force = correction.as_ref().is_some_and(|one| one.ruling.uid == uid);
        let label = |grade: Option<i32>| grade.map_or("none".to_owned(), |grade| grade.to_string());
        let (before, after) = match &correction {
            Some(one) => (one.before, one.after),
            None => (None, None),
        };
        if self.json {
            return output::json(&json!({
                "uid": uid,
                "query": self.query,
                "document": self.document,
                "ruling": finding,
                "cause": fault,
                "final": rule.name(),
                "in_force": in_force,
                "label_before": before,
                "label_after": after,
            }));
        }
        let effect = match &correction {
            Some(one) if in_force && one.changes() => {
                format!("label {} → {}", label(before), label(after))
            }
            Some(_) if in_force => format!("the label stays as it is ({})", label(before)),
            Some(one) => format!(
                "stored; in force is the ruling of {} ({}): {}",
                sanitise::line(&one.ruling.annotator),
                rule.name(),
                one.ruling.finding.words()
            ),
            None => "stored; people differ and no side has a majority: the label stays".to_owned(),
        };
        let (query, document) = (sanitise::line(&self.query), sanitise::line(&self.document));
        let words = finding.words();
        if fault == Some(DisagreementCause::LabelMissing)
            && before.is_some_and(|grade| grade >= level)
        {
            output::message(
                "note: the document is labelled relevant; label-missing says that nobody labelled it",
            );
        }
        output::text(&format!(
            "query {query}, document {document}: {words}; {effect}\n"
        ))?;
        Ok(())
    }
}
