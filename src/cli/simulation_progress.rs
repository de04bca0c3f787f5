//! Shows the progress of a simulation on stderr.

use super::output::{self, ProgressPace};
use crate::domain::number_words::count;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal as _;

/// A bar on a terminal, or otherwise a line now and then.
pub(crate) struct SimulationProgress {
    bar: Option<ProgressBar>,
    what: &'static str,
    all: usize,
    pace: ProgressPace,
}

impl SimulationProgress {
    /// `all` is the number of `what`, such as "queries played".
    pub(crate) fn new(all: usize, what: &'static str) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(all as u64);
            match ProgressStyle::with_template("{bar:28} {pos} of {len} {msg}, {eta} left") {
                Ok(style) => bar
                    .with_style(style.progress_chars("█▌░"))
                    .with_message(what),
                Err(_) => bar,
            }
        });
        Self {
            bar,
            what,
            all,
            pace: ProgressPace::new(),
        }
    }

    /// Shows the number of finished queries.
    pub(crate) fn show(&mut self, done: usize) {
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
            if done == self.all {
                bar.finish_and_clear();
            }
        } else if self.pace.is_due() {
            output::message(&format!(
                "{} of {} {}",
                count(done),
                count(self.all),
                self.what
            ));
        }
    }
}
