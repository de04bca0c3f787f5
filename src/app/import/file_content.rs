//! Recognizes the content of a file by its beginning, unless the user names it.

use crate::app::error::{AppError, invalid};
use crate::app::input_files::{kind_as, start_of};
use crate::formats::columns::{Layout, TableContent};
use crate::formats::file_kind::FileKind;
use crate::formats::judgments::JudgmentFormat;
use crate::formats::pairs::PairFormat;
use std::path::Path;

/// The content of a file, as the user names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    Dataset,
    AiScores,
    Picks,
    Labels,
    Rankings,
    Judgments(JudgmentFormat),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileContent {
    /// Queries with documents.
    Dataset,
    /// Queries with candidates that are to be ranked.
    Requests,
    /// Queries with positive and negative documents.
    MtebSet,
    /// Queries with documents and recorded votes.
    AiScores,
    Picks,
    Labels(FileKind),
    Rankings(FileKind),
    /// Candidates with the texts of queries and documents, and their ranking.
    PoolTable(Layout),
}

impl FileContent {
    /// A phrase that describes the content of such a file.
    pub(super) fn describe(&self) -> &'static str {
        match self {
            Self::Dataset => FileKind::Dataset.describe(),
            Self::Requests => "reranking requests (RankLLM)",
            Self::MtebSet => "a reranking set (MTEB)",
            Self::AiScores => "recorded votes",
            Self::Picks => "picks",
            Self::Labels(FileKind::Dataset) => "labels in a dataset",
            Self::Rankings(FileKind::Dataset) => "scores in a dataset",
            Self::Labels(kind) | Self::Rankings(kind) => kind.describe(),
            Self::PoolTable(_) => "queries, candidates and their ranking",
        }
    }
}

/// The content of the file: `said`, or recognized from its first kilobytes. In a dataset the first
/// object has `documents`, or a `query` that is an object; in picks `query` is an identifier; and
/// `ai_scores.json` has `scored_pairs`.
pub(super) fn recognize(path: &Path, said: Option<ContentKind>) -> Result<FileContent, AppError> {
    match said {
        Some(ContentKind::Dataset) => return Ok(FileContent::Dataset),
        Some(ContentKind::AiScores) => return Ok(FileContent::AiScores),
        Some(ContentKind::Picks) => return Ok(FileContent::Picks),
        Some(ContentKind::Labels) => {
            let kind = kind_as(path, Some(TableContent::Labels))?;
            return Ok(FileContent::Labels(kind));
        }
        Some(ContentKind::Rankings) => {
            let kind = kind_as(path, Some(TableContent::Rankings))?;
            return Ok(FileContent::Rankings(kind));
        }
        Some(ContentKind::Judgments(format)) => {
            return Ok(FileContent::Labels(FileKind::Judgments(format)));
        }
        None => {}
    }
    let start = start_of(path)?;
    let bare = start.as_str();
    if let Some(format) =
        JudgmentFormat::recognize(bare).map_err(|what| AppError::file(path, what))?
    {
        return Ok(FileContent::Labels(FileKind::Judgments(format)));
    }
    if let Some(format) = PairFormat::recognize(bare).map_err(|what| AppError::file(path, what))? {
        let (name, holds) = (path.display(), format.names().describe);
        return Err(invalid!(
            "{name}: holds {holds}; `overrule import votes {name}` imports them"
        ));
    }
    let bare = bare.strip_prefix('[').unwrap_or(bare).trim_start();
    if let Some(content) = of_object(bare, path)? {
        return Ok(content);
    }
    let kind = match kind_as(path, None)? {
        FileKind::Table(layout) if layout.has_pools() => return Ok(FileContent::PoolTable(layout)),
        kind => kind,
    };
    Ok(match kind.content() {
        None => FileContent::Dataset,
        Some(TableContent::Labels) => FileContent::Labels(kind),
        Some(TableContent::Rankings) => FileContent::Rankings(kind),
    })
}

/// The content of a file that begins with an object; `None` if it may be a dataset, or is not
/// recognized.
fn of_object(text: &str, path: &Path) -> Result<Option<FileContent>, AppError> {
    let beginning: String = text.chars().take(200).collect();
    let Some(members) = beginning.strip_prefix('{').map(str::trim_start) else {
        return Ok(None);
    };
    let line = text.lines().next().unwrap_or_default();
    let has = |name: &str| line.contains(&format!("\"{name}\""));
    if members.starts_with("\"_id\"") {
        let name = path.display();
        return Err(invalid!(
            "{name}: is part of a BEIR folder; import the folder"
        ));
    }
    let pairs = !has("documents") && !has("candidates") && has("a") && has("b");
    if pairs && has("p_a") && has("p_b") {
        let name = path.display();
        return Err(invalid!(
            "{name}: holds predictions of pairs; `overrule student import {name} --name NAME` reads \
             them"
        ));
    }
    if pairs && (has("score") || has("margin")) {
        let name = path.display();
        return Err(invalid!(
            "{name}: holds votes on pairs; `overrule import votes {name}` imports them"
        ));
    }
    let value = members
        .strip_prefix("\"query\"")
        .map(str::trim_start)
        .and_then(|rest| rest.strip_prefix(':'));
    Ok(if beginning.contains("\"scored_pairs\"") {
        Some(FileContent::AiScores)
    } else if has("positive") && has("negative") && !has("documents") && !has("candidates") {
        Some(FileContent::MtebSet)
    } else if value.is_some_and(|value| value.trim_start().starts_with('"')) {
        Some(FileContent::Picks)
    } else if has("candidates") && !has("documents") {
        Some(FileContent::Requests)
    } else {
        None
    })
}
