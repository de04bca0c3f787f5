//! Converts people's lines to verdicts, with identifiers that are the same for the same line in
//! every project.

use crate::domain::verdict::Decision;
use crate::domain::vote::{Margin, Outcome};
use crate::formats::votes::{ExternalVote, text_hash};
use crate::store::verdicts::{IMPORTED, NewVerdict, StoredVerdict};
use crate::store::{Db, StoreError};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The verdicts on a query that the file has contained so far.
#[derive(Default)]
pub(super) struct ImportedVerdicts {
    /// How often each verdict occurred, compared as text.
    given: HashMap<[u8; 32], u32>,
    /// The latest verdict without a time, by annotator and pair.
    latest: HashMap<(String, usize, usize), String>,
    /// What people had said before the file, by annotator and pair, except what the file changed;
    /// `None` until it is needed.
    standing: Option<HashMap<(String, usize, usize), StoredVerdict>>,
}

/// The annotator and the pair of a verdict.
fn whose(by: &str, a: usize, b: usize) -> (String, usize, usize) {
    (by.to_owned(), a.min(b), a.max(b))
}

impl ImportedVerdicts {
    /// The verdict on the pair as it was shown, and its identifier. The caller adds query and time.
    pub(super) fn verdict(
        &mut self,
        vote: &ExternalVote,
        score: Margin,
        a: usize,
        b: usize,
    ) -> (String, NewVerdict) {
        let straight = match score.outcome() {
            Outcome::A => Decision::A,
            Outcome::Tie => Decision::Tie,
            Outcome::B => Decision::B,
        };
        let (shown, decision) = if vote.swapped {
            ((b, a), straight.flipped())
        } else {
            ((a, b), straight)
        };
        let mut line = vec![
            json!(vote.query),
            json!(vote.a.id),
            json!(vote.b.id),
            json!(vote.by),
            json!(straight),
            json!(vote.swapped),
            json!(vote.reasoning),
            json!(vote.created_ms),
        ];
        // A line that states its probability is a different verdict from one that does not.
        line.extend(vote.inclusion.map(|chance| json!(chance)));
        // So is one that was not given blind.
        line.extend((!vote.blind).then(|| json!("not blind")));
        let line = Value::Array(line);
        let before = self.given.entry(text_hash(&line.to_string())).or_default();
        let uid = uid(&format!("{line} {before}"));
        *before += 1;
        // Verdicts without a time are ordered like their lines.
        let replaces = match vote.created_ms {
            Some(_) => None,
            None => self.latest.insert(whose(&vote.by, a, b), uid.clone()),
        };
        let verdict = NewVerdict {
            a: shown.0,
            b: shown.1,
            decision,
            note: Some(vote.reasoning.clone()).filter(|note| !note.is_empty()),
            annotator: vote.by.clone(),
            blind: vote.blind,
            role: Some(IMPORTED.to_owned()),
            inclusion: vote.inclusion,
            replaces,
            ..NewVerdict::default()
        };
        (uid, verdict)
    }

    /// Whether the person said the same before the file: the same choice, at the same time if the
    /// line has one. A line that says more about it, such as a note or that it was blind, is new.
    ///
    /// A file of comparisons does not have everything that the project has, such as how much better
    /// a document is. Its line would otherwise replace the verdict that it was written from.
    pub(super) fn is_given(
        &mut self,
        db: &Db,
        uid: &str,
        verdict: &NewVerdict,
        created_ms: Option<i64>,
    ) -> Result<bool, StoreError> {
        let standing = match &mut self.standing {
            Some(standing) => standing,
            none => {
                let rows = db.standing_verdicts(Some(verdict.query))?.into_iter();
                let rows = rows.map(|row| {
                    let said = &row.verdict;
                    (whose(&said.annotator, said.a, said.b), row)
                });
                none.insert(rows.collect())
            }
        };
        let whose = whose(&verdict.annotator, verdict.a, verdict.b);
        let Some(row) = standing.get(&whose) else {
            return Ok(false);
        };
        let said = &row.verdict;
        let is_same = said.uid != uid
            && said.seen_from(verdict.a).direction() == verdict.decision.direction()
            && created_ms.is_none_or(|at| at == said.created_ms)
            && (verdict.note.is_none() || verdict.note == said.note)
            && (verdict.inclusion.is_none() || verdict.inclusion == row.inclusion)
            && (!verdict.blind || row.blind);
        if is_same && created_ms.is_none() {
            self.latest.insert(whose, said.uid.clone());
        }
        Ok(is_same)
    }

    /// Records that the file changed what a person had said.
    pub(super) fn changed(&mut self, verdict: &NewVerdict) {
        if let Some(standing) = &mut self.standing {
            standing.remove(&whose(&verdict.annotator, verdict.a, verdict.b));
        }
    }
}

/// An identifier derived from the text, in the same format as the others.
fn uid(text: &str) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&text_hash(text)[..16]);
    uuid::Builder::from_custom_bytes(bytes)
        .into_uuid()
        .to_string()
}
