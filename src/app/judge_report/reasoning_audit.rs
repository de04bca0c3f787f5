//! Audits the reasoning of a sample of a judge's votes for invented quotes and conclusions that
//! contradict the score.

use crate::app::embedded_reasoning::{EmbeddedReasoning, SeenPair};
use crate::app::text_format::counted;
use crate::domain::reasoning::{FoldedText, WordRuns, conclusion, copied_runs, quotes};
use crate::domain::vote::{JudgeId, Margin, Outcome};
use crate::judge::parse::WITHOUT_PROBABILITIES;
use crate::store::corpus::QueryKey;
use crate::store::vote_details::{ReasonedVote, VoteReasoning};
use crate::store::{Db, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Maximum number of votes per judge to audit.
const AUDITED: usize = 200;

/// Number of consecutive battles to draw at once for an embedded judge, which reads the whole pool
/// before it writes.
const FEW_POOLS: usize = 32;

/// Result of auditing a judge's reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasoningAudit {
    /// Number of audited votes.
    pub votes: usize,
    /// Number of phrases in quotation marks, and of passages copied without quotation marks.
    pub quotes: usize,
    /// Of those, passages copied verbatim from a document without quotation marks.
    pub copied: usize,
    /// Phrases in quotation marks that occur in neither document nor in the query.
    pub missing_quotes: usize,
    /// Votes whose reasoning explicitly names a better document.
    pub conclusions: usize,
    /// Of those, votes whose score says the opposite.
    pub contradictions: usize,
    /// Votes that consist of one letter without the model's probabilities: each counts as a full
    /// vote, however close it was.
    pub without_probabilities: usize,
}

impl ReasoningAudit {
    /// Whether there is something to report: a finding, or that nothing could be checked.
    pub fn is_telling(&self) -> bool {
        let unchecked = self.votes > 0 && self.quotes == 0;
        unchecked || self.missing_quotes + self.contradictions + self.without_probabilities > 0
    }

    /// Describes the findings, or says that there was nothing to check.
    pub fn words(&self) -> String {
        if self.votes > 0 && self.without_probabilities == self.votes {
            return format!("each is {WITHOUT_PROBABILITIES}, and counts as a whole vote");
        }
        let letters = match self.without_probabilities {
            0 => String::new(),
            letters => format!("; {letters} are {WITHOUT_PROBABILITIES}, and count as whole votes"),
        };
        let quotes = match (self.quotes, self.copied) {
            (0, _) => {
                "no quote, and no passage copied from a document: their basis could not be checked"
                    .to_owned()
            }
            (quotes, 0) => format!(
                "{} of {} are in neither document",
                self.missing_quotes,
                counted(quotes, "quote")
            ),
            (quotes, copied) => format!(
                "{} of {} are in neither document ({copied} copied without quotation marks)",
                self.missing_quotes,
                counted(quotes, "quote"),
            ),
        };
        let conclusions = match self.conclusions {
            0 => "none names the better document in plain words".to_owned(),
            conclusions => format!(
                "{} of {} contradict the score",
                self.contradictions,
                counted(conclusions, "plain conclusion"),
            ),
        };
        format!("{quotes}; {conclusions}{letters}")
    }
}

/// A document prepared for the audit.
struct AuditedText {
    folded: FoldedText,
    runs: WordRuns,
}

/// Audits the reasoning of a deterministic sample of a judge's votes.
pub fn audit_reasoning(db: &Db, judge: JudgeId) -> Result<ReasoningAudit> {
    let mut audit = ReasoningAudit::default();
    let mut texts: HashMap<(QueryKey, usize), AuditedText> = HashMap::new();
    let mut embedded = EmbeddedReasoning::default();
    let at_once = if embedded.writes(db, judge)? {
        FEW_POOLS
    } else {
        1
    };
    for vote in db.votes_with_reasoning(judge, AUDITED, at_once)? {
        let ReasonedVote {
            query: key, a, b, ..
        } = vote;
        let reasoning = match (&vote.reasoning, Margin::new(vote.margin)) {
            (VoteReasoning::Unkept, Some(margin)) => {
                let swapped = vote.swapped;
                let query = key;
                embedded.written_again(
                    db,
                    judge,
                    SeenPair {
                        query,
                        a,
                        b,
                        swapped,
                    },
                    margin,
                )?
            }
            (known, _) => known.clone(),
        };
        let reasoning = reasoning.text();
        if reasoning.is_empty() {
            continue;
        }
        let query = FoldedText::new(&vote.query_text);
        for at in [a, b] {
            if let std::collections::hash_map::Entry::Vacant(place) = texts.entry((key, at)) {
                let text = db.document_text(key, at)?;
                place.insert(AuditedText {
                    folded: FoldedText::new(&text),
                    runs: WordRuns::new(&text),
                });
            }
        }
        audit.votes += 1;
        audit.without_probabilities += usize::from(reasoning == WITHOUT_PROBABILITIES);
        let documents = [a, b].into_iter().filter_map(|at| texts.get(&(key, at)));
        let documents: Vec<&AuditedText> = documents.collect();
        let marked = quotes(reasoning);
        for quote in &marked {
            let phrase = &reasoning[quote.clone()];
            let stands = documents
                .iter()
                .map(|text| &text.folded)
                .chain([&query])
                .any(|text| !text.find(phrase).is_empty());
            audit.missing_quotes += usize::from(!stands);
        }
        let runs: Vec<&WordRuns> = documents.iter().map(|text| &text.runs).collect();
        let copied = copied_runs(reasoning, &marked, &runs, &WordRuns::new(&vote.query_text));
        audit.copied += copied;
        audit.quotes += marked.len() + copied;
        let shown = if vote.swapped {
            -vote.margin
        } else {
            vote.margin
        };
        if let Some(outcome) = conclusion(reasoning)
            && shown != 0.0
        {
            audit.conclusions += 1;
            audit.contradictions += usize::from((outcome == Outcome::B) != (shown > 0.0));
        }
    }
    Ok(audit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_without_probabilities_are_told_of() {
        let of = |votes, without_probabilities| {
            let audit = ReasoningAudit {
                votes,
                without_probabilities,
                ..ReasoningAudit::default()
            };
            audit.words()
        };
        assert_eq!(
            of(3, 3),
            "each is one letter, without the model's probabilities, and counts as a whole vote"
        );
        let some =
            "; 2 are one letter, without the model's probabilities, and count as whole votes";
        assert!(of(3, 2).ends_with(some));
        assert!(!of(3, 0).contains("letter") && !of(0, 0).contains("each is"));
    }
}
