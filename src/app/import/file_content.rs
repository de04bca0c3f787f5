//! What a file holds, by its beginning.

use crate::app::error::{AppError, invalid};
use crate::app::input_files::{display_name, open};
use crate::formats::file_kind::{self, FileKind};
use std::io::{self, BufRead as _};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileContent {
    /// Queries with documents.
    Dataset,
    /// Queries with candidates that are to be ranked.
    Requests,
    /// Queries with documents and recorded votes.
    AiScores,
    Picks,
    Labels(FileKind),
    Ranking(FileKind),
}

impl FileContent {
    /// What a file of it holds, for a sentence.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Dataset => FileKind::Dataset.describe(),
            Self::Requests => "reranking requests (RankLLM)",
            Self::AiScores => "recorded votes",
            Self::Picks => "picks",
            Self::Labels(kind) | Self::Ranking(kind) => kind.describe(),
        }
    }
}

/// Looks at the first kilobytes: a dataset's line names its query, which is an object, or its documents, a pick its
/// query's id, `ai_scores.json` its pairs.
pub(super) fn recognise(path: &Path) -> Result<FileContent, AppError> {
    let mut reader = open(path)?;
    let start = reader.fill_buf().map_err(|error| {
        let what = format!("{}: cannot be read: {error}", display_name(path));
        match error.kind() {
            io::ErrorKind::InvalidData => AppError::Invalid(what),
            _ => AppError::Failed(what),
        }
    })?;
    let start = String::from_utf8_lossy(start);
    let bare = start.trim_start_matches('\u{feff}').trim_start();
    let beginning: String = bare.chars().take(200).collect();
    let Some(members) = beginning.strip_prefix('{') else {
        let found = file_kind::recognise(reader, &display_name(path));
        return Ok(of_kind(found.map_err(AppError::invalid)?));
    };
    let line = bare.lines().next().unwrap_or_default();
    let requests = line.contains("\"candidates\"") && !line.contains("\"documents\"");
    let members = members.trim_start();
    if members.starts_with("\"_id\"") {
        let name = path.display();
        return Err(invalid!(
            "{name}: is a part of a BEIR folder; import the folder"
        ));
    }
    let query = members.strip_prefix("\"query\"");
    let value = query.and_then(|rest| rest.trim_start().strip_prefix(':'));
    Ok(if beginning.contains("\"scored_pairs\"") {
        FileContent::AiScores
    } else if value.is_some_and(|value| value.trim_start().starts_with('"')) {
        FileContent::Picks
    } else if requests {
        FileContent::Requests
    } else {
        let kind = file_kind::recognise(reader, &display_name(path));
        of_kind(kind.map_err(AppError::invalid)?)
    })
}

fn of_kind(kind: FileKind) -> FileContent {
    match kind {
        FileKind::Dataset => FileContent::Dataset,
        FileKind::Qrels | FileKind::BeirQrels | FileKind::RanxQrels => FileContent::Labels(kind),
        FileKind::Run | FileKind::Candidates | FileKind::RanxRun => FileContent::Ranking(kind),
    }
}
