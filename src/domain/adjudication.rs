//! The label court: a judge picks the relevant documents of a pool, and its picks are held against the labels.
//!
//! An answer that breaks the rules is invalid and counted as such; nothing is repaired or filled in. Agreement is
//! reported beside what random picks would reach (SEEDS §2.4).

mod disagreement;
mod evidence;
mod judge_answers;
mod pick_outcome;
mod pick_record;
mod pick_reply;
mod remeasure;
mod ruling;

pub use disagreement::{
    CONTROL_SHARE, Disagreement, DisagreementOrder, DisagreementRule, IMPACT_DEPTH,
    find_disagreements, measure_impact, order_disagreements,
};
pub use evidence::{
    ClaimedVerdict, EvidenceLabel, SlotVerdict, VerdictsReply, check_verdicts, find_quote,
    picks_of_verdicts,
};
pub use judge_answers::{
    IgnoredAnswers, JudgeAnswers, PickAnswer, PoolAnswer, PoolSet, group_answers,
    summarise_answers, valid_answers,
};
pub use pick_outcome::{
    ChanceAgreement, PickCounts, PickIntervals, PickOutcome, PickSummary, pick_outcomes,
    summarise_picks,
};
pub use pick_record::{PickRecord, PickResult};
pub use pick_reply::{InvalidPick, PickMode, PickRequest, SlotsReply, forced_picks, truncate_text};
pub use remeasure::{Remeasured, remeasure, remeasured_metrics};
pub use ruling::{
    DisagreementCause, Finding, LabelCorrection, Ruling, RulingGrades, corrected_labels,
    has_conflict, label_corrections, latest_by_annotator, ruling_in_force, rulings_in_force,
};
