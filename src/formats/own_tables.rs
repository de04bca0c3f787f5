//! The columns of tables that Overrule writes and reads back; apostrophes added on writing are
//! removed on reading.

use super::table_file::{CellKind, Column};

/// The columns of `export votes`.
pub const VOTES: [Column; 20] = [
    Column::text("query"),
    Column::text("a"),
    Column::text("b"),
    Column::whole("game"),
    Column::text("judge").or_null(),
    Column::flag("counts"),
    Column::text("provider").or_null(),
    Column::text("model").or_null(),
    Column::number("margin").or_null(),
    Column::text("failure").or_null(),
    Column::flag("swapped"),
    Column::whole("attempt"),
    Column::whole("tokens_input"),
    Column::whole("tokens_output"),
    Column::number("cost_usd").or_null(),
    Column::number("latency_ms").or_null(),
    Column::text("reasoning"),
    Column::text("raw").or_null(),
    Column::text("message").or_null(),
    Column::of("asked", CellKind::Texts).or_null(),
];

/// The columns of `export predictions`.
pub const PREDICTIONS: [Column; 7] = [
    Column::text("query"),
    Column::text("a"),
    Column::text("b"),
    Column::number("p_a"),
    Column::number("p_b"),
    Column::number("p_tie"),
    Column::whole("step").or_null(),
];

/// The columns of `sbr`, which match the authors' script.
pub const SBR: [&str; 8] = [
    "qid",
    "docno",
    "score",
    "normalized_score",
    "semantic_sim",
    "sbr_score",
    "sbr_rank",
    "text",
];

/// The columns of `nine`, which match the authors' script.
pub const NINE: [Column; 11] = [
    Column::text("qid"),
    Column::text("query"),
    Column::text("docno"),
    Column::text("text").or_null(),
    Column::whole("colbert_rank").or_null(),
    Column::whole("sbr_rank").or_null(),
    Column::text("source"),
    Column::text("from"),
    Column::whole("selected_in_turn"),
    Column::number("semantic_sim").or_null(),
    Column::whole("label").or_null(),
];

/// The columns of `scale fit`.
pub const SCALED: [&str; 9] = [
    "query",
    "document",
    "zelo",
    "se",
    "zelo_linked",
    "zelo_linked_se",
    "grade",
    "expected_grade",
    "probabilities",
];

/// Whether a header of labels or scores has all columns of a table that Overrule writes; programs
/// may have reordered them and added others.
pub(super) fn is_own_header(cells: &[&str]) -> bool {
    has_all(cells, SBR) || has_all(cells, SCALED) || has_all(cells, NINE.map(|column| column.name))
}

/// Whether a header has all columns of `sbr`.
pub(super) fn is_sbr_header(cells: &[&str]) -> bool {
    has_all(cells, SBR)
}

pub(super) fn has_all<'a>(cells: &[&str], names: impl IntoIterator<Item = &'a str>) -> bool {
    names.into_iter().all(|name| cells.contains(&name))
}
