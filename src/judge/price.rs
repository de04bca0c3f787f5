//! Prices of tokens: the embedded table, the user's own table, and cost calculations. An unknown
//! model has no price, not a price of zero.

mod off_peak;

use super::billing::{BillingTerms, ServiceTier, TermsRange};
use super::call::Usage;
use jiff::Timestamp;
use jiff::civil::Date;
use off_peak::{OffPeak, OffPeakHours};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// The embedded table, in US dollars per million tokens.
pub const TABLE: &str = include_str!("../../assets/prices.json");

const MILLION: f64 = 1e6;

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenRates {
    pub input: f64,
    /// Output, including reasoning.
    pub output: f64,
    /// Input read from a cache; defaults to `input`.
    #[serde(default)]
    pub cached: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    rates: TokenRates,
    /// Input written to a cache.
    written: Option<f64>,
    /// The same for a cache with the longer retention: an hour at Anthropic, 12 hours at OpenAI.
    written_long: Option<f64>,
    /// Above this number of input tokens, the whole call has these rates.
    long: Option<(u64, TokenRates)>,
    /// The rates at off-peak times.
    off_peak: Option<(OffPeakHours, TokenRates)>,
    batch: Option<Discount>,
    surcharges: Surcharges,
}

/// A price as a share of the standard price.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Discount {
    factor: f64,
    /// Cached input for a million tokens, where the table has a price of its own for it.
    cached: Option<f64>,
}

/// Prices on other terms than the standard ones, where the model is sold on them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Surcharges {
    priority: Option<Discount>,
    flex: Option<Discount>,
    ultrafast: Option<Discount>,
    regional: Option<f64>,
    us_only: Option<f64>,
    fast_mode: Option<f64>,
}

/// Input tokens that a call wrote to a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheWrites {
    /// All of them.
    pub tokens: u64,
    /// Those that are kept for the longer time.
    pub long: u64,
}

impl From<TokenRates> for Price {
    /// The user's own price, which applies on all terms; batches cost half of it, as with all three
    /// providers that have them.
    fn from(rates: TokenRates) -> Self {
        Self {
            rates,
            written: None,
            written_long: None,
            long: None,
            off_peak: None,
            batch: Some(Discount::of(0.5)),
            surcharges: Surcharges::default(),
        }
    }
}

impl Price {
    /// The price of free models.
    pub const FREE: Self = Self {
        rates: TokenRates {
            input: 0.0,
            output: 0.0,
            cached: None,
        },
        written: None,
        written_long: None,
        long: None,
        off_peak: None,
        batch: Some(Discount {
            factor: 1.0,
            cached: None,
        }),
        surcharges: Surcharges {
            priority: None,
            flex: None,
            ultrafast: None,
            regional: None,
            us_only: None,
            fast_mode: None,
        },
    };

    /// The prices of standard calls.
    pub fn rates(&self) -> TokenRates {
        self.rates
    }

    pub fn is_free(&self) -> bool {
        let free = |rates: TokenRates| [Some(rates.input), Some(rates.output), rates.cached];
        let long = self.long.map(|(_, rates)| free(rates));
        let all = free(self.rates)
            .into_iter()
            .chain(long.into_iter().flatten())
            .chain([self.written, self.written_long]);
        all.flatten().all(|price| price == 0.0)
    }

    /// Whether input that is written to a cache costs more than other input.
    pub fn charges_cache_writes(&self) -> bool {
        self.written.is_some_and(|price| price > self.rates.input)
    }

    /// Dollars for one call that wrote some of its input tokens to a cache.
    pub fn cost(&self, usage: &Usage, writes: CacheWrites) -> f64 {
        let rates = self.at(usage.input);
        let rise = ratio(rates.input, self.rates.input);
        let short_price = self.written.map_or(rates.input, |price| price * rise);
        let long_price = self.written_long.map_or(short_price, |price| price * rise);
        let cached = usage.cached.min(usage.input);
        let written = writes.tokens.min(usage.input - cached);
        let long = writes.long.min(written);
        let plain = usage.input - cached - written;
        (plain as f64 * rates.input
            + cached as f64 * rates.cached.unwrap_or(rates.input)
            + (written - long) as f64 * short_price
            + long as f64 * long_price
            + usage.output as f64 * rates.output)
            / MILLION
    }

    /// The price of a call that is billed on these terms.
    pub fn on(&self, terms: BillingTerms) -> Self {
        let surcharges = self.surcharges;
        let tier = match terms.tier {
            ServiceTier::Default => None,
            ServiceTier::Flex => surcharges.flex,
            ServiceTier::Priority => surcharges.priority,
            ServiceTier::Ultrafast => surcharges.ultrafast,
        };
        let others = [
            (terms.regional, surcharges.regional),
            (terms.us_only, surcharges.us_only),
            (terms.fast_mode, surcharges.fast_mode),
        ];
        let factor = others
            .into_iter()
            .filter_map(|(applies, factor)| factor.filter(|_| applies))
            .product();
        self.times(tier.unwrap_or(Discount::of(1.0)))
            .times(Discount::of(factor))
    }

    /// The price of a call that is served at this time. Other prices are those of peak times.
    pub fn served_at(&self, time: Timestamp) -> Self {
        match self.off_peak {
            Some((hours, rates)) if hours.contain(time) => Self {
                rates,
                off_peak: None,
                ..*self
            },
            _ => *self,
        }
    }

    /// The prices within a batch, or `None` where the model has none there. A batch has no service
    /// tiers and no fast mode.
    pub fn batched(&self) -> Option<Self> {
        let price = self.times(self.batch?);
        Some(Self {
            batch: None,
            off_peak: None,
            surcharges: Surcharges {
                regional: self.surcharges.regional,
                us_only: self.surcharges.us_only,
                ..Surcharges::default()
            },
            ..price
        })
    }

    /// The maximum cost in dollars of these tokens on the most expensive terms that may apply:
    /// nothing is read from a cache, and all of the input may be written to one, for the longer
    /// time if the terms ask for that.
    pub fn worst(&self, usage: &Usage, terms: &TermsRange) -> f64 {
        let none = Usage {
            cached: 0,
            ..*usage
        };
        let all = CacheWrites {
            tokens: none.input,
            long: if terms.dearest.long_cache {
                none.input
            } else {
                0
            },
        };
        terms
            .tiers()
            .iter()
            .flat_map(|tier| {
                let price = self.on(BillingTerms {
                    tier: *tier,
                    ..terms.dearest
                });
                [CacheWrites::default(), all].map(|writes| price.cost(&none, writes))
            })
            .fold(0.0, f64::max)
    }

    /// The price at a discount on everything, cached input apart.
    fn times(&self, discount: Discount) -> Self {
        let Discount { factor, cached } = discount;
        let scaled = |rates: TokenRates| TokenRates {
            input: rates.input * factor,
            output: rates.output * factor,
            cached: rates.cached.map(|price| price * factor),
        };
        let mut rates = scaled(self.rates);
        // Some tables round the cached price; the table's own number is what is charged.
        rates.cached = cached.or(rates.cached);
        Self {
            rates,
            written: self.written.map(|price| price * factor),
            written_long: self.written_long.map(|price| price * factor),
            long: self.long.map(|(above, rates)| (above, scaled(rates))),
            off_peak: self.off_peak.map(|(hours, rates)| (hours, scaled(rates))),
            ..*self
        }
    }

    /// The price without off-peak rates, which a gateway need not pass on.
    fn at_any_time(self) -> Self {
        Self {
            off_peak: None,
            ..self
        }
    }

    /// Whether both have the same prices on standard terms.
    fn has_rates_of(&self, other: &Self) -> bool {
        self.rates == other.rates && self.written == other.written && self.long == other.long
    }

    fn at(&self, input: u64) -> TokenRates {
        match self.long {
            Some((above, rates)) if input > above => rates,
            _ => self.rates,
        }
    }
}

impl Surcharges {
    /// The price on the most expensive terms, as a multiple of the standard price.
    fn dearest(&self) -> f64 {
        let tiers = [self.priority, self.flex, self.ultrafast];
        let tier = tiers.into_iter().flatten().map(|tier| tier.factor);
        let tier = tier.fold(1.0, f64::max);
        let others = [self.regional, self.us_only, self.fast_mode];
        tier * others.into_iter().flatten().product::<f64>()
    }
}

impl Discount {
    fn of(factor: f64) -> Self {
        Self {
            factor,
            cached: None,
        }
    }
}

/// The user's own price of a reranker, in US dollars: per million tokens, or per search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RerankRates {
    pub input: Option<f64>,
    pub search: Option<f64>,
}

/// The price of a reranker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RerankPrice {
    Free,
    /// US dollars per million tokens of queries and documents.
    Tokens(f64),
    /// US dollars per search, as counted by the service; without a count, a call is one search.
    Searches(f64),
}

/// Why a price or a table of prices cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidPrice {
    #[error("price: expected input, dollars per million tokens, or search, dollars per search")]
    Unit,
    #[error("price: expected dollars, 0 or more, found {0}")]
    Dollars(f64),
    #[error("not a table of prices: {0}")]
    NotATable(String),
    #[error("{id}: a price is negative")]
    Negative { id: String },
}

impl RerankRates {
    /// The price, if exactly one is given and valid.
    ///
    /// # Errors
    /// If not exactly one is given, or it is not an amount of dollars.
    pub fn price(self) -> Result<RerankPrice, InvalidPrice> {
        let (price, usd) = match (self.input, self.search) {
            (Some(usd), None) => (RerankPrice::Tokens(usd), usd),
            (None, Some(usd)) => (RerankPrice::Searches(usd), usd),
            _ => return Err(InvalidPrice::Unit),
        };
        match usd {
            0.0 => Ok(RerankPrice::Free),
            usd if usd.is_finite() && usd > 0.0 => Ok(price),
            _ => Err(InvalidPrice::Dollars(usd)),
        }
    }
}

impl RerankPrice {
    /// Cost of this many tokens and searches in dollars; `None` if the charged unit was not
    /// counted.
    pub fn cost(self, tokens: Option<u64>, searches: Option<f64>) -> Option<f64> {
        match self {
            Self::Free => Some(0.0),
            Self::Tokens(usd) => Some(tokens? as f64 * usd / MILLION),
            Self::Searches(usd) => Some(searches? * usd),
        }
    }
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 1.0 }
}

#[derive(Clone, Debug, Default, Deserialize)]
pub struct PriceTable {
    /// Where the prices are from.
    #[serde(default)]
    pub source: String,
    #[serde(default)]
    pub litellm_version: String,
    pub litellm_uploaded: Option<Date>,
    /// The day on which the prices were retrieved.
    pub retrieved: Option<Date>,
    models: Vec<PriceRow>,
    #[serde(default)]
    not_in_litellm_1_109_1: Vec<PriceRow>,
}

/// A model at a provider. Prices are in US dollars for a million tokens, factors are shares of the
/// standard price.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PriceRow {
    pub id: String,
    pub provider: String,
    #[serde(default = "chat")]
    pub kind: String,
    input: Option<f64>,
    output: Option<f64>,
    cached: Option<f64>,
    cache_write: Option<f64>,
    pub batch_factor: Option<f64>,
    cached_batch: Option<f64>,
    #[serde(alias = "cache_write_1h", alias = "cache_write_12h")]
    cache_write_long: Option<f64>,
    pub priority_factor: Option<f64>,
    cached_priority: Option<f64>,
    pub flex_factor: Option<f64>,
    cached_flex: Option<f64>,
    pub ultrafast_factor: Option<f64>,
    cached_ultrafast: Option<f64>,
    pub regional_factor: Option<f64>,
    pub us_factor: Option<f64>,
    pub fast_factor: Option<f64>,
    /// The day from which the provider no longer serves the model.
    pub retires: Option<Date>,
    pub usd_per_search_unit: Option<f64>,
    pub long_context: Option<LongContext>,
    pub off_peak: Option<OffPeak>,
    pub price_change: Option<PriceChange>,
    /// Source of the row, if it differs from that of the table.
    pub source: Option<String>,
}

/// Prices of calls with long input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LongContext {
    pub above_input_tokens: u64,
    pub input: f64,
    pub output: f64,
    cached: Option<f64>,
}

/// An announced price.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PriceChange {
    pub from: Date,
    pub input: f64,
    pub output: f64,
    cached: Option<f64>,
}

fn holds_negative(value: &serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|number| number < 0.0),
        Value::Array(values) => values.iter().any(holds_negative),
        Value::Object(fields) => fields.values().any(holds_negative),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn chat() -> String {
    "chat".to_owned()
}

impl PriceTable {
    pub fn embedded() -> &'static Self {
        static PRICES: OnceLock<PriceTable> = OnceLock::new();
        // A test parses the table, so the default is never used.
        PRICES.get_or_init(|| serde_json::from_str(TABLE).unwrap_or_default())
    }

    /// A table in the format of the embedded one; only `models` with ID, provider, input and output
    /// are required.
    ///
    /// # Errors
    /// The text is not such a table, or a price is negative: it would raise the budget.
    pub fn parse(text: &str) -> Result<Self, InvalidPrice> {
        let table: Self = serde_json::from_str(text)
            .map_err(|error| InvalidPrice::NotATable(error.to_string()))?;
        let negative = table
            .rows()
            .find(|row| serde_json::to_value(row).is_ok_and(|row| holds_negative(&row)));
        match negative {
            Some(row) => Err(InvalidPrice::Negative { id: row.id.clone() }),
            None => Ok(table),
        }
    }

    /// Every model of the table.
    pub fn rows(&self) -> impl Iterator<Item = &PriceRow> {
        self.models.iter().chain(&self.not_in_litellm_1_109_1)
    }

    /// What `model` costs at `provider` on `day`, for chat or for decisions.
    pub fn find(&self, provider: &str, kind: &str, model: &str, day: Date) -> Option<Price> {
        self.row(provider, kind, model)?.price(day)
    }

    /// The row of `model` at `provider`. A date at the end of the id does not matter.
    pub fn row(&self, provider: &str, kind: &str, model: &str) -> Option<&PriceRow> {
        let row = |id: &str| {
            self.rows()
                .find(|row| row.provider == provider && row.kind == kind && row.id == id)
        };
        let id = model.strip_prefix("models/").unwrap_or(model);
        row(id).or_else(|| row(undated(id)))
    }

    /// The price of `model` as a reranker of `provider`.
    pub fn find_rerank(&self, provider: &str, model: &str) -> Option<RerankPrice> {
        let row = self
            .rows()
            .find(|row| row.provider == provider && row.kind == "rerank" && row.id == model)?;
        let searches = row.usd_per_search_unit.map(RerankPrice::Searches);
        searches.or(row.input.map(RerankPrice::Tokens))
    }

    /// The price of a model from any provider, if `model` is `provider/model` or all providers
    /// charge the same.
    pub fn find_any(&self, kind: &str, model: &str, day: Date) -> Option<Price> {
        let by_provider = model
            .split_once('/')
            .and_then(|(provider, model)| self.find(provider, kind, model, day));
        if let Some(price) = by_provider {
            return Some(price.at_any_time());
        }
        let mut providers: Vec<&str> = self.rows().map(|row| row.provider.as_str()).collect();
        providers.sort_unstable();
        providers.dedup();
        let prices = providers
            .into_iter()
            .filter_map(|provider| self.find(provider, kind, model, day));
        let prices: Vec<Price> = prices.map(Price::at_any_time).collect();
        let (first, others) = prices.split_first()?;
        // They may differ in the terms that they offer; the most expensive ones make the bound.
        others
            .iter()
            .all(|price| price.has_rates_of(first))
            .then(|| {
                others.iter().fold(*first, |dearest, price| {
                    if price.surcharges.dearest() > dearest.surcharges.dearest() {
                        *price
                    } else {
                        dearest
                    }
                })
            })
    }
}

impl PriceRow {
    /// The prices of standard calls on a day, for models that are paid by tokens of input and
    /// output.
    pub fn rates_on(&self, day: Date) -> Option<TokenRates> {
        let rates = |input| TokenRates {
            input,
            output: 0.0,
            cached: self.cached,
        };
        let by_input = self.input.map(rates);
        self.price(day).map_or(by_input, |price| Some(price.rates))
    }

    fn price(&self, day: Date) -> Option<Price> {
        let mut price = Price {
            rates: TokenRates {
                input: self.input?,
                output: self.output?,
                cached: self.cached,
            },
            written: self.cache_write.filter(|price| *price > 0.0),
            long: self.long_context.as_ref().map(|long| {
                let rates = TokenRates {
                    input: long.input,
                    output: long.output,
                    cached: long.cached,
                };
                (long.above_input_tokens, rates)
            }),
            off_peak: self.off_peak.as_ref().map(|off_peak| {
                let rates = TokenRates {
                    input: off_peak.input,
                    output: off_peak.output,
                    cached: off_peak.cached,
                };
                (off_peak.hours(), rates)
            }),
            written_long: self.cache_write_long.filter(|price| *price > 0.0),
            batch: discount(self.batch_factor, self.cached_batch),
            surcharges: Surcharges {
                priority: discount(self.priority_factor, self.cached_priority),
                flex: discount(self.flex_factor, self.cached_flex),
                ultrafast: discount(self.ultrafast_factor, self.cached_ultrafast),
                regional: self.regional_factor,
                us_only: self.us_factor,
                fast_mode: self.fast_factor,
            },
        };
        if let Some(change) = self
            .price_change
            .as_ref()
            .filter(|change| change.from <= day)
        {
            let before = price.rates;
            // If a new price has no rate for cached input, that rate is assumed to change in
            // proportion.
            let rise = ratio(change.input, before.input);
            price.rates = TokenRates {
                input: change.input,
                output: change.output,
                cached: change.cached.or(before.cached.map(|cached| cached * rise)),
            };
            price.off_peak = None;
            let plain = |discount: Discount| Discount::of(discount.factor);
            price.batch = price.batch.map(plain);
            for tier in [
                &mut price.surcharges.priority,
                &mut price.surcharges.flex,
                &mut price.surcharges.ultrafast,
            ] {
                *tier = tier.map(plain);
            }
        }
        Some(price)
    }
}

fn discount(factor: Option<f64>, cached: Option<f64>) -> Option<Discount> {
    factor.map(|factor| Discount { factor, cached })
}

/// `gpt-6-luna-2026-09-01` and `claude-haiku-5-5-20260901` without the date.
fn undated(id: &str) -> &str {
    let end = id.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    let date = &id[end.len()..];
    for length in [11, 9] {
        if let Some(at) = date.len().checked_sub(length)
            && date.as_bytes().get(at) == Some(&b'-')
            && date[at..].bytes().filter(u8::is_ascii_digit).count() == 8
        {
            return &id[..end.len() + at];
        }
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use CacheWrites as Writes;
    use jiff::civil::date;

    fn usage(input: u64, cached: u64, output: u64) -> Usage {
        Usage {
            input,
            cached,
            output,
            thinking: 0,
        }
    }

    const NONE: Writes = Writes { tokens: 0, long: 0 };
    const STANDARD: BillingTerms = BillingTerms {
        tier: ServiceTier::Default,
        regional: false,
        us_only: false,
        fast_mode: false,
        long_cache: false,
    };

    fn written(tokens: u64) -> Writes {
        Writes { tokens, long: 0 }
    }

    fn find(provider: &str, model: &str) -> Option<Price> {
        PriceTable::embedded().find(provider, "chat", model, date(2026, 11, 21))
    }

    fn range(dearest: BillingTerms) -> TermsRange {
        TermsRange {
            dearest,
            ..TermsRange::default()
        }
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn the_embedded_table_is_a_table() {
        let prices = PriceTable::parse(TABLE).unwrap();
        assert!(prices.models.len() > 50);
        for (provider, model) in [
            ("openai", "gpt-6.1-terra"),
            ("openai", "gpt-6.2-sol"),
            ("anthropic", "claude-sonnet-5-5"),
            ("gemini", "gemini-3.8-flash"),
            ("openai", "gpt-6.1-terra-2026-09-01"),
            ("anthropic", "claude-haiku-5-5-20260901"),
        ] {
            assert!(find(provider, model).is_some(), "{model}");
        }
        assert!(find("openai", "gpt-9").is_none());
        assert!(find("azure", "claude-opus-5").is_none());
    }

    #[test]
    fn cached_written_and_long_input_have_their_own_rates() {
        let terra = find("openai", "gpt-6.1-terra").unwrap();
        near(terra.cost(&usage(1_000_000, 0, 0), NONE), 2.0);
        near(terra.cost(&usage(100_000, 0, 10_000), NONE), 0.15);
        near(terra.cost(&usage(100_000, 100_000, 0), NONE), 0.005);
        near(terra.cost(&usage(100_000, 0, 0), written(100_000)), 0.125);
        near(
            terra.cost(&usage(100, 900, 0), written(900)),
            100.0 * 0.05 / 1e6,
        );
        let haiku = find("anthropic", "claude-haiku-5-5").unwrap();
        near(haiku.cost(&usage(100_000, 0, 0), NONE), 0.01);
        near(haiku.cost(&usage(100_001, 0, 0), NONE), 0.0500005);
        near(
            terra.worst(&usage(100_000, 100_000, 0), &range(STANDARD)),
            0.125,
        );
    }

    #[test]
    fn a_call_costs_what_its_terms_say() {
        let on = |model: (&str, &str), terms: BillingTerms| {
            let price = find(model.0, model.1).unwrap().on(terms);
            10.0 * price.cost(&usage(100_000, 0, 100_000), NONE)
        };
        let tier = |tier| BillingTerms { tier, ..STANDARD };
        let mini = ("openai", "gpt-5.4-mini");
        near(on(mini, STANDARD), 5.25);
        near(on(mini, tier(ServiceTier::Priority)), 10.5);
        near(on(mini, tier(ServiceTier::Flex)), 2.625);
        let regional = BillingTerms {
            regional: true,
            ..STANDARD
        };
        near(on(mini, regional), 5.775);
        // A model that is not sold on these terms is billed on standard ones.
        near(on(mini, tier(ServiceTier::Ultrafast)), 5.25);
        near(on(("openai", "gpt-5.5"), tier(ServiceTier::Priority)), 87.5);
        near(
            on(("gemini", "gemini-3.8-flash"), tier(ServiceTier::Priority)),
            8.1,
        );
        let astra = find("openai", "gpt-6-astra").unwrap();
        let fastest = astra.on(tier(ServiceTier::Ultrafast));
        near(fastest.cost(&usage(100_000, 0, 0), NONE), 6.0);
        let opus = ("anthropic", "claude-opus-5-5");
        let us_only = BillingTerms {
            us_only: true,
            ..STANDARD
        };
        let fast_in_us = BillingTerms {
            fast_mode: true,
            ..us_only
        };
        near(on(opus, us_only), 26.4);
        near(on(opus, fast_in_us), 52.8);
        // A batch has no tiers, but it stays in its region.
        let batched = find(opus.0, opus.1).unwrap().batched().unwrap();
        let cost = batched.on(fast_in_us).cost(&usage(1_000_000, 0, 0), NONE);
        near(cost, 2.2);
    }

    #[test]
    fn a_call_whose_tier_the_account_decides_may_cost_the_most_expensive_one() {
        let astra = find("openai", "gpt-6-astra").unwrap();
        let open = TermsRange {
            any_tier: true,
            ..TermsRange::default()
        };
        let million = usage(100_000, 0, 0);
        // Six times the price of input that is written to a cache.
        near(astra.worst(&million, &open), 7.5);
        near(astra.worst(&million, &range(STANDARD)), 1.25);
        let haiku = find("anthropic", "claude-haiku-5-5").unwrap();
        near(
            haiku.worst(&million, &open),
            haiku.worst(&million, &range(STANDARD)),
        );
    }

    #[test]
    fn off_peak_calls_cost_their_price_and_the_bound_is_that_of_peak_times() {
        let flash = find("deepseek", "deepseek-v4-flash").unwrap();
        let million = usage(1_000_000, 0, 1_000_000);
        let at = |time: &str| flash.served_at(time.parse().unwrap()).cost(&million, NONE);
        // A Thursday and a Saturday.
        near(at("2026-11-26T02:00:00Z"), 1.5);
        near(at("2026-11-26T12:00:00Z"), 0.75);
        near(at("2026-11-28T02:00:00Z"), 0.75);
        near(flash.cost(&million, NONE), 1.5);
        near(flash.worst(&million, &range(STANDARD)), 1.5);
        let table = PriceTable::embedded();
        let resold = table.find_any("chat", "deepseek/deepseek-v4-flash", date(2026, 11, 21));
        let resold = resold
            .unwrap()
            .served_at("2026-11-26T12:00:00Z".parse().unwrap());
        near(resold.cost(&million, NONE), 1.5);
    }

    #[test]
    fn a_cache_that_is_kept_longer_costs_more() {
        let sonnet = find("anthropic", "claude-sonnet-5-5").unwrap();
        let writes = Writes {
            tokens: 600_000,
            long: 400_000,
        };
        near(
            sonnet.cost(&usage(1_000_000, 0, 0), writes),
            0.8 + 0.5 + 1.6,
        );
        let longer = BillingTerms {
            long_cache: true,
            ..STANDARD
        };
        near(sonnet.worst(&usage(100_000, 0, 0), &range(STANDARD)), 0.25);
        near(sonnet.worst(&usage(100_000, 0, 0), &range(longer)), 0.4);
        let haiku = find("anthropic", "claude-haiku-5-5").unwrap();
        near(haiku.worst(&usage(1_000_000, 0, 0), &range(longer)), 1.0);
        let terra = find("openai", "gpt-6.1-terra").unwrap();
        near(terra.worst(&usage(100_000, 0, 0), &range(longer)), 0.25);
    }

    #[test]
    fn a_price_of_any_seller_has_the_dearest_terms() {
        let day = date(2026, 11, 21);
        let any = PriceTable::embedded().find_any("chat", "gpt-6.1-terra", day);
        let priority = BillingTerms {
            tier: ServiceTier::Priority,
            ..STANDARD
        };
        near(
            any.unwrap().on(priority).cost(&usage(1_000, 0, 100), NONE),
            0.003,
        );
    }

    #[test]
    fn a_batch_costs_half_where_there_is_one() {
        let terra = find("openai", "gpt-6.1-terra").unwrap();
        near(
            terra
                .batched()
                .unwrap()
                .cost(&usage(100_000, 0, 10_000), NONE),
            0.075,
        );
        let lite = find("gemini", "gemini-3.5-flash-lite").unwrap();
        near(
            lite.batched()
                .unwrap()
                .cost(&usage(100_000, 100_000, 0), NONE),
            0.002,
        );
        assert_eq!(find("azure", "gpt-6.1-terra").unwrap().batched(), None);
    }

    #[test]
    fn an_announced_price_is_used_from_its_day() {
        let cost = |day| {
            let price = PriceTable::embedded().find("gemini", "chat", "gemini-3.8-flash", day);
            price.unwrap().cost(&usage(1_000_000, 0, 0), NONE)
        };
        near(cost(date(2026, 12, 31)), 0.75);
        near(cost(date(2027, 1, 1)), 1.5);
    }

    #[test]
    fn rerankers_are_priced_by_tokens_or_by_searches() {
        let find = |provider, model| PriceTable::embedded().find_rerank(provider, model);
        assert_eq!(
            find("zeroentropy", "zerank-2"),
            Some(RerankPrice::Tokens(0.025))
        );
        assert_eq!(
            find("cohere", "rerank-v3.5"),
            Some(RerankPrice::Searches(0.002))
        );
        assert_eq!(
            find("cohere", "rerank-v5.0-pro"),
            Some(RerankPrice::Tokens(0.05))
        );
        assert_eq!(
            find("voyage", "rerank-3-lite"),
            Some(RerankPrice::Tokens(0.02))
        );
        assert_eq!(find("jina", "jina-reranker-v3"), None);
        assert_eq!(find("cohere", "gpt-6-luna"), None);
        assert_eq!(
            RerankPrice::Tokens(0.05).cost(Some(2_000_000), None),
            Some(0.1)
        );
        assert_eq!(
            RerankPrice::Searches(0.002).cost(None, Some(3.0)),
            Some(0.006)
        );
        assert_eq!(RerankPrice::Searches(0.002).cost(Some(9), None), None);
        let rates = |input, search| RerankRates { input, search }.price();
        assert_eq!(rates(Some(0.0), None), Ok(RerankPrice::Free));
        assert!(rates(None, None).is_err() && rates(Some(1.0), Some(1.0)).is_err());
        assert!(rates(Some(-1.0), None).is_err() && rates(None, Some(f64::NAN)).is_err());
    }

    #[test]
    fn decisions_are_priced_apart_from_chat() {
        let day = date(2026, 11, 21);
        let decisions = PriceTable::embedded().find("openai", "decisions", "gpt-6-luna", day);
        near(decisions.unwrap().cost(&usage(1_000_000, 0, 5), NONE), 0.1);
    }
}
