//! How the answers of an annotation tool are read.

use super::field_role::FieldRole;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The fields of items by their ids, as a tool's data file has them.
pub type AnswerItems = BTreeMap<String, Vec<(String, String)>>;

/// How the answers of a file are read, as the user says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerOptions {
    /// The question whose answers are read; needed if the file has several.
    pub question: Option<String>,
    /// Names of fields that differ from the usual ones.
    pub fields: BTreeMap<FieldRole, String>,
    /// The meanings of answers: a grade, or `a`, `b` or `tie`.
    pub meanings: BTreeMap<String, String>,
    /// Read only the answers of this person.
    pub rater: Option<String>,
    /// If people differ on a document, use the median of their grades instead of refusing the file.
    pub median: bool,
    /// The items that answers are about, if the file has only their ids.
    pub items: Option<Arc<AnswerItems>>,
}

impl AnswerOptions {
    /// Whether the answers of a person are read.
    pub(in crate::formats) fn wants(&self, rater: Option<&str>) -> bool {
        match &self.rater {
            Some(wanted) => rater == Some(wanted.as_str()),
            None => true,
        }
    }
}
