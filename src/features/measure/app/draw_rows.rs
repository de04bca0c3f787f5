//! The drawn documents of measurements as a table, in the status and in the audit log.

use crate::app::error::AppError;
use crate::app::export::AddedExport;
use crate::app::log::{FeatureEvent, LogEntry, LogEvent};
use crate::app::status::FeatureStatus;
use crate::app::text_format::counted;
use crate::domain::adjudication::rulings_in_force;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::hex::hex;
use crate::domain::number_words::probability;
use crate::domain::sanitize;
use crate::features::measure::store::{StoredDraw, StoredMeasurement};
use crate::formats::table_file::{Column, TableFormat, TableWriter};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, Store};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::io::Write;

const COLUMNS: [Column; 16] = [
    Column::text("measurement"),
    Column::text("run"),
    Column::text("baseline").or_null(),
    Column::text("metric"),
    Column::whole("seed"),
    Column::text("annotator"),
    Column::whole("step"),
    Column::text("query"),
    Column::text("document"),
    Column::number("probability"),
    Column::number("relevance"),
    Column::number("gradient"),
    Column::number("variance"),
    Column::number("mean"),
    Column::text("ruling").or_null(),
    Column::whole("created_ms"),
];

/// The draws of all measurements, with everything that the estimates of the whole need. `ruling` is the one that
/// counts now.
#[derive(Debug)]
pub struct DrawExport;

impl AddedExport for DrawExport {
    fn write(
        &self,
        store: &Store,
        keys: &[QueryKey],
        format: TableFormat,
        out: &mut (dyn Write + Send),
        _tell: &mut dyn FnMut(&str),
    ) -> std::result::Result<(), AppError> {
        let keys: HashSet<QueryKey> = keys.iter().copied().collect();
        let (names, drawn, findings) = store.read_blocking(move |db| {
            let known = db.queries()?.into_iter();
            let names: HashSet<QueryId> = known
                .filter(|query| keys.contains(&query.key))
                .map(|query| query.id)
                .collect();
            Ok((names, drawn(db)?, findings(db)?))
        })?;
        let mut rows = TableWriter::new(&COLUMNS, format, out)?;
        for (measurement, draw) in drawn {
            if !names.contains(&draw.query) {
                continue;
            }
            let place = (draw.query.clone(), draw.document.clone());
            rows.write(json!({
                "measurement": hex(&measurement.id),
                "run": measurement.run,
                "baseline": measurement.baseline,
                "metric": measurement.metric,
                "seed": measurement.seed,
                "annotator": draw.annotator,
                "step": draw.step,
                "query": draw.query,
                "document": draw.document,
                "probability": draw.probability,
                "relevance": draw.relevance,
                "gradient": draw.gradient,
                "variance": draw.variance,
                "mean": draw.mean,
                "ruling": findings.get(&place),
                "created_ms": draw.created_ms,
            }))?;
        }
        Ok(rows.finish()?)
    }
}

/// The draws of all measurements, the latest measurement first, each in the order of the draws.
fn drawn(db: &Db) -> Result<Vec<(StoredMeasurement, StoredDraw)>> {
    let mut all = Vec::new();
    for measurement in db.measurements()? {
        let draws = db.draws(&measurement.id)?;
        all.extend(draws.into_iter().map(|draw| (measurement.clone(), draw)));
    }
    Ok(all)
}

/// The names of the rulings that count, by query and document.
fn findings(db: &Db) -> Result<HashMap<(QueryId, DocId), &'static str>> {
    let standing = db.standing_rulings()?.into_iter().map(|row| row.ruling);
    let (in_force, _) = rulings_in_force(&db.final_rule()?, &standing.collect::<Vec<_>>());
    let named = in_force.into_iter();
    Ok(named
        .map(|of| ((of.query, of.document), of.finding.name()))
        .collect())
}

/// Number of draws of each measurement.
pub fn status(db: &Db) -> Result<FeatureStatus> {
    let (mut lines, mut counts) = (Vec::new(), Vec::new());
    for of in db.measurements()? {
        let draws = db.draws(&of.id)?.len();
        let against = of.baseline.as_ref().map_or(String::new(), |baseline| {
            format!(" against {}", sanitize::line(baseline))
        });
        lines.push(format!(
            "measure       {} of {}{against}: {} drawn (`overrule measure`)",
            of.metric.to_uppercase(),
            sanitize::line(&of.run),
            counted(draws, "document")
        ));
        counts.push(json!({
            "run": of.run,
            "baseline": of.baseline,
            "metric": of.metric,
            "draws": draws,
        }));
    }
    Ok(FeatureStatus {
        key: "measurements",
        json: json!(counts),
        lines,
    })
}

/// The draws, of one query or of all.
pub fn log_entries(db: &Db, query: Option<QueryKey>) -> Result<Vec<LogEntry>> {
    let name = query.map(|key| db.query(key)).transpose()?;
    let name = name.map(|info| info.id);
    let drawn = drawn(db)?.into_iter();
    let wanted = drawn.filter(|(_, draw)| name.as_ref().is_none_or(|name| *name == draw.query));
    let entry = |(measurement, draw): (StoredMeasurement, StoredDraw)| {
        let event = FeatureEvent {
            name: "draw",
            who: Some(draw.annotator.clone()),
            query: Some(draw.query.to_string()),
            document: Some(draw.document),
            about: Some(format!(
                "draw {} to measure {} of {}, with probability {}",
                draw.step + 1,
                measurement.metric,
                measurement.run,
                probability(draw.probability)
            )),
            ..FeatureEvent::default()
        };
        let id = hex(&measurement.id);
        LogEntry {
            when_ms: draw.created_ms,
            uid: format!("draw:{id}:{}:{}", draw.annotator, draw.step),
            event: LogEvent::Feature(Box::new(event)),
        }
    };
    Ok(wanted.map(entry).collect())
}
