//! `overrule lists show`: the list calls of the project, or of one query.

use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output::{self, clean, or_dash};
use crate::domain::corpus::DocId;
use crate::domain::number_words::usd;
use crate::features::lists::app::{
    AnsweredList, JudgeLists, ListOutcome, answered_lists, overview,
};
use crate::store::Store;
use clap::Args;
use serde_json::{Value, json};

#[derive(Debug, Args)]
#[command(
    after_help = "Without --query, one row per judge and kind of list; probes of \
`lists qualify` have their own. With --query, every list \
call of the query: the documents in the order shown, and the order of the answer.

Examples:
  overrule lists show
  overrule lists show --query q1 --json"
)]
pub(crate) struct ShowCommand {
    /// Print the list calls of this query
    #[arg(long, value_name = "QUERY")]
    query: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ShowCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        match &self.query {
            None => self.print_overview(&store),
            Some(query) => self.print_query(&store, query),
        }
    }

    fn print_overview(&self, store: &Store) -> CommandResult {
        let rows = store.read_blocking(|db| overview(db))?;
        if self.json {
            return output::json(&rows);
        }
        if rows.is_empty() {
            return output::text("no list calls; `overrule lists ask` makes some\n");
        }
        let header = [
            "judge",
            "calls",
            ">documents",
            "answer",
            ">queries",
            ">answered",
            ">malformed",
            ">outstanding",
            ">in batches",
            ">tokens in",
            ">tokens out",
            ">cost",
        ];
        let row = |of: &JudgeLists| {
            vec![
                clean(&of.judge),
                if of.probes { "probes" } else { "lists" }.to_owned(),
                of.size.to_string(),
                clean(&of.answer),
                of.queries.to_string(),
                of.answered.to_string(),
                of.malformed.to_string(),
                of.outstanding.to_string(),
                of.in_batches.to_string(),
                of.tokens_input.to_string(),
                of.tokens_output.to_string(),
                or_dash(of.cost_usd, usd),
            ]
        };
        let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
        output::text(&output::table(&header, &rows))
    }

    fn print_query(&self, store: &Store, query: &str) -> CommandResult {
        let query = query.to_owned();
        let lists = store.read_blocking(move |db| {
            let key = db.find_query(&query)?;
            answered_lists(db, Some(&db.query(key)?.id))
        })?;
        if self.json {
            let lists: Vec<Value> = lists.iter().map(as_json).collect();
            return output::json(&lists);
        }
        if lists.is_empty() {
            return output::text("no list calls about this query\n");
        }
        let header = [">list", "judge", "plan", ">round", "shown", "answer"];
        let rows: Vec<Vec<String>> = lists
            .iter()
            .enumerate()
            .map(|(at, of)| {
                vec![
                    (at + 1).to_string(),
                    clean(&of.list.judge),
                    clean(&of.list.plan),
                    (of.list.round + 1).to_string(),
                    names(&of.list.shown),
                    answer_words(of),
                ]
            })
            .collect();
        output::text(&output::table(&header, &rows))
    }
}

fn names(documents: &[DocId]) -> String {
    let names: Vec<String> = documents.iter().map(|name| clean(name.as_str())).collect();
    names.join(", ")
}

fn answer_words(of: &AnsweredList) -> String {
    match &of.outcome {
        ListOutcome::Outstanding => "outstanding".to_owned(),
        ListOutcome::InBatch => "in a batch".to_owned(),
        ListOutcome::Malformed(why) => format!("malformed: {}", clean(why)),
        ListOutcome::Answered(_) => {
            let name = |at: usize| of.list.shown.get(at).map_or("", |name| name.as_str());
            of.words(|at| clean(name(at))).unwrap_or_default()
        }
    }
}

fn as_json(of: &AnsweredList) -> Value {
    let reply = of.reply.as_ref();
    let malformed = match &of.outcome {
        ListOutcome::Malformed(why) => Some(why),
        ListOutcome::Outstanding | ListOutcome::InBatch | ListOutcome::Answered(_) => None,
    };
    let named = of.named();
    let order: Option<Vec<&DocId>> = named.map(|named| {
        let shown = named.into_iter().filter_map(|at| of.list.shown.get(at));
        shown.collect()
    });
    json!({
        "uid": of.list.uid,
        "query": of.list.query,
        "judge": of.list.judge,
        "model": reply.and_then(|reply| reply.model.as_ref()),
        "plan": of.list.plan,
        "round": of.list.round + 1,
        "answer_form": of.list.form,
        "shown": of.list.shown,
        "order": order,
        "malformed": malformed,
        "in_batch": of.outcome == ListOutcome::InBatch,
        "reply": reply.and_then(|reply| reply.raw.as_ref()),
        "tokens_input": reply.map(|reply| reply.tokens_input),
        "tokens_output": reply.map(|reply| reply.tokens_output),
        "cost_usd": reply.and_then(|reply| reply.cost_usd),
    })
}
