//! How far a simulation is, on stderr.

use super::super::output;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// Plain progress lines come at most this often.
const LINE_EVERY: Duration = Duration::from_secs(2);

/// A bar in a terminal, a line now and then elsewhere.
pub(super) struct SimulationProgress {
    bar: Option<ProgressBar>,
    what: &'static str,
    done: usize,
    queries: usize,
    spoke: Instant,
}

impl SimulationProgress {
    pub(super) fn new(queries: usize, what: &'static str) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(queries as u64);
            match ProgressStyle::with_template("{bar:28} {pos} of {len} queries {msg}, {eta} left")
            {
                Ok(style) => bar
                    .with_style(style.progress_chars("█▌░"))
                    .with_message(what),
                Err(_) => bar,
            }
        });
        Self {
            bar,
            what,
            done: 0,
            queries,
            spoke: Instant::now(),
        }
    }

    pub(super) fn step(&mut self) {
        self.done += 1;
        if let Some(bar) = &self.bar {
            bar.inc(1);
            if self.done == self.queries {
                bar.finish_and_clear();
            }
        } else if self.spoke.elapsed() >= LINE_EVERY {
            self.spoke = Instant::now();
            output::message(&format!(
                "{} of {} queries {}",
                self.done, self.queries, self.what
            ));
        }
    }
}
