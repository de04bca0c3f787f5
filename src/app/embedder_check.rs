//! Checks an embedder by embedding one short text.

use crate::app::judge_check::CheckResult;
use crate::domain::{number_words, sanitize};
use crate::embedding::Embedder;

/// A text that any embedder can embed.
const TEXT: &str = "Paris is the capital of France.";

/// The check result for an embedder without a call.
pub fn configured(embedder: &Embedder) -> CheckResult {
    let price = price(embedder, &[TEXT.to_owned()]);
    CheckResult::new(true, format!("{}: not called; {price}", embedder.model))
}

/// Embeds one short text.
pub async fn examine(embedder: &Embedder) -> CheckResult {
    let texts = [embedder.passage(TEXT)];
    match embedder.embed(&texts).await {
        Ok(embedded) if embedded.vectors.iter().any(Vec::is_empty) => {
            CheckResult::new(false, "the vector is empty, zero or not finite".to_owned())
                .remedy("check the model that the server serves")
        }
        Ok(embedded) => {
            let dimensions = embedded.vectors.first().map_or(0, Vec::len);
            let cost = match embedded.exchange.cost_usd {
                Some(usd) if usd > 0.0 => format!(
                    "this check cost {}, not counted in the project's spending",
                    number_words::usd(usd)
                ),
                _ => price(embedder, &texts).to_owned(),
            };
            let ms = 1e3 * embedded.exchange.latency.as_secs_f64();
            let served = embedded
                .exchange
                .model
                .filter(|served| !embedder.model.ends_with(served.as_str()));
            let served = served.map_or_else(String::new, |served| {
                format!(" (answers as {})", sanitize::line(&served))
            });
            let found = format!(
                "{}{served}: vectors of {dimensions} dimensions; {ms:.1} ms per call; {cost}",
                embedder.model
            );
            CheckResult::new(true, found)
        }
        Err(error) => CheckResult::new(false, error.cause.to_string()).remedy(error.message),
    }
}

fn price(embedder: &Embedder, texts: &[String]) -> &'static str {
    match embedder.worst_usd(texts) {
        Some(usd) if usd > 0.0 => "price known",
        Some(_) => "free",
        None => "price unknown",
    }
}
