//! The common scale of the queries, if anchors were graded.

use crate::domain::common_scale::ProjectScale;
use crate::domain::corpus::QueryId;
use crate::tui::text;

#[derive(Debug, Default)]
pub struct ScaleState {
    pub found: Option<Box<ProjectScale>>,
}

impl ScaleState {
    /// Describes the calibrated score of a document with this zELO and standard error; `None` if
    /// nothing compares its query with others.
    pub fn document_words(&self, query: &QueryId, zelo: f64, se: Option<f64>) -> Option<String> {
        let scale = self.found.as_ref()?;
        let linked = scale.linked(query, zelo, se)?;
        let se = linked
            .se
            .map_or(" (error unknown)".to_owned(), |se| format!(" ± {se:.2} SE"));
        let relevant = scale.grades.as_ref().map_or(String::new(), |grades| {
            let relevant = grades.at_least_one(linked.value);
            format!(" · P(relevant) {}", text::probability(relevant))
        });
        Some(format!(
            "zELO over all queries {}{se}{relevant} · {}",
            text::signed(linked.value, 2),
            scale.basis
        ))
    }

    /// Describes the offset of a query.
    pub fn query_words(&self, query: &QueryId) -> Option<String> {
        let relevant = self.found.as_ref()?.expected_relevant(query)?;
        Some(format!("expected relevant {relevant:.1}"))
    }
}
