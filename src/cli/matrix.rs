//! `overrule matrix`: prints the K×K matrix and the scores as text, JSON, CSV, SVG or PNG.

use super::argument::ArgumentError;
use crate::app::error::AppError;
use crate::app::output_file::{is_standard_output, write_whole};
use crate::app::picture::{
    WHOLE, check_png, observed_cell, picture_caption, row_labels, write_png,
};
use crate::app::slices;
use crate::cli::command::{CommandContext, CommandResult, usage};
use crate::cli::output;
use crate::cli::output::{clean, or_dash};
use crate::domain::common_scale::{LinkedScore, ProjectScale};
use crate::domain::number_words::signed;
use crate::domain::priority::effective_top;
use crate::domain::ranking::{DocumentOrder, Slice, View};
use crate::domain::sanitize;
use crate::formats::csv_cell::spreadsheet_safe;
use crate::formats::{safe_json, svg};
use crate::judge::OFFLINE_LABEL;
use crate::registry::{MATRIX_LAYERS, project_scale};
use crate::store::Store;
use crate::store::corpus::{DocumentInfo, QueryInfo};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Maximum number of documents for which the text form draws cells.
const DRAWN: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MatrixFormat {
    Text,
    Json,
    Csv,
    Svg,
    /// Needs --out, and a build with the feature `png`
    Png,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MatrixOrder {
    /// The order of the input
    Hybrid,
    /// By score, best first
    Zelo,
}

/// A layer that a feature adds: expected scores.
pub(crate) trait AddedLayer {
    /// Explains its cells in text.
    fn legend(&self) -> String;

    /// Explains its cells in an image.
    fn caption(&self) -> &'static str;

    /// The expected score of the row document, in 0..=1.
    fn score(&self, row: usize, column: usize) -> Option<f64>;

    /// Its key and value in JSON, with the documents in this order.
    fn json(&self, order: &[usize]) -> (&'static str, Value);
}

/// Reads a layer by its name, for a query.
pub(crate) type ReadLayer =
    fn(&Store, &str, String) -> Result<Option<Box<dyn AddedLayer>>, AppError>;

/// The content of the cells.
#[derive(Clone, Debug)]
enum MatrixLayer {
    Observed,
    /// The layer of a feature, with its name.
    Added(ReadLayer, String),
}

fn layer(text: &str) -> Result<MatrixLayer, ArgumentError> {
    if text == "observed" {
        return Ok(MatrixLayer::Observed);
    }
    let (prefix, name) = text.split_once(':').unwrap_or_default();
    let mut layers = MATRIX_LAYERS.iter().filter(|(known, _)| *known == prefix);
    match layers.next() {
        Some((_, read)) if !name.is_empty() => Ok(MatrixLayer::Added(*read, name.to_owned())),
        _ => Err(ArgumentError::Expected("observed or student:NAME")),
    }
}

/// A cell's value from the row document's point of view, and whether anyone has voted on the pair.
type Cells<'a> = dyn Fn(usize, usize) -> (Option<f64>, bool) + 'a;

#[derive(Debug, Args)]
#[command(
    after_help = "Cells are the row document's share of its battles with the column document: 0 \
                  worse … 1 better.

Examples:
  overrule matrix --query scifact-641
  overrule matrix --query scifact-641 --layer student:llama-8b
  overrule matrix --query laptops --by brand --json
  overrule matrix --query scifact-641 --order hybrid --format svg --out matrix.svg"
)]
pub(super) struct MatrixCommand {
    /// Query id
    #[arg(long)]
    query: String,
    /// Order of rows and columns
    #[arg(long, value_enum, default_value = "zelo")]
    order: MatrixOrder,
    /// Content of the cells: observed, or student:NAME for the predictions of a student
    #[arg(long, value_name = "LAYER", default_value = "observed", value_parser = layer)]
    layer: MatrixLayer,
    /// Print the mean zELO of documents with the same value of this metadata field, such as brand
    #[arg(long, value_name = "FIELD", conflicts_with_all = ["layer", "order", "format"])]
    by: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: MatrixFormat,
    /// The same as --format json
    #[arg(long)]
    json: bool,
    /// Output file [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl MatrixCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let out = self.out.as_deref().filter(|path| !is_standard_output(path));
        context.check_targets(out, &[], None)?;
        let layout = if self.json {
            MatrixFormat::Json
        } else {
            self.format
        };
        match out {
            Some(path) if layout == MatrixFormat::Png => check_png(path)?,
            None if layout == MatrixFormat::Png => {
                return Err(usage!("PNG is binary: expected a file, with --out FILE"));
            }
            _ => {}
        }
        let store = context.open()?;
        let id = self.query.clone();
        let added = match &self.layer {
            MatrixLayer::Observed => None,
            MatrixLayer::Added(read, name) => read(&store, name, id.clone())?,
        };
        let added = added.as_deref();
        let (query, documents, view, offline) = store.read_blocking(move |db| {
            let key = db.find_query(&id)?;
            let offline = db.judges_of(key)?.iter().any(|(_, spec)| spec.is_offline());
            Ok((db.query(key)?, db.documents(key)?, db.view(key)?, offline))
        })?;
        if let Some(field) = &self.by {
            return print_slices(&query, &documents, &view, field, self.json, out);
        }
        let cells = |row: usize, column: usize| {
            let observed = view.cell(row, column).observed;
            match added {
                None => (observed, true),
                Some(layer) => (layer.score(row, column), observed.is_some()),
            }
        };
        let order = view.order(match self.order {
            MatrixOrder::Hybrid => DocumentOrder::Hybrid,
            MatrixOrder::Zelo => DocumentOrder::Zelo,
        });
        let is_whole = matches!(
            layout,
            MatrixFormat::Json | MatrixFormat::Svg | MatrixFormat::Png
        );
        if is_whole && order.len() > WHOLE {
            return Err(usage!(
                "{} documents: {layout:?} output is limited to {WHOLE} documents; use --format csv",
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
            MatrixFormat::Text => {
                let legend = match added {
                    None => "row's share of battles, in tenths (· not fought)".to_owned(),
                    Some(layer) => layer.legend(),
                };
                as_text(
                    &query,
                    &documents,
                    &view,
                    &order,
                    offline,
                    (&legend, &cells),
                )
            }
            MatrixFormat::Json => {
                let mut value = as_json(&query, &documents, &view, &order);
                add_linked(&mut value, &order, &linked, scale);
                if let Some(layer) = added {
                    let (key, json) = layer.json(&order);
                    value[key] = json;
                }
                safe_json::pretty(&value)?
            }
            MatrixFormat::Csv => {
                let linked = scale.map(|_| linked.as_slice());
                as_csv(&documents, &view, &order, &cells, linked)?
            }
            MatrixFormat::Svg | MatrixFormat::Png => as_svg(
                &query,
                &documents,
                &view,
                &order,
                offline,
                added.map(|layer| (layer.caption(), &cells as &Cells<'_>)),
            ),
        };
        match out {
            None if matches!(layout, MatrixFormat::Text) => output::text(&text)?,
            None => output::raw(&text)?,
            Some(path) => write_whole(path, |out| match layout {
                MatrixFormat::Png => write_png(&text, out),
                _ => Ok(out.write_all(text.as_bytes())?),
            })?,
        }
        Ok(())
    }
}

/// Prints the scores of the query's documents by a metadata field.
fn print_slices(
    query: &QueryInfo,
    documents: &[DocumentInfo],
    view: &View,
    field: &str,
    json: bool,
    out: Option<&Path>,
) -> CommandResult {
    let known = slices::fields(documents);
    if !known.iter().any(|name| name == field) {
        let known: Vec<String> = known.iter().map(clean).collect();
        return Err(match known.as_slice() {
            [] => usage!("the documents of {} have no metadata fields", query.id),
            known => usage!(
                "no document of {} has the field {field:?}; the fields are: {}",
                query.id,
                known.join(", ")
            ),
        });
    }
    let top = effective_top(view.entered().len(), view.settings.top);
    let found = slices::by_field(view, documents, field, top);
    let text = if json {
        safe_json::pretty(&slices_json(query, field, top, &found))?
    } else {
        slices_text(field, top, &found)
    };
    match out {
        None if json => output::raw(&text)?,
        None => output::text(&text)?,
        Some(path) => write_whole(path, |out| Ok(out.write_all(text.as_bytes())?))?,
    }
    Ok(())
}

fn slices_json(query: &QueryInfo, field: &str, top: usize, slices: &[Slice]) -> Value {
    let rows = slices.iter().map(|slice| {
        json!({
            "value": slice.value,
            "documents": slice.documents.len(),
            "scored": slice.mean.map_or(0, |mean| mean.scored),
            "in_top": slice.in_top,
            "mean_zelo": slice.mean.map(|mean| mean.zelo),
            "se": slice.mean.and_then(|mean| mean.se),
        })
    });
    json!({
        "query": query.id,
        "field": field,
        "top": top,
        "slices": rows.collect::<Vec<_>>(),
    })
}

fn slices_text(field: &str, top: usize, slices: &[Slice]) -> String {
    let in_top = format!(">in top {top}");
    let field = clean(field);
    let header = [&*field, ">documents", &*in_top, ">mean zELO", ">SE"];
    let rows: Vec<Vec<String>> = slices
        .iter()
        .map(|slice| {
            vec![
                slice.value.as_deref().map_or("(none)".to_owned(), clean),
                slice.documents.len().to_string(),
                slice.in_top.to_string(),
                or_dash(slice.mean, |mean| signed(mean.zelo, 3)),
                or_dash(slice.mean.and_then(|mean| mean.se), |se| format!("{se:.3}")),
            ]
        })
        .collect();
    let mut text = output::table(&header, &rows);
    text.push_str(
        "SE is the error of the scores; it does not cover the choice of documents in the pool\n",
    );
    text
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
        "taste": view.settings.taste(),
        "phi_estimated_from_battles": view.settings.phi_battles,
        "fit": match &view.fit {
            Ok(fit) => json!({ "iterations": fit.iterations, "gradient": fit.gradient, "converged": fit.converged }),
            Err(error) => json!({ "error": format!("{error}{}", error.blamed(name)) }),
        },
        "student_in_fit": view.student_in_fit().map(|(student, share)| json!({
            "student": &*student.name, "weight": share.weight, "weight_set": student.weight,
            "pairs": share.pairs,
        })),
        "other_answers_in_fit": view.answers_in_fit().len(),
        "warnings": view.warnings.iter().map(|warning| warning.words(name)).collect::<Vec<_>>(),
    })
}

/// Adds the calibrated scores of a project with a common scale, and what it is based on.
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

/// `linked` contains the calibrated scores by document, if the project has a common scale.
fn as_csv(
    documents: &[DocumentInfo],
    view: &View,
    order: &[usize],
    cells: &Cells<'_>,
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
        record.extend(order.iter().map(|column| number(cells(*row, *column).0)));
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
    (legend, cells): (&str, &Cells<'_>),
) -> String {
    let mut text = format!(
        "{}  {}\n",
        sanitize::line(query.id.as_str()),
        sanitize::line(&query.text)
    );
    let drawn = order.len() <= DRAWN;
    let header = [
        "#",
        "document",
        ">zELO",
        ">SE",
        "ranks 95 %",
        "all at once",
        legend,
    ];
    let rows: Vec<Vec<String>> = order
        .iter()
        .map(|row| {
            let standing = view.standings[*row];
            let cells: String = order
                .iter()
                .filter(|_| drawn)
                .map(|column| match (row == column, cells(*row, *column)) {
                    (true, _) => '\\',
                    (false, (None, _)) => '·',
                    (false, (Some(share), voted)) => tenths(share, voted),
                })
                .collect();
            vec![
                or_dash(standing, |s| s.rank.to_string()),
                clean(documents[*row].id.as_str()),
                standing.map_or("not scored".to_owned(), |s| signed(s.zelo, 3)),
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
            "note: cells are printed for up to {DRAWN} documents; --format csv or json has them \
             all\n"
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
    if let Some((student, share)) = view.student_in_fit() {
        text.push_str(&format!("note: {}\n", student.words(share)));
    }
    if let Some(note) = view.basis_note() {
        text.push_str(&format!("note: {note}\n"));
    }
    for warning in &view.warnings {
        text.push_str(&format!("note: {}\n", warning.words(name)));
    }
    if offline {
        text.push_str(&format!("note: {OFFLINE_LABEL}\n"));
    }
    text
}

/// A share in tenths as a digit; a small one if there are no votes.
fn tenths(share: f64, voted: bool) -> char {
    const SMALL: [char; 11] = ['₀', '₁', '₂', '₃', '₄', '₅', '₆', '₇', '₈', '₉', 'ₓ'];
    let tenths = (share.clamp(0.0, 1.0) * 10.0).round() as u32;
    match (voted, tenths) {
        (false, _) => SMALL.get(tenths as usize).copied().unwrap_or('?'),
        (true, 10) => 'W',
        (true, _) => char::from_digit(tenths, 10).unwrap_or('?'),
    }
}

fn as_svg(
    query: &QueryInfo,
    documents: &[DocumentInfo],
    view: &View,
    order: &[usize],
    offline: bool,
    added: Option<(&'static str, &Cells<'_>)>,
) -> String {
    let cell = |row: usize, column: usize| {
        let (row, column) = (order[row], order[column]);
        let Some((_, cells)) = added else {
            return observed_cell(view, row, column);
        };
        let (value, voted) = cells(row, column);
        svg::SvgCell {
            value,
            expected: !voted,
            ..svg::SvgCell::default()
        }
    };
    let labels = row_labels(documents, view, order);
    let notes = picture_caption(view, offline && added.is_none());
    let captions = added.map(|(caption, _)| caption.to_owned()).into_iter();
    let captions = captions.chain(Some(notes).filter(|notes| !notes.is_empty()));
    let caption = captions.collect::<Vec<_>>().join(" · ");
    svg::matrix_svg(
        &cell,
        &labels,
        &format!("{}: {}", query.id, query.text),
        &caption,
    )
}
