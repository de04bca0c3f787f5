//! The judge report: how far each judge agrees with people and with the other judges, its biases
//! and its cost.

pub mod independence;
pub mod ranking_shift;
pub mod rater_data;
pub mod reasoning_audit;
pub mod report;
pub mod slices;
