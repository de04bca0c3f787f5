//! Keys that a command of the user's own configuration prints.

use super::{call, with_sources};
use crate::judge::ensemble::{JudgeSources, JudgesFile, ensemble_from};
use crate::judge::provider::KeyCommands;
use crate::judge::{FailureCause, Judge};
use crate::suites::fake_provider::{FakeProvider, Fault};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A program that prints a token with the number of its run, which it counts in `folder`.
fn counting(folder: &std::path::Path) -> Vec<String> {
    let file = folder.join("runs");
    let script = format!(
        "n=$(cat {file:?} 2>/dev/null || echo 0); n=$((n+1)); echo $n > {file:?}; echo token-of-run-$n"
    );
    ["sh", "-c", &script].map(str::to_owned).to_vec()
}

fn with_command(url: &str, more: &str, variable: &str, command: Vec<String>) -> Arc<dyn Judge> {
    let commands = KeyCommands::new(&BTreeMap::from([(variable.to_owned(), command)]));
    let text = format!(
        "[[judge]]\nname = \"j\"\nprovider = \"vertex\"\nmodel = \"gemini-3.8-flash\"\nbase_url = {url:?}\n{more}\n"
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

#[tokio::test]
async fn a_token_is_renewed_when_the_server_rejects_it() {
    let fake = FakeProvider::start();
    let folder = tempfile::tempdir().unwrap();
    let variable = "GOOGLE_OAUTH_ACCESS_TOKEN";
    let price = "price = { input = 1.0, output = 1.0 }";
    let judge = with_command(&fake.root(), price, variable, counting(folder.path()));
    let sent = || {
        let request = fake.requests().pop().unwrap();
        request.header("authorization").unwrap().to_owned()
    };
    let mut costs = Vec::new();
    for _ in 0..2 {
        costs.push(call(judge.as_ref()).await.unwrap().cost_usd);
        assert_eq!(sent(), "Bearer token-of-run-1");
    }
    fake.fail_next(&[Fault::Unauthorized]);
    costs.push(call(judge.as_ref()).await.unwrap().cost_usd);
    assert_eq!(sent(), "Bearer token-of-run-2");
    // The rejected call is not charged.
    assert!(
        costs[0] > Some(0.0) && costs.iter().all(|cost| *cost == costs[0]),
        "{costs:?}"
    );
    assert_eq!(fake.total_calls(), 4);
    // A new token that is rejected too is a fault of the judge.
    fake.fail_next(&[Fault::Unauthorized, Fault::Unauthorized]);
    let error = call(judge.as_ref()).await.unwrap_err();
    assert!(error.stops_judge, "{error}");
    assert_eq!(error.cause, FailureCause::Unauthorized);
    assert_eq!(sent(), "Bearer token-of-run-3");
    fake.fail_next(&[Fault::KeyEcho]);
    let shown = format!("{:?} {judge:?}", call(judge.as_ref()).await);
    assert!(!shown.contains("token-of-run-3"), "{shown}");
}

#[tokio::test]
async fn a_command_that_prints_no_key_stops_the_judge() {
    let fake = FakeProvider::start();
    for (script, why) in [
        ("echo no login >&2; exit 3", "no login"),
        ("true", "did not print a key"),
        ("echo two words", "did not print a key"),
        ("echo two; echo lines", "did not print a key"),
    ] {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let judge = with_command(&fake.root(), "key_env = \"MY_TOKEN\"", "MY_TOKEN", command);
        let error = call(judge.as_ref()).await.unwrap_err();
        assert!(error.stops_judge && error.message.contains(why), "{error}");
        assert!(error.message.contains("MY_TOKEN (sh)"), "{error}");
        assert!(!error.message.contains(script), "{error}");
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
    let judge = "[[judge]]\nname = \"j\"\nprovider = \"openai\"\nmodel = \"m\"\n";
    for line in [
        "key_command = [\"x\"]",
        "[keys.key_command]\nOPENAI_API_KEY = [\"x\"]",
    ] {
        let error = JudgesFile::parse(&format!("{judge}{line}\n")).unwrap_err();
        assert!(error.to_string().contains("unknown field"), "{error}");
    }
}
