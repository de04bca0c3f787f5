//! Estimates the calls and the cost of a run by running the methods on simulated answers and
//! measuring their prompts.

use super::candidates::Candidates;
use super::plan::RerankPlan;
use super::prepared_method::PreparedMethod;
use super::question::Target;
use crate::domain::numeric::best_first;
use crate::domain::sampling::SeededRng;
use crate::features::methods::domain::reranking::{Answer, Question, play};
use crate::judge::MAX_CHARGED;
use crate::store::corpus::QueryKey;
use crate::store::{Store, StoreError};
use serde::Serialize;

/// Number of queries whose prompts are measured, for each method.
const SAMPLE: usize = 12;
/// Deviation of simulated answers from the first-stage order, as a share of the number of
/// candidates.
const SPREAD: f64 = 0.35;

/// Number of calls with their usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CallVolume {
    pub calls: f64,
    pub tokens_input: f64,
    pub tokens_output: f64,
    /// US dollars; `None` if a price is unknown.
    pub usd: Option<f64>,
}

/// The estimate for one method on the queries that it has not ranked yet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodEstimate {
    pub method: String,
    pub queries: usize,
    /// Number of measured queries; the others are assumed to be similar.
    pub measured: usize,
    /// If the first stage is right.
    pub least: CallVolume,
    pub expected: CallVolume,
    /// As many calls as there can be, each at its worst price, if all but the last attempt of each
    /// come to nothing and are charged.
    pub most: CallVolume,
}

impl MethodEstimate {
    /// Estimates all methods of the plan. Existing answers are not subtracted.
    pub fn of(store: &Store, plan: &RerankPlan) -> Result<Vec<Self>, StoreError> {
        let methods = plan.methods.iter().enumerate();
        methods
            .map(|(place, method)| {
                let queries: Vec<QueryKey> = plan
                    .outstanding
                    .iter()
                    .filter(|one| one.method == place)
                    .map(|one| one.query)
                    .collect();
                estimate(store, plan, method, &queries)
            })
            .collect()
    }
}

fn estimate(
    store: &Store,
    plan: &RerankPlan,
    method: &PreparedMethod,
    queries: &[QueryKey],
) -> Result<MethodEstimate, StoreError> {
    let step = queries.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<QueryKey> = queries.iter().step_by(step).copied().collect();
    let (mut least, mut expected, mut most) = (Sum::default(), Sum::default(), Sum::default());
    let work = |db: &crate::store::Db, key| {
        let candidates = Candidates::read(db, key, plan.named(key))?;
        Ok(measure(method, &candidates))
    };
    store.read_each(&sample, work, |_, [a, b, c]| {
        least.add(&a);
        expected.add(&b);
        most.add(&c);
        Ok::<_, StoreError>(())
    })?;
    let factor = match sample.len() {
        0 => 0.0,
        measured => queries.len() as f64 / measured as f64,
    };
    Ok(MethodEstimate {
        method: method.name.clone(),
        queries: queries.len(),
        measured: sample.len(),
        least: least.volume(factor),
        expected: expected.volume(factor),
        most: most.volume(factor),
    })
}

/// A sum of volumes.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    calls: f64,
    tokens_input: f64,
    tokens_output: f64,
    usd: f64,
    unpriced: bool,
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.tokens_input += other.tokens_input;
        self.tokens_output += other.tokens_output;
        self.usd += other.usd;
        self.unpriced |= other.unpriced;
    }

    /// The larger of both in each component.
    fn raise(&mut self, other: &Self) {
        self.calls = self.calls.max(other.calls);
        self.tokens_input = self.tokens_input.max(other.tokens_input);
        self.tokens_output = self.tokens_output.max(other.tokens_output);
        self.usd = self.usd.max(other.usd);
        self.unpriced |= other.unpriced;
    }

    fn volume(&self, factor: f64) -> CallVolume {
        CallVolume {
            calls: (self.calls * factor).round(),
            tokens_input: (self.tokens_input * factor).round(),
            tokens_output: (self.tokens_output * factor).round(),
            usd: (!self.unpriced).then_some(self.usd * factor),
        }
    }
}

/// The minimum, expected and maximum effort for a query.
fn measure(method: &PreparedMethod, candidates: &Candidates) -> [Sum; 3] {
    let count = method.looks_at(candidates);
    let steady: Vec<f64> = (0..count).map(|at| -(at as f64)).collect();
    let mut rng = SeededRng::new(0, &["rerank estimate", candidates.query.as_str()]);
    let shaken: Vec<f64> = steady
        .iter()
        .map(|value| value + SPREAD * count as f64 * rng.normal())
        .collect();
    let (least, mut dearest) = played(method, candidates, &steady);
    let (expected, dear) = played(method, candidates, &shaken);
    let judges = method.judges.len();
    let calls = method
        .method
        .calls(count, judges)
        .most
        .max(expected.calls as usize) as f64;
    dearest.raise(&dear);
    let times = f64::from(MAX_CHARGED);
    // A method without calls needs nothing, however often it asks.
    let most = if calls == 0.0 || least.calls == 0.0 {
        Sum::default()
    } else {
        Sum {
            calls: times * calls,
            tokens_input: times * calls * dearest.tokens_input,
            tokens_output: times * calls * dearest.tokens_output,
            usd: calls * dearest.usd,
            unpriced: dearest.unpriced,
        }
    };
    [least, expected, most]
}

/// The calls of a method if the quality of candidates is `utility`, and the usage of its most
/// expensive call.
fn played(method: &PreparedMethod, candidates: &Candidates, utility: &[f64]) -> (Sum, Sum) {
    let (mut sum, mut dearest) = (Sum::default(), Sum::default());
    let mut strategy = method.strategy(candidates);
    let mut answer = |question: &Question| {
        if let Some(answer) = method.own_answer(candidates, question) {
            return answer;
        }
        for (_, _, target) in method.parts(candidates, question).into_iter().flatten() {
            let (expected, worst) = used(&target);
            sum.add(&expected);
            dearest.raise(&worst);
        }
        simulated(question, utility)
    };
    // A method that fails on simulated answers has still asked its questions.
    drop(play(strategy.as_mut(), &mut answer));
    (sum, dearest)
}

/// The expected and the maximum usage of a call.
fn used(target: &Target) -> (Sum, Sum) {
    let sum = |input: u64, output: u64, usd: Option<f64>| Sum {
        calls: 1.0,
        tokens_input: input as f64,
        tokens_output: output as f64,
        usd: usd.unwrap_or(0.0),
        unpriced: usd.is_none(),
    };
    match target {
        Target::Judge { judge, prompt, .. } | Target::Battle { judge, prompt, .. } => {
            let (usage, usd) = judge.estimate(prompt);
            let (worst, _) = judge.worst(prompt);
            let most = judge.most_usd(prompt);
            (
                sum(usage.input, usage.output, usd),
                sum(worst.input, worst.output, most),
            )
        }
        Target::Reranker {
            reranker,
            query,
            candidates,
        } => {
            let (usage, usd) = reranker.estimate(query, candidates);
            let (most, worst) = reranker.worst(query, candidates);
            let most_usd = worst.map(|usd| usd * f64::from(MAX_CHARGED));
            (
                sum(usage.input, usage.output, usd),
                sum(most.input, most.output, most_usd),
            )
        }
    }
}

/// The answer if the quality of candidates is `utility`.
fn simulated(question: &Question, utility: &[f64]) -> Answer {
    let of = |at: &usize| utility.get(*at).copied().unwrap_or(0.0);
    let numbers = |candidates: &[usize], count: usize| {
        let values: Vec<f64> = candidates.iter().map(of).collect();
        let best = best_first(&values).into_iter().take(count);
        Answer::Numbers(best.map(|at| at as i64 + 1).collect())
    };
    match question {
        Question::Rank { candidates } => numbers(candidates, candidates.len()),
        Question::Select { candidates, count } => numbers(candidates, *count),
        Question::Best { candidates } => numbers(candidates, 1),
        Question::Compare { a, b } => Answer::SecondWins(of(b) > of(a)),
        Question::Battle { a, b, .. } => Answer::Margin(if of(b) > of(a) { 1.0 } else { -1.0 }),
        Question::Grade { candidate, .. } => {
            let share = 1.0 + of(candidate) / utility.len().max(1) as f64;
            Answer::Grade(share.clamp(0.0, 1.0))
        }
        Question::Score { candidates } => Answer::Scores(candidates.iter().map(of).collect()),
    }
}
