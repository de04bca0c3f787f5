//! `pool build --embed`: vectors from a server on loopback, fused with BM25, and never asked for
//! twice.

use crate::fake_provider::{FakeProvider, Fault};
use crate::support::{Ran, Sandbox, benchmark};
use rstest::rstest;
use serde_json::{Value, json};

const BUILD: &str = "pool build --beir beir --out pools.jsonl --depth 4 --embed vectors";

/// Texts that are embedded: two queries and seven documents that are not empty.
const TEXTS: usize = 2 + 7;

fn sandbox(server: &FakeProvider, provider: &str, more: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    let url = match provider {
        "ollama" => server.root(),
        _ => server.v1(),
    };
    sandbox.write(
        "overrule.toml",
        format!(
            "[[embedder]]\nname = \"vectors\"\nprovider = {provider:?}\nmodel = \"counter\"\nbase_url = {url:?}\n{more}"
        ),
    );
    sandbox
}

fn build(sandbox: &Sandbox, more: &str) -> Ran {
    sandbox.run(&format!("{BUILD} {more}"))
}

/// Every text that was sent.
fn sent(server: &FakeProvider) -> Vec<String> {
    let requests = server.requests();
    let inputs = requests
        .iter()
        .filter_map(|call| call.body["input"].as_array());
    let texts = inputs
        .flatten()
        .map(|text| text.as_str().unwrap().to_owned());
    texts.collect()
}

#[rstest]
#[case::openai("openai", "/v1/embeddings")]
#[case::ollama("ollama", "/api/embed")]
fn bm25_and_vectors_are_fused_by_reciprocal_rank(#[case] provider: &str, #[case] target: &str) {
    let server = FakeProvider::start();
    let sandbox = sandbox(&server, provider, "batch = 2\nquery_prefix = \"query: \"\n");
    let summary = sandbox.json(&format!(
        "{BUILD} --stage-runs runs --layout original --json"
    ));
    assert!(server.requests().iter().all(|call| call.target == target));
    let mut texts = sent(&server);
    assert!(texts.contains(&"query: Does aspirin lower fever?".to_owned()));
    assert!(texts.contains(&"Bread\n\nSourdough needs patience.".to_owned()));
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), TEXTS);
    assert_eq!(
        (
            &summary["fusion"]["texts_embedded"],
            &summary["fusion"]["depth"]
        ),
        (&json!(TEXTS), &json!(100))
    );
    // d5 has no word of the query, and its vector is the query's own direction.
    let recall = |stage: &str| summary["stages"][stage]["recall@4"]["mean"].clone();
    assert_eq!(
        [recall("bm25"), recall("dense"), recall("hybrid")],
        [json!(0.75), json!(1.0), json!(1.0)]
    );
    assert_eq!(summary["first_stage"], summary["stages"]["hybrid"]);

    let pools = sandbox.read("pools.jsonl");
    let pool: Value = serde_json::from_str(pools.lines().next().unwrap()).unwrap();
    assert_eq!(pool["pool"]["first_stage"]["embedder"], "vectors");
    let of = |id: &str| {
        let documents = pool["documents"].as_array().unwrap();
        let document = documents.iter().find(|document| document["id"] == id);
        document.unwrap()["metadata"].clone()
    };
    let (d1, d5) = (of("d1"), of("d5"));
    let dense = |marks: &Value| marks["stages"]["dense"]["rank"].as_u64().unwrap() as f64;
    assert_eq!(d5["stages"].get("bm25"), None);
    assert_eq!(d5["stages"]["hybrid"]["score"], 1.0 / (60.0 + dense(&d5)));
    assert_eq!(
        d1["stages"]["hybrid"]["score"],
        1.0 / 61.0 + 1.0 / (60.0 + dense(&d1))
    );
    assert_eq!(
        (&d1["stages"]["bm25"]["rank"], &d1["first_stage_rank"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(d5["source"], "label-found");

    for (stage, found) in [("bm25", 6), ("dense", 14), ("hybrid", 14)] {
        let run = sandbox.read(&format!("runs/{stage}.trec"));
        assert_eq!(run.lines().count(), found, "{stage}: {run}");
        assert!(run.lines().all(|line| line.ends_with(stage)));
    }
}

#[test]
fn nothing_is_embedded_twice() {
    let server = FakeProvider::start();
    let sandbox = sandbox(&server, "openai", "");
    let dry = build(&sandbox, "--dry-run");
    dry.says("would embed 9 of 9 texts");
    assert!(server.requests().is_empty() && !sandbox.path("pools.jsonl").exists());
    assert_eq!(build(&sandbox, "").code, Some(0));
    let (first, calls) = (sandbox.read("pools.jsonl"), server.requests().len());
    let summary = sandbox.json(&format!("{BUILD} --json"));
    assert_eq!(summary["fusion"]["texts_cached"], TEXTS);
    assert_eq!(
        (sandbox.read("pools.jsonl"), server.requests().len()),
        (first, calls)
    );
    // Another prefix makes other texts.
    let config = sandbox.read("overrule.toml") + "passage_prefix = \"passage: \"\n";
    sandbox.write("overrule.toml", config);
    assert!(
        build(&sandbox, "--dry-run")
            .stderr
            .contains("would embed 7 of 9")
    );
}

#[test]
fn a_failed_call_is_an_error_that_names_the_embedder_and_keeps_what_came() {
    let server = FakeProvider::start();
    let sandbox = sandbox(&server, "openai", "batch = 1\nconcurrency = 1\n");
    // What passes is asked again, what does not ends it.
    server.fail_next(&[Fault::RateLimited]);
    assert_eq!(build(&sandbox, "--vectors other.db").code, Some(0));
    assert_eq!(server.requests().len(), TEXTS + 1);
    std::fs::remove_file(sandbox.path("pools.jsonl")).unwrap();

    server.fail_next(&[Fault::RateLimited, Fault::Unauthorized]);
    let ran = build(&sandbox, "");
    ran.refused(1, &["embedder \"vectors\": not authorized: no such key"]);
    assert!(
        !sandbox.path("pools.jsonl").exists(),
        "no fall back to BM25"
    );
    let before = server.requests().len();
    assert_eq!(build(&sandbox, "").code, Some(0));
    assert_eq!(server.requests().len() - before, TEXTS);
}

#[test]
fn a_page_instead_of_vectors_is_asked_for_once_more() {
    let server = FakeProvider::start();
    let sandbox = sandbox(&server, "openai", "batch = 1\nconcurrency = 1\n");
    server.fail_next(&[Fault::WrongType]);
    assert_eq!(build(&sandbox, "--vectors other.db").code, Some(0));
    assert_eq!(server.requests().len(), TEXTS + 1);
    std::fs::remove_file(sandbox.path("pools.jsonl")).unwrap();
    server.fail_next(&[Fault::WrongType; 4]);
    let ran = build(&sandbox, "");
    ran.refused(1, &["embedder \"vectors\": malformed reply"]);
    // A call that was ready may go between the two.
    let more = server.requests().len() - (TEXTS + 1);
    assert!((2..=4).contains(&more), "{more}");
}

#[rstest]
#[case::unknown("[[embedder]]\nname = \"other\"\nprovider = \"openai\"\nmodel = \"m\"\n", &["no [[embedder]] of overrule.toml is called \"vectors\"; the embedders are other"])]
#[case::none("", &["there is none; `overrule config judges` shows"])]
#[case::key("[[embedder]]\nname = \"vectors\"\nprovider = \"openai\"\nmodel = \"m\"\n", &["embedder \"vectors\": needs a key: set OPENAI_API_KEY"])]
#[case::provider("[[embedder]]\nname = \"vectors\"\nprovider = \"anthropic\"\nmodel = \"m\"\n", &["provider \"anthropic\" does not embed; use local, openai"])]
#[case::limit("[[embedder]]\nname = \"vectors\"\nprovider = \"openai\"\nmodel = \"m\"\nbatch = 0\n", &["a limit of 0"])]
fn what_is_wrong_with_an_embedder_is_said(#[case] config: &str, #[case] words: &[&str]) {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    sandbox.write("overrule.toml", config);
    sandbox.refused(&BUILD, 2, words);
}

#[test]
fn a_model_of_ollama_needs_no_configuration() {
    let server = FakeProvider::start();
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    let build = "pool build --beir beir --out pools.jsonl --depth 4 --embed ollama/all-minilm";
    let mut command = sandbox.command(build);
    command.env("OLLAMA_HOST", server.root());
    let ran = Ran::of(command);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let calls = server.requests();
    assert!(calls.iter().all(|call| call.target == "/api/embed"));
    assert!(calls.iter().all(|call| call.body["model"] == "all-minilm"));
    for name in ["ollama/", "anthropic/claude", "minilm"] {
        let build = build.replace("ollama/all-minilm", name);
        sandbox.refused(&build, 2, &["no [[embedder]]", "ollama/all-minilm"]);
    }
}

#[test]
fn pooling_is_for_local_models() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    let config = "[[embedder]]\nname = \"vectors\"\nprovider = \"ollama\"\nmodel = \"m\"\npooling = \"cls\"\n";
    sandbox.write("overrule.toml", config);
    sandbox.refused(&BUILD, 2, &["pooling is for provider = \"local\""]);
}

#[cfg(not(feature = "local-embeddings"))]
#[test]
fn a_local_model_wants_another_build() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    let config = "[[embedder]]\nname = \"vectors\"\nprovider = \"local\"\npath = \"model\"\n";
    sandbox.write("overrule.toml", config);
    sandbox.refused(&BUILD, 2, &["--features local-embeddings"]);
}

#[test]
fn a_stop_keeps_what_came_and_the_same_command_goes_on() {
    let server = FakeProvider::start();
    let sandbox = sandbox(&server, "openai", "batch = 1\nconcurrency = 1\n");
    server.set_latency(std::time::Duration::from_millis(150));
    let child = sandbox
        .command(&BUILD)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while server.requests().len() < 4 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let id = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(
        told.contains("embedded and kept; run the same command again to resume"),
        "{told}"
    );
    assert!(!sandbox.path("pools.jsonl").exists());
    server.set_latency(std::time::Duration::ZERO);
    assert_eq!(build(&sandbox, "").code, Some(0));
    assert_eq!(
        server.requests().len(),
        TEXTS,
        "what came is not asked again"
    );
}

#[test]
fn every_stage_is_a_ranking_of_the_project() {
    let server = FakeProvider::start();
    let sandbox = sandbox(&server, "openai", "");
    sandbox.done("pool build --beir beir --embed vectors");
    let project = rusqlite::Connection::open(sandbox.project()).unwrap();
    let sql = "SELECT group_concat(name, ' ') FROM (SELECT name FROM ranking ORDER BY name)";
    let names: String = project.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(names, "bm25 dense hybrid");
}

#[test]
fn a_student_looks_at_vectors_that_are_there_and_asks_for_none() {
    let server = FakeProvider::start();
    let sandbox = sandbox(&server, "openai", "");
    sandbox.done(BUILD);
    let asked = server.total_requests();
    sandbox.done("annotate pools.jsonl out.jsonl --judges bm25,ngram,proximity");
    let found = sandbox.json("student train --embed vectors --json");
    assert_eq!(found["model"]["features"][10], "cosine with query");
    // The constant, eleven sizes, and how near both documents are.
    assert_eq!(found["model"]["even"].as_array().unwrap().len(), 13);
    assert_eq!(found["model"]["odd"].as_array().unwrap().len(), 11);
    assert_eq!(found["model"]["features"][11], "cosine of both");
    assert_eq!(found["model"]["features"].as_array().unwrap().len(), 12);
    assert_eq!(
        found["model"]["embedder"],
        serde_json::json!({"name": "vectors", "model": "openai counter"})
    );
    let plain = sandbox.json("student train --json");
    assert_eq!(plain["model"]["embedder"], serde_json::Value::Null);
    assert_ne!(
        found["model"]["training_hash"],
        plain["model"]["training_hash"]
    );
    let table = sandbox.done("student train --embed vectors");
    table.prints("cosine with query");
    table.prints("cosine of both");
    sandbox.refused(
        "student train --embed vectors --vector-cache none.db",
        2,
        &["none.db: no vectors"],
    );
    sandbox.write("more.jsonl", crate::support::dataset([5]));
    sandbox.done("annotate more.jsonl out.jsonl --judges bm25,ngram,proximity");
    sandbox.refused(
        "student train --embed vectors",
        2,
        &["has vectors of 8 of the 13 documents"],
    );
    assert_eq!(server.total_requests(), asked);
}

#[test]
fn the_budget_ends_embedding_and_what_was_bought_is_not_bought_again() {
    let server = FakeProvider::start();
    // A dollar a token.
    let price = "batch = 1\nconcurrency = 1\nprice = { input = 1000000.0, output = 0.0 }\n";
    let sandbox = sandbox(&server, "openai", price);
    sandbox.done(&["import", crate::support::AI_SCORES]);
    let build = |more: &str| {
        let mut command = sandbox.command(&format!("{BUILD} --yes {more}"));
        Ran::of(std::mem::replace(
            command.env("OPENAI_API_KEY", "a-key-of-tests"),
            std::process::Command::new("true"),
        ))
    };
    let dry = build("--dry-run");
    dry.says("would embed 9 of 9 texts");
    dry.says(" at most");
    assert_eq!(server.total_requests(), 0);

    let ran = build("--budget 100");
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    ran.says("the budget is reached");
    ran.says("embedded and kept; continue with a larger --budget");
    let bought = server.total_requests();
    assert!((1..TEXTS).contains(&bought), "{bought}");
    assert!(!sandbox.path("pools.jsonl").exists());
    // What is spent is spent: nothing is left of the same budget.
    let spent = sandbox.json("status --json")["spent_usd"].as_f64().unwrap();
    assert!(spent > 0.0 && spent <= 100.0, "{spent}");
    assert_eq!(build(&format!("--budget {spent}")).code, Some(3));
    assert_eq!(server.total_requests(), bought);

    assert_eq!(build("--budget 1000000").code, Some(0));
    assert_eq!(server.total_requests(), TEXTS);
    sandbox.write(
        "overrule.toml",
        sandbox.read("overrule.toml").replace("price", "# price"),
    );
    let ran = build("--budget 1000000");
    ran.refused(2, &["no known price", "set `price` in overrule.toml"]);
}
