//! `overrule annotate`: a dataset in, zELO scores out, without a screen.

use super::import::{self, pools};
use super::{Context, Failure, Outcome, export, output};
use crate::domain::sanitise;
use crate::engine::estimate::Estimate;
use crate::engine::lock::RunLock;
use crate::engine::progress::{Phase, Progress};
use crate::engine::{Control, Request, Run};
use crate::judge::{Ensemble, OFFLINE_LABEL, offline};
use crate::store::Store;
use crate::store::calls::Holes;
use anyhow::anyhow;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Plain progress lines come at most this often.
const LINE_EVERY: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
#[command(
    after_help = "Votes are kept in the project as they come; run the same command again to go on where it stopped.
Nothing that was judged is asked again.

Examples:
  overrule annotate in.jsonl out.jsonl
  overrule annotate in.jsonl --cycles 6 --document-limit 50 --dry-run"
)]
pub(super) struct Annotate {
    /// Queries with documents, JSON lines in zBench's form
    dataset: PathBuf,
    /// Where the scored documents go [default: DATASET with _annotated before its ending]
    out: Option<PathBuf>,
    /// Random cycles a query; every document fights twice as many battles
    #[arg(
        long,
        visible_alias = "cycle-num",
        visible_alias = "cycle_num",
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    cycles: Option<u16>,
    /// Take only the first N documents of each query; the others get no score
    #[arg(long, visible_alias = "document_limit", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    document_limit: Option<u32>,
    /// Judges by name, in order [default: the offline judges]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    judges: Vec<String>,
    /// Seed of pairs and presentations
    #[arg(long)]
    seed: Option<u64>,
    /// Also repeat calls that failed
    #[arg(long)]
    retry_failed: bool,
    /// Calls in flight at most
    #[arg(long)]
    concurrency: Option<usize>,
    /// Leave bad lines of the dataset out
    #[arg(long)]
    skip_bad: bool,
    /// Write documents without a score too, with "score":null (zBench refuses such a file)
    #[arg(long)]
    keep_unscored: bool,
    /// Say what would be done, and stop
    #[arg(long)]
    dry_run: bool,
    /// With --dry-run: print JSON
    #[arg(long, requires = "dry_run")]
    json: bool,
}

impl Annotate {
    pub(super) fn run(self, context: &Context) -> Outcome {
        let ensemble = ensemble(&self.judges)?;
        let request = Request {
            queries: None,
            seed: self.seed.unwrap_or(context.config.run.seed),
            cycles: self.cycles.map_or(context.config.run.cycles, usize::from),
            depth: self.document_limit.map(|limit| limit as usize),
            holes: if self.retry_failed {
                Holes::FreshAndFailed
            } else {
                Holes::Fresh
            },
        };
        if self.dry_run {
            return self.estimate(context, &ensemble, &request);
        }
        let out = self.out.clone().unwrap_or_else(|| beside(&self.dataset));
        export::check_target(
            &out,
            &[("dataset", &self.dataset), ("project", context.project())],
        )?;
        let dataset = import::checked(&self.dataset, self.skip_bad)?;
        drop(RunLock::take(context.project())?);
        let store = context.open_or_create()?;
        let report = dataset.take_in(&store)?;
        let request = Request {
            queries: Some(report.keys.clone()),
            ..request
        };
        let control = Control {
            concurrency: self
                .concurrency
                .unwrap_or(context.config.run.concurrency)
                .max(1),
            ..Control::default()
        };
        let keep = self.keep_unscored;
        let finish = {
            let (store, out) = (store.clone(), out.clone());
            move || export::annotated(&store, &report.keys, &out, keep)
        };
        let (outcome, left_out) = watch(&store, ensemble, request, control, finish)?;
        if outcome.cancelled {
            let left = outcome.missing.map_or(String::new(), |votes| {
                format!("; {votes} votes are missing")
            });
            output::complain(&format!(
                "stopped{left}; nothing was written, and the same command goes on"
            ));
            return Err(Failure::interrupted());
        }
        if left_out > 0 {
            output::complain(&format!(
                "{left_out} documents past the limit have no score and are {}",
                if keep {
                    "written with \"score\":null"
                } else {
                    "left out"
                }
            ));
        }
        output::complain(&format!("wrote {}", out.display()));
        match outcome.missing {
            Some(0) => Ok(()),
            missing => {
                let votes = missing.map_or("votes".to_owned(), |votes| match votes {
                    1 => "1 vote".to_owned(),
                    votes => format!("{votes} votes"),
                });
                output::complain(&format!(
                    "missing: {votes}; ask again for calls that failed with --retry-failed"
                ));
                Err(Failure::incomplete())
            }
        }
    }

    fn estimate(&self, context: &Context, ensemble: &Ensemble, request: &Request) -> Outcome {
        let store = if context.project().exists() {
            Some(context.open()?)
        } else {
            None
        };
        let mut estimate = Estimate::new(ensemble);
        for pool in pools(&self.dataset, self.skip_bad)? {
            estimate.add(&pool, ensemble, request, store.as_ref())?;
        }
        if self.json {
            output::json(&estimate)?;
            return Ok(());
        }
        let mut text = format!(
            "{} queries, {} battles, {} votes there already\n",
            estimate.queries, estimate.battles, estimate.already
        );
        let cost =
            |usd: Option<f64>| usd.map_or("price unknown".to_owned(), |usd| format!("${usd:.4}"));
        let rows: Vec<Vec<String>> = estimate
            .judges
            .iter()
            .map(|judge| {
                vec![
                    sanitise::line(&judge.name).into_owned(),
                    judge.calls.to_string(),
                    judge.tokens_input.to_string(),
                    judge.tokens_output.to_string(),
                    cost(judge.cost_usd),
                ]
            })
            .collect();
        text.push_str(&output::table(
            &[
                "judge",
                ">calls",
                ">tokens in (est.)",
                ">tokens out (est.)",
                ">cost",
            ],
            &rows,
        ));
        text.push_str(&format!(
            "total: {} calls, {}\n",
            estimate.calls(),
            cost(estimate.cost_usd())
        ));
        if estimate.judges.iter().any(|judge| judge.offline) {
            text.push_str(&format!(
                "{OFFLINE_LABEL}; their tokens are words, and they cost nothing\n"
            ));
        }
        text.push_str("dry run: nothing was called and nothing was changed\n");
        output::text(&text)?;
        Ok(())
    }
}

/// The judges named, or the offline ensemble.
pub(super) fn ensemble(names: &[String]) -> Result<Ensemble, Failure> {
    if names.is_empty() {
        return Ok(offline::ensemble());
    }
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            return Err(Failure::usage(anyhow!(
                "--judges: {:?} is named twice",
                sanitise::line(name)
            )));
        }
    }
    names
        .iter()
        .map(|name| {
            offline::judge(name).ok_or_else(|| {
                let known = offline::NAMES.join(", ");
                Failure::usage(anyhow!(
                    "no judge is called {:?}; there are {known}",
                    sanitise::line(name)
                ))
            })
        })
        .collect()
}

fn beside(dataset: &Path) -> PathBuf {
    let stem = dataset.file_stem().unwrap_or_default().to_string_lossy();
    dataset.with_file_name(format!("{stem}_annotated.jsonl"))
}

/// Runs on a runtime of its own, showing progress on stderr, and then finishes, unless it is stopped: Ctrl-C ends the run
/// in order, and once more everything.
fn watch(
    store: &Store,
    ensemble: Ensemble,
    request: Request,
    control: Control,
    finish: impl FnOnce() -> Result<usize, Failure> + Send + 'static,
) -> Result<(crate::engine::Outcome, usize), Failure> {
    if ensemble.iter().any(|judge| judge.spec().is_offline()) {
        output::complain(OFFLINE_LABEL);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let store = store.clone();
    let result = runtime.block_on(async move {
        let mut run = Run::start(store, ensemble, request, control);
        let mut display = Display::new();
        let mut stops = signals()?;
        loop {
            tokio::select! {
                changed = run.progress.changed() => {
                    if changed.is_err() {
                        break;
                    }
                    display.show(&run.progress.borrow_and_update());
                }
                _ = stops.recv() => {
                    if run.control.borrow().cancelled {
                        return Err(Failure::interrupted());
                    }
                    output::complain("stopping: calls in flight have a moment to finish");
                    run.control.send_modify(|control| control.cancelled = true);
                }
            }
        }
        let outcome = run.end.await.map_err(|error| anyhow!("the run ended unexpectedly: {error}"))??;
        display.finish(&outcome.progress);
        if outcome.cancelled {
            return Ok((outcome, 0));
        }
        tokio::select! {
            finished = tokio::task::spawn_blocking(finish) => {
                let left_out = finished.map_err(|error| anyhow!("the export ended unexpectedly: {error}"))??;
                Ok((outcome, left_out))
            }
            _ = stops.recv() => Err(Failure::interrupted()),
        }
    });
    // An export that a second signal cut short is not waited for.
    runtime.shutdown_background();
    result
}

/// SIGINT, SIGTERM and SIGHUP, in one stream.
fn signals() -> Result<tokio::sync::mpsc::Receiver<()>, std::io::Error> {
    let (sender, receiver) = tokio::sync::mpsc::channel(4);
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        for kind in [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ] {
            let (mut stream, sender) = (signal(kind)?, sender.clone());
            tokio::spawn(async move {
                while stream.recv().await.is_some() {
                    if sender.send(()).await.is_err() {
                        return;
                    }
                }
            });
        }
    }
    #[cfg(not(unix))]
    {
        let sender = sender.clone();
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() && sender.send(()).await.is_ok() {}
        });
    }
    Ok(receiver)
}

/// A bar at a terminal, a line now and then elsewhere.
struct Display {
    bar: Option<ProgressBar>,
    spoke: Instant,
}

impl Display {
    fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{bar:32} {percent:>3} % {msg}") {
                bar.set_style(style.progress_chars("█▌░"));
            }
            bar
        });
        Self {
            bar,
            spoke: Instant::now(),
        }
    }

    fn show(&mut self, progress: &Progress) {
        match &self.bar {
            Some(bar) => {
                bar.set_length(progress.total as u64);
                bar.set_position(progress.done() as u64);
                bar.set_message(words(progress));
            }
            None if self.spoke.elapsed() >= LINE_EVERY => {
                self.spoke = Instant::now();
                output::complain(&words(progress));
            }
            None => {}
        }
    }

    fn finish(&self, progress: &Progress) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        output::complain(&format!(
            "{} queries, {} battles: {} votes and {} failures in {:.1} s ({:.0} calls/s), {} votes were there already, \
             spent ${:.4}",
            progress.queries_done,
            progress.battles,
            progress.votes(),
            progress.failures(),
            progress.elapsed_s,
            progress.done() as f64 / progress.elapsed_s.max(1e-9),
            progress.already,
            progress.spent_usd(),
        ));
    }
}

fn words(progress: &Progress) -> String {
    if progress.phase == Phase::Planning {
        return format!(
            "planning: {} of {} queries",
            progress.queries_planned, progress.queries
        );
    }
    let left = progress
        .eta_s()
        .map_or(String::new(), |seconds| format!(", {seconds:.0} s left"));
    format!(
        "{} of {} calls, {:.0}/s{left}, {} failed, ${:.4}",
        progress.done(),
        progress.total,
        progress.rate,
        progress.failures(),
        progress.spent_usd()
    )
}
