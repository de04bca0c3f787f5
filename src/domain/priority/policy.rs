//! The orders in which a person can review battles.

use crate::domain::named::named;

named! {
    "a policy", "kebab-case";
    #[derive(Default)]
    pub enum Policy {
        /// P(the ensemble is wrong) × P(one of the two is in the top) (science.md § Priorities).
        #[default]
        Value,
        /// How much the top of the ranking changes if the pair's outcome is flipped and everything
        /// is refitted.
        Impact,
        /// The smaller of P(A is truly better) and P(B is truly better).
        Uncertain,
        /// Entropy of the judges' votes over A, tie and B, in bits.
        Split,
        /// Magnitude of the standardized residual: votes that the other battles contradict
        /// (science.md § Surprise).
        Surprise,
        /// The weakest pair of each cycle of three.
        Cycle,
        /// The surprise of the votes under the project's named student: mean −log₂ P(vote), in
        /// bits.
        Student,
        Failed,
        Random,
        /// The controls of the project's acceptance, then the battles that it did not accept.
        Accept,
        /// Pairs on which a program proposes a verdict and nobody has given one.
        Proposed,
        /// The order of `Value` with random controls and some repeated battles.
        Mixed,
    }
}

impl Policy {
    pub fn words(self) -> &'static str {
        match self {
            Self::Value => "likely wrong, and about a document that may be in the top k",
            Self::Impact => "if reversed, it changes the top of the ranking most",
            Self::Uncertain => "it is still unclear which of the two is better",
            Self::Split => "the judges disagree",
            Self::Surprise => "the votes contradict all other battles",
            Self::Cycle => "the weakest link of A over B over C over A",
            Self::Student => "votes that the project's student would not have cast",
            Self::Failed => "votes are missing",
            Self::Random => "all battles, in random order",
            Self::Accept => "controls of the acceptance, then what was not accepted",
            Self::Proposed => "an agent proposes a verdict, and nobody has given one",
            Self::Mixed => "most valuable first, with random controls and a few repeats",
        }
    }
}
