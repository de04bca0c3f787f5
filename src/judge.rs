//! Judges: send a prompt, receive text, and parse the text into an opinion or a failure.
//!
//! Every provider implements [`Judge`]; so do the embedded offline judges, through the same reply
//! text and the same [`parse`], so that nothing downstream knows the difference.

pub mod batch;
pub mod billing;
mod call;
pub mod ensemble;
mod identity;
mod judge_trait;
mod learnt_usage;
mod lexical;
pub(crate) mod metadata;
pub mod offline;
pub mod parse;
mod presented;
pub mod price;
mod process_group;
pub mod prompt;
pub mod provider;
pub mod reranker;
mod spec;

pub use call::{
    CallError, Exchange, FailureCause, JudgePrompt, JudgeReply, Opinion, RateLimits, Retry, Usage,
};
pub use identity::identity_of;
pub(crate) use judge_trait::MAX_ADAPTIONS;
pub use judge_trait::{Judge, JudgeEnsemble, MAX_CHARGED, call_adapting, opinion_of};
pub use learnt_usage::{LearntUsage, UsageSums};
pub use metadata::MetadataFields;
pub use parse::{read_answer, read_answer_strictly};
pub use presented::{
    JudgeQuestion, PoolText, Presented, PresentedPair, PresentedPool, PresentedQuestion, RerankAsk,
    RerankKind, text_hash,
};
pub use prompt::{ProjectTexts, PromptInput, PromptText};
pub use spec::{JudgeLimits, JudgeSpec, OFFLINE, OFFLINE_LABEL};
