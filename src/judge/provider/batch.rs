//! The providers' batch formats, and the calls around them.

pub(crate) mod anthropic;
pub(crate) mod client;
pub(crate) mod format;
pub(crate) mod gemini;
pub(crate) mod openai;
