//! Writes `ai_scores.json` in zBench's layout, pair by pair.

use super::pair::{NO_REASONING, RecordedVote, SWAPPED, ScoredDocument, ZbenchPair};
use crate::domain::corpus::JsonObject;
use crate::formats::json::{write_break, write_indented, write_number, write_string};
use std::borrow::Cow;
use std::io::{self, Write};

/// Writes an `ai_scores.json`; the file is incomplete until [`ScoredPairsWriter::finish`] is
/// called. Use buffered output.
///
/// Each vote becomes a member `<judge>_score` in the order of [`ZbenchPair::votes`]. zBench only
/// reads a file if these are its own three judges; Overrule reads any with
/// [`ExpectedJudges::Any`](super::ExpectedJudges::Any).
pub struct ScoredPairsWriter<W> {
    out: W,
    pairs: u64,
}

impl<W: Write> ScoredPairsWriter<W> {
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(b"{\n    \"scored_pairs\": [")?;
        Ok(Self { out, pairs: 0 })
    }

    pub fn write(&mut self, pair: &ZbenchPair) -> io::Result<()> {
        if self.pairs > 0 {
            self.out.write_all(b",")?;
        }
        self.pairs += 1;
        let out = &mut self.out;
        open(out, 2, None)?;
        open(out, 3, Some("pair"))?;
        text(out, 4, "pair_id", &pair.pair_id, ",")?;
        text(out, 4, "query_id", pair.query_id.as_str(), ",")?;
        text(out, 4, "query", &pair.query, ",")?;
        document(out, "document_a", &pair.a, "},")?;
        document(out, "document_b", &pair.b, "}")?;
        close(out, 3, "}")?;
        for (judge, recorded) in &pair.votes {
            out.write_all(b",")?;
            vote(out, judge, recorded)?;
        }
        close(out, 2, "}")
    }

    /// Completes the file and returns the flushed output.
    pub fn finish(mut self) -> io::Result<W> {
        if self.pairs > 0 {
            write_break(&mut self.out, 1)?;
        }
        self.out.write_all(b"]\n}")?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn document(
    out: &mut impl Write,
    key: &str,
    document: &ScoredDocument,
    end: &str,
) -> io::Result<()> {
    open(out, 4, Some(key))?;
    text(out, 5, "document_id", document.id.as_str(), ",")?;
    member(out, 5, "metadata")?;
    metadata(out, &document.metadata)?;
    out.write_all(b",")?;
    text(out, 5, "content", &document.content, "")?;
    close(out, 4, end)
}

fn metadata(out: &mut impl Write, metadata: &JsonObject) -> io::Result<()> {
    write_indented(out, metadata.as_str(), 5)
}

fn vote(out: &mut impl Write, judge: &str, recorded: &RecordedVote) -> io::Result<()> {
    let (thought, score) = match recorded {
        RecordedVote::Failure => (Cow::Borrowed(""), 0.0),
        RecordedVote::OutOfRange { score, thought } => (Cow::Borrowed(thought.as_str()), *score),
        RecordedVote::Vote {
            margin,
            swapped: true,
            thought,
        } => {
            // zBench negates the judge's score, so a swapped tie becomes minus zero.
            let score = if margin.get() == 0.0 {
                -0.0
            } else {
                margin.get()
            };
            (Cow::Owned(format!("{SWAPPED}{thought}")), score)
        }
        RecordedVote::Vote {
            margin, thought, ..
        } if margin.get() == 0.0 && thought.is_empty() => (Cow::Borrowed(NO_REASONING), 0.0),
        RecordedVote::Vote {
            margin, thought, ..
        } => (Cow::Borrowed(thought.as_str()), margin.get()),
    };
    open(out, 3, Some(&format!("{judge}_score")))?;
    text(out, 4, "thought", &thought, ",")?;
    member(out, 4, "score")?;
    write_number(out, score)?;
    close(out, 3, "}")
}

fn member(out: &mut impl Write, depth: usize, key: &str) -> io::Result<()> {
    write_break(out, depth)?;
    write_string(out, key)?;
    out.write_all(b": ")
}

fn text(out: &mut impl Write, depth: usize, key: &str, text: &str, end: &str) -> io::Result<()> {
    member(out, depth, key)?;
    write_string(out, text)?;
    out.write_all(end.as_bytes())
}

fn open(out: &mut impl Write, depth: usize, key: Option<&str>) -> io::Result<()> {
    match key {
        Some(key) => member(out, depth, key)?,
        None => write_break(out, depth)?,
    }
    out.write_all(b"{")
}

fn close(out: &mut impl Write, depth: usize, end: &str) -> io::Result<()> {
    write_break(out, depth)?;
    out.write_all(end.as_bytes())
}
