//! Roles of people who share a project, against people who send their own SQL.
//! `OVERRULE_TEST_POSTGRES` names a database whose server lets the tests create users.

use crate::desk::{CALLS, Desk, json_of, told};
use serde_json::Value;
use std::process::Output;
use tokio_postgres::{Client, NoTls};

/// A shared project with two annotators, each with a login.
struct Office {
    desk: Desk,
    url: String,
    name: String,
    ann: String,
    bob: String,
}

impl Office {
    fn new() -> Option<Self> {
        let url = std::env::var("OVERRULE_TEST_POSTGRES").ok()?;
        let desk = Desk::new("");
        let prepared = desk.run(&["remote", "init", "--roles", &url]);
        assert!(prepared.status.success(), "{}", told(&prepared));
        let name = uuid::Uuid::now_v7().simple().to_string();
        let office = Self {
            desk,
            ann: format!("ann_{name}"),
            bob: format!("bob_{name}"),
            name,
            url,
        };
        for (person, role) in [
            (&office.ann, "overrule_annotator"),
            (&office.bob, "overrule_annotator"),
            (&format!("wes_{}", office.name), "overrule_worker"),
            (&format!("cat_{}", office.name), "overrule_curator"),
        ] {
            office.sql(None, &format!("CREATE ROLE {person} LOGIN IN ROLE {role}"));
        }
        Some(office)
    }

    /// The address of the server for a login.
    fn url_of(&self, login: &str) -> String {
        let (before, user) = self.url.split_once("user=").unwrap();
        let after = user.split_once('&').map_or("", |(_, after)| after);
        format!("{before}user={login}&{after}")
            .trim_end_matches('&')
            .to_owned()
    }

    /// Runs SQL as a login, and returns the first column of the rows, or the error.
    fn try_sql(&self, login: Option<&str>, sql: &str) -> Result<Vec<String>, String> {
        let url = login.map_or(self.url.clone(), |login| self.url_of(login));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let config: tokio_postgres::Config = url.parse().unwrap();
            let (client, connection): (Client, _) = config.connect(NoTls).await.unwrap();
            let connection = tokio::spawn(connection);
            let rows = client.simple_query(sql).await;
            drop(client);
            connection.await.unwrap().unwrap();
            let rows = rows.map_err(|error| {
                error
                    .as_db_error()
                    .map_or(error.to_string(), |found| found.message().to_owned())
            })?;
            let rows = rows.into_iter().filter_map(|row| match row {
                tokio_postgres::SimpleQueryMessage::Row(row) => {
                    Some(row.get(0).unwrap_or_default().to_owned())
                }
                _ => None,
            });
            Ok(rows.collect())
        })
    }

    #[track_caller]
    fn sql(&self, login: Option<&str>, sql: &str) -> Vec<String> {
        self.try_sql(login, sql).unwrap()
    }

    /// Checks that a login may not run this SQL.
    #[track_caller]
    fn refuses(&self, login: &str, sql: &str) {
        let refused = self.try_sql(Some(login), sql);
        let refused = refused.expect_err(sql);
        assert!(
            refused.contains("permission denied") || refused.contains("row-level security"),
            "{sql}: {refused}"
        );
    }

    /// Runs a command on the project of a person, and expects that it succeeds.
    #[track_caller]
    fn run(&self, person: &str, arguments: &[&str]) -> String {
        let output = self.output(person, arguments);
        assert!(output.status.success(), "{}", told(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn output(&self, person: &str, arguments: &[&str]) -> Output {
        self.output_as(person, person, arguments)
    }

    /// Runs a command on the project of one person under another name.
    fn output_as(&self, project: &str, person: &str, arguments: &[&str]) -> Output {
        let project = format!("{project}.db");
        let options = ["--project", &project, "--annotator", person];
        self.desk.run(&[&options[..], arguments].concat())
    }

    /// Lets a person take part with a login.
    fn add(&self, person: &str, login: Option<&str>) {
        let url = login.map_or(self.url.clone(), |login| self.url_of(login));
        self.run(person, &["remote", "add", &url, "--name", &self.name]);
    }

    fn sync(&self, person: &str) -> Value {
        let output = self.output(person, &["sync", "--json"]);
        assert!(output.status.success(), "{}", told(&output));
        json_of(&output)
    }

    fn judge(&self, person: &str, other: &str, verdict: &str) {
        let pair = ["override", "--query", "q", "--a", "d0", "--b", other];
        self.run(person, &[&pair[..], &["--verdict", verdict]].concat());
    }

    /// The verdicts in the project of a person.
    fn verdicts(&self, person: &str) -> Vec<(String, String)> {
        let path = self.desk.path(&format!("{person}.db"));
        let project = rusqlite::Connection::open(path).unwrap();
        let sql = "SELECT annotator, decision FROM verdict
            WHERE NOT EXISTS (SELECT 1 FROM undo WHERE verdict = verdict.uid) ORDER BY 1, 2";
        let mut statement = project.prepare(sql).unwrap();
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// A project with votes on the server, in which both annotators take part.
    fn open(&self) {
        self.run(
            "cat",
            &["annotate", "in.jsonl", "out.jsonl", "--probe", "0", "--yes"],
        );
        self.add("cat", None);
        self.sync("cat");
        for person in [&self.ann, &self.bob] {
            self.add(person, Some(person));
            self.sync(person);
        }
    }
}

#[test]
fn verdicts_of_others_come_after_the_own_one() {
    let Some(office) = Office::new() else { return };
    office.open();
    let (ann, bob) = (&office.ann, &office.bob);
    office.judge(ann, "d1", "a");
    office.judge(ann, "d2", "a");
    office.sync(ann);
    // Bob's copy has read everything that he may read so far, which is nothing.
    let quiet = office.sync(bob);
    assert_eq!(quiet["received"]["verdicts"], 0, "{quiet}");
    assert_eq!(office.verdicts(bob), []);

    office.judge(bob, "d1", "b");
    let synced = office.sync(bob);
    assert_eq!(synced["sent"]["judgments"], 1, "{synced}");
    assert_eq!(synced["received"]["verdicts"], 1, "{synced}");
    assert_eq!(office.verdicts(bob).len(), 2);

    // His other copy gets them too, and a curator gets all of them.
    let url = office.url_of(bob);
    let add = ["remote", "add", &url, "--name", &office.name];
    assert!(office.output_as("other", bob, &add).status.success());
    let received = office.output_as("other", bob, &["sync", "--json"]);
    assert_eq!(json_of(&received)["received"]["verdicts"], 2);
    let received = office.sync("cat");
    assert_eq!(received["received"]["verdicts"], 3, "{received}");
    assert_eq!(office.verdicts("cat").len(), 3);

    // Whoever becomes a curator reads the rest.
    office.sql(None, &format!("GRANT overrule_curator TO {bob}"));
    assert_eq!(office.sync(bob)["received"]["verdicts"], 1);
    assert_eq!(office.verdicts(bob), office.verdicts("cat"));
}

#[test]
fn what_an_annotator_may_not_send_stays_in_the_copy() {
    let Some(office) = Office::new() else { return };
    office.open();
    let ann = &office.ann;
    // Under another name than that of the login.
    let refused = office.output_as(ann, "someone", &["sync"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    assert!(
        told(&refused).contains("knows you as"),
        "{}",
        told(&refused)
    );

    // Another person judges in the same copy.
    let pair = [
        "override",
        "--query",
        "q",
        "--a",
        "d0",
        "--b",
        "d1",
        "--verdict",
        "a",
    ];
    assert!(office.output_as(ann, "someone", &pair).status.success());
    office.judge(ann, "d2", "b");
    let synced = office.sync(ann);
    assert_eq!(synced["sent"]["judgments"], 1, "{synced}");
    assert_eq!(synced["sent"]["queries"], 0, "{synced}");
    assert_eq!(synced["waiting"], 0, "{synced}");
    assert!(synced["kept_here"].as_i64() >= Some(1), "{synced}");
    office.sync("cat");
    assert_eq!(office.verdicts("cat"), [(ann.clone(), "b".to_owned())]);
}

#[test]
fn an_annotator_cannot_write_as_others_or_read_what_is_blind() {
    let Some(office) = Office::new() else { return };
    office.open();
    let (ann, bob) = (&office.ann, &office.bob);
    office.judge(ann, "d1", "a");
    office.sync(ann);
    let new = |columns: &str, person: &str, kind: &str| {
        format!(
            "INSERT INTO overrule.judgment
                 (project, uid, kind, person, query, item, form, body, copy{columns})
             SELECT id, gen_random_uuid()::text, '{kind}', '{person}', 'q', '\\x00', 1, '\\x00',
                 gen_random_uuid(){} FROM overrule.project WHERE name = '{}'",
            if columns.is_empty() { "" } else { ", '9'" },
            office.name
        )
    };
    for sql in [
        new("", ann, "verdict"),
        new("", bob, "query"),
        new(", changed", bob, "verdict"),
        "UPDATE overrule.judgment SET person = person".to_owned(),
        "DELETE FROM overrule.judgment".to_owned(),
        "TRUNCATE overrule.judgment".to_owned(),
        "UPDATE overrule.state SET body = body".to_owned(),
        "INSERT INTO overrule.state (project, kind, subject, place, copy, body)
         SELECT id, 'query', 'q', 0, gen_random_uuid(), '' FROM overrule.project"
            .to_owned(),
        "DELETE FROM overrule.text".to_owned(),
        "INSERT INTO overrule.text SELECT id, '\\x00', '\\x00' FROM overrule.project".to_owned(),
        "UPDATE overrule.project SET name = 'mine'".to_owned(),
        "SELECT * FROM overrule.job".to_owned(),
        "SELECT * FROM overrule.piece".to_owned(),
        format!(
            "INSERT INTO overrule.copy (id, project, person)
             SELECT gen_random_uuid(), id, '{ann}' FROM overrule.project"
        ),
        "ALTER TABLE overrule.judgment DISABLE ROW LEVEL SECURITY".to_owned(),
        "CREATE TABLE overrule.mine (a int)".to_owned(),
        "SET ROLE overrule_curator".to_owned(),
        format!("SET SESSION AUTHORIZATION {ann}"),
    ] {
        let refused = office.try_sql(Some(bob), &sql).expect_err(&sql);
        assert!(
            ["permission denied", "row-level security", "must be owner"]
                .iter()
                .any(|words| refused.contains(words)),
            "{sql}: {refused}"
        );
    }
    let seen = format!("UPDATE overrule.copy SET waiting = 7 WHERE person = '{ann}' RETURNING id");
    assert_eq!(office.sql(Some(bob), &seen), [""; 0]);

    let of_project = format!(
        "(SELECT id FROM overrule.project WHERE name = '{}')",
        office.name
    );
    let readable = |items: &str| {
        format!(
            "SELECT uid FROM overrule.judgments({of_project}, {items}, '0', -1, 1000)
             WHERE person = '{ann}'"
        )
    };
    let of_ann = format!("SELECT uid FROM overrule.judgment WHERE person = '{ann}'");
    let uid = &office.sql(None, &of_ann)[0];
    let item = &office.sql(
        None,
        &format!("SELECT item FROM overrule.judgment WHERE person = '{ann}'"),
    )[0];

    // Neither the tables nor their plans, nor as another role.
    for sql in [
        of_ann.clone(),
        format!("EXPLAIN ANALYZE {of_ann}"),
        format!("SET ROLE overrule_annotator; {of_ann}"),
        "SELECT body FROM overrule.state".to_owned(),
        "COPY overrule.judgment TO STDOUT".to_owned(),
        "CREATE VIEW pg_temp.seen AS SELECT * FROM overrule.judgment; SELECT * FROM pg_temp.seen"
            .to_owned(),
        format!(
            "SET ROLE overrule_annotator; {}",
            new("", "overrule_annotator", "verdict")
        ),
        format!("UPDATE overrule.copy SET seen = 'infinity' WHERE person = '{bob}'"),
    ] {
        office.refuses(bob, &sql);
    }
    let stats = "SELECT most_common_vals::text FROM pg_stats WHERE tablename = 'judgment'";
    office.sql(None, "ANALYZE overrule.judgment");
    assert_eq!(office.sql(Some(bob), stats), [""; 0]);
    for items in ["NULL".to_owned(), format!("ARRAY['{item}'::bytea]")] {
        assert_eq!(office.sql(Some(bob), &readable(&items)), [""; 0]);
    }
    let duels = format!("SELECT kind FROM overrule.states({of_project}, '{{duels}}', '{{\"\"}}')");
    assert_eq!(office.sql(Some(bob), &duels), [""; 0]);

    // Not even after a verdict that is taken back.
    let own = new("", bob, "verdict").replace("'\\x00', 1,", &format!("'{item}', 1,"));
    assert!(own.contains(item.as_str()), "{own}");
    for undone in ["ROLLBACK", "ROLLBACK TO before; COMMIT"] {
        let peek = format!(
            "BEGIN; SAVEPOINT before; {own}; {}; {undone}",
            readable("NULL")
        );
        assert_eq!(office.sql(Some(bob), &peek), [""; 0]);
    }

    // The ID of a judgment can be used by its person only, and another's does not replace it.
    let theft = own.replace("gen_random_uuid()::text", &format!("'{uid}'"));
    office.sql(Some(bob), &theft);
    assert_eq!(office.sql(None, &of_ann).len(), 1);
    let received = office.output("cat", &["sync", "--json"]);
    assert_eq!(office.verdicts("cat"), [(ann.clone(), "a".to_owned())]);
    assert_eq!(json_of(&received)["problems"].as_array().unwrap().len(), 1);
    // It was reported, and stops nobody.
    office.sync("cat");

    // Leases are under the name of the login, and only its own ones end.
    let lease = |named: &str| {
        format!(
            "SELECT overrule.lease_item({of_project}, '{item}', 1, gen_random_uuid(), '{named}', 'q',
                 '{{}}', 'here')"
        )
    };
    assert_eq!(office.sql(Some(bob), &lease(ann)), ["t"]);
    assert_eq!(office.sql(Some(ann), &lease(bob)), ["f"]);
    let leases = format!("FROM overrule.lease WHERE item = '{item}' AND project = {of_project}");
    let holder = format!("SELECT person {leases}");
    assert_eq!(office.sql(Some(ann), &holder), [bob.as_str()]);
    office.sql(
        Some(ann),
        &format!("SELECT overrule.release_items({of_project}, copies[1], person, NULL) {leases}"),
    );
    assert_eq!(office.sql(Some(ann), &holder), [bob.as_str()]);
    office.refuses(ann, "DELETE FROM overrule.lease");

    // A curator may add what others have judged, but changes nothing of it.
    let cat = format!("cat_{}", office.name);
    assert_eq!(office.sql(Some(&cat), &of_ann).len(), 1);
    office.refuses(&cat, "DELETE FROM overrule.judgment");
    office.refuses(&cat, "UPDATE overrule.judgment SET body = ''");
}

#[test]
fn an_item_that_enough_people_have_judged_is_leased_to_no_further_annotator() {
    let Some(office) = Office::new() else { return };
    office.open();
    let (ann, bob) = (&office.ann, &office.bob);
    office.judge(ann, "d1", "a");
    office.sync(ann);
    let item = &office.sql(
        None,
        &format!("SELECT item FROM overrule.judgment WHERE person = '{ann}'"),
    )[0];
    let of_project = format!(
        "(SELECT id FROM overrule.project WHERE name = '{}')",
        office.name
    );
    let copy = uuid::Uuid::now_v7();
    let lease = |person: &str, slots: i32| {
        let lease = format!(
            "SELECT overrule.lease_item({of_project}, '{item}', {slots}, '{copy}', '{person}',
                 'q', '{{}}', 'here')"
        );
        let held = office.sql(Some(person), &lease)[0] == "t";
        let release =
            format!("SELECT overrule.release_items({of_project}, '{copy}', '{person}', NULL)");
        office.sql(Some(person), &release);
        held
    };
    // Nobody has it open, so that Bob learns no more than that it is taken.
    assert!(!lease(bob, 1));
    assert!(lease(bob, 2));
    // Whoever has judged it may look at it again, and a curator adjudicates.
    assert!(lease(ann, 1));
    assert!(lease(&format!("cat_{}", office.name), 1));
    office.run(ann, &["undo"]);
    office.sync(ann);
    assert!(lease(bob, 1));
    // Two copies have undone the same verdict, and another one follows.
    let add = |kind: &str| {
        let again = format!(
            "INSERT INTO overrule.judgment
                 (project, uid, kind, person, query, item, form, body, copy)
             SELECT project, uid || '-', kind, person, query, item, form, body, copy
             FROM overrule.judgment WHERE person = '{ann}' AND kind = '{kind}'
             ORDER BY length(uid) DESC LIMIT 1"
        );
        office.sql(None, &again);
    };
    add("undo");
    assert!(lease(bob, 1));
    add("verdict");
    assert!(!lease(bob, 1));
    // A copy sends two verdicts before it sends the undo of the first.
    for kind in ["undo", "verdict", "verdict", "undo"] {
        add(kind);
    }
    assert!(lease(bob, 1));
    for kind in ["verdict", "verdict", "undo"] {
        add(kind);
    }
    assert!(!lease(bob, 1));
    // Everyone is to judge it.
    assert!(lease(bob, i32::MAX));
}

#[test]
fn a_worker_only_leases_and_pushes() {
    let Some(office) = Office::new() else { return };
    let wes = format!("wes_{}", office.name);
    for table in ["project", "copy", "state", "text", "judgment"] {
        office.refuses(&wes, &format!("SELECT * FROM overrule.{table}"));
    }
    office.refuses(&wes, "UPDATE overrule.job SET budget = 1000000");
    office.refuses(&wes, "DELETE FROM overrule.unit");
    office.refuses(&wes, "DELETE FROM overrule.piece");

    // A curator starts the job. Then all of it is done again, by the worker.
    let run = |project: &str, login: &str| {
        let url = office.url_of(login);
        let shared = [
            "annotate", "in.jsonl", "--probe", "0", "--yes", "--remote", &url,
        ];
        office.output(project, &[&shared[..], &["--job", &office.name]].concat())
    };
    let refused = run("wes", &wes);
    assert!(
        told(&refused).contains("permission denied"),
        "{}",
        told(&refused)
    );
    let started = run("cat", &format!("cat_{}", office.name));
    assert!(started.status.success(), "{}", told(&started));
    let of_job = format!(
        "job = (SELECT id FROM overrule.job WHERE name = '{}')",
        office.name
    );
    office.sql(
        None,
        &format!(
            "DELETE FROM overrule.piece WHERE {of_job};
             UPDATE overrule.unit SET done = false, worker = NULL WHERE {of_job}"
        ),
    );
    let done = run("wes", &wes);
    assert!(done.status.success(), "{}", told(&done));
    let votes = format!("SELECT sum(votes) FROM overrule.piece WHERE {of_job}");
    assert_eq!(office.sql(None, &votes), [CALLS.to_string()]);
}

#[test]
fn a_worker_plans_rounds_that_a_curator_has_begun() {
    let Some(office) = Office::new() else { return };
    let run = |project: &str, login: String| {
        office.run(project, &["import", "in.jsonl"]);
        office.run(project, &["config", "project", "--lambda", "0.1"]);
        let url = office.url_of(&login);
        let adaptive = ["annotate", "in.jsonl", "--sampler", "swiss", "--yes"];
        let shared = ["--probe", "0", "--remote", &url, "--job", &office.name];
        office.run(project, &[&adaptive[..], &shared].concat());
    };
    run("cat", format!("cat_{}", office.name));
    let of_job = format!(
        "job = (SELECT id FROM overrule.job WHERE name = '{}')",
        office.name
    );
    let votes = format!("SELECT sum(votes) FROM overrule.piece WHERE {of_job}");
    let before = office.sql(None, &votes);
    office.sql(
        None,
        &format!(
            "DELETE FROM overrule.piece WHERE {of_job};
             DELETE FROM overrule.unit WHERE {of_job} AND (part IS NOT NULL OR round > 0);
             UPDATE overrule.unit SET done = false, worker = NULL WHERE {of_job}"
        ),
    );
    run("wes", format!("wes_{}", office.name));
    assert_eq!(office.sql(None, &votes), before);
}

#[test]
fn the_statements_can_be_run_by_hand() {
    let Some(office) = Office::new() else { return };
    let printed = office
        .desk
        .run(&["remote", "init", "--roles", "--dry-run", &office.url]);
    let printed = String::from_utf8(printed.stdout).unwrap();
    let (_, roles) = printed.split_once("COMMIT;\n").unwrap();
    office.sql(None, roles);
}
