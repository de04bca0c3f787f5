//! The cases that ranksmith rejects or gives up on, with the behavior of this program.

use crate::domain::candidate_question::Answer;
use crate::features::methods::domain::reranking::{Method, MethodKind, Strategy, Validation, play};
use serde::Deserialize;

const ERRORS: &str = include_str!("../../../../../tests/golden/ranksmith/errors.json");

#[derive(Deserialize)]
struct Errors {
    cases: Vec<ErrorCase>,
}

#[derive(Deserialize)]
struct ErrorCase {
    case: String,
    error: Option<String>,
}

/// The behavior of this program in a case.
enum Here {
    /// The name is not that of a method.
    Refused(&'static str),
    /// A method with this many candidates, all of whose answers are unreadable.
    Unreadable(&'static str, usize),
    /// Nothing is asked: a single candidate is already in order.
    InOrder(&'static str),
    /// There is no such setting, or Rust's types exclude the value.
    NotThere,
    /// Deliberately different: documents that are too long are truncated and counted.
    Cut,
    /// A failed call is handled by the client; see the tests of the service.
    Call,
}

fn here(case: &str) -> Here {
    match case {
        "Listwise window_size=0" => Here::Refused("rankgpt@20:w0:s1"),
        "Listwise stride=0" => Here::Refused("rankgpt@20:w20:s0"),
        "Listwise stride>window" => Here::Refused("rankgpt@20:w4:s5"),
        "Pairwise passes=0" => Here::Refused("prp@20:p0"),
        "TourRank rounds=0" => Here::Refused("tourrank@20:r0"),
        "top_k=-1 (after all LLM calls)" => Here::Refused("rankgpt@-1"),
        "empty documents" => Here::Unreadable("rankgpt", 0),
        "provider returns garbage" => Here::Unreadable("rankgpt", 5),
        "single document listwise still calls the provider" => Here::Unreadable("rankgpt", 1),
        "single document pairwise never calls" => Here::InOrder("prp"),
        "Listwise max_document_chars=0"
        | "Listwise bad algorithm"
        | "AsyncPairwise pair_order_parallelism=3"
        | "TourRank empty stages"
        | "TourRank group_parallelism=0"
        | "Stage selected=size"
        | "Stage group_count=0"
        | "Stage group_size=0"
        | "Stage selected=0"
        | "empty documents top_k=-1 (not validated)"
        | "document of wrong type"
        | "provider lacks compare()"
        | "provider lacks select()"
        | "custom strategy raises"
        | "subclass of builtin, provider raises" => Here::NotThere,
        "too long document" | "exactly max_document_chars ok" => Here::Cut,
        "TourRank long doc checked before stage check" => Here::Cut,
        "provider raises (builtin strategy)" => Here::Call,
        case => panic!("nobody has said what becomes of {case:?}"),
    }
}

/// The method's strategy, with either way of handling invalid answers.
fn at_work(name: &str, n: usize, validation: Validation) -> Box<dyn Strategy> {
    let method: Method = name.parse().unwrap();
    Method {
        validation,
        ..method
    }
    .strategy(n, 0, 1)
}

#[test]
fn what_ranksmith_refuses_is_refused() {
    let golden: Errors = serde_json::from_str(ERRORS).unwrap();
    let (mut refused, mut played) = (0, 0);
    for ErrorCase { case, error } in &golden.cases {
        match here(case) {
            Here::Refused(name) => {
                refused += 1;
                assert!(error.is_some() && name.parse::<Method>().is_err(), "{case}");
            }
            Here::Unreadable(name, n) => {
                played += 1;
                let mut garbage = |_: &_| Answer::Unreadable("no JSON".to_owned());
                let strict = play(at_work(name, n, Validation::Strict).as_mut(), &mut garbage);
                assert_eq!(strict.is_err(), error.is_some(), "{case}");
                // Nothing in such an answer can be repaired.
                let repaired = play(at_work(name, n, Validation::Repair).as_mut(), &mut garbage);
                assert_eq!(repaired, strict, "{case}");
            }
            Here::InOrder(name) => {
                let mut nobody = |_: &_| panic!("{case} is asked");
                let alone = play(at_work(name, 1, Validation::Strict).as_mut(), &mut nobody);
                assert_eq!(alone.unwrap().ranking.order, [0], "{case}");
            }
            Here::NotThere | Here::Cut | Here::Call => {}
        }
    }
    assert_eq!((refused, played), (6, 3));
    // Any other name is that of a service, a program or a run, which must exist.
    let named: Method = "rankgpt_sliding@20".parse().unwrap();
    assert!(matches!(named.kind, MethodKind::Named(_)));
}
