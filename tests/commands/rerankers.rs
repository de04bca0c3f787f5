//! Rerankers of `overrule.toml`, as the doctor finds them.

use crate::fake_provider::{FakeProvider, Fault};
use crate::support::Sandbox;
use serde_json::Value;

fn sandbox(server: &FakeProvider, more: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let url = server.root();
    sandbox.write(
        "overrule.toml",
        format!(
            "[[reranker]]\nname = \"zerank\"\nprovider = \"zeroentropy\"\nmodel = \"zerank-2\"\nbase_url = {url:?}\nkey_env = \"MY_KEY\"\n\
             [[reranker]]\nname = \"local\"\nprovider = \"tei\"\nbase_url = {url:?}\n{more}"
        ),
    );
    sandbox.write(".env", "MY_KEY=key-0123456789\n");
    sandbox
}

fn check<'a>(checks: &'a Value, name: &str) -> &'a Value {
    checks
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["name"] == name)
        .unwrap()
}

#[test]
fn the_doctor_asks_every_reranker_which_document_is_better() {
    let server = FakeProvider::start();
    let sandbox = sandbox(&server, "");
    let checks = sandbox.json("doctor --json");
    let zerank = check(&checks, "reranker zerank");
    let found = zerank["found"].as_str().unwrap();
    assert_eq!(zerank["ok"], true, "{zerank}");
    assert!(
        found.contains("scores higher: zeroentropy zerank-2; scores 0.750 and 0.500"),
        "{found}"
    );
    assert!(found.contains("this check cost <$0.000001"), "{found}");
    let local = check(&checks, "reranker local")["found"].as_str().unwrap();
    assert!(
        local.contains("tei; ") && local.ends_with("; free"),
        "{local}"
    );
    assert_eq!(server.total_calls(), 2);
    let checks = sandbox.json("doctor --offline --json");
    let found = check(&checks, "reranker zerank")["found"].as_str().unwrap();
    assert_eq!(found, "zeroentropy zerank-2: not called; price known");
    assert_eq!(server.total_calls(), 2);
    server.fail_next(&[Fault::Unauthorized]);
    let ran = sandbox.run("doctor");
    assert_eq!(ran.code, Some(3));
    ran.prints("not authorized");
    ran.prints("check MY_KEY");
}

#[test]
fn programs_are_started_only_when_asked_for() {
    let server = FakeProvider::start();
    let more = "[[reranker]]\nname = \"mine\"\ncommand = [\"printf\", '{\"ranking\": [\"doc-2\", \"doc-1\"]}']\n\
                [[reranker]]\nname = \"wrong\"\ncommand = [\"printf\", '{\"ranking\": [\"doc-1\", \"doc-2\"]}']\n";
    let sandbox = sandbox(&server, more);
    let checks = sandbox.json("doctor --json");
    let mine = check(&checks, "reranker mine");
    assert!(
        mine["found"].as_str().unwrap().ends_with(": not started"),
        "{mine}"
    );
    assert!(
        mine["remedy"].as_str().unwrap().contains("--programs"),
        "{mine}"
    );
    if cfg!(unix) {
        let ran = sandbox.run("doctor --programs");
        assert_eq!(ran.code, Some(3));
        ran.prints("the better document scores higher: program printf");
        ran.prints("the better document does not score higher: program printf");
    }
}
