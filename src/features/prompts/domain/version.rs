//! A version of a prompt: its text, where it comes from, and the judges that vote with it.

use serde::Serialize;

/// A judge with the number of its votes under a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptUse {
    pub judge: String,
    pub model: String,
    pub votes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptVersion {
    /// The hash that identifies it in a judge.
    pub hash: String,
    /// The name of a built-in prompt.
    pub name: Option<&'static str>,
    /// `None` if only the hash was stored.
    pub text: Option<String>,
    /// The metadata that is shown with the documents: `all`, or a list of fields.
    pub fields: Option<String>,
    /// The texts of the project that it shows, as JSON: they are part of the hash.
    pub project_texts: Option<String>,
    /// The hash of the prompt that it was made from.
    pub parent: Option<String>,
    pub note: Option<String>,
    pub author: Option<String>,
    /// Names of the queries whose pairs are examples in the text.
    pub examples: Vec<String>,
    /// When it was stored; `None` for a built-in prompt that no judge has used.
    pub created_ms: Option<i64>,
    /// The judges whose votes reference it.
    pub judges: Vec<PromptUse>,
}

impl PromptVersion {
    pub fn votes(&self) -> usize {
        self.judges.iter().map(|of| of.votes).sum()
    }
}
