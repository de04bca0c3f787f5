//! Runs one method on one query: its questions are answered from stored answers if possible, or
//! else asked.

use super::candidates::Candidates;
use super::judge_panel::JudgePanel;
use super::prepared_method::PreparedMethod;
use super::question::{
    FailedCalls, GivenAnswer, ProgramJudges, QueryFailure, QuestionSenders, RerankQuestion, Told,
};
use crate::client::lock::lock;
use crate::client::now_ms;
use crate::client::question::CaseId;
use crate::domain::candidate_question::{Answer, Question};
use crate::domain::corpus::DocId;
use crate::features::methods::domain::MethodRow;
use crate::features::methods::domain::reranking::{AnswerError, Call, Ranking};
use crate::features::methods::store::StoredResult;
use crate::store::{Db, Store, StoreError};
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How a method's work on a query ended.
#[derive(Debug)]
pub(super) enum QueryEnd {
    /// With an order, or with the reason why there is none.
    Over(Box<StoredResult>),
    /// It was interrupted because a question was no longer asked.
    CutShort,
}

/// Total cost of a query's answers.
#[derive(Debug, Default)]
struct Totals {
    answers: u64,
    /// Answers from an earlier run without content.
    unreadable: u64,
    tokens_input: u64,
    tokens_output: u64,
    /// `None` once a price is unknown.
    unpriced: bool,
    cost_usd: f64,
    service_ms: f64,
    /// Whether the latency of a stored answer is unknown, because it came in a batch.
    untimed: bool,
    /// Answers of calls for another ranking or of an earlier run.
    shared: u64,
}

impl Totals {
    fn add(&mut self, given: &GivenAnswer) {
        let known = &given.known;
        match (&known.answer, given.reused) {
            (Answer::Unreadable(_), false) => {}
            (Answer::Unreadable(_), true) => self.unreadable += 1,
            _ => self.answers += 1,
        }
        self.tokens_input += known.tokens_input;
        self.tokens_output += known.tokens_output;
        self.unpriced |= known.cost_usd.is_none();
        self.cost_usd += known.cost_usd.unwrap_or(0.0);
        self.service_ms += known.latency_ms;
        self.untimed |= given.reused && known.latency_ms == 0.0;
        self.shared += u64::from(given.reused);
    }

    /// Whether there are answers, and all of them are shared.
    fn is_all_shared(&self) -> bool {
        self.shared > 0 && self.shared == self.answers + self.unreadable
    }
}

/// Where the part of an answer belongs, since a question for scores may be asked in batches.
struct Part {
    call: usize,
    range: Option<Range<usize>>,
    told: Result<Told, oneshot::error::RecvError>,
    /// When the answer arrived by the clock of the query, if it was not shared.
    arrived: Duration,
    /// When it was asked.
    asked: Duration,
}

impl Part {
    /// When the answer arrives by the clock of the query: a shared one after the time that its own
    /// call took.
    fn arrival(&self) -> Duration {
        match &self.told {
            Ok(Ok(given)) if given.reused => {
                self.asked + Duration::from_secs_f64(given.known.latency_ms.max(0.0) / 1e3)
            }
            _ => self.arrived,
        }
    }
}

/// Lets `method` rank these candidates. Questions with stored answers are not asked again, except
/// that `retry` repeats those whose answers had no content.
pub(super) async fn rank(
    method: &PreparedMethod,
    candidates: &Candidates,
    workers: &QuestionSenders,
    store: &Store,
    retry: bool,
) -> Result<QueryEnd, StoreError> {
    // The clock of the query, which shared answers move on as their own calls would have.
    let mut clock = Duration::ZERO;
    let case = CaseId(candidates.key.0);
    let failed = Arc::new(Mutex::new(FailedCalls::default()));
    let panel = JudgePanel::new(method, candidates, workers, store, retry, &failed);
    if panel.as_ref().is_some_and(|panel| panel.is_over()) {
        return Ok(QueryEnd::CutShort);
    }
    let mut totals = Totals::default();
    let mut strategy = method.strategy(candidates);
    let mut waiting = FuturesUnordered::new();
    // Scores that arrive in batches, and the number of pending batches.
    let mut scores: HashMap<usize, (usize, Vec<f64>)> = HashMap::new();
    let mut cut_short = false;
    let refusal = method.refusal(candidates);
    let failure = 'asking: loop {
        if refusal.is_some() {
            break refusal;
        }
        let mut own = None;
        let asked = if cut_short {
            Vec::new()
        } else {
            strategy.next()
        };
        // Waiting for room in the queue of a worker counts, too.
        let (asked_at, begun) = (clock, Instant::now());
        for Call { id, question } in asked {
            if let Some(answer) = method.own_answer(candidates, &question) {
                own = Some((id, answer));
                continue;
            }
            let parts = match method.parts(candidates, &question) {
                Ok(parts) => parts,
                Err(why) => break 'asking Some(why),
            };
            if let Question::Score { candidates: asked } = &question {
                scores.insert(id, (parts.len(), vec![f64::NAN; asked.len()]));
            }
            for (service, range, target) in parts {
                let key = target.key();
                let (known, is_in_batch) = if target.is_kept() {
                    let find = move |db: &mut Db| {
                        let known = db.rerank_answer(&key, retry)?;
                        let is_in_batch = known.is_none() && db.is_list_being_made(&key)?;
                        Ok((known, is_in_batch))
                    };
                    store.read(find).await?
                } else {
                    (None, false)
                };
                let (tell, told) = oneshot::channel();
                match (known, workers.get(service)) {
                    // The query waits for the batch.
                    (None, _) if is_in_batch => drop(tell),
                    (Some(known), _) => {
                        let given = GivenAnswer {
                            known,
                            reused: true,
                        };
                        drop(tell.send(Ok(given)));
                    }
                    (None, Some(worker)) => {
                        let failed = Arc::clone(&failed);
                        let of_program = panel.clone().map(|panel| panel as Arc<dyn ProgramJudges>);
                        let question = RerankQuestion::new(target, Some(case), key, tell, failed)
                            .with_judges(of_program);
                        // If the worker has ended, the question is dropped along with its sender.
                        drop(worker.send(question).await);
                    }
                    (None, None) => {}
                }
                waiting.push(async move {
                    let told = told.await;
                    Part {
                        call: id,
                        range,
                        told,
                        arrived: asked_at + begun.elapsed(),
                        asked: asked_at,
                    }
                });
            }
        }
        if let Some((id, answer)) = own {
            match strategy.answer(id, answer) {
                Ok(()) => continue,
                Err(why) => break Some(QueryFailure::Missing(why.to_string())),
            }
        }
        let Some(part) = waiting.next().await else {
            if let Some(panel) = &panel {
                panel.check_store()?;
            }
            if cut_short {
                return Ok(QueryEnd::CutShort);
            }
            break None;
        };
        clock = clock.max(part.arrival());
        let given = match part.told {
            // A call in flight may still fail the query, possibly with the reason why no more calls
            // are made.
            Err(_) => {
                cut_short = true;
                continue;
            }
            Ok(Err(why)) => break Some(why),
            Ok(Ok(given)) => given,
        };
        // The calls of a program that asks judges are those of its judges.
        if panel.is_none() {
            totals.add(&given);
        }
        let answer = match (part.range, given.known.answer) {
            (Some(range), Answer::Scores(part_scores)) => {
                let Some((left, all)) = scores.get_mut(&part.call) else {
                    continue;
                };
                for (at, score) in range.zip(part_scores) {
                    if let Some(place) = all.get_mut(at) {
                        *place = score;
                    }
                }
                *left -= 1;
                if *left > 0 {
                    continue;
                }
                Answer::Scores(std::mem::take(all))
            }
            (_, answer) => answer,
        };
        if let Err(why) = strategy.answer(part.call, answer) {
            break Some(why.into());
        }
    };
    let of_judges = panel.map(|panel| panel.take_given());
    of_judges
        .iter()
        .flatten()
        .for_each(|given| totals.add(given));
    let outcome = match (failure, strategy.outcome()) {
        (Some(why), _) => Err(why),
        (None, Some(ranking)) => Ok(ranking.with_rest(candidates.ids.len())),
        (None, None) => Err(strategy.refusal().unwrap_or(AnswerError::NoOrder).into()),
    };
    // The workers still wait for this query's pending calls and store their answers.
    let failed = *lock(&failed);
    let is_timed = match of_judges {
        // The clock of a program does not move on for shared answers.
        Some(_) => totals.shared == 0,
        None => failed.attempts > 0 || !totals.is_all_shared(),
    };
    let wall = (is_timed && !totals.untimed).then_some(clock.as_millis() as u64);
    let result = result(
        method,
        candidates,
        outcome,
        &totals,
        failed,
        strategy.repairs(),
        wall,
    );
    Ok(QueryEnd::Over(Box::new(result)))
}

fn result(
    method: &PreparedMethod,
    candidates: &Candidates,
    outcome: Result<Ranking, QueryFailure>,
    totals: &Totals,
    failed: FailedCalls,
    repairs: usize,
    wall_ms: Option<u64>,
) -> StoredResult {
    let (order, scores, failure) = match outcome {
        Ok(ranking) => {
            let ids = ranking
                .order
                .iter()
                .filter_map(|at| candidates.ids.get(*at));
            let order: Vec<DocId> = ids.cloned().collect();
            let scores = ranking.scores.map(|scores| {
                let places = ranking.order.iter();
                places
                    .map(|at| scores.get(*at).copied().flatten())
                    .collect()
            });
            (order, scores, None)
        }
        Err(why) => (Vec::new(), None, Some(why.into())),
    };
    let cut = method.cut(candidates);
    let failed_calls = failed.attempts + totals.unreadable;
    StoredResult {
        identity: method.identity(candidates),
        row: MethodRow {
            query: candidates.query.clone(),
            method: method.name.clone(),
            judges: method.judges.clone(),
            order,
            scores,
            calls: totals.answers + failed_calls,
            failed_calls,
            shared_calls: Some(totals.shared),
            tokens_in: totals.tokens_input + failed.tokens_input,
            tokens_out: totals.tokens_output + failed.tokens_output,
            cost_usd: (!totals.unpriced).then_some(totals.cost_usd + failed.cost_usd),
            wall_ms,
            service_ms: (totals.service_ms + failed.service_ms).round() as u64,
            repairs: repairs as u64,
            truncated: cut.len() as u64,
            document_chars: candidates.pool.limit.map(|limit| limit.chars),
            cut: Some(cut),
            failure,
            created_ms: now_ms(),
        },
    }
}
