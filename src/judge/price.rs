//! What tokens cost: the embedded table, the user's own, and the arithmetic. An unknown model has no price, not a zero one.

use super::call::Usage;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// The embedded table, in US dollars for a million tokens.
pub const TABLE: &str = include_str!("../../assets/prices.json");

const MILLION: f64 = 1e6;

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenRates {
    pub input: f64,
    /// Output, thinking included.
    pub output: f64,
    /// Input read from a cache; as `input` where it is not given.
    #[serde(default)]
    pub cached: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    rates: TokenRates,
    /// Input written to a cache.
    written: Option<f64>,
    /// Above so many input tokens, the whole call has these rates.
    long: Option<(u64, TokenRates)>,
    /// What a call in a batch costs of one outside, with cached input apart.
    batch: Option<(f64, Option<f64>)>,
}

impl From<TokenRates> for Price {
    /// The user's own price; batches at half of it, as at all three providers that have them.
    fn from(rates: TokenRates) -> Self {
        Self {
            rates,
            written: None,
            long: None,
            batch: Some((0.5, None)),
        }
    }
}

impl Price {
    /// What nobody charges for.
    pub const FREE: Self = Self {
        rates: TokenRates {
            input: 0.0,
            output: 0.0,
            cached: None,
        },
        written: None,
        long: None,
        batch: Some((1.0, None)),
    };

    pub fn is_free(&self) -> bool {
        let free = |rates: TokenRates| [Some(rates.input), Some(rates.output), rates.cached];
        let long = self.long.map(|(_, rates)| free(rates));
        let all = free(self.rates)
            .into_iter()
            .chain(long.into_iter().flatten())
            .chain([self.written]);
        all.flatten().all(|price| price == 0.0)
    }

    /// Dollars for one call; `written` of its input tokens went into a cache.
    pub fn cost(&self, usage: &Usage, written: u64) -> f64 {
        let rates = self.at(usage.input);
        let dear = self.written.map_or(rates.input, |price| {
            price * ratio(rates.input, self.rates.input)
        });
        let cached = usage.cached.min(usage.input);
        let written = written.min(usage.input - cached);
        let plain = usage.input - cached - written;
        (plain as f64 * rates.input
            + cached as f64 * rates.cached.unwrap_or(rates.input)
            + written as f64 * dear
            + usage.output as f64 * rates.output)
            / MILLION
    }

    /// The prices within a batch, or `None` where the model has none there.
    pub fn batched(&self) -> Option<Self> {
        let (factor, cached) = self.batch?;
        let cut = |rates: TokenRates| TokenRates {
            input: rates.input * factor,
            output: rates.output * factor,
            cached: rates.cached.map(|price| price * factor),
        };
        let mut rates = cut(self.rates);
        // Some tables round the cached price of batches; the table's own number is what is charged.
        rates.cached = cached.or(rates.cached);
        Some(Self {
            rates,
            written: self.written.map(|price| price * factor),
            long: self.long.map(|(above, rates)| (above, cut(rates))),
            batch: None,
        })
    }

    /// Dollars at the very most for so many tokens: nothing comes from a cache, all of it is written to one.
    pub fn worst(&self, usage: &Usage) -> f64 {
        let none = Usage {
            cached: 0,
            ..*usage
        };
        self.cost(&none, 0).max(self.cost(&none, none.input))
    }

    fn at(&self, input: u64) -> TokenRates {
        match self.long {
            Some((above, rates)) if input > above => rates,
            _ => self.rates,
        }
    }
}

/// The user's own price of a reranker, in US dollars: for a million tokens, or for a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RerankRates {
    pub input: Option<f64>,
    pub search: Option<f64>,
}

/// What a reranker costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RerankPrice {
    Free,
    /// US dollars for a million tokens of queries and documents.
    Tokens(f64),
    /// US dollars for a search, as the service counts them; a call is one where it does not say.
    Searches(f64),
}

impl RerankRates {
    /// The price, where exactly one is given and makes sense.
    ///
    /// # Errors
    /// What is expected.
    pub fn price(self) -> Result<RerankPrice, String> {
        let (price, usd) = match (self.input, self.search) {
            (Some(usd), None) => (RerankPrice::Tokens(usd), usd),
            (None, Some(usd)) => (RerankPrice::Searches(usd), usd),
            _ => {
                return Err("price: expected input, dollars for a million tokens, or search, dollars for a search".to_owned());
            }
        };
        match usd {
            0.0 => Ok(RerankPrice::Free),
            usd if usd.is_finite() && usd > 0.0 => Ok(price),
            _ => Err("price: expected dollars from 0".to_owned()),
        }
    }
}

impl RerankPrice {
    /// Dollars for so many tokens and searches; `None` where what is paid for was not counted.
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
    models: Vec<PriceRow>,
    #[serde(default)]
    not_in_litellm_1_109_1: Vec<PriceRow>,
}

#[derive(Clone, Debug, Deserialize)]
struct PriceRow {
    id: String,
    provider: String,
    #[serde(default = "chat")]
    kind: String,
    input: Option<f64>,
    output: Option<f64>,
    cached: Option<f64>,
    cache_write: Option<f64>,
    batch_factor: Option<f64>,
    cached_batch: Option<f64>,
    usd_per_search_unit: Option<f64>,
    long_context: Option<LongContext>,
    price_change: Option<PriceChange>,
}

#[derive(Clone, Debug, Deserialize)]
struct LongContext {
    above_input_tokens: u64,
    input: f64,
    output: f64,
    cached: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
struct PriceChange {
    from: Date,
    input: f64,
    output: f64,
    cached: Option<f64>,
}

fn chat() -> String {
    "chat".to_owned()
}

impl PriceTable {
    pub fn embedded() -> &'static Self {
        static PRICES: OnceLock<PriceTable> = OnceLock::new();
        // A test reads the table, so that the default is never met.
        PRICES.get_or_init(|| serde_json::from_str(TABLE).unwrap_or_default())
    }

    /// A table in the form of the embedded one; only `models` with id, provider, input and output are needed.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("not a table of prices: {error}"))
    }

    /// What `model` costs at `provider` on `day`, for chat or for decisions. A date at the end of the id does not matter.
    pub fn find(&self, provider: &str, kind: &str, model: &str, day: Date) -> Option<Price> {
        let rows = || self.models.iter().chain(&self.not_in_litellm_1_109_1);
        let row = |id: &str| {
            rows().find(|row| row.provider == provider && row.kind == kind && row.id == id)
        };
        let id = model.strip_prefix("models/").unwrap_or(model);
        row(id).or_else(|| row(undated(id)))?.price(day)
    }

    /// What `model` costs as a reranker of `provider`.
    pub fn find_rerank(&self, provider: &str, model: &str) -> Option<RerankPrice> {
        let mut rows = self.models.iter().chain(&self.not_in_litellm_1_109_1);
        let row =
            rows.find(|row| row.provider == provider && row.kind == "rerank" && row.id == model)?;
        let searches = row.usd_per_search_unit.map(RerankPrice::Searches);
        searches.or(row.input.map(RerankPrice::Tokens))
    }

    /// What a model costs wherever it is sold, where `model` is `provider/model` or all who sell it ask the same.
    pub fn find_any(&self, kind: &str, model: &str, day: Date) -> Option<Price> {
        let by_provider = model
            .split_once('/')
            .and_then(|(provider, model)| self.find(provider, kind, model, day));
        if by_provider.is_some() {
            return by_provider;
        }
        let rows = self.models.iter().chain(&self.not_in_litellm_1_109_1);
        let mut providers: Vec<&str> = rows.map(|row| row.provider.as_str()).collect();
        providers.sort_unstable();
        providers.dedup();
        let prices = providers
            .into_iter()
            .filter_map(|provider| self.find(provider, kind, model, day));
        let prices: Vec<Price> = prices.collect();
        let (first, others) = prices.split_first()?;
        others.iter().all(|price| price == first).then_some(*first)
    }
}

impl PriceRow {
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
            batch: self.batch_factor.map(|factor| (factor, self.cached_batch)),
        };
        if let Some(change) = self
            .price_change
            .as_ref()
            .filter(|change| change.from <= day)
        {
            let before = price.rates;
            // A new price without one for cached input: that one is taken to rise with the rest.
            let rise = ratio(change.input, before.input);
            price.rates = TokenRates {
                input: change.input,
                output: change.output,
                cached: change.cached.or(before.cached.map(|cached| cached * rise)),
            };
            price.batch = price.batch.map(|(factor, _)| (factor, None));
        }
        Some(price)
    }
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
    use jiff::civil::date;

    fn usage(input: u64, cached: u64, output: u64) -> Usage {
        Usage {
            input,
            cached,
            output,
            thinking: 0,
        }
    }

    fn find(provider: &str, model: &str) -> Option<Price> {
        PriceTable::embedded().find(provider, "chat", model, date(2026, 11, 21))
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
        near(terra.cost(&usage(1_000_000, 0, 0), 0), 2.0);
        near(terra.cost(&usage(100_000, 0, 10_000), 0), 0.15);
        near(terra.cost(&usage(100_000, 100_000, 0), 0), 0.005);
        near(terra.cost(&usage(100_000, 0, 0), 100_000), 0.125);
        near(terra.cost(&usage(100, 900, 0), 900), 100.0 * 0.05 / 1e6);
        let haiku = find("anthropic", "claude-haiku-5-5").unwrap();
        near(haiku.cost(&usage(100_000, 0, 0), 0), 0.01);
        near(haiku.cost(&usage(100_001, 0, 0), 0), 0.0500005);
        near(terra.worst(&usage(100_000, 100_000, 0)), 0.125);
    }

    #[test]
    fn a_batch_costs_half_where_there_is_one() {
        let terra = find("openai", "gpt-6.1-terra").unwrap();
        near(
            terra.batched().unwrap().cost(&usage(100_000, 0, 10_000), 0),
            0.075,
        );
        let lite = find("gemini", "gemini-3.5-flash-lite").unwrap();
        near(
            lite.batched().unwrap().cost(&usage(100_000, 100_000, 0), 0),
            0.002,
        );
        assert_eq!(find("azure", "gpt-6.1-terra").unwrap().batched(), None);
    }

    #[test]
    fn an_announced_price_is_used_from_its_day() {
        let cost = |day| {
            let price = PriceTable::embedded().find("gemini", "chat", "gemini-3.8-flash", day);
            price.unwrap().cost(&usage(1_000_000, 0, 0), 0)
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
        near(decisions.unwrap().cost(&usage(1_000_000, 0, 5), 0), 0.1);
    }
}
