//! `overrule export`: what the project holds, in other programs' forms.

use super::command::{CommandContext, CommandResult};
use super::output;
use crate::app::adjudication::data::{AdjudicationData, adjudication_data};
use crate::app::embedded_reasoning::REASONING_GONE;
use crate::app::error::AppError;
use crate::app::export::rows::RowFormat;
use crate::app::export::{
    LabelChanges, member_names, write_ai_scores, write_annotated, write_label_changes,
    write_labels, write_picks, write_rulings, write_verdicts, write_votes,
};
use crate::app::output_file::write_whole;
use crate::app::wording::counted;
use crate::domain::adjudication::RulingGrades;
use crate::domain::corpus::QueryId;
use crate::formats::ai_scores::ZBENCH_JUDGES;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use clap::{Args, ValueEnum};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportKind {
    /// Documents with zELO scores, JSON lines in zBench's form
    Annotated,
    /// Battles with every vote, in zBench's ai_scores.json form
    AiScores,
    /// One row a vote, or a failed call that no vote made good, of every judge; `counts` says whose count
    Votes,
    /// One row an annotator's verdict on a pair; `in_force` says which of them counts
    Verdicts,
    /// Labels in TREC's or BEIR's columns; --corrected puts the rulings in
    Qrels,
    /// One row a ruling on a label that stands, with what it changes
    Rulings,
    /// Every answer of a judge on a pool, JSON lines
    Picks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RowFormatName {
    Csv,
    Jsonl,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule export annotated --out scored.jsonl
  overrule export votes --format jsonl | jq 'select(.failure)'
  overrule export ai-scores --as openai=gpt,gemini=flash,anthropic=claude --out ai_scores.json
  overrule export qrels --corrected --out corrected.tsv    and corrected_rulings.csv: who ruled, when and why
  overrule export qrels --diff                             only what the rulings change")]
pub(super) struct ExportCommand {
    /// What to write
    #[arg(value_enum)]
    kind: ExportKind,
    /// Write here instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Only this query, repeatable
    #[arg(long, value_name = "QUERY")]
    query: Vec<String>,
    /// For votes, verdicts and rulings
    #[arg(long, value_enum, default_value = "csv")]
    format: RowFormatName,
    #[command(flatten)]
    labels: QrelsOptions,
    /// Of ai-scores: which judge is openai, gemini and anthropic; others are left out [default: by provider, where there is
    /// one judge of each and no other]
    #[arg(long = "as", value_name = "MEMBER=JUDGE", value_delimiter = ',', value_parser = member)]
    members: Vec<(String, String)>,
    /// Write documents without a score too, with "score":null (zBench refuses such a file)
    #[arg(long)]
    keep_unscored: bool,
}

/// How labels are written.
#[derive(Debug, Args)]
struct QrelsOptions {
    /// Of qrels: with the rulings in force put in; where they come from is written beside --out, with _rulings.csv at its end
    #[arg(long)]
    corrected: bool,
    /// Of qrels: only what the rulings in force change, a line a label: + put in, - taken out
    #[arg(long, conflicts_with = "corrected")]
    diff: bool,
    /// Of qrels: the form [default: beir where --out ends in .tsv, else trec]
    #[arg(long, value_enum)]
    form: Option<QrelsFormat>,
    /// Of qrels: the grades that `partially` and `relevant` put in [default: 1,1, or 1,2 in a dataset with labels above 1]
    #[arg(long, value_name = "P,R", value_parser = grades)]
    grades: Option<RulingGrades>,
    /// Of qrels: the grade from which on a document counts as labelled relevant
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum QrelsFormat {
    Trec,
    Beir,
}

fn grades(text: &str) -> Result<RulingGrades, String> {
    let read = |part: &str| part.trim().parse::<i32>().ok().filter(|grade| *grade > 0);
    match text
        .split_once(',')
        .map(|(one, two)| (read(one), read(two)))
    {
        Some((Some(partially), Some(relevant))) if partially <= relevant => Ok(RulingGrades {
            partially,
            relevant,
        }),
        _ => Err("expected two whole numbers above 0, such as 1,2".to_owned()),
    }
}

/// A member of zBench's with the judge that fills it.
fn member(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((member, judge)) if ZBENCH_JUDGES.contains(&member) && !judge.is_empty() => {
            Ok((member.to_owned(), judge.to_owned()))
        }
        _ => Err(format!("expected {}=JUDGE", ZBENCH_JUDGES.join("=JUDGE, "))),
    }
}

impl ExportCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let names = self.query.clone();
        let keys: Vec<QueryKey> = store.read_blocking(move |db| match names.is_empty() {
            true => Ok(db.queries()?.into_iter().map(|query| query.key).collect()),
            false => names.iter().map(|name| db.find_query(name)).collect(),
        })?;
        let Some(path) = &self.out else {
            let mut out = BufWriter::new(io::stdout().lock());
            self.write(&store, &keys, &mut out)?;
            return Ok(out.flush()?);
        };
        context.check_target(path, &[])?;
        let rulings = self.labels.rulings_file(path);
        let rulings = rulings.filter(|_| self.kind == ExportKind::Qrels);
        if let Some(rulings) = &rulings {
            context.check_target(rulings, &[])?;
            write_whole(rulings, |out| {
                self.write_rulings(&store, RowFormat::Csv, out)
            })?;
        }
        write_whole(path, |out| self.write(&store, &keys, out))?;
        for path in std::iter::once(path).chain(&rulings) {
            output::message(&format!("wrote {}", path.display()));
        }
        Ok(())
    }

    fn write(&self, store: &Store, keys: &[QueryKey], out: &mut dyn Write) -> Result<(), AppError> {
        let format = match self.format {
            RowFormatName::Csv => RowFormat::Csv,
            RowFormatName::Jsonl => RowFormat::Jsonl,
        };
        match self.kind {
            ExportKind::Annotated => {
                let left_out = write_annotated(store, keys, self.keep_unscored, out, |_| {})?;
                if left_out > 0 && !self.keep_unscored {
                    output::message(&format!(
                        "{left_out} documents without a score are left out"
                    ));
                }
                Ok(())
            }
            ExportKind::AiScores => {
                let (members, warning) = member_names(store, keys, &self.members)?;
                if let Some(warning) = warning {
                    output::message(&format!("warning: {warning}"));
                }
                write_ai_scores(store, keys, &members, out)
            }
            ExportKind::Votes => {
                let gone = write_votes(store, keys, format, out)?;
                if gone > 0 {
                    output::message(&format!(
                        "{} without it: {REASONING_GONE}",
                        counted(gone, "vote")
                    ));
                }
                Ok(())
            }
            ExportKind::Verdicts => write_verdicts(store, keys, format, out),
            ExportKind::Qrels => self.write_labels(store, out),
            ExportKind::Rulings => self.write_rulings(store, format, out),
            ExportKind::Picks => write_picks(store, |pick| self.wants(&pick.query), out),
        }
    }

    fn wants(&self, query: &QueryId) -> bool {
        self.query.is_empty() || self.query.iter().any(|name| name == query.as_str())
    }

    /// Labels and rulings, of the queries that are wanted.
    fn labels_and_rulings(&self, store: &Store) -> Result<AdjudicationData, AppError> {
        let level = self.labels.level;
        let mut data = store.read_blocking(move |db| adjudication_data(db, level))?;
        data.labels.retain(|query, _| self.wants(query));
        data.rulings.retain(|row| self.wants(&row.ruling.query));
        Ok(data)
    }

    fn write_labels(&self, store: &Store, out: &mut dyn Write) -> Result<(), AppError> {
        let data = self.labels_and_rulings(store)?;
        let corrections = data.corrections(self.labels.grades);
        if self.labels.diff {
            return write_label_changes(&data, &corrections, out);
        }
        let corrected = self.labels.corrected;
        let ending = self.out.as_deref().and_then(Path::extension);
        let beir = match self.labels.form {
            Some(form) => form == QrelsFormat::Beir,
            None => ending.is_some_and(|ending| ending == "tsv"),
        };
        write_labels(&data, &corrections, LabelChanges { corrected, beir }, out)?;
        if corrected {
            let changed = corrections.iter().filter(|one| one.changes()).count();
            output::message(&format!(
                "{} in force, {} changed",
                counted(corrections.len(), "ruling"),
                counted(changed, "label")
            ));
        }
        Ok(())
    }

    fn write_rulings(
        &self,
        store: &Store,
        format: RowFormat,
        out: &mut dyn Write,
    ) -> Result<(), AppError> {
        let data = self.labels_and_rulings(store)?;
        write_rulings(&data, &data.corrections(self.labels.grades), format, out)
    }
}

impl QrelsOptions {
    /// Where the rulings behind what is written to `path` go.
    fn rulings_file(&self, path: &Path) -> Option<PathBuf> {
        let mut name = path.file_stem()?.to_owned();
        name.push("_rulings.csv");
        self.corrected.then(|| path.with_file_name(name))
    }
}
