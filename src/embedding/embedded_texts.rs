//! The vectors of some texts, with information about the call that produced them.

use crate::judge::Exchange;

/// An embedder's result for some texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmbeddedTexts {
    /// A vector of length 1 for each text, in order; empty if the model's vector has no direction.
    pub vectors: Vec<Vec<f32>>,
    /// Information about the call: tokens as counted by the server or the tokenizer, and dollars.
    pub exchange: Exchange,
}
