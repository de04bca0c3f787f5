//! Estimates the duration of a run from earlier call latencies of its judges, or from a test call.

use super::{CallTime, CostEstimate, TestCalls};
use crate::domain::spend::Spend;
use crate::judge::provider::address::is_loopback;
use crate::judge::{Judge, JudgeEnsemble, JudgeQuestion, PresentedPair, call_adapting};
use crate::store::{Db, Store, StoreError};
use reqwest::Url;
use std::collections::BTreeMap;

/// Name of the setting that stores the mean latency of a judge's calls.
pub(in crate::app::annotate) fn time_setting(name: &str) -> String {
    format!("call time of {name}")
}

/// Name of the setting that stores a judge's final number of calls in flight.
pub(in crate::app::annotate) fn window_setting(name: &str) -> String {
    format!("window of {name}")
}

impl CostEstimate {
    /// Loads the judges' call latencies from the latest run on a project.
    pub fn recall_times(&mut self, store: &Store) -> Result<(), StoreError> {
        for judge in self.judges.iter_mut().filter(|judge| !judge.offline) {
            let name = judge.name.clone();
            judge.time = store.read_blocking(move |db| recalled(db, &name))?;
        }
        Ok(())
    }

    /// Makes one test call about `case` to each judge that has an unknown latency and runs at no
    /// cost on this machine, or to every such judge if `all` is set.
    pub async fn measure(&mut self, ensemble: &JudgeEnsemble, case: &PresentedPair, all: bool) {
        let mut made = TestCalls::default();
        let unknown = ensemble.iter().zip(&mut self.judges);
        for (judge, of) in unknown.filter(|(_, of)| !of.offline && of.time.is_none()) {
            if of.calls == 0 || !(all || is_free_here(judge.as_ref())) {
                continue;
            }
            let question = JudgeQuestion::Pair(case);
            let prompt = judge.prompt(question);
            made.calls += 1;
            match call_adapting(|| judge.call(question, &prompt)).await {
                Ok(reply) => {
                    made.spent += Spend::of(reply.cost_usd);
                    of.time = Some(CallTime {
                        seconds: reply.latency.as_secs_f64(),
                        at_once: 1,
                        measured: true,
                    });
                }
                Err(error) => {
                    of.test_failure = Some(error.to_string());
                    if let Some(usd) = error.exchange.cost_usd {
                        made.spent += Spend::of(Some(usd));
                    }
                }
            }
        }
        self.test_calls = Some(made).filter(|made| made.calls > 0);
    }

    /// Estimated duration of the run in seconds, if the latency of every judge is known. Judges run
    /// in parallel, except for those that share a server on this machine.
    pub fn seconds(&self, ensemble: &JudgeEnsemble) -> Option<f64> {
        let mut servers: BTreeMap<String, f64> = BTreeMap::new();
        for (judge, of) in ensemble.iter().zip(&self.judges) {
            if of.offline || of.calls == 0 {
                continue;
            }
            let time = of.time?;
            let at_once = time.at_once.clamp(1, of.calls);
            let seconds = of.calls as f64 * time.seconds / at_once as f64;
            let place = match judge.server().filter(|_| judge.limits().slots_unknown) {
                Some(server) => server.to_owned(),
                None => format!("judge {}", of.name),
            };
            *servers.entry(place).or_default() += seconds;
        }
        servers.into_values().max_by(f64::total_cmp)
    }
}

fn recalled(db: &Db, name: &str) -> Result<Option<CallTime>, StoreError> {
    let number = |setting: String| -> Result<Option<f64>, StoreError> {
        Ok(db.remembered(&setting)?.and_then(|text| text.parse().ok()))
    };
    let Some(seconds) = number(time_setting(name))? else {
        return Ok(None);
    };
    Ok(Some(CallTime {
        seconds,
        at_once: number(window_setting(name))?.map_or(1, |window| window as usize),
        measured: false,
    }))
}

/// Whether a call costs neither money nor time on someone else's machine.
fn is_free_here(judge: &dyn Judge) -> bool {
    let url = judge.server().and_then(|server| Url::parse(server).ok());
    let free = judge.estimate(&Default::default()).1 == Some(0.0);
    free && url.is_some_and(|url| is_loopback(&url))
}
