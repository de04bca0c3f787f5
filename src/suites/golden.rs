//! Compares the computations with reference implementations, whose results are in `tests/golden`.

mod agreement;
mod design;
mod judging;
mod metrics;
mod priority;
mod rating;
mod retrieval;
mod sampling;
