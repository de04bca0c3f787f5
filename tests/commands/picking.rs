//! `pick`, `court` and `rule` with the offline judges: picks and rulings that are only ever added to, and what they amount to.

use crate::support::{Desk, benchmark};
use rstest::rstest;
use serde_json::{Value, json};

/// Pools of four and three documents, with two labelled and one.
fn pooled(more: &[&str]) -> Desk {
    let desk = Desk::new();
    benchmark(&desk);
    let build = [
        "pool",
        "build",
        "--beir",
        "beir",
        "--out",
        "pools.jsonl",
        "--depth",
        "4",
    ];
    desk.done(&[&build[..], more].concat());
    desk
}

fn records(desk: &Desk) -> Vec<Value> {
    let picks = desk.done(&["export", "picks"]);
    let text = picks.text();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const COURT: [&str; 1] = ["court"];

#[test]
fn the_offline_judges_pick_as_many_as_are_labelled() {
    let desk = pooled(&["--layout", "original"]);
    let ran = desk.done(&["pick", "pools.jsonl"]);
    assert!(
        ran.stderr.contains("lexical, not a language model"),
        "{}",
        ran.stderr
    );
    let records = records(&desk);
    assert_eq!(records.len(), 3 * 2);
    for record in &records {
        let wanted = if record["query"] == "2" { 2 } else { 1 };
        assert_eq!(record["ask"], json!({"exactly": wanted}));
        assert_eq!(record["slots"].as_array().unwrap().len(), wanted);
        assert_eq!(
            (&record["provider"], &record["cost_usd"]),
            (&json!("offline"), &json!(0.0))
        );
    }
    // d1 and d3 speak of aspirin and fever; d5, which is labelled, has no word of the query.
    let bm25 = records
        .iter()
        .find(|record| record["judge"] == "bm25" && record["query"] == "2")
        .unwrap();
    assert_eq!(
        (&bm25["order"], &bm25["slots"]),
        (&json!(["d1", "d5", "d3", "d2"]), &json!([1, 3]))
    );
    let again = desk.done(&["pick", "pools.jsonl"]);
    assert_eq!(self::records(&desk), records);
    assert!(
        again.text().lines().nth(1).unwrap().starts_with("bm25"),
        "{}",
        again.text()
    );
}

#[test]
fn the_court_counts_four_boxes_beside_chance() {
    let desk = pooled(&["--layout", "original"]);
    desk.done(&[
        "pick",
        "pools.jsonl",
        "--judges",
        "bm25",
        "--permutations",
        "3",
    ]);
    let status = desk.json(&["status", "--json"]);
    assert_eq!(status["adjudication"]["picks"], 6);
    assert!(desk.done(&["status"]).text().contains("\nadjudication  "));
    let found = desk.json(&[&COURT[..], &["--json"]].concat());
    assert_eq!(found["pools"], 2);
    let judge = &found["judges"][0];
    assert_eq!(
        (&judge["judge"], &judge["offline"], &judge["ask"]),
        (&json!("bm25"), &json!(true), &json!("exactly"))
    );
    let order = &judge["permutations"][0];
    let boxes = ["agreed", "label_only", "pick_only", "neither"]
        .map(|key| order["boxes"][key].as_u64().unwrap());
    assert_eq!(boxes, [2, 1, 1, 3]);
    assert_eq!(order["agreement"]["value"], 5.0 / 7.0);
    assert_eq!(order["recall"]["value"], 2.0 / 3.0);
    // Two of four where two are labelled, one of three where one is: 1 + 1/3 by chance.
    assert!((order["chance"]["agreed"].as_f64().unwrap() - 4.0 / 3.0).abs() < 1e-12);
    assert!((order["recall"]["chance"].as_f64().unwrap() - 4.0 / 9.0).abs() < 1e-12);
    // 5/7 agree; (3·3 + 4·4)/49 would by chance.
    let kappa = (5.0 / 7.0 - 25.0 / 49.0) / (1.0 - 25.0 / 49.0);
    assert!((order["kappa"]["value"].as_f64().unwrap() - kappa).abs() < 1e-12);
    assert!(order["kappa"]["low"].as_f64().is_some());
    assert_eq!(order["by_source"]["label-missed"]["label_only"], 1);
    assert_eq!(order["by_slot"].as_array().unwrap().len(), 4);
    assert_eq!(order["per_query"]["2"]["picks"], json!(["d1", "d3"]));
    // What a lexical judge picks does not hang on the order.
    assert_eq!(judge["permutations"].as_array().unwrap().len(), 3);
    for other in judge["consistency"].as_array().unwrap() {
        assert_eq!(
            (&other["same"], &other["overlap"]["value"]),
            (&json!(2), &json!(1.0))
        );
    }
    let text = desk.done(&COURT);
    for words in [
        "bm25 · lexical bm25 v1 · as many as are labelled",
        "lexical, not a language model",
        "order 2 against order 1: the same picks in 2 of 2 pools",
        "labels that are picked   66.7 %",
    ] {
        assert!(text.text().contains(words), "{words}: {}", text.text());
    }
}

#[test]
fn none_is_an_answer_where_any_number_is_asked_for() {
    let desk = pooled(&[]);
    desk.done(&["pick", "pools.jsonl", "--judges", "bm25", "--open"]);
    assert_eq!(records(&desk)[0]["ask"], "any-number");
    let found = desk.json(&[&COURT[..], &["--json"]].concat());
    let order = &found["judges"][0]["permutations"][0];
    assert_eq!((&order["valid"], &order["missing"]), (&json!(2), &json!(0)));
    // A dataset without labels can be asked about in this way only.
    let bare = r#"{"query":{"id":"q","query":"bread"},"documents":[{"id":"a","content":"tin"},{"id":"b","content":"tram"}]}"#;
    desk.write("bare.jsonl", bare);
    desk.refused(
        &["pick", "bare.jsonl"],
        2,
        &[
            "bare.jsonl: has no label of 1 or more to say how many",
            "--open",
        ],
    );
    desk.done(&["pick", "bare.jsonl", "--open", "--judges", "bm25"]);
    let picks = desk.done(&["export", "picks", "--query", "q"]);
    assert!(picks.text().contains("\"slots\":[]"), "{}", picks.text());
}

#[test]
fn every_document_gets_a_verdict_and_its_proof_where_that_is_asked_for() {
    let desk = pooled(&["--layout", "original"]);
    desk.done(&["pick", "pools.jsonl", "--judges", "ngram", "--per-document"]);
    let found = records(&desk);
    let record = found.iter().find(|record| record["query"] == "2").unwrap();
    assert_eq!(record["ask"], "per-document");
    // The others have less than half as much of the query; so has d5, which is labelled.
    let verdicts = json!([
        {"slot": 1, "verdict": "supports", "sentence": "Aspirin lowers fever in adults."},
        {"slot": 2, "verdict": "not_enough", "sentence": null},
        {"slot": 3, "verdict": "supports", "sentence": "What a fever is and is not, and when aspirin helps."},
        {"slot": 4, "verdict": "not_enough", "sentence": null},
    ]);
    assert_eq!(record["verdicts"], verdicts);
    // Another way of asking is another question, and counted by itself.
    desk.done(&["pick", "pools.jsonl", "--judges", "ngram", "--open"]);
    assert_eq!(records(&desk).len(), 4);
    let tables = ["--csv", "q.csv", "--inspect", "i.csv"];
    let text = desk.done(&[&COURT[..], &tables].concat());
    for words in [
        "ngram · lexical ngram v1 · a verdict on every document",
        "supports            3         2           66.7 %",
    ] {
        assert!(text.text().contains(words), "{words}: {}", text.text());
    }
    let found = desk.json(&[&COURT[..], &["--json"]].concat());
    let judges = found["judges"].as_array().unwrap();
    assert_eq!(
        [&judges[0]["ask"], &judges[1]["ask"]],
        ["any-number", "per-document"]
    );
    let order = &judges[1]["permutations"][0];
    assert_eq!(order["boxes"], judges[0]["permutations"][0]["boxes"]);
    assert_eq!(order["per_query"]["2"]["picks"], json!(["d1", "d3"]));
    let told = &order["per_query"]["2"]["verdicts"][0];
    let sentence = "Aspirin lowers fever in adults.";
    assert_eq!(
        told,
        &json!({"document": "d1", "verdict": "supports", "sentence": sentence})
    );
    assert_eq!(order["by_verdict"]["refutes"]["neither"], 0);
    assert!(desk.read("q.csv").contains(sentence));
    let inspect = desk.read("i.csv");
    let row = inspect.lines().last().unwrap();
    assert!(
        row.ends_with(",supports,\"What a fever is and is not, and when aspirin helps.\""),
        "{row}"
    );
    desk.refused(
        &["pick", "pools.jsonl", "--open", "--per-document"],
        2,
        &["cannot be used with"],
    );
}

#[test]
fn tables_have_the_columns_of_the_original() {
    let desk = pooled(&["--layout", "original"]);
    desk.done(&["pick", "pools.jsonl", "--judges", "bm25"]);
    desk.done(&[&COURT[..], &["--csv", "q.csv", "--inspect", "i.csv"]].concat());
    let per_query = desk.read("q.csv");
    let rows: Vec<&str> = per_query.lines().collect();
    assert_eq!(
        rows[0],
        "query_id,n_rel,n_rel_retrieved,recall_at_10,mrr_at_10,judge,permutation,answer,agreed,label_only,pick_only,neither,picks,model,verdicts"
    );
    assert_eq!(
        rows[1],
        "2,2,1,0.5,1.0,bm25,1,valid,1,1,1,1,d1 d3,lexical bm25 v1,"
    );
    assert_eq!(rows.len(), 3);
    let inspect = desk.read("i.csv");
    let rows: Vec<&str> = inspect.lines().collect();
    assert_eq!(
        rows[0],
        "query_id,query_text,qrels_doc_id,qrels_title,qrels_text,ollama_doc_id,ollama_title,ollama_text,judge,model,verdict,sentence"
    );
    assert_eq!(
        rows[1],
        "2,Does aspirin lower fever?,d5,Salicylates,Acetylsalicylic acid is antipyretic.,d3,Fever,\
         \"What a fever is and is not, and when aspirin helps.\",bm25,lexical bm25 v1,,"
    );
    assert_eq!(rows.len(), 2);
}

#[test]
fn a_layout_that_gives_the_labels_away_is_told() {
    let desk = Desk::new();
    let pool = |number: usize| {
        let document = |at: usize| {
            let metadata = if at == 0 {
                json!({"grade": 1})
            } else {
                json!({})
            };
            json!({"id": format!("d{at}"), "content": format!("text {at}"), "metadata": metadata})
        };
        let documents: Vec<Value> = (0..3).map(document).collect();
        json!({"query": {"id": format!("q{number}"), "query": "text"}, "documents": documents})
            .to_string()
    };
    let lines: Vec<String> = (0..5).map(pool).collect();
    desk.write("pools.jsonl", lines.join("\n"));
    desk.done(&["pick", "pools.jsonl", "--judges", "ngram"]);
    let ran = desk.done(&COURT);
    assert!(
        ran.stderr.contains("stand first in every pool"),
        "{}",
        ran.stderr
    );
}

#[test]
fn picks_go_out_and_come_back() {
    let desk = pooled(&[]);
    desk.done(&["pick", "pools.jsonl", "--judges", "bm25"]);
    desk.done(&["export", "picks", "--out", "picks.jsonl"]);
    let other = Desk::new();
    other.write("pools.jsonl", desk.read("pools.jsonl"));
    other.write("picks.jsonl", desk.read("picks.jsonl"));
    let nowhere = ["import", "pools.jsonl", "picks.jsonl", "nowhere"];
    other.refused(&nowhere, 2, &["nowhere: cannot be opened"]);
    other.done(&["import", "pools.jsonl", "picks.jsonl"]);
    let again = other.done(&["import", "picks.jsonl"]);
    assert!(again.text().contains("2 picks, 0 new, 2 there already"));
    let court = |desk: &Desk| desk.json(&["court", "--json"])["judges"].clone();
    assert_eq!(court(&other), court(&desk));
    // Answers about other pools are left out and counted.
    let third = Desk::new();
    third.write("pools.jsonl", desk.read("pools.jsonl"));
    third.write(
        "others.jsonl",
        desk.read("picks.jsonl").replace("\"d2\"", "\"d9\""),
    );
    third.done(&["import", "pools.jsonl", "others.jsonl"]);
    let found = third.json(&["court", "--json"]);
    assert_eq!(found["judges"][0]["permutations"][0]["missing"], 1);
    assert!(
        found["warnings"]
            .to_string()
            .contains("1 answer of pools with other documents than now: left out"),
        "{found}"
    );
}

#[rstest]
#[case::no_query(&["--query", "nowhere"], &["--query: there is no query \"nowhere\""])]
#[case::no_judge(&["--judges", "nobody"], &["no judge is called \"nobody\""])]
#[case::budget(&["--budget=-1"], &["--budget -1: expected dollars"])]
#[case::permutations(&["--permutations", "0"], &["--permutations"])]
fn bad_usage_of_pick_is_refused(#[case] more: &[&str], #[case] words: &[&str]) {
    let desk = pooled(&[]);
    desk.refused(&[&["pick", "pools.jsonl"], more].concat(), 2, words);
    assert!(!desk.path("overrule.db").exists());
}

const ATTACK: &str = "x\u{1b}]0;owned\u{7}\u{1b}[2J\r\u{9b}2J\u{202e}\u{200b}y";

#[test]
fn nothing_hostile_reaches_the_terminal() {
    let desk = Desk::new();
    let document = |at: usize, grade: i64| json!({"id": format!("{at}{ATTACK}"), "content": format!("text {ATTACK} {at}"), "metadata": {"grade": grade, "title": ATTACK}, "score": at});
    let line = json!({"query": {"id": format!("q{ATTACK}"), "query": ATTACK}, "documents": [document(0, 1), document(1, 0)]});
    desk.write("pools.jsonl", line.to_string());
    desk.write(
        "bad.jsonl",
        format!("{{\"query\": \"{ATTACK}\"}}\n")
            .replace('\u{1b}', "\\u001b")
            .replace(['\r', '\u{7}'], ""),
    );
    desk.write("qrels", format!("q{ATTACK} 0 d 1\n"));
    let (query, document) = (format!("q{ATTACK}"), format!("0{ATTACK}"));
    for arguments in [
        &["pick", "pools.jsonl"][..],
        &["pick", "pools.jsonl", "--per-document"],
        &["court"],
        &["court", "--json"],
        &["court", "--disagreements"],
        &[
            "rule",
            "--query",
            &query,
            "--document",
            &document,
            "--ruling",
            "not",
            "--note",
            ATTACK,
        ],
        &[
            "rule",
            "--query",
            &query,
            "--document",
            ATTACK,
            "--ruling",
            "not",
        ],
        &["export", "qrels", "--diff"],
        &["log"],
        &["undo", "--ruling"],
        &["import", "bad.jsonl"],
        &["import", "qrels", "--name", ATTACK],
        &["evaluate", "pools.jsonl", "pools.jsonl"],
        &["evaluate", "pools.jsonl", "pools.jsonl", "--json"],
        &["evaluate", "qrels", "pools.jsonl"],
        &["evaluate", "bad.jsonl", "qrels"],
        &[
            "evaluate",
            "pools.jsonl",
            "pools.jsonl",
            "--metrics",
            ATTACK,
        ],
    ] {
        let ran = desk.run(arguments);
        for text in [ran.text(), &ran.stderr] {
            let bad = text.chars().find(|ch| {
                (ch.is_control() && *ch != '\n')
                    || matches!(ch, '\u{202a}'..='\u{202e}' | '\u{200b}')
            });
            assert_eq!(bad, None, "{arguments:?}: {text:?}");
        }
    }
}

#[test]
fn pools_that_look_alike_are_asked_about_each_for_itself() {
    let desk = Desk::new();
    let pool = |query: &str| {
        json!({"query": {"id": query, "query": "bread"}, "documents": [
            {"id": "a", "content": "bread", "metadata": {"grade": 1}}, {"id": "b", "content": "tin"},
        ]})
        .to_string()
    };
    desk.write("pools.jsonl", [pool("q1"), pool("q2")].join("\n"));
    desk.done(&["pick", "pools.jsonl", "--judges", "bm25", "--query", "q1"]);
    desk.done(&["pick", "--judges", "bm25"]);
    let queries: Vec<Value> = records(&desk)
        .into_iter()
        .map(|record| record["query"].clone())
        .collect();
    assert_eq!(queries, ["q1", "q2"]);
    let found = desk.json(&["court", "--json"]);
    let order = &found["judges"][0]["permutations"][0];
    assert_eq!((&order["valid"], &order["missing"]), (&json!(2), &json!(0)));
}
