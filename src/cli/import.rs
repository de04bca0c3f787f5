//! `overrule import`: imports datasets, annotated datasets, zBench's `ai_scores.json`, labels,
//! rankings and picks.

mod answers;
mod votes;

use super::argument::OrAdded;
use super::command::{CommandContext, CommandResult, usage};
#[cfg(feature = "parquet")]
use crate::app::import::check_shards;
use crate::app::import::{ContentKind, ImportOptions, QueryMatch, check, log_import};
use crate::cli::{output, pool};
use crate::formats::judgments::JudgmentFormat;
#[cfg(feature = "parquet")]
use crate::formats::parquet_shards::has_shards;
use crate::registry::AddedImportCommand;
use answers::AnswerArgs;
use clap::{Args, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};

/// Kinds of files, as `--help` lists them; those of search tools follow.
const KINDS: &str = r#"The type of a file is recognized from its content:

  JSON lines or array with "documents"    a dataset, annotated or not
  JSON lines or array with "candidates"   requests of RankLLM or Umbrela
  JSON lines or Parquet with "positive" and "negative"
                                          a reranking set of MTEB
  JSON lines or array with "query":"ID"   picks (overrule export picks)
  an object with "scored_pairs"           zBench's ai_scores.json; votes are imported as recorded
  an object of queries and documents      ranx's run, or qrels if all numbers are whole
  4 columns                               TREC's qrels
  6 columns                               a TREC run
"#;

const NOTES_AND_EXAMPLES: &str = r#"  other tables                            need a header that names query, document and a score,
                                          rank or rating (`overrule manual formats`)

--as overrides the recognized type. Before anything is stored, one record is printed as it was
read. A file of labels may name queries by their ids or by their texts. The result says which was
used, and --match decides if both are possible. Files may be compressed with gzip, and - is the
standard input. Labels and rankings are used by `overrule adjudication`. A folder is a benchmark
(corpus.jsonl, queries.jsonl, qrels/), whose pools are built as with `overrule pool build --beir`, or
holds Parquet files, which are imported in the order of their names as one dataset. A file with
errors is not imported, unless --skip-bad skips the invalid parts of a dataset.

Examples:
  overrule import dataset.jsonl
  overrule import data/annotation/dataset/ai_scores.json
  overrule import scifact/ --split test
  overrule import shards/                    part-00000.parquet, part-00001.parquet, …
  overrule import qrels/test.tsv bm25.trec --name bm25
  overrule import candidates.tsv --as ranking
  overrule import ratings.csv --match text   ratings of Quepid, whose queries are texts
  overrule import book.csv --as quepid-book --rater Ann
                                             one judge of a book of Quepid
  overrule import tasks.json --answer Relevant=1 --answer 'Not relevant=0'
                                             an export of Label Studio, Argilla or Potato
  overrule import votes judgments.jsonl      votes of other systems and of people, one per line
  overrule import lists lists.jsonl          list calls of a copy of the project
  overrule import ./votes                    a file that is called votes"#;

fn after_help() -> String {
    format!(
        "{KINDS}{}{NOTES_AND_EXAMPLES}",
        JudgmentFormat::help_lines()
    )
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    after_help = after_help()
)]
pub(crate) struct ImportCommand {
    #[command(subcommand)]
    what: Option<ImportKind>,
    #[command(flatten)]
    files: ImportFiles,
}

#[derive(Debug, Subcommand)]
enum ImportKind {
    /// Pairwise judgments of any system: one vote of a model or a person per line
    Votes(votes::ImportVotesCommand),
    #[command(flatten)]
    Added(AddedImportCommand),
}

#[derive(Debug, Args)]
struct ImportFiles {
    /// Files or folders
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Skip invalid lines
    #[arg(long)]
    skip_bad: bool,
    /// Check the files and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Type of the files [default: recognized from their content]
    #[arg(
        long = "as",
        value_name = "KIND",
        value_parser = OrAdded::<KindName, JudgmentFormat>::parser()
    )]
    kind: Option<OrAdded<KindName, JudgmentFormat>>,
    /// How labels name the queries of the project [default: by id or by text, whichever fits]
    #[arg(long = "match", value_enum, value_name = "BY")]
    query_match: Option<QueryMatch>,
    #[command(flatten)]
    answers: AnswerArgs,
    /// Of judgments by several people: use the median of their grades of a document, the lower one
    /// of two [default: they must agree]
    #[arg(long)]
    median: bool,
    /// Name of a ranking [default: its file name without extension]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Split of the labels in a folder [default: test]
    #[arg(long)]
    split: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KindName {
    /// Queries with documents
    Dataset,
    /// zBench's ai_scores.json
    AiScores,
    /// What judges picked from pools
    Picks,
    /// Grades of documents; 3 columns without a header are query, document, grade
    #[value(alias = "qrels")]
    Labels,
    /// A run or candidates; 2 to 4 columns without a header are query, document[, score] or query,
    /// document, rank, score
    #[value(aliases = ["rankings", "run", "candidates"])]
    Ranking,
}

impl KindName {
    fn kind(self) -> ContentKind {
        match self {
            Self::Dataset => ContentKind::Dataset,
            Self::AiScores => ContentKind::AiScores,
            Self::Picks => ContentKind::Picks,
            Self::Labels => ContentKind::Labels,
            Self::Ranking => ContentKind::Rankings,
        }
    }
}

impl ImportCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        match self.what {
            Some(ImportKind::Votes(votes)) => votes.run(context),
            Some(ImportKind::Added(added)) => added.run(context),
            None => self.files.run(context),
        }
    }
}

impl ImportFiles {
    fn run(self, context: &CommandContext) -> CommandResult {
        if let Some(folder) = self.paths.iter().find(|path| path.is_dir()) {
            let is_benchmark = folder.join("qrels").is_dir();
            #[cfg(feature = "parquet")]
            if !is_benchmark && has_shards(folder) {
                return self.shards(context, folder);
            }
            return self.benchmark(context, folder, is_benchmark);
        }
        let options = ImportOptions {
            skip_bad: self.skip_bad,
            ranking: self.name,
            query_match: self.query_match,
            answers: self.answers.options(self.median)?,
            kind: self.kind.map(|kind| match kind {
                OrAdded::Core(kind) => kind.kind(),
                OrAdded::Added(format) => ContentKind::Judgments(format),
            }),
            ..ImportOptions::default()
        };
        let mut files = Vec::new();
        for path in &self.paths {
            let file = check(path, &options)?;
            output::problems(&file.problems);
            if let Some(sample) = &file.sample {
                output::message(&sample.to_string());
            }
            for note in &file.notes {
                output::message(&format!("note: {note}"));
            }
            files.push(file);
        }
        let (mut previews, mut imports) = (Vec::new(), Vec::new());
        if self.dry_run {
            let store = context.has_project().then(|| context.open()).transpose()?;
            for file in &files {
                previews.push(file.preview(store.as_ref())?);
            }
        } else {
            let store = context.open_or_create()?;
            for file in files {
                let import = file.import(&store)?;
                log_import(&store, &context.annotator(), &import.to_string())?;
                imports.push(import);
            }
        }
        if self.json {
            return if self.dry_run {
                output::json(&previews)
            } else {
                output::json(&imports)
            };
        }
        if self.dry_run {
            output::text("no problems found\n")?;
        }
        previews
            .iter()
            .try_for_each(|preview| output::text(&format!("{preview}\n")))?;
        imports
            .iter()
            .try_for_each(|import| output::text(&format!("{import}\n")))
    }

    /// Imports a folder of Parquet files.
    #[cfg(feature = "parquet")]
    fn shards(&self, context: &CommandContext, folder: &Path) -> CommandResult {
        let name = folder.display();
        let has_options = self.kind.is_some()
            || self.query_match.is_some()
            || self.name.is_some()
            || self.split.is_some()
            || self.median
            || self.answers != AnswerArgs::default();
        if self.paths.len() > 1 || has_options {
            return Err(usage!(
                "{name}: is a folder of Parquet files, which is imported alone and without --as, \
                 --match, --name, --split, --question, --fields, --answer, --items, --rater and \
                 --median"
            ));
        }
        let checked = check_shards(folder, self.skip_bad)?;
        output::problems(&checked.problems);
        if let Some(sample) = &checked.sample {
            output::message(&sample.to_string());
        }
        if self.dry_run {
            let store = context.has_project().then(|| context.open()).transpose()?;
            let preview = checked.preview(store.as_ref())?;
            return match self.json {
                true => output::json(&[preview]),
                false => output::text(&format!("no problems found\n{preview}\n")),
            };
        }
        let store = context.open_or_create()?;
        let import = checked.import(&store)?;
        log_import(&store, &context.annotator(), &import.to_string())?;
        match self.json {
            true => output::json(&[import]),
            false => output::text(&format!("{import}\n")),
        }
    }

    fn benchmark(
        &self,
        context: &CommandContext,
        folder: &Path,
        is_benchmark: bool,
    ) -> CommandResult {
        let name = folder.display();
        if !is_benchmark {
            return Err(usage!(
                "{name}: is a folder, but neither a benchmark (corpus.jsonl, queries.jsonl, qrels/) \
                 nor a folder of Parquet files; name a file"
            ));
        }
        let has_options = self.dry_run || self.skip_bad || self.kind.is_some();
        if self.paths.len() > 1 || has_options || self.query_match.is_some() {
            return Err(usage!(
                "{name}: is a benchmark, which is imported without --dry-run, --skip-bad, --as and \
                 --match"
            ));
        }
        let split = self.split.as_deref().unwrap_or("test");
        pool::build_with_defaults(context, folder, split, self.json)?;
        let text = format!("{name}: pools of its {split} queries");
        Ok(log_import(&context.open()?, &context.annotator(), &text)?)
    }
}
