//! `export votes --format jsonl` is a file for `import votes`: the same project comes of it.

use crate::exported_tables::same_in_all;
use crate::support::{Sandbox, dataset, read_only};
use serde_json::Value;

fn exported(sandbox: &Sandbox) -> String {
    let lines = sandbox.done("export votes --format jsonl");
    lines.text().to_owned()
}

/// What follows from the votes: documents with scores and intervals, battles, and the dispersion.
fn numbers(sandbox: &Sandbox) -> Vec<Value> {
    let mut numbers = Vec::new();
    for query in ["q0", "q2"] {
        let mut matrix = sandbox.json(&["matrix", "--query", query, "--json"]);
        let mut battles = sandbox.json(&["battles", "--query", query, "--json"])["battles"].take();
        for battle in battles.as_array_mut().unwrap() {
            for vote in battle["votes"].as_array_mut().unwrap() {
                for name in ["cost_usd", "latency_ms", "tokens_input", "tokens_output"] {
                    vote.as_object_mut().unwrap().remove(name);
                }
            }
        }
        numbers.extend([matrix.take(), battles]);
    }
    numbers
}

fn phi(sandbox: &Sandbox) -> Option<String> {
    let sql = "SELECT value FROM setting WHERE name LIKE 'phi:%'";
    let project = read_only(&sandbox.project()).unwrap();
    project.query_row(sql, [], |row| row.get(0)).ok()
}

#[test]
fn an_export_makes_the_same_project_anywhere_and_adds_nothing_at_home() {
    let home = Sandbox::new();
    home.write("in.jsonl", dataset([60, 60, 60]));
    home.done("annotate in.jsonl out.jsonl --cycles 12");
    let votes = exported(&home);

    // Into an empty project: the first line of each query has its pool.
    let empty = Sandbox::new();
    empty.write("votes.jsonl", &votes);
    let report = empty.json("import votes votes.jsonl --json")[0].clone();
    assert_eq!(report["battles"], home.count("SELECT count(*) FROM battle"));
    assert_eq!(report["votes"], home.count("SELECT count(*) FROM vote"));
    assert_eq!(numbers(&empty), numbers(&home));
    assert_eq!(phi(&empty), phi(&home));
    assert!(phi(&home).is_some());

    // Beside the dataset.
    let beside = Sandbox::new();
    beside.write("in.jsonl", dataset([60, 60, 60]));
    beside.write("votes.jsonl", &votes);
    beside.done("import in.jsonl");
    beside.done("import votes votes.jsonl");
    assert_eq!(numbers(&beside), numbers(&home));
    assert_eq!(phi(&beside), phi(&home));

    // Again, there and at home.
    for sandbox in [&empty, &home] {
        sandbox.write("votes.jsonl", &votes);
        let report = sandbox.json("import votes votes.jsonl --json")[0].clone();
        assert_eq!(
            (&report["votes"], &report["battles"]),
            (&0.into(), &0.into())
        );
        assert_eq!(report["queries_keeping_their_judges"], 0);
        assert_eq!(exported(sandbox).lines().count(), votes.lines().count());
    }
}

#[test]
fn failed_calls_and_battles_of_some_judges_come_back_as_what_they_are() {
    let home = Sandbox::new();
    home.write("in.jsonl", dataset([14, 14]));
    home.done("annotate in.jsonl out.jsonl --sampler swiss --judging rotate --battles 4");
    let mut rows: Vec<Value> = exported(&home)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let asked = |row: &Value| row["asked"].as_array().unwrap().len();
    assert!(rows.iter().all(|row| asked(row) < 3));
    rows[1]["margin"] = Value::Null;
    rows[1]["failure"] = "timed-out".into();
    rows[1]["message"] = "no answer".into();
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();

    let other = Sandbox::new();
    other.write("votes.jsonl", &lines);
    let report = other.json("import votes votes.jsonl --json")[0].clone();
    assert_eq!(report["failures"], 1);
    assert_eq!(report["votes"], rows.len() - 1);
    let (table, _) = same_in_all(&other, "votes");
    assert!(table.iter().any(|row| row["message"] == "no answer"));
    let mut again: Vec<Value> = exported(&other)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for row in rows.iter_mut().chain(&mut again) {
        let asked = row["asked"].as_array_mut().unwrap();
        asked.sort_by_key(Value::to_string);
    }
    let place =
        |row: &Value| ["query", "a", "b", "game", "judge"].map(|name| row[name].to_string());
    rows.sort_by_key(place);
    again.sort_by_key(place);
    for (row, before) in again.iter().zip(&rows) {
        for name in [
            "a", "b", "game", "judge", "margin", "failure", "message", "swapped", "asked",
        ] {
            assert_eq!(row[name], before[name], "{name} of {before}");
        }
    }
    other.done("import votes votes.jsonl");
    assert_eq!(other.count("SELECT count(*) FROM failure"), 1);

    // At home the call has a vote: what failed elsewhere changes nothing there.
    let before = exported(&home);
    home.write("votes.jsonl", &lines);
    let report = home.json("import votes votes.jsonl --json")[0].clone();
    assert_eq!(
        (&report["battles"], &report["failures"]),
        (&0.into(), &0.into())
    );
    assert_eq!(exported(&home), before);
}
