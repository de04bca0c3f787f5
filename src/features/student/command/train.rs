//! `overrule student train`: trains the built-in student.

use super::report::{calibration_table, number, percent};
use crate::app::output_file::write_whole;
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandResult, option_set};
use crate::cli::output::{self, or_dash};
use crate::domain::number_words::signed;
use crate::features::student::app::train::{TrainOptions, TrainedStudent, train_with};
use crate::features::student::app::{KnownVectors, check_name, keep_trained};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
The student is a softmax regression with three outcomes. Its inputs are the features of the
offline judges (BM25, proximity, n-grams, matched terms), covered words, phrases, term density,
similarity to the other texts of the query, length and first-stage rank, and with --embed also
vectors. It does not know which document is called A. Its probabilities are calibrated by a
temperature or by isotonic curves, whichever does better on held-out queries. All printed figures
are for queries that the model did not see: each fold of queries is predicted by a model trained
on the others.

Examples:
  overrule student train
  overrule student train --name bm25-student && overrule student report --student bm25-student
  overrule student train --embed bge
  overrule student train --with llama-8b.jsonl
  overrule student train --other-battles --predictions p.jsonl && overrule student report p.jsonl")]
pub(super) struct TrainCommand {
    /// Also use the zELO of both documents and of those with the most similar texts, fitted without
    /// the pair itself
    #[arg(long)]
    other_battles: bool,
    /// Also use cosines of the stored vectors of this embedder; makes no calls
    #[arg(long, value_name = "NAME")]
    embed: Option<String>,
    /// File of the vectors [default: embeddings.db next to the project]
    #[arg(long, value_name = "FILE", requires = "embed")]
    vector_cache: Option<PathBuf>,
    /// Compare with this student or file of predictions, on the pairs that all predict (repeatable)
    #[arg(long = "with", alias = "beside", value_name = "STUDENT|FILE")]
    with: Vec<String>,
    /// Number of folds; the queries of each are predicted by a model of the others
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(2..=50))]
    folds: u8,
    /// Random seed of the folds
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Store the student in the project under this name, with its predictions of all pairs
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Write the predictions of the judged pairs to this file, for `overrule student report`
    #[arg(long, value_name = "FILE")]
    predictions: Option<PathBuf>,
    /// Also predict pairs that are not judged (implied by --name)
    #[arg(long, requires = "predictions")]
    all_pairs: bool,
    /// Write the model to this file: its weights, and a hash of its training data
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl TrainCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        self.name.as_deref().map_or(Ok(()), check_name)?;
        let files = self.predictions.iter().chain(&self.model);
        let printing = option_set(&[(self.json, "--json")]);
        context.check_targets(files.map(PathBuf::as_path), &[], printing)?;
        let vectors = match &self.embed {
            Some(name) => {
                let embedder = context.judges(false).embedder(name)?;
                let default = context.project().with_file_name("embeddings.db");
                let path = self.vector_cache.as_ref().unwrap_or(&default);
                Some(KnownVectors::open(embedder, path)?)
            }
            None => None,
        };
        let student = train_with(
            &store,
            TrainOptions {
                other_battles: self.other_battles,
                folds: usize::from(self.folds),
                seed: self.seed,
                all_pairs: self.all_pairs || self.name.is_some(),
            },
            vectors.as_ref(),
            &self.with,
        )?;
        if let Some(name) = &self.name {
            let kept = keep_trained(&store, &student, name, &context.annotator())?;
            output::message(&kept.to_string());
        }
        if let Some(path) = &self.predictions {
            write_whole(path, |out| student.write_predictions(out))?;
            output::wrote(path);
        }
        if let Some(path) = &self.model {
            write_whole(path, |out| student.write_model(out))?;
            output::wrote(path);
        }
        if self.json {
            output::json(&student.json())
        } else {
            output::text(&describe(&student))
        }
    }
}

fn describe(student: &TrainedStudent) -> String {
    let figures = &student.figures;
    let mut text = format!(
        "trained on {} of {}; all numbers below are for held-out queries, in {} folds\n\n",
        counted(figures.n, "judged pair"),
        counted(figures.queries, "query"),
        student.found.folds
    );
    text += &format!(
        "Accuracy on the {} on which the ensemble is unanimous\n",
        counted(
            student.accuracies.first().map_or(0, |(_, of)| of.battles),
            "battle"
        )
    );
    let rows: Vec<Vec<String>> = student
        .accuracies
        .iter()
        .enumerate()
        .map(|(at, (name, of))| {
            let above = Some(of.behind_first).filter(|_| at > 0);
            vec![
                name.clone(),
                percent(of.accuracy.value),
                or_dash(of.accuracy.interval, |(low, high)| {
                    format!("{:.1} to {:.1} %", 100.0 * low, 100.0 * high)
                }),
                or_dash(above, |of| {
                    format!("{} points", signed(100.0 * of.value, 1))
                }),
                or_dash(above.and_then(|of| of.interval), |(low, high)| {
                    format!(
                        "{} to {} points",
                        signed(100.0 * low, 1),
                        signed(100.0 * high, 1)
                    )
                }),
            ]
        })
        .collect();
    let header = [
        "model",
        ">accuracy",
        "95 % interval",
        ">student above it",
        "95 % interval",
    ];
    text += &output::table(&header, &rows);
    text += &calibration_table(figures);
    let calibration = match &student.found.model.isotonic {
        Some(_) => "isotonic curves".to_owned(),
        None => format!("temperature {:.2}", student.found.model.temperature),
    };
    text += &format!(
        "\nWeights (penalty {}, calibrated by {calibration}): of the difference, and of its size \
         for a tie\n",
        student.found.precision
    );
    let rows: Vec<Vec<String>> = student
        .weights()
        .into_iter()
        .map(|(name, difference, tie)| {
            let difference = or_dash(difference, |weight| signed(weight, 3));
            vec![name.to_owned(), difference, signed(tie, 3)]
        })
        .collect();
    text += &output::table(&["feature", ">difference", ">tie"], &rows);
    text + &format!(
        "\ndivergence {} nats a battle; training set {}\n",
        number(figures.divergence()),
        student.training_hash()
    )
}
