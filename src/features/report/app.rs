//! Reads the content of a report.

mod export;
mod pairs;
mod query;
mod results;

pub use export::{OFFERED, PageFormat, report_text};

use crate::app::error::AppError;
use crate::app::judge_report::report::{RaterReport, rater_report};
use crate::app::status::{PartOf, ProjectStatus};
use crate::app::text_format::{counted, moment_words};
use crate::client::now_ms;
use crate::domain::agreement::Interval;
use crate::domain::judge_report::PositionShift;
use crate::domain::number_words::{count, probability};
use crate::domain::sanitize;
use crate::features::report::domain::{ProjectReport, ReportTable, ReportedJudge};
use crate::judge::OFFLINE_LABEL;
use crate::store::Store;
use crate::store::corpus::{QueryInfo, QueryKey};
use crate::store::summary_cache::QuerySummary;
use query::reported_query;

/// Maximum number of queries with a section, unless they are named.
pub const SECTIONS: usize = 20;

/// Reads the report on a project. `named` are the queries with a section; by default, those
/// with verdicts and then the others, up to [`SECTIONS`]. Leaves out results that would unblind
/// `annotator`, with a note.
pub fn read_report(
    store: &Store,
    named: Option<&[QueryKey]>,
    annotator: &str,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ProjectReport, AppError> {
    let status = ProjectStatus::read(store)?;
    let raters = rater_report(store, None)?;
    let wanted = match named {
        Some(keys) => keys.to_vec(),
        None => usual_queries(&status.queries),
    };
    let mut queries = Vec::with_capacity(wanted.len());
    for (at, key) in wanted.iter().enumerate() {
        progress(at, wanted.len());
        let place = at + 1;
        let of = status.queries.iter().find(|(info, _)| info.key == *key);
        if let Some((info, summary)) = of {
            queries.push(reported_query(store, place, info, summary)?);
        }
    }
    progress(wanted.len(), wanted.len());
    let mut notes = Vec::new();
    if status.offline {
        notes.push(format!("Votes of {OFFLINE_LABEL}."));
    }
    let left_out = status.queries.len() - queries.len();
    if left_out > 0 {
        notes.push(format!("Queries without a section: {}.", count(left_out)));
    }
    let (results, more_notes) = results::results(store, annotator)?;
    notes.extend(more_notes);
    let name = store.path().file_name().unwrap_or_default();
    Ok(ProjectReport {
        project: sanitize::line(&name.to_string_lossy()).into_owned(),
        made: moment_words(now_ms()),
        program: format!("overrule {}", env!("CARGO_PKG_VERSION")),
        facts: facts(&status, &raters),
        notes,
        judges_in_short: raters.summary(),
        judges: judges(&raters),
        overview: overview(&status.queries),
        queries,
        results,
    })
}

/// The queries with verdicts, then the others.
fn usual_queries(all: &[(QueryInfo, QuerySummary)]) -> Vec<QueryKey> {
    let (decided, others): (Vec<_>, Vec<_>) =
        all.iter().partition(|(_, summary)| summary.verdicts > 0);
    let chosen = decided.into_iter().chain(others).take(SECTIONS);
    chosen.map(|(info, _)| info.key).collect()
}

fn facts(status: &ProjectStatus, raters: &RaterReport) -> Vec<(&'static str, String)> {
    let share = |PartOf { part, whole }: PartOf| match whole {
        0 => "not run".to_owned(),
        _ => format!("{} of {}", count(part), count(whole)),
    };
    let judges: Vec<String> = status
        .judges
        .iter()
        .map(|(names, queries)| {
            let names: Vec<_> = names.iter().map(|name| sanitize::line(name)).collect();
            format!("{} ({})", names.join(", "), counted(*queries, "query"))
        })
        .collect();
    let people = raters.rater_data.people.len();
    vec![
        (
            "Contents",
            format!(
                "{} with {}",
                counted(status.queries.len(), "query"),
                counted(status.documents, "document")
            ),
        ),
        ("Battles with a vote", share(status.fought)),
        (
            "Votes",
            format!(
                "{}; {} missing, {} failed",
                count(status.votes),
                count(status.votes_missing),
                count(status.failures)
            ),
        ),
        (
            "Judges",
            if judges.is_empty() {
                "none".to_owned()
            } else {
                judges.join("; ")
            },
        ),
        ("Cost of all calls", status.spending.total().words()),
        ("Unanimous battles", share(status.unanimous)),
        ("Contradictory triads", share(status.cyclic)),
        (
            "Queries whose top is settled at 95 %",
            share(status.settled),
        ),
        (
            "Verdicts of people",
            match status.verdicts {
                0 => "none".to_owned(),
                verdicts => format!(
                    "{} by {}; people differ on {}",
                    count(verdicts),
                    counted(people, "person"),
                    counted(status.conflicts, "pair")
                ),
            },
        ),
    ]
}

fn judges(raters: &RaterReport) -> Vec<ReportedJudge> {
    let judges = raters.rater_data.judges.iter().enumerate();
    judges
        .map(|(at, (_, spec))| {
            let record = raters.record(at);
            let mut details = Vec::new();
            if let Some(card) = record.card {
                details.push(counted(card.votes, "vote"));
                details.extend(card.gap.map(|gap| gap.sentence()));
                details.extend(card.position.as_ref().and_then(position));
            }
            details.extend(raters.named[at].finding_words());
            details.extend(raters.both_orders[at].words());
            ReportedJudge {
                name: sanitize::line(&spec.name).into_owned(),
                model: sanitize::line(&spec.model).into_owned(),
                sentence: record.conclusion().words(),
                details,
            }
        })
        .collect()
}

/// How often a judge prefers the document that it sees first.
fn position(shift: &PositionShift) -> Option<String> {
    let Interval { low, high } = shift.first_interval()?;
    Some(format!(
        "prefers the document shown first in {:.0} % ({:.0}–{:.0})",
        100.0 * shift.first_share(),
        100.0 * low,
        100.0 * high
    ))
}

fn overview(queries: &[(QueryInfo, QuerySummary)]) -> ReportTable {
    let columns = [
        "query",
        "text",
        ">documents",
        ">battles",
        ">verdicts",
        ">P(top right)",
        "settled at 95 %",
        ">widest interval in the top, ranks",
    ];
    let dash = || "–".to_owned();
    let rows = queries.iter().map(|(info, of)| {
        vec![
            sanitize::line(info.id.as_str()).into_owned(),
            sanitize::line(&info.text).into_owned(),
            count(of.documents),
            format!("{} of {}", count(of.fought), count(of.battles)),
            count(of.verdicts),
            of.settled.map_or_else(dash, probability),
            match of.settled {
                None => dash(),
                Some(_) if of.stop => "yes".to_owned(),
                Some(_) => "no".to_owned(),
            },
            of.widest.map_or_else(dash, count),
        ]
    });
    ReportTable::new(&columns, rows.collect())
}
