//! `overrule gold`: pairs with a known answer, to measure people by.

use crate::cli::command::{CommandContext, CommandResult, usage};
use crate::cli::output;
use crate::cli::output::clean;
use crate::domain::sanitise;
use crate::domain::verdict::GoldItem;
use crate::formats::file;
use crate::formats::gold::{GoldLine, read_gold};
use crate::formats::problem::Problem;
use crate::store::gold::GoldAdded;
use crate::store::{Db, StoreError};
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::BufReader;
use std::path::PathBuf;

/// Problems printed before the rest is only counted.
const SHOWN: usize = 50;

#[derive(Debug, Args)]
pub(super) struct GoldCommand {
    #[command(subcommand)]
    action: GoldAction,
}

#[derive(Debug, Subcommand)]
enum GoldAction {
    /// Bring pairs with a known answer into the project
    Import(GoldImportCommand),
    /// The pairs with a known answer, and how people do on them
    List(GoldListCommand),
}

#[derive(Debug, Args)]
#[command(
    after_help = "JSON lines, or CSV with a header, with the fields query, a, b, decision and perhaps note. The decision is a, b, tie,
much-a or much-b. Queries and documents must be in the project. A file with errors changes nothing.

Examples:
  overrule gold import gold.csv
  echo '{\"query\":\"q1\",\"a\":\"d1\",\"b\":\"d2\",\"decision\":\"a\",\"note\":\"from the guideline\"}' > g.jsonl && overrule gold import g.jsonl"
)]
struct GoldImportCommand {
    /// The file
    path: PathBuf,
    /// Let the file's answers take the place of others that are there
    #[arg(long)]
    replace: bool,
    /// Check the file and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  overrule gold list --json | jq .people")]
struct GoldListCommand {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Default)]
struct GoldImportCounts {
    new: usize,
    same: usize,
    replaced: usize,
    problems: Vec<Problem>,
}

impl GoldCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        match self.action {
            GoldAction::Import(import) => import.run(context),
            GoldAction::List(list) => list.run(context),
        }
    }
}

impl GoldImportCommand {
    fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let name = self.path.display().to_string();
        let file =
            file::open(&self.path).map_err(|error| usage!("{name}: cannot be opened: {error}"))?;
        let (items, problems) = read_gold(BufReader::new(file), &name);
        if items.is_empty() && problems.is_empty() {
            return Err(usage!(
                "{name}: holds no item; expected query, a, b and decision a line"
            ));
        }
        let (replace, file) = (self.replace, name.clone());
        let keep = problems.is_empty() && !self.dry_run;
        // What cannot be kept whole is not kept at all.
        let work = move |db: &mut Db| -> Result<GoldImportCounts, StoreError> {
            let mut added = None;
            let tried = db.atomically(|db| {
                let all = add(db, &items, &file, replace)?;
                let good = all.problems.is_empty() && keep;
                added = Some(all);
                match good {
                    true => Ok(()),
                    false => Err(StoreError::Conflict("not kept".to_owned())),
                }
            });
            match (added, tried) {
                (Some(added), _) => Ok(added),
                (None, Err(error)) => Err(error),
                (None, Ok(())) => Ok(GoldImportCounts::default()),
            }
        };
        let mut added = store.write_blocking(work)?;
        added.problems.splice(0..0, problems);
        added.problems.sort_by_key(|problem| problem.line);
        for problem in added.problems.iter().take(SHOWN) {
            output::message(&problem.to_string());
        }
        if !added.problems.is_empty() {
            return Err(usage!(
                "{name}: {} problems, nothing imported; mend the file",
                added.problems.len()
            ));
        }
        if self.json {
            return output::json(&json!({
                "file": name,
                "added": added.new,
                "unchanged": added.same,
                "replaced": added.replaced,
                "dry_run": self.dry_run,
            }));
        }
        let what = if self.dry_run {
            "would be added"
        } else {
            "added"
        };
        output::text(&format!(
            "{}: {} gold items {what}, {} replaced, {} were there already\n",
            sanitise::line(&name),
            added.new,
            added.replaced,
            added.same
        ))
    }
}

fn add(
    db: &Db,
    items: &[GoldLine],
    file: &str,
    replace: bool,
) -> Result<GoldImportCounts, StoreError> {
    let mut added = GoldImportCounts::default();
    // Within one file nothing gives way.
    let mut own = std::collections::HashSet::new();
    for line in items {
        let problem = |what: &str| Problem::new(file, Some(line.line), what);
        let found = db.find_query(line.query.as_str()).and_then(|query| {
            let a = db.find_document(query, line.a.as_str())?;
            Ok((query, a, db.find_document(query, line.b.as_str())?))
        });
        let (query, a, b) = match found {
            Ok(found) => found,
            Err(StoreError::NotFound(what)) => {
                added.problems.push(problem(&what));
                continue;
            }
            Err(error) => return Err(error),
        };
        let item = GoldItem {
            a,
            b,
            decision: line.decision,
            note: line.note.clone(),
        };
        let first = own.insert((query, a.min(b), a.max(b)));
        match db.add_gold(query, &item, replace && first)? {
            GoldAdded::New => added.new += 1,
            GoldAdded::Same => added.same += 1,
            GoldAdded::Replaced => added.replaced += 1,
            GoldAdded::Contradicts(other) => {
                let remedy = match first {
                    true => "use --replace to let this one count",
                    false => "keep one of the two lines",
                };
                added.problems.push(problem(&format!(
                    "the pair's known answer is {other}, not {}; {remedy}",
                    line.decision
                )));
            }
        }
    }
    Ok(added)
}

impl GoldListCommand {
    fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let (items, people) = store.read_blocking(|db| {
            let mut items = Vec::new();
            let mut documents = Vec::new();
            let mut last = None;
            for (key, item) in db.gold(None)? {
                if last != Some(key) {
                    documents = db.documents(key)?;
                    last = Some(key);
                }
                let name = |at: usize| documents.get(at).map(|document| document.id.to_string());
                let (a, b) = (name(item.a), name(item.b));
                items.push((db.query(key)?.id, a, b, item));
            }
            Ok((items, db.gold_scores()?))
        })?;
        if self.json {
            let items: Vec<_> = items
                .iter()
                .map(|(query, a, b, item)| {
                    json!({ "query": query, "a": a, "b": b, "decision": item.decision.name(), "note": item.note })
                })
                .collect();
            let people: Vec<_> = people
                .iter()
                .map(|(annotator, score)| {
                    json!({
                        "annotator": annotator,
                        "right": score.right,
                        "judged": score.judged,
                        "cannot_tell": score.cannot_tell,
                        "share": score.share(),
                        "interval_95": score.interval(),
                    })
                })
                .collect();
            return output::json(&json!({ "items": items, "people": people }));
        }
        let plain = |id: &Option<String>| clean(id.as_deref().unwrap_or_default());
        let rows: Vec<Vec<String>> = items
            .iter()
            .map(|(query, a, b, item)| {
                vec![
                    clean(query.as_str()),
                    plain(a),
                    plain(b),
                    item.decision.to_string(),
                    plain(&item.note),
                ]
            })
            .collect();
        let mut text = output::table(&["query", "a", "b", "decision", "note"], &rows);
        for (annotator, score) in &people {
            let share = match (score.share(), score.interval()) {
                (Some(share), Some((low, high))) => format!(
                    "{} of {} right: {:.1} % (95 %: {:.1}–{:.1} %)",
                    score.right,
                    score.judged,
                    100.0 * share,
                    100.0 * low,
                    100.0 * high
                ),
                _ => "no gold item judged".to_owned(),
            };
            let unsure = match score.cannot_tell {
                0 => String::new(),
                items => format!(", cannot tell on {items}"),
            };
            text.push_str(&format!("{}: {share}{unsure}\n", sanitise::line(annotator)));
        }
        output::text(&text)
    }
}
