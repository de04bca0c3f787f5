//! All network judges against a provider on loopback: answers, faults, limits, secrets, batches.

mod added;
mod batches;
mod faults;
#[cfg(unix)]
mod key_commands;
mod rerankers;
mod secrets;
mod server;
mod tls;

use super::fake_provider::{FakeProvider, Shown, margin};
use crate::judge::ensemble::{Dotenv, JudgeSources, JudgesFile, ensemble_from};
use crate::judge::provider::http::Timeouts;
use crate::judge::provider::{Provider, registry};
use crate::judge::{
    CallError, Judge, JudgeEnsemble, JudgeQuestion, JudgeReply, PoolText, PresentedPair,
    call_adapting,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const KEY: &str = "sk-secret-0123456789abcdef";

/// Each provider with a model, and its address on the fake server.
const PROVIDERS: [(&str, &str, bool); 9] = [
    ("openai", "gpt-6.1-terra", true),
    ("anthropic", "claude-sonnet-5-5", false),
    ("gemini", "gemini-3.8-flash", false),
    ("azure", "my-deployment", false),
    ("ollama", "qwen3:8b", false),
    ("compatible", "qwen3-8b", true),
    ("groq", "openai/gpt-oss-120b", true),
    ("openai-decisions", "gpt-6-luna", true),
    ("gemini-decisions", "gemini-decision-1", false),
];

/// Settings of a judge for tests that wait for a missing answer.
const HASTY: &str = "first_byte_timeout_s = 0.3\ntimeout_s = 0.4";

fn with_sources<T>(work: impl FnOnce(&JudgeSources<'_>) -> T) -> T {
    let dotenv = Dotenv::parse(&format!("MISSING_NOWHERE={KEY}\n"));
    let sources = JudgeSources {
        providers: &registry::PROVIDERS,
        env: &|name| (name.ends_with("_KEY")).then(|| KEY.to_owned()),
        key_commands: &crate::judge::provider::KeyCommands::default(),
        dotenv: &dotenv,
        folder: Path::new("."),
        today: jiff::civil::date(2026, 11, 21),
        insecure_http: false,
        timeouts: Timeouts {
            connect: Duration::from_secs(30),
            // Long enough for a busy machine; tests that wait for a timeout set it themselves, as
            // `HASTY` does.
            first_byte: Duration::from_secs(120),
            whole: Duration::from_secs(120),
            reply_bytes: 100_000,
        },
        trusted_hosts: &[],
        allows: &|_, _| false,
        project_texts: &|| Ok(Default::default()),
    };
    work(&sources)
}

/// The ensemble of a file, with more providers than the usual ones.
fn ensemble_with(text: &str, more: &[&'static dyn Provider]) -> Result<JudgeEnsemble, String> {
    let file = JudgesFile::parse(text).map_err(|error| error.to_string())?;
    let providers = [&registry::PROVIDERS[..], more].concat();
    with_sources(|sources| {
        let sources = JudgeSources {
            providers: &providers,
            ..*sources
        };
        let (ensemble, missing) =
            ensemble_from(&file, &sources).map_err(|error| error.to_string())?;
        match missing.first() {
            Some(missing) => Err(missing.problem.to_string()),
            None => Ok(ensemble),
        }
    })
}

fn ensemble(text: &str) -> JudgeEnsemble {
    let file = JudgesFile::parse(text).unwrap();
    let made = with_sources(|sources| ensemble_from(&file, sources));
    let (ensemble, missing) = made.unwrap();
    assert!(missing.is_empty(), "{missing:?}");
    ensemble
}

fn judge_at(provider: &str, model: &str, url: &str, more: &str) -> Arc<dyn Judge> {
    let text = format!(
        "[[judge]]\nname = \"j\"\nprovider = {provider:?}\nmodel = {model:?}\nbase_url = {url:?}\n{more}\n"
    );
    ensemble(&text).remove(0)
}

fn judge(fake: &FakeProvider, provider: &str, more: &str) -> Arc<dyn Judge> {
    let (_, model, v1) = *PROVIDERS
        .iter()
        .find(|(name, ..)| *name == provider)
        .unwrap();
    judge_at(
        provider,
        model,
        &if v1 { fake.v1() } else { fake.root() },
        more,
    )
}

fn case() -> PresentedPair {
    let documents = vec![
        "Aspirin lowers fever in adults.".into(),
        "Fever is common in winter.".into(),
    ];
    PresentedPair {
        pool: Arc::new(PoolText::new("does aspirin lower fever", documents)),
        first: 0,
        second: 1,
    }
}

async fn call(judge: &dyn Judge) -> Result<JudgeReply, CallError> {
    let case = case();
    let question = JudgeQuestion::Pair(&case);
    let prompt = judge.prompt(question);
    call_adapting(|| judge.call(question, &prompt)).await
}

fn expected(model: &str) -> f64 {
    let case = case();
    let shown = Shown {
        query: case.pool.query.clone(),
        a: case.first_text().to_owned(),
        b: case.second_text().to_owned(),
        is_cured: false,
    };
    margin(model, &shown)
}

#[tokio::test]
async fn every_provider_answers_and_says_all_there_is_to_know() {
    let fake = FakeProvider::start();
    for (provider, model, _) in PROVIDERS {
        let judge = judge(&fake, provider, "");
        let reply = call(judge.as_ref())
            .await
            .unwrap_or_else(|error| panic!("{provider}: {error}"));
        let opinion = judge.parse(&case(), &reply).unwrap();
        assert!(
            (opinion.margin.get() - expected(model)).abs() < 1e-9,
            "{provider}: {opinion:?}"
        );
        assert!(!opinion.thoughts.is_empty(), "{provider}");
        assert!(reply.usage.input > 50, "{provider}: {:?}", reply.usage);
        assert!(
            reply.model.is_some_and(|named| named.starts_with(model)),
            "{provider}"
        );
        assert!(
            reply.request_id.is_some() && reply.stop_reason.is_some(),
            "{provider}"
        );
        assert!(reply.latency > Duration::ZERO, "{provider}");
        let priced = !matches!(provider, "azure" | "compatible" | "ollama");
        assert_eq!(
            reply.cost_usd.is_some_and(|cost| cost > 0.0),
            priced,
            "{provider}: {:?}",
            reply.cost_usd
        );
        let (_, worst) = judge.worst(&judge.prompt(JudgeQuestion::Pair(&case())));
        assert!(
            worst.unwrap_or(f64::MAX) >= reply.cost_usd.unwrap_or(0.0),
            "{provider}"
        );
    }
    assert_eq!(fake.total_calls(), PROVIDERS.len());
}

#[tokio::test]
async fn requests_carry_what_the_providers_want() {
    let fake = FakeProvider::start();
    for (provider, target, header, value) in [
        (
            "openai",
            "/v1/chat/completions",
            "authorization",
            format!("Bearer {KEY}"),
        ),
        ("anthropic", "/v1/messages", "x-api-key", KEY.to_owned()),
        (
            "gemini",
            "/v1beta/models/gemini-3.8-flash:generateContent",
            "x-goog-api-key",
            KEY.to_owned(),
        ),
        (
            "azure",
            "/openai/v1/chat/completions",
            "api-key",
            KEY.to_owned(),
        ),
        (
            "groq",
            "/v1/chat/completions",
            "authorization",
            format!("Bearer {KEY}"),
        ),
        (
            "openai-decisions",
            "/v1/decisions",
            "authorization",
            format!("Bearer {KEY}"),
        ),
        (
            "gemini-decisions",
            "/v1beta/decisions",
            "x-goog-api-key",
            KEY.to_owned(),
        ),
    ] {
        call(judge(&fake, provider, "").as_ref()).await.unwrap();
        let request = fake.requests().pop().unwrap();
        assert_eq!(
            (request.method.as_str(), request.target.as_str()),
            ("POST", target)
        );
        assert_eq!(request.header(header), Some(value.as_str()), "{provider}");
        assert_eq!(
            request.header("content-type"),
            Some("application/json"),
            "{provider}"
        );
    }
    call(judge(&fake, "anthropic", "params = { temperature = 0 }").as_ref())
        .await
        .unwrap();
    assert_eq!(
        fake.requests().pop().unwrap().header("anthropic-version"),
        Some("2023-06-01")
    );
    call(judge(&fake, "azure", "api_version = \"2024-10-21\"").as_ref())
        .await
        .unwrap();
    let target = fake.requests().pop().unwrap().target;
    assert_eq!(
        target,
        "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"
    );
    for keyless in ["ollama", "compatible"] {
        call(judge(&fake, keyless, "").as_ref()).await.unwrap();
        assert_eq!(fake.requests().pop().unwrap().header("authorization"), None);
    }
}

#[tokio::test]
async fn a_server_is_asked_once_what_it_knows() {
    for (first, requests) in [(0, 1), (1, 2), (2, 3), (3, 4)] {
        let fake = FakeProvider::start();
        fake.know_forms_from(first);
        let judge = judge(&fake, "compatible", "");
        for calls in 0..3 {
            let reply = call(judge.as_ref()).await.unwrap();
            assert!(judge.parse(&case(), &reply).is_ok());
            assert_eq!(fake.total_calls(), requests + calls, "from form {first}");
        }
    }
}

#[tokio::test]
async fn calls_that_learn_at_the_same_time_do_not_skip_a_form() {
    let fake = FakeProvider::start();
    fake.know_forms_from(1);
    let judge = judge(&fake, "compatible", "");
    let replies = futures::future::join_all((0..20).map(|_| call(judge.as_ref()))).await;
    assert!(replies.iter().all(Result::is_ok));
    let last = fake.requests().pop().unwrap();
    assert_eq!(last.body["response_format"]["type"], "json_object");
    assert!(last.body["response_format"].get("schema").is_some());
}

#[tokio::test]
async fn an_effort_that_is_not_known_is_stepped_over() {
    let fake = FakeProvider::start();
    fake.take_only_effort("low");
    let judge = judge(&fake, "openai", "params = { reasoning_effort = \"none\" }");
    call(judge.as_ref()).await.unwrap();
    call(judge.as_ref()).await.unwrap();
    let sent: Vec<_> = fake
        .requests()
        .iter()
        .map(|request| request.body["reasoning_effort"].to_string())
        .collect();
    assert_eq!(sent, ["\"none\"", "\"minimal\"", "\"low\"", "\"low\""]);
}

#[tokio::test]
async fn a_letter_takes_its_margin_from_probabilities_where_there_are_any() {
    let fake = FakeProvider::start();
    let letter = judge(&fake, "compatible", "prompt = \"letter\"");
    let opinion = letter
        .parse(&case(), &call(letter.as_ref()).await.unwrap())
        .unwrap();
    assert!(
        (opinion.margin.get() - expected("qwen3-8b")).abs() < 1e-6,
        "{opinion:?}"
    );
    fake.give_no_logprobs();
    let opinion = letter
        .parse(&case(), &call(letter.as_ref()).await.unwrap())
        .unwrap();
    assert_eq!(opinion.margin.get(), expected("qwen3-8b").signum());
    for provider in ["openai", "anthropic", "gemini", "ollama"] {
        let choice = judge(&fake, provider, "prompt = \"choice\"");
        let opinion = choice
            .parse(&case(), &call(choice.as_ref()).await.unwrap())
            .unwrap();
        assert_eq!(opinion.margin.get().abs(), 1.0, "{provider}");
        assert_eq!(opinion.thoughts.len(), 2);
    }
}

#[tokio::test]
async fn a_document_that_is_cut_is_said_to_be() {
    let fake = FakeProvider::start();
    let judge = judge(&fake, "openai", "max_document_chars = 29");
    let case = case();
    let question = JudgeQuestion::Pair(&case);
    assert!(judge.truncated(question) > 0);
    judge.call(question, &judge.prompt(question)).await.unwrap();
    let body = fake.requests().pop().unwrap().body;
    let prompt = body["messages"][1]["content"].as_str().unwrap();
    assert!(
        prompt.contains("(cut: the first 23 of 31 characters are shown"),
        "{prompt}"
    );
}
