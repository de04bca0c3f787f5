//! Describes one record of a file as it was read, so that the user notices a file that was read as
//! the wrong kind.

use super::file_content::FileContent;
use crate::app::error::AppError;
use crate::app::input_files::{FoundLabels, display_name, open};
use crate::app::text_format::counted;
use crate::domain::corpus::Pool;
use crate::domain::metrics::RankedRun;
use crate::domain::sanitize;
use crate::formats::ai_scores::{ExpectedJudges, read_scored_pairs};
use crate::formats::columns;
use crate::formats::dataset::read_pools;
use crate::formats::file_kind::FileKind;
use crate::formats::picks::read_picks;
use crate::formats::problem::quoted;
use crate::formats::votes::{ExternalAnswer, ExternalVote};
use std::fmt::{self, Display};
use std::path::Path;

/// The first valid record of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSample {
    /// The file name as displayed.
    file: String,
    /// Its line, from 1, if the file has lines.
    line: Option<u64>,
    /// The content of the file: `a dataset`.
    format: &'static str,
    /// The record: `query "q1", document "d1", grade 2`.
    pub record: String,
}

impl Display for RecordSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            format,
            record,
            ..
        } = self;
        let file = sanitize::line(&self.file);
        match line {
            Some(line) => write!(f, "{file}:{line}: {format}, read as {record}"),
            None => write!(f, "{file}: {format}, read as {record}"),
        }
    }
}

impl RecordSample {
    fn new(path: &Path, line: Option<u64>, content: &FileContent, record: String) -> Self {
        Self {
            file: display_name(path),
            line,
            format: content.describe(),
            record,
        }
    }

    /// The first query of a folder of Parquet files, in a row of one of them.
    #[cfg(feature = "parquet")]
    pub(super) fn of_pool(path: &Path, row: u64, pool: &Pool) -> Self {
        Self::new(path, Some(row), &FileContent::Dataset, pool_words(pool))
    }

    /// The first vote of a file of votes.
    pub(super) fn of_vote(
        path: &Path,
        format: &'static str,
        line: u64,
        vote: &ExternalVote,
    ) -> Self {
        let (verb, margin) = match &vote.answer {
            ExternalAnswer::Vote(margin) => ("vote", Some(margin.get())),
            ExternalAnswer::Verdict(margin) => ("verdict", Some(margin.get())),
            ExternalAnswer::Failure(_) => ("failed call", None),
        };
        let margin = margin.map_or_else(String::new, |margin| format!(" {margin}"));
        Self {
            file: display_name(path),
            line: Some(line),
            format,
            record: format!(
                "query {}, a {}, b {}, {verb}{margin} by {}",
                quoted(vote.query.as_str()),
                quoted(vote.a.id.as_str()),
                quoted(vote.b.id.as_str()),
                quoted(&vote.by)
            ),
        }
    }
}

/// The first record of a file of pools or picks, or of a table.
pub(super) fn first_record(
    path: &Path,
    content: &FileContent,
) -> Result<Option<RecordSample>, AppError> {
    let name = display_name(path);
    let sample = |line, record| RecordSample::new(path, line, content, record);
    Ok(match content {
        FileContent::Dataset | FileContent::Requests | FileContent::MtebSet => {
            let mut pools = read_pools(open(path)?, &name);
            let first = pools.find_map(Result::ok);
            first.map(|pool| sample(Some(pools.line()), pool_words(&pool)))
        }
        FileContent::AiScores => read_scored_pairs(open(path)?, &name, ExpectedJudges::Any)
            .find_map(Result::ok)
            .map(|pair| {
                let record = format!(
                    "query {}, documents {} and {} with {}",
                    quoted(pair.query_id.as_str()),
                    quoted(pair.a.id.as_str()),
                    quoted(pair.b.id.as_str()),
                    counted(pair.votes.len(), "vote")
                );
                sample(None, record)
            }),
        FileContent::Picks => {
            read_picks(open(path)?, &name)
                .find_map(Result::ok)
                .map(|(line, pick)| {
                    let record = format!(
                        "query {}, judge {}, {} shown",
                        quoted(pick.query.as_str()),
                        quoted(&pick.judge),
                        counted(pick.order.len(), "document")
                    );
                    sample(Some(line), record)
                })
        }
        FileContent::Labels(FileKind::Table(layout)) => {
            let mut rows = columns::read_labels(open(path)?, &name, layout);
            let first =
                rows.find_map(|row| row.ok().and_then(|(line, label)| Some((line, label?))));
            first.map(|(line, of)| {
                sample(
                    Some(line),
                    label(of.query.as_str(), of.document.as_str(), of.grade),
                )
            })
        }
        FileContent::Rankings(FileKind::Table(layout)) => {
            columns::read_rankings(open(path)?, &name, layout)
                .find_map(Result::ok)
                .map(|(line, of)| {
                    let record = ranked(of.query.as_str(), of.document.as_str(), of.rank, of.score);
                    sample(Some(line), record)
                })
        }
        FileContent::PoolTable(layout) => columns::read_pool_rows(open(path)?, &name, layout)
            .find_map(Result::ok)
            .map(|(line, row)| {
                let of = &row.ranked;
                let record = ranked(of.query.as_str(), of.document.as_str(), of.rank, of.score);
                let texts = format!("{record}, query text {}", quoted(&row.query_text));
                sample(Some(line), texts)
            }),
        FileContent::Labels(_) | FileContent::Rankings(_) => None,
    })
}

fn pool_words(pool: &Pool) -> String {
    let first = pool.documents.first();
    let first = first.map(|document| quoted(document.id.as_str()));
    format!(
        "query {} ({}) with {}, the first of them {}",
        quoted(pool.query.id.as_str()),
        quoted(&pool.query.text),
        counted(pool.documents.len(), "document"),
        first.unwrap_or_default()
    )
}

/// A label of a file that has no rows.
pub(super) fn any_label(
    path: &Path,
    content: &FileContent,
    found: &FoundLabels,
) -> Option<RecordSample> {
    let mut queries = found.labels.iter();
    let (query, grades) = queries.find(|(_, grades)| !grades.is_empty())?;
    let (document, grade) = grades.first_key_value()?;
    let record = label(query.as_str(), document.as_str(), *grade);
    let line = found.first_lines.get(query).copied();
    Some(RecordSample::new(path, line, content, record))
}

/// The best document of a ranking in a file that has no rows.
pub(super) fn any_ranked(
    path: &Path,
    content: &FileContent,
    run: &RankedRun,
) -> Option<RecordSample> {
    let (query, documents) = run.iter().find(|(_, documents)| !documents.is_empty())?;
    let (document, score) = documents.first()?;
    let record = ranked(query.as_str(), document.as_str(), None, Some(*score));
    Some(RecordSample::new(path, None, content, record))
}

fn label(query: &str, document: &str, grade: i32) -> String {
    format!(
        "query {}, document {}, grade {grade}",
        quoted(query),
        quoted(document)
    )
}

fn ranked(query: &str, document: &str, rank: Option<i32>, score: Option<f64>) -> String {
    let rank = rank.map_or_else(String::new, |rank| format!(", rank {rank}"));
    let score = score.map_or_else(String::new, |score| format!(", score {score}"));
    format!(
        "query {}, document {}{rank}{score}",
        quoted(query),
        quoted(document)
    )
}
