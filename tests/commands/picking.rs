//! `pick`, `adjudication` and `rule` with the offline judges: picks and rulings that are only ever
//! added to, and what they amount to.

use crate::support::{Sandbox, benchmark};
use rstest::rstest;
use serde_json::{Value, json};

/// Pools of four and three documents, with two labeled and one.
fn pooled(more: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    benchmark(&sandbox);
    sandbox.done(&format!(
        "pool build --beir beir --out pools.jsonl --depth 4 {more}"
    ));
    sandbox
}

fn records(sandbox: &Sandbox) -> Vec<Value> {
    let picks = sandbox.done("export picks");
    let text = picks.text();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_offline_judges_pick_as_many_as_are_labelled() {
    let sandbox = pooled("--layout original");
    let ran = sandbox.done("pick pools.jsonl");
    ran.says("lexical, not a language model");
    let records = records(&sandbox);
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
    // d1 and d3 speak of aspirin and fever; d5, which is labeled, has no word of the query.
    let bm25 = records
        .iter()
        .find(|record| record["judge"] == "bm25" && record["query"] == "2")
        .unwrap();
    assert_eq!(
        (&bm25["order"], &bm25["slots"]),
        (&json!(["d1", "d5", "d3", "d2"]), &json!([1, 3]))
    );
    let again = sandbox.done("pick pools.jsonl");
    assert_eq!(self::records(&sandbox), records);
    assert!(
        again.text().lines().nth(1).unwrap().starts_with("bm25"),
        "{}",
        again.text()
    );
}

#[test]
fn adjudication_counts_four_boxes_beside_chance() {
    let sandbox = pooled("--layout original");
    sandbox.done("pick pools.jsonl --judges bm25 --permutations 3");
    let status = sandbox.json("status --json");
    assert_eq!(status["adjudication"]["picks"], 6);
    assert!(sandbox.done("status").text().contains("\nadjudication  "));
    let found = sandbox.json("adjudication --json");
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
    // Two of four where two are labeled, one of three where one is: 1 + 1/3 by chance.
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
    let text = sandbox.done("adjudication");
    for words in [
        "bm25 · lexical bm25 v1 · as many as are labeled",
        "lexical, not a language model",
        "order 2 against order 1: the same picks in 2 of 2 pools",
        "labels that are picked  66.7 %",
    ] {
        assert!(text.text().contains(words), "{words}: {}", text.text());
    }
}

#[test]
fn none_is_an_answer_where_any_number_is_asked_for() {
    let sandbox = pooled("");
    sandbox.done("pick pools.jsonl --judges bm25 --open");
    assert_eq!(records(&sandbox)[0]["ask"], "any-number");
    let found = sandbox.json("adjudication --json");
    let order = &found["judges"][0]["permutations"][0];
    assert_eq!((&order["valid"], &order["missing"]), (&json!(2), &json!(0)));
    // A dataset without labels can be asked about in this way only.
    let bare = r#"{"query":{"id":"q","query":"bread"},"documents":[{"id":"a","content":"tin"},{"id":"b","content":"tram"}]}"#;
    sandbox.write("bare.jsonl", bare);
    sandbox.refused(
        "pick bare.jsonl",
        2,
        &[
            "bare.jsonl: has no label of 1 or more, so the number",
            "--open",
        ],
    );
    sandbox.done("pick bare.jsonl --open --judges bm25");
    let picks = sandbox.done("export picks --query q");
    picks.prints("\"slots\":[]");
}

#[test]
fn every_document_gets_a_verdict_and_its_proof_where_that_is_asked_for() {
    let sandbox = pooled("--layout original");
    sandbox.done("pick pools.jsonl --judges ngram --per-document");
    let found = records(&sandbox);
    let record = found.iter().find(|record| record["query"] == "2").unwrap();
    assert_eq!(record["ask"], "per-document");
    // The others have less than half as much of the query; so has d5, which is labeled.
    let verdicts = json!([
        {"slot": 1, "verdict": "supports", "sentence": "Aspirin lowers fever in adults."},
        {"slot": 2, "verdict": "not_enough", "sentence": null},
        {"slot": 3, "verdict": "supports", "sentence": "What a fever is and is not, and when aspirin helps."},
        {"slot": 4, "verdict": "not_enough", "sentence": null},
    ]);
    assert_eq!(record["verdicts"], verdicts);
    // Another way of asking is another question, and counted by itself.
    sandbox.done("pick pools.jsonl --judges ngram --open");
    assert_eq!(records(&sandbox).len(), 4);
    let text = sandbox.done("adjudication --csv q.csv --inspect i.csv");
    for words in [
        "ngram · lexical ngram v1 · a verdict on every document",
        "supports            3        2          66.7 %",
    ] {
        assert!(text.text().contains(words), "{words}: {}", text.text());
    }
    let found = sandbox.json("adjudication --json");
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
    assert!(sandbox.read("q.csv").contains(sentence));
    let inspect = sandbox.read("i.csv");
    let row = inspect.lines().last().unwrap();
    assert!(
        row.ends_with(",supports,\"What a fever is and is not, and when aspirin helps.\""),
        "{row}"
    );
    sandbox.refused(
        "pick pools.jsonl --open --per-document",
        2,
        &["cannot be used with"],
    );
}

#[test]
fn tables_have_the_columns_of_the_original() {
    let sandbox = pooled("--layout original");
    sandbox.done("pick pools.jsonl --judges bm25");
    sandbox.done("adjudication --csv q.csv --inspect i.csv");
    let per_query = sandbox.read("q.csv");
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
    let inspect = sandbox.read("i.csv");
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
    let sandbox = Sandbox::new();
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
    sandbox.write("pools.jsonl", lines.join("\n"));
    sandbox.done("pick pools.jsonl --judges ngram");
    let ran = sandbox.done("adjudication");
    ran.says("come first in every pool");
}

#[test]
fn picks_go_out_and_come_back() {
    let sandbox = pooled("");
    sandbox.done("pick pools.jsonl --judges bm25");
    sandbox.done("export picks --out picks.jsonl");
    let other = Sandbox::new();
    other.write("pools.jsonl", sandbox.read("pools.jsonl"));
    other.write("picks.jsonl", sandbox.read("picks.jsonl"));
    let nowhere = ["import", "pools.jsonl", "picks.jsonl", "nowhere"];
    other.refused(&nowhere, 2, &["nowhere: cannot be opened"]);
    other.done("import pools.jsonl picks.jsonl");
    let again = other.done("import picks.jsonl");
    assert!(again.text().contains("2 picks, 0 new, 2 already there"));
    let adjudication = |sandbox: &Sandbox| sandbox.json("adjudication --json")["judges"].clone();
    assert_eq!(adjudication(&other), adjudication(&sandbox));
    // Answers about other pools are skipped and counted.
    let third = Sandbox::new();
    third.write("pools.jsonl", sandbox.read("pools.jsonl"));
    third.write(
        "others.jsonl",
        sandbox.read("picks.jsonl").replace("\"d2\"", "\"d9\""),
    );
    third.done("import pools.jsonl others.jsonl");
    let found = third.json("adjudication --json");
    assert_eq!(found["judges"][0]["permutations"][0]["missing"], 1);
    assert!(
        found["warnings"]
            .to_string()
            .contains("1 answer on pools whose documents have changed: skipped"),
        "{found}"
    );
}

#[rstest]
#[case::no_query("--query nowhere", &["--query: no such query: \"nowhere\""])]
#[case::no_judge("--judges nobody", &["no judge is called \"nobody\""])]
#[case::budget("--budget=-1", &["'--budget <USD>': expected a dollar amount"])]
#[case::permutations("--permutations 0", &["--permutations"])]
fn bad_usage_of_pick_is_refused(#[case] more: &str, #[case] words: &[&str]) {
    let sandbox = pooled("");
    sandbox.refused(&format!("pick pools.jsonl {more}"), 2, words);
    assert!(!sandbox.path("overrule.db").exists());
}

const ATTACK: &str = "x\u{1b}]0;owned\u{7}\u{1b}[2J\r\u{9b}2J\u{202e}\u{200b}y";

#[test]
fn nothing_hostile_reaches_the_terminal() {
    let sandbox = Sandbox::new();
    let document = |at: usize, grade: i64| json!({"id": format!("{at}{ATTACK}"), "content": format!("text {ATTACK} {at}"), "metadata": {"grade": grade, "title": ATTACK}, "score": at});
    let line = json!({"query": {"id": format!("q{ATTACK}"), "query": ATTACK}, "documents": [document(0, 1), document(1, 0)]});
    sandbox.write("pools.jsonl", line.to_string());
    sandbox.write(
        "bad.jsonl",
        format!("{{\"query\": \"{ATTACK}\"}}\n")
            .replace('\u{1b}', "\\u001b")
            .replace(['\r', '\u{7}'], ""),
    );
    sandbox.write("qrels", format!("q{ATTACK} 0 d 1\n"));
    let (query, document) = (format!("q{ATTACK}"), format!("0{ATTACK}"));
    for arguments in [
        "pick pools.jsonl",
        "pick pools.jsonl --per-document",
        "adjudication",
        "adjudication --json",
        "adjudication --disagreements",
        &format!("rule --query {query} --document {document} --ruling not --note {ATTACK}"),
        &format!("rule --query {query} --document {ATTACK} --ruling not"),
        "export qrels --diff",
        "log",
        "undo --ruling",
        "import bad.jsonl",
        &format!("import qrels --name {ATTACK}"),
        "evaluate pools.jsonl pools.jsonl",
        "evaluate pools.jsonl pools.jsonl --json",
        "evaluate qrels pools.jsonl",
        "evaluate bad.jsonl qrels",
        &format!("evaluate pools.jsonl pools.jsonl --metrics {ATTACK}"),
    ] {
        sandbox.run(arguments).is_harmless();
    }
}

#[test]
fn pools_that_look_alike_are_asked_about_each_for_itself() {
    let sandbox = Sandbox::new();
    let pool = |query: &str| {
        json!({"query": {"id": query, "query": "bread"}, "documents": [
            {"id": "a", "content": "bread", "metadata": {"grade": 1}}, {"id": "b", "content": "tin"},
        ]})
        .to_string()
    };
    sandbox.write("pools.jsonl", [pool("q1"), pool("q2")].join("\n"));
    sandbox.done("pick pools.jsonl --judges bm25 --query q1");
    sandbox.done("pick --judges bm25");
    let queries: Vec<Value> = records(&sandbox)
        .into_iter()
        .map(|record| record["query"].clone())
        .collect();
    assert_eq!(queries, ["q1", "q2"]);
    let found = sandbox.json("adjudication --json");
    let order = &found["judges"][0]["permutations"][0];
    assert_eq!((&order["valid"], &order["missing"]), (&json!(2), &json!(0)));
}
