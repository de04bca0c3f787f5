//! Reads ratings of JSON files that list queries, each with a list `ratings`. One query is in memory
//! at a time.

use super::tool_format::{JudgmentItem, ReadItem};
use crate::domain::corpus::{DocId, QueryId};
use crate::formats::columns::GradedDocument;
use crate::formats::grade::whole_grade;
use crate::formats::json::{ValueError, kind, string};
use crate::formats::json_scan::{BrokenValue, JsonScanner, ScanStop, parse_value};
use crate::formats::object::{LineCounter, ObjectReader, ProblemNotes};
use crate::formats::problem::{Problem, quoted};
use serde_json::value::RawValue;
use std::io::BufRead;

/// A step from a JSON value to values inside it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// The member of an object, which must exist.
    Member(&'static str),
    /// Each element of an array.
    Elements,
}

/// The names of the members that contain the queries and their ratings.
pub(super) struct RatedLists {
    /// The way from the whole file to the queries.
    pub(super) path: &'static [Step],
    /// The list of queries, as messages name it.
    pub(super) list: &'static str,
    /// Identifies a query.
    pub(super) query: &'static str,
    /// Identifies the document of a rating.
    pub(super) document: &'static str,
}

impl RatedLists {
    pub(super) fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        found: &mut dyn FnMut(ReadItem),
    ) {
        let mut walk = Walk {
            lists: self,
            scan: JsonScanner::new(reader),
            file,
            value: Vec::new(),
            index: 0,
            found,
        };
        if let Err(stop) = walk.whole() {
            let (line, what) = match stop {
                WalkStop::Scan(ScanStop::End) => (
                    Some(walk.scan.line()),
                    "the file is cut off inside the JSON; write or download it again".to_owned(),
                ),
                WalkStop::Scan(ScanStop::Unreadable(error)) => (
                    Some(walk.scan.line()),
                    format!("cannot read further: {error}"),
                ),
                WalkStop::Broken(BrokenValue { line, what }) => (Some(line), what),
            };
            (walk.found)(Err(Problem::new(file, line, what)));
        }
    }

    /// The ratings of one query. Problems with some of them do not affect the others.
    fn query(
        &self,
        mut query: ObjectReader<'_, '_>,
        line_of: &mut dyn FnMut(&RawValue) -> u64,
        found: &mut dyn FnMut(ReadItem),
    ) -> Option<()> {
        let id = query.identifier(self.query);
        let ratings = query.array("ratings");
        let id = QueryId::new(id?);
        for (at, value) in ratings?.into_iter().enumerate() {
            let Some(mut rating) = query.enter(&format!("ratings[{at}]"), value) else {
                continue;
            };
            let document = rating.identifier(self.document);
            let grade = rating.required("rating");
            let grade = grade.and_then(|grade| rating.read("rating", grade, grade_of));
            if let (Some(document), Some(grade)) = (document, grade) {
                let label = GradedDocument {
                    query: id.clone(),
                    document: DocId::new(document),
                    grade,
                };
                found(Ok(JudgmentItem::Label(line_of(value), label)));
            }
        }
        Some(())
    }
}

/// The grade in a value: a whole number, which may be in quotes and have zeros as decimals.
fn grade_of(value: &RawValue) -> Result<i32, ValueError> {
    let text = match kind(value) {
        "a string" => string(value)?,
        "a number" => value.get().to_owned(),
        other => return Err(ValueError::expected("a whole number", other)),
    };
    whole_grade(text.trim()).ok_or_else(|| ValueError::NotAGrade(quoted(&text)))
}

struct Walk<'r, 'f> {
    lists: &'f RatedLists,
    scan: JsonScanner<&'r mut dyn BufRead>,
    file: &'f str,
    value: Vec<u8>,
    /// The number of queries so far.
    index: u64,
    found: &'f mut dyn FnMut(ReadItem),
}

/// Why a file is not read further.
enum WalkStop {
    Scan(ScanStop),
    Broken(BrokenValue),
}

impl From<ScanStop> for WalkStop {
    fn from(stop: ScanStop) -> Self {
        Self::Scan(stop)
    }
}

impl From<BrokenValue> for WalkStop {
    fn from(broken: BrokenValue) -> Self {
        Self::Broken(broken)
    }
}

impl Walk<'_, '_> {
    fn whole(&mut self) -> Result<(), WalkStop> {
        self.scan.skip_mark()?;
        self.follow(self.lists.path, "the file")?;
        match self.scan.peek() {
            Err(ScanStop::End) => Ok(()),
            Err(stop) => Err(stop.into()),
            Ok(_) => Err(self.broken("broken JSON: more follows after the end of the object")),
        }
    }

    /// Visits the values at the end of `path`, from the next value, which messages call `name`.
    fn follow(&mut self, path: &[Step], name: &str) -> Result<(), WalkStop> {
        match path.split_first() {
            None => self.element(),
            Some((Step::Elements, rest)) => self.elements(rest, name),
            Some((Step::Member(member), rest)) => self.members(member, rest, name),
        }
    }

    fn elements(&mut self, rest: &[Step], name: &str) -> Result<(), WalkStop> {
        self.open(b'[', name, "an array")?;
        if self.scan.peek()? == b']' {
            self.scan.advance();
            return Ok(());
        }
        loop {
            self.follow(rest, name)?;
            match self.scan.peek()? {
                b',' => self.scan.advance(),
                b']' => {
                    self.scan.advance();
                    return Ok(());
                }
                _ => return Err(self.broken("broken JSON: expected `,` or `]`")),
            }
            if self.scan.peek()? == b']' {
                return Err(self.broken("broken JSON: a comma with no element after it"));
            }
        }
    }

    fn members(&mut self, wanted: &'static str, rest: &[Step], name: &str) -> Result<(), WalkStop> {
        self.open(b'{', name, "an object")?;
        let mut is_found = false;
        let mut is_first = true;
        loop {
            match self.scan.peek()? {
                b'}' if is_first => break,
                b'"' => {}
                _ => {
                    return Err(self.broken("broken JSON: expected the name of a member in quotes"));
                }
            }
            is_first = false;
            let line = self.scan.line();
            self.scan.value(&mut self.value)?;
            let member: String =
                serde_json::from_slice(&self.value).map_err(|error| BrokenValue {
                    line,
                    what: format!("broken JSON: {error}"),
                })?;
            if self.scan.peek()? != b':' {
                return Err(self.broken("broken JSON: expected `:`"));
            }
            self.scan.advance();
            self.scan.peek()?;
            if member != wanted {
                self.skip()?;
            } else if is_found {
                return Err(self.broken(&format!("{wanted}: occurs more than once; keep one")));
            } else {
                is_found = true;
                self.follow(rest, wanted)?;
            }
            match self.scan.peek()? {
                b',' => self.scan.advance(),
                b'}' => break,
                _ => return Err(self.broken("broken JSON: expected `,` or `}`")),
            }
        }
        self.scan.advance();
        if is_found {
            Ok(())
        } else {
            Err(self.broken(&format!("{wanted}: is missing")))
        }
    }

    fn skip(&mut self) -> Result<(), WalkStop> {
        let line = self.scan.line();
        self.scan.value(&mut self.value)?;
        parse_value(&self.value, line, "broken JSON")?;
        Ok(())
    }

    fn element(&mut self) -> Result<(), WalkStop> {
        self.scan.peek()?;
        let line = self.scan.line();
        self.scan.value(&mut self.value)?;
        let path = format!("{}[{}]", self.lists.list, self.index);
        let value = parse_value(&self.value, line, &format!("{path}: broken JSON"))?;
        self.index += 1;
        let text = value.get();
        let mut lines = LineCounter::new(text);
        let mut line_of = |inside: &RawValue| line + lines.before(inside.get());
        let mut notes = ProblemNotes::of_element(text);
        let read = ObjectReader::of(value, path, &mut notes)
            .and_then(|query| self.lists.query(query, &mut line_of, self.found));
        for (lines_down, message) in notes.finish(read).err().unwrap_or_default() {
            let problem = Problem::new(self.file, Some(line + lines_down), message);
            (self.found)(Err(problem));
        }
        Ok(())
    }

    fn open(&mut self, bracket: u8, name: &str, expected: &str) -> Result<(), WalkStop> {
        if self.scan.peek()? != bracket {
            return Err(self.broken(&format!("{name}: expected {expected}")));
        }
        self.scan.advance();
        Ok(())
    }

    fn broken(&self, what: &str) -> WalkStop {
        WalkStop::Broken(BrokenValue {
            line: self.scan.line(),
            what: what.to_owned(),
        })
    }
}
