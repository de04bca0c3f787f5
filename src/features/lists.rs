//! List calls: one call shows several documents, and the judge answers their order.

pub mod domain;
#[cfg(test)]
mod golden;
