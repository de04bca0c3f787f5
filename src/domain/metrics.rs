//! The quality of a ranking according to human labels, its uncertainty, and the similarity of
//! rankings.
//!
//! Values equal trec_eval's: documents are sorted by score, ties by descending document ID; an
//! unjudged document is not relevant; a query without relevant documents counts as 0 in every mean
//! (science.md § Metrics).

mod evaluate;
mod grade_model;
mod histogram;
mod measure;
mod rank_correlation;
mod shared_origin;
pub(crate) mod significance;
mod slice;
pub mod zbench;

pub use evaluate::{
    Evaluation, EvaluationError, EvaluationRules, Gains, Qrels, QueryValues, RankedRun, ScoreWidth,
    depends_on_width, evaluate, evaluate_gains, is_own_document, ranked_with_own,
    sort_as_trec_eval,
};
pub use grade_model::{GradeModel, GradedScore, rank_grades};
pub use histogram::{MetricDistribution, histogram};
pub use measure::{Measure, Metric};
pub use rank_correlation::kendall_tau_b;
pub use shared_origin::{JudgedRanking, ScoreOrigin, SharedOrigin};
pub use significance::{
    Comparison, MeanEstimate, PairedVerdict, Resampling, bootstraps, compare, equal_shares,
    estimate, holm, queries_to_detect,
};
pub use slice::{MetricSlice, metric_slices};
