//! `overrule orders`: compares the hybrid order and the zELO order of a query.

use crate::app::picture::QueryOrders;
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output::{self, clean, or_dash};
use crate::cli::picture_options::PictureOptions;
use crate::domain::number_words::{counted, signed};
use crate::domain::ranking::{OrderChange, OrderComparison};
use crate::domain::sanitize;
use crate::formats::safe_json;
use crate::judge::OFFLINE_LABEL;
use clap::Args;
use serde_json::{Value, json};

#[derive(Debug, Args)]
#[command(
    after_help = "A movement with * is certain: the 95 % intervals of the ranks, which hold for \
all documents at once, exclude the rank in hybrid order. A reversed pair is certain if its zELO \
order is correct with a probability of at least 95 %.

Examples:
  overrule orders --query scifact-641
  overrule orders --query scifact-641 --svg orders.svg"
)]
pub(super) struct OrdersCommand {
    /// Query id
    #[arg(long)]
    query: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    picture: PictureOptions,
}

impl OrdersCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        self.picture.check()?;
        context.check_targets(self.picture.files(), &[], None)?;
        let store = context.open()?;
        let id = self.query;
        let orders = store.read_blocking(move |db| QueryOrders::read(db, db.find_query(&id)?))?;
        self.picture.write(|| orders.svg())?;
        if self.json {
            output::raw(&safe_json::pretty(&as_json(&orders))?)?;
        } else {
            output::text(&as_text(&orders))?;
        }
        Ok(())
    }
}

fn as_json(orders: &QueryOrders) -> Value {
    let id = |change: &OrderChange| &orders.documents[change.document].id;
    let document = |change: &OrderChange| {
        let standing = change.standing;
        let ranks = standing.interval;
        json!({
            "document": id(change),
            "rank": standing.rank,
            "hybrid_rank": change.hybrid,
            "rose": change.rose,
            "certain": ranks.map(|_| change.is_certain()),
            "zelo": standing.zelo,
            "se": standing.se,
            "rank_low": ranks.map(|ranks| ranks.low),
            "rank_high": ranks.map(|ranks| ranks.high),
            "rank_low_at_once": ranks.map(|ranks| ranks.low_at_once),
            "rank_high_at_once": ranks.map(|ranks| ranks.high_at_once),
        })
    };
    let compared = orders.comparison.as_ref();
    json!({
        "query": orders.query.id,
        "text": orders.query.text,
        "unscored": orders.documents.len() - compared.map_or(0, |all| all.changes.len()),
        "comparison": compared.map(|compared| json!({
            "top": compared.top,
            "pairs": {
                "same": compared.pairs.same,
                "reversed": compared.pairs.reversed,
                "reversed_certainly": compared.pairs.reversed_certainly,
            },
            "entered_top": compared.entered().map(id).collect::<Vec<_>>(),
            "left_top": compared.left().map(id).collect::<Vec<_>>(),
            "documents": compared.changes.iter().map(document).collect::<Vec<_>>(),
        })),
    })
}

fn as_text(orders: &QueryOrders) -> String {
    let mut text = format!(
        "{}  {}\n",
        sanitize::line(orders.query.id.as_str()),
        sanitize::line(&orders.query.text)
    );
    let Some(compared) = &orders.comparison else {
        let why = match &orders.view.fit {
            Err(error) => format!("no scores: {error}\n"),
            Ok(_) => "no scores yet: no battle is judged\n".to_owned(),
        };
        return text + &why;
    };
    for sentence in compared.sentences() {
        text.push_str(&format!("{sentence}\n"));
    }
    text.push_str(&table(orders, compared));
    let unscored = orders.documents.len() - compared.changes.len();
    if unscored > 0 {
        text.push_str(&format!(
            "note: {} without a score\n",
            counted(unscored, "document")
        ));
    }
    if let Some((student, share)) = orders.view.student_in_fit() {
        text.push_str(&format!("note: {}\n", student.words(share)));
    }
    if let Some(note) = orders.view.basis_note() {
        text.push_str(&format!("note: {note}\n"));
    }
    if orders.offline {
        text.push_str(&format!("note: {OFFLINE_LABEL}\n"));
    }
    text
}

fn table(orders: &QueryOrders, compared: &OrderComparison) -> String {
    let header = [
        ">rank",
        ">hybrid",
        "moved",
        ">zELO",
        ">SE",
        "ranks 95 %",
        "document",
        "title",
    ];
    let rows: Vec<Vec<String>> = compared
        .changes
        .iter()
        .map(|change| {
            let standing = change.standing;
            let document = &orders.documents[change.document];
            let certain = if change.is_certain() { "*" } else { "" };
            vec![
                standing.rank.to_string(),
                change.hybrid.to_string(),
                format!("{}{certain}", change.movement()),
                signed(standing.zelo, 3),
                or_dash(standing.se, |se| format!("{se:.3}")),
                or_dash(standing.interval, |ranks| {
                    format!("{}–{}", ranks.low, ranks.high)
                }),
                clean(document.id.as_str()),
                clean(document.title.as_deref().unwrap_or(&document.snippet)),
            ]
        })
        .collect();
    output::table(&header, &rows)
}
