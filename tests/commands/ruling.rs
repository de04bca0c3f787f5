//! `rule`, `export qrels` and `adjudication` after them: rulings that are only ever added, and what
//! they make of labels and rankings.

use crate::support::{Sandbox, benchmark};
use rstest::rstest;
use serde_json::{Value, json};

/// Pools in the project, picked from by one judge: query 2 has d5 missed and d3 picked for it.
pub(crate) fn picked() -> Sandbox {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    sandbox.done("pool build --beir beir --depth 4 --layout original");
    sandbox.done("pick --judges bm25");
    sandbox
}

fn rule(sandbox: &Sandbox, document: &str, ruling: &str, more: &str) -> Value {
    sandbox.json(&format!(
        "rule --query 2 --document {document} --ruling {ruling} --json {more}"
    ))
}

#[test]
fn disagreements_come_in_the_order_of_what_they_move() {
    let sandbox = picked();
    let list = |more: &str| -> Vec<Value> {
        let found = sandbox.json(&format!("adjudication --disagreements --json {more}"));
        found.as_array().unwrap().clone()
    };
    let found = list("");
    let named: Vec<(&str, &str)> = found
        .iter()
        .map(|row| {
            (
                row["document"].as_str().unwrap(),
                row["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(named.len(), 2);
    assert!(named.contains(&("d5", "label only")) && named.contains(&("d3", "pick only")));
    let impact = |row: &Value| row["impact_ndcg_at_10"].as_f64().unwrap();
    assert!(found.iter().all(|row| impact(row) > 0.0), "{found:?}");
    assert!(
        list("--order random")
            .iter()
            .all(|row| row["control"] == true)
    );
    rule(&sandbox, "d3", "not", "");
    let left = list("");
    assert_eq!((left.len(), &left[0]["document"]), (1, &json!("d5")));
    let other = sandbox.json("adjudication --disagreements --json --annotator ada");
    assert_eq!(
        other.as_array().unwrap().len(),
        2,
        "everybody rules for themselves"
    );
}

#[test]
fn rulings_correct_labels_and_rankings_and_are_taken_back() {
    let sandbox = picked();
    let ruled = rule(
        &sandbox,
        "d3",
        "relevant",
        "--cause label-missing --note =1+1",
    );
    assert_eq!(
        (
            &ruled["label_before"],
            &ruled["label_after"],
            &ruled["in_force"]
        ),
        (&json!(null), &json!(2), &json!(true)),
        "the labels have a grade 2"
    );
    rule(&sandbox, "d5", "not", "--cause label-wrong");
    let found = sandbox.json("adjudication --json");
    assert_eq!(found["rulings"]["labels_changed"], 2);
    assert_eq!(found["rulings"]["causes"]["label-wrong"], 1);
    let ranking = &found["rankings"][0];
    assert_eq!(ranking["ranking"], "bm25-overrule");
    // d1 and d3 are found of d1 and d3, where it was d1 of d1 and d5.
    let recall = &ranking["metrics"]["recall@10"];
    assert_eq!(recall["before"]["mean"], (0.5 + 1.0) / 2.0);
    assert_eq!(recall["after"]["mean"], 1.0);
    assert_eq!(recall["difference"]["mean"], 0.25);

    sandbox.done("export qrels --corrected --out c.tsv");
    assert_eq!(
        sandbox.read("c.tsv"),
        "query-id\tcorpus-id\tscore\n10\td6\t1\n2\td1\t2\n2\td2\t0\n2\td3\t2\n2\td5\t0\n"
    );
    let side = sandbox.read("c_rulings.csv");
    assert!(
        side.contains("2,d3,,2,relevant,label-missing,'=1+1,"),
        "{side}"
    );
    let diff = sandbox.done("export qrels --diff");
    assert_eq!(diff.text(), "+ 2 0 d3 2\n- 2 0 d5 1\n+ 2 0 d5 0\n");
    let graded = sandbox.done("export qrels --diff --grades 1,3");
    assert!(
        graded.text().starts_with("+ 2 0 d3 3\n"),
        "{}",
        graded.text()
    );

    sandbox.done("pool build --beir beir --depth 4 --out p.jsonl --run-out r.trec");
    let truth = "beir/qrels/test.tsv";
    let measured = sandbox.json(&format!(
        "evaluate c.tsv r.trec --before {truth} --metrics recall@10 --json"
    ));
    let measured = &measured["metrics"]["recall@10"];
    assert_eq!(
        (&measured["before"], &measured["mean"]),
        (&json!(0.75), &json!(1.0))
    );
    assert_eq!(measured["difference"]["mean"], 0.25);

    let taken = sandbox.json("undo --ruling --json");
    assert_eq!(taken["document"], "d5");
    assert_eq!(sandbox.done("export qrels --diff").text(), "+ 2 0 d3 2\n");
    let log = sandbox.json("log --query 2 --json");
    let events: Vec<&str> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["event"].as_str().unwrap())
        .collect();
    assert_eq!(events, ["picks", "ruling", "ruling", "ruling undo"]);
    sandbox.done("undo --ruling");
    sandbox.refused("undo --ruling", 2, &["no ruling by"]);
    let labels = sandbox.done("export qrels --form beir --corrected");
    assert_eq!(
        labels.text(),
        sandbox.done("export qrels --form beir").text()
    );
}

#[test]
fn several_people_rule_and_their_files_are_united() {
    let sandbox = picked();
    let ada = picked();
    rule(&sandbox, "d3", "relevant", "--annotator bob");
    rule(&ada, "d3", "not", "--annotator ada");
    rule(&ada, "d5", "not", "--annotator ada");
    ada.done("undo --ruling --annotator ada");
    std::fs::copy(ada.path("overrule.db"), sandbox.path("ada.db")).unwrap();
    let merged = sandbox.json("merge ada.db --json");
    assert_eq!(
        [
            &merged["rulings"],
            &merged["undos"],
            &merged["picks"],
            &merged["labels"]
        ],
        [&json!(2), &json!(1), &json!(2), &json!(0)],
        "answers came at another time, so they are others"
    );
    let again = sandbox.json("merge ada.db --json");
    assert_eq!([&again["rulings"], &again["undos"]], [&json!(0), &json!(0)]);
    let found = sandbox.json("adjudication --json");
    assert_eq!(
        [
            &found["rulings"]["standing"],
            &found["rulings"]["in_force"],
            &found["rulings"]["conflicts"]
        ],
        [&json!(2), &json!(1), &json!(1)]
    );
    sandbox.done("config project --final majority");
    let found = sandbox.json("adjudication --json");
    assert_eq!(found["rulings"]["in_force"], 0, "nobody has a majority");
    sandbox.done("merge ada.db");
    // A project that has nothing yet gets everything.
    let new = Sandbox::new();
    benchmark(&new);
    new.done("import beir/qrels/test.tsv");
    std::fs::copy(sandbox.path("overrule.db"), new.path("other.db")).unwrap();
    let all = new.json("merge other.db --json");
    assert_eq!(
        [
            &all["picks"],
            &all["rulings"],
            &all["rankings"],
            &all["labels"]
        ],
        [&json!(4), &json!(3), &json!(1), &json!(0)]
    );
}

#[rstest]
#[case::document("--document nowhere --ruling not", &["no document \"nowhere\""])]
#[case::finding("--document d1 --ruling maybe", &["is not a ruling: expected relevant"])]
#[case::cause("--document d1 --ruling not --cause other", &["label-wrong"])]
fn bad_rulings_are_refused(#[case] more: &str, #[case] words: &[&str]) {
    let sandbox = picked();
    sandbox.refused(&format!("rule --query 2 {more}"), 2, words);
    assert_eq!(
        sandbox.json("adjudication --json")["rulings"]["standing"],
        0
    );
}

#[test]
fn labels_that_contradict_are_refused_and_nothing_is_lost() {
    let sandbox = picked();
    sandbox.write(
        "other.tsv",
        "query-id\tcorpus-id\tscore\n9\td1\t1\n2\td1\t1\n",
    );
    sandbox.refused(
        "import other.tsv",
        2,
        &["query \"2\", document \"d1\": labeled 1 here and 2 in the project"],
    );
    assert!(!sandbox.done("export qrels").text().contains("9 0 d1"));
    let same = sandbox.done("import beir/qrels/test.tsv");
    same.prints("4 labels, 0 new, 4 already there");
    sandbox.write(
        "run.csv",
        "query_id,corpus_id,rank,score\n2,d5,1,3.5\n2,d1,2,1.5\n",
    );
    let run = sandbox.done("import run.csv --name mine");
    run.prints("ranking mine of 1 query, new");
    let found = sandbox.json("adjudication --json");
    let names: Vec<&str> = found["rankings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["ranking"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["bm25-overrule", "mine"]);
}

#[test]
fn a_folder_is_imported_as_pools_with_labels() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    let summary = sandbox.json("import beir --json");
    assert_eq!(summary["pools"]["count"], 2);
    assert_eq!(sandbox.json("queries --json").as_array().unwrap().len(), 2);
    assert!(sandbox.done("export qrels").text().contains("2 0 d5 1\n"));
    // Without picks there are rankings to measure, and rulings to measure them by.
    sandbox.refused("adjudication --disagreements", 2, &["no judge has picked"]);
    rule(&sandbox, "d5", "not", "");
    let found = sandbox.json("adjudication --json");
    assert_eq!(
        (&found["judges"], &found["rulings"]["labels_changed"]),
        (&json!([]), &json!(1))
    );
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("no judge has picked yet"), "{warnings}");
}

#[test]
fn a_ranking_keeps_the_queries_of_another_split_and_those_without_a_hit() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    sandbox.write(
        "beir/qrels/dev.tsv",
        "query-id\tcorpus-id\tscore\nnone\td1\t1\n",
    );
    let queries = sandbox.read("beir/queries.jsonl");
    sandbox.write(
        "beir/queries.jsonl",
        format!("{queries}{{\"_id\":\"none\",\"text\":\"zzz\"}}\n"),
    );
    for split in ["test", "dev"] {
        sandbox.done(&format!("pool build --beir beir --depth 4 --split {split}"));
    }
    sandbox.done("pick --judges bm25");
    let found = sandbox.json("adjudication --json");
    assert_eq!(found["rankings"][0]["ranking"], "bm25-overrule");
    // Half and all of the two of test, and nothing of the one of dev.
    let recall = &found["rankings"][0]["metrics"]["recall@10"];
    assert_eq!(recall["before"]["mean"], 0.5);
    assert_eq!(recall["difference"]["queries"], 3);
}

#[test]
fn the_log_says_what_a_ruling_and_its_undo_changed() {
    let sandbox = picked();
    rule(&sandbox, "d3", "relevant", "");
    rule(&sandbox, "d3", "not", "");
    sandbox.done("undo --ruling");
    let log = sandbox.json("log --query 2 --json");
    let changes: Vec<(Value, Value)> = log
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["event"] != "picks")
        .map(|row| (row["before"].clone(), row["after"].clone()))
        .collect();
    let (relevant, not) = (json!("relevant"), json!("not"));
    assert_eq!(
        changes,
        [
            (json!(null), relevant.clone()),
            (relevant.clone(), not.clone()),
            (not, relevant)
        ]
    );
}

#[test]
fn a_ruling_keeps_the_grades_of_its_own_benchmark() {
    let plain = Sandbox::new();
    let pool = |query: &str, grade: i64| {
        json!({"query": {"id": query, "query": "bread"}, "documents": [
            {"id": "a", "content": "bread", "metadata": {"grade": grade}}, {"id": "b", "content": "a tin of bread"},
        ]})
        .to_string()
    };
    plain.write("plain.jsonl", pool("q1", 1));
    plain.write("graded.jsonl", pool("q2", 3));
    plain.done("pick plain.jsonl --judges bm25");
    plain.done("rule --query q1 --document b --ruling relevant");
    plain.done("import graded.jsonl");
    plain.done("rule --query q2 --document b --ruling relevant");
    let diff = plain.done("export qrels --diff");
    assert_eq!(diff.text(), "+ q1 0 b 1\n+ q2 0 b 2\n");
    let one = plain.done("export qrels --diff --query q2");
    assert_eq!(one.text(), "+ q2 0 b 2\n");
}

#[test]
fn identifiers_that_a_terminal_would_obey_are_not_written() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels", "q 0 d\u{1b}[31m 1\n");
    sandbox.done("import qrels");
    for form in ["trec", "beir"] {
        let ran = sandbox.run(&["export", "qrels", "--form", form]);
        assert_eq!(ran.code, Some(1));
        ran.says("control characters");
        assert!(!ran.text().contains('\u{1b}'));
    }
}
