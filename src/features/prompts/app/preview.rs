//! The request that a judge with a prompt would be sent about a pair.

use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::domain::battle::Pair;
use crate::domain::sanitize;
use crate::judge::prompt::Template;
use crate::judge::{JudgeQuestion, PresentedPair};
use crate::store::corpus::QueryKey;
use crate::store::{self, Db, Store};
use std::sync::Arc;

/// A request that was not sent.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestPreview {
    /// The query and the documents, in words.
    pub about: String,
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
    let missing = || invalid!("{:?} is not in overrule.toml", sanitize::line(judge));
    let judge = chosen.ensemble.first().ok_or_else(missing)?;
    let (pool, about) = store.read_blocking(move |db| {
        let pool = db.pool_text(query, Some(pair.high() + 1))?;
        Ok((pool, about(db, query, pair)?))
    })?;
    let case = PresentedPair {
        pool: Arc::new(pool),
        first: pair.low(),
        second: pair.high(),
    };
    let prompt = judge.prompt(JudgeQuestion::Pair(&case));
    let (usage, usd) = judge.estimate(&prompt);
    Ok(RequestPreview {
        about,
        placeholders: template.answer.placeholders().collect(),
        system: prompt.system,
        message: prompt.user,
        tokens: usage.input,
        usd,
    })
}

/// A query and a pair of its documents in words.
fn about(db: &Db, query: QueryKey, pair: Pair) -> store::Result<String> {
    let name = db.query(query)?.id;
    let low = db.document_title(query, pair.low())?;
    let high = db.document_title(query, pair.high())?;
    Ok(format!("{}: {low} × {high}", name.as_str()))
}
