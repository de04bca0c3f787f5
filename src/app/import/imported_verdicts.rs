//! Converts people's lines to verdicts, with identifiers that are the same for the same line in
//! every project.

use crate::domain::verdict::Decision;
use crate::domain::vote::{Margin, Outcome};
use crate::formats::votes::{ExternalVote, text_hash};
use crate::store::verdicts::{IMPORTED, NewVerdict};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The verdicts on a query that the file has contained so far.
#[derive(Default)]
pub(super) struct ImportedVerdicts {
    /// How often each verdict occurred, compared as text.
    given: HashMap<[u8; 32], u32>,
    /// The latest verdict without a time, by annotator and pair.
    latest: HashMap<(String, usize, usize), String>,
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
            None => {
                let whose = (vote.by.clone(), a.min(b), a.max(b));
                self.latest.insert(whose, uid.clone())
            }
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
}

/// An identifier derived from the text, in the same format as the others.
fn uid(text: &str) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&text_hash(text)[..16]);
    uuid::Builder::from_custom_bytes(bytes)
        .into_uuid()
        .to_string()
}
