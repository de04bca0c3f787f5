//! Queries, documents and pools, as given in the input.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// Copies share one text.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps the identifier exactly as the input spells it.
            pub fn new(id: impl Into<Arc<str>>) -> Self {
                Self(id.into())
            }

            /// The identifier as the input spells it: unsanitized, so never print it to a terminal
            /// directly.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::new)
            }
        }
    };
}

text_id!(
    /// A query's identifier, unique in a project.
    QueryId
);
text_id!(
    /// A document's identifier, unique in its pool.
    DocId
);

/// A JSON object stored as compact text, which preserves the order of keys and the digits of
/// numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonObject(String);

impl JsonObject {
    pub fn from_compact(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The object's compact text, `{}` when empty.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0 == "{}"
    }
}

impl Default for JsonObject {
    fn default() -> Self {
        Self("{}".to_owned())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub id: QueryId,
    pub text: String,
    /// Other members of the input's query object, kept for export.
    pub extra: JsonObject,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub id: DocId,
    /// `title` of the input's document or metadata, if it is a non-empty string.
    pub title: Option<String>,
    /// The text a judge reads.
    pub content: String,
    /// The input's `metadata`, unmodified.
    pub metadata: JsonObject,
    /// Other members of the input's document object, kept for export.
    pub extra: JsonObject,
    /// The input's `score`, if present.
    pub input_score: Option<f64>,
}

/// A query with its candidates in the order of the input, which is the first stage's (hybrid)
/// order.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    pub query: Query,
    /// The candidates, best first by the first stage.
    pub documents: Vec<Document>,
    /// Other members of the input's line, kept for export.
    pub extra: JsonObject,
}
