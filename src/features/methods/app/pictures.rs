//! The picture of quality and cost.

use super::report::{MethodEntry, MethodsReport};
use crate::app::text_format::counted;
use crate::domain::sanitize;
use crate::formats::svg::{PlanePoint, PlaneWords, plane_svg};

impl MethodsReport {
    /// The number of queries, and the truth that the methods are measured against.
    pub fn heading(&self) -> String {
        let queries = counted(self.queries.len(), "query");
        match self.against {
            Some(against) => format!("{queries}, {against}"),
            None => format!("{queries}, against {}", sanitize::line(&self.truth)),
        }
    }

    /// Each method by its first metric and its cost, as SVG.
    pub fn quality_cost_svg(&self) -> String {
        let point = |method: &MethodEntry| {
            let quality = method.values.first()?.all?;
            Some(PlanePoint {
                name: method.name.clone(),
                cost: method.cost(self.in_usd)?,
                quality: quality.mean,
                interval: quality.interval,
                on_front: method.on_front,
            })
        };
        let points: Vec<PlanePoint> = self.methods.iter().filter_map(point).collect();
        let metric = self
            .metrics
            .first()
            .map(ToString::to_string)
            .unwrap_or_default();
        let caption = format!(
            "{}; whiskers are 95 % intervals over queries; dashed: no other method is better and \
             cheaper",
            self.heading()
        );
        plane_svg(
            &points,
            &PlaneWords {
                title: "Quality and cost of reranking methods",
                cost: self.cost_unit(),
                quality: &metric,
                caption: &caption,
            },
        )
    }
}
