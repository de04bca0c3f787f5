//! The certainty of each query's top, and what it would take to increase it.

use crate::app::text_format::counted;
use crate::cli::output::{self, clean};
use crate::domain::number_words;
use crate::store::corpus::QueryInfo;
use crate::store::summary_cache::{FORESEEN, QuerySummary};
use serde_json::{Value, json};

/// The assumptions of a forecast.
pub(super) const ASSUMES: &str = "assumes that the current gap between the two is the true gap and \
                                  that all battles are between them, until P(the better is better) \
                                  is 95 %; if the gap is partly chance, it takes more battles, or \
                                  cannot be settled";

/// Maximum number of queries listed.
const LISTED: usize = 15;

/// The queries whose top is not settled, least certain first, as a table; empty if there are none.
pub(super) fn table(rows: &[(QueryInfo, QuerySummary)], usd: Option<f64>) -> String {
    let mut open: Vec<&(QueryInfo, QuerySummary)> = rows
        .iter()
        .filter(|(_, summary)| summary.settled.is_some() && !summary.stop)
        .collect();
    if open.is_empty() {
        return String::new();
    }
    let sure = |row: &(QueryInfo, QuerySummary)| row.1.settled.unwrap_or(0.0);
    open.sort_by(|x, y| sure(x).total_cmp(&sure(y)));
    let cells: Vec<Vec<String>> = open
        .iter()
        .take(LISTED)
        .map(|(info, summary)| cells(info, summary, usd))
        .collect();
    let header = [
        "top not settled",
        ">consensus",
        ">widest in top",
        ">k",
        ">P(top k right)",
        ">battles to part k and k+1*",
        ">cost",
    ];
    let mut text = format!("\n{}", output::table(&header, &cells));
    text.push_str(&format!("* {ASSUMES}\n"));
    if open.len() > LISTED {
        text.push_str(&format!(
            "… and {} more (--json has all)\n",
            open.len() - LISTED
        ));
    }
    text
}

fn cells(info: &QueryInfo, summary: &QuerySummary, usd: Option<f64>) -> Vec<String> {
    let none = || "–".to_owned();
    let percent = |value: f64| format!("{:.0} %", 100.0 * value);
    let battles = summary.to_separate;
    vec![
        clean(info.id.as_str()),
        consensus(summary).map_or_else(none, percent),
        summary
            .widest
            .map_or_else(none, |ranks| counted(ranks, "rank")),
        summary.top.to_string(),
        summary.settled.map_or_else(none, percent),
        battles.map_or("tied".to_owned(), |battles| match battles {
            0..=FORESEEN => battles.to_string(),
            _ => format!("> {FORESEEN}"),
        }),
        battles.zip(usd).map_or_else(none, |(battles, usd)| {
            number_words::usd(battles as f64 * usd)
        }),
    ]
}

fn consensus(summary: &QuerySummary) -> Option<f64> {
    (summary.judged > 0).then(|| summary.unanimous as f64 / summary.judged as f64)
}

/// The certainty of one query as JSON.
pub(super) fn json(info: &QueryInfo, summary: &QuerySummary, usd: Option<f64>) -> Value {
    json!({
        "query": info.id,
        "consensus": consensus(summary),
        "widest_in_top": summary.widest,
        "top": summary.top,
        "settled": summary.settled,
        "stop": summary.stop,
        "battles_to_separate": summary.to_separate,
        "usd_to_separate": summary.to_separate.zip(usd).map(|(battles, usd)| battles as f64 * usd),
    })
}
