//! What is changed in a question.

use serde::Serialize;

/// A change of a question about a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Manipulation {
    /// A sentence that says nothing is put in front of the document that lost: the control, which
    /// measures how often any edit turns an answer.
    Neutral,
    /// The documents are shown in the other order.
    Order,
    /// Words of the query are put into the document that lost.
    Words,
    /// The document that lost is made longer by repeating its text.
    Padding,
    /// A sentence to the judge is put in front of the document that lost.
    Instruction,
    /// Both documents are shown in another language.
    Language,
}

impl Manipulation {
    pub const ALL: [Self; 6] = [
        Self::Neutral,
        Self::Order,
        Self::Words,
        Self::Padding,
        Self::Instruction,
        Self::Language,
    ];

    /// Its name in keys and seeds, which never changes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Neutral => "neutral",
            Self::Order => "order",
            Self::Words => "words",
            Self::Padding => "padding",
            Self::Instruction => "instruction",
            Self::Language => "language",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Neutral => "neutral sentence (control)",
            Self::Order => "order swapped",
            Self::Words => "query words injected",
            Self::Padding => "text padded",
            Self::Instruction => "instruction injected",
            Self::Language => "language swapped",
        }
    }

    /// Whether it changes the text of a document to turn the answer.
    pub fn is_of_text(self) -> bool {
        matches!(self, Self::Words | Self::Padding | Self::Instruction)
    }

    /// Its place in [`Self::ALL`].
    pub fn place(self) -> usize {
        self as usize
    }
}
