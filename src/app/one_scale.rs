//! One scale over queries: which documents are asked about, and what the answers make of the scores. Where nothing was asked,
//! nothing here says how scores of different queries compare.

mod ask;
mod project_scale;

pub use ask::{AnchorRequest, prepare_anchors};
pub use project_scale::{CutSource, ProjectScale, ScaledQuery};

use crate::domain::reranking::{GradeScale, Method, MethodKind, Validation};

/// The grade from which on a document counts as relevant, where nobody says otherwise.
pub const RELEVANT: i32 = 1;
/// The highest grade that a judge gives an anchor.
const HIGHEST_GRADE: f64 = 3.0;

/// What is asked about an anchor: its grade from 0 to 3, by itself.
fn method() -> Method {
    Method {
        kind: MethodKind::Pointwise {
            scale: GradeScale::ZeroToThree,
        },
        depth: None,
        validation: Validation::Repair,
    }
}
