//! Prices of models: the table in use, the prices of the configured judges, and warnings about
//! them.

use super::choose_judges::JudgeConfiguration;
use super::error::AppError;
use super::retirements::{days_between, retirement};
use crate::domain::sanitize;
use crate::judge::ensemble::{FILE, judge_prices, own_prices};
use crate::judge::price::{PriceRow, PriceTable, TokenRates};
use jiff::civil::Date;
use serde::Serialize;

/// The table of prices and what it means for the configured judges.
#[derive(Clone, Debug, Serialize)]
pub struct PriceReport {
    /// The day for which the prices are given.
    pub today: Date,
    pub source: String,
    pub litellm_version: String,
    pub litellm_uploaded: Option<Date>,
    pub retrieved: Option<Date>,
    /// Days since the table was retrieved.
    pub age_days: Option<i64>,
    pub judges: Vec<JudgePrice>,
    /// The judges whose models have no known price.
    pub unknown: Vec<String>,
    pub models: Vec<ListedPrice>,
}

/// The price of a configured judge.
#[derive(Clone, Debug, Serialize)]
pub struct JudgePrice {
    pub judge: String,
    pub provider: String,
    pub model: String,
    /// Where the price comes from; `None` if it is unknown.
    pub from: Option<&'static str>,
    /// US dollars for a million tokens.
    #[serde(flatten)]
    pub rates: Option<TokenRates>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retires: Option<Date>,
}

/// A row of the table, with its current price.
#[derive(Clone, Debug, Serialize)]
pub struct ListedPrice {
    #[serde(flatten)]
    pub row: PriceRow,
    /// Whether it comes from the user's own table.
    pub own: bool,
    /// US dollars for a million tokens, on the day of the report.
    pub today: Option<TokenRates>,
}

impl PriceReport {
    /// The current prices.
    ///
    /// # Errors
    /// `overrule.toml` or the table that it names cannot be read.
    pub fn of(configuration: &JudgeConfiguration<'_>) -> Result<Self, AppError> {
        let (today, own, judges) = configuration.with_file(|file, sources| {
            let own = own_prices(file, sources).map_err(AppError::invalid)?;
            let prices = judge_prices(file, sources, own.as_ref());
            let judges: Vec<JudgePrice> = file
                .judges
                .iter()
                .zip(prices)
                .map(|(config, price)| JudgePrice {
                    judge: config.name.clone(),
                    provider: config.provider.clone(),
                    model: config.model.clone(),
                    from: price.from,
                    rates: price.rates,
                    retires: price.retires,
                })
                .collect();
            Ok((sources.today, own, judges))
        })?;
        let table = PriceTable::embedded();
        let listed = |table: &PriceTable, own: bool| -> Vec<ListedPrice> {
            table
                .rows()
                .map(|row| ListedPrice {
                    row: row.clone(),
                    own,
                    today: row.rates_on(today),
                })
                .collect()
        };
        let mut models = own.as_ref().map_or_else(Vec::new, |own| listed(own, true));
        models.extend(listed(table, false));
        Ok(Self {
            today,
            source: table.source.clone(),
            litellm_version: table.litellm_version.clone(),
            litellm_uploaded: table.litellm_uploaded,
            retrieved: table.retrieved,
            age_days: table.retrieved.map(|day| days_between(day, today)),
            unknown: judges
                .iter()
                .filter(|judge| judge.from.is_none())
                .map(|judge| judge.judge.clone())
                .collect(),
            judges,
            models,
        })
    }

    /// Warnings about the configured judges' models.
    pub fn warnings(&self) -> Vec<String> {
        let unknown = self
            .judges
            .iter()
            .filter(|judge| judge.from.is_none())
            .map(|judge| no_price(&judge.judge, &judge.provider, &judge.model));
        let retired = self
            .judges
            .iter()
            .filter_map(|judge| retirement(&judge.judge, &judge.model, judge.retires?, self.today));
        unknown.chain(retired).collect()
    }
}

/// The warning about a judge whose model has no known price.
pub fn no_price(judge: &str, provider: &str, model: &str) -> String {
    format!(
        "no price is known for {} of {} (judge {}); set `price`, or `base_model` if it is a known \
         model under another name, in {FILE}",
        sanitize::line(model),
        sanitize::line(provider),
        sanitize::line(judge)
    )
}
