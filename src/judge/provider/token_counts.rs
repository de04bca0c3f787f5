//! Token counts in a provider's response, and whether they are valid for charging.

use super::json::whole;
use crate::judge::call::Usage;
use crate::judge::price::CacheWrites;
use serde_json::Value;
use std::cell::Cell;

/// Maximum plausible count of one call; larger ones are invalid.
pub(crate) const MOST: u64 = 10_000_000;

/// Valid counts of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChargedTokens {
    pub(crate) usage: Usage,
    pub(crate) writes: CacheWrites,
}

/// Reads the counts of a response and remembers whether one of them was invalid.
#[derive(Debug)]
pub(crate) struct TokenCounts<'a> {
    answer: &'a Value,
    trusted: Cell<bool>,
}

impl<'a> TokenCounts<'a> {
    /// The counts of a response.
    pub(crate) fn of(answer: &'a Value) -> Self {
        Self {
            answer,
            trusted: Cell::new(true),
        }
    }

    /// A count that is required for charging.
    pub(crate) fn needed(&self, pointer: &str) -> u64 {
        self.read(pointer).unwrap_or_else(|| self.distrust())
    }

    /// A count that defaults to 0.
    pub(crate) fn optional(&self, pointer: &str) -> u64 {
        match self.answer.pointer(pointer) {
            None | Some(Value::Null) => 0,
            Some(_) => self.needed(pointer),
        }
    }

    /// The counts together, or `None` if one is missing or makes no sense: such a call is not
    /// charged by its counts.
    pub(crate) fn settle(&self, usage: Usage, writes: CacheWrites) -> Option<ChargedTokens> {
        let Usage {
            input,
            cached,
            output,
            thinking,
        } = usage;
        // Check sums of counts, too. Every prompt has tokens.
        let whole = (1..=MOST).contains(&input) && output <= MOST;
        let parts = cached.saturating_add(writes.tokens) <= input
            && writes.long <= writes.tokens
            && thinking <= output;
        (self.trusted.get() && whole && parts).then_some(ChargedTokens { usage, writes })
    }

    fn read(&self, pointer: &str) -> Option<u64> {
        whole(self.answer.pointer(pointer)?).filter(|count| *count <= MOST)
    }

    fn distrust(&self) -> u64 {
        self.trusted.set(false);
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settled(usage: Value) -> Option<ChargedTokens> {
        let answer = json!({"usage": usage});
        let counts = TokenCounts::of(&answer);
        let usage = Usage {
            input: counts.needed("/usage/in"),
            cached: counts.optional("/usage/cached"),
            output: counts.needed("/usage/out"),
            thinking: counts.optional("/usage/thinking"),
        };
        let writes = CacheWrites {
            tokens: counts.optional("/usage/written"),
            long: counts.optional("/usage/written_long"),
        };
        counts.settle(usage, writes)
    }

    #[test]
    fn only_counts_that_make_sense_are_charged_by() {
        let usage = settled(json!({"in": 10, "out": 2.0, "cached": null})).unwrap();
        assert_eq!((usage.usage.input, usage.usage.output), (10, 2));
        assert!(settled(json!({"in": 10_000_000, "out": 0})).is_some());
        for bad in [
            json!(null),
            json!({}),
            json!({"in": 10}),
            json!({"out": 10}),
            json!({"in": 0, "out": 0}),
            json!({"in": 0, "out": 5}),
            json!({"in": -1, "out": 5}),
            json!({"in": 5, "out": -1}),
            json!({"in": 5.5, "out": 1}),
            json!({"in": "5", "out": 1}),
            json!({"in": [5], "out": 1}),
            json!({"in": 10_000_001, "out": 1}),
            json!({"in": 5, "out": u64::MAX}),
            json!({"in": 1e300, "out": 1}),
            json!({"in": 5, "out": 1, "cached": -1}),
            json!({"in": 5, "out": 1, "cached": 6}),
            json!({"in": 5, "out": 1, "cached": 3, "written": 3}),
            json!({"in": 5, "out": 1, "thinking": 2}),
            json!({"in": 5, "out": 1, "written": "many"}),
            json!({"in": 5, "out": 1, "written": 2, "written_long": 3}),
        ] {
            assert_eq!(settled(bad.clone()), None, "{bad}");
        }
    }
}
