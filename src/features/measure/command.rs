//! `overrule measure`: measures a run, or the difference of two, by rulings on drawn documents.

use crate::app::interval_axis::IntervalAxis;
use crate::app::text_format::p_value;
use crate::cli::command::{CommandContext, CommandResult, usage};
use crate::cli::output::{self, clean, or_dash};
use crate::cli::slices::SliceOptions;
use crate::client::now_ms;
use crate::domain::metrics::Metric;
use crate::domain::number_words::{counted, duration, fixed, probability, signed};
use crate::features::measure::app::{
    MeasureReport, MeasureRequest, MeasuredSlice, MeasuredValue, NextDocument, ReportOptions,
    SlicedMeasurement, metric_words, next_document, read_measurement, sliced,
};
use crate::features::measure::domain::IntervalKind;
use clap::{Args, ValueEnum};

/// Columns of the axis of intervals.
const AXIS: usize = 41;
/// Characters of the next document that are printed.
const SHOWN: usize = 1200;

#[derive(Debug, Args)]
#[command(
    after_help = "Documents are drawn one at a time. A document is likelier to be drawn the more its \
ruling can change the value; the probability of each draw is stored. Rule on the printed item with \
`overrule rule --item`, then run the command again. A document that nobody drew and that you rule \
on anyway is known from then on, but its ruling is not counted as a draw.

There is no result before 20 rulings on drawn documents. *These queries* is the value on the \
measured queries, if a person ruled on everything. *Queries like these* adds the spread between \
queries. The default interval may be looked at after every ruling. Use --interval t only if you \
set the number of rulings beforehand: looking at it after each ruling is wrong in 16 to 36 % of \
simulated comparisons.

P@K is unbiased. Other metrics are marked as first order, because their error depends on the \
relevance model, unless the difference of two runs is measured in NDCG and `overrule scale` has \
put all queries on one scale. Relevance is binary: partially relevant counts as relevant. If \
people cannot tell, the label stays.

Examples:
  overrule measure --run new.trec --baseline production.trec
  overrule measure --run new --baseline original --metric p@5 --margin .02
  overrule measure --run new --baseline original --slice topic
  overrule measure --run new --json | jq '.next.item'"
)]
pub(crate) struct MeasureCommand {
    /// Ranking to measure: a ranking of the project, a method, `original`, or a file
    #[arg(long, value_name = "RUN")]
    run: String,
    /// Measure the difference from this ranking
    #[arg(long, value_name = "RUN")]
    baseline: Option<String>,
    /// p@K, ndcg@K, recall@K, map@K or mrr@K
    #[arg(long, value_name = "METRIC", default_value = "p@10")]
    metric: Metric,
    /// Largest difference that counts as equal
    #[arg(
        long,
        value_name = "DIFFERENCE",
        default_value_t = 0.05,
        requires = "baseline"
    )]
    margin: f64,
    /// Interval: valid whenever you look (sequence), or for a number of rulings that you set
    /// beforehand (t)
    #[arg(long, value_enum, value_name = "KIND", default_value = "sequence")]
    interval: IntervalName,
    #[command(flatten)]
    slices: SliceOptions,
    /// Lowest relevant grade of the label where people cannot tell
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum IntervalName {
    Sequence,
    T,
}

impl From<IntervalName> for IntervalKind {
    fn from(name: IntervalName) -> Self {
        match name {
            IntervalName::Sequence => Self::Sequence,
            IntervalName::T => Self::Student,
        }
    }
}

impl MeasureCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        if !(self.margin > 0.0 && self.margin <= 1.0) {
            return Err(usage!("--margin must be above 0 and at most 1"));
        }
        if self.slices.is_given() && self.interval == IntervalName::T {
            return Err(usage!(
                "--interval t cannot be used with --slice: nobody sets the number of rulings in a slice \
                 beforehand"
            ));
        }
        let store = context.open()?;
        let request = MeasureRequest {
            run: self.run,
            baseline: self.baseline,
            metric: self.metric,
            level: self.level,
        };
        let measurement = read_measurement(&store, &request)?;
        let design = measurement.design();
        let options = ReportOptions {
            interval: self.interval.into(),
            margin: self.margin,
        };
        let report = MeasureReport::new(&measurement, &design, options);
        let field = self.slices.field_in(&store)?;
        let slices = field
            .map(|field| sliced(&store, &measurement, &field))
            .transpose()?;
        let annotator = context.annotator();
        let seed = context.config.run.seed;
        let next = if store.is_read_only() {
            None
        } else {
            next_document(&store, &measurement, &design, &annotator, seed, now_ms())?
        };
        if self.json {
            let mut printed = report.json(next.as_ref());
            if let Some(slices) = &slices {
                printed["slices"] = slices.json();
            }
            return output::json(&printed);
        }
        for note in &report.notes {
            output::message(&format!("note: {note}"));
        }
        let mut words = describe(&report);
        words.extend(slices.as_ref().map(describe_slices));
        // Drawing a document changes the project.
        if !store.is_read_only() {
            words += &describe_next(next.as_ref());
        }
        output::text(&words)
    }
}

fn describe(report: &MeasureReport) -> String {
    let mut text = format!("{}\n", report.sentence());
    for caveat in report.caveats() {
        text.push_str(&format!("{caveat}\n"));
    }
    if let Some(result) = &report.result {
        let mut values = vec![(
            counted(result.these_queries.rulings, "ruling"),
            &result.these_queries,
        )];
        let earlier = result.earlier.iter();
        values.extend(earlier.map(|of| (counted(of.rulings, "ruling"), of)));
        let like = result.queries_like_these.iter();
        values.extend(like.map(|of| ("queries like these".to_owned(), of)));
        text.push_str(&format!(
            "\n{}",
            intervals(&values, report.baseline.is_some())
        ));
        let open = result.decision.filter(|_| report.left() > 0);
        if let Some(decision) = open {
            text.push_str(&format!(
                "\nChance that the winner changes when everything is ruled on: {}.\n",
                probability(decision.flip_probability)
            ));
        }
    }
    let time = if report.timed > 0 {
        let seconds = report.active_ms as f64 / 1000.0;
        format!(
            ", {} for {}",
            duration(seconds),
            counted(report.timed, "ruling")
        )
    } else {
        String::new()
    };
    text.push_str(&format!(
        "\n{}: {}, {} that can change the value, {} ruled on, {} of them drawn{time}.\n",
        metric_words(report.metric),
        counted(report.queries, "query"),
        counted(report.documents, "document"),
        report.ruled,
        report.drawn,
    ));
    text
}

/// One row per value: its interval on a shared axis, and in numbers.
fn intervals(values: &[(String, &MeasuredValue)], is_difference: bool) -> String {
    let ends = values.iter().flat_map(|(_, of)| [of.low, of.high]);
    let (axis, number): (_, fn(f64, usize) -> String) = if is_difference {
        (IntervalAxis::of_differences(ends, AXIS), signed)
    } else {
        (IntervalAxis::new(0.0, 1.0, AXIS), fixed)
    };
    let row = |(name, of): &(String, &MeasuredValue)| {
        let drawn = axis.row(Some(of.value), Some((of.low, of.high)));
        format!(
            "{name:<20}{drawn}  {} ({} to {})\n",
            number(of.value, 3),
            number(of.low, 3),
            number(of.high, 3)
        )
    };
    let rows: String = values.iter().map(row).collect();
    format!("{:20}{}\n{rows}", "", axis.labels())
}

/// A table of the slices, and a sentence that names the worst one.
fn describe_slices(of: &SlicedMeasurement) -> String {
    let field = clean(&of.field);
    let is_difference = of.baseline.is_some();
    let value = if is_difference {
        ">difference"
    } else {
        ">value"
    };
    let mut header = vec![
        field.as_str(),
        ">queries",
        ">ruled on",
        value,
        "95 % sequence",
    ];
    if is_difference {
        header.push(">p (Holm)");
    }
    let rows: Vec<Vec<String>> = of
        .rows
        .iter()
        .map(|row| cells(row, is_difference))
        .collect();
    let mut page = format!("\n{} by {field}\n", metric_words(of.metric));
    page.push_str(&output::table(&header, &rows));
    page.extend(of.sentence().map(|words| format!("{words}\n")));
    if of.rows.iter().any(|row| row.value.is_none()) {
        page.push_str(
            "A slice has a value after the first ruling on one of its drawn documents, or after rulings on \
             all that count.\n",
        );
    }
    if of.unused_draws > 0 {
        page.push_str(&format!(
            "Not used: {}, made by an earlier version or damaged.\n",
            counted(of.unused_draws, "draw")
        ));
    }
    page
}

fn cells(row: &MeasuredSlice, is_difference: bool) -> Vec<String> {
    let number = if is_difference { signed } else { fixed };
    let range = |(low, high)| format!("{} to {}", number(low, 3), number(high, 3));
    let interval = match row.value {
        Some(_) if row.is_exact => "exact".to_owned(),
        Some(of) => range((of.low, of.high)),
        None => format!("not known yet: {}", range(row.limits)),
    };
    let mut cells = vec![
        clean(row.name()),
        row.queries.to_string(),
        format!("{} of {}", row.ruled, row.documents),
        or_dash(row.value, |of| number(of.value, 3)),
        interval,
    ];
    if is_difference {
        cells.push(or_dash(row.p_holm, p_value));
    }
    cells
}

fn describe_next(next: Option<&NextDocument>) -> String {
    let Some(next) = next else {
        return "Nothing is left that can change the value.\n".to_owned();
    };
    let shown: String = next.text.chars().take(SHOWN).collect();
    let text = clean(&shown);
    let more = if shown.len() < next.text.len() {
        " …"
    } else {
        ""
    };
    let title = next
        .title
        .as_deref()
        .map_or(String::new(), |title| format!("{}\n", clean(title)));
    format!(
        "\nNext: item {} (draw {}), query {}, document {}\n{}\n\n{title}{text}{more}\n\nRule on it \
         with `overrule rule --item {} --ruling relevant|partially|not|cannot-tell`.\n",
        next.item,
        next.number,
        clean(next.query.as_str()),
        clean(next.document.as_str()),
        clean(&next.query_text),
        next.item,
    )
}
