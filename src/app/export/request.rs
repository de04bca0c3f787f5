//! An export request: what to write, in which format, and where.

use super::forms::LabelForm;
use super::row_files::{
    ANNOTATED, PICKS, RowsOfLines, annotated_rows, pick_rows, write_label_rows,
};
use super::tables::{table_files, write_tables};
use super::{
    AddedExport, AddedLabels, AddedPage, FoundRanking, RunFile, TABLES, UnscoredDocuments,
    WrittenRanking, labels_to_write, member_names, write_ai_scores, write_annotated,
    write_comparisons, write_label_changes, write_picks, write_ranking, write_rulings, write_run,
    write_scored_by, write_verdicts, write_votes,
};
use crate::app::adjudication::data::{AdjudicationData, adjudication_data};
use crate::app::embedded_reasoning::REASONING_GONE;
use crate::app::error::{AppError, invalid};
use crate::app::output_file::{
    FileForm, HTML, JSON, JSON_LINES, OutputFolder, PARQUET, ProtectedFiles, TREC, check_ending,
    table_format, write_whole,
};
use crate::app::picture::{Picture, check_picture_name, write_picture};
use crate::app::scored_pools::{scored_pools, student_in_scores};
use crate::app::text_format::counted;
use crate::app::truth::{AGAINST_JUDGES, GradeBasis, TruthSource, zelo_truth};
use crate::domain::adjudication::{RulingGrades, corrected_labels};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::Qrels;
use crate::domain::sanitize;
use crate::formats::file::unpacked_name;
use crate::formats::judgments::ExportedLabels;
use crate::formats::pairs::PairForm;
use crate::formats::table_file::{TableFormat, WITHOUT_PARQUET};
use crate::formats::{beir, trec};
use crate::registry::{find_ranking, project_scale};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use clap::ValueEnum;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What to export. Its names and help texts on the command line are derived from it; features add
/// more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportKind {
    /// Documents with zELO scores, or with those of --ranking, as JSON lines in zBench's format
    Annotated,
    /// Battles with every vote, in zBench's ai_scores.json format
    AiScores,
    /// One row per vote of every judge, and per failed call that no later vote replaced; `counts`
    /// says which votes count
    Votes,
    /// One row per annotator and pair, with the verdict; `in_force` says which verdict counts.
    /// With --form, comparisons for other tools
    Verdicts,
    /// The documents of each query by zELO, or in the order of --ranking, as a TREC run
    Run,
    /// Labels in TREC's or BEIR's columns; --from rulings applies the rulings, --from zelo derives
    /// grades from the scores
    Qrels,
    /// One row per ruling on a label that was not undone, with its change
    Rulings,
    /// Every answer of a judge on a pool, as JSON lines
    Picks,
    /// The whole project as a folder of Parquet files, one per table, for DuckDB; needs --out DIR
    Tables,
}

/// What to export, with the settings of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Export {
    /// Documents with scores, in zBench's format.
    Annotated {
        /// The name of a ranking whose scores to use instead of zELO.
        ranking: Option<String>,
        /// Include documents without a score.
        keep_unscored: bool,
    },
    /// Battles with all votes, as zBench's `ai_scores.json`.
    AiScores {
        /// zBench's members with the judges that fill them; empty to choose by provider.
        members: Vec<(String, String)>,
    },
    Votes,
    /// People's verdicts as a table, or as comparisons in the format of another tool.
    Verdicts(Option<PairForm>),
    Labels(LabelExport),
    /// The documents by zELO, or in the order of a ranking, as a TREC run.
    Run {
        /// The name of a ranking to use instead of zELO.
        ranking: Option<String>,
        /// The content of the last column; by default, the ranking's name.
        tag: Option<String>,
        /// Write positions counted from the end instead of the ranking's scores.
        places: bool,
    },
    Rulings(RulingOptions),
    Picks,
    /// A folder of tables.
    Tables,
    /// Rows of a feature.
    Added(Arc<dyn AddedExport>),
    /// A page of a feature, as HTML.
    Page(Arc<dyn AddedPage>),
    /// The chart of a screen.
    Picture(Arc<dyn Picture>),
}

/// Which labels to export, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelExport {
    pub source: LabelSource,
    /// `None` to infer it from the file name.
    pub form: Option<LabelForm>,
    /// Name of the search index that has the documents, for formats that need it.
    pub index: Option<String>,
}

/// The source of exported labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelSource {
    /// The labels of the project, as they were imported.
    Imported,
    /// The labels with the effective rulings applied.
    Corrected(RulingOptions),
    /// Only the changes made by the effective rulings.
    Changes {
        rulings: RulingOptions,
        /// Also write a file with the rulings.
        with_rulings: bool,
    },
    /// Grades derived from the zELO scores.
    Zelo {
        basis: GradeBasis,
        rulings: RulingOptions,
    },
    Added(AddedLabels),
}

/// How rulings change labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RulingOptions {
    /// The grades that rulings assign, if they differ from the defaults.
    pub grades: Option<RulingGrades>,
    /// The grade from which a document counts as labeled relevant.
    pub level: i32,
}

impl RulingOptions {
    /// The default options.
    pub const USUAL: Self = Self {
        grades: None,
        level: 1,
    };
}

impl Export {
    /// Labels in the columns that the file name implies.
    pub const fn labels(source: LabelSource) -> Self {
        Self::Labels(LabelExport {
            source,
            form: None,
            index: None,
        })
    }

    /// Whether the format of the file can be chosen.
    pub fn is_table(&self) -> bool {
        match self {
            Self::Votes | Self::Verdicts(None) | Self::Rulings(_) | Self::Added(_) => true,
            Self::Verdicts(Some(_))
            | Self::Annotated { .. }
            | Self::AiScores { .. }
            | Self::Labels(_)
            | Self::Run { .. }
            | Self::Picks
            | Self::Picture(_)
            | Self::Page(_)
            | Self::Tables => false,
        }
    }
}

impl Export {
    /// The form of a file called `path`, unless it is a table or a picture.
    pub fn file_form(&self, path: Option<&Path>) -> FileForm {
        match self {
            Self::Page(_) => HTML,
            Self::AiScores { .. } => JSON,
            Self::Labels(labels) => labels.form_of(path).file_form(),
            Self::Verdicts(Some(form)) => FileForm::new(form.file_words(), form.endings()),
            Self::Run { .. } => TREC,
            _ => JSON_LINES,
        }
    }

    /// Whether it is text in the format of other programs, and optionally a table in Parquet.
    fn has_row_form(&self) -> bool {
        match self {
            Self::Annotated { .. } | Self::Run { .. } | Self::Picks => true,
            Self::Labels(labels) => {
                labels.form.is_none() && !matches!(labels.source, LabelSource::Changes { .. })
            }
            _ => false,
        }
    }
}

#[derive(Clone, Debug)]
pub struct ExportRequest {
    pub export: Export,
    /// Only these queries; all if empty.
    pub queries: Vec<String>,
    /// Format of a table; `None` to infer it from the file name.
    pub format: Option<TableFormat>,
}

impl ExportRequest {
    /// All queries, in the default format.
    pub fn new(export: Export) -> Self {
        Self {
            export,
            queries: Vec::new(),
            format: None,
        }
    }

    /// Writes a complete file, and for corrected labels a second one with the underlying rulings.
    /// Returns the written files. Messages for the user go to `tell`.
    pub fn write_file(
        &self,
        store: &Store,
        path: &Path,
        protected: ProtectedFiles<'_>,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Vec<PathBuf>, AppError> {
        let keys = self.keys(store)?;
        if self.export == Export::Tables {
            return self.write_folder(store, &keys, path, protected, tell);
        }
        protected.check_target(path, &[])?;
        self.check_ending(path)?;
        if let Some((rulings, options)) = self.rulings_file(path) {
            protected.check_target(&rulings, &[])?;
            write_whole(&rulings, |out| {
                self.write_rulings(store, options, TableFormat::Csv, out)
            })?;
        }
        write_whole(path, |out| self.write(store, &keys, Some(path), out, tell))?;
        Ok(self.files(path))
    }

    fn write_folder(
        &self,
        store: &Store,
        keys: &[QueryKey],
        path: &Path,
        protected: ProtectedFiles<'_>,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Vec<PathBuf>, AppError> {
        let format = self.format.unwrap_or(TableFormat::Parquet);
        if !format.is_available() {
            return Err(invalid!("{WITHOUT_PARQUET}"));
        }
        if path.exists() && !path.is_dir() {
            return Err(AppError::file(
                path,
                "is a file; name a folder for the tables",
            ));
        }
        let folder = OutputFolder::make(path)?;
        for file in table_files(path, format) {
            protected.check_target(&file, &[])?;
        }
        write_tables(store, keys, path, format, tell)?;
        folder.keep();
        Ok(vec![path.to_owned()])
    }

    /// The files that [`Self::write_file`] writes.
    pub fn files(&self, path: &Path) -> Vec<PathBuf> {
        if self.export == Export::Tables {
            return table_files(path, self.format.unwrap_or(TableFormat::Parquet));
        }
        let rulings = self.rulings_file(path).map(|(path, _)| path);
        std::iter::once(path.to_owned()).chain(rulings).collect()
    }

    /// Rejects a file name whose extension implies a different format from the one being written.
    fn check_ending(&self, path: &Path) -> Result<(), AppError> {
        let form = match &self.export {
            export if export.is_table() => return self.table_format(Some(path)).map(drop),
            Export::Picture(_) => return check_picture_name(path),
            export => export.file_form(Some(path)),
        };
        if self.export.has_row_form() {
            self.row_format(Some(path))?;
            if self.format == Some(TableFormat::Parquet) {
                return check_ending(path, &[PARQUET]);
            }
            return check_ending(path, &[form, PARQUET]);
        }
        check_ending(path, &[form])
    }

    /// The format of the table that is written instead of a text file, if that is requested or the
    /// file name implies it.
    fn row_format(&self, path: Option<&Path>) -> Result<Option<TableFormat>, AppError> {
        let is_named = path.is_some_and(|path| PARQUET.names(path));
        match self.format {
            None if !is_named => Ok(None),
            None | Some(TableFormat::Parquet) => {
                table_format(Some(TableFormat::Parquet), TableFormat::Parquet, &[], path).map(Some)
            }
            Some(_) => Err(invalid!(
                "--format: this export is written in its text format, or with --format parquet as a \
                 table"
            )),
        }
    }

    fn table_format(&self, path: Option<&Path>) -> Result<TableFormat, AppError> {
        let formats = match &self.export {
            Export::Added(export) => export.formats(),
            _ => &TABLES,
        };
        let (usual, others) = formats.split_first().unwrap_or((&TableFormat::Csv, &[]));
        match self.format {
            Some(asked) if !formats.contains(&asked) => Err(invalid!(
                "--format: this export is written as {}; omit --format",
                usual.extension()
            )),
            asked => table_format(asked, *usual, others, path),
        }
    }

    /// The requested queries.
    pub fn keys(&self, store: &Store) -> Result<Vec<QueryKey>, AppError> {
        let names = self.queries.clone();
        Ok(store.read_blocking(move |db| {
            if names.is_empty() {
                Ok(db.queries()?.into_iter().map(|query| query.key).collect())
            } else {
                names.iter().map(|name| db.find_query(name)).collect()
            }
        })?)
    }

    /// Writes to any output; `path` is the file name, if there is one.
    pub fn write(
        &self,
        store: &Store,
        keys: &[QueryKey],
        path: Option<&Path>,
        out: &mut (dyn Write + Send),
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), AppError> {
        let is_by_zelo = matches!(
            self.export,
            Export::Annotated { ranking: None, .. } | Export::Run { ranking: None, .. }
        );
        if is_by_zelo && let Some(note) = student_in_scores(store, keys)? {
            tell(&note);
        }
        let rows = match self.export.has_row_form() {
            true => self.row_format(path)?,
            false => None,
        };
        match (&self.export, rows) {
            (Export::Annotated { .. }, Some(format)) => {
                let mut rows = RowsOfLines::new(&ANNOTATED, format, annotated_rows, out)?;
                self.write_annotated(store, keys, &mut rows, tell)?;
                return Ok(rows.finish()?);
            }
            (Export::Picks, Some(format)) => {
                let mut rows = RowsOfLines::new(&PICKS, format, pick_rows, out)?;
                write_picks(store, |pick| self.wants(&pick.query), &mut rows)?;
                return Ok(rows.finish()?);
            }
            _ => {}
        }
        match &self.export {
            Export::Annotated { .. } => self.write_annotated(store, keys, out, tell),
            Export::AiScores { members } => {
                let (members, warning) = member_names(store, keys, members)?;
                if let Some(warning) = warning {
                    tell(&format!("warning: {warning}"));
                }
                write_ai_scores(store, keys, &members, out)
            }
            Export::Votes => {
                let gone = write_votes(store, keys, self.table_format(path)?, out)?;
                if gone > 0 {
                    let votes = counted(gone, "vote");
                    tell(&format!("{votes} without it: {REASONING_GONE}"));
                }
                Ok(())
            }
            Export::Verdicts(None) => write_verdicts(store, keys, self.table_format(path)?, out),
            Export::Verdicts(Some(form)) => {
                let left_out = write_comparisons(store, keys, *form, out)?;
                left_out.notes().iter().for_each(|note| tell(note));
                Ok(())
            }
            Export::Labels(labels) => {
                let target = LabelTarget { path, rows };
                self.write_labels(labels, store, keys, target, out, tell)
            }
            Export::Run {
                ranking: Some(name),
                tag,
                places,
            } => {
                let ranking = find_ranking(store, name)?;
                ranking.notes.iter().for_each(|note| tell(note));
                let wants = |query: &QueryId| self.wants(query);
                let written = write_ranking(
                    &ranking,
                    wants,
                    tag.as_deref(),
                    *places,
                    RunFile::new(rows, out)?,
                )?;
                written.notes(&ranking).iter().for_each(|note| tell(note));
                Ok(())
            }
            Export::Run {
                ranking: None, tag, ..
            } => {
                let tag = tag.as_deref().unwrap_or(TruthSource::Zelo.name());
                let left_out = write_run(store, keys, tag, RunFile::new(rows, out)?)?;
                if left_out > 0 {
                    let documents = counted(left_out, "document");
                    tell(&format!("skipped {documents} without a score"));
                }
                Ok(())
            }
            Export::Rulings(options) => {
                self.write_rulings(store, *options, self.table_format(path)?, out)
            }
            Export::Tables => Err(invalid!(
                "tables are written to a folder; name one with --out DIR"
            )),
            Export::Picks => write_picks(store, |pick| self.wants(&pick.query), out),
            Export::Picture(picture) => write_picture(&picture.svg(store)?, path, out),
            Export::Page(page) => Ok(out.write_all(page.html(store)?.as_bytes())?),
            Export::Added(export) => export.write(store, keys, self.table_format(path)?, out, tell),
        }
    }

    /// Writes documents with scores as JSON lines.
    fn write_annotated(
        &self,
        store: &Store,
        keys: &[QueryKey],
        out: &mut dyn Write,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), AppError> {
        let Export::Annotated {
            ranking,
            keep_unscored: keep,
        } = &self.export
        else {
            return Ok(());
        };
        if let Some(name) = ranking {
            let ranking = find_ranking(store, name)?;
            ranking.notes.iter().for_each(|note| tell(note));
            let written = write_scored_by(store, keys, &ranking, *keep, out)?;
            written.notes(&ranking).iter().for_each(|note| tell(note));
            return Ok(());
        }
        let UnscoredDocuments { left_out, .. } =
            write_annotated(store, keys, None, *keep, out, |_| {})?;
        if left_out > 0 && !keep {
            tell(&format!("skipped {left_out} documents without a score"));
        }
        Ok(())
    }

    /// The file for the rulings behind corrected labels that are written to `path`, and their
    /// options.
    fn rulings_file(&self, path: &Path) -> Option<(PathBuf, RulingOptions)> {
        let Export::Labels(LabelExport {
            source:
                LabelSource::Corrected(options)
                | LabelSource::Changes {
                    rulings: options,
                    with_rulings: true,
                },
            ..
        }) = self.export
        else {
            return None;
        };
        let mut name = unpacked_name(path).file_stem()?.to_owned();
        name.push("_rulings.csv");
        Some((path.with_file_name(name), options))
    }

    fn write_labels(
        &self,
        labels: &LabelExport,
        store: &Store,
        keys: &[QueryKey],
        target: LabelTarget<'_>,
        out: &mut (dyn Write + Send),
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), AppError> {
        match &labels.source {
            LabelSource::Imported => {
                let data = self.labels_and_rulings(store, RulingOptions::USUAL)?;
                labels.write(&labels_to_write(&data, None)?, store, target, out)
            }
            LabelSource::Corrected(options) => {
                let data = self.labels_and_rulings(store, *options)?;
                let corrections = data.corrections(options.grades);
                let corrected = labels_to_write(&data, Some(&corrections))?;
                labels.write(&corrected, store, target, out)?;
                let changed = corrections.iter().filter(|one| one.changes()).count();
                tell(&format!(
                    "{} applied, {} changed",
                    counted(corrections.len(), "ruling"),
                    counted(changed, "label")
                ));
                Ok(())
            }
            LabelSource::Changes { rulings, .. } => {
                let data = self.labels_and_rulings(store, *rulings)?;
                write_label_changes(&data, &data.corrections(rulings.grades), out)
            }
            LabelSource::Zelo { basis, rulings } => {
                let data = self.labels_and_rulings(store, *rulings)?;
                let corrected = corrected_labels(&data.labels, &data.corrections(rulings.grades));
                let scale = project_scale(store)?;
                let pools = scored_pools(store, keys)?;
                let truth = zelo_truth(&pools, &corrected, *basis, scale.as_ref())?;
                labels.write(&truth.qrels, store, target, out)?;
                truth.notes.iter().for_each(|note| tell(note));
                tell(&format!(
                    "metrics based on them are measured {AGAINST_JUDGES}"
                ));
                Ok(())
            }
            LabelSource::Added(made) => {
                let mut kept = made.labels.clone();
                kept.retain(|query, _| self.wants(query));
                labels.write(&kept, store, target, out)?;
                let grades: usize = kept.values().map(|grades| grades.len()).sum();
                tell(&format!(
                    "{} of {} {}",
                    counted(grades, "label"),
                    counted(kept.len(), "query"),
                    made.origin
                ));
                made.notes.iter().for_each(|note| tell(note));
                Ok(())
            }
        }
    }

    fn wants(&self, query: &QueryId) -> bool {
        self.queries.is_empty() || self.queries.iter().any(|name| name == query.as_str())
    }

    /// Labels and rulings of the requested queries.
    fn labels_and_rulings(
        &self,
        store: &Store,
        RulingOptions { level, .. }: RulingOptions,
    ) -> Result<AdjudicationData, AppError> {
        let mut data = store.read_blocking(move |db| adjudication_data(db, level))?;
        data.labels.retain(|query, _| self.wants(query));
        data.rulings.retain(|row| self.wants(&row.ruling.query));
        Ok(data)
    }

    fn write_rulings(
        &self,
        store: &Store,
        options: RulingOptions,
        format: TableFormat,
        out: &mut (dyn Write + Send),
    ) -> Result<(), AppError> {
        let data = self.labels_and_rulings(store, options)?;
        write_rulings(&data, &data.corrections(options.grades), format, out)
    }
}

impl WrittenRanking {
    /// What the user should know about the scores that were written, one sentence each.
    fn notes(self, ranking: &FoundRanking) -> Vec<String> {
        let name = sanitize::line(&ranking.name);
        let count = |number: usize, of: &str, rest: &str| {
            (number > 0).then(|| format!("{name}: {} {rest}", counted(number, of)))
        };
        [
            count(
                self.placed,
                "query",
                "without scores that give its order: the scores are positions counted from the end",
            ),
            count(
                self.appended,
                "document",
                "that it does not score: last in their order, each 1 below the one before",
            ),
            count(
                self.tied,
                "document",
                "with the score of the one before, which other programs order by descending id \
                 (--places writes positions instead)",
            ),
            count(
                self.left_out,
                "document",
                "without a score or outside of the pool: skipped",
            ),
            count(self.missing, "query", "not in the ranking: skipped"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Where labels are written.
#[derive(Clone, Copy)]
struct LabelTarget<'a> {
    path: Option<&'a Path>,
    /// The format of the table that is written instead of text, if any.
    rows: Option<TableFormat>,
}

impl LabelExport {
    fn form_of(&self, path: Option<&Path>) -> LabelForm {
        let name = path.map(unpacked_name);
        let ending = name.as_deref().and_then(Path::extension);
        self.form.unwrap_or(match ending {
            Some(ending) if ending == "tsv" => LabelForm::Beir,
            _ => LabelForm::Trec,
        })
    }

    /// Writes these labels in the requested format.
    fn write(
        &self,
        labels: &Qrels,
        store: &Store,
        target: LabelTarget<'_>,
        mut out: &mut (dyn Write + Send),
    ) -> Result<(), AppError> {
        if let Some(format) = target.rows {
            return Ok(write_label_rows(labels, format, out)?);
        }
        match self.form_of(target.path) {
            LabelForm::Trec => trec::write_qrels(&mut out, labels)?,
            LabelForm::Beir => beir::write_qrels(&mut out, labels)?,
            LabelForm::Tool(format) => {
                let queries = store.read_blocking(|db| db.queries())?.into_iter();
                let texts: BTreeMap<QueryId, String> =
                    queries.map(|query| (query.id, query.text)).collect();
                let documents = match format.info().writes_documents {
                    true => document_texts(labels, store)?,
                    false => BTreeMap::new(),
                };
                let labels = ExportedLabels {
                    labels,
                    texts: &texts,
                    documents: &documents,
                    index: self.index.as_deref(),
                };
                format
                    .write(out, &labels)
                    .map_err(|error| match error.kind() {
                        io::ErrorKind::InvalidInput => AppError::Invalid(error.to_string()),
                        _ => error.into(),
                    })?;
            }
        }
        Ok(())
    }
}

/// The texts of labeled documents, as far as the project has them.
fn document_texts(
    labels: &Qrels,
    store: &Store,
) -> Result<BTreeMap<QueryId, HashMap<DocId, String>>, AppError> {
    let mut texts = BTreeMap::new();
    for (query, grades) in labels {
        let name = query.clone();
        let pool = store.read_blocking(move |db| {
            let key = db.known_query(name.as_str())?;
            key.map(|key| db.pool(key)).transpose()
        })?;
        let documents = pool.into_iter().flat_map(|pool| pool.documents);
        let labeled = documents.filter(|document| grades.contains_key(&document.id));
        let of_query = labeled.map(|document| (document.id, document.content));
        texts.insert(query.clone(), of_query.collect());
    }
    Ok(texts)
}
