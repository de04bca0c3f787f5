//! Reads `scored_pairs` one element at a time, so that memory does not grow with the file.

use super::scan::{Scan, Stop};
use super::{ScoredPair, element};
use crate::formats::json::reason;
use crate::formats::problem::Problem;
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::io::BufRead;

/// Which judges a file has to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ensemble {
    /// zBench's three, each on every pair; others may stand beside them.
    #[default]
    Zbench,
    /// Whichever judges a pair names, at least one.
    Any,
}

/// The pairs of a file, one at a time; see [`read_scored_pairs`].
pub struct ScoredPairs<R> {
    scan: Scan<R>,
    file: String,
    ensemble: Ensemble,
    value: Vec<u8>,
    index: u64,
    place: Place,
    found: bool,
    pending: VecDeque<Problem>,
}

/// Reads a file pair by pair. A pair that cannot be used gives its problems and the next pair follows; where the file
/// is not JSON any more the reading ends with a problem. Only one pair is in memory at a time.
///
/// `file` is what problems call the file.
pub fn read_scored_pairs<R: BufRead>(reader: R, file: &str, ensemble: Ensemble) -> ScoredPairs<R> {
    ScoredPairs {
        scan: Scan::new(reader),
        file: file.to_owned(),
        ensemble,
        value: Vec::new(),
        index: 0,
        place: Place::Start,
        found: false,
        pending: VecDeque::new(),
    }
}

/// Where in the file the next byte is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    /// Before a member, the first or one after a comma.
    Member {
        first: bool,
    },
    AfterMember,
    /// Before a pair, the first or one after a comma.
    Pair {
        first: bool,
    },
    AfterPair,
    AfterFile,
    Done,
}

/// What ends the reading.
enum End {
    Stop(Stop),
    Broken { line: u64, what: String },
}

impl From<Stop> for End {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl<R: BufRead> Iterator for ScoredPairs<R> {
    type Item = Result<ScoredPair, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(problem) = self.pending.pop_front() {
                return Some(Err(problem));
            }
            if self.place == Place::Done {
                return None;
            }
            match self.step() {
                Ok(None) => {}
                Ok(Some(pair)) => return Some(Ok(pair)),
                Err(end) => self.end(end),
            }
        }
    }
}

impl<R: BufRead> ScoredPairs<R> {
    /// Goes one token or one pair further.
    fn step(&mut self) -> Result<Option<ScoredPair>, End> {
        if self.place == Place::Start {
            self.scan.skip_mark()?;
        }
        let next = self.scan.peek()?;
        self.place = match (self.place, next) {
            (Place::Start, b'{') => self.token(Place::Member { first: true }),
            (Place::Start, _) => {
                return Err(
                    self.broken("expected an object with scored_pairs; is this ai_scores.json?")
                );
            }
            (Place::Member { first: true } | Place::AfterMember, b'}') => {
                self.token(Place::AfterFile)
            }
            (Place::Member { .. }, b'"') => self.member()?,
            (Place::Member { .. }, _) => {
                return Err(self.broken("broken JSON: expected the name of a member in quotes"));
            }
            (Place::AfterMember, b',') => self.token(Place::Member { first: false }),
            (Place::AfterMember, _) => return Err(self.broken("broken JSON: expected `,` or `}`")),
            (Place::Pair { first: true } | Place::AfterPair, b']') => {
                self.token(Place::AfterMember)
            }
            (Place::Pair { .. }, b']') => {
                return Err(self.broken("broken JSON: a comma with no pair after it"));
            }
            (Place::Pair { .. }, _) => {
                let pair = self.pair()?;
                self.place = Place::AfterPair;
                return Ok(pair);
            }
            (Place::AfterPair, b',') => self.token(Place::Pair { first: false }),
            (Place::AfterPair, _) => return Err(self.broken("broken JSON: expected `,` or `]`")),
            (Place::AfterFile, _) => {
                return Err(self.broken("broken JSON: more follows after the end of the object"));
            }
            (Place::Done, _) => Place::Done,
        };
        Ok(None)
    }

    fn token(&mut self, then: Place) -> Place {
        self.scan.advance();
        then
    }

    /// Reads a member's name, and its value unless it is the one with the pairs.
    fn member(&mut self) -> Result<Place, End> {
        let line = self.scan.line();
        self.scan.value(&mut self.value)?;
        let name: String = serde_json::from_slice(&self.value).map_err(|error| End::Broken {
            line,
            what: format!("broken JSON: {}", reason(&error)),
        })?;
        if self.scan.peek()? != b':' {
            return Err(self.broken("broken JSON: expected `:`"));
        }
        self.scan.advance();
        let next = self.scan.peek()?;
        if name != "scored_pairs" {
            let line = self.scan.line();
            self.scan.value(&mut self.value)?;
            json(&self.value, line, "broken JSON")?;
            return Ok(Place::AfterMember);
        }
        if self.found {
            return Err(self.broken("scored_pairs: occurs more than once; keep one"));
        }
        if next != b'[' {
            return Err(self.broken("scored_pairs: expected an array"));
        }
        self.found = true;
        Ok(self.token(Place::Pair { first: true }))
    }

    fn pair(&mut self) -> Result<Option<ScoredPair>, End> {
        let index = self.index;
        let line = self.scan.line();
        self.scan.value(&mut self.value)?;
        self.index += 1;
        let value = json(
            &self.value,
            line,
            &format!("scored_pairs[{index}]: broken JSON"),
        )?;
        match element::parse(value, index, self.ensemble) {
            Ok(pair) => Ok(Some(pair)),
            Err(findings) => {
                let problems = findings.into_iter().map(|finding| {
                    Problem::new(
                        &self.file,
                        Some(line + finding.lines_down),
                        &finding.message,
                    )
                });
                self.pending.extend(problems);
                Ok(None)
            }
        }
    }

    fn broken(&self, what: &str) -> End {
        End::Broken {
            line: self.scan.line(),
            what: what.to_owned(),
        }
    }

    fn end(&mut self, end: End) {
        let (line, what) = match end {
            End::Stop(Stop::End) if self.place == Place::AfterFile => {
                self.place = Place::Done;
                if self.found {
                    return;
                }
                (
                    None,
                    "scored_pairs: is missing; is this ai_scores.json?".to_owned(),
                )
            }
            End::Stop(Stop::End) => {
                let place = match self.index {
                    0 => "before the first pair".to_owned(),
                    pairs => format!("after pair {pairs}"),
                };
                let what = format!("the file is cut off {place}; write or download it again");
                (Some(self.scan.line()), what)
            }
            End::Stop(Stop::Unreadable(error)) => (
                Some(self.scan.line()),
                format!("cannot read further: {error}"),
            ),
            End::Broken { line, what } => (Some(line), what),
        };
        self.place = Place::Done;
        self.pending
            .push_back(Problem::new(&self.file, line, &what));
    }
}

/// The value as JSON, where it is; `line` is where it begins.
fn json<'a>(value: &'a [u8], line: u64, what: &str) -> Result<&'a RawValue, End> {
    let text = std::str::from_utf8(value).map_err(|error| {
        let before = value.get(..error.valid_up_to()).unwrap_or_default();
        End::Broken {
            line: line + before.iter().filter(|byte| **byte == b'\n').count() as u64,
            what: "invalid UTF-8; save the file as UTF-8".to_owned(),
        }
    })?;
    serde_json::from_str(text).map_err(|error| End::Broken {
        line: line + (error.line() as u64).saturating_sub(1),
        what: match error.classify() {
            Category::Eof => format!("{what}: a line break inside a string"),
            _ => format!("{what}: {}", reason(&error)),
        },
    })
}
