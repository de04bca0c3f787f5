//! `overrule remote status`.

use crate::cli::command::CommandResult;
use crate::cli::output::{self, clean};
use crate::domain::number_words::{self, count};
use crate::features::remote::app::dollars;
use crate::features::remote::client::{JobStatus, WorkerStatus};
use serde_json::{Value, json};

pub(super) fn print(jobs: &[JobStatus], json: bool) -> CommandResult {
    if json {
        let jobs: Vec<Value> = jobs.iter().map(as_json).collect();
        return output::json(&json!({ "jobs": jobs }));
    }
    if jobs.is_empty() {
        return output::text("no jobs: `overrule annotate … --remote` starts one\n");
    }
    let jobs: Vec<String> = jobs.iter().map(words).collect();
    output::text(&jobs.join("\n"))
}

/// Units per second since the first worker started; `None` before the first unit is done.
fn pace(job: &JobStatus) -> Option<f64> {
    (job.done > 0 && job.elapsed_s > 0.0).then(|| job.done as f64 / job.elapsed_s)
}

/// Seconds until the other units are done at this pace; `None` if there may be further ones.
fn eta_s(job: &JobStatus) -> Option<f64> {
    let left = job.leased + job.waiting;
    pace(job)
        .filter(|_| left > 0 && job.open_rounds == 0)
        .map(|pace| left as f64 / pace)
}

fn as_json(job: &JobStatus) -> Value {
    let workers: Vec<Value> = job
        .workers
        .iter()
        .map(|worker| {
            json!({
                "id": worker.id.to_string(),
                "name": worker.name,
                "answers": worker.votes,
                "failures": worker.failures,
                "answers_per_s": worker.votes_per_s(),
                "spent_usd": dollars(worker.spent),
                "reserved_usd": dollars(worker.reserved),
                "leased": worker.leased,
                "done": worker.done,
                "ended": worker.has_ended,
                "silent_s": worker.silent_s,
            })
        })
        .collect();
    json!({
        "job": job.name,
        "done": job.done,
        "leased": job.leased,
        "waiting": job.waiting,
        "queries_in_rounds": job.open_rounds,
        "eta_s": eta_s(job),
        "spent_usd": dollars(job.spent),
        "reserved_usd": dollars(job.reserved),
        "budget_usd": job.budget.map(dollars),
        "workers": workers,
    })
}

fn words(job: &JobStatus) -> String {
    let mut eta = eta_s(job).map_or(String::new(), |seconds| {
        format!(", about {} left", number_words::duration(seconds))
    });
    if job.open_rounds > 0 {
        let queries = number_words::counted(job.open_rounds as usize, "query");
        eta = format!(", time left unknown ({queries} may get further rounds)");
    }
    let money = match job.budget {
        Some(budget) => format!(
            "spent {} of {}, {} reserved by workers",
            number_words::usd(dollars(job.spent)),
            number_words::usd(dollars(budget)),
            number_words::usd(dollars((job.reserved - job.spent).max(0)))
        ),
        None => format!("spent {}, no budget", number_words::usd(dollars(job.spent))),
    };
    let mut text = format!(
        "{}: {} of {} units done, {} leased, {} waiting{eta}; {money}\n",
        clean(&job.name),
        count(job.done as u64),
        count((job.done + job.leased + job.waiting) as u64),
        count(job.leased as u64),
        count(job.waiting as u64),
    );
    if job.workers.is_empty() {
        return text;
    }
    let header = [
        "worker",
        "ID",
        ">answers",
        ">failed",
        ">answers/s",
        ">leased",
        ">spent",
        "state",
    ];
    let rows: Vec<Vec<String>> = job.workers.iter().map(row).collect();
    text += &output::table(&header, &rows);
    text
}

fn row(worker: &WorkerStatus) -> Vec<String> {
    let state = if worker.has_ended {
        "ended".to_owned()
    } else if worker.is_silent() {
        format!("silent for {}", number_words::duration(worker.silent_s))
    } else {
        "working".to_owned()
    };
    vec![
        clean(&worker.name),
        worker.id.to_string(),
        count(worker.votes as u64),
        count(worker.failures as u64),
        worker
            .votes_per_s()
            .map_or("—".to_owned(), |pace| format!("{pace:.1}")),
        count(worker.leased as u64),
        number_words::usd(dollars(worker.spent)),
        state,
    ]
}
