//! Determines which of a judge's parameters change the meaning of its answers.
//!
//! The others, such as the maximum length of an answer, may be changed in the middle of a project
//! without invalidating its votes.

use serde_json::{Map, Value};

/// Parameters that affect the length, transport, accounting or price of an answer but not its
/// meaning, wherever they are in a request.
const WITHOUT_MEANING: &[&str] = &[
    // Length.
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "maxOutputTokens",
    "num_predict",
    "n_predict",
    "max_new_tokens",
    "num_ctx",
    "truncate",
    "shift",
    // Address, API, and the key for looking up the price.
    "server",
    "base_model",
    "api_version",
    // Transport, storage and billing.
    "stream",
    "store",
    "keep_alive",
    "cache_prompt",
    "service_tier",
    "serviceTier",
    "prompt_cache_key",
    "prompt_cache_options",
    "safety_identifier",
    "user",
    "metadata",
    "require_parameters",
    // Additional output, and constraints on the form of an answer.
    "logprobs",
    "top_logprobs",
    "responseLogprobs",
    "responseMimeType",
    // Reproducibility, as far as the provider supports it.
    "seed",
    "random_seed",
];

/// Default values: a judge recorded before they were sent is still the same judge.
const USUAL: &[(&str, &str)] = &[
    ("temperature", "0"),
    ("think", "false"),
    ("reasoning_effort", "\"low\""),
    ("effort", "\"low\""),
    ("thinkingLevel", "\"LOW\""),
];

/// The parameters that are part of a judge's identity, as compact JSON with sorted keys. Text that
/// is not a JSON object is returned unchanged.
pub fn identity_of(params: &str) -> String {
    match serde_json::from_str(params) {
        Ok(Value::Object(params)) => Value::Object(meaningful(params)).to_string(),
        _ => params.to_owned(),
    }
}

fn meaningful(fields: Map<String, Value>) -> Map<String, Value> {
    let mut kept: Vec<(String, Value)> = fields
        .into_iter()
        .filter(|(name, _)| !WITHOUT_MEANING.contains(&name.as_str()))
        .filter_map(|(name, value)| match value {
            Value::Object(inner) => {
                let inner = meaningful(inner);
                (!inner.is_empty()).then_some((name, Value::Object(inner)))
            }
            value => {
                let usual = USUAL
                    .iter()
                    .any(|(of, usual)| *of == name && is(&value, usual));
                (!usual).then_some((name, value))
            }
        })
        .collect();
    kept.sort_by(|(one, _), (other, _)| one.cmp(other));
    kept.into_iter().collect()
}

/// Whether `value` equals the JSON `text`, comparing numbers by value.
fn is(value: &Value, text: &str) -> bool {
    match (value.as_f64(), text.parse::<f64>()) {
        (Some(value), Ok(usual)) => value == usual,
        _ => serde_json::from_str::<Value>(text).is_ok_and(|usual| *value == usual),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case(r#"{"max_tokens":4096,"reasoning_effort":"low","store":false}"#, "{}")]
    #[case(
        r#"{"think":false,"keep_alive":"30m","truncate":false,"shift":false,"options":{"num_ctx":16384,"num_predict":2048,"temperature":0.0,"seed":1},"max_document_chars":16000}"#,
        r#"{"max_document_chars":16000}"#
    )]
    #[case(
        r#"{"generationConfig":{"maxOutputTokens":8192,"thinkingConfig":{"thinkingLevel":"LOW"}}}"#,
        "{}"
    )]
    #[case(r#"{"provider":{"require_parameters":true}}"#, "{}")]
    #[case(
        r#"{"top_p":0.9,"reasoning_effort":"high","provider":{"order":["x"]},"temperature":0.7}"#,
        r#"{"provider":{"order":["x"]},"reasoning_effort":"high","temperature":0.7,"top_p":0.9}"#
    )]
    #[case("not recorded", "not recorded")]
    fn only_what_changes_an_answers_meaning_is_kept(#[case] params: &str, #[case] kept: &str) {
        assert_eq!(identity_of(params), kept);
    }

    proptest! {
        #[test]
        fn what_is_kept_is_kept_again(cap in 1..9999, temperature in -1.0..1.0, effort in "low|high|none") {
            let params = serde_json::json!({
                "max_tokens": cap, "temperature": temperature, "reasoning_effort": effort, "extra_body": {"seed": 3, "top_k": 4},
            });
            let once = identity_of(&params.to_string());
            prop_assert_eq!(identity_of(&once), once.clone());
            prop_assert!(once.contains("top_k") && !once.contains("max_tokens"));
        }
    }
}
