//! Checks a reranker with one small query and two documents, of which the relevant one must score
//! higher.

use crate::app::judge_check::CheckResult;
use crate::app::text_format::counted;
use crate::domain::corpus::DocId;
use crate::domain::number_words::{self, fixed};
use crate::judge::CallError;
use crate::judge::reranker::{
    AskedJudges, AskedPair, JudgeFailure, PairReply, RerankCandidate, Reranker,
};
use futures::FutureExt as _;
use futures::future::BoxFuture;

const QUERY: &str = "What is the capital of France?";
/// The relevant document comes last, so a reranker that keeps the order fails.
const DOCUMENTS: [&str; 2] = [
    "Rome is the capital of Italy.",
    "Paris is the capital of France.",
];

fn candidates() -> Vec<RerankCandidate> {
    let numbered = (1..).zip(DOCUMENTS);
    let candidate =
        |(number, text): (i32, &str)| (DocId::new(format!("doc-{number}")), text.into());
    numbered.map(candidate).collect()
}

/// The check result for a reranker without a call.
pub fn configured(reranker: &Reranker) -> CheckResult {
    let (model, price) = (reranker.model(), price(reranker));
    let said = if reranker.is_remote() {
        format!("{model}: not called; {price}")
    } else {
        format!("{model}: not started")
    };
    CheckResult {
        remedy: unpriced(reranker),
        ..CheckResult::new(true, said)
    }
}

/// Asks for the scores of two documents.
pub async fn examine(reranker: &Reranker) -> CheckResult {
    let judges = reranker
        .asks_judges()
        .then_some(&NoJudges as &dyn AskedJudges);
    let scored = match reranker.score(QUERY, &candidates(), judges).await {
        Ok(_) if reranker.asks_judges() => {
            let said = format!("it answers without its judges: {}", reranker.model());
            return CheckResult::new(true, said);
        }
        Ok(scored) => scored,
        Err(error) => {
            return CheckResult::new(false, error.cause.to_string()).remedy(error.message);
        }
    };
    let [wrong, right] = scored.scores[..] else {
        let scores = counted(scored.scores.len(), "score");
        return CheckResult::new(
            false,
            format!("the reranker returned {scores} for two documents"),
        );
    };
    let exchange = &scored.exchange;
    let mut about = vec![reranker.model().to_owned()];
    if !scored.places_only {
        about.push(format!(
            "scores {} and {}",
            fixed(right, 3),
            fixed(wrong, 3)
        ));
    }
    about.push(format!(
        "{:.1} ms per call",
        1e3 * exchange.latency.as_secs_f64()
    ));
    if reranker.is_remote() {
        about.push(match exchange.cost_usd {
            Some(usd) if usd > 0.0 => format!(
                "this check cost {}, not counted in the project's spending",
                number_words::usd(usd)
            ),
            _ => price(reranker).to_owned(),
        });
    }
    let about = about.join("; ");
    if right > wrong {
        CheckResult {
            remedy: unpriced(reranker),
            ..CheckResult::new(true, format!("the better document scores higher: {about}"))
        }
    } else {
        CheckResult::new(
            false,
            format!("the better document does not score higher: {about}"),
        )
        .remedy(
            "it scores Rome higher as the capital of France: check its model and its params, and \
             whether its higher scores are better",
        )
    }
}

/// Judges that a check does not ask.
struct NoJudges;

impl AskedJudges for NoJudges {
    fn ask<'a>(
        &'a self,
        pairs: &'a [AskedPair],
    ) -> BoxFuture<'a, Result<Vec<PairReply>, CallError>> {
        let failure = JudgeFailure {
            judge: "doctor".to_owned(),
            error: "a check asks no judge".to_owned(),
        };
        let reply = PairReply::new(Vec::new(), vec![failure]);
        std::future::ready(Ok(vec![reply; pairs.len()])).boxed()
    }
}

fn price(reranker: &Reranker) -> &'static str {
    match reranker.worst(QUERY, &candidates()).1 {
        Some(usd) if usd > 0.0 => "price known",
        Some(_) => "free",
        None => "price unknown",
    }
}

fn unpriced(reranker: &Reranker) -> Option<String> {
    (price(reranker) == "price unknown").then(|| {
        "set `price` in overrule.toml, by input or by search; without it, spending is not counted \
         and --budget is refused"
            .to_owned()
    })
}
