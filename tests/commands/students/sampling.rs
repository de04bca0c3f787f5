//! `student sample`: pairs drawn, and pairs planned.

use super::{JUDGES, judged, judged_in, lines};
use crate::support::Sandbox;
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[test]
fn a_sample_is_even_uses_no_document_twice_and_splits_by_query() {
    let sandbox = judged();
    let drawn = sandbox.done("student sample --pairs 12 --train 8 --seed 3");
    drawn.says("12 pairs: 4 queries for training, 2 queries for testing; 2 pairs per query");
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
        &["cannot sample 25 pairs", "the maximum is 24"],
    );
    sandbox.refused(
        "student sample --pairs 4294967295",
        2,
        &["the maximum is 24"],
    );
    sandbox.refused(
        "student sample --pairs 2 --train 3",
        2,
        &["3 training pairs are more than 2 in total"],
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
    planned.says("judge them with");
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
        &["was judged by bm25,ngram,proximity"],
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
        &["cannot sample 25 pairs", "the maximum is 24"],
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
        &["was judged by bm25,ngram,proximity"],
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
