//! Reads other systems' pairwise judgments as JSON lines, with one vote of a model or a person per
//! line.
//!
//! `{"query":{"id","query"},"a":{"id","content"},"b":{"id","content"},"by","kind":"llm"|"human","score",`
//! `"shown"?:"ab"|"ba","reasoning"?,"created_ms"?,"inclusion"?,"blind"?}`; the score is in −1..1, negative
//! if `a` is better. A text may be omitted once it is known, and must not change. `inclusion`, on a
//! person's line, is the probability with which the pair was drawn for judging. Unknown members are
//! ignored. The rows of `overrule export votes` are also votes, as JSON lines and as CSV. The CSV
//! contains no texts: the project must know them.

mod exported;
mod given;
#[cfg(test)]
mod tests;
mod texts;
mod vote;

pub use given::GivenVotes;
pub use texts::{KnownTexts, LookupError, text_hash};
pub use vote::{ExternalAnswer, ExternalDocument, ExternalVote, RecordedFailure};

use super::jsonl;
use super::lines::TextLine;
use super::own_tables::VOTES;
use super::records::{LineRecords, ParseLine};
use super::table_objects::TableSchema;
use std::collections::HashMap;
use std::io::BufRead;
use texts::TextRegistry;

/// The table of votes that Overrule exports; other tables of votes are not supported.
static SCHEMA: TableSchema = TableSchema {
    columns: &VOTES,
    required: &[
        "query", "a", "b", "game", "judge", "provider", "model", "margin", "swapped",
    ],
    is_own: true,
    others: None,
};

/// Reads votes from JSON lines, or from a table that Overrule exported. An invalid line yields its
/// problems, up to five of them and a count, and reading continues with the next line. Only one
/// line is in memory at a time, with the hashes of the earlier texts.
///
/// `file` is the file's name in problems. `known` returns the texts that a query has before this
/// file, if any, or why they cannot be looked up.
pub fn read_votes<R, K>(reader: R, file: &str, known: K) -> LineRecords<R, TextRegistry<K>>
where
    R: BufRead,
    K: FnMut(&str) -> Result<Option<KnownTexts>, LookupError>,
{
    LineRecords::or_table(reader, file, &SCHEMA, TextRegistry::new(known))
}

impl<R, K> LineRecords<R, TextRegistry<K>> {
    /// Rejects verdicts with a time after this, in milliseconds since the Unix epoch.
    pub fn given_before(mut self, ms: i64) -> Self {
        self.parser.latest_ms = Some(ms);
        self
    }

    /// The texts of the queries that were read, for use with the next file.
    pub fn into_texts(self) -> HashMap<String, KnownTexts> {
        self.parser.known
    }
}

impl<K> ParseLine for TextRegistry<K>
where
    K: FnMut(&str) -> Result<Option<KnownTexts>, LookupError>,
{
    type Record = ExternalVote;

    fn parse(&mut self, line: &TextLine<'_>) -> Result<Option<ExternalVote>, Vec<String>> {
        let vote = jsonl::record(line, "vote", |line| {
            let exported = line.members().any(|(name, _)| name == "judge");
            if exported {
                exported::exported(line)
            } else {
                vote::vote(line)
            }
        })?;
        self.check_time(&vote)?;
        self.agree(&vote)?;
        Ok(Some(vote))
    }
}
