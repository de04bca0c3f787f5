//! `overrule export`: exports the project's data in the formats of other programs.

use super::argument::ArgumentError;
use super::command::{CommandContext, CommandResult, usage};
use super::output::{self, HeldOutput};
use crate::app::export::request::{
    Export, ExportKind, ExportRequest, LabelExport, LabelSource, RulingOptions,
};
use crate::app::output_file::{ProtectedFiles, is_standard_output};
use crate::app::truth::GradeBasis;
use crate::domain::adjudication::RulingGrades;
use crate::features::duel::app::chosen_duel;
use crate::features::duel::app::export::DuelRows;
use crate::features::duel::command::end_blindness;
use crate::features::duel::store::DuelKey;
use crate::formats::ai_scores::ZBENCH_JUDGES;
use crate::formats::table_file::TableFormat;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule export annotated --out scored.jsonl
  overrule export votes --format jsonl | jq 'select(.failure)'
  overrule export votes --out votes.parquet                so are verdicts, rulings, a duel and \
  predictions
  overrule export ai-scores --as openai=gpt,gemini=flash,anthropic=claude --out ai_scores.json
  overrule export qrels --corrected --out corrected.tsv    and corrected_rulings.csv: who ruled, \
  when and why
  overrule export run --out zelo.trec.gz                   a name that ends in .gz is compressed
  overrule export run --ranking rankgpt@20 --out r.trec    what `overrule rerank` made; scores \
  count from the end
  overrule export qrels --from zelo --out zelo.qrels       grades of the judges; where they come \
  from is printed on stderr
  overrule export qrels --diff                             only what the rulings change
  overrule export duel --out duel.csv                      what the participants of the latest \
  duel chose
  overrule export qrels --from duel --out chosen.qrels     labels that most of them agree on
  overrule export predictions --student llama-8b --out p.csv")]
pub(crate) struct ExportCommand {
    /// What to write
    #[arg(value_enum)]
    kind: ExportKind,
    /// Output file [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Export only this query (repeatable)
    #[arg(long, value_name = "QUERY")]
    query: Vec<String>,
    /// Format of votes, verdicts, rulings, duels and predictions [default: by the extension of
    /// --out, otherwise csv]
    #[arg(long, value_enum)]
    format: Option<TableFormat>,
    #[command(flatten)]
    labels: QrelsOptions,
    /// For run: a method, a ranking of the project, or original [default: the zELO order]
    #[arg(long, value_name = "NAME")]
    ranking: Option<String>,
    /// For run: the name in the last column [default: the name of the ranking, or zelo]
    #[arg(long, value_name = "NAME")]
    tag: Option<String>,
    /// For ai-scores: which judges are openai, gemini and anthropic [default: by provider, if each
    /// has one judge]
    #[arg(long = "as", value_name = "MEMBER=JUDGE", value_delimiter = ',', value_parser = member)]
    members: Vec<(String, String)>,
    /// For duel, and for qrels from a duel: number of the duel [default: the latest]
    #[arg(long, value_name = "N")]
    duel: Option<i64>,
    /// For predictions: name of the student
    #[arg(long, value_name = "NAME", required_if_eq("kind", "predictions"))]
    student: Option<String>,
    /// For duel: do not ask before showing the sources to a person with tasks left
    #[arg(long)]
    yes: bool,
    /// Also write documents without a score, as "score":null (zBench rejects such files)
    #[arg(long)]
    keep_unscored: bool,
}

/// How labels are written.
#[derive(Debug, Args)]
struct QrelsOptions {
    /// For qrels: which labels to write
    #[arg(long, value_enum, default_value = "labels")]
    from: LabelSourceName,
    /// For qrels from zelo: how to convert zELO scores to grades
    #[arg(long, value_enum, default_value = "auto")]
    cuts: GradeBasis,
    /// For qrels: apply the rulings; their sources are written next to --out, to a file that ends
    /// in _rulings.csv
    #[arg(long)]
    corrected: bool,
    /// For qrels: write only the labels that rulings change (+ added, - removed)
    #[arg(long, conflicts_with = "corrected")]
    diff: bool,
    /// For qrels: trec or beir [default: beir for .tsv, otherwise trec]; for a duel: judgments or
    /// events [default: judgments]
    #[arg(long, value_enum)]
    form: Option<ExportForm>,
    /// For qrels: grades of the rulings partially and relevant [default: 1,1, or 1,2 if labels
    /// above 1 exist]
    #[arg(long, value_name = "P,R", value_parser = grades)]
    grades: Option<RulingGrades>,
    /// For qrels: lowest grade that counts as relevant
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LabelSourceName {
    /// As they were imported
    Labels,
    /// Labels corrected by the rulings that count, as with --corrected
    Rulings,
    /// Grades made of the zELO scores
    Zelo,
    /// What most participants of a duel chose (1) or did not (0)
    Duel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportForm {
    Trec,
    Beir,
    Judgments,
    Events,
}

fn grades(text: &str) -> Result<RulingGrades, ArgumentError> {
    let read = |part: &str| part.trim().parse::<i32>().ok().filter(|grade| *grade > 0);
    match text
        .split_once(',')
        .map(|(one, two)| (read(one), read(two)))
    {
        Some((Some(partially), Some(relevant))) if partially <= relevant => Ok(RulingGrades {
            partially,
            relevant,
        }),
        _ => Err(ArgumentError::Expected(
            "two whole numbers above 0, such as 1,2",
        )),
    }
}

/// Parses a member of zBench's with the judge that fills it.
fn member(text: &str) -> Result<(String, String), ArgumentError> {
    match text.split_once('=') {
        Some((member, judge)) if ZBENCH_JUDGES.contains(&member) && !judge.is_empty() => {
            Ok((member.to_owned(), judge.to_owned()))
        }
        _ => Err(ArgumentError::Expected(
            "openai=JUDGE, gemini=JUDGE, anthropic=JUDGE",
        )),
    }
}

impl ExportCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        if self.labels.from == LabelSourceName::Zelo && (self.labels.corrected || self.labels.diff)
        {
            return Err(usage!(
                "--corrected and --diff are about labels; leave --from zelo out"
            ));
        }
        if self.labels.from == LabelSourceName::Duel && (self.labels.corrected || self.labels.diff)
        {
            return Err(usage!(
                "--corrected and --diff are about labels; leave --from duel out"
            ));
        }
        let of_duel = matches!(
            self.labels.form,
            Some(ExportForm::Judgments | ExportForm::Events)
        );
        let about_duel = self.kind == ExportKind::Duel;
        if self.labels.form.is_some() && of_duel != about_duel {
            return Err(usage!(
                "--form: qrels are written as trec or beir, a duel as judgments or events"
            ));
        }
        if about_duel && !self.query.is_empty() {
            return Err(usage!("a duel is written whole; leave --query out"));
        }
        if self.student.is_some() && self.kind != ExportKind::Predictions {
            return Err(usage!("--student is for predictions"));
        }
        if self.ranking.is_some() && self.kind != ExportKind::Run {
            return Err(usage!("--ranking is for a run"));
        }
        let store = context.open()?;
        let request = self.request();
        if let Export::Duel {
            duel,
            rows: DuelRows::Judgments,
        } = request.export
        {
            let key = chosen_duel(&store, duel)?;
            end_blindness(context, &store, key, self.yes)?;
        }
        let out = self.out.as_deref();
        let Some(path) = out.filter(|path| !is_standard_output(path)) else {
            let keys = request.keys(&store)?;
            let mut out = HeldOutput::new();
            request.write(&store, &keys, None, &mut out, &mut output::message)?;
            return out.end();
        };
        let protected = ProtectedFiles {
            project: context.project(),
            configuration: context.config_file.as_deref(),
        };
        for path in request.write_file(&store, path, protected, &mut output::message)? {
            output::wrote(&path);
        }
        Ok(())
    }

    fn request(&self) -> ExportRequest {
        let duel = self.duel.map(DuelKey);
        let export = match self.kind {
            ExportKind::Annotated => Export::Annotated {
                keep_unscored: self.keep_unscored,
            },
            ExportKind::AiScores => Export::AiScores {
                members: self.members.clone(),
            },
            ExportKind::Votes => Export::Votes,
            ExportKind::Verdicts => Export::Verdicts,
            ExportKind::Run => Export::Run {
                ranking: self.ranking.clone(),
                tag: self.tag.clone(),
            },
            ExportKind::Qrels => Export::Labels(LabelExport {
                source: self.labels.source(duel),
                beir: self.labels.form.map(|form| form == ExportForm::Beir),
            }),
            ExportKind::Rulings => Export::Rulings(self.labels.rulings()),
            ExportKind::Picks => Export::Picks,
            ExportKind::Duel => Export::Duel {
                duel,
                rows: match self.labels.form {
                    Some(ExportForm::Events) => DuelRows::Events,
                    _ => DuelRows::Judgments,
                },
            },
            ExportKind::Predictions => Export::Predictions {
                student: self.student.clone().unwrap_or_default(),
            },
        };
        ExportRequest {
            export,
            queries: self.query.clone(),
            format: self.format,
        }
    }
}

impl QrelsOptions {
    fn rulings(&self) -> RulingOptions {
        RulingOptions {
            grades: self.grades,
            level: self.level,
        }
    }

    fn source(&self, duel: Option<DuelKey>) -> LabelSource {
        let rulings = self.rulings();
        match self.from {
            LabelSourceName::Duel => LabelSource::Duel(duel),
            LabelSourceName::Zelo => LabelSource::Zelo {
                basis: self.cuts,
                rulings,
            },
            LabelSourceName::Labels | LabelSourceName::Rulings if self.diff => {
                LabelSource::Changes {
                    rulings,
                    with_rulings: self.from == LabelSourceName::Rulings,
                }
            }
            LabelSourceName::Labels if !self.corrected => LabelSource::Imported,
            LabelSourceName::Labels | LabelSourceName::Rulings => LabelSource::Corrected(rulings),
        }
    }
}
