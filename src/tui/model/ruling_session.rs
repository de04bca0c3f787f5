//! Statistics on a person's rulings since the first document was opened: number, pace, and what
//! they say about the labels.

use crate::app::adjudication::document_evidence::DocumentEvidence;
use crate::domain::adjudication::Finding;
use crate::domain::corpus::DocId;
use crate::store::corpus::QueryKey;
use crate::tui::model::pace::{self, ReadingPace};
use crate::tui::text::counted;
use std::cmp::Ordering;

/// A document that was ruled on.
#[derive(Clone, Debug)]
pub struct RuledDocument {
    query: QueryKey,
    document: DocId,
    /// Active time until the first ruling, and the amount of text.
    pace: ReadingPace,
    /// The first ruling, and the final one.
    first: Finding,
    finding: Finding,
    /// Whether the label is relevant; `None` without a label.
    label: Option<bool>,
    /// Whether most judges picked it; `None` on a tie or without valid evidence.
    picked: Option<bool>,
}

impl RuledDocument {
    pub fn new(evidence: &DocumentEvidence, finding: Finding, active_ms: Option<i64>) -> Self {
        let known = evidence.picks.iter().filter_map(|pick| pick.picked);
        let (picked, not): (Vec<bool>, Vec<bool>) = known.partition(|picked| *picked);
        Self {
            query: evidence.query,
            document: evidence.document.clone(),
            pace: ReadingPace::new(active_ms, [&*evidence.text]),
            first: finding,
            finding,
            label: evidence.label.map(|grade| grade > 0),
            picked: match picked.len().cmp(&not.len()) {
                Ordering::Greater => Some(true),
                Ordering::Less => Some(false),
                Ordering::Equal => None,
            },
        }
    }

    /// Whether the ruling agrees with another judgment; `None` if either states nothing.
    fn agrees(&self, other: Option<bool>) -> Option<bool> {
        Some(self.finding.side()? == other?)
    }
}

#[derive(Debug, Default)]
pub struct RulingSession {
    ruled: Vec<RuledDocument>,
    /// Undone rulings, latest last.
    undone: Vec<RuledDocument>,
}

impl RulingSession {
    pub fn decided(&mut self, ruled: RuledDocument) {
        self.undone.clear();
        self.ruled.push(ruled);
    }

    fn place(of: &[RuledDocument], query: QueryKey, document: &DocId) -> Option<usize> {
        of.iter()
            .rposition(|one| one.query == query && one.document == *document)
    }

    /// Records the ruling on a document as stored.
    pub fn kept(&mut self, query: QueryKey, document: &DocId, finding: Finding) {
        let at = Self::place(&self.ruled, query, document);
        if let Some(ruled) = at.and_then(|at| self.ruled.get_mut(at)) {
            ruled.finding = finding;
        }
    }

    pub fn undone(&mut self, query: QueryKey, document: &DocId) {
        if let Some(at) = Self::place(&self.ruled, query, document) {
            self.undone.push(self.ruled.remove(at));
        }
    }

    pub fn redone(&mut self, query: QueryKey, document: &DocId) {
        if let Some(at) = Self::place(&self.undone, query, document) {
            self.ruled.push(self.undone.remove(at));
        }
    }

    /// A warning if the latest rulings came faster than the texts can be read.
    pub fn warning(&self) -> Option<String> {
        pace::warning(self.ruled.iter().map(|ruled| ruled.pace))
    }

    /// A summary of the session, line by line; `None` without rulings.
    pub fn summary(&self) -> Option<String> {
        if self.ruled.is_empty() {
            return None;
        }
        let mut lines = vec![format!(
            "{} ruled on",
            counted(self.ruled.len(), "document")
        )];
        lines.extend(pace::time_words(
            self.ruled.iter().map(|ruled| ruled.pace),
            "document",
        ));
        let agreement = |with: &str, of: fn(&RuledDocument) -> Option<bool>| {
            let each = self.ruled.iter().filter_map(|one| one.agrees(of(one)));
            let each: Vec<bool> = each.collect();
            let agreed = each.iter().filter(|agrees| **agrees).count();
            (!each.is_empty())
                .then(|| format!("you and {with} agree on {agreed} of {}", each.len()))
        };
        lines.extend(agreement("the labels", |one| one.label));
        lines.extend(agreement("most judges", |one| one.picked));
        let changed = self.ruled.iter().filter(|one| one.first != one.finding);
        lines.push(match changed.count() {
            0 => "no ruling was changed later".to_owned(),
            changed => format!("{} changed later", counted(changed, "ruling")),
        });
        lines.push(String::new());
        let to = |side: bool| {
            let turned = self.ruled.iter();
            turned
                .filter(|one| one.label == Some(!side) && one.finding.side() == Some(side))
                .count()
        };
        let labels = [
            (to(true), "turned to relevant"),
            (to(false), "turned to not relevant"),
            (
                self.ruled
                    .iter()
                    .filter(|one| one.label.is_none() && one.finding.side().is_some())
                    .count(),
                "added",
            ),
        ];
        let before = lines.len();
        for (count, what) in labels.into_iter().filter(|(count, _)| *count > 0) {
            lines.push(format!(
                "{} {what} by your rulings",
                counted(count, "label")
            ));
        }
        if lines.len() == before {
            lines.push("your rulings change no label".to_owned())
        } else {
            lines.push(
                "Where several people have ruled, the final rule decides whose ruling counts."
                    .to_owned(),
            )
        }
        lines.extend(self.warning().map(|words| format!("\n{words}")));
        Some(lines.join("\n"))
    }
}
