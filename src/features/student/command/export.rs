//! `overrule student export`: exports training data for students.

use crate::app::error::AppError;
use crate::app::output_file::{is_standard_output, table_format, write_whole};
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, option_set, usage};
use crate::cli::output::{self, HeldOutput};
use crate::domain::rating::RatingModel;
use crate::features::student::app::distilled::DistilledExport;
use crate::features::student::app::export::{ExportForm, ExportedLines, StudentExport};
use crate::features::student::domain::distilled::PairStrength;
use crate::features::student::formats::sample::SampleSide;
use crate::formats::table_file::TableFormat;
use clap::{Args, ValueEnum};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormName {
    /// A prompt with the most probable answer, A, B or T: prompt, completion
    Sft,
    /// A prompt with a preferred and a rejected answer: prompt, chosen, rejected, margin
    Dpo,
    /// Two texts: query, text_a, text_b, a_over_b (P(A) − P(B))
    Pairwise,
    /// A query and a document: query, text, target (zelo_linked or zelo, as target_is says),
    /// target_se, expected_grade
    Pointwise,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// JSON Lines
    Jsonl,
    /// Parquet, compressed with gzip; needs --out
    Parquet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TargetName {
    /// Votes and verdicts
    Votes,
    /// The predictions of a student of the project, for judged and unjudged queries
    Student,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SideName {
    Train,
    Test,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Every form except pointwise has soft targets: `target` (0: A is better, 1: B is better), the \
probabilities `p_a`, `p_b` and `p_tie` = 1 − 2·|target − ½|, and the weight of the pair in battles. \
Votes and verdicts count as in the fit. --seed decides which document is A. All lines have the same \
keys and types.

The target of pointwise is `zelo_linked` if anchors or links calibrate the query (`overrule scale \
run`); otherwise it is `zelo`, which is comparable only within a query. `target_is` says which.

With --from student, the target of pointwise is the score of a student's predictions. Each prediction is \
a battle with score P(B) + P(tie)/2; a pair predicted in both orders is two battles. --model zbench \
gives the scores of zBench's calculate_elos. --strength is the weight of a prediction in battles, from \
E|C| = P(A) + P(B): equal (1), linear (E|C|), squared (E|C|²), root (√E|C|), or worth: P(tie) / (E|C| − \
(P(B) − P(A))²), from .02 to 30.

datasets.load_dataset(\"json\", data_files=\"train.jsonl\") reads these files, or (\"parquet\", …) for \
Parquet. TRL's SFTTrainer and DPOTrainer accept sft and dpo as they are.

Examples:
  overrule student export --form sft --out train.jsonl
  overrule student export --form sft --out train.parquet
  overrule student export --form dpo --sample sample.jsonl --side train --out dpo.jsonl
  overrule student export --form pointwise --test-queries qrels/test.tsv --out rerankers.jsonl.gz
  overrule student export --form pointwise --from student --model zbench --out pointwise.jsonl"
)]
pub(super) struct ExportCommand {
    /// Content of a line
    #[arg(long, value_enum)]
    form: FormName,
    /// Source of the targets; student only for pointwise
    #[arg(long, value_enum, default_value = "votes")]
    from: TargetName,
    /// With --from student, the student [default: the one of the project, or the only one]
    #[arg(long, value_name = "NAME")]
    student: Option<String>,
    /// With --from student, model of the fit: map, mle, zbench or thurstone [default: that of the
    /// project]
    #[arg(long)]
    model: Option<RatingModel>,
    /// With --from student, weight of a prediction: equal, linear, squared, root or worth [default:
    /// equal]
    #[arg(long)]
    strength: Option<PairStrength>,
    /// File format [default: parquet if --out ends in .parquet, otherwise jsonl]
    #[arg(long, value_enum)]
    format: Option<FormatName>,
    /// Export only the pairs of this sample; for pointwise, only its queries
    #[arg(long, value_name = "FILE")]
    sample: Option<PathBuf>,
    /// Export only this side of the sample
    #[arg(long, value_enum, requires = "sample")]
    side: Option<SideName>,
    /// Skip these test queries: a file of labels (qrels) or of one query per line (repeatable)
    #[arg(long, value_name = "FILE")]
    test_queries: Vec<PathBuf>,
    /// Random seed of which document is shown as A
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Maximum number of characters of a document in prompts
    #[arg(long, value_name = "N", default_value_t = 8_000, value_parser = clap::value_parser!(u32).range(1..))]
    chars: u32,
    /// Output file [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl ExportCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let format = self.format.map(|format| match format {
            FormatName::Jsonl => TableFormat::Jsonl,
            FormatName::Parquet => TableFormat::Parquet,
        });
        let (usual, others) = (TableFormat::Jsonl, [TableFormat::Parquet]);
        let format = table_format(format, usual, &others, self.out.as_deref())?;
        let done = match self.from {
            TargetName::Student => {
                let export = self.of_student(format)?;
                self.write(context, |out| export.write(&store, out))?
            }
            TargetName::Votes => {
                let export = self.of_votes(format)?;
                self.write(context, |out| export.write(&store, out))?
            }
        };
        for note in &done.notes {
            output::message(&format!("note: {note}"));
        }
        output::message(&format!(
            "{} of {}",
            counted(done.lines, "line"),
            counted(done.queries, "query")
        ));
        Ok(())
    }

    /// Writes to the output file or to stdout.
    fn write(
        &self,
        context: &CommandContext,
        export: impl Fn(&mut (dyn Write + Send)) -> Result<ExportedLines, AppError>,
    ) -> Result<ExportedLines, CommandFailure> {
        let Some(path) = self.out.as_deref().filter(|path| !is_standard_output(path)) else {
            let mut out = HeldOutput::new();
            let done = export(&mut out)?;
            out.end()?;
            return Ok(done);
        };
        let sample = self.sample.iter().map(|path| ("sample", path.as_path()));
        let test = self.test_queries.iter();
        let test = test.map(|path| ("test queries", path.as_path()));
        let inputs: Vec<(&str, &Path)> = sample.chain(test).collect();
        context.check_targets([path], &inputs, None)?;
        let done = write_whole(path, export)?;
        output::wrote(path);
        Ok(done)
    }

    fn of_student(&self, format: TableFormat) -> Result<DistilledExport, CommandFailure> {
        if self.form != FormName::Pointwise {
            return Err(usage!(
                "--from student: only pointwise has targets from a student's predictions"
            ));
        }
        if self.sample.is_some() {
            return Err(usage!(
                "--sample: is a sample of pairs, and a student's scores come from all of its \
                 predictions; leave --sample out"
            ));
        }
        Ok(DistilledExport {
            student: self.student.clone(),
            strength: self.strength.unwrap_or_default(),
            model: self.model,
            format,
            test_queries: self.test_queries.clone(),
        })
    }

    fn of_votes(&self, format: TableFormat) -> Result<StudentExport, CommandFailure> {
        let of_student = [
            (self.student.is_some(), "--student"),
            (self.model.is_some(), "--model"),
            (self.strength.is_some(), "--strength"),
        ];
        if let Some(option) = option_set(&of_student) {
            return Err(usage!("{option}: requires --from student"));
        }
        Ok(StudentExport {
            form: match self.form {
                FormName::Sft => ExportForm::Sft,
                FormName::Dpo => ExportForm::Dpo,
                FormName::Pairwise => ExportForm::Pairwise,
                FormName::Pointwise => ExportForm::Pointwise,
            },
            format,
            sample: self.sample.clone(),
            side: self.side.map(|side| match side {
                SideName::Train => SampleSide::Train,
                SideName::Test => SampleSide::Test,
            }),
            test_queries: self.test_queries.clone(),
            seed: self.seed,
            chars: usize::try_from(self.chars)
                .map_err(|_| usage!("--chars {}: too large", self.chars))?,
        })
    }
}
