//! Providers that are each added by one file and a line in the registry: a made-up one, Bedrock and
//! Vertex AI; and settings of compatible servers.

use super::{KEY, call, case, ensemble_with, expected, judge_at, with_sources};
use crate::judge::ensemble::{JudgeSources, JudgesFile, ensemble_from};
use crate::judge::provider::made_up::MadeUp;
use crate::judge::provider::registry::PROVIDERS;
use crate::suites::fake_provider::FakeProvider;

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
