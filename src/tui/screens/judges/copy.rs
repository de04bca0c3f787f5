//! The judges as a table for the clipboard.

use crate::app::judge_report::report::RaterReport;
use crate::tui::clipboard::{ClipboardTable, number};

pub(super) fn table(report: &RaterReport) -> ClipboardTable {
    let columns = [
        "judge",
        "votes",
        "ties",
        "first_document",
        "second_document",
        "agrees_with_people",
        "pairs_with_people",
    ];
    let rows = report
        .rater_data
        .judges
        .iter()
        .enumerate()
        .map(|(at, (_, spec))| {
            let card = report.cards.iter().find(|card| card.judge == Some(at));
            let named = report.named.get(at);
            let people = card.and_then(|card| card.people.blind.as_ref());
            let count =
                |count: Option<usize>| count.map_or(String::new(), |count| count.to_string());
            [
                spec.name.clone(),
                count(card.map(|card| card.votes)),
                number(card.and_then(|card| Some(card.ties.as_ref()?.value)), 4),
                count(named.map(|named| named.first)),
                count(named.map(|named| named.second)),
                number(people.map(|share| share.value), 4),
                count(people.map(|share| share.n)),
            ]
        });
    ClipboardTable::new("judge", columns, rows)
}
