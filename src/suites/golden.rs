//! Compares the computations with reference implementations, whose results are in `tests/golden`.

mod agreement;
mod design;
mod judging;
mod methods;
mod metrics;
mod one_scale;
mod priority;
mod rating;
mod reranking;
mod retrieval;
mod sampling;
mod sbr;
mod student;
