//! `overrule lists ranking --use-rankings`: stored answers of reranking methods enter the fit without
//! a call.

use crate::desk::{Desk, json_of, told};
use crate::lists::{QUERIES, assert_ranked, desk, ranking, scripted};
use serde_json::json;
use std::process::Output;

const RANKINGS: &str = "rankgpt@10:w4:s2,tourrank@10:r2";

/// Ranks all queries with the first judge.
fn reranked(desk: &Desk) {
    let methods = RANKINGS.split(',').flat_map(|name| ["--method", name]);
    let mut arguments = vec!["rerank", "--yes", "--judges", "one"];
    arguments.extend(methods);
    let output = desk.run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}

/// The ranking of a query from the rankings of the judge `one`, for which nobody may be called.
fn from_rankings(desk: &Desk, query: &str, more: &[&str]) -> Output {
    let before = desk.server.requests().len();
    let arguments = [
        &["lists", "ranking", "--query", query, "--use-rankings"][..],
        more,
    ];
    let output = desk.run(&arguments.concat());
    assert_eq!(desk.server.requests().len(), before);
    output
}

fn distinct_answers(desk: &Desk, query: &str) -> i64 {
    desk.count(&format!(
        "SELECT count(DISTINCT key) FROM rerank_call WHERE of_query = (SELECT id FROM query WHERE name = '{query}')"
    ))
}

#[test]
fn answers_of_rankings_enter_the_fit_without_a_call() {
    let desk = desk();
    reranked(&desk);
    let answers = distinct_answers(&desk, "q1");
    assert!(answers >= 4 + 6, "{answers}");
    let used = ["--judges", "one", "--json"];
    let options = [&[RANKINGS][..], &used].concat();
    let output = from_rankings(&desk, "q1", &options);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let found = json_of(&output);
    let rankings = &found["rankings"];
    assert_eq!(
        (&rankings["answers"], &rankings["malformed"]),
        (&json!(answers), &json!(0)),
        "{found}"
    );
    assert_eq!((&found["lists"], &found["votes"]), (&json!(0), &json!(0)));
    assert_eq!(found["estimated_from_queries"], json!(QUERIES));
    for (at, name) in RANKINGS.split(',').enumerate() {
        let method = json!({
            "method": format!("{name}/one"),
            "state": "complete",
            "complete_queries": QUERIES,
            "incomplete_queries": 0,
            "failed_queries": 0,
        });
        assert_eq!(rankings["methods"][at], method);
    }
    let kinds: Vec<String> = (found["dispersions"].as_array().unwrap().iter())
        .map(|of| format!("{} {}", of["size"], of["answer_form"].as_str().unwrap()))
        .collect();
    assert_eq!(kinds, ["2 best:1", "4 order", "5 best:2", "10 best:5"]);
    assert_ranked(&found);
    // The lists of the same judge do not count before it has qualified, and no ranking counts
    // without the option.
    let refused = ranking(&desk, "q1");
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    // A document that was cut is shown again as it was.
    let cut = ["--max-document-chars", "16", "--method", "rankgpt@9"];
    let output = desk.run(&[&["rerank", "--yes", "--judges", "one"][..], &cut].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let options = [&["rankgpt@9"][..], &used].concat();
    let found = json_of(&from_rankings(&desk, "q1", &options));
    assert_eq!(found["rankings"]["answers"], json!(1), "{found}");
}

#[test]
fn rankings_are_used_as_far_as_their_answers_are_stored() {
    let desk = desk();
    reranked(&desk);
    let last = "SELECT max(id) FROM rerank_call WHERE answer LIKE '%,%,%,%'
        AND NOT answer LIKE '%,%,%,%,%' AND of_query = (SELECT id FROM query WHERE name = 'q1')";
    let answers = distinct_answers(&desk, "q1");
    desk.change(&format!("DELETE FROM rerank_call WHERE id = ({last})"));
    let options = [RANKINGS, "--judges", "one", "--json"];
    let found = json_of(&from_rankings(&desk, "q1", &options));
    let rankings = &found["rankings"];
    assert_eq!(rankings["answers"], json!(answers - 1), "{found}");
    let states = [0, 1].map(|at| rankings["methods"][at]["state"].as_str().unwrap());
    assert_eq!(states, ["incomplete", "complete"]);
    let queries = ["complete_queries", "incomplete_queries"];
    let queries = queries.map(|key| rankings["methods"][0][key].as_u64().unwrap());
    assert_eq!(queries, [QUERIES as u64 - 1, 1]);
    let output = from_rankings(&desk, "q1", &[RANKINGS, "--judges", "one"]);
    assert!(
        told(&output).contains("rankgpt@10:w4:s2/one: incomplete"),
        "{}",
        told(&output)
    );
    // Another judge has no answers, and offline judges store none.
    for (options, why) in [
        (&[RANKINGS, "--judges", "two"][..], "tourrank@10:r2/one"),
        (&[RANKINGS, "--judges", "bm25"], "offline"),
        (&["zelo@10"], "expected rankgpt or tourrank"),
        (&["rankgpt@10,rankgpt@10"], "twice"),
    ] {
        let refused = from_rankings(&desk, "q1", options);
        assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
        assert!(told(&refused).contains(why), "{}", told(&refused));
    }
    let options = ["lists", "ranking", "--query", "q1", "--shuffle-candidates"];
    let refused = desk.run(&options);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
}

#[test]
fn a_repaired_answer_is_not_used() {
    let desk = desk();
    // One document is named twice, and two are missing.
    desk.server
        .answer_marked("question 0", 200, scripted("{\"ranking\": [3, 77, 3]}"));
    let output = desk.run(&[
        "rerank",
        "--yes",
        "--judges",
        "one",
        "--method",
        "rankgpt@10:w4:s2",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(json_of(&output)["methods"][0]["repairs"], json!(4));
    desk.server.forget_marked();
    let refused = from_rankings(&desk, "q0", &["rankgpt@10:w4:s2", "--judges", "one"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    assert!(told(&refused).contains("4 malformed"), "{}", told(&refused));
    reranked(&desk);
    let options = [RANKINGS, "--judges", "one", "--json"];
    let found = json_of(&from_rankings(&desk, "q0", &options));
    let rankings = &found["rankings"];
    assert_eq!(rankings["malformed"], json!(4), "{found}");
    assert_eq!(
        rankings["answers"],
        json!(distinct_answers(&desk, "q0") - 4)
    );
}
