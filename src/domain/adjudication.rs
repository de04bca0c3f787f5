//! Adjudication: a judge picks the relevant documents of a pool, and its picks are compared with
//! the labels.
//!
//! An answer that breaks the rules counts as invalid; nothing is repaired or filled in. Agreement
//! is reported together with the agreement of random picks (science.md § Adjudication and pools).

mod disagreement;
mod evidence;
mod judge_answers;
pub(crate) mod pick_outcome;
mod pick_record;
mod pick_reply;
pub(crate) mod pick_summary;
mod remeasure;
mod ruling;

pub use disagreement::{
    CONTROL_SHARE, Disagreement, DisagreementOrder, DisagreementRule, find_disagreements,
    measure_impact, order_disagreements,
};
pub use evidence::{EvidenceLabel, SlotVerdict, VerdictsReply};
pub use judge_answers::{
    IgnoredAnswers, JudgeAnswers, PickAnswer, PoolAnswer, PoolSet, group_answers,
    summarize_answers, valid_answers,
};
pub use pick_outcome::{PickCounts, PickOutcome, PooledCounts};
pub use pick_record::{PickRecord, PickResult};
pub use pick_reply::{InvalidPick, PickMode, PickRequest, SlotsReply};
pub use pick_summary::PickSummary;
pub use remeasure::{Remeasured, remeasure, remeasured_metrics};
pub use ruling::{
    DisagreementCause, Finding, LabelCorrection, Ruling, RulingGrades, corrected_labels,
    has_conflict, label_corrections, latest_by_annotator, rulings_in_force,
};
