//! The result of a trial with its conclusion in words.

use super::{HeldOutLooks, PromptTrial, TrialPairs, TrialResult};
use crate::features::prompts::domain::{Conclusion, PromptComparison, SIGNIFICANT};

/// The result of a trial, and the looks at the held-out part if it is a final test.
#[derive(Clone, Debug)]
pub struct TrialReading {
    pub trial: PromptTrial,
    pub result: TrialResult,
    pub looks: Option<HeldOutLooks>,
}

impl TrialReading {
    /// Whether the prompts can be tested against each other. If only overruled judgments were tried,
    /// nothing could break.
    pub fn is_test(&self) -> bool {
        self.trial.request.pairs != TrialPairs::Overruled
    }

    /// The result in words.
    pub fn sentence(&self) -> String {
        let found = &self.result.comparison;
        if !self.is_test() {
            return format!(
                "The new prompt fixes {} of the {} judgments that people overruled. Only those \
                 were tried, so nothing could break: --set all compares the prompts.",
                found.fixed, found.pairs
            );
        }
        self.comparison().sentence()
    }

    /// The comparison. A difference on the held-out part is concluded only if it holds after Holm's
    /// correction.
    pub fn comparison(&self) -> PromptComparison {
        let found = self.result.comparison.clone();
        let is_shown = self.looks.is_none_or(|of| of.holm_p <= SIGNIFICANT);
        match found.conclusion {
            Conclusion::Better | Conclusion::Worse if !is_shown => PromptComparison {
                conclusion: Conclusion::NoDifference,
                ..found
            },
            _ => found,
        }
    }
}
