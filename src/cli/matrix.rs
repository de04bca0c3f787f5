//! `overrule matrix`: the K×K matrix and the scores, as text, JSON, CSV or SVG.

use crate::app::one_scale::{LinkedScore, ProjectScale, project_scale};
use crate::app::output_file::write_whole;
use crate::cli::command::{CommandContext, CommandResult, usage};
use crate::cli::output;
use crate::cli::output::{clean, or_dash};
use crate::domain::ranking::{DocumentOrder, View};
use crate::domain::sanitise;
use crate::formats::csv_cell::spreadsheet_safe;
use crate::formats::{safe_json, svg};
use crate::judge::OFFLINE_LABEL;
use crate::store::corpus::{DocumentInfo, QueryInfo};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Documents up to which JSON and SVG hold every cell.
const WHOLE: usize = 2_000;

/// Documents up to which the text form draws cells.
const DRAWN: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MatrixFormat {
    Text,
    Json,
    Csv,
    Svg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MatrixOrder {
    /// The order of the input
    Hybrid,
    /// By score, best first
    Zelo,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Cells are the row document's share of its battles with the column document: 0 worse … 1 better.

Examples:
  overrule matrix --query scifact-641
  overrule matrix --query scifact-641 --order hybrid --format svg --out matrix.svg"
)]
pub(super) struct MatrixCommand {
    /// The query's identifier
    #[arg(long)]
    query: String,
    /// Order of rows and columns
    #[arg(long, value_enum, default_value = "zelo")]
    order: MatrixOrder,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: MatrixFormat,
    /// The same as --format json
    #[arg(long)]
    json: bool,
    /// Write here instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl MatrixCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        if let Some(path) = &self.out {
            context.check_target(path, &[])?;
        }
        let store = context.open()?;
        let id = self.query.clone();
        let (query, documents, view, offline) = store.read_blocking(move |db| {
            let key = db.find_query(&id)?;
            let offline = db.judges_of(key)?.iter().any(|(_, spec)| spec.is_offline());
            Ok((db.query(key)?, db.documents(key)?, db.view(key)?, offline))
        })?;
        let order = view.order(match self.order {
            MatrixOrder::Hybrid => DocumentOrder::Hybrid,
            MatrixOrder::Zelo => DocumentOrder::Zelo,
        });
        let layout = if self.json {
            MatrixFormat::Json
        } else {
            self.format
        };
        if matches!(layout, MatrixFormat::Json | MatrixFormat::Svg) && order.len() > WHOLE {
            return Err(usage!(
                "{} documents: the whole matrix is written as {layout:?} for up to {WHOLE}; use --format csv",
                order.len()
            ));
        }
        let scale = project_scale(&store)?;
        let linked: Vec<Option<LinkedScore>> = view
            .standings
            .iter()
            .map(|standing| {
                let (scale, standing) = (scale.as_ref()?, (*standing)?);
                scale.linked(&query.id, standing.zelo, standing.se)
            })
            .collect();
        let scale = scale.as_ref();
        let text = match layout {
            MatrixFormat::Text => as_text(&query, &documents, &view, &order, offline),
            MatrixFormat::Json => {
                let mut json = as_json(&query, &documents, &view, &order);
                add_linked(&mut json, &order, &linked, scale);
                safe_json::pretty(&json)?
            }
            MatrixFormat::Csv => {
                as_csv(&documents, &view, &order, scale.map(|_| linked.as_slice()))?
            }
            MatrixFormat::Svg => as_svg(&query, &documents, &view, &order, offline),
        };
        match &self.out {
            None => output::text(&text)?,
            Some(path) => {
                write_whole(path, |out| Ok(out.write_all(text.as_bytes())?))?;
            }
        }
        Ok(())
    }
}

fn as_json(query: &QueryInfo, documents: &[DocumentInfo], view: &View, order: &[usize]) -> Value {
    let standings: Vec<Value> = order
        .iter()
        .map(|at| {
            let standing = view.standings[*at];
            json!({
                "document": documents[*at].id,
                "position": at + 1,
                "zelo": standing.map(|s| s.zelo),
                "se": standing.and_then(|s| s.se),
                "rank": standing.map(|s| s.rank),
                "rank_low": standing.and_then(|s| s.interval).map(|i| i.low),
                "rank_high": standing.and_then(|s| s.interval).map(|i| i.high),
                "rank_low_at_once": standing.and_then(|s| s.interval).map(|i| i.low_at_once),
                "rank_high_at_once": standing.and_then(|s| s.interval).map(|i| i.high_at_once),
            })
        })
        .collect();
    let layer = |of: &dyn Fn(usize, usize) -> Option<f64>| -> Vec<Vec<Option<f64>>> {
        order
            .iter()
            .map(|row| order.iter().map(|column| of(*row, *column)).collect())
            .collect()
    };
    let name = |at: usize| {
        documents
            .get(at)
            .map_or(String::new(), |document| document.id.to_string())
    };
    json!({
        "query": query.id,
        "text": query.text,
        "documents": standings,
        "observed": layer(&|row, column| view.cell(row, column).observed),
        "fitted": layer(&|row, column| view.cell(row, column).fitted),
        "verdicts": layer(&|row, column| view.cell(row, column).verdict.flatten()),
        "rating": view.settings,
        "lambda_in_force": view.settings.rating().lambda,
        "phi": view.phi,
        "phi_estimated_from_battles": view.settings.phi_battles,
        "fit": match &view.fit {
            Ok(fit) => json!({ "iterations": fit.iterations, "gradient": fit.gradient, "converged": fit.converged }),
            Err(error) => json!({ "error": format!("{error}{}", error.blamed(name)) }),
        },
        "warnings": view.warnings.iter().map(|warning| warning.words(name)).collect::<Vec<_>>(),
    })
}

/// Adds the linked scores of a project with a common scale, and what it rests on.
fn add_linked(
    json: &mut Value,
    order: &[usize],
    linked: &[Option<LinkedScore>],
    scale: Option<&ProjectScale>,
) {
    let Some(scale) = scale else {
        return;
    };
    json["scale"] = json!(scale.basis);
    for (place, at) in order.iter().enumerate() {
        let of = linked.get(*at).copied().flatten();
        let document = &mut json["documents"][place];
        document["zelo_linked"] = json!(of.map(|of| of.value));
        document["zelo_linked_se"] = json!(of.and_then(|of| of.se));
    }
}

/// `linked` holds the linked scores by document where the project has a common scale.
fn as_csv(
    documents: &[DocumentInfo],
    view: &View,
    order: &[usize],
    linked: Option<&[Option<LinkedScore>]>,
) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut header: Vec<String> = ["rank", "document", "zelo", "se", "rank_low", "rank_high"]
        .map(str::to_owned)
        .to_vec();
    if linked.is_some() {
        header.extend(["zelo_linked", "zelo_linked_se"].map(str::to_owned));
    }
    header.extend(
        order
            .iter()
            .map(|at| spreadsheet_safe(documents[*at].id.as_str()).into_owned()),
    );
    writer.write_record(&header)?;
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for row in order {
        let standing = view.standings[*row];
        let interval = standing.and_then(|s| s.interval);
        let mut record = vec![
            standing.map_or(String::new(), |s| s.rank.to_string()),
            spreadsheet_safe(documents[*row].id.as_str()).into_owned(),
            number(standing.map(|s| s.zelo)),
            number(standing.and_then(|s| s.se)),
            interval.map_or(String::new(), |i| i.low.to_string()),
            interval.map_or(String::new(), |i| i.high.to_string()),
        ];
        if let Some(linked) = linked {
            let of = linked.get(*row).copied().flatten();
            record.push(number(of.map(|of| of.value)));
            record.push(number(of.and_then(|of| of.se)));
        }
        record.extend(
            order
                .iter()
                .map(|column| number(view.cell(*row, *column).observed)),
        );
        writer.write_record(&record)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn as_text(
    query: &QueryInfo,
    documents: &[DocumentInfo],
    view: &View,
    order: &[usize],
    offline: bool,
) -> String {
    let mut text = format!(
        "{}  {}\n",
        sanitise::line(query.id.as_str()),
        sanitise::line(&query.text)
    );
    let drawn = order.len() <= DRAWN;
    let header = [
        "#",
        "document",
        ">zELO",
        ">SE",
        "ranks 95 %",
        "all at once",
        "row's share of battles, in tenths (· not fought)",
    ];
    let rows: Vec<Vec<String>> = order
        .iter()
        .map(|row| {
            let standing = view.standings[*row];
            let cells: String = order
                .iter()
                .filter(|_| drawn)
                .map(
                    |column| match (row == column, view.cell(*row, *column).observed) {
                        (true, _) => '\\',
                        (false, None) => '·',
                        (false, Some(share)) if share >= 0.95 => 'W',
                        (false, Some(share)) => {
                            char::from_digit((share * 10.0).round() as u32, 10).unwrap_or('?')
                        }
                    },
                )
                .collect();
            vec![
                or_dash(standing, |s| s.rank.to_string()),
                clean(documents[*row].id.as_str()),
                standing.map_or("not scored".to_owned(), |s| format!("{:+.3}", s.zelo)),
                or_dash(standing.and_then(|s| s.se), |se| format!("{se:.3}")),
                or_dash(standing.and_then(|s| s.interval), |interval| {
                    format!("{}–{}", interval.low, interval.high)
                }),
                or_dash(standing.and_then(|s| s.interval), |interval| {
                    format!("{}–{}", interval.low_at_once, interval.high_at_once)
                }),
                cells,
            ]
        })
        .collect();
    text.push_str(&output::table(&header, &rows));
    if !drawn {
        text.push_str(&format!(
            "note: cells are printed for up to {DRAWN} documents; --format csv or json has them all\n"
        ));
    }
    let name = |at: usize| {
        documents
            .get(at)
            .map_or(String::new(), |d| clean(d.id.as_str()))
    };
    if let Err(error) = &view.fit {
        text.push_str(&format!("no scores: {error}{}\n", error.blamed(name)));
    }
    for warning in &view.warnings {
        text.push_str(&format!("note: {}\n", warning.words(name)));
    }
    if offline {
        text.push_str(&format!("note: {OFFLINE_LABEL}\n"));
    }
    text
}

fn as_svg(
    query: &QueryInfo,
    documents: &[DocumentInfo],
    view: &View,
    order: &[usize],
    offline: bool,
) -> String {
    let cell = |row: usize, column: usize| {
        let cell = view.cell(order[row], order[column]);
        svg::SvgCell {
            value: cell.verdict.flatten().or(cell.observed),
            planned: cell.planned,
            missing: cell.missing > 0,
            overruled: cell.verdict.is_some(),
        }
    };
    let labels = order
        .iter()
        .map(|row| {
            let standing = view.standings[*row];
            svg::SvgLabel {
                rank: or_dash(standing, |s| s.rank.to_string()),
                id: documents[*row].id.to_string(),
                zelo: standing.map(|s| s.zelo),
                se: standing.and_then(|s| s.se),
            }
        })
        .collect::<Vec<_>>();
    let caption = if offline { OFFLINE_LABEL } else { "" };
    svg::matrix_svg(
        &cell,
        &labels,
        &format!("{}: {}", query.id, query.text),
        caption,
    )
}
