//! What queues showed and samplers wanted, through a merge.

use super::merging::{merge, rows, two};
use rusqlite::Connection;
use serde_json::{Value, json};

#[test]
fn what_a_queue_showed_and_whom_a_sampler_wanted_come_along() {
    let (ada, eve) = two();
    // What she said blind, and what she says with the judges in sight; it stands for the former.
    Connection::open(eve.project())
        .unwrap()
        .execute_batch(
            "INSERT INTO shown (uid, annotator, query, a, b, policy, draw, drawn_of, shown_ms)
                 VALUES ('01a204a4-b015-70f8-bde5-33bc4ddc5bf2', 'eve', 1, 4, 6, 'value', 'control', 8, 1000);
             INSERT INTO verdict (uid, query, a, b, decision, annotator, blind, replaces, created_ms, policy, role, inclusion,
                     revealed_ms, shown)
                 VALUES ('01a204a4-b015-70f8-bde5-33bbdc00e8a7', 1, 4, 6, 'a', 'eve', 1, NULL, 1000, 'value', 'control',
                     0.125, NULL, '01a204a4-b015-70f8-bde5-33bc4ddc5bf2'),
                 ('01a204a4-b015-70f8-bde5-33bda54dcdf0', 1, 4, 6, 'tie', 'eve', 0, '01a204a4-b015-70f8-bde5-33bbdc00e8a7',
                     1001, 'value', 'control', 0.125, 1000, '01a204a4-b015-70f8-bde5-33bc4ddc5bf2');
             INSERT INTO task SELECT max(battle), min(judge), 1 FROM vote",
        )
        .unwrap();
    let merged = merge(&ada, &eve, "");
    assert_eq!(merged["verdicts"], 1);
    let united = rows(&ada.project());
    assert_eq!(merge(&ada, &eve, "")["verdicts"], 0);
    assert_eq!(rows(&ada.project()), united);
    let told = "SELECT count(*) FROM verdict JOIN shown ON shown.uid = verdict.shown WHERE role = 'control'";
    assert_eq!(ada.count(told), eve.count(told));
    assert_eq!(ada.count(told), 2);
    assert_eq!(ada.count("SELECT count(*) FROM task"), 1);
    let said = ada.done("export verdicts --format jsonl");
    let said: Value = serde_json::from_str(said.text().trim()).unwrap();
    assert_eq!(
        (&said["verdict"], &said["in_force"], &said["inclusion"]),
        (&json!("tie"), &json!(true), &json!(0.125))
    );
}
