//! Copies of one project that are synchronized through PostgreSQL. As for workers,
//! `OVERRULE_TEST_POSTGRES` names a database that the tests may change.

use crate::desk::{CALLS, Desk, json_of, told};
use rusqlite::Connection;
use serde_json::Value;

/// A shared project that no other test has.
struct Team {
    desk: Desk,
    url: String,
    name: String,
}

impl Team {
    fn new(more: &str) -> Option<Self> {
        let url = std::env::var("OVERRULE_TEST_POSTGRES").ok()?;
        let desk = Desk::new(more);
        let prepared = desk.run(&["remote", "init", &url]);
        assert!(prepared.status.success(), "{}", told(&prepared));
        let name = uuid::Uuid::now_v7().to_string();
        Some(Self { desk, url, name })
    }

    /// Lets a file take part.
    fn add(&self, project: &str) {
        let options = ["remote", "add", &self.url, "--name", &self.name];
        self.run(project, &options);
    }

    fn run(&self, project: &str, arguments: &[&str]) -> String {
        let options = ["--project", project, "--annotator", project];
        let output = self.desk.run(&[&options[..], arguments].concat());
        assert!(output.status.success(), "{}", told(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn sync(&self, project: &str) -> Value {
        let options = ["--project", project, "--annotator", project];
        let output = self.desk.run(&[&options[..], &["sync", "--json"]].concat());
        assert!(output.status.success(), "{}", told(&output));
        json_of(&output)
    }

    fn annotate(&self, project: &str) {
        let options = ["annotate", "in.jsonl", "out.jsonl", "--probe", "0", "--yes"];
        self.run(project, &options);
    }

    /// Gives a verdict on one pair.
    fn judge(&self, project: &str, verdict: &str) {
        self.judge_other(project, "d1", verdict);
    }

    /// Gives a verdict on `d0` and another document.
    fn judge_other(&self, project: &str, other: &str, verdict: &str) {
        let pair = ["override", "--query", "q", "--a", "d0", "--b", other];
        self.run(project, &[&pair[..], &["--verdict", verdict]].concat());
    }

    fn rows(&self, project: &str, sql: &str) -> Vec<String> {
        let project = Connection::open(self.desk.path(project)).unwrap();
        let mut statement = project.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// Checks that these rows are the same in both projects, and returns how many there are.
    #[track_caller]
    fn same(&self, sql: &str) -> usize {
        let (one, other) = (self.rows("a.db", sql), self.rows("b.db", sql));
        assert_eq!(one, other);
        one.len()
    }

    fn number(&self, project: &str, sql: &str) -> i64 {
        let project = Connection::open(self.desk.path(project)).unwrap();
        project.query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

const VOTES: &str = "SELECT json_array(battle.a, battle.b, game, judge.name, swapped, margin,
        vote.created_ms, cost_usd)
    FROM vote JOIN battle ON battle.id = battle JOIN judge ON judge.id = judge
    ORDER BY 1";
const VERDICTS: &str = "SELECT json_array(uid, a, b, decision, annotator, replaces,
        EXISTS (SELECT 1 FROM undo WHERE verdict = verdict.uid))
    FROM verdict ORDER BY 1";
const WAITING: &str = "SELECT count(*) FROM unsynced";

#[test]
fn two_people_end_with_the_same_project() {
    let Some(team) = Team::new("") else { return };
    team.annotate("a.db");
    team.add("a.db");
    team.sync("a.db");
    team.add("b.db");
    let received = team.sync("b.db");
    assert_eq!(received["received"]["votes"], CALLS);
    assert_eq!(team.same(VOTES), CALLS);

    // Both judge the same pair, and one takes it back, before they meet again.
    team.judge("a.db", "a");
    team.judge("b.db", "b");
    team.run("b.db", &["undo"]);
    for project in ["a.db", "b.db", "a.db"] {
        team.sync(project);
    }
    assert_eq!(team.same(VERDICTS), 2);
    assert_eq!(team.same("SELECT uid FROM undo ORDER BY uid"), 1);

    // Nothing is sent or received twice.
    for project in ["a.db", "b.db"] {
        let quiet = team.sync(project);
        assert_eq!(quiet["sent"]["judgments"], 0, "{quiet}");
        assert_eq!(quiet["sent"]["queries"], 0, "{quiet}");
        assert_eq!(quiet["sent"]["parts"], 0, "{quiet}");
        assert_eq!(quiet["received"]["verdicts"], 0, "{quiet}");
        assert_eq!(team.number(project, WAITING), 0);
    }
    let people = team.sync("a.db")["people"].clone();
    assert_eq!(people.as_array().unwrap().len(), 2);
}

#[test]
fn the_latest_change_of_a_setting_counts_in_every_copy() {
    let Some(team) = Team::new("") else { return };
    team.annotate("a.db");
    for project in ["a.db", "b.db"] {
        team.add(project);
        team.sync(project);
    }
    std::fs::write(team.desk.path("one.md"), "Judge by the text.\n").unwrap();
    std::fs::write(team.desk.path("two.md"), "Judge by the title.\n").unwrap();
    let set = |project: &str, options: &[&str]| {
        team.run(project, &[&["config", "project"], options].concat());
    };
    set("a.db", &["--guideline", "one.md", "--final", "majority"]);
    set("b.db", &["--lambda", "0.2"]);
    set("b.db", &["--guideline", "two.md"]);
    for project in ["a.db", "b.db", "a.db"] {
        team.sync(project);
    }
    let settings = "SELECT name || value FROM setting
        WHERE name IN ('final', 'guideline', 'rating') ORDER BY name";
    assert_eq!(team.same(settings), 3);
    let all = team.rows("a.db", settings).concat();
    for part in ["majority", "by the title", "0.2"] {
        assert!(all.contains(part), "{all}");
    }
    assert_eq!(team.sync("b.db")["received"]["settings"], 0);
}

#[test]
fn of_two_answers_to_a_question_the_first_one_on_the_server_counts() {
    let Some(team) = Team::new("price = { input = 1000.0, output = 1000.0 }\n") else {
        return;
    };
    for model in ["gpt-6.1-terra", "claude-sonnet-5-5", "gemini-3.8-flash"] {
        team.desk.server.set_price(model, 1000.0, 1000.0);
    }
    team.annotate("a.db");
    let billed = team.desk.server.billed_usd();
    team.annotate("b.db");
    let all = team.desk.server.billed_usd();
    assert!(billed > 0.0 && all > billed);
    // The same question got another answer.
    let b = Connection::open(team.desk.path("b.db")).unwrap();
    b.execute("UPDATE vote SET margin = 0.125", []).unwrap();
    drop(b);
    for project in ["a.db", "b.db"] {
        team.add(project);
    }
    team.sync("a.db");
    let merged = team.sync("b.db");
    assert_eq!(merged["received"]["votes_set_aside"], CALLS);
    team.sync("a.db");
    assert_eq!(team.same(VOTES), CALLS);
    assert_eq!(
        team.number("a.db", "SELECT count(*) FROM vote WHERE margin = 0.125"),
        0
    );
    let duplicates = "SELECT json_array(battle.a, battle.b, judge.name, margin, reasoning)
        FROM duplicate_vote JOIN battle ON battle.id = battle JOIN judge ON judge.id = judge
        ORDER BY 1";
    assert_eq!(team.same(duplicates), CALLS);
    // Both know the whole bill.
    for project in ["a.db", "b.db"] {
        let status = team.run(project, &["status", "--json"]);
        let status: Value = serde_json::from_str(&status).unwrap();
        let spent = status["spent_usd"].as_f64().unwrap_or_default();
        assert!((spent - all).abs() < 1e-6, "{project}: {spent} of {all}");
    }
}

#[test]
fn a_copied_file_is_another_copy() {
    let Some(team) = Team::new("") else { return };
    team.annotate("a.db");
    team.add("a.db");
    team.sync("a.db");
    std::fs::copy(team.desk.path("a.db"), team.desk.path("b.db")).unwrap();
    team.judge("a.db", "a");
    team.sync("a.db");
    // The servers of a user's projects are not in the project.
    let unknown = team.desk.run(&["--project", "b.db", "sync"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", told(&unknown));
    team.add("b.db");
    team.sync("b.db");
    assert_eq!(team.same(VERDICTS), 1);
}

#[test]
fn without_the_server_changes_wait_in_the_project() {
    let Some(team) = Team::new("") else { return };
    team.annotate("a.db");
    team.add("a.db");
    team.sync("a.db");
    let known = team.desk.path(".local/share/overrule/servers.json");
    let servers = std::fs::read_to_string(&known).unwrap();
    std::fs::write(
        &known,
        servers.replace(&team.url, "postgres://ada@127.0.0.1:1/x"),
    )
    .unwrap();
    team.judge("a.db", "a");
    let away = team.desk.run(&["--project", "a.db", "sync"]);
    assert_eq!(away.status.code(), Some(1), "{}", told(&away));
    assert_eq!(team.number("a.db", WAITING), 1);
    std::fs::write(&known, servers).unwrap();
    assert_eq!(team.sync("a.db")["sent"]["judgments"], 1);
}

#[test]
fn a_name_that_postgresql_cannot_store_is_told_and_holds_up_nothing() {
    const NUL: &str = r#"{"query":{"id":"n\u0000l","query":"x"},"documents":[{"id":"d0","content":"a"},{"id":"d1","content":"b"}]}"#;
    let Some(team) = Team::new("") else { return };
    team.annotate("a.db");
    std::fs::write(team.desk.path("nul.jsonl"), NUL).unwrap();
    team.run("a.db", &["import", "nul.jsonl"]);
    team.judge("a.db", "a");
    team.add("a.db");
    let output = team.desk.run(&["--project", "a.db", "sync", "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    let synced = json_of(&output);
    let [problem] = &synced["problems"].as_array().unwrap()[..] else {
        panic!("{synced}");
    };
    let problem = problem.as_str().unwrap();
    assert!(problem.contains("a NUL character"), "{problem}");
    assert!(problem.contains("another name in the dataset"), "{problem}");
    team.add("b.db");
    team.sync("b.db");
    assert_eq!(team.number("b.db", "SELECT count(*) FROM query"), 1);
    assert_eq!(team.number("b.db", "SELECT count(*) FROM verdict"), 1);

    let job = ["annotate", "nul.jsonl", "--yes", "--remote", &team.url];
    let refused = team.desk.run(&[&job[..], &["--job", &team.name]].concat());
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    assert!(
        told(&refused).contains("a NUL character"),
        "{}",
        told(&refused)
    );
}

#[test]
fn a_damaged_judgment_is_left_out_alone() {
    let Some(team) = Team::new("") else { return };
    team.annotate("a.db");
    for project in ["a.db", "b.db"] {
        team.add(project);
        team.sync(project);
    }
    for (other, verdict) in [("d1", "a"), ("d2", "b"), ("d3", "tie")] {
        team.judge_other("a.db", other, verdict);
    }
    team.sync("a.db");
    crate::remote::interfere(
        &team.url,
        &format!(
            "UPDATE overrule.judgment SET body = 'x' WHERE uid = (
                 SELECT max(judgment.uid) FROM overrule.judgment
                 JOIN overrule.project ON project.id = judgment.project WHERE name = '{}')",
            team.name
        ),
    );
    let options = ["--project", "b.db", "--annotator", "b", "sync", "--json"];
    let output = team.desk.run(&options);
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    let synced = json_of(&output);
    assert_eq!(synced["problems"].as_array().unwrap().len(), 1, "{synced}");
    assert_eq!(team.number("b.db", "SELECT count(*) FROM verdict"), 2);
    // The rest can still be sent.
    team.judge_other("b.db", "d4", "a");
    // It is reported once.
    team.sync("b.db");
    team.sync("a.db");
    assert_eq!(team.number("a.db", "SELECT count(*) FROM verdict"), 4);
}

#[test]
fn a_server_without_memory_gets_everything_again() {
    let Some(team) = Team::new("") else { return };
    team.annotate("a.db");
    team.add("a.db");
    team.judge("a.db", "a");
    team.sync("a.db");
    // As after a restore into another server, whose transactions have lower numbers.
    let a = Connection::open(team.desk.path("a.db")).unwrap();
    a.execute("UPDATE sync SET reached = '9000000000'", [])
        .unwrap();
    drop(a);
    let lost = format!(
        "DELETE FROM overrule.NAME USING overrule.project
         WHERE project.id = NAME.project AND project.name = '{}'",
        team.name
    );
    for table in ["state", "judgment"] {
        crate::remote::interfere(&team.url, &lost.replace("NAME", table));
    }
    let again = team.sync("a.db");
    assert_eq!(again["sent"]["judgments"], 1);
    team.add("b.db");
    team.sync("b.db");
    assert_eq!(team.same(VOTES), CALLS);
    assert_eq!(team.same(VERDICTS), 1);
}

#[test]
fn an_answer_that_both_have_imported_is_one_answer() {
    let Some(team) = Team::new("") else { return };
    team.annotate("a.db");
    let a = Connection::open(team.desk.path("a.db")).unwrap();
    a.execute("UPDATE vote SET run = NULL, latency_ms = NULL", [])
        .unwrap();
    drop(a);
    std::fs::copy(team.desk.path("a.db"), team.desk.path("b.db")).unwrap();
    let b = Connection::open(team.desk.path("b.db")).unwrap();
    b.execute("UPDATE vote SET created_ms = created_ms + 5", [])
        .unwrap();
    drop(b);
    for project in ["a.db", "b.db"] {
        team.add(project);
        assert_eq!(team.sync(project)["received"]["votes_set_aside"], 0);
    }
    for sql in [
        "SELECT count(*) FROM duplicate_vote",
        "SELECT count(*) FROM call",
    ] {
        assert_eq!(team.number("b.db", sql), 0, "{sql}");
    }
}
