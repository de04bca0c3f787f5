//! `overrule import votes`: other systems' judgments become battles, votes and verdicts that can be
//! audited.

mod agreement;

use crate::support::{AI_SCORES, Sandbox, dataset};
use rstest::rstest;
use serde_json::{Value, json};

/// A vote on query `q`; members of `more` are added or replace others.
fn vote(a: &str, b: &str, by: &str, kind: &str, score: f64, more: Value) -> String {
    let document = |id: &str| json!({ "id": id, "content": format!("text of {id}") });
    let mut line = json!({
        "query": { "id": "q", "query": "which?" },
        "a": document(a), "b": document(b), "by": by, "kind": kind, "score": score,
    });
    for (name, value) in more.as_object().unwrap() {
        line[name] = value.clone();
    }
    format!("{line}\n")
}

fn llm(a: &str, b: &str, by: &str, score: f64, shown: &str) -> String {
    let reasoning = format!("{by} on {a} and {b}, {shown}");
    let more = json!({ "shown": shown, "reasoning": reasoning });
    vote(a, b, by, "llm", score, more)
}

fn human(a: &str, b: &str, by: &str, score: f64) -> String {
    vote(a, b, by, "human", score, json!({}))
}

fn take_in(sandbox: &Sandbox, lines: &[String]) -> Value {
    sandbox.write("votes.jsonl", lines.concat());
    sandbox.json("import votes votes.jsonl --json")[0].clone()
}

fn battles(sandbox: &Sandbox) -> Vec<Value> {
    let output = sandbox.json("battles --query q --json");
    output["battles"].as_array().unwrap().clone()
}

/// Judge, margin and whether it saw B first, of each vote of a battle.
fn votes(battle: &Value) -> Vec<(String, f64, bool)> {
    let of = |vote: &Value| {
        (
            vote["judge"].as_str().unwrap().to_owned(),
            vote["margin"].as_f64().unwrap(),
            vote["swapped"].as_bool().unwrap(),
        )
    };
    battle["votes"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn votes_in_both_orders_are_two_games_that_judges_share() {
    let sandbox = Sandbox::new();
    let report = take_in(
        &sandbox,
        &[
            llm("x", "y", "m1", -0.5, "ba"),
            llm("x", "y", "m1", 0.25, "ab"),
            llm("y", "x", "m2", -1.0, "ab"),
            llm("y", "x", "m2", 1.0, "ba"),
            llm("x", "y", "m1", 0.0, "ab"),
            llm("z", "x", "m2", 0.75, "ab"),
        ],
    );
    assert_eq!(report["queries_added"], 1);
    assert_eq!(report["documents_added"], 3);
    assert_eq!(report["battles"], 4);
    assert_eq!(report["votes"], 6);
    assert_eq!(report["judges"], json!(["m1", "m2"]));
    let battles = battles(&sandbox);
    let told: Vec<_> = battles
        .iter()
        .map(|battle| {
            let name = |side: &str| battle[side].as_str().unwrap().to_owned();
            (name("a"), name("b"), battle["game"].as_i64().unwrap())
        })
        .collect();
    let named = |a: &str, b: &str, game| (a.to_owned(), b.to_owned(), game);
    assert_eq!(
        told,
        [
            named("x", "y", 0),
            named("x", "y", 1),
            named("x", "y", 2),
            named("z", "x", 0)
        ]
    );
    let m = |name: &str, margin, swapped| (name.to_owned(), margin, swapped);
    // Game 0 is the order that came first: y before x. Of m2's votes the one with y first is there.
    assert_eq!(
        votes(&battles[0]),
        [m("m1", -0.5, true), m("m2", 1.0, true)]
    );
    assert_eq!(
        votes(&battles[1]),
        [m("m1", 0.25, false), m("m2", -1.0, false)]
    );
    assert_eq!(votes(&battles[2]), [m("m1", 0.0, false)]);
    assert_eq!(votes(&battles[3]), [m("m2", 0.75, false)]);
    let first = &battles[0]["votes"][0];
    assert_eq!(first["reasoning"], "m1 on x and y, ba");
    assert_eq!(first["provider"], "import");
    assert!(first["cost_usd"].is_null() && first["latency_ms"].is_null());
    let status = sandbox.json("status --json");
    assert_eq!(status["calls_without_price"], 6);
    assert_eq!(status["judges"][0]["judges"], json!(["m1", "m2"]));
}

fn contents(sandbox: &Sandbox) -> Vec<String> {
    let commands: [&[&str]; 5] = [
        &["status", "--json"],
        &["matrix", "--query", "q", "--json"],
        &["export", "votes", "--format", "jsonl"],
        &["export", "verdicts", "--format", "jsonl"],
        &["queries", "--json"],
    ];
    let text = |command: &[&str]| sandbox.done(command).text().to_owned();
    commands.into_iter().map(text).collect()
}

fn mixed() -> Vec<String> {
    vec![
        llm("x", "y", "m1", -0.5, "ab"),
        llm("x", "y", "m1", -0.5, "ab"),
        llm("x", "y", "m1", -0.5, "ba"),
        llm("y", "z", "m2", 0.0, "ab"),
        human("x", "y", "ada", 0.1),
        human("x", "y", "eve", 0.0),
        human("y", "x", "ada", 0.9),
        human("x", "y", "ada", 0.1),
    ]
}

#[test]
fn importing_again_changes_nothing_and_a_longer_file_adds_what_is_new() {
    let sandbox = Sandbox::new();
    let report = take_in(&sandbox, &mixed());
    assert_eq!(
        (&report["votes"], &report["verdicts"], &report["unchanged"]),
        (&json!(4), &json!(4), &json!(0))
    );
    let before = contents(&sandbox);
    let revisions = sandbox.count("SELECT sum(revision) FROM query");
    let report = take_in(&sandbox, &mixed());
    assert_eq!(
        (&report["votes"], &report["verdicts"], &report["unchanged"]),
        (&json!(0), &json!(0), &json!(8))
    );
    assert_eq!(contents(&sandbox), before);
    assert_eq!(sandbox.count("SELECT sum(revision) FROM query"), revisions);

    let mut longer = mixed();
    longer.push(llm("x", "y", "m1", -0.5, "ab"));
    longer.push(human("x", "y", "ada", -1.0));
    let report = take_in(&sandbox, &longer);
    assert_eq!(
        (&report["votes"], &report["verdicts"], &report["unchanged"]),
        (&json!(1), &json!(1), &json!(8))
    );
    assert_eq!(sandbox.count("SELECT count(*) FROM battle"), 5);
}

#[test]
fn a_persons_votes_are_verdicts_in_the_order_of_the_file() {
    let sandbox = Sandbox::new();
    let report = take_in(&sandbox, &mixed());
    assert_eq!(report["annotators"], json!(["ada", "eve"]));
    assert_eq!(report["conflicts"], 1);
    let of_pair = battles(&sandbox)[0].clone();
    let said: Vec<_> = of_pair["said"]
        .as_array()
        .unwrap()
        .iter()
        .map(|said| {
            (
                said["annotator"].as_str().unwrap(),
                said["decision"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(said.len(), 2, "one say each: {said:?}");
    assert!(
        said.contains(&("ada", "b")),
        "ada's last line says b: {said:?}"
    );
    assert!(said.contains(&("eve", "tie")));
    assert_eq!(of_pair["conflict"], true);
    assert_eq!(
        sandbox.count(
            "SELECT count(*) FROM verdict WHERE blind AND role = 'import' AND inclusion IS NULL"
        ),
        4
    );
    // A plain step, however strong the score.
    assert_eq!(
        sandbox.count("SELECT count(*) FROM verdict WHERE decision LIKE 'much%'"),
        0
    );
    let ran = sandbox.done("import votes votes.jsonl");
    ran.says("people differ on 1 pair");
}

#[test]
fn a_time_in_the_file_decides_what_is_latest() {
    /// In 2023.
    const LATEST: i64 = 1_700_000_000_000;
    let sandbox = Sandbox::new();
    let at = |score: f64, ms: i64| {
        vote(
            "x",
            "y",
            "ada",
            "human",
            score,
            json!({ "created_ms": ms, "shown": "ba" }),
        )
    };
    take_in(&sandbox, &[at(1.0, LATEST), at(-1.0, LATEST - 1_000)]);
    let lines = sandbox.done("export verdicts --format jsonl");
    let row: Value = serde_json::from_str(lines.text().trim()).unwrap();
    assert_eq!(
        (&row["created_ms"], &row["in_force"]),
        (&json!(LATEST), &json!(true))
    );
    // As it was shown: y first.
    assert_eq!(
        (&row["a"], &row["b"], &row["verdict"]),
        (&json!("y"), &json!("x"), &json!("a"))
    );
}

#[test]
fn votes_join_a_dataset_and_stay_apart_from_its_run() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([5]));
    sandbox.done("annotate in.jsonl out.jsonl");
    let scores = |sandbox: &Sandbox| sandbox.done("export annotated").text().to_owned();
    let before = scores(&sandbox);
    let mut line: Value = serde_json::from_str(llm("d0", "d4", "m1", 1.0, "ab").trim()).unwrap();
    line["query"] = json!({ "id": "q0" });
    for side in ["a", "b"] {
        line[side].as_object_mut().unwrap().remove("content");
    }
    sandbox.write("votes.jsonl", line.to_string());
    let ran = sandbox.done("import votes votes.jsonl");
    assert!(
        ran.stderr
            .contains("1 query: the judges whose votes counted there still count"),
        "{}",
        ran.stderr
    );
    assert_eq!(scores(&sandbox), before, "what a run paid for is not moved");
    assert_eq!(
        sandbox.count(
            "SELECT count(*) FROM vote JOIN judge ON judge.id = judge WHERE provider = 'import'"
        ),
        1
    );
    sandbox.done("annotate in.jsonl out.jsonl");
    assert_eq!(scores(&sandbox), before);

    // Other imports are joined: their judges count together.
    let sandbox = Sandbox::new();
    sandbox.done(&["import", AI_SCORES]);
    let mut line: Value = serde_json::from_str(llm("d1", "d9", "m1", 1.0, "ab").trim()).unwrap();
    line["query"] = json!({ "id": "capital-of-france" });
    line["a"] = json!({ "id": "d1" });
    sandbox.write("votes.jsonl", line.to_string());
    let report = sandbox.json("import votes votes.jsonl --json")[0].clone();
    assert_eq!(report["documents_added"], 1);
    let judges = sandbox.json("status --json")["judges"][0]["judges"].clone();
    assert_eq!(judges, json!(["openai", "gemini", "anthropic", "m1"]));

    // One name is one judge: another of the same name does not count.
    line["by"] = json!("openai");
    sandbox.write("votes.jsonl", line.to_string());
    let report = sandbox.json("import votes votes.jsonl --json")[0].clone();
    assert_eq!(
        (&report["votes"], &report["queries_keeping_their_judges"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(sandbox.json("status --json")["judges"][0]["judges"], judges);
    let lines = sandbox.done("export votes --format jsonl");
    let uncounted = lines
        .text()
        .lines()
        .filter(|line| line.contains("\"counts\":false"));
    assert_eq!(uncounted.count(), 1);
}

#[rstest]
#[case::text_contradicts_the_file(
    vec![llm("x", "y", "m", 1.0, "ab"), vote("x", "z", "m", "llm", 1.0, json!({ "a": { "id": "x", "content": "other" } }))],
    "a.content: \"x\" has a different text"
)]
#[case::text_never_seen(
    vec![llm("x", "y", "m", 1.0, "ab"), vote("x", "z", "m", "llm", 1.0, json!({ "b": { "id": "z" } }))],
    "b.content: is missing"
)]
#[case::score(
    vec![llm("x", "y", "m", 1.0, "ab"), llm("x", "y", "m", -1.01, "ab")],
    "score: \"-1.01\" is outside -1..1"
)]
fn a_bad_line_is_named_and_nothing_is_imported(#[case] lines: Vec<String>, #[case] words: &str) {
    let sandbox = Sandbox::new();
    sandbox.write("votes.jsonl", lines.concat());
    let told = ["votes.jsonl:2: ", words, "nothing imported"];
    sandbox.refused("import votes votes.jsonl", 2, &told);
    sandbox.refused("import votes votes.jsonl --dry-run", 2, &told);
    assert!(!sandbox.project().exists());
    let report = sandbox.json("import votes votes.jsonl --skip-bad --json");
    assert_eq!(
        (&report[0]["votes"], &report[0]["skipped"]),
        (&json!(1), &json!(1))
    );
}

#[test]
fn a_text_that_contradicts_the_project_is_refused_before_anything_changes() {
    let sandbox = Sandbox::new();
    take_in(&sandbox, &[llm("x", "y", "m", 1.0, "ab")]);
    let other = vote(
        "x",
        "z",
        "m",
        "llm",
        1.0,
        json!({ "a": { "id": "x", "content": "other" } }),
    );
    let good = llm("y", "z", "m", 1.0, "ab");
    sandbox.write("more.jsonl", [good, other].concat());
    let before = contents(&sandbox);
    sandbox.refused(
        "import votes more.jsonl",
        2,
        &[
            "more.jsonl:2: a.content: \"x\" has a different text",
            "nothing imported",
        ],
    );
    assert_eq!(contents(&sandbox), before);
}

#[test]
fn later_files_may_lean_on_the_texts_of_earlier_ones() {
    let sandbox = Sandbox::new();
    sandbox.write("1.jsonl", llm("x", "y", "m1", 1.0, "ab"));
    let bare = json!({ "query": { "id": "q" }, "a": { "id": "x" }, "b": { "id": "y" } });
    sandbox.write("2.jsonl", vote("x", "y", "m2", "llm", -1.0, bare));
    sandbox.refused(
        "import votes 2.jsonl",
        2,
        &["2.jsonl:1: query.query: is missing"],
    );
    sandbox.done("import votes 1.jsonl 2.jsonl --dry-run");
    assert!(!sandbox.project().exists());
    sandbox.done("import votes 1.jsonl 2.jsonl");
    let battles = battles(&sandbox);
    assert_eq!(battles.len(), 1);
    assert_eq!(battles[0]["score"], 0.5);
}

#[test]
fn a_dry_run_says_what_would_come_and_keeps_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("1.jsonl", llm("x", "y", "m1", 1.0, "ab"));
    sandbox.write(
        "2.jsonl",
        llm("x", "y", "m1", 1.0, "ab")
            + &llm("x", "z", "m2", 1.0, "ba")
            + &human("x", "y", "ada", 1.0),
    );
    let import = "import votes 1.jsonl 2.jsonl --json";
    let counts = |told: &Value| {
        [
            "queries_added",
            "documents_added",
            "battles",
            "votes",
            "verdicts",
            "unchanged",
        ]
        .map(|name| told[1][name].as_u64().unwrap())
    };
    let told = sandbox.json(&format!("{import} --dry-run"));
    assert_eq!(
        (counts(&told), &told[1]["dry_run"]),
        ([0, 1, 1, 1, 1, 1], &true.into())
    );
    assert!(!sandbox.project().exists());
    let done = sandbox.json(import);
    assert_eq!(
        (counts(&done), &done[1]["dry_run"]),
        (counts(&told), &false.into())
    );

    sandbox.write("2.jsonl", llm("y", "z", "m1", -1.0, "ab"));
    let before = sandbox.json("status --json");
    assert_eq!(
        counts(&sandbox.json(&format!("{import} --dry-run"))),
        [0, 0, 1, 1, 0, 0]
    );
    assert_eq!(sandbox.json("status --json"), before);
    let text = sandbox.done("import votes 2.jsonl --dry-run");
    text.prints("1 battle and 1 vote of m1");
}

#[test]
fn a_file_called_votes_is_still_a_file() {
    let sandbox = Sandbox::new();
    sandbox.write("votes", dataset([3]));
    sandbox.done("import ./votes");
    assert_eq!(sandbox.count("SELECT count(*) FROM query"), 1);
    sandbox.write("other.jsonl", dataset([3]));
    sandbox.done("import other.jsonl votes");
    let refused = sandbox.run("import votes");
    assert_eq!(refused.code, Some(2));
    refused.says("<PATHS>");
    sandbox.write("help", dataset([3]));
    sandbox.done("import help");
    sandbox.refused(
        "import votes other.jsonl",
        2,
        &["other.jsonl:1: a: is missing"],
    );
}

#[test]
fn hostile_names_reach_no_terminal() {
    let sandbox = Sandbox::new();
    let evil = "m\u{1b}[2J\u{202e}";
    let lines = [
        vote(
            "x",
            "y",
            evil,
            "llm",
            1.0,
            json!({ "reasoning": "r\u{1b}]0;t\u{7}" }),
        ),
        vote(
            "x",
            "y",
            evil,
            "human",
            1.0,
            json!({ "reasoning": "n\u{1b}[31m" }),
        ),
        vote("x", "y", "bob\u{9b}", "human", -1.0, json!({})),
    ];
    sandbox.write("votes.jsonl", lines.concat());
    for arguments in [
        "import votes votes.jsonl",
        "import votes votes.jsonl --json",
        "battles --query q",
        "battles --query q --json",
        "export verdicts",
        "export verdicts --format jsonl",
        "status",
    ] {
        let ran = sandbox.done(arguments);
        for text in [ran.text(), &ran.stderr] {
            let csv = arguments == "export verdicts";
            let bad = text
                .chars()
                .find(|ch| (ch.is_control() && *ch != '\n') || (*ch == '\u{202e}' && !csv));
            assert_eq!(bad, None, "{arguments:?}: {text:?}");
        }
    }
}
