//! A student beside paid judges whose documents have a known relevance: the same calls, better
//! rankings.

use crate::desk::{Desk, told};
use crate::fake_provider::normal;
use serde_json::{Value, json};
use std::fmt::Write as _;

const QUERIES: usize = 40;
const DOCUMENTS: usize = 16;
/// Standard deviation of the true relevance.
const SPREAD: f64 = 1.82;
/// The correlation of what the student believes with the truth.
const KNOWS: f64 = 0.8;

fn relevance(query: usize, document: usize) -> f64 {
    SPREAD * normal(&["truth", &query.to_string(), &document.to_string()])
}

/// The student's estimate: it sees the relevance through noise, and shrinks it accordingly.
fn believed(query: usize, document: usize) -> f64 {
    let unseen = SPREAD * (1.0 / (KNOWS * KNOWS) - 1.0).sqrt();
    let noise = normal(&["student", &query.to_string(), &document.to_string()]);
    KNOWS * KNOWS * (relevance(query, document) + unseen * noise)
}

/// A desk with pools of known relevance, and a student of them in the project.
fn desk() -> Desk {
    let desk = Desk::new("");
    let (mut pools, mut predictions) = (String::new(), String::new());
    for query in 0..QUERIES {
        let documents: Vec<Value> = (0..DOCUMENTS)
            .map(|at| {
                json!({ "id": format!("d{at}"), "content": format!("relevance {:.4} of document {at}", relevance(query, at)) })
            })
            .collect();
        let pool = json!({ "query": { "id": format!("q{query}"), "query": format!("noise 2.0 number {query}") }, "documents": documents });
        writeln!(pools, "{pool}").unwrap();
        for a in 0..DOCUMENTS {
            for b in a + 1..DOCUMENTS {
                let gap = believed(query, b) - believed(query, a);
                // What is not known of the gap, and what the judges misread, flatten the curve.
                let q = 1.0 / (1.0 + (-gap / 1.5).exp());
                let line = json!({
                    "query": format!("q{query}"), "a": format!("d{a}"), "b": format!("d{b}"),
                    "p_a": (1.0 - q) * (1.0 - q), "p_b": q * q, "p_tie": 2.0 * q * (1.0 - q),
                });
                writeln!(predictions, "{line}").unwrap();
            }
        }
    }
    std::fs::write(desk.path("in.jsonl"), pools).unwrap();
    std::fs::write(desk.path("student.jsonl"), predictions).unwrap();
    done(&desk, &["import", "in.jsonl"]);
    done(
        &desk,
        &["student", "import", "student.jsonl", "--name", "small"],
    );
    done(&desk, &["config", "project", "--student", "small"]);
    desk
}

fn done(desk: &Desk, arguments: &[&str]) -> String {
    let output = desk.run(arguments);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{arguments:?}: {}",
        told(&output)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The project's scores, query by query.
fn scores(desk: &Desk) -> Vec<Vec<f64>> {
    let text = done(desk, &["export", "annotated"]);
    let pool = |line: &str| -> Vec<f64> {
        let pool: Value = serde_json::from_str(line).unwrap();
        pool["documents"]
            .as_array()
            .unwrap()
            .iter()
            .map(|of| of["score"].as_f64().unwrap())
            .collect()
    };
    text.lines().map(pool).collect()
}

/// Kendall's τ with the truth, query by query.
fn taus(scores: &[Vec<f64>]) -> Vec<f64> {
    let of = |(query, scores): (usize, &Vec<f64>)| {
        let mut sum = 0.0;
        for a in 0..DOCUMENTS {
            for b in a + 1..DOCUMENTS {
                let agree = (scores[b] - scores[a]) * (relevance(query, b) - relevance(query, a));
                sum += agree.signum();
            }
        }
        2.0 * sum / (DOCUMENTS * (DOCUMENTS - 1)) as f64
    };
    scores.iter().enumerate().map(of).collect()
}

/// NDCG@10 with gains 7, 3 and 1 for the first two, the next two and the next four, query by query.
fn ndcgs(scores: &[Vec<f64>]) -> Vec<f64> {
    let of = |(query, scores): (usize, &Vec<f64>)| {
        let best_first = |value: &dyn Fn(usize) -> f64| {
            let mut order: Vec<usize> = (0..DOCUMENTS).collect();
            order.sort_by(|x, y| value(*y).total_cmp(&value(*x)));
            order
        };
        let ideal = best_first(&|at| relevance(query, at));
        let gain = |document: usize| {
            let rank = ideal.iter().position(|at| *at == document).unwrap();
            [7.0, 3.0, 1.0, 0.0][[2, 4, 8].iter().filter(|last| rank >= **last).count()]
        };
        let dcg = |order: &[usize]| -> f64 {
            let first = order.iter().take(10).enumerate();
            first
                .map(|(rank, at)| gain(*at) / (rank as f64 + 2.0).log2())
                .sum()
        };
        dcg(&best_first(&|at| scores[at])) / dcg(&ideal)
    };
    scores.iter().enumerate().map(of).collect()
}

/// The mean of the differences, and half of its 95 % interval (Student's t with 39 degrees of
/// freedom).
fn change(with: &[f64], without: &[f64]) -> (f64, f64) {
    let n = with.len() as f64;
    let gains: Vec<f64> = with.iter().zip(without).map(|(x, y)| x - y).collect();
    let mean = gains.iter().sum::<f64>() / n;
    let squares: f64 = gains.iter().map(|gain| (gain - mean).powi(2)).sum();
    (mean, 2.023 * (squares / (n - 1.0) / n).sqrt())
}

#[test]
fn a_student_betters_rankings_at_the_same_calls_and_is_off_unless_asked() {
    let judging = [
        "annotate",
        "in.jsonl",
        "out.jsonl",
        "--sampler",
        "top",
        "--battles",
        "1.5",
        "--yes",
    ];
    let plain = desk();
    done(&plain, &judging);
    let calls = plain.server.total_calls();
    let alone = scores(&plain);
    let weight = |desk: &Desk, weight: &str| {
        done(desk, &["config", "project", "--student-weight", weight]);
    };
    weight(&plain, "auto");
    let in_fit = scores(&plain);
    assert!(told(&plain.run(&["export", "run"])).contains("scores count student small too"));
    // Off again, every score is what it was.
    weight(&plain, "0");
    assert_eq!(scores(&plain), alone);

    let chosen = desk();
    done(&chosen, &[&judging[..], &["--prior", "student"]].concat());
    assert_eq!(chosen.server.total_calls(), calls);
    let in_choice = scores(&chosen);
    weight(&chosen, "auto");
    let in_both = scores(&chosen);

    let mean = |of: Vec<f64>| of.iter().sum::<f64>() / of.len() as f64;
    println!(
        "alone: {calls} calls, NDCG@10 {:.3}, τ {:.3}",
        mean(ndcgs(&alone)),
        mean(taus(&alone))
    );
    let mut gains = Vec::new();
    for (name, with) in [
        ("in the fit", &in_fit),
        ("in the choice", &in_choice),
        ("in both", &in_both),
    ] {
        let ndcg = change(&ndcgs(with), &ndcgs(&alone));
        let tau = change(&taus(with), &taus(&alone));
        println!(
            "{name}: NDCG@10 {:+.3} ± {:.3}, τ {:+.3} ± {:.3}",
            ndcg.0, ndcg.1, tau.0, tau.1
        );
        gains.push(tau);
    }
    // Where it counts in the fit, it betters the order of all documents beyond chance.
    for (mean, half) in [gains[0], gains[2]] {
        assert!(mean - half > 0.0, "{gains:?}");
    }
}
