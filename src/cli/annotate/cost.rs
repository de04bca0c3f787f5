//! Describes the cost of a run in advance.

use crate::app::annotate::estimate::{CostEstimate, TestCalls};
use crate::app::prices::no_price;
use crate::app::text_format::{counted, duration};
use crate::cli::output::clean;
use crate::cli::spending::{estimate_table, usd};
use crate::domain::number_words::count;
use crate::domain::spend::Spend;
use crate::judge::{JudgeEnsemble, OFFLINE_LABEL, Usage, provider};

/// The estimate as a table, with its assumptions.
pub(crate) fn describe(estimate: &CostEstimate, ensemble: &JudgeEnsemble) -> String {
    let most = if estimate.rounds { "at most " } else { "" };
    let mut text = format!(
        "{}, {most}{}, {} already there\n",
        counted(estimate.queries, "query"),
        counted(estimate.battles, "battle"),
        counted(estimate.already, "vote")
    );
    text.push_str(&estimate_table(&estimate.judges));
    text.push_str(&format!(
        "total: {most}{}, {} expected, {} at most\n",
        counted(estimate.calls(), "call"),
        usd(estimate.cost_usd()),
        usd(estimate.worst_usd())
    ));
    for judge in &estimate.judges {
        if let Some(learnt) = judge.learnt.filter(|_| judge.calls > 0) {
            text.push_str(&format!(
                "{}: expected from {} in this project, on average {} tokens in and {} out\n",
                clean(&judge.name),
                counted(learnt.answers, "answer"),
                count(learnt.mean.input),
                count(learnt.mean.output)
            ));
        }
    }
    for judge in ensemble
        .iter()
        .filter(|judge| judge.usd_of(&Usage::default()).is_none())
    {
        let spec = judge.spec();
        if !spec.is_offline() {
            text.push_str(&no_price(&spec.name, &spec.provider, &spec.model));
            text.push('\n');
        }
    }
    text.push_str(&time_words(estimate, ensemble));
    for judge in &estimate.judges {
        if let Some(why) = &judge.test_failure {
            text.push_str(&format!(
                "{}: the test call failed, so it is not known how long a call takes: {}\n",
                clean(&judge.name),
                clean(why)
            ));
        }
    }
    if estimate.identical > 0 {
        text.push_str(&format!(
            "{} more without a call: the same judge answers the same question about documents with \
             the same text\n",
            counted(estimate.identical, "vote")
        ));
    }
    if estimate.bought() > 0 {
        text.push_str(&format!(
            "{} more without a call: the same judge answered the same question outside a run\n",
            counted(estimate.bought(), "vote")
        ));
    }
    if estimate.probed > 0 {
        let pairs = counted(estimate.probed, "pair");
        text.push_str(&format!(
            "each language model is first asked about {pairs} in both orders (--probe 0: about \
             none)\n"
        ));
    }
    for line in estimate.history.lines() {
        text.push_str(&format!("{line}\n"));
    }
    if estimate.pending > 0 {
        text.push_str(&format!(
            "{} more by batches that are open\n",
            counted(estimate.pending, "call")
        ));
    }
    if estimate.batch {
        text.push_str(
            "at the batch price, except one call per judge, which is made immediately as a test\n",
        );
    }
    if estimate.judges.iter().any(|judge| judge.offline) {
        text.push_str(&format!(
            "{OFFLINE_LABEL}; their tokens are words, and they cost nothing\n"
        ));
    }
    if estimate.judges.iter().any(|judge| !judge.offline) {
        text.push_str(&format!("{}\n", provider::ESTIMATE));
    }
    text
}

/// Describes the calls made by a dry run.
pub(in crate::cli) fn describe_test_calls(made: Option<TestCalls>) -> String {
    let Some(made) = made else {
        return "dry run: nothing was called and nothing was changed\n".to_owned();
    };
    let calls = match made.calls {
        1 => "one call was".to_owned(),
        calls => format!("{} calls were", count(calls)),
    };
    let cost = if made.spent == Spend::default() {
        String::new()
    } else {
        let cost = made.spent.words();
        format!(" and cost {cost}, not counted in the project's spending")
    };
    format!("dry run: {calls} made to measure how long a call takes{cost}; nothing was changed\n")
}

/// The estimated duration and what it is based on; empty if the latency of a judge's calls is
/// unknown.
fn time_words(estimate: &CostEstimate, ensemble: &JudgeEnsemble) -> String {
    let Some(seconds) = estimate.seconds(ensemble).filter(|_| !estimate.batch) else {
        return String::new();
    };
    let judges = estimate.judges.iter().filter_map(|judge| {
        let time = judge.time.filter(|_| judge.calls > 0)?;
        let from = if time.measured {
            "one call just now"
        } else {
            "the latest run"
        };
        Some(format!(
            "{} {} per call, {} at a time, based on {from}",
            clean(&judge.name),
            duration(time.seconds),
            time.at_once
        ))
    });
    let judges: Vec<String> = judges.collect();
    let time = duration(seconds);
    format!("time: about {time} ({})\n", judges.join("; "))
}
