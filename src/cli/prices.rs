//! `overrule prices`: prices of models, their age, and the prices of the configured judges.

use crate::app::prices::{ListedPrice, PriceReport};
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output::{self, clean};
use crate::domain::number_words::count;
use crate::judge::price::TokenRates;
use clap::Args;
use serde_json::Value;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule prices
  overrule prices gpt-6 claude
  overrule prices --json | jq '.judges'")]
pub(super) struct PricesCommand {
    /// Only models whose name or provider contains one of these words
    words: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl PricesCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let mut report = PriceReport::of(&context.judges_without_asking(false))?;
        if !self.words.is_empty() {
            let words: Vec<String> = self.words.iter().map(|word| word.to_lowercase()).collect();
            report.models.retain(|model| {
                let name = format!("{}\n{}", model.row.provider, model.row.id).to_lowercase();
                words.iter().any(|word| name.contains(word))
            });
        }
        for warning in report.warnings() {
            output::message(&format!("warning: {warning}"));
        }
        if self.json {
            let mut value = serde_json::to_value(&report)?;
            drop_nulls(&mut value);
            return output::json(&value);
        }
        output::raw(&text(&report))
    }
}

fn text(report: &PriceReport) -> String {
    let mut text = format!("US dollars per million tokens, on {}\n", report.today);
    text.push_str(&format!("source: {}", report.source));
    if !report.litellm_version.is_empty() {
        text.push_str(&format!(", litellm {}", report.litellm_version));
    }
    if let Some(day) = report.litellm_uploaded {
        text.push_str(&format!(" of {day}"));
    }
    if let (Some(day), Some(age)) = (report.retrieved, report.age_days) {
        let age = counted(usize::try_from(age).unwrap_or_default(), "day");
        text.push_str(&format!(", retrieved on {day}, {age} ago"));
    }
    text.push_str("\n\n");
    let judges: Vec<Vec<String>> = report
        .judges
        .iter()
        .map(|judge| {
            let [input, cached, output] = rates(judge.rates);
            vec![
                clean(&judge.judge),
                clean(&judge.provider),
                clean(&judge.model),
                input,
                cached,
                output,
                judge.from.unwrap_or("unknown").to_owned(),
                judge
                    .retires
                    .map_or_else(String::new, |day| day.to_string()),
            ]
        })
        .collect();
    if !judges.is_empty() {
        let header = [
            "judge",
            "provider",
            "model",
            ">input",
            ">cached",
            ">output",
            "price from",
            "retires",
        ];
        text.push_str(&output::table(&header, &judges));
        text.push('\n');
    }
    let models: Vec<Vec<String>> = report
        .models
        .iter()
        .map(|model| {
            let [input, cached, output] = rates(model.today);
            vec![
                clean(&model.row.provider),
                clean(&model.row.id),
                input,
                cached,
                output,
                factor(model.row.batch_factor),
                factor(model.row.flex_factor),
                factor(model.row.priority_factor),
                model
                    .row
                    .retires
                    .map_or_else(String::new, |day| day.to_string()),
                notes(model),
            ]
        })
        .collect();
    if models.is_empty() {
        text.push_str("no model matches\n");
    } else {
        let header = [
            "provider",
            "model",
            ">input",
            ">cached",
            ">output",
            ">batch",
            ">flex",
            ">priority",
            "retires",
            "",
        ];
        text.push_str(&output::table(&header, &models));
    }
    text
}

/// Input, cached input and output.
fn rates(rates: Option<TokenRates>) -> [String; 3] {
    let Some(rates) = rates else {
        return ["–".to_owned(), "–".to_owned(), "–".to_owned()];
    };
    let cached = rates.cached.map_or_else(|| "–".to_owned(), dollars);
    [dollars(rates.input), cached, dollars(rates.output)]
}

/// A price as the table has it, with cents.
fn dollars(usd: f64) -> String {
    let exact = usd.to_string();
    let decimals = exact
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    if (2..=8).contains(&decimals) {
        exact
    } else {
        format!("{usd:.2}")
    }
}

fn factor(factor: Option<f64>) -> String {
    factor.map_or_else(
        || "–".to_owned(),
        |factor| {
            let digits = format!("{factor:.4}");
            format!("{}×", digits.trim_end_matches('0').trim_end_matches('.'))
        },
    )
}

/// Further details of a row.
fn notes(model: &ListedPrice) -> String {
    let row = &model.row;
    let own = model.own.then(|| "your own table".to_owned());
    let kind = (row.kind != "chat").then(|| match row.usd_per_search_unit {
        Some(usd) => format!("{}: ${usd} a search", clean(&row.kind)),
        None => clean(&row.kind),
    });
    let long = row.long_context.as_ref().map(|long| {
        format!(
            "above {} tokens {} and {}",
            count(long.above_input_tokens),
            dollars(long.input),
            dollars(long.output)
        )
    });
    let change = row.price_change.as_ref().map(|change| {
        format!(
            "from {} {} and {}",
            change.from,
            dollars(change.input),
            dollars(change.output)
        )
    });
    let off_peak = row.off_peak.as_ref().map(|off_peak| {
        format!(
            "off-peak {} and {}",
            dollars(off_peak.input),
            dollars(off_peak.output)
        )
    });
    let source = row
        .source
        .as_ref()
        .map(|source| format!("source: {}", clean(source)));
    let terms = [
        ("ultrafast", row.ultrafast_factor),
        ("regional", row.regional_factor),
        ("US only", row.us_factor),
        ("fast mode", row.fast_factor),
    ]
    .into_iter()
    .filter(|(_, of)| of.is_some())
    .map(|(name, of)| format!("{name} {}", factor(of)));
    let notes: Vec<String> = [own, kind, change, long, off_peak]
        .into_iter()
        .flatten()
        .chain(terms)
        .chain(source)
        .collect();
    notes.join("; ")
}

/// Removes fields without a value.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
