//! `overrule queue`: lists the pairs that a person should judge, in order.

use super::argument::share;
use crate::app::review::review_queue::{
    QueueItem, QueueItemState, QueueRequest, build_review_queue, judged_conflicts,
};
use crate::cli::command::{CommandContext, CommandResult, annotator, usage};
use crate::cli::output;
use crate::cli::output::{JsonArray, clean};
use crate::domain::battle::Pair;
use crate::domain::number_words::counted;
use crate::domain::priority::{DrawReason, Policy};
use crate::domain::sanitize;
use crate::registry;
use crate::store::assignments::NewAssignment;
use crate::store::corpus::QueryKey;
use crate::store::printed_items::PrintedPair;
use clap::Args;
use serde_json::json;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io::IsTerminal as _;

#[derive(Debug, Args)]
#[command(after_help = "Policies:
  value      P(the ensemble is wrong) × P(one of the two is truly among the top 10, or the
             project's top k) (default)
  impact     how much the top of the ranking would change with the opposite outcome
  uncertain  the fit cannot tell yet which of the two is better
  split      the judges disagree
  surprise   the votes contradict the other battles
  cycle      the weakest link of a cycle (A over B over C over A)
  student    the votes differ from the prediction of the project's student
  failed     votes are missing
  random     all battles in random order
  accept     the controls of `overrule accept`, then the battles that it did not accept
  proposed   an agent proposes a verdict (`overrule mcp`), and nobody has given one
  mixed      value, plus a quarter random controls and a few repeats; needed to estimate the
             judges' accuracy

The order depends only on the seed, the annotator and the project. Pairs that the annotator has \
judged are skipped. `chance` is the probability of drawing the pair at its position: 1 by priority, \
1/n for a control, none for a repeat.

`overrule override --item ID` records a blind verdict on an item, where A is the document printed \
first. Your ledger then contains the item and the items above it that you skipped, in this order; \
printing the queue does not change the ledger.

Examples:
  overrule queue
  overrule queue --policy impact --limit 12
  overrule queue --policy mixed --query 36 --json | jq '.[0]'")]
pub(super) struct QueueCommand {
    /// Order of the queue [default: judging.policy of the configuration, or value]
    #[arg(long)]
    policy: Option<Policy>,
    /// Show only this query
    #[arg(long, value_name = "ID")]
    query: Option<String>,
    /// Share of the pairs judged by others to judge again [default: judging.overlap of the
    /// configuration]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    overlap: Option<f64>,
    /// Show only pairs on which people differ
    #[arg(long)]
    conflicts: bool,
    /// Show only battles on which this judge disagrees with the others
    #[arg(long, value_name = "NAME")]
    against: Option<String>,
    /// Maximum number of items
    #[arg(long, default_value_t = 20, value_name = "N")]
    limit: usize,
    /// Annotator whose queue to show [default: you]
    #[arg(long, value_name = "NAME", value_parser = annotator)]
    annotator: Option<String>,
    /// Random seed
    #[arg(long)]
    seed: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl QueueCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let scope = match &self.query {
            Some(query) => {
                let query = query.clone();
                Some(store.read_blocking(move |db| db.find_query(&query))?)
            }
            None => None,
        };
        let at_terminal = std::io::stderr().is_terminal();
        store.refresh_priorities(&mut |left| {
            if at_terminal && left > 0 && left % 100 == 0 {
                output::message(&format!(
                    "computing priorities: {} left",
                    counted(left, "query")
                ));
            }
        })?;
        let against = match &self.against {
            Some(name) => {
                let judges = store.read_blocking(|db| db.all_judges())?;
                Some(
                    judges
                        .iter()
                        .find(|(_, spec)| spec.name == *name)
                        .map(|(id, _)| *id)
                        .ok_or_else(|| {
                            usage!(
                                "--against: no judge of this project is called {:?}",
                                sanitize::line(name)
                            )
                        })?,
                )
            }
            None => None,
        };
        let policy = self.policy.unwrap_or(context.config.judging.policy);
        let named = store.read_blocking(|db| registry::named_opinion(db))?;
        if policy == Policy::Student && named.is_none() {
            return Err(usage!(
                "--policy student: the project has no student; set one with `overrule config \
                 project --student NAME`"
            ));
        }
        let request = QueueRequest {
            only: None,
            conflicts: self.conflicts,
            gold: context.config.judging.gold,
            overlap: self.overlap.unwrap_or(context.config.judging.overlap),
            against,
            policy,
            scope,
            annotator: self.annotator.unwrap_or_else(|| context.config.annotator()),
            seed: self.seed.unwrap_or(context.config.run.seed),
            limit: self.limit,
        };
        let (seed, annotator) = (request.seed, request.annotator.clone());
        let (items, names, judged) = store.read_blocking(move |db| {
            let judged = if request.conflicts {
                judged_conflicts(db, &request.annotator, request.scope)?
            } else {
                0
            };
            let gold: HashSet<(QueryKey, Option<Pair>)> = db
                .gold(request.scope)?
                .into_iter()
                .map(|(query, item)| (query, Pair::new(item.a, item.b)))
                .collect();
            let items = build_review_queue(db, &request)?;
            let mut names: HashMap<_, (String, Vec<String>)> = HashMap::new();
            for item in &items {
                if let Entry::Vacant(place) = names.entry(item.query) {
                    let documents = db.documents(item.query)?;
                    let ids = documents.iter().map(|document| document.id.to_string());
                    let name = db.query(item.query)?.id.to_string();
                    place.insert((name, ids.collect()));
                }
            }
            let items: Vec<(QueueItem, bool)> = items
                .into_iter()
                .map(|item| (item, gold.contains(&(item.query, Some(item.pair)))))
                .collect();
            Ok((items, names, judged))
        })?;
        let printed = items.iter().map(|(item, _)| {
            let (a, b) = item.sides(seed, &annotator);
            PrintedPair {
                query: item.query,
                a,
                b,
                item: NewAssignment {
                    policy,
                    draw: item.draw,
                },
            }
        });
        let printed: Vec<PrintedPair> = printed.collect();
        let (printed, ids): (_, Vec<Option<String>>) = if store.is_read_only() {
            let none = vec![None; printed.len()];
            (printed, none)
        } else {
            let (printed, ids) = store.write_blocking(move |db| {
                let ids = db.print_pairs(&annotator, &printed)?;
                Ok((printed, ids))
            })?;
            (printed, ids.into_iter().map(Some).collect())
        };
        let named = |pair: &PrintedPair| -> [String; 3] {
            let Some((query, ids)) = names.get(&pair.query) else {
                return Default::default();
            };
            let id = |at: usize| ids.get(at).cloned().unwrap_or_default();
            [query.clone(), id(pair.a), id(pair.b)]
        };
        let lines = items.iter().zip(&printed).zip(&ids);
        if judged > 0 {
            output::message(&format!(
                "people differ on {} already judged by you; somebody else must resolve this, or you \
                 can change your verdict",
                counted(judged, "pair")
            ));
        }
        if self.json {
            let mut rows = JsonArray::new();
            for (((item, gold), pair), id) in lines {
                let [query, a, b] = named(pair);
                rows.push(&json!({
                    "item": id,
                    "query": query, "a": a, "b": b,
                    "policy": policy,
                    "priority": item.priority,
                    "draw": draw_name(item.draw),
                    "chance": item.draw.chance(),
                    "sampling": {
                        "policy": policy,
                        "inclusion": item.draw.chance(),
                        "control": matches!(item.draw, DrawReason::Control { .. }),
                        "repeat": item.draw == DrawReason::Repeat,
                        "gold": gold,
                    },
                    "standing": standing_name(item.standing),
                }))?;
            }
            return rows.end();
        }
        if items.is_empty() {
            return output::text(match (self.conflicts, judged) {
                (true, 0) => "people differ on no pair\n",
                (true, _) => "people differ on no other pair\n",
                (false, _) if policy == Policy::Accept => {
                    "no pair to review; `overrule accept` starts an acceptance or reports it\n"
                }
                (false, _) => "no pair to review under this policy\n",
            });
        }
        let rows: Vec<Vec<String>> = lines
            .enumerate()
            .map(|(at, (((item, _), pair), id))| {
                let [query, a, b] = named(pair);
                vec![
                    (at + 1).to_string(),
                    id.clone().unwrap_or_default(),
                    clean(&query),
                    clean(&a),
                    clean(&b),
                    item.priority
                        .map_or("–".to_owned(), |priority| format!("{priority:.3}")),
                    draw_name(item.draw).to_owned(),
                    standing_name(item.standing).to_owned(),
                ]
            })
            .collect();
        let header = [">", "item", "query", "a", "b", ">priority", "by", ""];
        output::text(&output::table(&header, &rows))?;
        output::message(&format!("{policy}: {}", policy.words()));
        Ok(())
    }
}

fn draw_name(draw: DrawReason) -> &'static str {
    match draw {
        DrawReason::Priority => "priority",
        DrawReason::Control { .. } => "control",
        DrawReason::Repeat => "repeat",
    }
}

fn standing_name(standing: QueueItemState) -> &'static str {
    match standing {
        QueueItemState::Fresh => "",
        QueueItemState::Again => "undone",
        QueueItemState::PassedOver => "skipped",
        QueueItemState::Later => "postponed",
    }
}
