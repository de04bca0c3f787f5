//! A benchmark's information about a document, stored in its metadata.

use crate::domain::corpus::Document;
use crate::formats::json::reason;
use serde::Deserialize;

/// The members of a document's `metadata` that Overrule reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct BenchmarkLabels {
    /// `grade`: a person's label; `None` if unjudged.
    #[serde(default)]
    pub grade: Option<i32>,
    /// `first_stage_rank`: the rank in the first stage, from 1.
    #[serde(default)]
    pub first_stage_rank: Option<usize>,
}

/// A label that is not an integer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("metadata.grade, metadata.first_stage_rank: {0}")]
pub struct InvalidBenchmarkLabels(String);

impl BenchmarkLabels {
    /// The labels of a document.
    ///
    /// # Errors
    /// If a value is not an integer.
    pub fn of(document: &Document) -> Result<Self, InvalidBenchmarkLabels> {
        let text = document.metadata.as_str();
        if !text.contains("grade") && !text.contains("first_stage_rank") {
            return Ok(Self::default());
        }
        serde_json::from_str(text).map_err(|error| InvalidBenchmarkLabels(reason(&error)))
    }
}
