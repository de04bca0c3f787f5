//! `overrule lists count`: lets list calls count in the scores of the project.

use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output;
use crate::domain::number_words::fixed;
use crate::domain::ranking::taste_words;
use crate::features::lists::app::{CountingOffer, offer_counting, set_counting};
use crate::features::lists::domain::CountingModel;
use clap::Args;
use serde_json::{Value, json};

#[derive(Debug, Args)]
#[command(
    after_help = "The lists of judges that have qualified then count in all scores, intervals and \
exports: the pairs of each list are observations next to the votes, with a weight estimated from up to \
50 queries. Verdicts are combined with them as with votes; with `--override-mode replace`, a verdict \
also takes the pair out of lists that contradict it. New lists count with the same weights; run the \
command again to estimate them anew. If the judges have tastes, the scores model them in votes and \
lists; only the default model can. With zBench's model, lists do not count.

Examples:
  overrule lists count --dry-run
  overrule lists count
  overrule lists count --off"
)]
pub(crate) struct CountCommand {
    /// List calls no longer count: scores are as they would be without them
    #[arg(long)]
    off: bool,
    /// Print the weights without changing anything
    #[arg(long, conflicts_with = "off")]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl CountCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        if self.off {
            let is_changed = set_counting(&store, None, &context.annotator())?;
            if self.json {
                return output::json(&json!({ "counts": false, "changed": is_changed }));
            }
            return output::text(if is_changed {
                "list calls no longer count\n"
            } else {
                "list calls did not count\n"
            });
        }
        let offer = offer_counting(&store)?;
        let is_changed =
            !self.dry_run && set_counting(&store, Some(offer.model.clone()), &context.annotator())?;
        if self.json {
            return output::json(&as_json(&offer, !self.dry_run, is_changed));
        }
        output::text(&as_text(&offer, self.dry_run))
    }
}

fn as_json(offer: &CountingOffer, counts: bool, is_changed: bool) -> Value {
    json!({
        "counts": counts,
        "changed": is_changed,
        "lists": offer.lists,
        "queries": offer.queries,
        "lists_not_counted": offer.unqualified,
        "weights": offer.model,
    })
}

fn as_text(offer: &CountingOffer, dry_run: bool) -> String {
    let verb = if dry_run { "would count" } else { "count" };
    let mut text = format!(
        "{} about {} {verb}\n{}",
        counted(offer.lists, "list call"),
        counted(offer.queries, "query"),
        weights(&offer.model)
    );
    if offer.unqualified > 0 {
        text += &format!(
            "not counted: {} of judges that have not qualified\n",
            counted(offer.unqualified, "list call")
        );
    }
    text + if dry_run {
        "dry run: nothing was changed\n"
    } else {
        "`overrule lists count --off` restores the scores without them\n"
    }
}

fn weights(model: &CountingModel) -> String {
    let header = ["list", "answer", ">φ", ">weight of a pair in battles"];
    let rows: Vec<Vec<String>> = model
        .kinds
        .iter()
        .map(|kind| {
            vec![
                counted(kind.size, "document"),
                kind.answer.clone(),
                fixed(kind.phi, 2),
                fixed(kind.weight, 3),
            ]
        })
        .collect();
    let tastes = if model.taste > 0.0 {
        format!("; {}", taste_words(model.taste))
    } else {
        String::new()
    };
    format!(
        "{}estimated from {}; φ of battles {}{tastes}\n",
        output::table(&header, &rows),
        counted(model.queries, "query"),
        fixed(model.battle_phi, 2)
    )
}
