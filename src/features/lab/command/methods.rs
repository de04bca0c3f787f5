//! `overrule lab methods`: compares ranking methods in simulation.

mod front;

use super::sampler::{describe, mean_json, noise};
use crate::app::text_format::counted;
use crate::cli::argument::share;
use crate::cli::command::{CommandResult, usage};
use crate::cli::output::{self, or_dash};
use crate::cli::simulation_progress::SimulationProgress;
use crate::features::lab::app::{MethodResult, MethodSimulation};
use crate::features::lab::domain::{Noise, Theta, summarize_quality};
use crate::features::methods::domain::reranking::{Method, MethodKind, MethodOptions, Shuffle};
use clap::Args;
use front::Fronts;
use serde_json::{Value, json};

/// All kinds of methods with common settings, and zELO and Swiss InfoGain at several budgets.
const HEADLINE: &str = "original,pointwise:yesno,pointwise:grade,rankgpt,setwise:c3,tourrank:r1,tourrank:r2,tourrank:r10,prp:p1,prp:p3,prp:p10,zelo:b1,zelo:b2,zelo:b4,zelo:b8,infogain:r4,infogain:r10,infogain:r20,mohajer:k10";

#[derive(Debug, Args)]
#[command(
    after_help = "A method is NAME[@N][:OPTIONS], as described in `overrule manual methods`; \
                  without @N it reranks all candidates. All methods \
see the same queries in the same first-stage order, and ask the same judge; if there are several \
judges, zelo asks all of them. \
Calls are per query. Texts are the documents that the calls show, which determine the length of \
prompts. Waits are how often a method needs \
answers before it can continue. A method is on the front if no other method has a better NDCG@10 \
at the same cost or less.

Errors of judges: in a comparison, the error has a standard deviation of --noise per pair, of 0.50 \
shared by all judges, and of 0.30 \
per call, and there is a bias to the document shown first. In a list or a grade, each document and \
prompt has an error that makes two documents as hard \
to distinguish as in a comparison, no matter how long the list is. Real models do worse with long \
prompts, and their grades \
need not be on one scale. The table compares algorithms, not prompts.

Examples:
  overrule lab methods
  overrule lab methods --documents 20 --noise 1.6 --methods rankgpt,tourrank:r10,zelo:b8 --judges 3
  overrule lab methods --methods rankgpt@50:w10:s5,setwise:c10 --documents 100 --json"
)]
pub(crate) struct MethodsCommand {
    /// Candidates per query; one table for each number
    #[arg(long, value_delimiter = ',', default_value = "20,100", value_name = "K,…", value_parser = clap::value_parser!(u32).range(2..=1000))]
    documents: Vec<u32>,
    /// Standard deviation of a judge's own error on a pair; that of the true scores is 1.82; one
    /// table each
    #[arg(long, value_delimiter = ',', default_value = "0.35,0.8,1.6", value_name = "X,…", value_parser = noise)]
    noise: Vec<f64>,
    /// Queries per table
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    queries: u32,
    /// Methods to compare
    #[arg(long, value_delimiter = ',', value_name = "METHOD,…", default_value = HEADLINE)]
    methods: Vec<Method>,
    /// Distribution of true scores: gaussian, skew (a long upper tail) or graded (four grades)
    #[arg(long, default_value = "gaussian")]
    theta: Theta,
    /// Correlation of the first stage's scores with the truth
    #[arg(long, default_value_t = 0.5, value_name = "R", value_parser = share)]
    first_stage: f64,
    /// Number of judges that zelo asks; other methods ask the first
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=9))]
    judges: u8,
    /// Share of unreadable answers; each is requested again once, and a second one fails the query
    #[arg(long, default_value_t = 0.005, value_name = "SHARE", value_parser = share)]
    unreadable: f64,
    /// How tourrank shuffles: seeded, or cpython as ranksmith does
    #[arg(long, default_value = "seeded", value_name = "seeded|cpython")]
    rng: Shuffle,
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

/// Results of the methods for one pool size and one level of the judges' noise.
struct Case {
    documents: u32,
    own: f64,
    noise: Noise,
    results: Vec<MethodResult>,
}

impl MethodsCommand {
    pub(super) fn run(self) -> CommandResult {
        let named = |method: &&Method| matches!(method.kind, MethodKind::Named(_));
        if let Some(named) = self.methods.iter().find(named) {
            return Err(usage!(
                "--methods {named}: a simulated judge cannot stand for a service, a program or a \
                 run; expected original, rankgpt, prp, \
                 tourrank, setwise, pointwise, zelo, infogain or mohajer"
            ));
        }
        let options = MethodOptions { shuffle: self.rng };
        let methods = self.methods.iter();
        let methods = methods.map(|method| method.clone().with(&options));
        let methods: Vec<Method> = methods.collect();
        let sizes = self.documents.len() * self.noise.len();
        let queries = self.queries as usize;
        let mut progress = SimulationProgress::new(queries * sizes, "queries played");
        let mut cases: Vec<Case> = Vec::new();
        for &documents in &self.documents {
            for &own in &self.noise {
                let mut noise = Noise::standard(usize::from(self.judges)).with_own(own);
                noise.errors = self.unreadable;
                let simulation = MethodSimulation {
                    queries,
                    methods: methods.clone(),
                    theta: self.theta,
                    documents: documents as usize,
                    noise: noise.clone(),
                    first_stage: self.first_stage,
                    threads: self.threads.map(usize::from),
                    seed: self.seed,
                };
                let before = cases.len() * queries;
                let results = simulation.run(&mut |done| progress.show(before + done))?;
                cases.push(Case {
                    documents,
                    own,
                    noise,
                    results,
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
        let tables: Vec<String> = cases.iter().map(|case| self.table(case)).collect();
        format!(
            "{}\n± is half of the 95 % interval of a mean over queries (Student's t). On the \
             front: no other method has as high an NDCG@10 \
             for as few calls, or texts.\nSimulated: no model was asked, and real judges err in \
             ways that these do not.\n",
            tables.join("\n")
        )
    }

    fn table(&self, case: &Case) -> String {
        let fronts = Fronts::of(&case.results);
        let rows = case
            .results
            .iter()
            .zip(&fronts.methods)
            .map(|(row, front)| {
                let quality = summarize_quality(&row.qualities());
                let number = |value: Option<f64>| or_dash(value, |value| format!("{value:.1}"));
                vec![
                    row.method.to_string(),
                    number(row.mean(|query| query.calls)),
                    number(row.mean(|query| query.shown)),
                    number(row.mean(|query| query.waits)),
                    describe(quality.ndcg, false),
                    describe(quality.tau, false),
                    or_dash(row.mean(|query| query.repairs), |value| {
                        format!("{value:.2}")
                    }),
                    row.failed().to_string(),
                    front.words().to_owned(),
                ]
            });
        let rows: Vec<Vec<String>> = rows.collect();
        let header = [
            "method",
            ">calls",
            ">texts",
            ">waits",
            ">NDCG@10",
            ">Kendall τ",
            ">repaired",
            ">failed",
            "on the front of",
        ];
        format!(
            "{} of {} candidates, {} scores, first stage at correlation {}, {} straying by {}, \
             seed {}\n\n{}{}",
            counted(self.queries as usize, "simulated query"),
            case.documents,
            self.theta,
            self.first_stage,
            counted(usize::from(self.judges), "judge"),
            case.own,
            self.seed,
            output::table(&header, &rows),
            fronts.sentences(&case.results)
        )
    }

    fn as_json(&self, cases: &[Case]) -> Value {
        let cases = cases.iter().map(|case| {
            let fronts = Fronts::of(&case.results);
            let methods = case.results.iter().zip(&fronts.methods);
            let methods: Vec<Value> = methods
                .map(|(row, front)| {
                    let quality = summarize_quality(&row.qualities());
                    json!({
                        "method": row.method.to_string(),
                        "calls": row.mean(|query| query.calls),
                        "calls_expected": {
                            "least": row.bounds.least,
                            "expected": row.bounds.expected,
                            "most": row.bounds.most,
                        },
                        "texts": row.mean(|query| query.shown),
                        "waits": row.mean(|query| query.waits),
                        "ndcg@10": quality.ndcg.map(mean_json),
                        "tau": quality.tau.map(mean_json),
                        "recall@10": quality.recall.map(mean_json),
                        "repaired_answers": row.mean(|query| query.repairs),
                        "failed_queries": row.failed(),
                        "front_of_calls": front.calls.is_front(),
                        "front_of_texts": front.texts.is_front(),
                        "beaten_in_calls": front.calls.as_json(&case.results),
                        "beaten_in_texts": front.texts.as_json(&case.results),
                    })
                })
                .collect();
            json!({ "documents": case.documents, "noise": case.noise, "methods": methods })
        });
        let cases: Vec<Value> = cases.collect();
        json!({
            "simulated": true,
            "queries": self.queries,
            "scores": self.theta.name(),
            "first_stage_correlation": self.first_stage,
            "seed": self.seed,
            "cases": cases,
        })
    }
}
