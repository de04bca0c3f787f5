//! A person's votes, as verdicts.

use super::{ImportedQuery, VotesImporter};
use crate::domain::verdict::Decision;
use crate::domain::vote::Outcome;
use crate::formats::votes::{ExternalVote, text_hash};
use crate::store::StoreError;
use crate::store::verdicts::NewVerdict;
use std::collections::HashMap;

/// What the file's people have said of a query so far.
#[derive(Default)]
pub(super) struct ImportedVerdicts {
    /// How often each verdict was given, word for word.
    given: HashMap<[u8; 32], u32>,
    /// The latest that does not say when it was given, by annotator and pair.
    latest: HashMap<(String, usize, usize), String>,
}

impl VotesImporter<'_> {
    /// Stores a person's vote as a verdict on the pair as it was shown to them. Its identifier follows from the line, so
    /// that the same line is the same verdict in every project.
    pub(super) fn verdict(
        &mut self,
        query: &mut ImportedQuery,
        vote: &ExternalVote,
        a: usize,
        b: usize,
    ) -> Result<(), StoreError> {
        if !self.report.annotators.contains(&vote.by) {
            self.report.annotators.push(vote.by.clone());
        }
        let straight = match vote.score.outcome() {
            Outcome::A => Decision::A,
            Outcome::Tie => Decision::Tie,
            Outcome::B => Decision::B,
        };
        let (shown, decision) = match vote.swapped {
            false => ((a, b), straight),
            true => ((b, a), straight.flipped()),
        };
        let line = serde_json::json!([
            vote.query,
            vote.a.id,
            vote.b.id,
            vote.by,
            straight,
            vote.swapped,
            vote.reasoning,
            vote.created_ms,
        ]);
        let said = &mut query.said;
        let before = said.given.entry(text_hash(&line.to_string())).or_default();
        let uid = uid(&format!("{line} {before}"));
        *before += 1;
        // Verdicts without a time follow each other as their lines do.
        let replaces = match vote.created_ms {
            Some(_) => None,
            None => {
                let whose = (vote.by.clone(), a.min(b), a.max(b));
                said.latest.insert(whose, uid.clone())
            }
        };
        let added = self.db.add_verdict_as(
            &uid,
            &NewVerdict {
                query: query.key,
                a: shown.0,
                b: shown.1,
                decision,
                note: Some(vote.reasoning.clone()).filter(|note| !note.is_empty()),
                annotator: vote.by.clone(),
                blind: true,
                created_ms: vote.created_ms.unwrap_or(self.now_ms),
                role: Some("import".to_owned()),
                replaces,
                ..NewVerdict::default()
            },
        )?;
        match added {
            true => self.report.verdicts += 1,
            false => self.report.unchanged += 1,
        }
        query.changed |= added;
        Ok(())
    }
}

/// An identifier that is the same for the same text, in the form of the others.
fn uid(text: &str) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&text_hash(text)[..16]);
    uuid::Builder::from_custom_bytes(bytes)
        .into_uuid()
        .to_string()
}
