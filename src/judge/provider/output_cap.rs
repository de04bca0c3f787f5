//! Determines the maximum number of output tokens that a request allows, from the request that is
//! actually sent.

use super::json::whole;
use serde_json::Value;

/// Fields of any server that limit an answer. If there are several, the largest one counts, because
/// it is unknown which one takes precedence.
const CAPS: &[&str] = &[
    "max_completion_tokens",
    "max_tokens",
    "max_output_tokens",
    "maxOutputTokens",
    "num_predict",
    "n_predict",
    "max_new_tokens",
];
/// Fields that limit reasoning tokens, within the output limit if the server follows its own rules.
const THINKING: &[&str] = &["budget_tokens", "thinkingBudget", "thinking_budget"];
/// Fields that request several answers.
const TIMES: &[&str] = &["n", "best_of", "candidateCount", "candidate_count"];
/// Fields with texts and schemas, in which names have no meaning.
const TEXTS: &[&str] = &[
    "messages",
    "system",
    "contents",
    "systemInstruction",
    "schema",
    "json_schema",
    "responseJsonSchema",
    "responseSchema",
];

/// Maximum number of tokens that `request` allows, or `None` if there is no limit. `places` are
/// JSON pointers to the fields, one of which must be present for the server.
pub(crate) fn of_request(request: &Value, places: &[&str]) -> Option<u64> {
    places.iter().find_map(|place| request.pointer(place))?;
    let mut most = OutputCap {
        tokens: 0,
        times: 1,
        limited: true,
    };
    most.look(request);
    most.limited.then(|| most.tokens.saturating_mul(most.times))
}

struct OutputCap {
    tokens: u64,
    times: u64,
    limited: bool,
}

impl OutputCap {
    fn look(&mut self, value: &Value) {
        match value {
            Value::Array(list) => list.iter().for_each(|inner| self.look(inner)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    let is = |names: &[&str]| names.contains(&name.as_str());
                    // Servers interpret 0 and negative numbers as no limit.
                    let count = whole(value).filter(|count| *count > 0);
                    if is(CAPS) {
                        self.limited &= count.is_some();
                        self.tokens = self.tokens.max(count.unwrap_or(0));
                    } else if is(THINKING) {
                        self.tokens = self.tokens.max(count.unwrap_or(0));
                    } else if is(TIMES) {
                        self.limited &= count.is_some();
                        self.times = self.times.saturating_mul(count.unwrap_or(1));
                    } else if !is(TEXTS) {
                        self.look(value);
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_largest_limit_of_a_request_counts_and_none_is_none() {
        for (request, most) in [
            (json!({"max_tokens": 100}), Some(100)),
            (
                json!({"max_tokens": 100, "max_completion_tokens": 4000}),
                Some(4000),
            ),
            (
                json!({"max_tokens": 100, "reasoning": {"max_tokens": 900}}),
                Some(900),
            ),
            (
                json!({"max_tokens": 100, "thinking": {"budget_tokens": 50}}),
                Some(100),
            ),
            (
                json!({"max_tokens": 100, "thinkingConfig": {"thinkingBudget": -1}}),
                Some(100),
            ),
            (json!({"max_tokens": 100, "best_of": 3}), Some(300)),
            (
                json!({"max_tokens": 9, "messages": [{"max_tokens": 5000}]}),
                Some(9),
            ),
            (json!({"max_tokens": 100, "best_of": "many"}), None),
            (json!({"max_tokens": -1}), None),
            (json!({"max_tokens": 0}), None),
            (json!({"max_tokens": null}), None),
            (json!({"max_tokens": "100"}), None),
            (json!({"max_tokens": 1.5}), None),
            (json!({"reasoning": {"max_tokens": 900}}), None),
            (json!({}), None),
        ] {
            assert_eq!(of_request(&request, &["/max_tokens"]), most, "{request}");
        }
    }
}
