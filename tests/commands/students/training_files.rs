//! `student export`: what training programs read.

use super::{judged, lines};
use crate::support::parquet::{is_near, parquet_rows};
use serde_json::Value;

#[test]
fn training_files_have_the_same_keys_and_types_on_every_line() {
    let sandbox = judged();
    sandbox.done("student sample --pairs 12 --train 8 --out sample.jsonl");
    for (form, count, names) in [
        ("sft", 8, vec!["prompt", "completion"]),
        ("dpo", 8, vec!["prompt", "chosen", "rejected", "margin"]),
        ("pairwise", 8, vec!["query", "text_a", "text_b", "weight"]),
        (
            "pointwise",
            32,
            vec![
                "query",
                "document_id",
                "text",
                "target",
                "target_is",
                "zelo",
                "se",
            ],
        ),
    ] {
        let written = sandbox.done(&format!(
            "student export --form {form} --sample sample.jsonl --side train"
        ));
        let rows = lines(written.text());
        assert_eq!(rows.len(), count, "{form}");
        let kinds = |row: &Value| -> Vec<(String, u8)> {
            let members = row.as_object().unwrap().iter();
            let kind = |value: &Value| match value {
                Value::Null => 0,
                Value::Bool(_) => 1,
                Value::Number(number) => 2 + u8::from(number.is_f64()),
                Value::String(_) => 4,
                Value::Array(_) => 5,
                Value::Object(_) => 6,
            };
            members
                .map(|(name, value)| (name.clone(), kind(value)))
                .collect()
        };
        for row in &rows {
            assert_eq!(kinds(row), kinds(&rows[0]), "{form}");
            for name in &names {
                assert!(!row[*name].is_null(), "{form}: {name}");
            }
            if form == "pointwise" {
                continue;
            }
            let number = |name: &str| row[name].as_f64().unwrap();
            let (target, tie) = (number("target"), number("p_tie"));
            assert!((number("p_b") + tie / 2.0 - target).abs() < 1e-12);
            assert!((tie - (1.0 - 2.0 * (target - 0.5).abs())).abs() < 1e-12);
            if form == "pairwise" {
                // What a margin between the scores of the two texts is trained on: positive where A
                // is better.
                let over = number("p_a") - number("p_b");
                assert!((number("a_over_b") - over).abs() < 1e-12);
            }
            if form == "sft" {
                assert_eq!(row["prompt"][0]["role"], "system");
                assert_eq!(row["prompt"][1]["role"], "user");
                let letter = row["completion"][0]["content"].as_str().unwrap();
                let p = [("A", "p_a"), ("B", "p_b"), ("T", "p_tie")];
                let said = p.iter().find(|(of, _)| *of == letter).unwrap().1;
                assert!(p.iter().all(|(_, name)| number(name) <= number(said)));
            }
        }
    }
    // Both documents are A now and then.
    let all = lines(sandbox.done("student export --form pairwise").text());
    let first = |row: &&Value| row["a_id"].as_str() < row["b_id"].as_str();
    let share = all.iter().filter(first).count() as f64 / all.len() as f64;
    assert!((0.3..0.7).contains(&share), "{share}");
}

#[test]
fn verdicts_count_in_targets_and_held_out_queries_stay_out() {
    let sandbox = judged();
    let before = lines(sandbox.done("student export --form pairwise").text());
    let decided = |row: &&Value| row["query_id"] == "q2" && row["target"] == 1.0;
    let row = before.iter().find(decided).unwrap();
    let (a, b) = (row["a_id"].as_str().unwrap(), row["b_id"].as_str().unwrap());
    sandbox.done(&format!("override --query q2 --a {a} --b {b} --verdict a"));
    let after = lines(sandbox.done("student export --form pairwise").text());
    let same = |other: &&Value| other["a_id"] == a && other["b_id"] == b;
    let overruled = after.iter().find(same).unwrap();
    assert!(overruled["target"].as_f64().unwrap() < 0.5, "{overruled}");
    assert_eq!(after.len(), before.len());
    sandbox.write("test.qrels", "q1 0 q1-d0 1\nq1 0 q1-d1 0\n");
    sandbox.write("test.txt", "q1\n");
    for test in ["test.qrels", "test.txt"] {
        let held = sandbox.done(&format!(
            "student export --form pairwise --test-queries {test}"
        ));
        held.says("skipped 1 query (also test data): q1");
        assert!(lines(held.text()).iter().all(|row| row["query_id"] != "q1"));
    }
    sandbox.write("other.txt", "x1\nx2\n");
    sandbox
        .done("student export --form pairwise --test-queries other.txt")
        .says("other.txt: none of its 2 queries is in the project");
    sandbox.write("bad.txt", "q1\nq2 0 d 1\n");
    sandbox.refused(
        "student export --form pairwise --test-queries bad.txt",
        2,
        &["bad.txt:2: expected the identifier of a query"],
    );
    sandbox.done("import test.qrels");
    sandbox.done("student export --form pairwise").says(
        "1 query with labels of people in these files; a student trained on the files must not be measured on them: q1",
    );
    sandbox.write("gold.csv", "query,a,b,decision\nq3,q3-d0,q3-d1,a\n");
    sandbox.done("gold import gold.csv");
    sandbox
        .done("student export --form pairwise")
        .says("1 query with pairs whose answer is known (gold)");
    // Both sides of a sample in one file.
    sandbox.done("student sample --pairs 12 --train 8 --out sample.jsonl");
    let both = sandbox.done("student export --form pairwise --sample sample.jsonl");
    both.says("2 queries of the sample's test side");
    let train = "student export --form pairwise --sample sample.jsonl --side train";
    assert!(!sandbox.done(train).stderr.contains("test side"));
}

#[test]
fn parquet_files_hold_what_the_lines_hold_in_the_published_layout() {
    let sandbox = judged();
    let list = |name: &str| {
        let part = |part| format!("\"{name}\".\"list\".\"element\".\"{part}\" BYTE_ARRAY");
        [part("role"), part("content")]
    };
    let texts = |names: &[&str]| {
        names
            .iter()
            .map(|name| format!("\"{name}\" BYTE_ARRAY"))
            .collect()
    };
    let numbers = |names: &[&str]| {
        names
            .iter()
            .map(|name| format!("\"{name}\" DOUBLE"))
            .collect()
    };
    let ids: Vec<String> = texts(&["query_id", "a_id", "b_id"]);
    let targets: Vec<String> = numbers(&["p_a", "p_b", "p_tie", "target", "weight"]);
    let own: [(&str, Vec<String>); 3] = [
        // TRL's prompt-completion and preference layouts, as conversations.
        ("sft", [list("prompt"), list("completion")].concat()),
        (
            "dpo",
            [
                [list("prompt"), list("chosen"), list("rejected")].concat(),
                numbers(&["margin"]),
            ]
            .concat(),
        ),
        // Texts first, then a number, as sentence-transformers takes them.
        (
            "pairwise",
            [
                texts(&["query", "text_a", "text_b"]),
                numbers(&["a_over_b"]),
            ]
            .concat(),
        ),
    ];
    let mut layouts: Vec<(&str, Vec<String>)> = own
        .into_iter()
        .map(|(form, own)| (form, [ids.clone(), own, targets.clone()].concat()))
        .collect();
    let pointwise: Vec<String> = texts(&["query_id", "document_id", "query", "text"]);
    let score = [
        numbers(&["target", "target_se"]),
        texts(&["target_is"]),
        numbers(&["expected_grade", "zelo", "se"]),
    ];
    layouts.push(("pointwise", [pointwise, score.concat()].concat()));
    for (form, expected) in layouts {
        sandbox.done(&format!(
            "student export --form {form} --out {form}.parquet"
        ));
        let rows = lines(
            sandbox
                .done(&format!("student export --form {form}"))
                .text(),
        );
        let (found, columns) = parquet_rows(&sandbox.path(&format!("{form}.parquet")));
        // A column's path is printed with quotation marks around its parts.
        let plain = |columns: &[String]| columns.join("\n").replace('"', "");
        assert_eq!(plain(&columns), plain(&expected), "{form}");
        assert!(!rows.is_empty());
        assert_eq!(found.len(), rows.len(), "{form}");
        let same = |(found, row): (&Value, &Value)| is_near(found, row);
        assert!(found.iter().zip(&rows).all(same), "{form}");
    }
    sandbox.refused(
        "student export --form sft --format parquet",
        2,
        &["Parquet is binary: expected a file, with --out FILE"],
    );
    sandbox.refused(
        "student export --form sft --format parquet --out x.parquet.gz",
        2,
        &["x.parquet.gz", "without .gz"],
    );
}
