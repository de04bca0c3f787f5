//! Reads `scored_pairs` one element at a time, so that memory does not grow with the file.

use super::element::{self, ExpectedJudges};
use super::pair::ZbenchPair;
use crate::formats::json::reason;
use crate::formats::json_scan::{BrokenValue, JsonScanner, ScanStop, parse_value};
use crate::formats::problem::Problem;
use std::collections::VecDeque;
use std::io::BufRead;

/// An iterator over the pairs of a file; see [`read_scored_pairs`].
pub struct ScoredPairs<R> {
    scan: JsonScanner<R>,
    file: String,
    ensemble: ExpectedJudges,
    value: Vec<u8>,
    index: u64,
    place: ReadPlace,
    found: bool,
    pending: VecDeque<Problem>,
}

/// Reads a file pair by pair. An invalid pair yields its problems, and reading continues with the
/// next one; if the file is no longer valid JSON, reading ends with a problem. Only one pair is in
/// memory at a time.
///
/// `file` is the file's name in problems.
pub fn read_scored_pairs<R: BufRead>(
    reader: R,
    file: &str,
    ensemble: ExpectedJudges,
) -> ScoredPairs<R> {
    ScoredPairs {
        scan: JsonScanner::new(reader),
        file: file.to_owned(),
        ensemble,
        value: Vec::new(),
        index: 0,
        place: ReadPlace::Start,
        found: false,
        pending: VecDeque::new(),
    }
}

/// The state of the parser.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadPlace {
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

enum ReadEnd {
    Stop(ScanStop),
    Broken(BrokenValue),
}

impl From<BrokenValue> for ReadEnd {
    fn from(broken: BrokenValue) -> Self {
        Self::Broken(broken)
    }
}

impl From<ScanStop> for ReadEnd {
    fn from(stop: ScanStop) -> Self {
        Self::Stop(stop)
    }
}

impl<R: BufRead> Iterator for ScoredPairs<R> {
    type Item = Result<ZbenchPair, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(problem) = self.pending.pop_front() {
                return Some(Err(problem));
            }
            if self.place == ReadPlace::Done {
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
    /// Advances by one token or one pair.
    fn step(&mut self) -> Result<Option<ZbenchPair>, ReadEnd> {
        if self.place == ReadPlace::Start {
            self.scan.skip_mark()?;
        }
        let next = self.scan.peek()?;
        self.place = match (self.place, next) {
            (ReadPlace::Start, b'{') => self.token(ReadPlace::Member { first: true }),
            (ReadPlace::Start, _) => {
                return Err(
                    self.broken("expected an object with scored_pairs; is this ai_scores.json?")
                );
            }
            (ReadPlace::Member { first: true } | ReadPlace::AfterMember, b'}') => {
                self.token(ReadPlace::AfterFile)
            }
            (ReadPlace::Member { .. }, b'"') => self.member()?,
            (ReadPlace::Member { .. }, _) => {
                return Err(self.broken("broken JSON: expected the name of a member in quotes"));
            }
            (ReadPlace::AfterMember, b',') => self.token(ReadPlace::Member { first: false }),
            (ReadPlace::AfterMember, _) => {
                return Err(self.broken("broken JSON: expected `,` or `}`"));
            }
            (ReadPlace::Pair { first: true } | ReadPlace::AfterPair, b']') => {
                self.token(ReadPlace::AfterMember)
            }
            (ReadPlace::Pair { .. }, b']') => {
                return Err(self.broken("broken JSON: a comma with no pair after it"));
            }
            (ReadPlace::Pair { .. }, _) => {
                let pair = self.pair()?;
                self.place = ReadPlace::AfterPair;
                return Ok(pair);
            }
            (ReadPlace::AfterPair, b',') => self.token(ReadPlace::Pair { first: false }),
            (ReadPlace::AfterPair, _) => {
                return Err(self.broken("broken JSON: expected `,` or `]`"));
            }
            (ReadPlace::AfterFile, _) => {
                return Err(self.broken("broken JSON: more follows after the end of the object"));
            }
            (ReadPlace::Done, _) => ReadPlace::Done,
        };
        Ok(None)
    }

    fn token(&mut self, then: ReadPlace) -> ReadPlace {
        self.scan.advance();
        then
    }

    /// Reads a member's name, and its value unless it contains the pairs.
    fn member(&mut self) -> Result<ReadPlace, ReadEnd> {
        let line = self.scan.line();
        self.scan.value(&mut self.value)?;
        let name: String = serde_json::from_slice(&self.value).map_err(|error| BrokenValue {
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
            parse_value(&self.value, line, "broken JSON")?;
            return Ok(ReadPlace::AfterMember);
        }
        if self.found {
            return Err(self.broken("scored_pairs: occurs more than once; keep one"));
        }
        if next != b'[' {
            return Err(self.broken("scored_pairs: expected an array"));
        }
        self.found = true;
        Ok(self.token(ReadPlace::Pair { first: true }))
    }

    fn pair(&mut self) -> Result<Option<ZbenchPair>, ReadEnd> {
        let index = self.index;
        let line = self.scan.line();
        self.scan.value(&mut self.value)?;
        self.index += 1;
        let value = parse_value(
            &self.value,
            line,
            &format!("scored_pairs[{index}]: broken JSON"),
        )?;
        match element::parse(value, index, self.ensemble) {
            Ok(pair) => Ok(Some(pair)),
            Err(findings) => {
                let problems = findings.into_iter().map(|(lines_down, message)| {
                    Problem::new(&self.file, Some(line + lines_down), &message)
                });
                self.pending.extend(problems);
                Ok(None)
            }
        }
    }

    fn broken(&self, what: &str) -> ReadEnd {
        ReadEnd::Broken(BrokenValue {
            line: self.scan.line(),
            what: what.to_owned(),
        })
    }

    fn end(&mut self, end: ReadEnd) {
        let (line, what) = match end {
            ReadEnd::Stop(ScanStop::End) if self.place == ReadPlace::AfterFile => {
                self.place = ReadPlace::Done;
                if self.found {
                    return;
                }
                (
                    None,
                    "scored_pairs: is missing; is this ai_scores.json?".to_owned(),
                )
            }
            ReadEnd::Stop(ScanStop::End) => {
                let place = match self.index {
                    0 => "before the first pair".to_owned(),
                    pairs => format!("after pair {pairs}"),
                };
                let what = format!("the file is cut off {place}; write or download it again");
                (Some(self.scan.line()), what)
            }
            ReadEnd::Stop(ScanStop::Unreadable(error)) => (
                Some(self.scan.line()),
                format!("cannot read further: {error}"),
            ),
            ReadEnd::Broken(BrokenValue { line, what }) => (Some(line), what),
        };
        self.place = ReadPlace::Done;
        self.pending
            .push_back(Problem::new(&self.file, line, &what));
    }
}
