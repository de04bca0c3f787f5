//! `overrule merge`: two analysts' files become one, as often as one likes, and neither loses
//! anything.

use crate::support::{AI_SCORES, Arguments as _, Sandbox, dataset};
use rusqlite::types::Value as Cell;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Every row of every table that holds facts, in an order of its own.
pub(crate) fn rows(path: &Path) -> Vec<(String, Vec<Vec<Cell>>)> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    // Exports fill the cache of scores.
    let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'fitted_scores'
        ORDER BY name";
    let mut statement = db.prepare(names).unwrap();
    let names = statement.query_map([], |row| row.get(0)).unwrap();
    let names: Vec<String> = names.collect::<Result<_, _>>().unwrap();
    names
        .into_iter()
        .map(|name| {
            let mut statement = db.prepare(&format!("SELECT * FROM {name}")).unwrap();
            let columns = statement.column_count();
            let rows = statement
                .query_map([], |row| (0..columns).map(|at| row.get(at)).collect())
                .unwrap();
            let rows = rows.collect::<Result<_, _>>().unwrap();
            (name, rows)
        })
        .collect()
}

pub(crate) fn merge(sandbox: &Sandbox, other: &Sandbox, more: &str) -> Value {
    let path = other.project();
    let fixed = ["merge", path.to_str().unwrap(), "--json"];
    sandbox.json(&[&fixed[..], &more.list()].concat())
}

/// Two sandboxes with the same dataset, judged by the same judges up to different depths.
pub(crate) fn two() -> (Sandbox, Sandbox) {
    let (ada, eve) = (Sandbox::new(), Sandbox::new());
    for (sandbox, cycles) in [(&ada, "2"), (&eve, "3")] {
        sandbox.write("in.jsonl", dataset([8, 5]));
        sandbox.done(&format!("annotate in.jsonl out.jsonl --cycles {cycles}"));
    }
    (ada, eve)
}

fn says(sandbox: &Sandbox, who: &str, a: &str, b: &str, verdict: &str) {
    sandbox.done(&format!(
        "override --query q0 --annotator {who} --a {a} --b {b} --verdict {verdict}"
    ));
}

/// What two projects with the same facts have in common, whatever their rows are called.
fn facts(sandbox: &Sandbox) -> [String; 5] {
    let text = |arguments: &[&str]| sandbox.done(arguments).text().to_owned();
    let mut votes: Vec<String> = text(&["export", "votes", "--format", "jsonl"])
        .lines()
        .map(|line| {
            let mut vote: Value = serde_json::from_str(line).unwrap();
            // Both have judged it, and one was faster.
            vote["latency_ms"] = Value::Null;
            vote.to_string()
        })
        .collect();
    votes.sort();
    [
        votes.join("\n"),
        text(&["export", "verdicts", "--format", "jsonl"]),
        text(&["log", "--query", "q0", "--json"]),
        text(&["gold", "list", "--json"]),
        text(&["export", "annotated", "--query", "q1"]),
    ]
}

#[test]
fn either_way_round_the_union_is_the_same_and_a_second_merge_changes_nothing() {
    let (ada, eve) = two();
    says(&ada, "ada", "d0", "d1", "a");
    says(&ada, "ada", "d2", "d3", "much-b");
    says(&eve, "eve", "d1", "d0", "a");
    says(&eve, "eve", "d4", "d5", "tie");
    eve.done("undo --annotator eve");
    eve.write("gold", "query,a,b,decision\nq0,d6,d7,tie\n");
    eve.done("gold import gold");
    let (of_ada, of_eve) = (rows(&ada.project()), rows(&eve.project()));
    let third = Sandbox::new();
    fs::copy(ada.project(), third.project()).unwrap();

    let tried = merge(&ada, &eve, "--dry-run");
    assert_eq!(
        (&tried["dry_run"], &tried["verdicts"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(rows(&ada.project()), of_ada, "a dry run changes nothing");

    let merged = merge(&ada, &eve, "");
    for what in ["votes", "battles", "verdicts", "undos", "gold"] {
        assert_eq!(merged[what], tried[what]);
        assert!(merged[what].as_u64().unwrap() > 0, "{what}");
    }
    assert_eq!(
        (&merged["vote_clashes"], &merged["refused"]),
        (&json!(0), &json!([]))
    );
    assert_eq!(merged["conflicts"], 1);
    let united = rows(&ada.project());
    let again = merge(&ada, &eve, "");
    for what in [
        "queries_added",
        "documents_added",
        "battles",
        "votes",
        "failures",
        "verdicts",
        "undos",
        "gold",
    ] {
        assert_eq!(again[what], 0, "{what}");
    }
    assert_eq!(rows(&ada.project()), united, "not a row, not a revision");
    assert_eq!(rows(&eve.project()), of_eve, "the other file is as it was");

    merge(&eve, &third, "");
    for (eves, adas) in facts(&eve).iter().zip(&facts(&ada)) {
        assert_eq!(eves, adas);
    }
    // And back again: there is nothing left to take.
    let back = merge(&ada, &eve, "");
    assert_eq!((&back["votes"], &back["verdicts"]), (&json!(0), &json!(0)));
    assert_eq!(rows(&ada.project()), united);
}

#[test]
fn a_merge_needs_no_second_purchase() {
    let (ada, eve) = two();
    Connection::open(eve.project())
        .unwrap()
        .execute_batch(
            "UPDATE vote SET cost_usd = 0.25;
             UPDATE call_total SET votes_priced = votes, votes_usd = 0.25 * votes, asked_priced = asked, asked_usd = 0.25 * asked",
        )
        .unwrap();
    let merged = merge(&ada, &eve, "");
    let votes = merged["votes"].as_u64().unwrap();
    assert!(votes > 0);
    assert_eq!(merged["spent_usd"], 0.25 * votes as f64);
    assert_eq!(ada.json("status --json")["spent_usd"], 0.25 * votes as f64);
    // What the other had judged is not asked for again.
    let before = ada.count("SELECT count(*) FROM vote");
    ada.done("annotate in.jsonl out.jsonl --cycles 3");
    assert_eq!(ada.count("SELECT count(*) FROM vote"), before);
    eve.done("annotate in.jsonl out.jsonl --cycles 3");
    assert_eq!(ada.read("out.jsonl"), eve.read("out.jsonl"));
}

#[test]
fn a_merge_tells_of_weights_that_were_replaced_between_two_projects() {
    let (ada, eve) = two();
    // Each project has seen one set of weights alone; of the two, Eve's came last.
    for (sandbox, fingerprint, seen_ms) in [(&ada, "old", 1_000), (&eve, "new", 9_000)] {
        Connection::open(sandbox.project())
            .unwrap()
            .execute_batch(&format!(
                "UPDATE vote SET created_ms = {seen_ms} + 1;
                 INSERT INTO judge_weights (judge, fingerprint, votes_before, seen_ms)
                 SELECT id, '{fingerprint}', 0, {seen_ms} FROM judge;"
            ))
            .unwrap();
    }
    let replaced = |sandbox: &Sandbox| {
        let known = sandbox.json("judges --json").to_string();
        assert!(known.contains("\"votes_before_other_weights\":"), "{known}");
        !known.contains("\"votes_before_other_weights\":null")
    };
    assert!(!replaced(&ada) && !replaced(&eve));
    // Ada's file gets votes of both; Eve has cast every vote of Ada's herself, with her weights,
    // and keeps her own.
    for (one, other, mixed) in [(&ada, &eve, true), (&eve, &ada, false)] {
        for _ in 0..2 {
            merge(one, other, "");
            assert_eq!(one.count("SELECT count(*) FROM judge_weights"), 6);
            assert_eq!(replaced(one), mixed);
        }
    }
}

fn foreign(query: &str, a: &str, b: &str, by: &str, score: f64) -> String {
    let document = |id: &str| json!({ "id": id, "content": format!("text of {id}") });
    let line = json!({
        "query": { "id": query, "query": format!("what is {query}?") }, "a": document(a), "b": document(b),
        "by": by, "kind": "llm", "score": score, "reasoning": format!("{a} {b} {score}"),
    });
    format!("{line}\n")
}

#[test]
fn pools_in_another_order_are_matched_by_name() {
    let (ada, eve) = (Sandbox::new(), Sandbox::new());
    ada.write(
        "v.jsonl",
        [
            foreign("q", "x", "y", "m1", -1.0),
            foreign("q", "y", "z", "m1", -0.5),
        ]
        .concat(),
    );
    // The other file begins with y, and its battle of x and y is stored the other way round.
    eve.write(
        "v.jsonl",
        [
            foreign("q", "y", "x", "m2", 0.75),
            foreign("q", "w", "y", "m2", 1.0),
            foreign("other", "x", "y", "m2", 0.0),
        ]
        .concat(),
    );
    for sandbox in [&ada, &eve] {
        sandbox.done("import votes v.jsonl");
    }
    eve.write("gold", "query,a,b,decision\nq,y,x,b\n");
    eve.done("gold import gold");
    eve.done("override --query q --a w --b x --verdict much-a");
    let merged = merge(&ada, &eve, "");
    assert_eq!(
        (
            &merged["queries_added"],
            &merged["documents_added"],
            &merged["battles"],
            &merged["votes"]
        ),
        (&json!(1), &json!(3), &json!(2), &json!(3))
    );
    let battles = ada.json("battles --query q --json");
    let first = &battles["battles"][0];
    assert_eq!((&first["a"], &first["b"]), (&json!("x"), &json!("y")));
    let votes: Vec<_> = first["votes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|vote| (&vote["judge"], &vote["margin"], &vote["swapped"]))
        .collect();
    assert_eq!(
        votes,
        [
            (&json!("m1"), &json!(-1.0), &json!(false)),
            // It was shown y first, and preferred x.
            (&json!("m2"), &json!(-0.75), &json!(true)),
        ]
    );
    assert_eq!(ada.json("gold list --json")["items"][0]["decision"], "a");
    let verdict = &battles["judged_without_battle"][0];
    assert_eq!(
        (
            &verdict["a"],
            &verdict["b"],
            &verdict["verdict"]["decision"]
        ),
        (&json!("x"), &json!("w"), &json!("much-b"))
    );
    let judges = ada.json("status --json")["judges"].clone();
    assert_eq!(
        judges[0]["judges"],
        json!(["m1", "m2"]),
        "imported judges count together"
    );
}

#[test]
fn a_verdict_that_is_explained_later_is_one_verdict() {
    let (ada, eve) = two();
    for (a, b) in [("d0", "d1"), ("d2", "d3"), ("d4", "d5")] {
        says(&eve, "eve", a, b, "a");
        eve.done(&format!(
            "override --query q0 --annotator eve --a {a} --b {b} --verdict a --note because"
        ));
    }
    assert_eq!(eve.count("SELECT count(*) FROM verdict"), 6);
    assert_eq!(merge(&ada, &eve, "")["verdicts"], 3);
    assert_eq!(ada.count("SELECT count(*) FROM verdict"), 6);
    assert_eq!(ada.json("status --json")["verdicts"], 3);
}

#[test]
fn one_name_for_two_texts_leaves_the_query_out_and_takes_the_rest() {
    let (ada, eve) = (Sandbox::new(), Sandbox::new());
    ada.write("v.jsonl", foreign("q", "x", "y", "m", 1.0));
    let spoiled = foreign("q", "x", "v", "m", 1.0).replace("text of x", "another text");
    eve.write(
        "v.jsonl",
        [spoiled, foreign("good", "x", "y", "m", 1.0)].concat(),
    );
    for sandbox in [&ada, &eve] {
        sandbox.done("import votes v.jsonl");
    }
    eve.done("override --query q --a x --b v --verdict a");
    let path = eve.project();
    let ran = ada.run(&["merge", path.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("skipped query \"q\": document \"x\" has a different text there"),
        "{}",
        ran.stderr
    );
    let merged: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(
        (
            &merged["votes"],
            &merged["verdicts"],
            &merged["refused"][0]["query"]
        ),
        (&json!(1), &json!(0), &json!("q"))
    );
    assert_eq!(ada.count("SELECT count(*) FROM query"), 2);
    assert_eq!(ada.count("SELECT documents FROM query WHERE name = 'q'"), 2);
}

#[test]
fn two_votes_of_one_judge_on_one_battle_are_a_clash_and_ours_stays() {
    let (ada, eve) = (Sandbox::new(), Sandbox::new());
    ada.write(
        "v.jsonl",
        [
            foreign("q", "x", "y", "m", 1.0),
            foreign("q", "x", "z", "m", 1.0),
        ]
        .concat(),
    );
    eve.write(
        "v.jsonl",
        [
            foreign("q", "x", "y", "m", -1.0),
            foreign("q", "x", "z", "m", 1.0),
        ]
        .concat(),
    );
    for sandbox in [&ada, &eve] {
        sandbox.done("import votes v.jsonl");
    }
    // All but the log of imports, which gets hers too.
    let votes = || -> Vec<_> {
        rows(&ada.project())
            .into_iter()
            .filter(|(table, _)| table != "import")
            .collect()
    };
    let before = votes();
    for _ in 0..2 {
        let path = eve.project();
        let ran = ada.done(&["merge", path.to_str().unwrap(), "--json"]);
        let merged: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(
            (&merged["votes"], &merged["vote_clashes"]),
            (&json!(0), &json!(1))
        );
        ran.says("1 vote: the same judge voted differently");
        assert_eq!(votes(), before);
        assert_eq!(ada.count("SELECT count(*) FROM import"), 2);
    }
}

#[test]
fn failures_come_once_and_stay_failures() {
    let (ada, eve) = (Sandbox::new(), Sandbox::new());
    let mut recorded: Value = serde_json::from_slice(&fs::read(AI_SCORES).unwrap()).unwrap();
    recorded["scored_pairs"][0]["openai_score"] = json!({ "thought": "", "score": 0.0 });
    eve.write("ai_scores.json", recorded.to_string());
    eve.done("import ai_scores.json");
    ada.write("in.jsonl", dataset([3]));
    ada.done("import in.jsonl");
    assert_eq!(merge(&ada, &eve, "")["failures"], 1);
    assert_eq!(merge(&ada, &eve, "")["failures"], 0);
    let status = ada.json("status --json");
    assert_eq!(
        (&status["votes"], &status["failures"]),
        (&json!(23), &json!(1))
    );
    assert_eq!(
        ada.done("export ai-scores").text(),
        eve.done("export ai-scores").text()
    );
}

#[test]
fn what_calls_cost_beside_votes_comes_once_and_what_is_owed_stays_owed() {
    let (ada, eve) = two();
    let change = |sandbox: &Sandbox, sql: &str| {
        Connection::open(sandbox.project())
            .unwrap()
            .execute_batch(sql)
            .unwrap();
    };
    // One assumed in a run that is here too after the merge, one known, one for no run, and one in
    // flight.
    change(
        &eve,
        "INSERT INTO call (uid, purpose, service, run, worst_usd, sent_ms, ended_ms, cause, cost_usd, assumed_usd, kept)
         VALUES (x'01', 'votes', 'gpt', 1, 0.5, 1, 2, 'timed-out', NULL, 0.5, 1),
                (x'02', 'votes', 'gpt', NULL, 0.5, 1, 2, 'server', 0.25, NULL, 0),
                (x'03', 'picks', 'gpt', NULL, 0.5, 1, 2, 'killed', NULL, 0.5, 0),
                (x'04', 'votes', 'gpt', 1, 0.5, 1, NULL, NULL, NULL, NULL, 0);
         INSERT INTO failure (battle, judge, swapped, cause, message, attempt, tokens_input, tokens_output, created_ms, again)
         SELECT battle, judge, swapped, 'malformed', 'asked once more', 1, 0, 0, 7, 1 FROM vote ORDER BY battle, judge LIMIT 1;
         UPDATE call_total SET failures = failures + 1
         WHERE (query, judge) = (SELECT query, judge FROM vote JOIN battle ON battle.id = battle ORDER BY battle, judge LIMIT 1)",
    );
    let dry = merge(&ada, &eve, "--dry-run");
    assert_eq!(
        (&dry["assumed_usd"], &dry["spent_usd"]),
        (&json!(1.0), &json!(0.25))
    );
    assert_eq!(ada.count("SELECT count(*) FROM call"), 0);
    let merged = merge(&ada, &eve, "");
    assert_eq!(merged["assumed_usd"], 1.0);
    let united = rows(&ada.project());
    let again = merge(&ada, &eve, "");
    assert_eq!(
        (&again["assumed_usd"], &again["spent_usd"]),
        (&json!(0.0), &json!(0.0))
    );
    assert_eq!(rows(&ada.project()), united);
    assert_eq!(ada.count("SELECT count(*) FROM call"), 3);
    let of_run = "SELECT count(*) FROM call JOIN run ON run.id = call.run WHERE call.uid = x'01'";
    assert_eq!(ada.count(of_run), 1);
    assert_eq!(ada.count("SELECT sum(again) FROM failure"), 1);
}

#[test]
fn the_other_file_may_be_in_use_older_or_write_protected() {
    let (ada, eve) = two();
    says(&eve, "eve", "d0", "d1", "a");
    // A writer that has not folded its log back: the verdict is beside the file, not in it.
    let store = Connection::open(eve.project()).unwrap();
    store
        .execute_batch(
            "CREATE TEMP TABLE live AS SELECT * FROM verdict;
             UPDATE live SET uid = '01a204a4-b015-70f8-bde5-33bda54dcdf0', a = 2, b = 3, annotator = 'live';
             INSERT INTO verdict SELECT * FROM live",
        )
        .unwrap();
    assert_eq!(merge(&ada, &eve, "")["verdicts"], 2);
    drop(store);

    let before = fs::read(eve.project()).unwrap();
    let mut permissions = fs::metadata(eve.project()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(eve.project(), permissions).unwrap();
    let third = Sandbox::new();
    third.write("v.jsonl", foreign("q0", "x", "y", "m", 1.0));
    third.done("import votes v.jsonl");
    let path = eve.project();
    let ran = third.run(&["merge", path.to_str().unwrap(), "--json"]);
    assert_eq!(
        ran.code,
        Some(3),
        "q0 is another query there: {}",
        ran.stderr
    );
    assert_eq!(fs::read(eve.project()).unwrap(), before);
    let names: Vec<_> = fs::read_dir(eve.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        names
            .iter()
            .all(|name| !name.to_string_lossy().contains("-wal")),
        "{names:?}"
    );

    let old = Sandbox::new();
    let schema = include_str!("../../assets/migrations/0001.sql");
    let db = Connection::open(old.project()).unwrap();
    db.execute_batch(schema).unwrap();
    db.execute_batch(
        "INSERT INTO query VALUES (1, 'old', 'text', '{}', '{}', 'd', 0, NULL, NULL, 0)",
    )
    .unwrap();
    db.execute_batch("PRAGMA user_version = 1; PRAGMA application_id = 0x4f56524c")
        .unwrap();
    drop(db);
    let before = fs::read(old.project()).unwrap();
    assert_eq!(merge(&ada, &old, "")["queries_added"], 1);
    assert_eq!(fs::read(old.project()).unwrap(), before);
}

#[test]
fn what_is_no_other_project_is_refused_by_name() {
    let (ada, _) = two();
    let before = rows(&ada.project());
    ada.write(
        "notes.db",
        "a text file that is not a database, and long enough to have a header of its own",
    );
    ada.write("empty.db", "");
    for (name, words) in [
        ("notes.db", "not an Overrule project"),
        ("empty.db", "it is empty"),
        ("absent.db", "cannot be read"),
        (".", "it is a folder"),
        ("./overrule.db", "is this project itself"),
    ] {
        ada.refused(&["merge", name], 2, &[name, words]);
    }
    let whole = fs::read(ada.project()).unwrap();
    ada.write("cut.db", &whole[..whole.len() / 2]);
    let ran = ada.run("merge cut.db");
    assert_ne!(ran.code, Some(0));
    ran.says("cut.db");
    assert_eq!(rows(&ada.project()), before);
    fs::remove_file(ada.path("overrule.db")).unwrap();
    ada.refused("merge cut.db", 2, &["no such project"]);
}

#[test]
fn one_name_that_judges_one_way_here_and_another_way_there_is_pointed_out() {
    let (ada, eve) = two();
    // The same as seen from the other side, twice another, and names of their own.
    says(&ada, "root", "d0", "d1", "a");
    says(&eve, "root", "d1", "d0", "b");
    says(&ada, "root", "d0", "d2", "a");
    says(&eve, "root", "d0", "d2", "b");
    says(&ada, "ada", "d0", "d3", "a");
    says(&eve, "eve", "d0", "d3", "b");
    let merged = merge(&ada, &eve, "--dry-run");
    assert_eq!(merged["namesakes"], json!({"root": 1}));
    let path = eve.project();
    let told = ada.run(&["merge", path.to_str().unwrap()]);
    told.says("root: 1 pair judged one way here and another way there; if these are two people");
    assert_eq!(merge(&ada, &eve, "")["namesakes"], json!({}));
    // Whoever goes on with the united project and changes their mind is one person.
    says(&ada, "root", "d0", "d2", "tie");
    assert_eq!(merge(&eve, &ada, "")["namesakes"], json!({}));
}

#[test]
fn nothing_that_a_run_would_pay_for_again_is_brought_in_while_it_goes_on() {
    let (ada, eve) = two();
    eve.done("export votes --format jsonl --out votes.jsonl");
    let votes = eve.path("votes.jsonl");
    let other = eve.project();
    let (other, votes) = (other.to_str().unwrap(), votes.to_str().unwrap());
    let run = fs::File::create(ada.path("overrule.db-run")).unwrap();
    run.lock().unwrap();
    for arguments in [
        &["merge", other][..],
        &["import", "votes", votes],
        &["import", AI_SCORES],
    ] {
        let words = ["another overrule process is running"];
        ada.run(&arguments.to_vec()).refused(1, &words);
    }
    ada.done(&["merge", other, "--dry-run"]);
    run.unlock().unwrap();
    ada.done(&["merge", other]);
}

#[test]
fn decisions_from_the_future_keep_their_order_and_no_two_share_a_place() {
    let (here, there) = two();
    for verdict in ["a", "b", "tie"] {
        says(&there, "ben", "d1", "d2", verdict);
    }
    let clock = Connection::open(there.project()).unwrap();
    // A clock that was a year ahead, and stood still.
    clock
        .execute_batch("UPDATE verdict SET created_ms = created_ms + 31536000000, order_ms = NULL")
        .unwrap();
    clock
        .execute_batch("UPDATE verdict SET created_ms = (SELECT max(created_ms) FROM verdict)")
        .unwrap();
    drop(clock);
    merge(&here, &there, "");
    let merged = Connection::open(here.project()).unwrap();
    let places: Vec<i64> = merged
        .prepare("SELECT order_ms FROM verdict ORDER BY uid")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let first = places[0];
    assert_eq!(places, [first, first + 1, first + 2]);
}
