//! Records a person's ruling on a label, and computes the label under the effective rulings.

use super::data::ruling_context;
use crate::client::now_ms;
use crate::domain::adjudication::{
    DisagreementCause, Finding, LabelCorrection, Ruling, rulings_in_force,
};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::verdict::FinalRule;
use crate::store::rulings::{NewRuling, RulingContext};
use crate::store::{Result, Store};

/// The target of a ruling.
#[derive(Clone, Debug)]
pub enum RulingTarget {
    /// A document of a query's pool.
    Document { query: String, document: DocId },
    /// A printed disagreement, with the disagreements that it was drawn from.
    Item(String),
}

/// A person's ruling on a document's label.
#[derive(Clone, Debug)]
pub struct LabelRuling {
    pub on: RulingTarget,
    pub finding: Finding,
    pub cause: Option<DisagreementCause>,
    pub note: Option<String>,
    pub annotator: String,
    /// The grade from which a document counts as labeled relevant.
    pub level: i32,
}

/// The result of a ruling.
#[derive(Debug)]
pub struct RuledLabel {
    pub uid: String,
    pub query: QueryId,
    pub document: DocId,
    /// The label under the effective rulings; `None` if people disagree without a majority.
    pub correction: Option<LabelCorrection>,
    /// The rule that decides whose ruling counts.
    pub rule: FinalRule,
}

impl RuledLabel {
    /// Whether this ruling is the effective one.
    pub fn is_in_force(&self) -> bool {
        self.correction
            .as_ref()
            .is_some_and(|one| one.ruling.uid == self.uid)
    }
}

/// Adds a ruling that was made with label and picks visible.
pub fn rule_on_label(store: &Store, ruling: LabelRuling) -> Result<RuledLabel> {
    store.write_blocking(move |db| {
        let (query, document, control_of) = match ruling.on {
            RulingTarget::Document { query, document } => (db.find_query(&query)?, document, None),
            RulingTarget::Item(id) => {
                let printed = db.printed_document(&ruling.annotator, &id)?;
                (printed.query, printed.document, Some(printed.control_of))
            }
        };
        let about = RulingContext {
            control_of,
            ..ruling_context(db, query, &document, ruling.level)?
        };
        let before = about.grade;
        let uid = db.add_ruling(&NewRuling {
            query,
            document: document.clone(),
            finding: ruling.finding,
            fault: ruling.cause,
            note: ruling.note,
            annotator: ruling.annotator,
            created_ms: now_ms(),
            about,
            after_reveal: false,
        })?;
        let rule = db.final_rule()?;
        let standing = db.rulings_on(query, &document)?.into_iter();
        let standing: Vec<Ruling> = standing.map(|row| row.ruling).collect();
        let correction = rulings_in_force(&rule, &standing)
            .0
            .pop()
            .map(|ruling| LabelCorrection::of(ruling, before));
        Ok(RuledLabel {
            uid,
            query: db.query(query)?.id,
            document,
            correction,
            rule,
        })
    })
}
