//! The methods, and two rankings side by side, as tables for the clipboard.

use super::state::MethodsState;
use crate::features::methods::app::MethodsReport;
use crate::tui::clipboard::{ClipboardTable, number};

pub(super) fn methods(report: &MethodsReport) -> ClipboardTable {
    let mut columns = vec!["method".to_owned()];
    for metric in &report.metrics {
        columns.push(metric.to_string());
        columns.push(format!("{metric} difference"));
    }
    let counts = ["queries", "failed", "calls", "cost_usd", "p50_ms"];
    columns.extend(counts.map(str::to_owned));
    let rows = report.methods.iter().map(|method| {
        let mut row = vec![method.name.clone()];
        for (values, test) in method.values.iter().zip(&method.tests) {
            row.push(number(values.all.map(|all| all.mean), 4));
            row.push(number(test.map(|test| test.comparison.mean_difference), 4));
        }
        let effort = &method.effort;
        let p50 = effort.wall_p50_ms;
        row.extend([
            effort.queries.to_string(),
            effort.failed.to_string(),
            effort.calls.to_string(),
            number((effort.priced > 0).then_some(effort.cost_usd), 6),
            p50.map_or(String::new(), |ms| ms.to_string()),
        ]);
        row
    });
    ClipboardTable {
        row: "method",
        columns,
        rows: rows.collect(),
    }
}

pub(super) fn rankings(state: &MethodsState) -> Option<ClipboardTable> {
    let (baseline, own) = state.rankings()?;
    let query = state.query.as_ref()?.to_string();
    let id = |ranking: &[_], at: usize| ranking.get(at).map_or(String::new(), ToString::to_string);
    let rows = (0..baseline.len().max(own.len())).map(|at| {
        [
            query.clone(),
            (at + 1).to_string(),
            id(baseline, at),
            id(own, at),
        ]
    });
    let columns = [
        "query",
        "rank",
        state.found()?.baseline.as_str(),
        state.method()?.name.as_str(),
    ];
    Some(ClipboardTable::new("rank", columns, rows))
}
