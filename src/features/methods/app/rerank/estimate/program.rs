//! The calls of a program that asks judges. It alone decides which pairs it asks about, so the
//! estimate is every pair in both orders.

use super::volume::Sum;
use crate::domain::candidate_question::Question;
use crate::features::methods::app::rerank::candidates::Candidates;
use crate::features::methods::app::rerank::prepared_method::PreparedMethod;
use crate::features::methods::app::rerank::question::Target;

/// Number of calls if each judge is asked about each pair in both orders.
pub(super) fn most_calls(documents: usize, judges: usize) -> usize {
    judges * documents * documents.saturating_sub(1)
}

/// The effort of asking about each pair in both orders, each call with its `usage`. It is measured
/// on a cycle of pairs, in which each document has the same share as in all pairs.
pub(super) fn every_pair(
    method: &PreparedMethod,
    candidates: &Candidates,
    usage: impl Fn(&Target) -> Sum,
) -> Sum {
    let documents = method.looks_at(candidates);
    let mut cycle = Sum::default();
    if documents < 2 || method.refusal(candidates).is_some() {
        return cycle;
    }
    for a in 0..documents {
        for judge in 0..method.program_judges().len() {
            let b = (a + 1) % documents;
            let question = Question::Battle { a, b, judge };
            for (_, _, target) in method.parts(candidates, &question).into_iter().flatten() {
                cycle.add(&usage(&target));
            }
        }
    }
    cycle.times((documents - 1) as f64)
}
