//! Files of the student feature: the sample that it reads, and the figures and pages that it writes.

pub mod page;
pub mod sample;
pub mod svg;
