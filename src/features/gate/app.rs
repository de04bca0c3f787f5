//! Reads the reference pairs and the stored answers of two judges, and tests the new judge against
//! the old one.

mod judge;
mod look;
mod reference;
mod report;

pub use judge::GateJudge;
pub use report::{GateReport, GateRequest, GateSide, gate, gate_between};
