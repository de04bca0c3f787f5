//! People's label of a document: from the project's labels, or else from the document's metadata.

use crate::domain::corpus::QueryId;
use crate::domain::sanitize;
use crate::store::corpus::DocumentInfo;
use crate::store::{Db, Result};
use crate::tui::text;
use serde_json::Value;

/// Metadata longer than this is not searched for a label.
const METADATA_BYTES: usize = 64_000;
/// Maximum columns of the label's name.
const NAME_COLUMNS: usize = 30;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HumanLabel {
    /// Relevant above 0.
    pub grade: Option<f64>,
    /// Its name in the metadata, such as `SUPPORT`.
    name: Option<String>,
    /// Whether the metadata was too long to be searched.
    is_unread: bool,
}

impl HumanLabel {
    /// The label of each document.
    pub fn read_all(db: &Db, query: &QueryId, documents: &[DocumentInfo]) -> Result<Vec<Self>> {
        documents
            .iter()
            .map(|document| {
                let given = Self::of_metadata(document.metadata.as_str());
                let grade = db.label(query, &document.id)?.map(f64::from);
                Ok(Self {
                    grade: grade.or(given.grade),
                    ..given
                })
            })
            .collect()
    }

    /// The metadata's `grade` and `label`.
    pub fn of_metadata(metadata: &str) -> Self {
        if metadata.len() > METADATA_BYTES {
            return Self {
                is_unread: true,
                ..Self::default()
            };
        }
        let metadata: Value = serde_json::from_str(metadata).unwrap_or(Value::Null);
        let grade = metadata.get("grade").and_then(|grade| {
            grade
                .as_f64()
                .or_else(|| grade.as_str()?.trim().parse().ok())
        });
        let name = metadata
            .get("label")
            .and_then(Value::as_str)
            .map(|name| text::truncate(&sanitize::line(name), NAME_COLUMNS).into_owned())
            .filter(|name| !name.trim().is_empty());
        Self {
            grade,
            name,
            is_unread: false,
        }
    }

    /// Whether it says that the document is relevant; `None` for an unlabeled document.
    pub fn is_relevant(&self) -> Option<bool> {
        self.grade.map(|grade| grade > 0.0)
    }

    /// `human label: relevant, grade 2 (SUPPORT)`.
    pub fn words(&self) -> String {
        let judged = match self.grade {
            Some(grade) if grade > 1.0 => Some(format!("relevant, grade {grade}")),
            Some(grade) if grade > 0.0 => Some("relevant".to_owned()),
            Some(_) => Some("not relevant".to_owned()),
            None => None,
        };
        match (judged, &self.name) {
            (Some(judged), Some(name)) => format!("human label: {judged} ({name})"),
            (Some(judged), None) => format!("human label: {judged}"),
            (None, Some(name)) => format!("human label: {name}"),
            (None, None) if self.is_unread => {
                "human label not read: the metadata is too long".to_owned()
            }
            (None, None) => "no human label".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_read_from_metadata() {
        let label = |metadata: &str| HumanLabel::of_metadata(metadata);
        assert_eq!(
            label(r#"{"grade":1,"label":"SUPPORT"}"#).words(),
            "human label: relevant (SUPPORT)"
        );
        assert_eq!(
            label(r#"{"grade":" 2 "}"#).words(),
            "human label: relevant, grade 2"
        );
        assert_eq!(label(r#"{"grade":0}"#).is_relevant(), Some(false));
        assert_eq!(
            label(r#"{"label":"\u001b[31mred"}"#).words(),
            "human label: ␛[31mred"
        );
        assert_eq!(label("not json"), HumanLabel::default());
        assert_eq!(label("{}").is_relevant(), None);
        let long = format!(r#"{{"grade":1,"text":"{}"}}"#, "x".repeat(METADATA_BYTES));
        assert!(label(&long).words().contains("too long"));
    }
}
