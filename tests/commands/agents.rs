//! `overrule mcp`: an agent reads what the commands print, proposes verdicts without recording any,
//! and spends nothing that it may not spend.
#![cfg(feature = "mcp")]

use crate::fake_provider::FakeProvider;
use crate::support::{Sandbox, dataset};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A client of a server that runs in a sandbox.
struct Agent {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    sent: u64,
}

impl Agent {
    fn of(sandbox: &Sandbox, options: &str) -> Self {
        let mut command = sandbox.command(&format!("mcp {options}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.stderr(Stdio::null()).spawn().unwrap();
        let mut agent = Self {
            input: server.stdin.take(),
            output: BufReader::new(server.stdout.take().unwrap()),
            server,
            sent: 0,
        };
        let hello = agent.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "robo\u{1b}[31m", "version": "1" },
            }),
        );
        assert_eq!(hello["serverInfo"]["name"], "overrule");
        agent.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        agent
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }

    /// Sends a request and returns its result.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.sent += 1;
        let id = self.sent;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert!(
                self.output.read_line(&mut line).unwrap() > 0,
                "the server has ended"
            );
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                assert_eq!(answer["error"], Value::Null, "{answer}");
                return answer["result"].clone();
            }
        }
    }

    /// Calls a tool that must succeed, and returns the JSON that it printed.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.ask(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        );
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_ne!(result["isError"], true, "{text}");
        serde_json::from_str(text).unwrap()
    }

    /// Calls a tool that must fail, and returns why.
    fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.ask(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        );
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

impl Drop for Agent {
    /// The server ends when its input does.
    fn drop(&mut self) {
        drop(self.input.take());
        let status = self.server.wait().unwrap();
        assert!(std::thread::panicking() || status.success(), "{status}");
    }
}

fn judged() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([5, 4]));
    sandbox.done("annotate in.jsonl out.jsonl --cycles 1");
    sandbox
}

#[test]
fn reading_tools_print_what_the_commands_print() {
    let sandbox = judged();
    let mut agent = Agent::of(&sandbox, "");
    let tools = agent.ask("tools/list", &json!({}))["tools"].clone();
    let tools = tools.as_array().unwrap();
    assert!(tools.len() > 15);
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let reads = !["propose_verdict", "ask_judges"].contains(&name);
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{name}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
    }
    for (tool, arguments, command) in [
        ("status", json!({}), "status --json"),
        ("queries", json!({}), "queries --json"),
        (
            "judges",
            json!({ "query": "q0" }),
            "judges --query q0 --json",
        ),
        (
            "battles",
            json!({ "query": "q1", "document": "d1" }),
            "battles --query q1 --document d1 --json",
        ),
        (
            "matrix",
            json!({ "query": "q0", "order": "hybrid" }),
            "matrix --query q0 --order hybrid --json",
        ),
        ("prompt_list", json!({}), "prompt list --json"),
    ] {
        assert_eq!(agent.call(tool, arguments), sandbox.json(command), "{tool}");
    }
    // Every reading tool leaves the file as it is.
    let before = std::fs::read(sandbox.project()).unwrap();
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        if tool["annotations"]["readOnlyHint"] == true {
            let known = json!({
                "query": "q0", "policy": "random", "run": "original", "metric": "p@3",
                "prompt": "score", "old": "score", "new": "choice", "words": ["gpt"],
            });
            let mut arguments = known;
            let properties = tool["inputSchema"]["properties"].as_object().unwrap();
            arguments
                .as_object_mut()
                .unwrap()
                .retain(|name, _| properties.contains_key(name));
            agent.ask(
                "tools/call",
                &json!({ "name": name, "arguments": arguments }),
            );
        }
    }
    let after = std::fs::read(sandbox.project()).unwrap();
    assert!(before == after, "reading changed the project");
    assert!(
        !sandbox.path("overrule.db-wal").exists()
            || std::fs::metadata(sandbox.path("overrule.db-wal"))
                .unwrap()
                .len()
                == 0
    );
    let why = agent.refused("matrix", json!({ "query": "nowhere" }));
    assert!(why.contains("no query \"nowhere\""), "{why}");
    let why = agent.refused("matrix", json!({ "query": "q0", "out": "stolen.svg" }));
    assert!(why.contains("unknown argument"), "{why}");
    assert!(
        agent
            .refused("override", json!({}))
            .contains("no such tool")
    );
}

#[test]
fn every_chapter_of_the_manual_is_a_resource() {
    let sandbox = judged();
    let mut agent = Agent::of(&sandbox, "");
    let listed = agent.ask("resources/list", &json!({}))["resources"].clone();
    for chapter in listed.as_array().unwrap() {
        let read = agent.ask("resources/read", &json!({ "uri": chapter["uri"] }));
        let text = read["contents"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("# "), "{chapter}");
    }
    assert!(listed.as_array().unwrap().len() > 30);
}

#[test]
fn a_proposal_waits_for_a_person_and_counts_nowhere() {
    let sandbox = judged();
    let scores = || sandbox.done("export annotated").text().to_owned();
    let before = scores();
    let mut agent = Agent::of(&sandbox, "");
    let proposal = |query: &str, a: &str, b: &str, verdict: &str, reason: &str| json!({ "query": query, "a": a, "b": b, "verdict": verdict, "reason": reason });
    let state = agent.call(
        "propose_verdict",
        proposal("q0", "d1", "d3", "b", "d3 names the tram\u{202e}"),
    );
    assert_eq!(state, json!({ "state": "waiting" }));
    for (wrong, words) in [
        (proposal("q9", "d1", "d3", "b", "so"), "no query"),
        (proposal("q0", "d1", "d9", "b", "so"), "no document"),
        (proposal("q0", "d1", "d1", "b", "so"), "the same document"),
        (proposal("q0", "d1", "d3", "yes", "so"), "verdict"),
        (proposal("q0", "d1", "d3", "b", " "), "is empty"),
        (proposal("q0", "d1", "d3", "b", &"x".repeat(2_001)), "2000"),
        (json!({ "query": "q0" }), "expected a text"),
    ] {
        let why = agent.refused("propose_verdict", wrong);
        assert!(why.contains(words), "{why}");
    }
    assert_eq!(scores(), before);
    assert_eq!(sandbox.count("SELECT count(*) FROM verdict"), 0);
    let queue = sandbox.json("queue --policy proposed --json");
    assert_eq!(queue.as_array().unwrap().len(), 1, "{queue}");
    let status = sandbox.json("status --json");
    assert_eq!(status["proposals"], json!({ "proposed": 1, "waiting": 1 }));
    sandbox.done("status").is_harmless();
    let log = sandbox.done("log");
    log.is_harmless();
    log.prints("d1 × d3");
    assert!(!log.text().contains("names the tram"), "{}", log.text());
    // A copy of the project has it too, once.
    let copy = Sandbox::new();
    std::fs::copy(judged().project(), copy.project()).unwrap();
    for added in [1, 0] {
        let merged = crate::merging::merge(&copy, &sandbox, "");
        assert_eq!(merged["proposals"], added, "{merged}");
    }
    // A person decides.
    sandbox.done("override --query q0 --a d1 --b d3 --verdict a");
    assert_eq!(sandbox.json("queue --policy proposed --json"), json!([]));
    sandbox.done("log").prints("names the tram");
    let state = agent.call("propose_verdict", proposal("q0", "d3", "d1", "a", "still"));
    assert_eq!(state, json!({ "state": "decided" }));
}

#[test]
fn nothing_is_spent_without_permission_and_no_more_than_is_allowed() {
    let sandbox = judged();
    let pair = json!({ "query": "q0", "a": "d0", "b": "d1" });
    let why = Agent::of(&sandbox, "").refused("ask_judges", pair.clone());
    assert!(why.contains("--allow-spend"), "{why}");
    let server = FakeProvider::start();
    let judge = |price: f64| {
        let config = format!(
            "[[judge]]\nname = \"gpt\"\nprovider = \"compatible\"\nmodel = \"longest\"\nbase_url = {:?}\n\
             max_output_tokens = 100\nprice = {{ input = {price}, output = {price} }}\n",
            server.v1()
        );
        sandbox.write("overrule.toml", config);
    };
    judge(1_000.0);
    sandbox.write("in.jsonl", dataset([4]).replace("\"q0\"", "\"paid\""));
    sandbox.done("import in.jsonl");
    let pair = |b: &str| json!({ "query": "paid", "a": "d0", "b": b });
    let mut agent = Agent::of(&sandbox, "--allow-spend 0.01");
    let asked = |agent: &mut Agent, b: &str| {
        let asked = json!({ "name": "ask_judges", "arguments": pair(b) });
        agent.ask("tools/call", &asked).to_string()
    };
    let told = asked(&mut agent, "d1");
    assert!(told.contains("the budget is reached"), "{told}");
    assert_eq!(server.total_calls(), 0);
    judge(0.001);
    let mut agent = Agent::of(&sandbox, "--allow-spend 0.01");
    asked(&mut agent, "d2");
    assert_eq!(server.total_calls(), 1);
    let why = agent.refused(
        "ask_judges",
        json!({ "query": "--yes", "a": "d0", "b": "d1" }),
    );
    assert!(why.contains("begin with -"), "{why}");
}

#[test]
fn a_call_that_nobody_waits_for_is_stored_and_not_paid_for_twice() {
    let sandbox = Sandbox::new();
    let server = FakeProvider::start();
    server.set_latency(std::time::Duration::from_millis(300));
    let config = format!(
        "[[judge]]\nname = \"gpt\"\nprovider = \"compatible\"\nmodel = \"longest\"\n\
         base_url = {:?}\nprice = {{ input = 0.1, output = 0.1 }}\n",
        server.v1()
    );
    sandbox.write("overrule.toml", config);
    sandbox.write("in.jsonl", dataset([4]));
    sandbox.done("import in.jsonl");
    let mut agent = Agent::of(&sandbox, "--allow-spend 1");
    agent.send(&json!({
        "jsonrpc": "2.0", "id": 90, "method": "tools/call",
        "params": { "name": "ask_judges", "arguments": { "query": "q0", "a": "d0", "b": "d1" } },
    }));
    while server.total_calls() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let canceled = json!({ "requestId": 90 });
    agent.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": canceled }),
    );
    // The agent leaves, and the server waits for the answer.
    drop(agent);
    assert_eq!(sandbox.count("SELECT count(*) FROM vote"), 1);
    assert_eq!(server.total_calls(), 1);
}
