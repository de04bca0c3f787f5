//! What people decide: verdicts on pairs, rulings on labels, and what they change.

pub mod pair_verdicts;
