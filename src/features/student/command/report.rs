//! `overrule student report`: shows the figures of a student as tables, as images and as an HTML
//! page.

use crate::app::output_file::{OutputFolder, write_whole};
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandResult, usage};
use crate::cli::output::{self, or_dash};
use crate::domain::number_words::{fixed, signed};
use crate::domain::sanitize;
use crate::features::student::app::{StepReport, StudentReport, report_file, report_student};
use crate::features::student::domain::figures::{Bucket, Category, Figures, Measured};
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    override_usage = "overrule student report [OPTIONS] <FILE>\n       overrule student report \
                      [OPTIONS] --student <NAME>",
    after_help = "\
FILE has one prediction per line, as JSON, or is a CSV with the columns query, a, b, p_a, p_b and,
optionally, p_tie (default: 1 − p_a − p_b) and step (a checkpoint). p_a is the probability that
document a is better when a is shown first. A file may contain both orders of a pair.

Examples:
  echo '{\"query\":\"q1\",\"a\":\"d1\",\"b\":\"d2\",\"p_a\":0.7,\"p_b\":0.2,\"p_tie\":0.1}' > \
  predictions.jsonl
  overrule student report predictions.jsonl
  overrule student import predictions.jsonl --name llama-8b
  overrule student report --student llama-8b
  overrule student report predictions.jsonl --svg figures --html student.html
  overrule student report predictions.jsonl --rows | jq 'select(.segment == \"4.5\")'"
)]
pub(super) struct ReportCommand {
    /// Predictions as JSON lines or CSV
    #[arg(required_unless_present = "student", conflicts_with = "student")]
    file: Option<PathBuf>,
    /// Report on a student of the project, with all its checkpoints
    #[arg(long, value_name = "NAME")]
    student: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print one JSON line per battle with its votes, prediction, bucket and segment
    #[arg(long, conflicts_with = "json")]
    rows: bool,
    /// Write the figures to this folder (fig1.svg to fig10.svg)
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Write an HTML page with all figures and their numbers
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl ReportCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let report = match (&self.student, &self.file) {
            (Some(name), _) => report_student(&store, name)?,
            (None, Some(file)) => report_file(&store, file)?,
            (None, None) => return Err(usage!("name a file, or --student NAME")),
        };
        self.draw(&report, context)?;
        if self.json {
            return output::json(&report.json());
        }
        if self.rows {
            let rows = report.steps.iter().flat_map(StepReport::rows);
            return rows.into_iter().try_for_each(|row| output::json_line(&row));
        }
        for note in &report.notes {
            output::message(&format!("note: {note}"));
        }
        output::text(&describe(&report))
    }

    /// Writes the requested images and the page, or nothing if one of them cannot be written.
    fn draw(&self, report: &StudentReport, context: &CommandContext) -> CommandResult {
        let mut files = Vec::new();
        let made = self.svg.as_deref().map(OutputFolder::make).transpose()?;
        if let Some(folder) = &self.svg {
            let pictures = report.pictures().into_iter();
            files.extend(pictures.map(|(name, svg)| (folder.join(name), svg)));
        }
        files.extend(self.html.iter().map(|path| (path.clone(), report.page())));
        let inputs: Vec<(&str, &Path)> = self
            .file
            .iter()
            .map(|file| ("predictions", file.as_path()))
            .collect();
        context.check_targets(files.iter().map(|(path, _)| path.as_path()), &inputs, None)?;
        for (path, text) in &files {
            write_whole(path, |out| Ok(out.write_all(text.as_bytes())?))?;
        }
        if let Some(folder) = made {
            folder.keep();
        }
        if let Some(folder) = &self.svg {
            let pictures = files.len() - usize::from(self.html.is_some());
            let pictures = counted(pictures, "picture");
            output::message(&format!("wrote {pictures} into {}", folder.display()));
        }
        if let Some(page) = &self.html {
            output::wrote(page);
        }
        Ok(())
    }
}

fn describe(report: &StudentReport) -> String {
    let mut text = format!("student {}\n\n", sanitize::line(&report.name));
    let header = [
        "step",
        ">battles",
        ">queries",
        ">accuracy on consensus",
        "95 % interval",
        ">ECE",
        "95 % interval",
        ">by chance",
        ">Brier, 3 outcomes",
        ">divergence, nats",
    ];
    let rows: Vec<Vec<String>> = report.steps.iter().map(overview).collect();
    text += &output::table(&header, &rows);
    if let Some(last) = report.steps.last() {
        text += &details(last);
    }
    text
}

fn overview(step: &StepReport) -> Vec<String> {
    let figures = &step.figures;
    let calibration = &figures.calibration;
    vec![
        or_dash(step.step, |step| step.to_string()),
        figures.n.to_string(),
        figures.queries.to_string(),
        or_dash(figures.consensus_accuracy, |of| number(of.value)),
        or_dash(figures.consensus_accuracy, interval),
        number(calibration.ece.value),
        interval(calibration.ece),
        or_dash(calibration.ece_by_chance, number),
        number(calibration.brier_ternary.value),
        number(figures.divergence()),
    ]
}

fn details(step: &StepReport) -> String {
    let figures = &step.figures;
    let mut text = calibration_table(figures);
    if let Some(order) = step.order {
        text += &format!(
            "\nOrder ({} in both orders): {} toward the first document, {:.1} % change their \
             favorite\n",
            counted(order.pairs, "pair"),
            signed(order.toward_first, 3),
            100.0 * order.flips
        );
    }
    text += "\nYield: battles within a distance r of certainty, and the ensemble's opinion of the \
             favorite\n";
    let yields = figures.by_radius.iter().map(|point| {
        let mut cells = vec![
            format!("{:.1}", point.radius),
            point.n.to_string(),
            percent(point.share),
        ];
        match point.composition {
            Some(shares) => cells.extend(shares.map(percent)),
            None => cells.extend(Category::ALL.map(|_| "–".to_owned())),
        }
        cells
    });
    let categories = Category::ALL.map(|category| format!(">{}", category.name()));
    let mut header = vec![">r", ">battles", ">of all"];
    header.extend(categories.iter().map(String::as_str));
    text += &output::table(&header, &yields.collect::<Vec<_>>());
    text += "\nExpected and observed score against the favorite, in buckets of equal population\n";
    let mut header = vec![
        ">from",
        ">to",
        ">battles",
        ">expected",
        ">observed",
        ">± 1 se",
        ">P(tie)",
    ];
    header.extend(categories.iter().map(String::as_str));
    let rows: Vec<Vec<String>> = figures.score_buckets.iter().map(bucket).collect();
    text += &output::table(&header, &rows);
    text += "\nDoes P(tie) say more than the expected score? (below 0: yes)\n";
    let rows: Vec<Vec<String>> = figures
        .residual_ties
        .iter()
        .map(|of| {
            vec![
                number(of.low),
                number(of.high),
                of.n.to_string(),
                or_dash(of.correlation, |value| signed(value, 3)),
            ]
        })
        .collect();
    text += &output::table(&[">from", ">to", ">battles", ">correlation"], &rows);
    text += "\nSegments: strips by expected score, each cut by E|C|\n";
    let rows: Vec<Vec<String>> = figures
        .segments
        .iter()
        .map(|of| {
            vec![
                format!("{}.{}", of.strip + 1, of.cell + 1),
                of.n.to_string(),
                number(of.expected),
                number(of.observed),
                number(of.decisiveness),
                number(of.observed_decisiveness),
                percent(of.wrong),
            ]
        })
        .collect();
    let header = [
        "segment",
        ">battles",
        ">expected",
        ">observed",
        ">E|C|",
        ">observed |C|",
        ">other preferred",
    ];
    text + &output::table(&header, &rows)
}

/// Describes the calibration.
pub(super) fn calibration_table(figures: &Figures) -> String {
    let calibration = &figures.calibration;
    let named = |name: &str, of: Measured| vec![name.to_owned(), number(of.value), interval(of)];
    let mut rows = vec![
        named("ECE, equal population", calibration.ece),
        named("ECE, equal width", calibration.ece_equal_width),
        named("ECE of E|C|", calibration.ece_decisiveness),
        named("largest error of a bucket", calibration.mce),
        named("Brier of the score", calibration.brier),
        named("Brier of three outcomes", calibration.brier_ternary),
        named("cross entropy, nats", figures.cross_entropy),
    ];
    for (name, value) in [
        ("worth of a prediction, battles", figures.mean_strength),
        ("reliability", calibration.murphy.reliability),
        ("resolution", calibration.murphy.resolution),
        ("uncertainty", calibration.murphy.uncertainty),
    ] {
        rows.push(vec![name.to_owned(), number(value), "–".to_owned()]);
    }
    let text = format!("\nCalibration ({})\n", counted(figures.n, "battle"));
    text + &output::table(&["measure", ">value", "95 % interval"], &rows)
}

fn bucket(of: &Bucket) -> Vec<String> {
    let mut cells = vec![
        number(of.low),
        number(of.high),
        of.n.to_string(),
        number(of.expected),
        number(of.observed),
        or_dash(of.observed_se, number),
        number(of.tie),
    ];
    cells.extend(of.composition.map(percent));
    cells
}

pub(super) fn number(value: f64) -> String {
    fixed(value, 4)
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn interval(of: Measured) -> String {
    or_dash(of.interval, |(low, high)| {
        format!("{} to {}", fixed(low, 4), fixed(high, 4))
    })
}
