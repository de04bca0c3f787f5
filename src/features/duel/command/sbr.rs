//! `overrule sbr`: reranks documents by similarity to the top results.

use crate::app::output_file::{CSV, TREC, check_ending, output_name, write_whole};
use crate::app::text_format::counted;
use crate::cli::argument::{ArgumentError, number};
use crate::cli::command::{CommandContext, CommandResult, option_set, usage};
use crate::cli::output;
use crate::cli::vector_options::{FoundVectors, VectorOptions, vectors_wanted};
use crate::features::duel::app::sbr::SbrInput;
use crate::features::duel::domain::sbr::{SbrOptions, SbrProfile};
use crate::features::methods::app::ORIGINAL;
use crate::formats::file::unpacked_name;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Similarity-boosted ranking works on one query at a time. Scores are scaled to 0–1. The similarity of \
a document is its mean cosine similarity to the --top-k best documents, itself excluded, and its new \
score is scaled score × (1 + α × similarity). A larger α makes the top results more alike, 0 keeps \
the order, and a negative α moves documents up that differ from the top. The last document of a \
query always scores 0.

Profiles:
  overrule  of several documents with the same text, the one with the best score counts; ties are
            broken by score, then by ID
  original  as in the authors' script: of several documents with the same text, the first one in the
            file counts; ties keep the order of the file

With --run, the new ranking is added to the project, where duel, nine and adjudication find it by \
name. --out writes a CSV file in the authors' format if the name ends in .csv, otherwise a TREC run. \
--in reads a table with the columns qid, docno, score and text, or a ranking whose texts are in the \
project. The rows of a .npy file correspond to the rows of that table.

Examples:
  overrule sbr --run bm25-overrule --embed minilm
  overrule sbr --run bm25-overrule --vectors vectors.jsonl --as boosted --alpha 0.5
  overrule sbr --in colbert.csv --vectors simcse.npy --profile original --out sbr.csv"
)]
pub(crate) struct SbrCommand {
    /// Ranking: of the project, original, or a method that was run
    #[arg(long, value_name = "NAME", required_unless_present = "input")]
    run: Option<String>,
    /// Read the ranking from this file
    #[arg(long = "in", value_name = "FILE", conflicts_with = "run")]
    input: Option<PathBuf>,
    #[command(flatten)]
    vectors: VectorOptions,
    /// Weight α of the similarity to the top results
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_negative_numbers = true, value_parser = finite)]
    alpha: f64,
    /// Number of top results to compare with
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    top_k: u32,
    /// Rules: overrule or original
    #[arg(long, default_value_t)]
    profile: SbrProfile,
    /// Name of the new ranking in the project [default: the name of --run with -sbr]
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// Output file of the new ranking
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

fn finite(text: &str) -> Result<f64, ArgumentError> {
    number(text, "a number, such as 1 or 0.5", |number: &f64| {
        number.is_finite()
    })
}

impl SbrCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        if let Some(path) = &self.out {
            let mut inputs = self.vectors.inputs();
            inputs.extend(self.input.as_deref().map(|path| ("input", path)));
            let printing = option_set(&[(self.json, "--json")]);
            context.check_targets([path.as_path()], &inputs, printing)?;
            check_ending(path, &[TREC, CSV])?;
        }
        let input = match (&self.run, &self.input) {
            (Some(name), _) => SbrInput::of_project(&context.open()?, name)?,
            (None, Some(path)) => {
                let store = context.has_project().then(|| context.open());
                SbrInput::of_file(path, store.transpose()?.as_ref())?
            }
            (None, None) => return Err(usage!("name a ranking with --run, or a file with --in")),
        };
        let name = match (&self.name, &self.run) {
            (Some(name), _) => Some(name.trim().to_owned()),
            (None, Some(_)) => Some(format!("{}-sbr", input.name)),
            (None, None) => None,
        };
        if let Some(name) = &name
            && (name.is_empty() || name == ORIGINAL || *name == input.name)
        {
            return Err(usage!(
                "--as {name:?}: is empty, or the name of the input; give the new ranking another \
                 name"
            ));
        }
        if name.is_none() && self.out.is_none() {
            return Err(usage!(
                "--in: no output is named; --out FILE writes the new ranking, --as NAME stores it \
                 in the project"
            ));
        }
        let vectors = self
            .vectors
            .find(context, &input.texts(self.profile), input.line_names())?;
        let vectors = match vectors {
            FoundVectors::Found(vectors) => vectors,
            FoundVectors::DryRun => return Ok(()),
            FoundVectors::None => return Err(vectors_wanted()),
        };
        let options = SbrOptions {
            alpha: self.alpha,
            top_k: self.top_k as usize,
            profile: self.profile,
        };
        let ranking = input.rank(&vectors, &options)?;
        let mut told = Vec::new();
        if let Some(path) = &self.out {
            let ending = unpacked_name(path);
            let is_csv = ending.extension().is_some_and(|ending| ending == "csv");
            let tag = name.clone().unwrap_or_else(|| "sbr".to_owned());
            write_whole(path, |out| {
                if is_csv {
                    ranking.write_csv(out)
                } else {
                    ranking.write_run(out, &tag)
                }
            })?;
            told.push(format!("wrote {}", output_name(path)));
        }
        if let Some(name) = &name {
            let replaced = ranking.store(&context.open()?, name)?;
            told.push(format!(
                "in {}: ranking {}{}",
                context.project().display(),
                output::clean(name),
                if replaced {
                    ", in place of the one of that name"
                } else {
                    ""
                }
            ));
        }
        for note in &input.notes {
            output::message(&format!("note: {note}"));
        }
        let (there, kept) = ranking.documents();
        if self.json {
            output::json(&json!({
                "ranking": name,
                "from": input.name,
                "queries": input.queries(),
                "documents": there,
                "distinct_documents": kept,
                "first_changed": ranking.changed_tops(),
                "alpha": self.alpha,
                "top_k": self.top_k,
                "profile": self.profile,
                "notes": input.notes,
            }))?;
        } else {
            output::text(&format!(
                "{}, {kept} of {} of different texts; another document comes first on {}\n",
                counted(input.queries(), "query"),
                counted(there, "document"),
                counted(ranking.changed_tops(), "query")
            ))?;
        }
        told.iter().for_each(|line| output::message(line));
        Ok(())
    }
}
