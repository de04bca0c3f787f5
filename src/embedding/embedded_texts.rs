//! The vectors of some texts, with what is known of the call that made them.

use crate::judge::Exchange;

/// What an embedder made of some texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmbeddedTexts {
    /// A vector of length 1 for each text, in order; an empty one where what came has no direction.
    pub vectors: Vec<Vec<f32>>,
    /// What is known of the call: tokens, as the server or the tokenizer counts them, and dollars.
    pub exchange: Exchange,
}
