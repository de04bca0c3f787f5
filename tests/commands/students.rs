//! `student`: samples, training files and reports, by the binary.

mod distilling;
mod in_use;
mod reports;
mod sampling;
mod stored;
mod training_files;

use crate::support::Sandbox;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A project of six judged queries whose documents are nobody else's.
pub(crate) fn judged() -> Sandbox {
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

/// Predictions of a few pairs: one in both orders.
pub(crate) const PREDICTIONS: &str = "query,a,b,p_a,p_b,p_tie\nq0,q0-d0,q0-d1,.7,.2,.1\nq0,q0-d1,q0-d0,.3,.6,.1\nq0,q0-d2,q0-d1,.1,.5,.4\nq1,q1-d0,q1-d3,.9,.05,.05\n";

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
