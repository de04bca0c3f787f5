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

/// Pools in the project, picked from by one judge: query 2 has d5 missed and d3 picked for it.
fn in_court() -> Desk {
    let desk = Desk::new();
    benchmark(&desk);
    desk.done(&[
        "pool", "build", "--beir", "beir", "--depth", "4", "--layout", "original",
    ]);
    desk.done(&["pick", "--judges", "bm25"]);
    desk
}

fn rule(desk: &Desk, document: &str, ruling: &str, more: &[&str]) -> Value {
    let fixed = [
        "rule",
        "--query",
        "2",
        "--document",
        document,
        "--ruling",
        ruling,
        "--json",
    ];
    desk.json(&[&fixed[..], more].concat())
}

#[test]
fn disagreements_come_in_the_order_of_what_they_move() {
    let desk = in_court();
    let list = |more: &[&str]| -> Vec<Value> {
        let fixed = ["court", "--disagreements", "--json"];
        desk.json(&[&fixed[..], more].concat())
            .as_array()
            .unwrap()
            .clone()
    };
    let found = list(&[]);
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
        list(&["--order", "random"])
            .iter()
            .all(|row| row["control"] == true)
    );
    rule(&desk, "d3", "not", &[]);
    let left = list(&[]);
    assert_eq!((left.len(), &left[0]["document"]), (1, &json!("d5")));
    let other = desk.json(&["court", "--disagreements", "--json", "--annotator", "ada"]);
    assert_eq!(
        other.as_array().unwrap().len(),
        2,
        "everybody rules for themselves"
    );
}

#[test]
fn rulings_correct_labels_and_rankings_and_are_taken_back() {
    let desk = in_court();
    let ruled = rule(
        &desk,
        "d3",
        "relevant",
        &["--cause", "label-missing", "--note", "=1+1"],
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
    rule(&desk, "d5", "not", &["--cause", "label-wrong"]);
    let found = desk.json(&["court", "--json"]);
    assert_eq!(found["rulings"]["labels_changed"], 2);
    assert_eq!(found["rulings"]["causes"]["label-wrong"], 1);
    let ranking = &found["rankings"][0];
    assert_eq!(ranking["ranking"], "bm25-overrule");
    // d1 and d3 are found of d1 and d3, where it was d1 of d1 and d5.
    let recall = &ranking["metrics"]["recall@10"];
    assert_eq!(recall["before"]["mean"], (0.5 + 1.0) / 2.0);
    assert_eq!(recall["after"]["mean"], 1.0);
    assert_eq!(recall["difference"]["mean"], 0.25);

    desk.done(&["export", "qrels", "--corrected", "--out", "c.tsv"]);
    assert_eq!(
        desk.read("c.tsv"),
        "query-id\tcorpus-id\tscore\n10\td6\t1\n2\td1\t2\n2\td2\t0\n2\td3\t2\n2\td5\t0\n"
    );
    let side = desk.read("c_rulings.csv");
    assert!(
        side.contains("2,d3,,2,relevant,label-missing,'=1+1,"),
        "{side}"
    );
    let diff = desk.done(&["export", "qrels", "--diff"]);
    assert_eq!(diff.text(), "+ 2 0 d3 2\n- 2 0 d5 1\n+ 2 0 d5 0\n");
    let graded = desk.done(&["export", "qrels", "--diff", "--grades", "1,3"]);
    assert!(
        graded.text().starts_with("+ 2 0 d3 3\n"),
        "{}",
        graded.text()
    );

    let run = [
        "pool",
        "build",
        "--beir",
        "beir",
        "--depth",
        "4",
        "--out",
        "p.jsonl",
        "--run-out",
        "r.trec",
    ];
    desk.done(&run);
    let truth = "beir/qrels/test.tsv";
    let measured = desk.json(&[
        "evaluate",
        "c.tsv",
        "r.trec",
        "--before",
        truth,
        "--metrics",
        "recall@10",
        "--json",
    ]);
    let measured = &measured["metrics"]["recall@10"];
    assert_eq!(
        (&measured["before"], &measured["mean"]),
        (&json!(0.75), &json!(1.0))
    );
    assert_eq!(measured["difference"]["mean"], 0.25);

    let taken = desk.json(&["undo", "--ruling", "--json"]);
    assert_eq!(taken["document"], "d5");
    assert_eq!(
        desk.done(&["export", "qrels", "--diff"]).text(),
        "+ 2 0 d3 2\n"
    );
    let log = desk.json(&["log", "--query", "2", "--json"]);
    let events: Vec<&str> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["event"].as_str().unwrap())
        .collect();
    assert_eq!(events, ["ruling", "ruling", "ruling undo"]);
    desk.done(&["undo", "--ruling"]);
    desk.refused(&["undo", "--ruling"], 2, &["no ruling by"]);
    let labels = desk.done(&["export", "qrels", "--form", "beir", "--corrected"]);
    assert_eq!(
        labels.text(),
        desk.done(&["export", "qrels", "--form", "beir"]).text()
    );
}

#[test]
fn several_people_rule_and_their_files_are_united() {
    let desk = in_court();
    let ada = in_court();
    rule(&desk, "d3", "relevant", &["--annotator", "bob"]);
    rule(&ada, "d3", "not", &["--annotator", "ada"]);
    rule(&ada, "d5", "not", &["--annotator", "ada"]);
    ada.done(&["undo", "--ruling", "--annotator", "ada"]);
    std::fs::copy(ada.path("overrule.db"), desk.path("ada.db")).unwrap();
    let merged = desk.json(&["merge", "ada.db", "--json"]);
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
    let again = desk.json(&["merge", "ada.db", "--json"]);
    assert_eq!([&again["rulings"], &again["undos"]], [&json!(0), &json!(0)]);
    let found = desk.json(&["court", "--json"]);
    assert_eq!(
        [
            &found["rulings"]["standing"],
            &found["rulings"]["in_force"],
            &found["rulings"]["conflicts"]
        ],
        [&json!(2), &json!(1), &json!(1)]
    );
    desk.done(&["config", "project", "--final", "majority"]);
    let found = desk.json(&["court", "--json"]);
    assert_eq!(found["rulings"]["in_force"], 0, "nobody has a majority");
    desk.done(&["merge", "ada.db"]);
    // A project that has nothing yet gets everything.
    let new = Desk::new();
    benchmark(&new);
    new.done(&["import", "beir/qrels/test.tsv"]);
    std::fs::copy(desk.path("overrule.db"), new.path("other.db")).unwrap();
    let all = new.json(&["merge", "other.db", "--json"]);
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
#[case::document(&["--document", "nowhere", "--ruling", "not"], &["no document \"nowhere\""])]
#[case::finding(&["--document", "d1", "--ruling", "maybe"], &["is not a ruling: expected relevant"])]
#[case::cause(&["--document", "d1", "--ruling", "not", "--cause", "other"], &["label-wrong"])]
fn bad_rulings_are_refused(#[case] more: &[&str], #[case] words: &[&str]) {
    let desk = in_court();
    desk.refused(&[&["rule", "--query", "2"], more].concat(), 2, words);
    assert_eq!(desk.json(&["court", "--json"])["rulings"]["standing"], 0);
}

#[test]
fn labels_that_contradict_are_refused_and_nothing_is_lost() {
    let desk = in_court();
    desk.write(
        "other.tsv",
        "query-id\tcorpus-id\tscore\n9\td1\t1\n2\td1\t1\n",
    );
    desk.refused(
        &["import", "other.tsv"],
        2,
        &["query \"2\", document \"d1\": labelled 1 here and 2 in the project"],
    );
    assert!(!desk.done(&["export", "qrels"]).text().contains("9 0 d1"));
    let same = desk.done(&["import", "beir/qrels/test.tsv"]);
    assert!(
        same.text().contains("4 labels, 0 new, 4 there already"),
        "{}",
        same.text()
    );
    desk.write(
        "run.csv",
        "query_id,corpus_id,rank,score\n2,d5,1,3.5\n2,d1,2,1.5\n",
    );
    let run = desk.done(&["import", "run.csv", "--name", "mine"]);
    assert!(
        run.text().contains("ranking mine of 1 query, new"),
        "{}",
        run.text()
    );
    let found = desk.json(&["court", "--json"]);
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
    let desk = Desk::new();
    benchmark(&desk);
    let summary = desk.json(&["import", "beir", "--json"]);
    assert_eq!(summary["pools"]["count"], 2);
    assert_eq!(
        desk.json(&["queries", "--json"]).as_array().unwrap().len(),
        2
    );
    assert!(
        desk.done(&["export", "qrels"])
            .text()
            .contains("2 0 d5 1\n")
    );
    // Without picks there are rankings to measure, and rulings to measure them by.
    desk.refused(&["court", "--disagreements"], 2, &["no judge has picked"]);
    rule(&desk, "d5", "not", &[]);
    let found = desk.json(&["court", "--json"]);
    assert_eq!(
        (&found["judges"], &found["rulings"]["labels_changed"]),
        (&json!([]), &json!(1))
    );
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("no judge has picked yet"), "{warnings}");
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

#[test]
fn a_ranking_keeps_the_queries_of_another_split_and_those_without_a_hit() {
    let desk = Desk::new();
    benchmark(&desk);
    desk.write(
        "beir/qrels/dev.tsv",
        "query-id\tcorpus-id\tscore\nnone\td1\t1\n",
    );
    let queries = desk.read("beir/queries.jsonl");
    desk.write(
        "beir/queries.jsonl",
        format!("{queries}{{\"_id\":\"none\",\"text\":\"zzz\"}}\n"),
    );
    for split in ["test", "dev"] {
        desk.done(&[
            "pool", "build", "--beir", "beir", "--depth", "4", "--split", split,
        ]);
    }
    desk.done(&["pick", "--judges", "bm25"]);
    let found = desk.json(&["court", "--json"]);
    assert_eq!(found["rankings"][0]["ranking"], "bm25-overrule");
    // Half and all of the two of test, and nothing of the one of dev.
    let recall = &found["rankings"][0]["metrics"]["recall@10"];
    assert_eq!(recall["before"]["mean"], 0.5);
    assert_eq!(recall["difference"]["queries"], 3);
}

#[test]
fn who_has_seen_the_label_does_not_rule_blind_and_the_log_says_what_changed() {
    let desk = in_court();
    rule(&desk, "d3", "relevant", &[]);
    rule(&desk, "d3", "not", &[]);
    desk.done(&["undo", "--ruling"]);
    let log = desk.json(&["log", "--query", "2", "--json"]);
    let changes: Vec<(Value, Value)> = log
        .as_array()
        .unwrap()
        .iter()
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
    let plain = Desk::new();
    let pool = |query: &str, grade: i64| {
        json!({"query": {"id": query, "query": "bread"}, "documents": [
            {"id": "a", "content": "bread", "metadata": {"grade": grade}}, {"id": "b", "content": "a tin of bread"},
        ]})
        .to_string()
    };
    plain.write("plain.jsonl", pool("q1", 1));
    plain.write("graded.jsonl", pool("q2", 3));
    plain.done(&["pick", "plain.jsonl", "--judges", "bm25"]);
    plain.done(&[
        "rule",
        "--query",
        "q1",
        "--document",
        "b",
        "--ruling",
        "relevant",
    ]);
    plain.done(&["import", "graded.jsonl"]);
    plain.done(&[
        "rule",
        "--query",
        "q2",
        "--document",
        "b",
        "--ruling",
        "relevant",
    ]);
    let diff = plain.done(&["export", "qrels", "--diff"]);
    assert_eq!(diff.text(), "+ q1 0 b 1\n+ q2 0 b 2\n");
    let one = plain.done(&["export", "qrels", "--diff", "--query", "q2"]);
    assert_eq!(one.text(), "+ q2 0 b 2\n");
}

#[test]
fn identifiers_that_a_terminal_would_obey_are_not_written() {
    let desk = Desk::new();
    desk.write("qrels", "q 0 d\u{1b}[31m 1\n");
    desk.done(&["import", "qrels"]);
    for form in ["trec", "beir"] {
        let ran = desk.run(&["export", "qrels", "--form", form]);
        assert_eq!(ran.code, Some(1));
        assert!(ran.stderr.contains("control characters"), "{}", ran.stderr);
        assert!(!ran.text().contains('\u{1b}'));
    }
}
