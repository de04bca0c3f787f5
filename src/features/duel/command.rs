//! `overrule duel`: shows two rankings to a person who does not know which is which.

pub mod export;
pub mod nine;
pub mod sbr;

use crate::app::output_file::{table_format, write_whole};
use crate::app::text_format::{counted, moment_words};
use crate::cli::command::{CommandContext, CommandResult, usage};
use crate::cli::demo;
use crate::cli::output;
use crate::cli::output::clean;
use crate::cli::vector_options::VectorOptions;
use crate::features::duel::app::export::{DuelRows, write_duel, written_words};
use crate::features::duel::app::{
    DuelRequest, chosen_duel, duel_result, ends_blindness, form_words, listed_duels, note_reveal,
    result_lines, rule_as_chosen, take_answers,
};
use crate::features::duel::command::nine::{DrawOptions, make};
use crate::features::duel::domain::sbr::SbrProfile;
use crate::features::duel::domain::{DuelForm, DuelResult, Side};
use crate::features::duel::store::DuelKey;
use crate::formats::csv_cell::SafeCsv;
use crate::formats::safe_stdout::SafeStdout;
use crate::formats::table_file::TableFormat;
use crate::store::Store;
use crate::tui::model::Start;
use crate::tui::screens::Screen;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

/// The commands of this feature.
#[derive(Debug, Subcommand)]
pub(crate) enum DuelSubcommand {
    /// Rerank documents by similarity to the top results
    Sbr(sbr::SbrCommand),
    /// Choose nine documents per query for a duel
    Nine(nine::NineCommand),
    /// Ask people blindly which of two rankings is better
    Duel(DuelCommand),
}

impl DuelSubcommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        match self {
            Self::Sbr(command) => command.run(context),
            Self::Nine(command) => command.run(context),
            Self::Duel(command) => command.run(context),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without --a and --b, the latest duel is opened. With them, a new duel is created. Each query shows
nine documents in a grid (chosen as by `overrule nine`), two lists side by side (--form lists:
which one is better?), or one list that alternates between both rankings (--form interleaved). The
ranking that a document comes from stays hidden until all tasks are done. Each participant has a
name (--annotator) and their own order of places. Every answer is saved at once, and the duel resumes
where the participant left it.

The result counts finished queries. It reports the credit of each ranking, wins and losses, a sign
test and a permutation test, agreement, the effect of places, time, and the controls separately.
It says `may stop` when one ranking is better with an error of at most 5 %, no matter how often
you look.

Files of --answers contain one task per line: {\"query\": \"36\", \"selected\": [{\"document\": \"d1\",
\"start\": 0, \"end\": 80}], \"seconds\": 12} or {\"query\": \"49\", \"none_serves\": true}; for two lists
{\"query\": \"36\", \"prefer\": -1}, from -2 (A by far) to 2 (B by far).

Examples:
  overrule duel --a bm25-overrule --b original --queries 5
  overrule duel --a bm25-overrule --b rankgpt@20 --form lists
  overrule --annotator bob duel                     the latest duel, for another person
  overrule duel --result
  overrule duel --export chosen.csv                 one row per document; --form events: one row \
  per action
  overrule duel --rulings                           what you chose, as your rulings: relevant")]
pub(crate) struct DuelCommand {
    /// Ranking: of the project, original, a method that was run, or a run file
    #[arg(long, value_name = "RANKING", requires = "b")]
    a: Option<String>,
    /// The other ranking
    #[arg(long, value_name = "RANKING", requires = "a")]
    b: Option<String>,
    /// Form of a new duel [default: grid], or of --export [default: judgments]
    #[arg(long, value_enum)]
    form: Option<FormName>,
    /// Number of documents from each ranking [default: 4 in a grid, otherwise 10]
    #[arg(long, value_name = "N", requires = "a", value_parser = clap::value_parser!(u32).range(1..=100))]
    top: Option<u32>,
    #[command(flatten)]
    draw: DrawOptions,
    #[command(flatten)]
    vectors: VectorOptions,
    /// Create the duel without opening it
    #[arg(long, requires = "a")]
    no_screen: bool,
    /// Number of the duel [default: the latest]
    #[arg(long, value_name = "N", conflicts_with = "a")]
    duel: Option<i64>,
    /// List the duels of the project
    #[arg(long, conflicts_with_all = ["a", "result", "export", "rulings", "answers"])]
    list: bool,
    /// Print the result so far. Asks first if you have tasks left, because you are no longer blind
    /// afterwards
    #[arg(long, conflicts_with_all = ["a", "export", "rulings", "answers"])]
    result: bool,
    /// With --list or --result, print JSON
    #[arg(long)]
    json: bool,
    /// With --result, print one row per query
    #[arg(long, conflicts_with = "json", requires = "result")]
    csv: bool,
    /// Write the judgments to this file: CSV, or JSON lines or Parquet by its extension
    #[arg(long, value_name = "FILE", conflicts_with_all = ["a", "rulings", "answers"])]
    export: Option<PathBuf>,
    /// Turn your choices into rulings; all includes documents that you did not choose
    #[arg(long, value_name = "WHICH", value_enum, num_args = 0..=1, default_missing_value = "chosen", conflicts_with_all = ["a", "answers"])]
    rulings: Option<RulingScope>,
    /// Import answers that were given elsewhere
    #[arg(long, value_name = "FILE", conflicts_with = "a")]
    answers: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormName {
    /// Nine documents in a 3×3 grid
    Grid,
    /// Two lists side by side
    Lists,
    /// One list made of both
    Interleaved,
    /// One row per document that was shown
    Judgments,
    /// One row per action
    Events,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RulingScope {
    /// The documents that you chose, as relevant
    Chosen,
    /// Also the documents that you did not choose, as not relevant
    All,
}

impl FormName {
    /// The form of a new duel; `None` for forms that only exports have.
    fn of_duel(self) -> Option<DuelForm> {
        match self {
            Self::Grid => Some(DuelForm::Grid),
            Self::Lists => Some(DuelForm::Lists),
            Self::Interleaved => Some(DuelForm::Interleaved),
            Self::Judgments | Self::Events => None,
        }
    }
}

/// Opens the workbench on a duel.
fn open(context: &CommandContext, store: Store, key: DuelKey) -> CommandResult {
    demo::open_at(
        context,
        store,
        Start::Row(Screen::DUEL, key.0),
        "the duel needs a terminal; without one, use `overrule duel --list`, `duel --result` or \
         `duel --answers FILE`",
    )
}

impl DuelCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        if self.json && !self.list && !self.result {
            return Err(usage!("--json is for --list and --result"));
        }
        let exporting = self.export.is_some();
        if self.form.is_some_and(|form| match form.of_duel() {
            Some(_) => self.a.is_none(),
            None => !exporting,
        }) {
            return Err(usage!(
                "--form: a new duel (--a, --b) is a grid, lists or interleaved; --export writes \
                 judgments or events"
            ));
        }
        let store = context.open()?;
        if self.list {
            return list(&store, self.json);
        }
        if let (Some(a), Some(b)) = (self.a.clone(), self.b.clone()) {
            return self.make(context, store, [a, b]);
        }
        let key = chosen_duel(&store, self.duel.map(DuelKey))?;
        if self.result {
            return self.print_result(context, &store, key);
        }
        if let Some(path) = &self.export {
            return self.write(context, &store, key, path);
        }
        if let Some(scope) = self.rulings {
            return rule(context, &store, key, scope);
        }
        if let Some(path) = &self.answers {
            let taken = take_answers(&store, key, &context.annotator(), path)?;
            output::message(&format!(
                "duel {}: {} imported as those of {}",
                key.0,
                counted(taken, "answer"),
                clean(context.annotator())
            ));
            return Ok(());
        }
        open(context, store, key)
    }

    fn make(self, context: &CommandContext, store: Store, rankings: [String; 2]) -> CommandResult {
        let form = self
            .form
            .and_then(FormName::of_duel)
            .unwrap_or(DuelForm::Grid);
        let top = match (self.top, form) {
            (None, form) => DuelRequest::usual_top(form),
            (Some(5..), DuelForm::Grid) => {
                return Err(usage!("--top: a grid has room for 4 of each ranking"));
            }
            (Some(top), _) => top as usize,
        };
        let request = self
            .draw
            .request(context, rankings, form, top, SbrProfile::Overrule);
        let Some((key, drafted)) = make(context, &store, request, &self.vectors)? else {
            return Ok(());
        };
        output::message(&format!(
            "duel {}: {} of {} and {}, {}",
            key.0,
            form_words(form),
            clean(&drafted.duel.a),
            clean(&drafted.duel.b),
            counted(drafted.duel.queries.len(), "query")
        ));
        if self.no_screen {
            Ok(())
        } else {
            open(context, store, key)
        }
    }

    fn print_result(&self, context: &CommandContext, store: &Store, key: DuelKey) -> CommandResult {
        end_blindness(context, store, key, self.vectors.spending.yes)?;
        let result = store.read_blocking(move |db| duel_result(db, key))?;
        if self.json {
            let mut told = serde_json::to_value(&result)?;
            told["duel"] = json!(key.0);
            return output::json(&told);
        }
        if self.csv {
            return csv(&result);
        }
        output::text(&(result_lines(&result).join("\n") + "\n"))
    }

    fn write(
        &self,
        context: &CommandContext,
        store: &Store,
        key: DuelKey,
        path: &Path,
    ) -> CommandResult {
        context.check_targets([path], &[], None)?;
        let rows = match self.form {
            Some(FormName::Events) => DuelRows::Events,
            _ => DuelRows::Judgments,
        };
        let others = [TableFormat::Jsonl, TableFormat::Parquet];
        let format = table_format(None, TableFormat::Csv, &others, Some(path))?;
        if rows == DuelRows::Judgments {
            end_blindness(context, store, key, self.vectors.spending.yes)?;
        }
        let mut written = 0;
        write_whole(path, |out| {
            written = write_duel(store, key, rows, format, out)?;
            Ok(())
        })?;
        output::message(&written_words(store, key, written)?);
        output::wrote(path);
        Ok(())
    }
}

/// A participant is about to see which ranking is which: asks for confirmation if possible, records
/// the reveal, and reports it if it is new.
fn end_blindness(
    context: &CommandContext,
    store: &Store,
    key: DuelKey,
    yes: bool,
) -> CommandResult {
    let annotator = context.annotator();
    if !yes && io::stdin().is_terminal() && ends_blindness(store, key, &annotator)? {
        output::message(&format!(
            "{} takes part in duel {} and has tasks left. This says which ranking is which: what \
             {0} answers after it is marked as not blind.",
            clean(&annotator),
            key.0
        ));
        output::message(
            "Show it? Type y and press Enter; anything else leaves. (--yes does not ask.)",
        );
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            return Err(usage!("not shown; nothing was recorded"));
        }
    }
    if note_reveal(store, key, &annotator)? {
        output::message(&format!(
            "note: {} takes part in duel {}: further judgments of {0} there are marked as not blind",
            clean(&annotator),
            key.0
        ));
    }
    Ok(())
}

fn rule(
    context: &CommandContext,
    store: &Store,
    key: DuelKey,
    scope: RulingScope,
) -> CommandResult {
    let annotator = context.annotator();
    let all = scope == RulingScope::All;
    let who = annotator.clone();
    let made = store.write_blocking(move |db| rule_as_chosen(db, key, &who, all))?;
    output::message(&format!(
        "{}{}: {} relevant, {} not, by {}; {} were there before and stay (`overrule undo --ruling` \
         undoes the latest)",
        counted(made.relevant + made.not, "ruling"),
        match made.not_blind {
            0 => String::new(),
            count => format!(", {count} of them not blind"),
        },
        made.relevant,
        made.not,
        clean(&annotator),
        made.known
    ));
    Ok(())
}

fn list(store: &Store, as_json: bool) -> CommandResult {
    let duels = store.read_blocking(|db| listed_duels(db))?;
    if as_json {
        let rows = duels.iter().map(|listed| -> Value {
            let stored = &listed.stored;
            json!({
                "duel": stored.key.0,
                "uid": stored.uid,
                "form": stored.duel.form,
                "a": stored.duel.a,
                "b": stored.duel.b,
                "top": stored.duel.top,
                "seed": stored.duel.seed,
                "controls": stored.duel.controls,
                "level": stored.duel.level,
                "queries": stored.duel.queries.len(),
                "participants": listed.participants,
                "judgments": listed.judgments,
                "created_ms": stored.created_ms,
            })
        });
        return output::json(&rows.collect::<Vec<_>>());
    }
    if duels.is_empty() {
        output::message("no duel yet; `overrule duel --a RANKING --b RANKING` makes one");
        return Ok(());
    }
    let rows = duels.iter().map(|listed| {
        let stored = &listed.stored;
        vec![
            stored.key.0.to_string(),
            stored.duel.form.to_string(),
            clean(&stored.duel.a),
            clean(&stored.duel.b),
            stored.duel.queries.len().to_string(),
            listed.participants.to_string(),
            listed.judgments.to_string(),
            moment_words(stored.created_ms),
        ]
    });
    let header = [
        "#duel",
        "form",
        "A",
        "B",
        ">queries",
        ">participants",
        ">judgments",
        "made",
    ];
    output::text(&output::table(&header, &rows.collect::<Vec<_>>()))
}

/// Prints one row per judged query.
fn csv(result: &DuelResult) -> CommandResult {
    let mut out = SafeStdout::default();
    let mut table = SafeCsv::new(&mut out);
    table.row([
        "qid",
        "judgments",
        "a_only",
        "b_only",
        "both",
        "neither",
        "none_chosen",
        "preference",
        "better",
    ])?;
    for query in &result.per_query {
        let better = query.better.map_or("neither", Side::name);
        let credit = &query.credit;
        table.row([
            query.query.as_str(),
            &query.judgments.to_string(),
            &credit.a_only.to_string(),
            &credit.b_only.to_string(),
            &credit.both.to_string(),
            &credit.neither.to_string(),
            &query.none_chosen.to_string(),
            &query.preference.to_string(),
            better,
        ])?;
    }
    drop(table);
    Ok(out.flush()?)
}
