//! The request that a judge with a prompt would be sent about a pair.

use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::domain::battle::Pair;
use crate::judge::prompt::Template;
use crate::judge::{JudgeQuestion, PresentedPair};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::sync::Arc;

/// A request that was not sent.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestPreview {
    /// The names of the placeholders that the prompt may use.
    pub placeholders: Vec<&'static str>,
    pub system: String,
    pub message: String,
    /// Estimated number of tokens of the request.
    pub tokens: u64,
    /// Estimated dollars of a call; `None` if the price is unknown.
    pub usd: Option<f64>,
}

/// The request about a pair, the document earlier in the pool first.
///
/// # Errors
/// The text is not a prompt for battles, or the judge cannot be asked.
pub fn request_preview(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    judge: &str,
    text: &str,
    (query, pair): (QueryKey, Pair),
) -> Result<RequestPreview, AppError> {
    let template = Template::parse(text).map_err(AppError::invalid)?;
    let chosen = configuration.choose_changed(judge, text, None)?;
    let judge = chosen.ensemble.first();
    let judge = judge.ok_or_else(|| invalid!("{judge:?} is not in overrule.toml"))?;
    let pool = store.read_blocking(move |db| db.pool_text(query, Some(pair.high() + 1)))?;
    let case = PresentedPair {
        pool: Arc::new(pool),
        first: pair.low(),
        second: pair.high(),
    };
    let prompt = judge.prompt(JudgeQuestion::Pair(&case));
    let (usage, usd) = judge.estimate(&prompt);
    Ok(RequestPreview {
        placeholders: template.answer.names().to_vec(),
        system: prompt.system,
        message: prompt.user,
        tokens: usage.input,
        usd,
    })
}
