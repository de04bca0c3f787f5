//! Answers to reranking questions, of judges and of rerank services, by a relevance that the
//! documents state themselves.

use super::answer::{CURE, hash};
use super::wire::Dialect;
use serde_json::{Value, json};

/// The relevance that a text states as `relevance=0.73` or, at its start, `relevance 0.73`; else
/// one that follows from its words: how many of the query's it has.
pub(crate) fn relevance(query: &str, text: &str) -> f64 {
    let number = |rest: &str| {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || ".-".contains(c)));
        let digits = rest.get(..end.unwrap_or(rest.len()))?;
        digits.trim_end_matches('.').parse::<f64>().ok()
    };
    let stated = text.split_once("relevance=").map(|(_, rest)| rest);
    stated
        .or_else(|| text.trim_start().strip_prefix("relevance "))
        .and_then(number)
        .unwrap_or_else(|| {
            let words = |text: &str| -> Vec<String> {
                let text = text.to_lowercase();
                let words = text.split(|c: char| !c.is_alphanumeric());
                words
                    .filter(|word| word.len() > 2)
                    .map(str::to_owned)
                    .collect()
            };
            let (asked, there) = (words(query), words(text));
            let shared = asked.iter().filter(|word| there.contains(word)).count();
            shared as f64 / asked.len().max(1) as f64
        })
}

/// A reranking question as a prompt shows it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    query: String,
    documents: Vec<String>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Rank,
    Select(usize),
    Best,
    BestWorst,
    Winner,
    Link,
    Grade,
    YesNo,
    Revise,
}

impl Asked {
    /// The question of a prompt, where it is one.
    pub(crate) fn of(prompt: &str) -> Option<Self> {
        let kind = if prompt.contains("\"ranking\" holds every number") {
            Kind::Rank
        } else if let Some((_, count)) = prompt.rsplit_once("\"selected\" holds exactly ") {
            Kind::Select(count.split(' ').next()?.parse().ok()?)
        } else if prompt.contains("\"best\" is its number") {
            Kind::Best
        } else if prompt.contains("\"best\" and \"worst\" are their numbers") {
            Kind::BestWorst
        } else if prompt.contains("serves its own query better? Answer") {
            Kind::Link
        } else if prompt.contains("\"winner\" is \"A\"") {
            Kind::Winner
        } else if prompt.contains("\"grade\" is 0") {
            Kind::Grade
        } else if prompt.contains("nothing else: Yes or No.") {
            Kind::YesNo
        } else if prompt.contains("\"prompt\" holds the complete new instructions") {
            Kind::Revise
        } else {
            return None;
        };
        let between = |name: &str| {
            let (_, after) = prompt.split_once(&format!("[[{name} "))?;
            let (_, text) = after.split_once('\n')?;
            let (text, _) = text.split_once(&format!("\n[[/{name} "))?;
            Some(text.to_owned())
        };
        let documents = match kind {
            Kind::Winner | Kind::Link => vec![between("document A")?, between("document B")?],
            Kind::Grade | Kind::YesNo => vec![between("document")?],
            Kind::Revise => (1..)
                .map_while(|number| between(&format!("judgment {number}")))
                .collect(),
            _ => (1..)
                .map_while(|number| between(&format!("document {number}")))
                .collect(),
        };
        Some(Self {
            query: ["query", "query A", "instructions"]
                .into_iter()
                .find_map(between)?,
            documents,
            kind,
        })
    }

    /// The same for the same texts in the same order.
    pub(crate) fn key(&self) -> String {
        let kind = format!("{:?}", self.kind);
        let mut parts = vec![kind.as_str(), &self.query];
        parts.extend(self.documents.iter().map(String::as_str));
        let digest = hash(&parts);
        digest[..4]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// How likely a model holds the one document shown to be relevant.
    pub(crate) fn probability(&self) -> Option<f64> {
        (self.kind == Kind::YesNo)
            .then(|| relevance(&self.query, &self.documents[0]).clamp(0.0, 1.0))
    }

    /// The answer of a model that sees the relevance as it is, and equal ones in the order of their
    /// texts.
    pub(crate) fn answer(&self) -> String {
        let of = |at: &usize| relevance(&self.query, &self.documents[*at - 1]);
        let mut order: Vec<usize> = (1..=self.documents.len()).collect();
        order.sort_by(|x, y| {
            let texts = self.documents[*x - 1].cmp(&self.documents[*y - 1]);
            of(y).total_cmp(&of(x)).then(texts)
        });
        let answer = match self.kind {
            Kind::Rank => json!({ "ranking": order }),
            Kind::Select(count) => json!({ "selected": order[..count.min(order.len())] }),
            Kind::Best => json!({ "best": order[0] }),
            Kind::BestWorst => json!({ "best": order[0], "worst": order.last() }),
            Kind::Winner | Kind::Link => json!({ "winner": if order[0] == 1 { "A" } else { "B" } }),
            Kind::Grade => json!({ "grade": (3.0 * of(&1)).round().clamp(0.0, 3.0) as i64 }),
            Kind::Revise => json!({ "prompt": format!("{}\n{CURE}", self.query) }),
            Kind::YesNo => return if of(&1) >= 0.5 { "Yes" } else { "No" }.to_owned(),
        };
        answer.to_string()
    }
}

/// The query and the documents of a call to a rerank service.
pub(super) fn sent(body: &Value) -> (String, Vec<String>) {
    let texts = ["documents", "texts", "input", "passages"]
        .iter()
        .find_map(|name| body.get(*name)?.as_array());
    let text = |value: &Value| {
        let text = value.as_str().or_else(|| value["text"].as_str());
        text.unwrap_or_default().to_owned()
    };
    let documents = texts.map(|all| all.iter().map(text).collect());
    (text(&body["query"]), documents.unwrap_or_default())
}

/// The scores of a call, as JSON.
pub(super) fn scores(body: &Value) -> String {
    let (query, documents) = sent(body);
    let scores: Vec<f64> = documents
        .iter()
        .map(|text| relevance(&query, text))
        .collect();
    json!(scores).to_string()
}

/// A service's answer around scores; one without results where the scores are cut.
pub(super) fn reply(dialect: Dialect, model: &str, text: &str, input: usize) -> Value {
    let results = |name| results(text, name);
    let usage = json!({"total_tokens": input});
    match dialect {
        Dialect::TeiRank => json!(results("score")),
        Dialect::ZeroEntropyRank => json!({
            "results": results("relevance_score"), "actual_latency_mode": "fast", "e2e_latency": 0.1,
            "inference_latency": 0.1, "total_bytes": input * 4, "total_tokens": input,
        }),
        Dialect::CohereRank => {
            let results = results("relevance_score");
            let units = if model.starts_with("rerank-v5") {
                json!({"input_tokens": input})
            } else {
                json!({"search_units": results.len().div_ceil(100).max(1)})
            };
            json!({"id": "fake", "results": results, "meta": {"billed_units": units, "warnings": []}})
        }
        Dialect::VoyageRank => {
            json!({"object": "list", "data": results("relevance_score"), "model": model, "usage": usage})
        }
        Dialect::MixedbreadRank => {
            json!({"object": "list", "data": results("score"), "model": model, "usage": usage})
        }
        Dialect::PineconeRank => {
            json!({"data": results("score"), "model": model, "usage": {"rerank_units": 1}})
        }
        Dialect::NimRank => json!({"rankings": results("logit"), "usage": usage}),
        _ => json!({"model": model, "results": results("relevance_score"), "usage": usage}),
    }
}

/// Results around scores, the highest first as services sort them.
fn results(text: &str, name: &str) -> Vec<Value> {
    let scores: Vec<f64> = serde_json::from_str(text).unwrap_or_default();
    let mut results: Vec<(usize, f64)> = scores.into_iter().enumerate().collect();
    results.sort_by(|x, y| y.1.total_cmp(&x.1));
    let result = |(index, score): (usize, f64)| json!({"index": index, name: score});
    results.into_iter().map(result).collect()
}
