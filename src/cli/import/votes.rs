//! `overrule import votes`: other systems' pairwise judgments, taken over vote by vote.

mod take;

use super::{
    CommandContext, CommandFailure, CommandResult, display_name, label, note, open, output, refused,
};
use crate::client::now_ms;
use crate::domain::sanitise;
use crate::domain::verdict::FinalRule;
use crate::formats::votes::{KnownTexts, read_votes, text_hash};
use crate::store::{Db, Store, StoreError};
use anyhow::anyhow;
use clap::Args;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use take::VotesImporter;

/// Names that a report lists before it only counts them.
const LISTED: usize = 8;

#[derive(Debug, Args)]
#[command(after_help = "One vote a line:
  {\"query\":{\"id\":\"q1\",\"query\":\"…\"},\"a\":{\"id\":\"d1\",\"content\":\"…\"},\"b\":{\"id\":\"d2\",\"content\":\"…\"},
   \"by\":\"gpt-4o\",\"kind\":\"llm\",\"score\":-0.5,\"shown\":\"ab\",\"reasoning\":\"…\"}
The score is in -1..1, negative where a is better; shown says which document came first (ab unless it says ba).
kind is llm or human. A text may be left out once it is known. Optional: reasoning, created_ms; the rest is passed over.

ImportVotesCommand of models become votes of judges: one in each game of the pair, so that a judge who saw a pair in both orders
has voted in two. ImportVotesCommand of people become verdicts: a, b or tie; the strength of their scores is not used.
What is there already is not added again.

Examples:
  overrule import votes judgments.jsonl --dry-run
  overrule import votes judgments.jsonl --json")]
pub(super) struct ImportVotesCommand {
    /// The files
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Leave bad lines out and import the rest
    #[arg(long)]
    skip_bad: bool,
    /// Check the files, say what they would add, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What an import did.
#[derive(Debug, Default)]
struct VotesImport {
    queries_added: usize,
    queries_unchanged: usize,
    documents_added: usize,
    battles: usize,
    votes: usize,
    verdicts: usize,
    /// Votes and verdicts that were there already.
    unchanged: usize,
    judges: Vec<String>,
    annotators: Vec<String>,
    /// Queries of the file for which not all of its judges count.
    keep_their_judges: usize,
    /// Pairs of the file's queries on which people differ.
    conflicts: usize,
    rule: FinalRule,
    skipped: usize,
}

impl ImportVotesCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let known = match context.project().exists() {
            true => Some(context.open()?),
            false => None,
        };
        let mut texts = HashMap::new();
        for path in &self.paths {
            let bad = check(path, known.as_ref(), &mut texts)?;
            if bad > 0 && !self.skip_bad {
                return Err(refused(path, bad));
            }
        }
        drop((known, texts));
        let mut reports = Vec::new();
        if self.dry_run {
            reports = self.paths.iter().zip(self.rehearse(context)?).collect();
        } else {
            let store = context.open_or_create()?;
            for path in &self.paths {
                let source = VotesFile::open(path)?;
                let report = store.write_blocking(move |db| source.take_in(db))?;
                note(&store, context, &report.words(path))?;
                reports.push((path, report));
            }
        }
        if self.json {
            let rows: Vec<Value> = reports
                .iter()
                .map(|(path, report)| {
                    let mut row = report.json(path);
                    row["dry_run"] = json!(self.dry_run);
                    row
                })
                .collect();
            return Ok(output::json(&rows)?);
        }
        if self.dry_run {
            output::text("nothing is wrong; what would be imported, and is not:\n")?;
        }
        for (path, report) in reports {
            output::text(&report.words(path))?;
            for note in report.notes() {
                output::message(&format!("note: {note}"));
            }
        }
        Ok(())
    }
}

impl ImportVotesCommand {
    /// What an import would do, one file after the other.
    fn rehearse(&self, context: &CommandContext) -> Result<Vec<VotesImport>, CommandFailure> {
        let sources = self.paths.iter().map(|path| VotesFile::open(path));
        let sources = sources.collect::<Result<Vec<_>, _>>()?;
        let take_in = move |db: &mut Db| {
            let reports = sources.into_iter().map(|source| source.take_in(db));
            reports.collect::<Result<Vec<_>, StoreError>>()
        };
        Ok(match context.project().exists() {
            true => context
                .open()?
                .write_blocking(move |db| db.rehearsed(take_in))?,
            false => take_in(&mut Db::scratch()?)?,
        })
    }
}

/// A file that is about to be read into a project.
struct VotesFile {
    reader: BufReader<File>,
    name: String,
    label: String,
}

impl VotesFile {
    fn open(path: &Path) -> Result<Self, CommandFailure> {
        Ok(Self {
            reader: open(path)?,
            name: display_name(path),
            label: label(path),
        })
    }

    fn take_in(self, db: &mut Db) -> Result<VotesImport, StoreError> {
        let votes = read_votes(self.reader, &self.name, |query: &str| {
            known_texts(db, query)
        });
        VotesImporter::new(db, &self.label, now_ms()).all(votes)
    }
}

/// The texts that the project has of a query.
fn known_texts(db: &Db, query: &str) -> Result<Option<KnownTexts>, String> {
    let known = db.texts(query).map_err(|error| error.to_string())?;
    Ok(known.map(|known| KnownTexts {
        query: text_hash(&known.query),
        documents: known.documents,
    }))
}

/// Reads the whole file, prints what is wrong, and counts it. `texts` are those of the files before, and then of this
/// one too.
fn check(
    path: &Path,
    project: Option<&Store>,
    texts: &mut HashMap<String, KnownTexts>,
) -> Result<usize, CommandFailure> {
    let name = display_name(path);
    let mut problems_of_file = output::ProblemPrinter::about(&name);
    let mut votes = read_votes(open(path)?, &name, |query: &str| {
        let id = query.to_owned();
        match (texts.get(query), project) {
            (Some(known), _) => Ok(Some(known.clone())),
            (None, None) => Ok(None),
            (None, Some(store)) => store
                .read_blocking(move |db| known_texts(db, &id).map_err(StoreError::Corrupt))
                .map_err(|error| error.to_string()),
        }
    });
    let mut any = false;
    for vote in votes.by_ref() {
        any = true;
        if let Err(problem) = vote {
            problems_of_file.tell(&problem);
        }
    }
    if !any {
        return Err(CommandFailure::usage(anyhow!(
            "{name}: holds no vote; expected one JSON object a line"
        )));
    }
    let seen = votes.into_texts();
    texts.extend(seen);
    Ok(problems_of_file.end())
}

/// A few names, and how many more there are.
fn list(names: &[String]) -> String {
    let shown: Vec<_> = names
        .iter()
        .take(LISTED)
        .map(|name| sanitise::line(name).into_owned())
        .collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

impl VotesImport {
    fn json(&self, path: &Path) -> Value {
        json!({
            "file": path.display().to_string(),
            "queries_added": self.queries_added,
            "queries_unchanged": self.queries_unchanged,
            "documents_added": self.documents_added,
            "battles": self.battles,
            "votes": self.votes,
            "verdicts": self.verdicts,
            "unchanged": self.unchanged,
            "judges": self.judges,
            "annotators": self.annotators,
            "queries_keeping_their_judges": self.keep_their_judges,
            "conflicts": self.conflicts,
            "skipped": self.skipped,
        })
    }

    fn words(&self, path: &Path) -> String {
        let mut words = format!(
            "{}: {} queries added, {} were there already; {} documents added",
            sanitise::line(&path.display().to_string()),
            self.queries_added,
            self.queries_unchanged,
            self.documents_added,
        );
        if !self.judges.is_empty() {
            words += &format!(
                "; {} battles and {} votes of {}",
                self.battles,
                self.votes,
                list(&self.judges)
            );
        }
        if !self.annotators.is_empty() {
            words += &format!("; {} verdicts of {}", self.verdicts, list(&self.annotators));
        }
        if self.unchanged > 0 {
            words += &format!("; {} lines were there already", self.unchanged);
        }
        if self.skipped > 0 {
            words += &format!("; {} bad lines left out", self.skipped);
        }
        words + "\n"
    }

    /// What should not go unsaid.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.verdicts > 0 {
            notes.push("of a person's score only the direction is used: a, b or tie".to_owned());
        }
        if self.conflicts > 0 {
            notes.push(format!(
                "people differ on {} pairs; the {} verdict counts (overrule config project --final latest|majority|adjudicator)",
                self.conflicts,
                match &self.rule {
                    FinalRule::Latest => "latest",
                    FinalRule::Majority => "majority's",
                    FinalRule::Adjudicator(_) => "adjudicator's",
                }
            ));
        }
        if self.keep_their_judges > 0 {
            notes.push(format!(
                "{} queries keep the judges that counted there; the votes of others are stored and do not count",
                self.keep_their_judges
            ));
        }
        notes
    }
}
