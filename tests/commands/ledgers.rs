//! What queues showed and samplers wanted, through a merge.

use super::merging::{merge, rows, two};
use overrule::domain::priority::{DrawReason, Policy};
use overrule::domain::verdict::Decision;
use overrule::store::assignments::NewAssignment;
use overrule::store::verdicts::NewVerdict;
use rusqlite::Connection;
use serde_json::{Value, json};

#[test]
fn what_a_queue_showed_and_whom_a_sampler_wanted_come_along() {
    let (ada, eve) = two();
    let store = overrule::store::Store::open_existing(&eve.project()).unwrap();
    let item = NewAssignment {
        policy: Policy::Value,
        draw: DrawReason::Control { of: 8 },
    };
    let given = NewVerdict {
        blind: true,
        created_ms: 1_000,
        item: Some(item),
        ..NewVerdict::default()
    };
    let added = store.write_blocking(move |db| {
        let query = db.find_query("q0")?;
        let open = NewVerdict::open(query, 4, 6, Decision::A, "eve");
        db.add_verdict(&NewVerdict {
            query,
            a: open.a,
            b: open.b,
            decision: open.decision,
            annotator: open.annotator.clone(),
            ..given
        })?;
        // What she says with the judges in sight stands for what she said blind. Her clock went back meanwhile.
        db.add_verdict(&NewVerdict {
            decision: Decision::Tie,
            after_reveal: true,
            created_ms: 500,
            ..open
        })
    });
    added.unwrap();
    drop(store);
    Connection::open(eve.project())
        .unwrap()
        .execute_batch("INSERT INTO task SELECT max(battle), min(judge), 1 FROM vote")
        .unwrap();
    let merged = merge(&ada, &eve, &[]);
    assert_eq!(merged["verdicts"], 2);
    let united = rows(&ada.project());
    assert_eq!(merge(&ada, &eve, &[])["verdicts"], 0);
    assert_eq!(rows(&ada.project()), united);
    let told = "SELECT count(*) FROM verdict JOIN shown ON shown.uid = verdict.shown WHERE role = 'control'";
    assert_eq!(ada.count(told), eve.count(told));
    assert_eq!(ada.count(told), 2);
    assert_eq!(ada.count("SELECT count(*) FROM task"), 1);
    let said = ada.done(&["export", "verdicts", "--format", "jsonl"]);
    let said: Value = serde_json::from_str(said.text().trim()).unwrap();
    assert_eq!(
        (&said["verdict"], &said["in_force"], &said["inclusion"]),
        (&json!("tie"), &json!(true), &json!(0.125))
    );
}
