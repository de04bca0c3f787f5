//! `overrule battles`: lists battles with all votes and their reasoning.

use crate::app::battles::QueryBattles;
use crate::app::embedded_reasoning::REASONING_GONE;
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output;
use crate::cli::output::{clean, or_dash};
use crate::domain::battle::{Battle, Pair};
use crate::domain::document_names::distinct_names;
use crate::domain::ranking::{OrderEffect, View, VoteCount, share_bar};
use crate::domain::reasoning::{self, OTHER_ORDER};
use crate::domain::sanitize;
use crate::domain::vote::{Margin, Outcome};
use crate::judge::{JudgeSpec, OFFLINE_LABEL};
use crate::store::vote_details::{VoteDetail, VoteReasoning};
use clap::Args;
use serde_json::{Value, json};

/// Columns of the bar next to a battle's votes.
const BAR: usize = 8;

#[derive(Debug, Args)]
#[command(
    after_help = "\"A 3 : 0 B\" counts votes: three for A, none for B. A judge's vote is shown as \
                  the document that it prefers and how strongly, from 0 to 1. The reasoning of a \
                  judge that saw B first is shown with A and B exchanged; if its words leave open \
                  which document they mean, it is shown as written, with a note.
In --json, margins are in −1..1, where negative values prefer A, and scores are in 0..1, where 0
means that A is better.

Examples:
  overrule battles --query scifact-641
  overrule battles --query scifact-641 --document 5912283
  overrule battles --query scifact-641 --json | jq '.battles[] | select(.missing > 0)'"
)]
pub(super) struct BattlesCommand {
    /// Query id
    #[arg(long)]
    query: String,
    /// Show only battles of this document
    #[arg(long)]
    document: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl BattlesCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let (query, document) = (self.query.clone(), self.document.clone());
        let loaded =
            store.read_blocking(move |db| QueryBattles::load(db, &query, document.as_deref()))?;
        if self.json {
            let battles: Vec<Value> = loaded
                .battles
                .iter()
                .map(|(index, votes)| battle_json(&loaded, *index, votes))
                .collect();
            let unfought: Vec<Value> = loaded
                .unfought
                .iter()
                .map(|pair| pair_json(&loaded, *pair))
                .collect();
            output::json(&json!({
                "query": self.query,
                "document": self.document,
                "battles": battles,
                "judged_without_battle": unfought,
            }))?;
        } else {
            output::text(&as_text(&loaded))?;
        }
        Ok(())
    }
}

fn battle_json(loaded: &QueryBattles, index: usize, votes: &[VoteDetail]) -> Value {
    let record = &loaded.view.rows().battles[index];
    let (battle, numbers) = (record.battle, loaded.view.battles[index]);
    let asked = loaded.judges.iter().filter(|(id, _)| record.is_asked(*id));
    let asked: Vec<&str> = asked.map(|(_, spec)| spec.name.as_str()).collect();
    let pair = Pair::new(battle.a, battle.b);
    let verdict = pair.map_or(Value::Null, |pair| in_force(loaded, pair, battle.a));
    let (said, conflict) = pair.map_or((json!([]), false), |pair| loaded.said.json(pair, battle.a));
    let flips = loaded.view.flips(battle.a, battle.b);
    let flips: Vec<&str> = flips
        .filter_map(|judge| Some(loaded.judge(judge)?.name.as_str()))
        .collect();
    let votes: Vec<Value> = votes
        .iter()
        .map(|vote| {
            let spec = loaded.judge(vote.judge);
            let mut json = json!({
                "judge": spec.map(|spec| &spec.name),
                "provider": spec.map(|spec| &spec.provider),
                "offline": spec.map(JudgeSpec::is_offline),
                "model": vote.model.as_ref().or(spec.map(|spec| &spec.model)),
                "margin": vote.result.as_ref().ok().map(|margin| margin.get()),
                "failure": vote.result.as_ref().err().map(|(cause, message)| json!({
                    "cause": cause, "message": message,
                })),
                "swapped": vote.swapped,
                "reasoning": vote.reasoning.text(),
                "raw": vote.raw,
                "attempt": vote.attempt,
                "tokens_input": vote.tokens.0,
                "tokens_output": vote.tokens.1,
                "cost_usd": vote.cost_usd,
                "latency_ms": vote.latency_ms,
            });
            if vote.reasoning == VoteReasoning::Gone {
                json["reasoning_note"] = REASONING_GONE.into();
            }
            json
        })
        .collect();
    json!({
        "battle": battle.id,
        "a": loaded.documents[battle.a].id,
        "b": loaded.documents[battle.b].id,
        "game": battle.game,
        "score": numbers.score,
        "expected": numbers.expected,
        "surprise": numbers.surprise,
        "missing": numbers.missing,
        "asked": asked,
        "verdict": verdict,
        "said": said,
        "conflict": conflict,
        "replaced": numbers.replaced,
        "flips": flips,
        "votes": votes,
        "other_answers": loaded.view.answer_words([battle.a, battle.b], |at| {
            loaded.documents[at].id.to_string()
        }),
    })
}

/// The effective verdict on a pair, seen with document `a` first.
fn in_force(loaded: &QueryBattles, pair: Pair, a: usize) -> Value {
    loaded.view.verdict(pair).map_or(Value::Null, |verdict| {
        let decision = verdict.seen_from(a).name();
        json!({ "decision": decision, "note": verdict.note, "annotator": verdict.annotator })
    })
}

fn pair_json(loaded: &QueryBattles, pair: Pair) -> Value {
    let (said, conflict) = loaded.said.json(pair, pair.low());
    json!({
        "a": loaded.documents[pair.low()].id,
        "b": loaded.documents[pair.high()].id,
        "verdict": in_force(loaded, pair, pair.low()),
        "said": said,
        "conflict": conflict,
    })
}

/// Characters of a document's name.
const NAME: usize = 64;

/// Names that tell the documents of a pair apart: their titles, or texts without one, or else
/// identifiers.
fn names(loaded: &QueryBattles, pair: [usize; 2]) -> [String; 2] {
    let documents = pair.map(|at| &loaded.documents[at]);
    let [a, b] = documents.map(|document| document.title().unwrap_or(&document.snippet));
    let names = distinct_names(a, b, NAME).map(|names| names.map(clean));
    names.unwrap_or_else(|| documents.map(|document| clean(document.id.as_str())))
}

/// `A  Sleep in adults (4688340)` and the same for B.
fn heading(loaded: &QueryBattles, pair: [usize; 2], names: &[String; 2]) -> String {
    let line = |letter: &str, at: usize, name: &str| {
        let id = clean(loaded.documents[at].id.as_str());
        if id == name {
            format!("{letter}  {id}\n")
        } else {
            format!("{letter}  {name} ({id})\n")
        }
    };
    line("A", pair[0], &names[0]) + &line("B", pair[1], &names[1])
}

/// The effective verdict on a pair, and who said what, indented.
fn people_text(loaded: &QueryBattles, pair: Pair, name: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    if let Some(verdict) = loaded.view.verdict(pair) {
        let words = verdict.decision.words(&name(verdict.a), &name(verdict.b));
        let who = sanitize::line(&verdict.annotator);
        text = format!("  overruled by {who}: {words}\n");
    }
    text + &loaded.said.lines(pair, name)
}

/// The distribution of the battle's votes as words and as a bar, and A's share if it is not a plain
/// count.
fn score_text(view: &View, index: usize) -> String {
    let count: VoteCount = view.rows().battles[index]
        .votes
        .iter()
        .map(|vote| vote.margin.outcome())
        .collect();
    let Some(share) = view.battles[index].score.map(|for_b| 1.0 - for_b) else {
        return count.to_string();
    };
    let (for_a, for_b) = share_bar(share, BAR);
    let counted = match count.share() {
        Some(plain) if (plain - share).abs() < 0.005 => String::new(),
        _ => format!(" (counts as {:.1} % for A)", 100.0 * share),
    };
    format!("{count} {for_a}{for_b}{counted}")
}

/// `A 0.430`, `B 0.200`, `a tie`: the document that a margin prefers, and how strongly.
fn margin_text(margin: Margin) -> String {
    match margin.outcome() {
        Outcome::Tie => "a tie".to_owned(),
        Outcome::A => format!("A {:.3}", -margin.get()),
        Outcome::B => format!("B {:.3}", margin.get()),
    }
}

/// `prefers: Sleep in adults (A 0.430)`, or `says: a tie`.
fn preference(margin: Margin, [a, b]: &[String; 2]) -> String {
    let name = match margin.outcome() {
        Outcome::Tie => return "says: a tie".to_owned(),
        Outcome::A => a,
        Outcome::B => b,
    };
    format!("prefers: {name} ({})", margin_text(margin))
}

/// The judge's answer on the pair in the other order, if it was asked.
fn order_words(loaded: &QueryBattles, battle: Battle, vote: &VoteDetail) -> String {
    let view = &loaded.view;
    let by_order = view.margins_by_order(vote.judge, battle.a, battle.b);
    let effect = match view.order_effect(vote.judge, battle.a, battle.b) {
        None => return String::new(),
        Some(OrderEffect::None) => "the same answer",
        Some(OrderEffect::TieOnce) => "a tie in one order only",
        Some(OrderEffect::Flip) => "flip",
    };
    by_order[usize::from(!vote.swapped)].map_or(String::new(), |other| {
        format!(", in the other order {}: {effect}", margin_text(other))
    })
}

fn as_text(loaded: &QueryBattles) -> String {
    let mut text = String::new();
    let mut offline = false;
    for (index, votes) in &loaded.battles {
        let battle = loaded.view.rows().battles[*index].battle;
        let numbers = loaded.view.battles[*index];
        let sides = [battle.a, battle.b];
        let names = names(loaded, sides);
        let name = |at: usize| names[usize::from(at == battle.b)].clone();
        text.push_str(&heading(loaded, sides, &names));
        text.push_str(&format!(
            "  {}   fit: A wins {}   surprise {}\n",
            score_text(&loaded.view, *index),
            or_dash(numbers.expected, |for_b| format!(
                "{:.1} %",
                100.0 * (1.0 - for_b)
            )),
            or_dash(numbers.surprise, |surprise| {
                let towards = if surprise < 0.0 { "A" } else { "B" };
                format!("{:.1} σ to {towards}", surprise.abs())
            }),
        ));
        if let Some(pair) = Pair::new(battle.a, battle.b) {
            text.push_str(&people_text(loaded, pair, name));
        }
        let letter = |at: usize| if at == battle.a { "A" } else { "B" }.to_owned();
        for words in loaded.view.answer_words(sides, letter) {
            text.push_str(&format!("  {words}\n"));
        }
        for vote in votes {
            let spec = loaded.judge(vote.judge);
            offline |= spec.is_some_and(JudgeSpec::is_offline);
            let who = spec.map_or(String::new(), |spec| clean(&spec.name));
            match &vote.result {
                Ok(margin) => {
                    let shown = if vote.swapped { "B" } else { "A" };
                    text.push_str(&format!(
                        "  {who} {}, saw {shown} first{}\n",
                        preference(*margin, &names),
                        order_words(loaded, battle, vote)
                    ));
                }
                Err((cause, message)) => {
                    text.push_str(&format!(
                        "  {who} failed: {cause}: {}\n",
                        sanitize::line(message)
                    ));
                }
            }
            let reasoning = sanitize::block(vote.reasoning.text());
            let shown = reasoning::oriented(&reasoning, vote.swapped);
            if shown.is_reversed {
                text.push_str(&format!("      ({OTHER_ORDER})\n"));
            }
            for line in shown.text.lines() {
                text.push_str(&format!("      {line}\n"));
            }
            if vote.reasoning == VoteReasoning::Gone {
                text.push_str(&format!("      {REASONING_GONE}\n"));
            }
        }
        text.push('\n');
    }
    for pair in &loaded.unfought {
        let sides = [pair.low(), pair.high()];
        let names = names(loaded, sides);
        let name = |at: usize| names[usize::from(at == pair.high())].clone();
        text.push_str(&heading(loaded, sides, &names));
        text.push_str("  never fought\n");
        text.push_str(&people_text(loaded, *pair, name));
        text.push('\n');
    }
    if offline {
        text.push_str(&format!("note: {OFFLINE_LABEL}\n"));
    }
    text
}
