//! `overrule cycles`: lists cycles (A beats B beats C beats A) and the pair that is most likely
//! wrong.

use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output;
use crate::cli::output::clean;
use crate::domain::priority::{CyclicTriad, cyclic_triads, decided_pairs, decided_pairs_of_judge};
use clap::Args;
use serde_json::{Value, json};

#[derive(Debug, Args)]
#[command(after_help = "\
A triad is cyclic if each of its three documents is preferred to the next one. At least one of its
three pairs must then be wrong. The weakest pair is the most likely one: the pair with the
smallest strength (the distance of its score from a tie) and, if several are equal, the smallest
gap in the fit.

Examples:
  overrule cycles
  overrule cycles --query 36 --json | jq '.[] | select(.judge == \"gpt\")'")]
pub(super) struct CyclesCommand {
    /// Show only this query
    #[arg(long, value_name = "ID")]
    query: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A cyclic triad with the names of its query, judge and documents.
struct NamedTriad {
    query: String,
    judge: Option<String>,
    documents: [String; 3],
    weakest: [String; 2],
    triad: CyclicTriad,
}

impl CyclesCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let query = self.query.clone();
        let rows = store.read_blocking(move |db| {
            let scope = query.map(|query| db.find_query(&query)).transpose()?;
            let mut rows = Vec::new();
            for (key, name) in db.query_names()? {
                if scope.is_some_and(|scope| scope != key) {
                    continue;
                }
                let (view, documents) = (db.view(key)?, db.documents(key)?);
                let id = |at: usize| {
                    documents
                        .get(at)
                        .map_or(String::new(), |document| document.id.to_string())
                };
                let mut add = |judge: Option<String>, triads: Vec<CyclicTriad>| {
                    rows.extend(triads.into_iter().map(|triad| NamedTriad {
                        query: name.clone(),
                        judge: judge.clone(),
                        documents: triad.documents.map(id),
                        weakest: [id(triad.weakest.low()), id(triad.weakest.high())],
                        triad,
                    }));
                };
                add(None, cyclic_triads(&decided_pairs(&view)));
                for (judge, spec) in db.judges_of(key)? {
                    add(
                        Some(spec.name),
                        cyclic_triads(&decided_pairs_of_judge(&view, judge)),
                    );
                }
            }
            Ok(rows)
        })?;
        if self.json {
            let rows: Vec<Value> = rows
                .iter()
                .map(|row| {
                    json!({
                        "query": row.query,
                        "judge": row.judge,
                        "documents": row.documents,
                        "weakest": row.weakest,
                        "strength": row.triad.strength,
                        "against": row.triad.against,
                    })
                })
                .collect();
            return output::json(&rows);
        }
        if rows.is_empty() {
            return output::text("no cyclic triad\n");
        }
        let line = |text: &str| clean(text);
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                vec![
                    line(&row.query),
                    row.judge.as_deref().map_or("ensemble".to_owned(), line),
                    line(&row.documents.join(" ")),
                    line(&row.weakest.join(" × ")),
                    format!("{:.2}", row.triad.strength),
                    format!("{:.2}", row.triad.against),
                ]
            })
            .collect();
        let header = [
            "query",
            "by",
            "documents",
            "weakest pair",
            ">strength",
            ">against it",
        ];
        output::text(&output::table(&header, &cells))
    }
}
