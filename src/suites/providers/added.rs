//! Providers that were added by following CONTRIBUTING.md, without changes elsewhere.

use super::{KEY, call, case, ensemble_with, expected, judge_at, with_sources};
use crate::judge::ensemble::{JudgeSources, JudgesFile, ensemble_from};
use crate::judge::provider::made_up::MadeUp;
use crate::judge::provider::registry::PROVIDERS;
use crate::suites::fake_provider::FakeProvider;
#[cfg(unix)]
use crate::{
    judge::provider::KeyCommands,
    judge::{FailureCause, Judge},
    suites::fake_provider::Fault,
};
#[cfg(unix)]
use std::{collections::BTreeMap, sync::Arc};

const FILE: &str = "[[judge]]\nname = \"j\"\nprovider = \"made-up\"\nmodel = \"m\"\n";

#[tokio::test]
async fn a_provider_added_by_the_recipe_votes() {
    let fake = FakeProvider::start();
    let text = format!("{FILE}base_url = {:?}\n", fake.root());
    let judge = ensemble_with(&text, &[&MadeUp]).unwrap().remove(0);
    let reply = call(judge.as_ref()).await.unwrap();
    let opinion = judge.parse(&case(), &reply).unwrap();
    assert!((opinion.margin.get() - expected("m")).abs() < 1e-9);
    let request = fake.requests().pop().unwrap();
    assert_eq!(request.target, "/v9/made-up/chat/completions");
    assert_eq!(request.header("x-made-up-key"), Some(KEY));
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.body["most"], 777);
}

#[test]
fn it_is_known_by_name_and_its_key_goes_to_its_own_servers_only() {
    let made = |more: &str| ensemble_with(&format!("{FILE}{more}"), &[&MadeUp]);
    assert!(made("").is_ok());
    let elsewhere = made("base_url = \"https://elsewhere.example\"\n").unwrap_err();
    assert!(elsewhere.contains("MADE_UP_API_KEY"), "{elsewhere}");
    let unknown = ensemble_with(FILE, &[]).unwrap_err();
    assert!(unknown.contains("no provider is called"), "{unknown}");
}

#[tokio::test]
async fn bedrock_and_vertex_have_keys_and_routes_of_their_own() {
    let fake = FakeProvider::start();
    let vertex = format!("{}/projects/p/locations/eu", fake.root());
    for (provider, model, base, key, target, header, value) in [
        (
            "bedrock",
            "openai.gpt-oss-120b",
            format!("{}/openai/v1", fake.root()),
            "AWS_BEARER_TOKEN_BEDROCK",
            "/openai/v1/chat/completions",
            "authorization",
            format!("Bearer {KEY}"),
        ),
        (
            "vertex",
            "gemini-3.8-flash",
            vertex.clone(),
            "GOOGLE_OAUTH_ACCESS_TOKEN",
            "/v1beta1/projects/p/locations/eu/publishers/google/models/gemini-3.8-flash:generateContent",
            "authorization",
            format!("Bearer {KEY}"),
        ),
        (
            "vertex",
            "gemini-3.8-flash",
            fake.root(),
            "VERTEX_API_KEY",
            "/v1beta1/publishers/google/models/gemini-3.8-flash:generateContent",
            "x-goog-api-key",
            KEY.to_owned(),
        ),
    ] {
        let text = format!(
            "[[judge]]\nname = \"j\"\nprovider = {provider:?}\nmodel = {model:?}\nbase_url = {base:?}\n"
        );
        let file = JudgesFile::parse(&text).unwrap();
        let judge = with_sources(|sources| {
            let sources = JudgeSources {
                env: &|name| (name == key).then(|| KEY.to_owned()),
                ..*sources
            };
            ensemble_from(&file, &sources).unwrap().0.remove(0)
        });
        let reply = call(judge.as_ref()).await;
        let request = fake.requests().pop().unwrap();
        assert_eq!(request.target, target, "{reply:?}");
        assert_eq!(request.header(header), Some(value.as_str()), "{key}");
        let opinion = judge.parse(&case(), &reply.unwrap()).unwrap();
        assert!((opinion.margin.get() - expected(model)).abs() < 1e-9);
    }
}

#[test]
fn bedrock_and_vertex_find_their_servers_in_the_environment() {
    for (provider, variables, server) in [
        (
            "bedrock",
            vec![
                ("AWS_REGION", "eu-west-1"),
                ("AWS_BEARER_TOKEN_BEDROCK", KEY),
            ],
            "https://bedrock-runtime.eu-west-1.amazonaws.com",
        ),
        (
            "vertex",
            vec![
                ("GOOGLE_CLOUD_PROJECT", "p"),
                ("GOOGLE_CLOUD_LOCATION", "europe-west4"),
                ("GOOGLE_OAUTH_ACCESS_TOKEN", KEY),
            ],
            "https://europe-west4-aiplatform.googleapis.com",
        ),
    ] {
        let text = format!("[[judge]]\nname = \"j\"\nprovider = {provider:?}\nmodel = \"m\"\n");
        let file = JudgesFile::parse(&text).unwrap();
        with_sources(|sources| {
            let env = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            let sources = JudgeSources {
                env: &env,
                ..*sources
            };
            let (ensemble, missing) = ensemble_from(&file, &sources).unwrap();
            assert_eq!(missing, []);
            assert_eq!(ensemble[0].server(), Some(server));
        });
    }
}

#[tokio::test]
async fn thinking_is_switched_where_the_server_has_the_switch() {
    let fake = FakeProvider::start();
    for (provider, thinks) in [("vllm", false), ("llamacpp", false), ("vllm", true)] {
        let more =
            format!("[judge.params]\nthink = {thinks}\nchat_template_kwargs = {{ other = 1 }}");
        let judge = judge_at(provider, "qwen3-8b", &fake.v1(), &more);
        call(judge.as_ref()).await.unwrap();
        let sent = fake.requests().pop().unwrap().body;
        assert_eq!(
            sent["chat_template_kwargs"],
            serde_json::json!({"other": 1, "enable_thinking": thinks}),
            "{provider}"
        );
        assert_eq!(sent.get("think"), None);
        assert!(judge.spec().params.contains("enable_thinking"));
    }
    let judge = judge_at("vllm", "qwen3-8b", &fake.v1(), "");
    call(judge.as_ref()).await.unwrap();
    let sent = fake.requests().pop().unwrap().body;
    assert_eq!(sent.get("chat_template_kwargs"), None);
    let judge = judge_at(
        "compatible",
        "m",
        &fake.v1(),
        "[judge.params]\nthink = false",
    );
    call(judge.as_ref()).await.unwrap();
    assert_eq!(fake.requests().pop().unwrap().body["think"], false);
}

#[test]
fn every_provider_that_needs_a_key_tells_its_variable_and_its_servers() {
    for provider in PROVIDERS.iter() {
        let access = provider.access();
        if access.needs_key {
            let name = provider.name();
            assert!(!access.key.variables.is_empty(), "{name}");
            assert!(!access.key.servers.is_empty(), "{name}");
        }
    }
}

/// A program that prints a token with the number of its run, which it counts in `folder`.
#[cfg(unix)]
fn counting(folder: &std::path::Path) -> Vec<String> {
    let file = folder.join("runs");
    let script = format!(
        "n=$(cat {file:?} 2>/dev/null || echo 0); n=$((n+1)); echo $n > {file:?}; echo token-of-run-$n"
    );
    ["sh", "-c", &script].map(str::to_owned).to_vec()
}

#[cfg(unix)]
fn with_command(url: &str, key_env: &str, variable: &str, command: Vec<String>) -> Arc<dyn Judge> {
    let commands = KeyCommands::new(&BTreeMap::from([(variable.to_owned(), command)]));
    let text = format!(
        "[[judge]]\nname = \"j\"\nprovider = \"vertex\"\nmodel = \"gemini-3.8-flash\"\nbase_url = {url:?}\n{key_env}\n"
    );
    let file = JudgesFile::parse(&text).unwrap();
    with_sources(|sources| {
        let sources = JudgeSources {
            env: &|_| None,
            key_commands: &commands,
            ..*sources
        };
        let (mut ensemble, missing) = ensemble_from(&file, &sources).unwrap();
        assert_eq!(missing, []);
        ensemble.remove(0)
    })
}

#[cfg(unix)]
#[tokio::test]
async fn a_token_is_renewed_when_the_server_rejects_it() {
    let fake = FakeProvider::start();
    let folder = tempfile::tempdir().unwrap();
    let variable = "GOOGLE_OAUTH_ACCESS_TOKEN";
    let judge = with_command(&fake.root(), "", variable, counting(folder.path()));
    let sent = || {
        let request = fake.requests().pop().unwrap();
        request.header("authorization").unwrap().to_owned()
    };
    for _ in 0..2 {
        call(judge.as_ref()).await.unwrap();
        assert_eq!(sent(), "Bearer token-of-run-1");
    }
    fake.fail_next(&[Fault::Unauthorised]);
    call(judge.as_ref()).await.unwrap();
    assert_eq!(sent(), "Bearer token-of-run-2");
    assert_eq!(fake.total_calls(), 4);
    // A new token that is rejected too is a fault of the judge.
    fake.fail_next(&[Fault::Unauthorised, Fault::Unauthorised]);
    let error = call(judge.as_ref()).await.unwrap_err();
    assert!(error.stops_judge, "{error}");
    assert_eq!(error.cause, FailureCause::Unauthorised);
    assert_eq!(sent(), "Bearer token-of-run-3");
    fake.fail_next(&[Fault::KeyEcho]);
    let shown = format!("{:?} {judge:?}", call(judge.as_ref()).await);
    assert!(!shown.contains("token-of-run-3"), "{shown}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_that_prints_no_key_stops_the_judge() {
    let fake = FakeProvider::start();
    for (script, why) in [
        ("echo no login >&2; exit 3", "no login"),
        ("true", "did not print a key"),
        ("echo two words", "did not print a key"),
    ] {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let judge = with_command(&fake.root(), "key_env = \"MY_TOKEN\"", "MY_TOKEN", command);
        let error = call(judge.as_ref()).await.unwrap_err();
        assert!(error.stops_judge && error.message.contains(why), "{error}");
        assert!(error.message.contains("MY_TOKEN"), "{error}");
    }
    let judge = with_command(
        &fake.root(),
        "key_env = \"MY_TOKEN\"",
        "MY_TOKEN",
        vec!["no-such-program-anywhere".to_owned()],
    );
    let error = call(judge.as_ref()).await.unwrap_err();
    assert!(error.message.contains("did not start"), "{error}");
    assert_eq!(fake.total_calls(), 0);
}

#[test]
fn no_project_names_a_command() {
    let error = JudgesFile::parse(&format!("{FILE}key_command = [\"x\"]\n")).unwrap_err();
    assert!(error.to_string().contains("unknown field"), "{error}");
}
