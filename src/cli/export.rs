//! `overrule export`: exports the project's data in the formats of other programs.

use super::argument::{ArgumentError, OrAdded};
use super::command::{CommandContext, CommandFailure, CommandResult, usage};
use super::output::{self, HeldOutput};
use crate::app::export::forms::{FormName, LabelForm};
use crate::app::export::request::{
    Export, ExportKind, ExportRequest, LabelExport, LabelSource, RulingOptions,
};
use crate::app::output_file::{ProtectedFiles, is_standard_output};
use crate::app::truth::GradeBasis;
use crate::domain::adjudication::RulingGrades;
use crate::formats::ai_scores::ZBENCH_JUDGES;
use crate::formats::table_file::TableFormat;
use crate::registry::{AddedExportForm, AddedExportKind, AddedExportOptions, AddedLabelSource};
use crate::store::Store;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule export annotated --out scored.jsonl
  overrule export annotated --ranking zerank --out zerank.jsonl    the scores of a method or \
  reranker, for zBench
  overrule export votes --format jsonl | jq 'select(.failure)'
  overrule export votes --out votes.parquet                also for verdicts, rulings, duels, \
  predictions, annotated, run, qrels and picks
  overrule export ai-scores --as openai=gpt,gemini=flash,anthropic=claude --out ai_scores.json
  overrule export qrels --corrected --out corrected.tsv    also writes corrected_rulings.csv: who \
  ruled, when and why
  overrule export run --out zelo.trec.gz                   names that end in .gz are compressed
  overrule export run --ranking rankgpt@20 --out r.trec    a ranking of `overrule rerank`, \
  with its scores if it has any
  overrule export qrels --from zelo --out zelo.qrels       the judges' grades; stderr says how \
  they were derived
  overrule export qrels --diff                             only what the rulings change
  overrule export qrels --form quepid --out ratings.csv    ratings for a case of Quepid, by the \
  texts of queries
  overrule export qrels --form rank-eval --index shop --out eval.json
                                                           for _rank_eval of Elasticsearch or \
  OpenSearch
  overrule export verdicts --form label-studio --out tasks.json
                                                           comparisons for an annotation tool, \
  which `overrule import votes` reads
  overrule export duel --out duel.csv                      the choices in the latest duel
  overrule export qrels --from duel --out chosen.qrels     labels that most participants agree on
  overrule export predictions --student llama-8b --out p.csv
  overrule export lists --out lists.jsonl                  list calls, for another copy of the project
  overrule export tables --out tables && duckdb -c \"FROM 'tables/eval_summary.parquet'\"")]
pub(crate) struct ExportCommand {
    /// What to write
    #[arg(value_parser = OrAdded::<ExportKind, AddedExportKind>::parser())]
    kind: OrAdded<ExportKind, AddedExportKind>,
    /// Output file, or folder for tables [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Export only this query (repeatable)
    #[arg(long, value_name = "QUERY")]
    query: Vec<String>,
    /// Format of votes, verdicts, rulings, duels and predictions [default: by the extension of
    /// --out, otherwise csv] and of tables [default: parquet]; annotated, run, qrels and picks are
    /// text, or parquet
    #[arg(long, value_enum)]
    format: Option<TableFormat>,
    #[command(flatten)]
    labels: QrelsOptions,
    /// For run and annotated: a method or reranker, a ranking of the project, or original
    /// [default: zELO]
    #[arg(long, value_name = "NAME")]
    ranking: Option<String>,
    /// For run: the name in the last column [default: the name of the ranking, or zelo]
    #[arg(long, value_name = "NAME")]
    tag: Option<String>,
    /// For run with --ranking: write positions counted from the end instead of scores
    #[arg(long, requires = "ranking")]
    places: bool,
    /// For ai-scores: which judges are openai, gemini and anthropic [default: by provider, if each
    /// has one judge]
    #[arg(long = "as", value_name = "MEMBER=JUDGE", value_delimiter = ',', value_parser = member)]
    members: Vec<(String, String)>,
    #[command(flatten)]
    added: AddedExportOptions,
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
    /// For qrels: which labels to write [default: labels]
    #[arg(long, value_parser = OrAdded::<LabelSourceName, AddedLabelSource>::parser())]
    from: Option<OrAdded<LabelSourceName, AddedLabelSource>>,
    /// For qrels from zelo: how to convert zELO scores to grades [default: auto]
    #[arg(long, value_enum)]
    cuts: Option<GradeBasis>,
    /// For qrels: apply the rulings; their sources are written next to --out, to a file that ends
    /// in _rulings.csv
    #[arg(long)]
    corrected: bool,
    /// For qrels: write only the labels that rulings change (+ added, - removed)
    #[arg(long, conflicts_with = "corrected")]
    diff: bool,
    /// For qrels: trec, beir or the format of another tool [default: beir for .tsv, otherwise trec];
    /// for verdicts: the format of an annotation tool or arena [default: a table]; for a duel:
    /// judgments or events [default: judgments]
    #[arg(long, value_parser = OrAdded::<FormName, AddedExportForm>::parser())]
    form: Option<OrAdded<FormName, AddedExportForm>>,
    /// For qrels as rank-eval: the search index that has the documents
    #[arg(long, value_name = "INDEX")]
    index: Option<String>,
    /// For qrels and rulings: grades of the rulings partially and relevant [default: 1,1, or 1,2 if labels
    /// above 1 exist]
    #[arg(long, value_name = "P,R", value_parser = grades)]
    grades: Option<RulingGrades>,
    /// For qrels and rulings: lowest grade that counts as relevant [default: 1]
    #[arg(long, value_name = "GRADE")]
    level: Option<i32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LabelSourceName {
    /// As they were imported
    Labels,
    /// Labels corrected by the rulings that count, as with --corrected
    Rulings,
    /// Grades derived from the zELO scores
    Zelo,
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
pub(super) fn member(text: &str) -> Result<(String, String), ArgumentError> {
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
        self.check_options()?;
        let from = self.labels.source_name();
        let is_made = match from {
            OrAdded::Core(from) => from == LabelSourceName::Zelo,
            OrAdded::Added(_) => true,
        };
        if is_made && (self.labels.corrected || self.labels.diff) {
            return Err(usage!(
                "--corrected and --diff are about labels; omit --from {}",
                from.name()
            ));
        }
        let added = match self.kind {
            OrAdded::Core(_) => None,
            OrAdded::Added(kind) => Some(kind),
        };
        let has_added_form = added.is_some_and(AddedExportKind::has_form);
        let (is_qrels, is_verdicts) = (
            self.kind == OrAdded::Core(ExportKind::Qrels),
            self.kind == OrAdded::Core(ExportKind::Verdicts),
        );
        let may_have_form = match self.labels.form {
            None => true,
            Some(OrAdded::Core(_)) => is_qrels || is_verdicts,
            Some(OrAdded::Added(_)) => has_added_form,
        };
        if !may_have_form {
            return Err(usage!(
                "--form: qrels are written as trec, beir or in the format of another tool, verdicts in \
                 that of an annotation tool or arena, a duel as judgments or events"
            ));
        }
        if self.format.is_some() && matches!(self.labels.form, Some(OrAdded::Core(_))) {
            return Err(usage!("--format is for tables; omit it, or omit --form"));
        }
        let label_form = match is_qrels {
            true => self.labels.form()?,
            false => None,
        };
        let needs_index = matches!(
            label_form,
            Some(LabelForm::Tool(format)) if format.info().needs_index
        );
        if needs_index != self.labels.index.is_some() {
            return Err(usage!(
                "--index names the search index of the documents; it is needed for qrels as \
                 rank-eval, and only there"
            ));
        }
        self.added.check(added, &self.query)?;
        let is_run = self.kind == OrAdded::Core(ExportKind::Run);
        let is_scored = is_run || self.kind == OrAdded::Core(ExportKind::Annotated);
        if self.ranking.is_some() && !is_scored {
            return Err(usage!("--ranking is for run and annotated"));
        }
        if self.places && !is_run {
            return Err(usage!("--places is for run"));
        }
        let store = context.open()?;
        let request = self.request(context, &store)?;
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

    /// Refuses options that this kind of export does not have.
    fn check_options(&self) -> Result<(), CommandFailure> {
        let (labels, kind) = (&self.labels, self.kind);
        let is = |of: ExportKind| kind == OrAdded::Core(of);
        let is_qrels = is(ExportKind::Qrels);
        let has_rulings = is_qrels || is(ExportKind::Rulings);
        let options = [
            ("--from", labels.from.is_some(), is_qrels, "qrels"),
            ("--cuts", labels.cuts.is_some(), is_qrels, "qrels"),
            ("--corrected", labels.corrected, is_qrels, "qrels"),
            ("--diff", labels.diff, is_qrels, "qrels"),
            (
                "--grades",
                labels.grades.is_some(),
                has_rulings,
                "qrels and rulings",
            ),
            (
                "--level",
                labels.level.is_some(),
                has_rulings,
                "qrels and rulings",
            ),
            ("--tag", self.tag.is_some(), is(ExportKind::Run), "run"),
            (
                "--as",
                !self.members.is_empty(),
                is(ExportKind::AiScores),
                "ai-scores",
            ),
            (
                "--keep-unscored",
                self.keep_unscored,
                is(ExportKind::Annotated),
                "annotated",
            ),
        ];
        match options.iter().find(|(_, given, fits, _)| *given && !fits) {
            Some((option, _, _, kinds)) => Err(usage!("{option} is for {kinds}")),
            None => Ok(()),
        }
    }

    fn request(
        &self,
        context: &CommandContext,
        store: &Store,
    ) -> Result<ExportRequest, CommandFailure> {
        let export = match self.kind {
            OrAdded::Core(kind) => self.of_core(store, kind)?,
            OrAdded::Added(kind) => {
                let form = match self.labels.form {
                    Some(OrAdded::Added(form)) => Some(form),
                    Some(OrAdded::Core(_)) | None => None,
                };
                Export::Added(self.added.export(context, store, kind, form, self.yes)?)
            }
        };
        Ok(ExportRequest {
            export,
            queries: self.query.clone(),
            format: self.format,
        })
    }

    fn of_core(&self, store: &Store, kind: ExportKind) -> Result<Export, CommandFailure> {
        Ok(match kind {
            ExportKind::Annotated => Export::Annotated {
                ranking: self.ranking.clone(),
                keep_unscored: self.keep_unscored,
            },
            ExportKind::AiScores => Export::AiScores {
                members: self.members.clone(),
            },
            ExportKind::Votes => Export::Votes,
            ExportKind::Verdicts => Export::Verdicts(match self.labels.form {
                Some(OrAdded::Core(form)) => Some(
                    form.of_verdicts()
                        .map_err(|what| usage!("--form: {what}"))?,
                ),
                Some(OrAdded::Added(_)) | None => None,
            }),
            ExportKind::Run => Export::Run {
                ranking: self.ranking.clone(),
                tag: self.tag.clone(),
                places: self.places,
            },
            ExportKind::Qrels => Export::Labels(LabelExport {
                source: match self.labels.source_name() {
                    OrAdded::Core(from) => self.labels.source(from),
                    OrAdded::Added(from) => LabelSource::Added(self.added.labels(store, from)?),
                },
                form: self.labels.form()?,
                index: self.labels.index.clone(),
            }),
            ExportKind::Rulings => Export::Rulings(self.labels.rulings()),
            ExportKind::Picks => Export::Picks,
            ExportKind::Tables => Export::Tables,
        })
    }
}

impl QrelsOptions {
    /// The form of qrels.
    fn form(&self) -> Result<Option<LabelForm>, CommandFailure> {
        match self.form {
            Some(OrAdded::Core(form)) => {
                let form = form.of_labels();
                form.map(Some).map_err(|what| usage!("--form: {what}"))
            }
            Some(OrAdded::Added(_)) | None => Ok(None),
        }
    }

    /// Where the labels come from.
    fn source_name(&self) -> OrAdded<LabelSourceName, AddedLabelSource> {
        self.from.unwrap_or(OrAdded::Core(LabelSourceName::Labels))
    }

    fn rulings(&self) -> RulingOptions {
        RulingOptions {
            grades: self.grades,
            level: self.level.unwrap_or(RulingOptions::USUAL.level),
        }
    }

    fn source(&self, from: LabelSourceName) -> LabelSource {
        let rulings = self.rulings();
        match from {
            LabelSourceName::Zelo => LabelSource::Zelo {
                basis: self.cuts.unwrap_or(GradeBasis::Auto),
                rulings,
            },
            LabelSourceName::Labels | LabelSourceName::Rulings if self.diff => {
                LabelSource::Changes {
                    rulings,
                    with_rulings: from == LabelSourceName::Rulings,
                }
            }
            LabelSourceName::Labels if !self.corrected => LabelSource::Imported,
            LabelSourceName::Labels | LabelSourceName::Rulings => LabelSource::Corrected(rulings),
        }
    }
}
