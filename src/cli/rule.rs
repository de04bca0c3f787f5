//! `overrule rule`: records a person's ruling on a label.

use crate::app::adjudication::rule::{LabelRuling, RulingTarget, rule_on_label};
use crate::cli::command::{CommandContext, CommandResult, usage};
use crate::cli::output;
use crate::cli::similar_name::note_similar_name;
use crate::domain::adjudication::{DisagreementCause, Finding};
use crate::domain::corpus::DocId;
use crate::domain::sanitize;
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
#[command(after_help = "\
You can rule on any document of a pool, including documents on which picks and label agree. A
ruling changes no file: `overrule export qrels --corrected` writes the corrected labels, `overrule
adjudication` shows how they change the rankings, and `overrule undo --ruling` undoes the latest
ruling. In the workbench (key C), label and picks stay hidden until you have ruled. --item answers
an item that `overrule adjudication --disagreements` printed for you, and records whether it was
sampled at random.

Examples:
  overrule rule --item 4kx0t9m2qz --ruling relevant
  overrule rule --query 1 --document 21456232 --ruling relevant --cause label-missing \
  --note \"states the effect\"")]
pub(super) struct RuleCommand {
    /// Item of `overrule adjudication --disagreements` to answer, instead of --query and --document
    #[arg(long, value_name = "ID", conflicts_with_all = ["query", "document"])]
    item: Option<String>,
    /// Query id
    #[arg(long, required_unless_present = "item", value_name = "QUERY")]
    query: Option<String>,
    /// Document id
    #[arg(long, required_unless_present = "item", value_name = "DOCUMENT")]
    document: Option<String>,
    /// relevant, partially, not or cannot-tell
    #[arg(long, value_name = "FINDING")]
    ruling: Finding,
    /// Why label and picks differ: label-wrong, label-missing, judge-wrong, both-defensible or
    /// query-unclear
    #[arg(long)]
    cause: Option<DisagreementCause>,
    /// Reason
    #[arg(long, allow_hyphen_values = true)]
    note: Option<String>,
    /// Lowest grade that counts as relevant
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl RuleCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let (finding, cause) = (self.ruling, self.cause);
        let on = match (self.item.clone(), self.query, self.document) {
            (Some(item), ..) => RulingTarget::Item(item),
            (None, Some(query), Some(document)) => RulingTarget::Document {
                query,
                document: DocId::new(document),
            },
            _ => return Err(usage!("expected --item, or --query and --document")),
        };
        note_similar_name(context, &store)?;
        let ruled = rule_on_label(
            &store,
            LabelRuling {
                on,
                finding,
                cause,
                note: self.note,
                annotator: context.annotator(),
                level: self.level,
            },
        )?;
        let in_force = ruled.is_in_force();
        let label = |grade: Option<i32>| grade.map_or("none".to_owned(), |grade| grade.to_string());
        let correction = ruled.correction.as_ref();
        let before = correction.and_then(|one| one.before);
        let after = correction.and_then(|one| one.after);
        if self.json {
            return output::json(&json!({
                "uid": ruled.uid,
                "item": self.item,
                "query": ruled.query,
                "document": ruled.document,
                "ruling": finding,
                "cause": cause,
                "final": ruled.rule.name(),
                "in_force": in_force,
                "label_before": before,
                "label_after": after,
            }));
        }
        let effect = match correction {
            Some(one) if in_force && one.changes() => {
                format!("label {} → {}", label(before), label(after))
            }
            Some(_) if in_force => format!("the label stays as it is ({})", label(before)),
            Some(one) => format!(
                "stored; the ruling of {} counts ({}): {}",
                sanitize::line(&one.ruling.annotator),
                ruled.rule.name(),
                one.ruling.finding.words()
            ),
            None => "stored; people differ and no side has a majority: the label stays".to_owned(),
        };
        let label_missing = cause == Some(DisagreementCause::LabelMissing);
        if label_missing && before.is_some_and(|grade| grade >= self.level) {
            output::message(
                "note: the document is labeled relevant, but label-missing says that nobody labeled it",
            );
        }
        let query = sanitize::line(ruled.query.as_str());
        let document = sanitize::line(ruled.document.as_str());
        output::text(&format!(
            "query {query}, document {document}: {}; {effect}\n",
            finding.words()
        ))
    }
}
