//! The label court: a judge picks the relevant documents of a pool, and its picks are held against the labels.
//!
//! An answer that breaks the rules is invalid and counted as such; nothing is repaired or filled in. Agreement is
//! reported beside what random picks would reach (SEEDS §2.4).

mod answer;
mod case;
mod docket;
mod effect;
mod record;
mod ruling;
mod stance;
mod tally;

pub use answer::{Ask, Invalid, Reply, Way, clip, forced};
pub use case::{Answer, Bench, Given, Group, LeftOut, answers, group, summarise_given};
pub use docket::{
    CONTROLS, Dispute, DocketOrder, DocketRule, IMPACT_DEPTH, disputes, docket, weigh,
};
pub use effect::{Remeasured, measures, remeasure};
pub use record::{PickRecord, PickResult};
pub use ruling::{
    Correction, Fault, Finding, Grades, Ruling, corrected, corrections, in_force, parted, said,
    settle,
};
pub use stance::{
    Claimed, SlotVerdict, Stance, VerdictsReply, check_verdicts, find_quote, picks_of,
};
pub use tally::{Boxes, Chance, Intervals, Outcome, Summary, outcomes, summarise};
