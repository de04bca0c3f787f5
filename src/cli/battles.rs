//! `overrule battles`: battles with every vote and its reasoning.

use super::{Context, Outcome, output};
use crate::domain::battle::Pair;
use crate::domain::ranking::View;
use crate::domain::sanitise;
use crate::domain::vote::JudgeId;
use crate::judge::{JudgeSpec, OFFLINE_LABEL};
use crate::store::corpus::DocumentInfo;
use crate::store::views::VoteDetail;
use clap::Args;
use serde_json::{Value, json};

#[derive(Debug, Args)]
#[command(
    after_help = "Margins are in −1..1: negative prefers document A. Scores are in 0..1: 0 means A is better.

Examples:
  overrule battles --query scifact-641 --document 5912283
  overrule battles --query scifact-641 --json | jq '.battles[] | select(.missing > 0)'"
)]
pub(super) struct Battles {
    /// The query's identifier
    #[arg(long)]
    query: String,
    /// Only the battles of this document
    #[arg(long)]
    document: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

struct Loaded {
    documents: Vec<DocumentInfo>,
    judges: Vec<(JudgeId, JudgeSpec)>,
    view: View,
    battles: Vec<(usize, Vec<VoteDetail>)>,
}

impl Battles {
    pub(super) fn run(self, context: &Context) -> Outcome {
        let store = context.open()?;
        let (id, document) = (self.query.clone(), self.document.clone());
        let loaded = store.read_blocking(move |db| {
            let key = db.find_query(&id)?;
            let document = document.map(|id| db.find_document(key, &id)).transpose()?;
            let view = db.view(key)?;
            let judges = db.judges_of(key)?;
            let seats: Vec<JudgeId> = judges.iter().map(|(id, _)| *id).collect();
            let wanted = match document {
                Some(document) => view.battles_with(document),
                None => (0..view.battles.len()).collect(),
            };
            let battles = wanted
                .into_iter()
                .map(|index| {
                    Ok((
                        index,
                        db.battle_votes(view.rows().battles[index].battle.id, &seats)?,
                    ))
                })
                .collect::<Result<_, crate::store::StoreError>>()?;
            Ok(Loaded {
                documents: db.documents(key)?,
                judges,
                view,
                battles,
            })
        })?;
        if self.json {
            let battles: Vec<Value> = loaded
                .battles
                .iter()
                .map(|(index, votes)| battle_json(&loaded, *index, votes))
                .collect();
            output::json(
                &json!({ "query": self.query, "document": self.document, "battles": battles }),
            )?;
        } else {
            output::text(&as_text(&loaded))?;
        }
        Ok(())
    }
}

fn judge(loaded: &Loaded, id: JudgeId) -> Option<&JudgeSpec> {
    loaded
        .judges
        .iter()
        .find(|(judge, _)| *judge == id)
        .map(|(_, spec)| spec)
}

fn battle_json(loaded: &Loaded, index: usize, votes: &[VoteDetail]) -> Value {
    let battle = loaded.view.rows().battles[index].battle;
    let numbers = loaded.view.battles[index];
    let verdict = Pair::new(battle.a, battle.b).and_then(|pair| loaded.view.verdict(pair));
    let votes: Vec<Value> = votes
        .iter()
        .map(|vote| {
            let spec = judge(loaded, vote.judge);
            json!({
                "judge": spec.map(|spec| &spec.name),
                "provider": spec.map(|spec| &spec.provider),
                "offline": spec.map(JudgeSpec::is_offline),
                "model": vote.model.as_ref().or(spec.map(|spec| &spec.model)),
                "margin": vote.result.as_ref().ok().map(|margin| margin.get()),
                "failure": vote.result.as_ref().err().map(|(cause, message)| json!({
                    "cause": cause, "message": message,
                })),
                "swapped": vote.swapped,
                "reasoning": vote.reasoning,
                "raw": vote.raw,
                "attempt": vote.attempt,
                "tokens_input": vote.tokens.0,
                "tokens_output": vote.tokens.1,
                "cost_usd": vote.cost_usd,
                "latency_ms": vote.latency_ms,
            })
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
        "verdict": verdict.map(|verdict| {
            let flipped = (verdict.a, verdict.b) != (battle.a, battle.b);
            let decision = if flipped { verdict.decision.flipped() } else { verdict.decision };
            json!({ "decision": decision.name(), "note": verdict.note, "annotator": verdict.annotator })
        }),
        "replaced": numbers.replaced,
        "votes": votes,
    })
}

fn as_text(loaded: &Loaded) -> String {
    let name = |at: usize| sanitise::line(loaded.documents[at].id.as_str()).into_owned();
    let number = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
    let mut text = String::new();
    let mut offline = false;
    for (index, votes) in &loaded.battles {
        let battle = loaded.view.rows().battles[*index].battle;
        let numbers = loaded.view.battles[*index];
        text.push_str(&format!(
            "A {}  against  B {}   score {} (0: A better)   fit expected {}   surprise {}\n",
            name(battle.a),
            name(battle.b),
            number(numbers.score),
            number(numbers.expected),
            numbers
                .surprise
                .map_or("–".to_owned(), |surprise| format!("{surprise:+.1} σ")),
        ));
        if let Some(verdict) =
            Pair::new(battle.a, battle.b).and_then(|pair| loaded.view.verdict(pair))
        {
            let words = verdict.decision.words(&name(verdict.a), &name(verdict.b));
            text.push_str(&format!(
                "  overruled by {}: {words}\n",
                sanitise::line(&verdict.annotator)
            ));
        }
        for vote in votes {
            let spec = judge(loaded, vote.judge);
            offline |= spec.is_some_and(JudgeSpec::is_offline);
            let who = spec.map_or(String::new(), |spec| {
                sanitise::line(&spec.name).into_owned()
            });
            let shown = if vote.swapped {
                "saw B first"
            } else {
                "saw A first"
            };
            match &vote.result {
                Ok(margin) => text.push_str(&format!("  {who} {:+.3} ({shown})\n", margin.get())),
                Err((cause, message)) => {
                    text.push_str(&format!(
                        "  {who} failed: {cause}: {}\n",
                        sanitise::line(message)
                    ));
                }
            }
            for line in sanitise::block(&vote.reasoning).lines() {
                text.push_str(&format!("      {line}\n"));
            }
        }
        text.push('\n');
    }
    if offline {
        text.push_str(&format!("note: {OFFLINE_LABEL}\n"));
    }
    text
}
