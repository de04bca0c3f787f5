//! Files in columns: every command that reads one reads it by its header and its delimiter, or
//! refuses it.

use crate::support::{Sandbox, dataset};
use rstest::rstest;
use serde_json::{Value, json};

/// Identifiers that are hard to write in a table: starts of formulas, apostrophes, delimiters and
/// quotes.
const IDS: [&str; 6] = ["-5kXyQ", "'-5kXyQ", "=a", "my doc, 1", "\"q\" d", "+1"];

/// Two queries with those documents.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    let pool = |query: &str| {
        let documents =
            IDS.map(|id| json!({"id": id, "content": format!("text of {id}, {query}")}));
        json!({"query": {"id": query, "query": format!("what is {query}?")}, "documents": documents})
    };
    sandbox.write(
        "in.jsonl",
        format!("{}\n{}\n", pool("red shoes"), pool("=7")),
    );
    sandbox.done("annotate in.jsonl out.jsonl --cycles 2");
    let vectors = (1..)
        .zip(IDS)
        .map(|(at, id)| json!({"docno": id, "vector": [1, at]}).to_string());
    sandbox.write("v.jsonl", vectors.collect::<Vec<_>>().join("\n"));
    sandbox
}

fn orders(sandbox: &Sandbox, file: &str) -> Vec<String> {
    sandbox.done(&[
        "sbr",
        "--in",
        file,
        "--vectors",
        "v.jsonl",
        "--out",
        "again.csv",
    ]);
    let mut table = csv::Reader::from_path(sandbox.path("again.csv")).unwrap();
    table
        .records()
        .map(|row| row.unwrap()[1].to_owned())
        .collect()
}

#[test]
fn tables_that_we_wrote_are_read_back() {
    let home = project();
    home.done("export votes --out votes.csv");
    let other = Sandbox::new();
    for name in ["in.jsonl", "votes.csv"] {
        other.write(name, home.read(name));
    }
    other.refused(
        "import votes votes.csv",
        2,
        &[
            "votes.csv:2: query.query: is missing",
            "import its dataset first, or export the votes as JSON lines",
        ],
    );
    other.done("import in.jsonl");
    let ran = other.done("import votes votes.csv");
    ran.says("votes.csv:2: votes, read as query \"red shoes\", a ");
    let scores = |sandbox: &Sandbox| sandbox.json("matrix --query =7 --json")["documents"].clone();
    assert_eq!(scores(&other), scores(&home));
    let again = home.json("import votes votes.csv --json");
    assert_eq!(
        (&again[0]["votes"], &again[0]["queries_added"]),
        (&json!(0), &json!(0))
    );

    home.write(
        "s.csv",
        "query,a,b,p_a,p_b\n=7,-5kXyQ,'-5kXyQ,.5,.2\nred shoes,\"my doc, 1\",=a,.1,.3\n",
    );
    home.done("student import s.csv --name s");
    home.done("export predictions --student s --out s1.csv");
    assert!(
        home.read("s1.csv")
            .contains("'=7,'-5kXyQ,''-5kXyQ,0.5,0.2,")
    );
    home.done("student import s1.csv --name t");
    home.done("export predictions --student t --out s2.csv");
    assert_eq!(home.read("s1.csv"), home.read("s2.csv"));

    home.done("sbr --run original --vectors v.jsonl --out sbr.csv");
    assert_eq!(orders(&home, "sbr.csv").len(), 12);
    assert_eq!(home.read("again.csv"), home.read("sbr.csv"));
    home.done("import sbr.csv");
    let run = home.refused("export run --ranking sbr", 1, &["white space"]);
    assert!(run.text().is_empty());
    let same = home.json("nine --a original --b sbr.csv --json");
    assert_eq!(same["queries"].as_array().unwrap().len(), 2);
}

/// The commands that read a ranking from a file.
const READ_A_RANKING: [&str; 7] = [
    "evaluate q.qrels FILE",
    "compare FILE FILE --truth q.qrels",
    "import FILE",
    "rerank --method original --candidates FILE",
    "rerank --method FILE",
    "sbr --in FILE --vectors v.jsonl --as other",
    "nine --a original --b FILE",
];

#[rstest]
#[case::semicolons(
    "query_id;doc_id;score\nq0;d0;1,5\n",
    "FILE:1: has semicolons between its cells"
)]
#[case::decimal_comma(
    "query_id\tdoc_id\tscore\nq0\td0\t1,5\n",
    "FILE:2: the score \"1,5\" is not a number; write it with a decimal point: 1.5"
)]
#[case::decimal_comma_in_a_run("q0 Q0 d0 1 1,5 r\n", "FILE:1: the score \"1,5\" is not a number")]
#[case::infinite(
    "q0 Q0 d1 1 2 r\nq0 Q0 d0 2 inf r\n",
    "FILE:2: the score \"inf\" is infinite; write a finite score, or remove the row"
)]
#[case::too_large(
    "qid,docno,score\nq0,d0,-1e999\n",
    "FILE:2: the score \"-1e999\" is infinite"
)]
#[case::not_a_number(
    "qid,docno,score,text\nq0,d0,nan,x\n",
    "FILE:2: the score \"nan\" is not a number"
)]
#[case::null_in_ranx(
    "{\"q0\": {\"d1\": 0.5,\n\"d0\": null}}",
    "FILE:2: query \"q0\": the number of document \"d0\" is null; write a finite number"
)]
#[case::nan_in_ranx(
    "{\"q0\":{\"d0\":NaN}}",
    "FILE:1: query \"q0\": the number of document \"d0\" is NaN; write a finite number"
)]
#[case::no_header(
    "q0\td0\nq0\td1\n",
    "FILE:1: has 2 columns and no header; the first line must name them"
)]
#[case::unknown_column(
    "query_id,doc_id,stars\nq0,d0,3\n",
    "FILE:1: no column of the header is a score or a rank, and stars may be anything"
)]
#[case::another_delimiter(
    "q0\tQ0\td0\t1\t3\tr\nq0 Q0 d1 2 2 r\n",
    "FILE:2: has 1 column; a line of a run has 6"
)]
#[case::open_quote(
    "query_id,doc_id,score\nq0,\"d0,1\nq0,d1,2\n",
    "FILE:2: a quoted cell of this row is never closed"
)]
fn a_file_that_does_not_say_what_it_holds_is_refused_by_every_command(
    #[case] text: &str,
    #[case] words: &str,
) {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([3]));
    sandbox.done("import in.jsonl");
    sandbox.write("q.qrels", "q0 0 d0 1\n");
    sandbox.write("v.jsonl", "{\"docno\": \"d0\", \"vector\": [1]}\n");
    sandbox.write("f.txt", text);
    for command in READ_A_RANKING {
        let ran = sandbox.refused(
            &command.replace("FILE", "f.txt"),
            2,
            &[&words.replace("FILE", "f.txt")],
        );
        assert!(ran.text().is_empty(), "{command}");
    }
    assert_eq!(sandbox.count("SELECT count(*) FROM ranked"), 0);
    assert_eq!(sandbox.count("SELECT count(*) FROM label"), 0);
}

#[test]
fn every_command_reads_a_table_with_spaces_commas_and_quotes() {
    let sandbox = project();
    let mut rows = String::from("\u{feff}Score\tQuery-ID\tDoc_ID\r\n");
    for (at, id) in IDS.iter().enumerate() {
        let cell = if id.contains('"') {
            format!("\"{}\"", id.replace('"', "\"\""))
        } else {
            (*id).to_owned()
        };
        rows += &format!("{}\tred shoes\t{cell}\r\n", at as f64 / 2.0);
    }
    sandbox.write("r.tsv", &rows);
    sandbox.write(
        "q.csv",
        "query,docid,rating\r\nred shoes,+1,3\r\nred shoes,\"my doc, 1\",0\r\nstar trek\r\n",
    );
    let found = sandbox.json("evaluate q.csv r.tsv --metrics ndcg@10 --json");
    assert_eq!(found["metrics"]["ndcg@10"]["mean"], 1.0);
    assert!(
        found["warnings"]
            .to_string()
            .contains("1 row without a rating")
    );
    sandbox.done("compare r.tsv r.tsv --truth q.csv");
    let ran = sandbox.done("import q.csv r.tsv");
    ran.says("q.csv:2: ratings (Quepid), read as query \"red shoes\", document \"+1\", grade 3");
    ran.says("r.tsv:2: rankings, read as query \"red shoes\", document \"-5kXyQ\", score 0");
    assert_eq!(sandbox.count("SELECT count(*) FROM label"), 2);
    sandbox.done("rerank --method original --candidates r.tsv");
    sandbox.done(&["rerank", "--method", "r.tsv", "--query", "red shoes"]);
    assert_eq!(orders(&sandbox, "r.tsv").len(), IDS.len());
    sandbox.done("nine --a original --b r.tsv");
}

#[test]
fn the_kind_may_be_named() {
    let sandbox = Sandbox::new();
    sandbox.write("ids.tsv", "q0\tmy doc\nq0\tother\n");
    sandbox.refused("import ids.tsv", 2, &["has 2 columns and no header"]);
    let ran = sandbox.done("import ids.tsv --as ranking");
    ran.says("ids.tsv:1: a list of candidates, read as query \"q0\", document \"my doc\"");
    ran.prints("ranking ids of 1 query, new");
    sandbox.write("r.json", r#"{"q0":{"d0":2,"d1":1}}"#);
    sandbox.done("import r.json").prints("2 labels");
    sandbox
        .done("import r.json --as run")
        .prints("ranking r of 1 query");
    sandbox.write("s.tsv", "query-id\tcorpus-id\tscore\nq0\td0\t0.5\n");
    sandbox.refused(
        "import s.tsv",
        2,
        &["s.tsv:2: the grade \"0.5\" is not a whole number"],
    );
    sandbox
        .done("import s.tsv --as ranking")
        .prints("ranking s of 1 query");
    sandbox.refused("import s.tsv --as labels", 2, &["is not a whole number"]);
    sandbox.refused("import s.tsv --as dataset", 2, &["s.tsv:1: broken JSON"]);
}

#[test]
fn arrays_and_whole_numbers_are_read() {
    let sandbox = Sandbox::new();
    let requests = json!([
        {"query": {"text": "life of a flea", "qid": 264014}, "candidates": [
            {"docid": 1, "score": 15.7, "doc": {"contents": "A flea lives long."}},
            {"docid": "2", "score": 14.2, "doc": {"contents": "Four stages."}},
        ]},
    ]);
    sandbox.write("r.json", serde_json::to_string_pretty(&requests).unwrap());
    let ran = sandbox.done("import r.json");
    ran.says("r.json:2: a dataset, read as query \"264014\" (\"life of a flea\") with 2 documents, the first of them \"1\"");
    sandbox.done("annotate r.json out.jsonl");
    sandbox.write("q.qrels", "264014 0 1 1\n");
    let found = sandbox.json("evaluate q.qrels r.json --metrics ndcg@10 --json");
    assert_eq!(found["metrics"]["ndcg@10"]["mean"], 1.0);
    let pair = |more: Value| {
        let mut row = json!({"query": 264014, "a": 1, "b": "2"});
        row.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!([row]).to_string()
    };
    sandbox.write("gold.json", pair(json!({"decision": "a"})));
    sandbox
        .done("gold import gold.json")
        .prints("1 gold item added");
    sandbox.write("p.json", pair(json!({"p_a": 0.5, "p_b": 0.25})));
    sandbox
        .done("student import p.json --name s")
        .says("1 pair of 1 query");
    let vote = json!([{"query": {"id": 264014}, "a": {"id": 1}, "b": {"id": 2}, "by": "g", "kind": "llm", "score": -1}]);
    sandbox.write("v.json", vote.to_string());
    sandbox.done("import votes v.json").prints("1 vote of g");
    sandbox.refused(
        "import v.json",
        2,
        &["holds votes on pairs; `overrule import votes v.json`"],
    );
}

#[test]
fn a_run_is_ordered_by_score_everywhere_and_ranks_that_differ_are_told() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([3]));
    sandbox.done("import in.jsonl");
    sandbox.write("q.qrels", "q0 0 d2 1\n");
    // By rank d0 is first; by score d2 and d1, of which the larger identifier comes first.
    sandbox.write("r.run", "q0 Q0 d0 1 1 x\nq0 Q0 d1 2 3 x\nq0 Q0 d2 3 3 x\n");
    let words = "r.run: the ranks of 1 query contradict the scores: ordered by score, as trec_eval does (q0)";
    let found = sandbox.json("evaluate q.qrels r.run --metrics mrr --json");
    assert_eq!(found["metrics"]["mrr"]["mean"], 1.0);
    assert!(found["warnings"].to_string().contains(words), "{found}");
    sandbox.done("import r.run").says(words);
    let order = |text: &str| -> Vec<String> {
        let documents = text
            .lines()
            .map(|line| line.split(' ').nth(2).unwrap().to_owned());
        documents.collect()
    };
    assert_eq!(
        order(sandbox.done("export run --ranking r").text()),
        ["d2", "d1", "d0"]
    );
    sandbox.done("rerank --method r.run").says(words);
    assert_eq!(
        order(sandbox.done("export run --ranking r.run").text()),
        ["d2", "d1", "d0"]
    );
}

#[test]
fn infinite_scores_that_an_earlier_version_imported_are_named() {
    let sandbox = project();
    sandbox.write(
        "r.tsv",
        "query\tdoc\tscore\nred shoes\t+1\t2\nred shoes\t=a\t1\n",
    );
    sandbox.done("import r.tsv");
    rusqlite::Connection::open(sandbox.project())
        .unwrap()
        .execute("UPDATE ranked SET score = 9e999 WHERE document = '=a'", [])
        .unwrap();
    sandbox.refused(
        "sbr --run r --vectors v.jsonl --as other",
        2,
        &["r: the score of document \"=a\" of query \"red shoes\" is infinite"],
    );
}
