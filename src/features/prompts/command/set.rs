//! `overrule prompt set`: the regression set on which prompts are tuned and tested.

use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output::{self, clean, or_dash};
use crate::domain::verdict::ErrorCause;
use crate::domain::vote::Outcome;
use crate::features::prompts::app::RegressionSet;
use crate::features::prompts::domain::{DecidedPair, SetPart};
use crate::store::corpus::{DocumentInfo, QueryKey};
use crate::store::{Db, Result};
use clap::Args;
use serde_json::{Value, json};
use std::collections::HashMap;

#[derive(Debug, Args)]
#[command(
    after_help = "The set contains the pairs whose first verdict was blind, and the gold pairs. \
60 % of the queries are for tuning, and the others are held out for the final test; the name of a \
query alone determines its part. A pair that a queue selected is weighted by the inverse of its \
selection probability.

Examples:
  overrule prompt set
  overrule prompt set --json | jq '.pairs[] | select(.part == \"tuning\")'"
)]
pub(super) struct SetCommand {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl SetCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let set = RegressionSet::read(&store)?;
        let pairs = set.pairs.clone();
        let (names, looks) =
            store.read_blocking(move |db| Ok((Names::read(db, &pairs)?, db.prompt_looks()?)))?;
        let count = |part, gold: bool| {
            let of_part = set.pairs.iter().map(|(_, of)| of);
            of_part
                .filter(|of| of.part() == part && of.is_gold == gold)
                .count()
        };
        if self.json {
            let rows: Vec<Value> = set
                .pairs
                .iter()
                .map(|(key, of)| as_json(of, names.of(*key, of)))
                .collect();
            let counts = |part| json!({"blind": count(part, false), "gold": count(part, true)});
            let looks: Vec<Value> = looks
                .iter()
                .map(|look| {
                    json!({
                        "judge": look.judge, "prompt": look.hash, "pairs": look.pairs, "p": look.p,
                        "author": look.author, "created_ms": look.created_ms,
                    })
                })
                .collect();
            return output::json(&json!({
                "tuning": counts(SetPart::Tuning),
                "held_out": counts(SetPart::HeldOut),
                "not_blind": set.not_blind,
                "pairs": rows,
                "looks": looks,
            }));
        }
        let rows: Vec<Vec<String>> = set
            .pairs
            .iter()
            .map(|(key, of)| row(of, names.of(*key, of)))
            .collect();
        let header = [
            "query", "a", "b", "people", "from", "part", ">weight", "cause", "note",
        ];
        let of_part = |part: SetPart| {
            format!(
                "{}: {} with a blind verdict, {} gold",
                part.words(),
                counted(count(part, false), "pair"),
                count(part, true)
            )
        };
        output::text(&format!(
            "{}{}\n{}\n{} left out, because the judges' votes were visible; {} at the held-out \
             part\n",
            output::table(&header, &rows),
            of_part(SetPart::Tuning),
            of_part(SetPart::HeldOut),
            counted(set.not_blind, "verdict"),
            counted(looks.len(), "look"),
        ))
    }
}

/// The documents of the queries of a set.
pub(super) struct Names(HashMap<QueryKey, Vec<DocumentInfo>>);

impl Names {
    pub(super) fn read(db: &Db, pairs: &[(QueryKey, DecidedPair)]) -> Result<Self> {
        let mut found = HashMap::new();
        for (key, _) in pairs {
            if !found.contains_key(key) {
                found.insert(*key, db.documents(*key)?);
            }
        }
        Ok(Self(found))
    }

    /// The identifiers of a pair's documents, the one earlier in the pool first.
    pub(super) fn of(&self, key: QueryKey, of: &DecidedPair) -> [String; 2] {
        [of.pair.low(), of.pair.high()].map(|at| {
            let documents = self.0.get(&key);
            let document = documents.and_then(|documents| documents.get(at));
            document.map_or_else(String::new, |document| document.id.as_str().to_owned())
        })
    }
}

/// A decision, where A is the first document.
pub(super) fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::A => "a",
        Outcome::Tie => "tie",
        Outcome::B => "b",
    }
}

fn row(of: &DecidedPair, [a, b]: [String; 2]) -> Vec<String> {
    vec![
        clean(of.query.as_str()),
        clean(&a),
        clean(&b),
        outcome_name(of.people).to_owned(),
        if of.is_gold { "gold" } else { "blind" }.to_owned(),
        of.part().words().to_owned(),
        or_dash(of.weight(), |weight| format!("{weight:.1}")),
        or_dash(of.cause.map(ErrorCause::words), str::to_owned),
        or_dash(of.note.as_deref(), clean),
    ]
}

fn as_json(of: &DecidedPair, [a, b]: [String; 2]) -> Value {
    json!({
        "query": of.query,
        "a": a,
        "b": b,
        "people": outcome_name(of.people),
        "gold": of.is_gold,
        "part": of.part(),
        "weight": of.weight(),
        "inclusion": of.inclusion,
        "cause": of.cause,
        "note": of.note,
    })
}
