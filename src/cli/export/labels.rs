//! Labels, corrected by rulings or not, and where the corrections come from.

use super::super::{CommandFailure, CommandResult, output};
use super::{RowFormat, write_rows};
use crate::app::adjudication::data::AdjudicationData;
use crate::domain::adjudication::{LabelCorrection, RulingGrades, corrected_labels};
use crate::formats::{beir, trec};
use anyhow::anyhow;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Columns of the side file.
const PROVENANCE: [&str; 17] = [
    "query",
    "document",
    "before",
    "after",
    "ruling",
    "cause",
    "note",
    "annotator",
    "created_ms",
    "blind",
    "active_ms",
    "revealed_ms",
    "against",
    "answers",
    "control_of",
    "in_force",
    "uid",
];

/// How labels are written.
#[derive(Debug, Args)]
pub(super) struct QrelsOptions {
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
    pub(super) level: i32,
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

impl QrelsOptions {
    /// What the rulings in force make of the labels.
    fn corrections(&self, rows: &AdjudicationData) -> Vec<LabelCorrection> {
        rows.corrections(self.grades)
    }

    pub(super) fn write(
        &self,
        rows: &AdjudicationData,
        path: Option<&Path>,
        mut out: &mut dyn Write,
    ) -> CommandResult {
        if rows.labels.is_empty() && rows.rulings.is_empty() {
            return Err(CommandFailure::usage(anyhow!(
                "the project holds no labels; `overrule import QRELS` or `overrule pool build --beir DIR` brings some in"
            )));
        }
        let corrections = self.corrections(rows);
        if self.diff {
            return diff(&corrections, out);
        }
        let labels = match self.corrected {
            true => corrected_labels(&rows.labels, &corrections),
            false => rows.labels.clone(),
        };
        let named = path
            .and_then(Path::extension)
            .is_some_and(|end| end == "tsv");
        match self.form.unwrap_or(match named {
            true => QrelsFormat::Beir,
            false => QrelsFormat::Trec,
        }) {
            QrelsFormat::Trec => trec::write_qrels(&mut out, &labels)?,
            QrelsFormat::Beir => beir::write_qrels(&mut out, &labels)?,
        }
        let changed = corrections.iter().filter(|one| one.changes()).count();
        if self.corrected {
            output::message(&format!(
                "{} in force, {} changed",
                output::counted(corrections.len(), "ruling"),
                output::counted(changed, "label")
            ));
        }
        Ok(())
    }

    /// Where the provenance of what is written to `path` goes.
    pub(super) fn side_file(&self, path: &Path) -> Option<PathBuf> {
        let mut name = path.file_stem()?.to_owned();
        name.push("_rulings.csv");
        self.corrected.then(|| path.with_file_name(name))
    }

    /// Every ruling that stands, with what it makes of its label.
    pub(super) fn provenance(
        &self,
        rows: &AdjudicationData,
        layout: RowFormat,
        out: &mut dyn Write,
    ) -> CommandResult {
        let corrections = self.corrections(rows);
        let rows = rows.rulings.iter().map(|row| {
            let (ruling, about) = (&row.ruling, &row.about);
            let made = corrections.iter().find(|one| one.ruling.uid == ruling.uid);
            json!({
                "query": ruling.query,
                "document": ruling.document,
                "before": made.map_or(about.grade, |made| made.before),
                "after": made.and_then(|made| made.after),
                "ruling": ruling.finding,
                "cause": ruling.fault,
                "note": ruling.note,
                "annotator": ruling.annotator,
                "created_ms": ruling.created_ms,
                "blind": about.blind,
                "active_ms": about.active_ms,
                "revealed_ms": row.revealed_ms,
                "against": about.against,
                "answers": about.answers,
                "control_of": about.control_of.filter(|of| *of > 0),
                "in_force": made.is_some(),
                "uid": ruling.uid,
            })
        });
        write_rows(PROVENANCE, rows, layout, out)
    }
}

/// The labels that change, a line each: sign, query, document, grade.
fn diff(corrections: &[LabelCorrection], out: &mut dyn Write) -> CommandResult {
    let mut changes: Vec<&LabelCorrection> =
        corrections.iter().filter(|one| one.changes()).collect();
    changes.sort_by_key(|one| (&one.ruling.query, &one.ruling.document));
    for one in changes {
        let query = trec::cell(one.ruling.query.as_str())?;
        let document = trec::cell(one.ruling.document.as_str())?;
        for (sign, grade) in [("-", one.before), ("+", one.after)] {
            if let Some(grade) = grade {
                writeln!(out, "{sign} {query} 0 {document} {grade}")?;
            }
        }
    }
    Ok(())
}
