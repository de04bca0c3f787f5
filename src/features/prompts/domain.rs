//! Versions of prompts, the pairs that they are tuned and tested on, and the comparison of two
//! prompts.

mod comparison;
mod examples;
mod leakage;
mod overruled;
mod regression_set;
mod version;

pub use comparison::{
    ComparedPair, Conclusion, OrderEffect, PairChange, PromptComparison, SIGNIFICANT, mcnemar,
    order_effect, p_words,
};
pub use examples::{PromptExample, with_examples};
pub use leakage::{PromptWords, normalized};
pub use overruled::OverruledJudgment;
pub use regression_set::{DecidedPair, SetPart};
pub use version::{PromptUse, PromptVersion};
