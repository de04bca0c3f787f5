//! An export request: what to write, in which format, and where.

use super::{
    LabelChanges, member_names, write_ai_scores, write_annotated, write_label_changes,
    write_labels, write_picks, write_predictions, write_ranking, write_rulings, write_run,
    write_verdicts, write_votes,
};
use crate::app::adjudication::data::{AdjudicationData, adjudication_data};
use crate::app::embedded_reasoning::REASONING_GONE;
use crate::app::error::AppError;
use crate::app::output_file::{
    BEIR, JSON, JSON_LINES, ProtectedFiles, TREC, check_ending, table_format, write_whole,
};
use crate::app::scored_pools::{scored_pools, student_in_scores};
use crate::app::text_format::counted;
use crate::app::truth::{AGAINST_JUDGES, GradeBasis, TruthSource, zelo_truth};
use crate::domain::adjudication::{RulingGrades, corrected_labels};
use crate::domain::corpus::QueryId;
use crate::features::duel::app::export::{DuelRows, write_duel, written_words};
use crate::features::duel::app::{chosen_duel, duel_labels, find_ranking};
use crate::features::duel::store::DuelKey;
use crate::formats::file::unpacked_name;
use crate::formats::table_file::TableFormat;
use crate::formats::{beir, trec};
use crate::registry::project_scale;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportKind {
    /// Documents with scores, in zBench's format.
    Annotated,
    /// Battles with all votes, as zBench's `ai_scores.json`.
    AiScores,
    Votes,
    Verdicts,
    Qrels,
    /// The documents by zELO, or in the order of a ranking, as a TREC run.
    Run,
    Rulings,
    Picks,
    /// A duel's judgments or events.
    Duel,
    /// The labels derived from the choices of a duel.
    DuelLabels,
    /// A student's predictions.
    Predictions,
}

#[derive(Clone, Debug)]
pub struct ExportRequest {
    pub kind: ExportKind,
    /// Only these queries; all if empty.
    pub queries: Vec<String>,
    /// Format of tables; `None` to infer it from the file name.
    pub format: Option<TableFormat>,
    /// For annotated documents: include those without a score.
    pub keep_unscored: bool,
    /// For `ai_scores.json`: zBench's members with the judges that fill them.
    pub members: Vec<(String, String)>,
    /// For labels: apply the effective rulings.
    pub corrected: bool,
    /// For labels: write only the changes made by the effective rulings.
    pub diff: bool,
    /// For labels: use BEIR's columns; `None` to infer it from the file name.
    pub beir: Option<bool>,
    /// For labels: their source.
    pub from: TruthSource,
    /// For labels from scores: how to convert scores to grades.
    pub basis: GradeBasis,
    /// For a run: the name of a ranking to use instead of zELO.
    pub ranking: Option<String>,
    /// For a run: the content of the last column; by default, the ranking's name.
    pub tag: Option<String>,
    /// The grades that rulings assign, if they differ from the defaults.
    pub grades: Option<RulingGrades>,
    /// The grade from which a document counts as labeled relevant.
    pub level: i32,
    /// The duel; by default, the latest.
    pub duel: Option<DuelKey>,
    pub duel_rows: DuelRows,
    /// For predictions: the student.
    pub student: String,
}

impl ExportRequest {
    /// Everything of a kind, in its default format.
    pub fn new(kind: ExportKind) -> Self {
        Self {
            kind,
            queries: Vec::new(),
            format: None,
            keep_unscored: false,
            members: Vec::new(),
            corrected: false,
            diff: false,
            beir: None,
            from: TruthSource::Qrels,
            basis: GradeBasis::Auto,
            ranking: None,
            tag: None,
            grades: None,
            level: 1,
            duel: None,
            duel_rows: DuelRows::Judgments,
            student: String::new(),
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
        protected.check_target(path, &[])?;
        self.check_ending(path)?;
        let rulings = self.rulings_file(path);
        if let Some(rulings) = &rulings {
            protected.check_target(rulings, &[])?;
            write_whole(rulings, |out| {
                self.write_rulings(store, TableFormat::Csv, out)
            })?;
        }
        write_whole(path, |out| self.write(store, &keys, Some(path), out, tell))?;
        Ok(self.files(path))
    }

    /// The files that [`Self::write_file`] writes.
    pub fn files(&self, path: &Path) -> Vec<PathBuf> {
        let rulings = self.rulings_file(path);
        std::iter::once(path.to_owned()).chain(rulings).collect()
    }

    /// Rejects a file name whose extension implies a different format from the one being written.
    fn check_ending(&self, path: &Path) -> Result<(), AppError> {
        let form = match self.kind {
            ExportKind::Annotated | ExportKind::Picks => JSON_LINES,
            ExportKind::AiScores => JSON,
            ExportKind::Votes
            | ExportKind::Verdicts
            | ExportKind::Rulings
            | ExportKind::Duel
            | ExportKind::Predictions => return self.table_format(Some(path)).map(drop),
            ExportKind::Qrels | ExportKind::DuelLabels if self.is_beir(Some(path)) => BEIR,
            ExportKind::Qrels | ExportKind::DuelLabels | ExportKind::Run => TREC,
        };
        check_ending(path, &[form])
    }

    fn table_format(&self, path: Option<&Path>) -> Result<TableFormat, AppError> {
        let others = [TableFormat::Jsonl, TableFormat::Parquet];
        table_format(self.format, TableFormat::Csv, &others, path)
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
        let of_scores = matches!(self.kind, ExportKind::Annotated | ExportKind::Run);
        if of_scores && let Some(note) = student_in_scores(store, keys)? {
            tell(&note);
        }
        match self.kind {
            ExportKind::Annotated => {
                let left_out = write_annotated(store, keys, None, self.keep_unscored, out, |_| {})?;
                if left_out > 0 && !self.keep_unscored {
                    tell(&format!(
                        "{left_out} documents without a score are left out"
                    ));
                }
                Ok(())
            }
            ExportKind::AiScores => {
                let (members, warning) = member_names(store, keys, &self.members)?;
                if let Some(warning) = warning {
                    tell(&format!("warning: {warning}"));
                }
                write_ai_scores(store, keys, &members, out)
            }
            ExportKind::Votes => {
                let gone = write_votes(store, keys, self.table_format(path)?, out)?;
                if gone > 0 {
                    let votes = counted(gone, "vote");
                    tell(&format!("{votes} without it: {REASONING_GONE}"));
                }
                Ok(())
            }
            ExportKind::Verdicts => write_verdicts(store, keys, self.table_format(path)?, out),
            ExportKind::Qrels if self.from == TruthSource::Zelo => {
                self.write_zelo_labels(store, keys, path, out, tell)
            }
            ExportKind::DuelLabels => self.write_duel_labels(store, path, out, tell),
            ExportKind::Qrels => self.write_labels(store, path, out, tell),
            ExportKind::Run if self.ranking.is_some() => {
                let name = self.ranking.as_deref().unwrap_or_default();
                let ranking = find_ranking(store, name)?;
                ranking.notes.iter().for_each(|note| tell(note));
                let wants = |query: &QueryId| self.wants(query);
                write_ranking(&ranking, wants, self.tag.as_deref(), out)
            }
            ExportKind::Run => {
                let tag = self.tag.as_deref().unwrap_or(TruthSource::Zelo.name());
                let left_out = write_run(store, keys, tag, out)?;
                if left_out > 0 {
                    let documents = counted(left_out, "document");
                    tell(&format!("{documents} without a score are left out"));
                }
                Ok(())
            }
            ExportKind::Rulings => self.write_rulings(store, self.table_format(path)?, out),
            ExportKind::Picks => write_picks(store, |pick| self.wants(&pick.query), out),
            ExportKind::Duel => {
                let key = chosen_duel(store, self.duel)?;
                let format = self.table_format(path)?;
                let rows = write_duel(store, key, self.duel_rows, format, out)?;
                tell(&written_words(store, key, rows)?);
                Ok(())
            }
            ExportKind::Predictions => {
                write_predictions(store, keys, &self.student, self.table_format(path)?, out)
            }
        }
    }

    /// The file for the rulings behind corrected labels that are written to `path`.
    fn rulings_file(&self, path: &Path) -> Option<PathBuf> {
        let mut name = unpacked_name(path).file_stem()?.to_owned();
        name.push("_rulings.csv");
        let wanted = self.kind == ExportKind::Qrels && self.is_corrected();
        wanted.then(|| path.with_file_name(name))
    }

    fn is_corrected(&self) -> bool {
        self.corrected || self.from == TruthSource::Rulings
    }

    fn is_beir(&self, path: Option<&Path>) -> bool {
        let name = path.map(unpacked_name);
        let ending = name.as_deref().and_then(Path::extension);
        self.beir
            .unwrap_or_else(|| ending.is_some_and(|ending| ending == "tsv"))
    }

    fn write_zelo_labels(
        &self,
        store: &Store,
        keys: &[QueryKey],
        path: Option<&Path>,
        mut out: &mut dyn Write,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), AppError> {
        let data = self.labels_and_rulings(store)?;
        let corrected = corrected_labels(&data.labels, &data.corrections(self.grades));
        let scale = project_scale(store)?;
        let pools = scored_pools(store, keys)?;
        let truth = zelo_truth(&pools, &corrected, self.basis, scale.as_ref())?;
        if self.is_beir(path) {
            beir::write_qrels(&mut out, &truth.qrels)?
        } else {
            trec::write_qrels(&mut out, &truth.qrels)?
        }
        truth.notes.iter().for_each(|note| tell(note));
        tell(&format!(
            "what is measured with them is measured {AGAINST_JUDGES}"
        ));
        Ok(())
    }

    /// Writes the labels derived from the choices of a duel.
    fn write_duel_labels(
        &self,
        store: &Store,
        path: Option<&Path>,
        mut out: &mut dyn Write,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), AppError> {
        let key = chosen_duel(store, self.duel)?;
        let mut made = store.read_blocking(move |db| duel_labels(db, key))?;
        made.labels.retain(|query, _| self.wants(query));
        if self.is_beir(path) {
            beir::write_qrels(&mut out, &made.labels)?
        } else {
            trec::write_qrels(&mut out, &made.labels)?
        }
        let labels: usize = made.labels.values().map(|grades| grades.len()).sum();
        tell(&format!(
            "{} of {} by what most participants of duel {} chose (1) or did not (0)",
            counted(labels, "label"),
            counted(made.labels.len(), "query"),
            key.0
        ));
        if made.divided > 0 {
            let documents = counted(made.divided, "document");
            tell(&format!(
                "{documents} without one: half chose them, half did not"
            ));
        }
        Ok(())
    }

    fn wants(&self, query: &QueryId) -> bool {
        self.queries.is_empty() || self.queries.iter().any(|name| name == query.as_str())
    }

    /// Labels and rulings of the requested queries.
    fn labels_and_rulings(&self, store: &Store) -> Result<AdjudicationData, AppError> {
        let level = self.level;
        let mut data = store.read_blocking(move |db| adjudication_data(db, level))?;
        data.labels.retain(|query, _| self.wants(query));
        data.rulings.retain(|row| self.wants(&row.ruling.query));
        Ok(data)
    }

    fn write_labels(
        &self,
        store: &Store,
        path: Option<&Path>,
        out: &mut dyn Write,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), AppError> {
        let data = self.labels_and_rulings(store)?;
        let corrections = data.corrections(self.grades);
        if self.diff {
            return write_label_changes(&data, &corrections, out);
        }
        let (corrected, beir) = (self.is_corrected(), self.is_beir(path));
        write_labels(&data, &corrections, LabelChanges { corrected, beir }, out)?;
        if corrected {
            let changed = corrections.iter().filter(|one| one.changes()).count();
            tell(&format!(
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
        format: TableFormat,
        out: &mut (dyn Write + Send),
    ) -> Result<(), AppError> {
        let data = self.labels_and_rulings(store)?;
        write_rulings(&data, &data.corrections(self.grades), format, out)
    }
}
