//! The file of picks: what is in it, and what is added to it.

use super::super::import::{display_name, open};
use super::super::{Failure, benchmark, output};
use crate::formats::picks::{PickRecord, PickResult, read_picks};
use crate::judge::{OFFLINE, Usage};
use anyhow::{Context as _, anyhow};
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead as _, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// How long a file is to its last line break.
fn whole_lines(path: &Path) -> Result<u64, Failure> {
    let mut reader = open(path)?;
    let (mut length, mut whole) = (0, 0);
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(whole);
        }
        if let Some(at) = bytes.iter().rposition(|byte| *byte == b'\n') {
            whole = length + at as u64 + 1;
        }
        let read = bytes.len();
        length += read as u64;
        reader.consume(read);
    }
}

/// How a question stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// It has picks.
    pub(super) picked: bool,
    /// Answers to it that broke the rules.
    pub(super) invalid: usize,
    usage: Usage,
    cost_usd: Option<f64>,
}

/// The picks of a file by question.
pub(super) struct Sheet {
    path: PathBuf,
    states: HashMap<String, State>,
    spent_usd: f64,
    /// How long the file was when it was read, and how long its whole lines are.
    length: u64,
    whole: u64,
    file: Option<File>,
}

impl Sheet {
    /// Reads what is there; a file that is not there is an empty one.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let mut sheet = Self {
            path: path.to_owned(),
            states: HashMap::new(),
            spent_usd: 0.0,
            length: 0,
            whole: 0,
            file: None,
        };
        if !path.exists() {
            return Ok(sheet);
        }
        let name = display_name(path);
        let reader = open(path)?;
        sheet.length = reader.get_ref().metadata()?.len();
        let whole = whole_lines(path)?;
        let mut complaints = output::Complaints::about(&name);
        let mut any = false;
        for record in read_picks(reader.take(whole), &name) {
            match record {
                Ok((_, record)) => {
                    any = true;
                    sheet.note(&record);
                }
                Err(problem) => complaints.tell(&problem),
            }
        }
        benchmark::refuse(&name, complaints.end())?;
        if whole < sheet.length {
            if !any {
                return Err(Failure::usage(anyhow!(
                    "{name}: holds no whole line of picks; name another file"
                )));
            }
            output::complain(&format!(
                "note: {name}: its last line was cut off while it was written; that question is asked again"
            ));
        }
        sheet.whole = whole;
        Ok(sheet)
    }

    /// Takes the file for this process alone, to add to it.
    pub(super) fn open(&mut self) -> Result<(), Failure> {
        let name = self.path.display();
        let file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(&self.path)
            .map_err(|error| Failure::usage(anyhow!("{name}: cannot be written: {error}")))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::usage(anyhow!(
                    "{name}: another process is adding to it; wait until it is done"
                )));
            }
            Err(TryLockError::Error(error)) => {
                return Err(anyhow!("{name}: cannot be locked: {error}").into());
            }
        }
        let length = file.metadata()?.len();
        if length != self.length {
            return Err(Failure::usage(anyhow!(
                "{name}: was added to meanwhile; run the command again"
            )));
        }
        // A line is a record with its break, or it is none.
        if self.whole < length {
            file.set_len(self.whole)?;
        }
        self.file = Some(file);
        Ok(())
    }

    /// Adds a record; it is on disk when this returns.
    pub(super) fn add(&mut self, record: &PickRecord) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        let file = self
            .file
            .as_mut()
            .context("the file of picks is not open")?;
        let wrong = || format!("{}: cannot be written", self.path.display());
        file.write_all(&line).with_context(wrong)?;
        // What cost nothing can be had again.
        if record.provider != OFFLINE {
            file.sync_data().with_context(wrong)?;
        }
        self.note(record);
        Ok(())
    }

    fn note(&mut self, record: &PickRecord) {
        let state = self.states.entry(record.call.clone()).or_default();
        match record.result {
            PickResult::Slots(_) | PickResult::Verdicts(_) => state.picked = true,
            PickResult::Invalid(_) => state.invalid += 1,
            PickResult::Failure(_) => {}
        }
        state.usage.input += record.tokens_input;
        state.usage.output += record.tokens_output;
        if let Some(cost) = record.cost_usd {
            state.cost_usd = Some(state.cost_usd.unwrap_or(0.0) + cost);
            self.spent_usd += cost;
        }
    }

    /// How the question with this hash stands; `None` where it was never answered and never failed.
    pub(super) fn state(&self, call: &str) -> Option<&State> {
        self.states.get(call)
    }

    /// Tokens and dollars of some questions.
    pub(super) fn used(&self, calls: &[&str]) -> (Usage, Option<f64>) {
        let mut usage = Usage::default();
        let mut cost: Option<f64> = None;
        for state in calls.iter().filter_map(|call| self.state(call)) {
            usage.input += state.usage.input;
            usage.output += state.usage.output;
            if let Some(usd) = state.cost_usd {
                cost = Some(cost.unwrap_or(0.0) + usd);
            }
        }
        (usage, cost)
    }

    /// Dollars that everything in the file has cost, as far as that is known.
    pub(super) fn spent_usd(&self) -> f64 {
        self.spent_usd
    }
}
