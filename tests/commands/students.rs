//! `student`: samples, training files and reports, by the binary.

use crate::support::Sandbox;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A project of six judged queries whose documents are nobody else's.
fn judged() -> Sandbox {
    judged_in(4)
}

/// The same, judged in so many cycles: one leaves 20 of the 28 pairs of a query.
fn judged_in(cycles: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    let mut lines = String::new();
    for (at, line) in crate::support::dataset([8; 6]).lines().enumerate() {
        let mut pool: Value = serde_json::from_str(line).unwrap();
        for (place, document) in pool["documents"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .enumerate()
        {
            document["id"] = json!(format!("q{at}-d{place}"));
        }
        writeln!(lines, "{pool}").unwrap();
    }
    sandbox.write("in.jsonl", lines);
    sandbox.done(&format!(
        "annotate in.jsonl out.jsonl --cycles {cycles} --judges {JUDGES}"
    ));
    sandbox
}

const JUDGES: &str = "bm25,ngram,proximity";

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_sample_is_even_uses_no_document_twice_and_splits_by_query() {
    let sandbox = judged();
    let drawn = sandbox.done("student sample --pairs 12 --train 8 --seed 3");
    drawn.says("12 pairs: 4 queries to learn from, 2 queries to test on; 2 pairs a query");
    let pairs = lines(drawn.text());
    let mut documents = BTreeSet::new();
    let mut sides: [BTreeSet<&str>; 2] = Default::default();
    for pair in &pairs {
        for name in ["a", "b"] {
            assert!(documents.insert(pair[name].as_str().unwrap()), "{pair}");
        }
        let side = usize::from(pair["side"] == "test");
        sides[side].insert(pair["query"].as_str().unwrap());
    }
    assert!(sides[0].is_disjoint(&sides[1]));
    assert_eq!((sides[0].len(), sides[1].len()), (4, 2));
    let again = sandbox.done("student sample --pairs 12 --train 8 --seed 3");
    assert_eq!(again.text(), drawn.text());
    sandbox.refused(
        "student sample --pairs 25 --train 20",
        2,
        &["25 pairs cannot be had", "the greatest number is 24"],
    );
    sandbox.refused(
        "student sample --pairs 18446744073709551615",
        2,
        &["the greatest number is 24"],
    );
    sandbox.refused(
        "student sample --pairs 2 --train 3",
        2,
        &["3 to learn from are more than 2 in all"],
    );
}

/// Query and documents of lines.
fn names(lines: &[Value], a: &str, b: &str) -> BTreeSet<(String, BTreeSet<String>)> {
    let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    let query = |line: &Value| {
        text(
            line,
            if line.get("query_id").is_some() {
                "query_id"
            } else {
                "query"
            },
        )
    };
    let name = |line: &Value| (query(line), BTreeSet::from([text(line, a), text(line, b)]));
    lines.iter().map(name).collect()
}

#[test]
fn planned_pairs_are_new_and_a_run_judges_them_and_nothing_else() {
    let sandbox = judged_in(1);
    let votes = || sandbox.count("SELECT count(*) FROM vote");
    let battles = || sandbox.count("SELECT count(*) FROM battle");
    let fought = lines(sandbox.done("student export --form pairwise").text());
    let (before, had) = (battles(), votes());
    let plan = format!("student sample --pairs 12 --train 8 --plan --judges {JUDGES}");
    let dry = sandbox.json(&format!("{plan} --dry-run --json"));
    assert_eq!((&dry["battles"], &dry["queries"]), (&json!(12), &json!(6)));
    let calls: u64 = dry["judges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|judge| judge["calls"].as_u64().unwrap())
        .sum();
    assert_eq!(calls, 36);
    sandbox
        .done(&format!("{plan} --dry-run"))
        .prints("total: 36 calls");
    assert_eq!((battles(), votes()), (before, had));

    let planned = sandbox.done(&format!("{plan} --out new.jsonl"));
    planned.says("has them judged");
    assert_eq!((battles(), votes()), (before + 12, had));
    let new = lines(&sandbox.read("new.jsonl"));
    let drawn = names(&new, "a", "b");
    assert_eq!(drawn.len(), 12);
    assert!(drawn.is_disjoint(&names(&fought, "a_id", "b_id")));
    let documents: BTreeSet<&String> = drawn.iter().flat_map(|(_, pair)| pair).collect();
    assert_eq!(documents.len(), 24, "no document twice");
    sandbox.refused(
        "student export --form pairwise --sample new.jsonl",
        2,
        &["new.jsonl:1: the pair is not judged; `overrule annotate --sample`"],
    );
    sandbox.refused(
        "annotate --sample new.jsonl --judges bm25",
        2,
        &["is judged by bm25,ngram,proximity"],
    );

    let judge = format!("annotate --sample new.jsonl --judges {JUDGES}");
    sandbox
        .done(&format!("{judge} --dry-run"))
        .prints("total: 36 calls");
    sandbox.done(&judge);
    assert_eq!((battles(), votes()), (before + 12, had + 36));
    sandbox.done(&judge);
    sandbox.done(&format!(
        "annotate in.jsonl out.jsonl --cycles 1 --judges {JUDGES}"
    ));
    assert_eq!((battles(), votes()), (before + 12, had + 36));
    let train = sandbox.done("student export --form pairwise --sample new.jsonl --side train");
    assert_eq!(lines(train.text()).len(), 8);

    // What has been judged is not drawn again, and what is left is counted exactly.
    let next = lines(sandbox.done(&format!("{plan} --seed 5")).text());
    assert!(names(&next, "a", "b").is_disjoint(&drawn));
    sandbox.refused(
        &*format!("student sample --pairs 25 --plan --judges {JUDGES}"),
        2,
        &["25 pairs cannot be had", "the greatest number is 24"],
    );
}

#[test]
fn documents_that_only_a_sample_has_touched_have_a_score_and_no_others_do() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", crate::support::dataset([8; 3]));
    sandbox.done("import in.jsonl");
    let plan = "student sample --pairs 3 --train 2 --plan --out new.jsonl --judges";
    sandbox.done(&format!("{plan} {JUDGES}"));
    // Judges that this was not planned for.
    sandbox.refused(
        "annotate --sample new.jsonl --judges bm25",
        2,
        &["is judged by bm25,ngram,proximity"],
    );
    sandbox.done(&format!("annotate --sample new.jsonl --judges {JUDGES}"));
    let labelled = sandbox.done("export qrels --from zelo");
    let drawn = names(&lines(&sandbox.read("new.jsonl")), "a", "b");
    let graded: BTreeSet<(String, String)> = labelled
        .text()
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[0].to_owned(), words[2].to_owned())
        })
        .collect();
    let of_sample = |(query, pair): (String, BTreeSet<String>)| {
        pair.into_iter()
            .map(move |document| (query.clone(), document))
    };
    assert_eq!(graded, drawn.into_iter().flat_map(of_sample).collect());
    // A run of everything enters the others too.
    sandbox.done(&format!(
        "annotate in.jsonl out.jsonl --cycles 1 --judges {JUDGES}"
    ));
    let labelled = sandbox.done("export qrels --from zelo");
    assert_eq!(labelled.text().lines().count(), 24);
}

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
            vec!["query", "document_id", "text", "zelo", "se"],
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
        held.says("1 query left out, also test data: q1");
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
        "1 query with labels of people: measure no student on them that learned from them: q1",
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

/// The rows of a Parquet file as JSON, and its columns with their types.
fn parquet_rows(path: &std::path::Path) -> (Vec<Value>, Vec<String>) {
    let file = std::fs::File::open(path).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let columns = schema.columns().iter();
    let columns = columns.map(|column| format!("{} {}", column.path(), column.physical_type()));
    let columns = columns.collect();
    let rows = reader.get_row_iter(None).unwrap();
    (rows.map(|row| object(&row.unwrap())).collect(), columns)
}

fn object(row: &Row) -> Value {
    let members = row.get_column_iter();
    Value::Object(
        members
            .map(|(name, field)| (name.clone(), value(field)))
            .collect(),
    )
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Str(text) => json!(text),
        Field::Double(number) => json!(number),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        Field::Group(row) => object(row),
        other => panic!("{other:?}"),
    }
}

/// Whether two values are the same, but for the last digits of numbers, which reading them as text may change.
fn is_near(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Number(x), Value::Number(y)) => {
            (x.as_f64().unwrap() - y.as_f64().unwrap()).abs() < 1e-12
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| is_near(x, y))
        }
        (Value::Object(x), Value::Object(y)) => {
            let both = x.iter().zip(y);
            x.len() == y.len()
                && both
                    .into_iter()
                    .all(|((a, x), (b, y))| a == b && is_near(x, y))
        }
        (x, y) => x == y,
    }
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
        ("pairwise", texts(&["query", "text_a", "text_b"])),
    ];
    let mut layouts: Vec<(&str, Vec<String>)> = own
        .into_iter()
        .map(|(form, own)| (form, [ids.clone(), own, targets.clone()].concat()))
        .collect();
    let pointwise: Vec<String> = texts(&["query_id", "document_id", "query", "text"]);
    layouts.push(("pointwise", [pointwise, numbers(&["zelo", "se"])].concat()));
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
        &["expected --out FILE, the file is binary"],
    );
    sandbox.refused(
        "student export --form sft --format parquet --out x.parquet.gz",
        2,
        &["without .gz"],
    );
}

#[test]
fn a_report_says_what_predictions_are_worth() {
    let sandbox = judged();
    let rows = lines(sandbox.done("student export --form pairwise").text());
    let mut text = String::new();
    for (step, sharpness) in [(100, 0.5), (200, 1.0)] {
        for (at, row) in rows.iter().enumerate() {
            let p = |name: &str| row[name].as_f64().unwrap() * sharpness + (1.0 - sharpness) / 3.0;
            let mut prediction = json!({
                "query": row["query_id"], "a": row["a_id"], "b": row["b_id"], "step": step,
                "p_a": p("p_a"), "p_b": p("p_b"), "p_tie": p("p_tie"),
            });
            writeln!(text, "{prediction}").unwrap();
            if at == 0 {
                // In the other order it favours what comes first.
                prediction["a"] = row["b_id"].clone();
                prediction["b"] = row["a_id"].clone();
                writeln!(text, "{prediction}").unwrap();
            }
        }
    }
    text += "{\"query\":\"q99\",\"a\":\"x\",\"b\":\"y\",\"p_a\":0.5,\"p_b\":0.5}\n";
    sandbox.write("p.jsonl", &text);
    let found = sandbox.json("student report p.jsonl --json");
    let steps = found["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[1]["step"], 200);
    assert_eq!(steps[1]["figures"]["n"], rows.len());
    assert_eq!(steps[1]["order"]["pairs"], 1);
    let divergence = |at: usize| steps[at]["divergence"].as_f64().unwrap();
    assert!(divergence(1) < divergence(0), "{found}");
    let accuracy = steps[0]["figures"]["consensus_accuracy"]["value"].as_f64();
    assert!(accuracy.unwrap() > 0.95);
    let table = sandbox.done("student report p.jsonl");
    table.says("1 prediction about queries or documents that the project does not have");
    table.prints("accuracy on consensus");
    table.prints("Segments: strips by expected score");
    let drawn = lines(sandbox.done("student report p.jsonl --rows").text());
    assert_eq!(drawn.len(), 2 * rows.len());
    assert!(
        drawn
            .iter()
            .all(|row| row["bucket"].is_u64() && row["segment"].is_string())
    );
    sandbox.write("bad.csv", "query,a,b,p_a,p_b\nq0,q0-d0,q0-d1,.9,.3\n");
    sandbox.refused(
        "student report bad.csv",
        2,
        &["bad.csv:2: p_a 0.9, p_b 0.3"],
    );
    sandbox.write("far.csv", "query,a,b,p_a,p_b\nq9,x,y,.9,.1\n");
    sandbox.refused(
        "student report far.csv",
        2,
        &["none of its predictions is about a judged pair"],
    );
}

#[test]
fn figures_are_drawn_a_file_each_and_on_one_page() {
    let sandbox = judged();
    let mut lines = String::new();
    for pair in self::lines(sandbox.done("student export --form pairwise").text()) {
        for step in [100, 200] {
            let (a, b) = (pair["p_a"].as_f64().unwrap(), pair["p_b"].as_f64().unwrap());
            let line = json!({"query": pair["query_id"], "a": pair["a_id"], "b": pair["b_id"], "p_a": 0.8 * a + 0.1, "p_b": 0.8 * b + 0.1, "step": step});
            writeln!(lines, "{line}").unwrap();
        }
    }
    sandbox.write("p.jsonl", lines);
    let drawn = sandbox.done("student report p.jsonl --svg figures --html page.html");
    drawn.says("wrote 20 pictures into figures");
    drawn.says("wrote page.html");
    let mut names: Vec<String> = std::fs::read_dir(sandbox.path("figures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 20, "{names:?}");
    for name in [
        "fig1.svg",
        "fig10-step100.svg",
        "fig2-step200.svg",
        "steps.svg",
    ] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    let page = std::fs::read_to_string(sandbox.path("page.html")).unwrap();
    assert!(page.contains("<h1>Student p</h1>") && page.ends_with("</html>\n"));
    let one = sandbox.path("figures").join("fig3-step100.svg");
    let before = std::fs::read(&one).unwrap();
    sandbox.done("student report p.jsonl --svg figures");
    assert_eq!(std::fs::read(&one).unwrap(), before);
    sandbox.refused(
        "student report p.jsonl --html p.jsonl",
        2,
        &["would overwrite the predictions"],
    );
}

#[test]
fn the_built_in_student_is_measured_on_queries_that_it_did_not_see() {
    let sandbox = judged();
    let found = sandbox.json("student train --predictions p.jsonl --model m.json --json");
    let learned = found["model"]["pairs"].as_u64().unwrap();
    assert_eq!(found["figures"]["n"].as_u64(), Some(learned));
    let accuracy = |at: usize| found["consensus_accuracy"][at]["accuracy"]["value"].as_f64();
    assert_eq!(found["consensus_accuracy"][0]["name"], "student");
    assert_eq!(found["consensus_accuracy"][1]["name"], "BM25");
    assert!(accuracy(0).unwrap() > 0.8, "{found}");
    // The file of predictions has the same figures.
    let report = sandbox.json("student report p.jsonl --json");
    for name in ["calibration", "consensus_accuracy", "segments"] {
        assert_eq!(
            report["steps"][0]["figures"][name], found["figures"][name],
            "{name}"
        );
    }
    let again = sandbox.json("student train --json");
    assert_eq!(again, found);
    let model: Value = serde_json::from_str(&sandbox.read("m.json")).unwrap();
    assert_eq!(model["features"].as_array().unwrap().len(), 6);
    assert_eq!(model["training_hash"], found["model"]["training_hash"]);
    let told =
        sandbox.json("student train --other-battles --all-pairs --predictions all.jsonl --json");
    assert_eq!(told["model"]["features"][6], "zELO of other battles");
    // Eight documents have 28 pairs.
    assert_eq!(sandbox.read("all.jsonl").lines().count(), 6 * 28);
    // Its own predictions beside it are as good as it is.
    let beside = sandbox.json("student train --beside p.jsonl --json");
    assert_eq!(beside["consensus_accuracy"][1]["name"], "p.jsonl");
    assert_eq!(
        beside["consensus_accuracy"][1]["student_above"]["value"],
        0.0
    );
    assert_eq!(
        beside["consensus_accuracy"][1]["accuracy"],
        found["consensus_accuracy"][0]["accuracy"]
    );
    sandbox.refused(
        "student train --beside nobody",
        2,
        &["no student \"nobody\""],
    );
    let table = sandbox.done("student train");
    table.prints("every number below is of queries left out, in 5 groups");
    table.prints("first stage");
}

#[test]
fn one_query_is_not_enough_to_learn_from() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", crate::support::dataset([5]));
    sandbox.done("annotate in.jsonl out.jsonl --judges bm25 --yes");
    sandbox.refused(
        "student train",
        2,
        &["judged pairs of two queries at least"],
    );
    sandbox.refused("student sample --pairs 9", 2, &["the greatest number is 2"]);
}

/// Predictions of a few pairs: one in both orders.
const PREDICTIONS: &str = "query,a,b,p_a,p_b,p_tie\nq0,q0-d0,q0-d1,.7,.2,.1\nq0,q0-d1,q0-d0,.3,.6,.1\nq0,q0-d2,q0-d1,.1,.5,.4\nq1,q1-d0,q1-d3,.9,.05,.05\n";

#[test]
fn a_student_is_kept_by_name_and_step_and_the_same_file_changes_nothing() {
    let sandbox = judged();
    sandbox.write("p.csv", PREDICTIONS);
    let before = crate::merging::rows(&sandbox.project());
    sandbox.write(
        "foreign.csv",
        format!("{PREDICTIONS}q0,q0-d1,nobody,.5,.5,0\nq9,x,y,.5,.5,0\n"),
    );
    sandbox.refused(
        "student import foreign.csv --name llama",
        2,
        &[
            "foreign.csv:6: the project has no query \"q0\" with documents \"q0-d1\" and \"nobody\"",
            "foreign.csv:7:",
            "2 problems, nothing was done",
        ],
    );
    for name in ["built-in", "two words", ""] {
        let arguments = ["student", "import", "p.csv", "--name", name];
        sandbox.refused(&arguments[..], 2, &[name]);
    }
    assert!(crate::merging::rows(&sandbox.project()) == before);
    let first = sandbox.json("student import p.csv --name llama --step 100 --json");
    let steps = json!([{
        "step": 100, "queries": 2, "pairs": 3, "stored": true,
        "order": { "pairs": 1, "toward_first": first["steps"][0]["order"]["toward_first"], "flips": 0.0 },
    }]);
    assert_eq!(first["steps"], steps);
    // P(B) − P(A) is −.5 shown A first and −.3 shown B first: half of the difference is toward the first.
    let toward = first["steps"][0]["order"]["toward_first"].as_f64().unwrap();
    assert!((toward - 0.1).abs() < 1e-12, "{toward}");
    let kept = crate::merging::rows(&sandbox.project());
    sandbox
        .done("student import p.csv --name llama --step 100")
        .says("there already");
    assert!(crate::merging::rows(&sandbox.project()) == kept);
    // A later one of the same name and step is in force, and what it replaces stays in the file.
    sandbox.write("later.csv", PREDICTIONS.replace(".9,.05,.05", ".8,.1,.1"));
    sandbox.done("student import later.csv --name llama --step 100");
    sandbox.done("student import p.csv --name llama --step 50");
    let listed = sandbox.json("student list --json");
    let names: Vec<(&Value, &Value)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|of| (&of["step"], &of["source"]))
        .collect();
    assert_eq!(
        names,
        [
            (&json!(50), &json!("p.csv")),
            (&json!(100), &json!("later.csv"))
        ]
    );
    assert_eq!(listed[1]["pairs_in_both_orders"], 1);
    let shown = lines(
        sandbox
            .done("export predictions --student llama --format jsonl")
            .text(),
    );
    assert_eq!(shown.len(), 8);
    let of = |step: u64| {
        shown
            .iter()
            .find(|row| row["step"] == step && row["query"] == "q1")
    };
    assert_eq!(
        (&of(50).unwrap()["p_a"], &of(100).unwrap()["p_a"]),
        (&json!(0.9), &json!(0.8))
    );
    sandbox
        .done("status")
        .prints("students      llama, 2 checkpoints");
    assert_eq!(sandbox.json("status --json")["students"][1]["pairs"], 3);
    sandbox
        .done("log")
        .prints("later.csv: student llama, step 100, 3 pairs of 2 queries, 1 in both orders");
    sandbox.refused(
        "student report --student lama",
        2,
        &["no student \"lama\" in the project; it has llama"],
    );
    sandbox.write(
        "steps.csv",
        "query,a,b,p_a,p_b,step\nq0,q0-d0,q0-d1,.7,.2,7\n",
    );
    sandbox.refused(
        "student import steps.csv --name llama --step 8",
        2,
        &["steps.csv: its lines name their own step"],
    );
}

#[test]
fn what_a_student_of_the_project_predicts_goes_out_and_in_and_into_another_file() {
    let sandbox = judged();
    sandbox.done("student train --name own");
    let listed = sandbox.json("student list --json");
    assert_eq!(listed[0]["source"], "built-in");
    assert_eq!(listed[0]["pairs"], 6 * 8 * 7 / 2);
    assert_eq!(
        listed[0]["model"]["training_hash"].as_str().unwrap().len(),
        16
    );
    let kept = crate::merging::rows(&sandbox.project());
    sandbox
        .done("student train --name own")
        .says("there already");
    assert!(crate::merging::rows(&sandbox.project()) == kept);
    // Its figures are those of the predictions that were written to a file.
    sandbox.done("student train --predictions p.jsonl");
    let of_file = sandbox.json("student report p.jsonl --json");
    let of_kept = sandbox.json("student report --student own --json");
    assert_eq!(
        of_kept["steps"][0]["figures"],
        of_file["steps"][0]["figures"]
    );
    sandbox.done("export predictions --student own --out p.csv");
    sandbox.done("student import p.csv --name copy");
    let written = |name: &str| {
        let arguments = format!("export predictions --student {name} --format jsonl");
        sandbox.done(&arguments).text().to_owned()
    };
    assert_eq!(written("copy"), written("own"));

    let other = judged();
    let merged = crate::merging::merge(&other, &sandbox, "");
    assert_eq!(merged["students"], 2);
    assert_eq!(
        other
            .done("export predictions --student own --format jsonl")
            .text(),
        written("own")
    );
    assert_eq!(crate::merging::merge(&other, &sandbox, "")["students"], 0);
    other.refused("export predictions", 2, &["--student"]);
}

#[test]
fn a_student_stands_beside_the_judges_and_is_a_layer_of_the_matrix() {
    let sandbox = judged();
    let alone = sandbox.json("judges --json");
    assert_eq!(alone["students"], json!([]));
    sandbox.write("p.csv", PREDICTIONS);
    sandbox.done("student import p.csv --name llama --step 9");
    let judges = sandbox.json("judges --json");
    assert_eq!(judges["judges"], alone["judges"]);
    let card = &judges["students"][0];
    assert_eq!(
        (&card["student"], &card["step"]),
        (&json!("llama"), &json!(9))
    );
    assert_eq!(card["order"]["pairs"], 1);
    // Its figures are those of its report, where it has judged pairs.
    let report = sandbox.json("student report --student llama --json");
    let figures = &report["steps"][0]["figures"];
    assert_eq!(card["pairs"], figures["n"]);
    assert_eq!(card["ece"], figures["calibration"]["ece"]);
    sandbox.done("judges").prints("llama step 9");
    // The layer: what it expects of the row's document, judged or not.
    let matrix = sandbox.json("matrix --query q0 --layer student:llama --order hybrid --json");
    let layer = &matrix["student"];
    assert_eq!(layer["step"], 9);
    let p = |name: &str, row: usize, column: usize| layer[name][row][column].as_f64();
    // Both orders: (.7 + .6) / 2 for q0-d0.
    assert!((p("p_row", 0, 1).unwrap() - 0.65).abs() < 1e-12);
    assert_eq!(p("p_row", 0, 1), p("p_column", 1, 0));
    assert!((p("p_tie", 1, 2).unwrap() - 0.4).abs() < 1e-12);
    assert_eq!((p("p_row", 0, 2), p("p_row", 3, 3)), (None, None));
    let observed = sandbox.json("matrix --query q0 --order hybrid --json");
    assert_eq!(matrix["observed"], observed["observed"]);
    let csv = sandbox.done("matrix --query q0 --layer student:llama --order hybrid --format csv");
    // q0-d0 against q0-d1: .65 + .05 ties.
    let row = csv.text().lines().nth(1).unwrap().to_owned();
    let cell: f64 = row.split(',').nth(7).unwrap().parse().unwrap();
    assert!((cell - 0.7).abs() < 1e-12, "{row}");
    let fought = |row: usize, column: usize| !observed["observed"][row][column].is_null();
    let text = sandbox.done("matrix --query q0 --layer student:llama --order hybrid");
    let line = text
        .text()
        .lines()
        .find(|line| line.contains("q0-d0"))
        .unwrap();
    let sign = if fought(0, 1) { "\\7" } else { "\\₇" };
    assert!(line.contains(sign), "{line}");
    sandbox
        .done("matrix --query q0 --layer student:llama --format svg")
        .prints("what a student expects");
    sandbox.refused(
        "matrix --query q0 --layer student:lama",
        2,
        &["it has llama"],
    );
    sandbox.refused(
        "matrix --query q0 --layer lama",
        2,
        &["expected observed or student:NAME"],
    );
}

#[test]
fn a_student_counts_in_scores_only_where_it_is_told_to() {
    let sandbox = judged_in(2);
    let scores = || sandbox.done("export annotated").text().to_owned();
    let alone = scores();
    sandbox.refused(
        "config project --student own",
        2,
        &["no student \"own\"", "the project has none"],
    );
    sandbox.refused(
        "config project --student-weight auto",
        2,
        &["of which student?"],
    );
    sandbox.done("student train --name own");
    assert_eq!(scores(), alone);
    let named = sandbox.json("config project --student own --json");
    assert_eq!(named["student"]["weight_in_force"], 0.0);
    assert_eq!(scores(), alone);
    sandbox.refused(
        "config project --student-weight -1",
        2,
        &["--student-weight"],
    );
    let taught = sandbox
        .done("student export --form pointwise")
        .text()
        .to_owned();
    let counted = sandbox.json("config project --student-weight 0.5 --json");
    assert_eq!(counted["student"]["weight"], 0.5);
    let with = scores();
    assert_ne!(with, alone);
    let note = "scores count student own too: 0.5 battles a document, on";
    // No student learns what a student said, and grades made of scores say what is in them.
    assert_eq!(
        sandbox.done("student export --form pointwise").text(),
        taught
    );
    sandbox
        .done("export qrels --from zelo")
        .says("scores count student own too: 0.5 battles a document");
    sandbox.done("matrix --query q0").prints(note);
    sandbox
        .done("export run")
        .says("scores count student own too");
    sandbox
        .done("status")
        .prints("counts 0.5 battles a document in the fit (set)");
    let matrix = sandbox.json("matrix --query q0 --json");
    let fought = matrix["observed"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row.as_array().unwrap());
    let fought = fought.filter(|cell| !cell.is_null()).count() / 2;
    assert_eq!(matrix["student_in_fit"]["pairs"], 8 * 7 / 2 - fought);
    // What it learns from is what people and judges said, not what it said itself.
    let hash = sandbox.json("student train --json")["model"]["training_hash"].clone();
    let listed = sandbox.json("student list --json");
    assert_eq!(listed[0]["model"]["training_hash"], hash);
    // zBench's own model knows no student.
    sandbox.done("config project --model zbench");
    let zbench = scores();
    sandbox.done("config project --student-weight 0");
    assert_eq!(scores(), zbench);
    sandbox.done("config project --model map --student -");
    assert_eq!(scores(), alone);
    assert!(sandbox.json("status --json")["student"].is_null());
    let auto = sandbox.done("config project --student own --student-weight auto");
    auto.says("6 queries)");
    // What changes the student has its weight estimated anew.
    sandbox.done("override --query q0 --a q0-d0 --b q0-d1 --verdict a");
    sandbox.done("student train --name own");
    sandbox.done("status").prints("6 queries)");
    sandbox
        .done("student report --student own")
        .says("each predicted by a model that never saw its query");
    // A student that is told the zELO of a query has seen each of its votes.
    sandbox.done("student train --other-battles --name told");
    let told = sandbox.done("config project --student told --student-weight auto");
    told.says("it has seen every vote that could test it");
    let told = sandbox.json("config project --json");
    assert_eq!(told["student"]["weight_in_force"], 0.0);
    assert_eq!(told["student"]["not_learned"], "saw-votes");
    sandbox
        .done("student import --help")
        .prints("--student-weight auto");
}

#[test]
fn the_queue_begins_with_what_a_student_would_not_have_said() {
    let sandbox = judged();
    sandbox.refused("queue --policy student", 2, &["which student?"]);
    let rows = lines(sandbox.done("student export --form pairwise").text());
    let mut text = String::new();
    let odd = rows.iter().position(|row| row["target"] == 1.0).unwrap();
    for (at, row) in rows.iter().enumerate() {
        let target = row["target"].as_f64().unwrap();
        let said = if at == odd { 1.0 - target } else { target };
        let line = json!({
            "query": row["query_id"], "a": row["a_id"], "b": row["b_id"],
            "p_a": 0.05 + 0.8 * (1.0 - said), "p_b": 0.05 + 0.8 * said, "p_tie": 0.1,
        });
        writeln!(text, "{line}").unwrap();
    }
    sandbox.write("p.jsonl", text);
    sandbox.done("student import p.jsonl --name llama");
    sandbox.done("config project --student llama");
    let first = &sandbox.json("queue --policy student --limit 3 --json")[0];
    let pair = BTreeSet::from([first["a"].as_str().unwrap(), first["b"].as_str().unwrap()]);
    let expected = BTreeSet::from([
        rows[odd]["a_id"].as_str().unwrap(),
        rows[odd]["b_id"].as_str().unwrap(),
    ]);
    assert_eq!(pair, expected, "{first}");
    // All votes were for the one that it gave .05: log2(1 / .05).
    let bits = first["priority"].as_f64().unwrap();
    assert!((bits - 20f64.log2()).abs() < 1e-9, "{first}");
}

#[test]
fn pairs_are_chosen_by_a_student_and_scores_rest_on_votes_alone() {
    let ask =
        "annotate in.jsonl out.jsonl --judges bm25,ngram,proximity --sampler top --battles 2 --yes";
    let sandbox = judged();
    let other = Sandbox::new();
    other.write(
        "in.jsonl",
        std::fs::read_to_string(sandbox.path("in.jsonl")).unwrap(),
    );
    other.done("import in.jsonl");
    other.refused(&format!("{ask} --prior student"), 2, &["which student?"]);
    other.refused(
        "annotate in.jsonl out.jsonl --judges bm25 --prior student --yes",
        2,
        &["--prior student goes with --sampler swiss, eig or top"],
    );
    sandbox.done("student train --name own");
    sandbox.done("export predictions --student own --out own.csv");
    other.write(
        "own.csv",
        std::fs::read_to_string(sandbox.path("own.csv")).unwrap(),
    );
    other.done("student import own.csv --name own");
    other.done("config project --student own");
    other.done(&format!("{ask} --prior student"));
    let pairs = |sandbox: &Sandbox| -> BTreeSet<(String, String, String)> {
        let votes = lines(sandbox.done("export votes --format jsonl").text());
        let name = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        votes
            .iter()
            .map(|row| (name(row, "query"), name(row, "a"), name(row, "b")))
            .collect()
    };
    let plain = Sandbox::new();
    plain.write(
        "in.jsonl",
        std::fs::read_to_string(sandbox.path("in.jsonl")).unwrap(),
    );
    plain.done(ask);
    assert_ne!(pairs(&other), pairs(&plain));
    // Nothing of the student is in the scores.
    let matrix = other.json("matrix --query q0 --json");
    assert!(matrix["student_in_fit"].is_null());
}
