//! Records a person's verdict on a pair and reports its effect.

use crate::client::now_ms;
use crate::domain::battle::Pair;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::ranking::{VerdictEffect, View};
use crate::domain::verdict::{Confidence, Decision, ErrorCause, FinalRule, Verdict};
use crate::store::corpus::DocumentInfo;
use crate::store::verdicts::NewVerdict;
use crate::store::{Result, Store};

/// The target of a verdict.
#[derive(Clone, Debug)]
pub enum OverrideTarget {
    /// Two documents of a query, by identifier.
    Pair { query: String, a: String, b: String },
    /// A printed queue item: the verdict is blind and has the probability with which the queue
    /// selected the pair.
    Item(String),
}

/// A person's verdict.
#[derive(Clone, Debug)]
pub struct PairOverride {
    pub on: OverrideTarget,
    pub decision: Decision,
    /// The reason in the annotator's words.
    pub note: Option<String>,
    pub confidence: Option<Confidence>,
    /// Why the judges disagree.
    pub cause: Option<ErrorCause>,
    pub annotator: String,
}

#[derive(Clone, Debug)]
pub struct OverrideEffect {
    /// UID of the verdict.
    pub uid: String,
    /// The query, and the verdict's documents A and B.
    pub query: QueryId,
    pub a: DocId,
    pub b: DocId,
    /// The rule that decides whose verdict counts if people disagree.
    pub rule: FinalRule,
    /// The effective verdict on the pair, with its documents.
    pub in_force: Option<(Verdict, DocId, DocId)>,
    /// How the current verdict on the pair counts in the fit; `None` if it states no preference.
    pub effect: Option<VerdictEffect>,
    /// Documents whose rank changes: identifier, rank before, rank after.
    pub moved: Vec<(DocId, usize, usize)>,
}

impl OverrideEffect {
    pub fn counts(&self) -> bool {
        self.in_force
            .as_ref()
            .is_some_and(|(verdict, ..)| verdict.uid == self.uid)
    }
}

/// Stores the verdict and returns its effect.
pub fn override_pair(store: &Store, given: PairOverride) -> Result<OverrideEffect> {
    store.write_blocking(move |db| {
        let now_ms = now_ms();
        let (query, a, b, item) = match &given.on {
            OverrideTarget::Pair { query, a, b } => {
                let query = db.find_query(query)?;
                let documents = (db.find_document(query, a)?, db.find_document(query, b)?);
                (query, documents.0, documents.1, None)
            }
            OverrideTarget::Item(id) => {
                let printed = db.begin_printed_pair(&given.annotator, id, now_ms)?;
                (printed.query, printed.a, printed.b, Some(printed.item))
            }
        };
        // The answer is about ranks and verdicts only.
        let before = db.view_without_errors(query)?;
        let uid = db.add_verdict(&NewVerdict {
            note: given.note,
            confidence: given.confidence,
            cause: given.cause,
            created_ms: now_ms,
            blind: item.is_some(),
            item,
            ..NewVerdict::open(query, a, b, given.decision, &given.annotator)
        })?;
        let (after, documents) = (db.view_without_errors(query)?, db.documents(query)?);
        let pair = Pair::new(a, b);
        let id = |at: usize| documents[at].id.clone();
        let in_force = pair.and_then(|pair| after.verdict(pair));
        Ok(OverrideEffect {
            uid,
            query: db.query(query)?.id,
            a: id(a),
            b: id(b),
            rule: db.final_rule()?,
            in_force: in_force.map(|verdict| (verdict.clone(), id(verdict.a), id(verdict.b))),
            effect: pair.and_then(|pair| after.verdict_effect(pair)).copied(),
            moved: moved(&before, &after, &documents),
        })
    })
}

fn moved(before: &View, after: &View, documents: &[DocumentInfo]) -> Vec<(DocId, usize, usize)> {
    let moved = after.by_zelo.iter().filter_map(|at| {
        let (from, to) = (before.standings[*at]?.rank, after.standings[*at]?.rank);
        (from != to).then(|| (documents[*at].id.clone(), from, to))
    });
    moved.collect()
}
