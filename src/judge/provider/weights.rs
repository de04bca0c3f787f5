//! Identifies the weights behind a model's name, as listed by the server that has them.

use super::connection::ApiConnection;
use super::provider_trait::ModelList;
use super::settings::JudgeSettings;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::Duration;

/// A local server answers immediately; a check that only warns should not wait longer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Asks the server: Ollama has a digest of each model, llama.cpp its size and number of parameters,
/// vLLM the path it was loaded from. `None` if the server lists no such information or does not
/// answer.
pub(super) async fn listed(
    list: ModelList,
    settings: &JudgeSettings,
    connection: &ApiConnection,
) -> Option<String> {
    let url = list.url(&connection.base);
    let answer = connection.send(Method::GET, &url, HeaderMap::new(), None);
    let answer = tokio::time::timeout(PATIENCE, answer).await.ok()?.ok()?;
    let listed: Value = serde_json::from_slice(&answer.body).ok()?;
    match list {
        ModelList::Ollama => digest(&listed, &settings.spec.model),
        ModelList::OpenAi => file(&listed, &settings.spec.model),
    }
}

/// Ollama's digest of a model; a name without a tag means the latest one.
fn digest(list: &Value, model: &str) -> Option<String> {
    let latest = format!("{model}:latest");
    let mut models = list.get("models")?.as_array()?.iter();
    let named = |entry: &&Value| {
        let name = entry.get("name").and_then(Value::as_str);
        name.is_some_and(|name| name == model || name == latest)
    };
    let digest = models.find(named)?.get("digest")?.as_str()?;
    Some(digest.to_owned())
}

/// Information about the file of a model; of the only model if the server ignores names.
fn file(list: &Value, model: &str) -> Option<String> {
    let models = list.get("data")?.as_array()?;
    let named = |entry: &&Value| entry.get("id").and_then(Value::as_str) == Some(model);
    let entry = match (models.iter().find(named), &models[..]) {
        (Some(entry), _) => entry,
        (None, [only]) => only,
        _ => return None,
    };
    let root = entry.get("root").and_then(Value::as_str);
    let mut parts: Vec<String> = root.iter().map(|root| format!("root {root}")).collect();
    for name in ["n_params", "size"] {
        let number = entry
            .pointer(&format!("/meta/{name}"))
            .and_then(Value::as_u64);
        parts.extend(number.map(|number| format!("{name} {number}")));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_digest_is_of_the_model_or_its_latest_tag() {
        let list = json!({"models": [
            {"name": "qwen3:8b", "digest": "aa"}, {"name": "qwen3:latest", "digest": "bb"}, {"name": "old"},
        ]});
        assert_eq!(digest(&list, "qwen3:8b").as_deref(), Some("aa"));
        assert_eq!(digest(&list, "qwen3").as_deref(), Some("bb"));
        assert_eq!(digest(&list, "old"), None);
        assert_eq!(digest(&json!({"models": "none"}), "old"), None);
    }

    #[test]
    fn a_file_is_told_by_its_size_or_its_place() {
        let llama = json!({"data": [{"id": "q.gguf", "meta": {"n_params": 494_032_768u64, "size": 397_000_000u64}}]});
        let told = Some("n_params 494032768, size 397000000");
        assert_eq!(file(&llama, "q.gguf").as_deref(), told);
        assert_eq!(
            file(&llama, "whatever").as_deref(),
            told,
            "it has one model only"
        );
        let vllm = json!({"data": [{"id": "judge", "root": "Qwen/Qwen3-8B", "created": 1}, {"id": "other", "root": "x"}]});
        assert_eq!(file(&vllm, "judge").as_deref(), Some("root Qwen/Qwen3-8B"));
        assert_eq!(file(&vllm, "nowhere"), None);
        assert_eq!(
            file(&json!({"data": [{"id": "m", "object": "model"}]}), "m"),
            None
        );
    }
}
