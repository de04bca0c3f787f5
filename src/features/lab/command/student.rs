//! `overrule lab student`: how much a student improves on votes alone, in simulation.

use super::sampler::{describe, mean_json, noise};
use crate::cli::argument::{ArgumentError, number};
use crate::cli::command::CommandResult;
use crate::cli::output::{self, or_dash};
use crate::cli::simulation_progress::SimulationProgress;
use crate::domain::ranking::LearnedWeight;
use crate::domain::rating::RatingOptions;
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::features::lab::app::{StudentSimulation, StudentWorth};
use crate::features::lab::domain::{
    MeanInterval, Quality, QueueWorth, Theta, quality_differences, summarize_quality,
};
use clap::Args;
use serde_json::{Value, json};

#[derive(Debug, Args)]
#[command(
    after_help = "--students sets how well the scores of a student correlate with the truth. A \
                  student knows its accuracy, and is wrong about a document \
on all pairs of that document. All columns use the same number of calls. `in the fit` is `overrule \
config project --student NAME \
--student-weight auto`: the student counts as much as the votes support, which may be nothing. `in \
the choice` is `annotate --prior \
student`: the student helps to choose pairs, but scores are computed from votes alone. Changes are \
relative to no student; ± is half of the 95 % \
interval of a mean over queries (Student's t).

Examples:
  overrule lab student
  overrule lab student --documents 50 --students 0.5 --noise 1 --strategies swiss:2,top:4 --json"
)]
pub(crate) struct StudentCommand {
    /// Documents per query
    #[arg(long, default_value_t = 30, value_name = "K", value_parser = clap::value_parser!(u32).range(2..=200))]
    documents: u32,
    /// Number of queries
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    queries: u32,
    /// Distribution of true scores: gaussian, skew (a long upper tail) or graded (four grades)
    #[arg(long, default_value = "gaussian")]
    theta: Theta,
    /// Standard deviation of a judge's own error on a pair; that of the true scores is 1.82
    #[arg(long, value_delimiter = ',', default_value = "0.5,1,2", value_name = "X,…", value_parser = noise)]
    noise: Vec<f64>,
    /// How well students know the documents: correlations with the truth
    #[arg(long, value_delimiter = ',', default_value = "0.4,0.6,0.8", value_name = "R,…", value_parser = correlation)]
    students: Vec<f64>,
    /// Sampling strategies and their budgets, as in `overrule lab sampler`
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "STRATEGY,…",
        default_value = "cycles:2,top:2"
    )]
    strategies: Vec<AdaptivePlan>,
    /// Number of threads [default: one per CPU]; does not change the result
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Random seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn correlation(text: &str) -> Result<f64, ArgumentError> {
    number(text, "a number above 0 and below 1", |of| {
        *of > 0.0 && *of < 1.0
    })
}

/// Results for one level of noise and one student.
struct Case {
    noise: f64,
    correlation: f64,
    worth: Vec<StudentWorth>,
}

impl StudentCommand {
    pub(super) fn run(self) -> CommandResult {
        let queries = self.queries as usize;
        let count = self.noise.len() * self.students.len();
        let mut progress = SimulationProgress::new(queries * count, "queries played");
        let mut cases: Vec<Case> = Vec::new();
        for noise in &self.noise {
            for correlation in &self.students {
                let simulation = StudentSimulation {
                    theta: self.theta,
                    documents: self.documents as usize,
                    queries,
                    noise: *noise,
                    correlation: *correlation,
                    plans: self.strategies.clone(),
                    lambda: RatingOptions::default().lambda,
                    threads: self.threads.map(usize::from),
                    seed: self.seed,
                };
                let before = queries * cases.len();
                let worth = simulation.run(&mut |done| progress.show(before + done))?;
                cases.push(Case {
                    noise: *noise,
                    correlation: *correlation,
                    worth,
                });
            }
        }
        if self.json {
            output::json(&self.as_json(&cases))
        } else {
            output::text(&self.as_text(&cases))
        }
    }

    fn as_text(&self, cases: &[Case]) -> String {
        let mut rows = Vec::new();
        for case in cases {
            for of in &case.worth {
                let alone = summarize_quality(&of.alone);
                let change = |with: Option<&Vec<Quality>>| {
                    let change = with.map(|with| quality_differences(with, &of.alone));
                    [
                        or_dash(change, |change| describe(change.ndcg, true)),
                        or_dash(change, |change| describe(change.tau, true)),
                    ]
                };
                let mut row = vec![
                    case.noise.to_string(),
                    case.correlation.to_string(),
                    of.plan.to_string(),
                    describe(alone.ndcg, false),
                    describe(alone.tau, false),
                    or_dash(of.learned, |learned| learned.weight.to_string()),
                ];
                row.extend(change(Some(&of.in_fit)));
                row.extend(change(of.in_choice.as_ref()));
                row.extend(change(of.in_both.as_ref()));
                rows.push(row);
            }
        }
        let header = [
            ">noise",
            ">student r",
            "strategy",
            ">NDCG@10",
            ">Kendall τ",
            ">weight",
            ">in the fit: NDCG@10",
            ">τ",
            ">in the choice: NDCG@10",
            ">τ",
            ">in both: NDCG@10",
            ">τ",
        ];
        format!(
            "{} simulated queries of {} documents, {} scores, 3 simulated judges, seed {}\n\n{}\n\
             ± is half of the 95 % interval of a mean over queries; changes are against no \
             student, at the same calls, query by query.\n\
             The weight is in battles per document, as far as the votes support it. Simulated: no \
             model was asked.\n",
            self.queries,
            self.documents,
            self.theta,
            self.seed,
            output::table(&header, &rows)
        ) + &queue_text(cases)
    }

    fn as_json(&self, cases: &[Case]) -> Value {
        let cases = cases.iter().flat_map(|case| {
            case.worth.iter().map(move |of| {
                let change = |with: Option<&Vec<Quality>>| {
                    with.map(|with| {
                        let change = quality_differences(with, &of.alone);
                        pair(change.ndcg, change.tau)
                    })
                };
                let alone = summarize_quality(&of.alone);
                json!({
                    "noise": case.noise,
                    "student": case.correlation,
                    "strategy": of.plan.to_string(),
                    "alone": pair(alone.ndcg, alone.tau),
                    "learned": of.learned.map(learned_json),
                    "in_fit": change(Some(&of.in_fit)),
                    "in_choice": change(of.in_choice.as_ref()),
                    "in_both": change(of.in_both.as_ref()),
                    "queue": {
                        "wrong_at_random": share(&of.queue, |of| of.at_random).map(mean_json),
                        "wrong_by_student": share(&of.queue, |of| of.by_student).map(mean_json),
                        "wrong_by_scores": share(&of.queue, |of| of.by_scores).map(mean_json),
                        "student_less_random": share(&of.queue, |of| of.by_student - of.at_random).map(mean_json),
                        "student_less_scores": share(&of.queue, |of| of.by_student - of.by_scores).map(mean_json),
                    },
                })
            })
        });
        json!({
            "simulated": true,
            "scores": self.theta.name(),
            "documents": self.documents,
            "queries": self.queries,
            "seed": self.seed,
            "cases": cases.collect::<Vec<_>>(),
        })
    }
}

/// A mean over queries of a property of their queues.
fn share(queues: &[QueueWorth], of: impl Fn(&QueueWorth) -> f64) -> Option<MeanInterval> {
    MeanInterval::of(&queues.iter().map(of).collect::<Vec<_>>())
}

/// How often votes are wrong for the first pairs of a queue.
fn queue_text(cases: &[Case]) -> String {
    let rows = cases.iter().flat_map(|case| {
        case.worth.iter().map(|of| {
            let mut row = vec![
                case.noise.to_string(),
                case.correlation.to_string(),
                of.plan.to_string(),
            ];
            row.extend([
                describe(share(&of.queue, |of| of.at_random), false),
                describe(share(&of.queue, |of| of.by_student), false),
                describe(share(&of.queue, |of| of.by_scores), false),
                describe(share(&of.queue, |of| of.by_student - of.by_scores), true),
            ]);
            row
        })
    });
    let header = [
        ">noise",
        ">student r",
        "strategy",
        ">wrong at random",
        ">by the student",
        ">by the scores",
        ">student less scores",
    ];
    format!(
        "\n{}\nHow often votes are wrong (half where they tie) on the tenth of a query's voted \
         pairs that a queue shows first: `queue --policy student`\n\
         begins with the votes that it would least have cast, `by the scores` with those least \
         probable by the fit of all votes.\n",
        output::table(&header, &rows.collect::<Vec<_>>())
    )
}

fn pair(ndcg: Option<MeanInterval>, tau: Option<MeanInterval>) -> Value {
    json!({ "ndcg@10": ndcg.map(mean_json), "tau": tau.map(mean_json) })
}

fn learned_json(learned: LearnedWeight) -> Value {
    json!({
        "weight": learned.weight,
        "gain_nats": learned.gain,
        "interval_95": [learned.low, learned.high],
        "queries": learned.queries,
    })
}
