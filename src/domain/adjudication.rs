//! The label court: a judge picks the relevant documents of a pool, and its picks are held against the labels.
//!
//! An answer that breaks the rules is invalid and counted as such; nothing is repaired or filled in. Agreement is
//! reported beside what random picks would reach (SEEDS §2.4).

mod pick_reply;
mod judge_answers;
mod disagreement;
mod remeasure;
mod pick_record;
mod ruling;
mod evidence;
mod pick_outcome;

pub use pick_reply::{PickRequest, InvalidPick, SlotsReply, PickMode, truncate_text, forced_picks};
pub use judge_answers::{PickAnswer, PoolSet, PoolAnswer, JudgeAnswers, IgnoredAnswers, valid_answers, group_answers, summarise_answers};
pub use disagreement::{
    CONTROL_SHARE, Disagreement, DisagreementOrder, DisagreementRule, IMPACT_DEPTH, find_disagreements, order_disagreements, measure_impact,
};
pub use remeasure::{Remeasured, remeasured_metrics, remeasure};
pub use pick_record::{PickRecord, PickResult};
pub use ruling::{
    LabelCorrection, DisagreementCause, Finding, RulingGrades, Ruling, corrected_labels, label_corrections, ruling_in_force, has_conflict, latest_by_annotator,
    rulings_in_force,
};
pub use evidence::{
    ClaimedVerdict, SlotVerdict, EvidenceLabel, VerdictsReply, check_verdicts, find_quote, picks_of_verdicts,
};
pub use pick_outcome::{PickCounts, ChanceAgreement, PickIntervals, PickOutcome, PickSummary, pick_outcomes, summarise_picks};
