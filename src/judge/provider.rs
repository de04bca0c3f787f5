//! Judges behind HTTP. A [`WireFormat`] implements one provider's format and is pure;
//! [`RemoteJudge`] adds the settings, the connection and what was learned about the server, and is
//! a [`Judge`](super::Judge).

pub(crate) mod address;
pub mod anthropic;
pub mod azure;
pub(crate) mod batch;
pub(crate) mod bedrock;
pub mod chat;
pub mod compatible;
mod complaint;
mod connection;
pub mod decisions;
mod error_body;
pub(crate) mod error_response;
pub mod gemini;
pub mod http;
pub(crate) mod json;
pub(crate) mod key_command;
mod learnt;
#[cfg(test)]
pub(crate) mod made_up;
pub mod ollama;
pub mod openai;
mod output_cap;
mod provider_trait;
pub(crate) mod rate_limits;
pub mod registry;
mod remote_judge;
mod repetition;
pub mod rerank;
pub mod response;
pub mod service;
mod settings;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub(crate) mod token_counts;
pub(crate) mod vertex;
mod weights;
mod wire_format;

pub use connection::ApiConnection;
pub(crate) use connection::ConnectionKey;
pub use key_command::KeyCommands;
pub use learnt::Learnt;
pub(crate) use provider_trait::Provider;
pub use provider_trait::{EmbeddingFormat, ModelList, SHORT_CAP};
pub use remote_judge::{RemoteJudge, calls_in_flight};
pub use settings::{ESTIMATE, JudgeSettings};
