//! What the fields of an item name, and what such fields are usually called.

/// What a field of an item names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldRole {
    Query,
    /// The document that is graded.
    Document,
    /// The first document of a pair.
    A,
    /// The second document of a pair.
    B,
}

impl FieldRole {
    pub const ALL: [Self; 4] = [Self::Query, Self::Document, Self::A, Self::B];

    /// Its name on the command line, and the name of a field with an identifier or a text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Document => "document",
            Self::A => "a",
            Self::B => "b",
        }
    }

    /// Names of fields with identifiers, as in tables, without separators.
    pub(super) fn ids(self) -> &'static [&'static str] {
        match self {
            Self::Query => &["queryid", "qid", "topicid"],
            Self::Document => &[
                "docno",
                "documentid",
                "docid",
                "corpusid",
                "passageid",
                "pid",
                "productid",
                "itemid",
            ],
            Self::A => &["aid", "documenta", "doca", "documentida", "docida"],
            Self::B => &["bid", "documentb", "docb", "documentidb", "docidb"],
        }
    }
}
