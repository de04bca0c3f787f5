//! The first line: how many tops are settled, and which query is closest to it.

use crate::domain::sanitize;
use crate::tui::keymap::{Command, key_on};
use crate::tui::model::queries::{QueriesState, QueryTotals};
use crate::tui::screens::Screen;
use crate::tui::text::{self, counted};

/// A sentence about all queries, and the totals that fit after it.
pub(super) fn totals(queries: &QueriesState, columns: usize) -> String {
    let totals = queries.totals();
    let mut parts = Vec::new();
    if !queries.filter.is_empty() {
        parts.push(format!("filter: {}", sanitize::line(&queries.filter)));
    }
    parts.extend(settled(queries, &totals));
    if totals.counted < queries.rows().len() && totals.counted > 0 {
        parts.push(format!(
            "{} of {} counted so far",
            text::count(totals.counted),
            queries_of(queries.rows().len())
        ));
    }
    if totals.verdicts > 0 {
        parts.push(counted(totals.verdicts, "verdict"));
    }
    if totals.failures > 0 {
        parts.push(counted(totals.failures, "failed call"));
    }
    let fitting = (1..=parts.len())
        .rev()
        .map(|count| parts[..count].join(" · "))
        .find(|words| text::width(words) <= columns);
    fitting.unwrap_or_else(|| parts.into_iter().next().unwrap_or_default())
}

/// `No top 10 is settled. Nearest: q7 (56 %), at least 5 more battles.`
fn settled(queries: &QueriesState, totals: &QueryTotals) -> Option<String> {
    let top = totals
        .top
        .map_or("top".to_owned(), |top| format!("top {top}"));
    let lead = match (totals.settled, totals.decidable) {
        (_, 0) => return unjudged(queries, totals),
        (0, _) => format!("No {top} is settled."),
        (settled, all) if settled == all => return Some(format!("Every {top} is settled.")),
        (settled, all) => format!(
            "The {top} is settled in {} of {}.",
            text::count(settled),
            queries_of(all)
        ),
    };
    let (info, summary, probability) = queries.nearest()?;
    let name = sanitize::line(info.id.as_str());
    let mut words = format!(
        "{lead} Nearest: {name} ({})",
        text::probability(probability)
    );
    if let Some(battles) = summary.least_to_settle() {
        let battles = counted(battles, "more battle");
        words.push_str(&format!(", at least {battles}"));
    }
    Some(format!("{words}."))
}

fn unjudged(queries: &QueriesState, totals: &QueryTotals) -> Option<String> {
    let is_unjudged =
        totals.counted > 0 && totals.counted == queries.rows().len() && totals.judged == 0;
    is_unjudged.then(|| {
        let start = key_on(Command::StartRun, Screen::QUERIES);
        format!("Nothing is judged yet: {start} starts the run.")
    })
}

fn queries_of(count: usize) -> String {
    match count {
        1 => "1 query".to_owned(),
        _ => format!("{} queries", text::count(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::corpus::QueryId;
    use crate::store::corpus::{QueryInfo, QueryKey};
    use crate::store::summary_cache::QuerySummary;

    fn said(summaries: &[QuerySummary]) -> String {
        let row = |(key, summary): (usize, &QuerySummary)| {
            let info = QueryInfo {
                key: QueryKey(key as i64),
                id: QueryId::new(format!("q{key}")),
                text: "text".to_owned(),
                documents: 20,
            };
            (info, Some(summary.clone()))
        };
        let mut queries = QueriesState::default();
        queries.set_rows(summaries.iter().enumerate().map(row).collect());
        totals(&queries, 100)
    }

    fn summary(settled: f64, stop: bool, to_separate: Option<usize>) -> QuerySummary {
        QuerySummary {
            battles: 9,
            fought: 9,
            top: 10,
            settled: Some(settled),
            stop,
            to_separate,
            ..QuerySummary::default()
        }
    }

    #[test]
    fn the_nearest_query_is_the_most_certain_one_that_is_not_settled() {
        let (low, high) = (summary(0.1, false, Some(2)), summary(0.56, false, Some(5)));
        assert_eq!(
            said(&[low.clone(), high.clone()]),
            "No top 10 is settled. Nearest: q1 (56 %), at least 5 more battles."
        );
        assert_eq!(
            said(&[low, high, summary(0.99, true, Some(0))]),
            "The top 10 is settled in 1 of 3 queries. Nearest: q1 (56 %), at least 5 more battles."
        );
        let done = summary(0.99, true, Some(0));
        assert_eq!(said(&[done.clone(), done]), "Every top 10 is settled.");
    }

    #[test]
    fn a_number_of_battles_is_named_only_if_one_is_known() {
        for unknown in [None, Some(0), Some(5_000)] {
            assert_eq!(
                said(&[summary(0.4, false, unknown)]),
                "No top 10 is settled. Nearest: q0 (40 %)."
            );
        }
    }

    #[test]
    fn without_votes_the_key_that_starts_is_named() {
        let words = said(&[QuerySummary::default()]);
        assert_eq!(words, "Nothing is judged yet: s starts the run.");
        assert_eq!(totals(&QueriesState::default(), 80), "");
    }
}
