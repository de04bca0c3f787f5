//! Builds one judge from its configuration: format, address, headers, prompt, price, identity.

use super::config::{FILE, JudgeConfig};
use super::endpoint::{base, options};
use super::reach::{available_key, is_free, patience, reach};
use super::sources::{BuildError, JudgeSources};
use crate::domain::adjudication::PickMode;
use crate::domain::document_cut::DocumentCut;
use crate::formats::file;
use crate::judge::billing::{TermsRange, find_field};
use crate::judge::call::JudgePrompt;
use crate::judge::identity::identity_of;
use crate::judge::metadata::MetadataFields;
use crate::judge::presented::RerankKind;
use crate::judge::price::{Price, PriceTable, TokenRates};
use crate::judge::prompt::{self, AnswerForm, Template};
use crate::judge::provider::http::Http;
use crate::judge::provider::registry::{named_in, unknown_provider};
use crate::judge::provider::service::LOCAL_GIVE_UP_AFTER;
use crate::judge::provider::{ApiConnection, JudgeSettings, Learnt, Provider, RemoteJudge};
use crate::judge::spec::{JudgeLimits, JudgeSpec, OFFLINE};
use jiff::civil::Date;
use serde_json::{Map, Value, json};

/// Parameters that we set ourselves; the user may not set them.
const RESERVED: &[&str] = &[
    "model",
    "messages",
    "system",
    "contents",
    "systemInstruction",
    "input",
    "questions",
    "stream",
    "n",
    "response_format",
    "format",
];
/// Characters per token of a document.
pub(super) const CHARS_PER_TOKEN: usize = 4;

/// The task of a judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JudgeTask {
    Battle,
    Pick(PickMode),
    Rerank(RerankKind),
}

pub(super) fn judge(
    config: &JudgeConfig,
    sources: &JudgeSources<'_>,
    task: JudgeTask,
    own: Option<&PriceTable>,
    http: &Http,
) -> Result<RemoteJudge, BuildError> {
    let provider = named_in(sources.providers, &config.provider)
        .ok_or_else(|| unknown_provider(&config.provider, sources.providers))?;
    let (access, limits) = (provider.access(), provider.limits());
    if let Some(name) = config
        .params
        .keys()
        .find(|name| RESERVED.contains(&name.as_str()))
    {
        let what = format!("params may not hold {name:?}, which is set by the judge itself");
        return Err(what.into());
    }
    if config.model.trim().is_empty() {
        return Err("the model is empty; name one".to_owned().into());
    }
    let reached = reach(config, provider, &access, sources, http)?;
    let metadata = config.metadata.as_ref().map(MetadataFields::of).transpose();
    let metadata = metadata.map_err(|error| error.to_string())?;
    let template = template(config, provider.decides(), sources, task)?;
    let template = match &metadata {
        Some(fields) => template.with_metadata(fields),
        None => template,
    };
    let template = if template.shows_project() {
        template.with_project_texts(&(sources.project_texts)()?)?
    } else {
        template
    };
    let cap = config.max_output_tokens.unwrap_or(limits.cap);
    // A verdict on each document of a pool needs more tokens, and so do instructions.
    let is_long = matches!(template.answer, AnswerForm::Verdicts | AnswerForm::Revision);
    let needs_room = is_told_to_think(&config.params) || is_long;
    let short_cap = limits
        .short_cap
        .filter(|_| cap == limits.cap && !needs_room);
    let by_tokens = config
        .max_document_tokens
        .map(|tokens| tokens.saturating_mul(CHARS_PER_TOKEN));
    let chars = match (config.max_document_chars, by_tokens) {
        (None, None) => limits.document_chars,
        (chars, tokens) => chars
            .unwrap_or(usize::MAX)
            .min(tokens.unwrap_or(usize::MAX)),
    };
    if cap == 0 || chars == 0 {
        return Err("a limit of 0 leaves nothing to judge; remove or raise it"
            .to_owned()
            .into());
    }
    if let Some(rates) = config.price {
        let given = [Some(rates.input), Some(rates.output), rates.cached];
        let sensible = |usd: &f64| usd.is_finite() && *usd >= 0.0;
        if !given.iter().flatten().all(sensible) {
            return Err("price: expected dollars per million tokens, 0 or more"
                .to_owned()
                .into());
        }
    }
    let base_model = config
        .base_model
        .clone()
        .unwrap_or_else(|| config.model.clone());
    let usual = if is_told_to_think(&config.params) {
        access.give_up_after().max(LOCAL_GIVE_UP_AFTER)
    } else {
        access.give_up_after()
    };
    let first_byte = reached.connection.http.timeouts().first_byte;
    let patience = patience(config.give_up_after_s, usual, first_byte)?;
    let mut settings = JudgeSettings {
        spec: JudgeSpec {
            name: config.name.clone(),
            provider: provider.name().to_owned(),
            model: config.model.clone(),
            prompt_hash: template.hash.clone(),
            params: String::new(),
        },
        template,
        metadata,
        cut: DocumentCut { chars },
        cap,
        short_cap,
        params: config.params.clone(),
        seed: None,
        price: price(config, provider, reached.is_free, own, sources.today).map(|(_, price)| price),
        base_model,
        retires: retires(config, provider, own),
        terms: TermsRange::default(),
        limits: JudgeLimits {
            concurrency: config.concurrency.or(limits.concurrency),
            slots_unknown: config.concurrency.is_none() && limits.concurrency.is_some(),
            requests_per_minute: config.requests_per_minute,
            tokens_per_minute: config.tokens_per_minute,
            batch_requests: config.batch_requests,
            give_up_after: patience.0,
            silent_after: patience.1,
        },
        key_env: reached.key_env,
        account: provider.account(),
    };
    let format = provider.format();
    let body = format.build_request(&settings, &JudgePrompt::default(), Learnt::default());
    let url = provider.url(&reached.connection.base, options(config));
    settings.terms = TermsRange::of_request(provider.has_account_tiers(), &url, &body);
    settings.seed = seed_of(&body);
    settings.spec.params = params(body, settings.cut);
    let connection = ApiConnection {
        url,
        ..reached.connection
    };
    Ok(RemoteJudge::of(provider, settings, connection))
}

/// Whether the parameters turn on reasoning. The model may then be silent for minutes and generate
/// many tokens before its answer.
fn is_told_to_think(params: &Map<String, Value>) -> bool {
    let thinks = |(name, value): (&String, &Value)| {
        let of_thinking = ["effort", "thinking", "reasoning"]
            .iter()
            .any(|word| name.contains(word));
        let off = match value {
            Value::Bool(on) => !on,
            Value::Number(budget) => budget.as_f64() == Some(0.0),
            Value::String(level) => matches!(level.as_str(), "" | "none" | "off" | "disabled"),
            Value::Object(inner) => inner.get("type").is_some_and(|kind| kind == "disabled"),
            _ => false,
        };
        (of_thinking || name == "think") && !off
    };
    let inner = params.values().filter_map(Value::as_object).flatten();
    params.iter().chain(inner).any(thinks)
}

fn template(
    config: &JudgeConfig,
    decides: bool,
    sources: &JudgeSources<'_>,
    task: JudgeTask,
) -> Result<Template, BuildError> {
    if let (JudgeTask::Pick(way), false) = (task, decides) {
        return pick_template(config, sources, AnswerForm::of(way));
    }
    if let (JudgeTask::Rerank(kind), false) = (task, decides) {
        let text = prompt::embedded(AnswerForm::of_rerank(kind));
        return Template::parse(text)
            .map_err(|error| format!("the prompt for reranking: {error}").into());
    }
    let named = config
        .prompt
        .as_deref()
        .unwrap_or(if decides { "letter" } else { "score" });
    let given = config.prompt_text.as_deref();
    let text = match given.or_else(|| prompt::battle_prompt(named)) {
        Some(text) => text.to_owned(),
        None => prompt_file(
            sources,
            named,
            "prompt is the name of a built-in prompt (`overrule prompt list`) or a file",
        )?,
    };
    let template = Template::parse(&text).map_err(|error| format!("prompt {named:?}: {error}"))?;
    if !template.answer.is_of_battles() {
        let answer = template.answer.name();
        return Err(format!(
            "prompt {named:?}: asks for {answer}, which is not an answer to a battle; a battle \
             needs a score, a choice or a letter"
        )
        .into());
    }
    Ok(template)
}

/// The template for `answer`, slots or verdicts: the user's own, or else the embedded one.
fn pick_template(
    config: &JudgeConfig,
    sources: &JudgeSources<'_>,
    answer: AnswerForm,
) -> Result<Template, BuildError> {
    let (setting, file, embedded) = match answer {
        AnswerForm::Verdicts => ("verdict_prompt", &config.verdict_prompt, prompt::VERDICTS),
        _ => ("pick_prompt", &config.pick_prompt, prompt::PICK),
    };
    let Some(file) = file else {
        return Template::parse(embedded).map_err(|error| format!("the {setting}: {error}").into());
    };
    let text = prompt_file(sources, file, &format!("{setting} is a file"))?;
    let template =
        Template::parse(&text).map_err(|error| format!("{setting} {file:?}: {error}"))?;
    if template.answer != answer {
        let (given, wanted) = (template.answer.name(), answer.name());
        return Err(format!(
            "{setting} {file:?}: asks for {given}; begin it with \"answer: {wanted}\""
        )
        .into());
    }
    Ok(template)
}

fn prompt_file(sources: &JudgeSources<'_>, path: &str, rule: &str) -> Result<String, BuildError> {
    let path = sources.folder.join(path);
    file::read_to_string(&path)
        .map_err(|error| format!("{}: cannot be read: {error}; {rule}", path.display()).into())
}

/// The price of a configured judge, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct KnownPrice {
    /// Where the price comes from; `None` if it is unknown.
    pub from: Option<&'static str>,
    /// US dollars for a million tokens.
    pub rates: Option<TokenRates>,
    /// The day from which the model is no longer served.
    pub retires: Option<Date>,
}

/// Finds the price of a judge, whether or not its key is set.
pub(super) fn known_price(
    config: &JudgeConfig,
    sources: &JudgeSources<'_>,
    own: Option<&PriceTable>,
) -> KnownPrice {
    let provider = named_in(sources.providers, &config.provider);
    let found = if config.provider == OFFLINE {
        Some(("embedded judge", Price::FREE))
    } else {
        provider.and_then(|provider| {
            let access = provider.access();
            let free = base(config, provider, &access, sources).is_ok_and(|(base, _)| {
                let key = available_key(config, &access, sources, &base);
                is_free(&base, config.key_env.is_some() || key.is_some())
            });
            price(config, provider, free, own, sources.today)
        })
    };
    KnownPrice {
        from: found.map(|(from, _)| from),
        rates: found.map(|(_, price)| price.rates()),
        retires: provider.and_then(|provider| retires(config, provider, own)),
    }
}

/// The price of a judge, and where it comes from. `free` means that its server is on this machine
/// and is sent no key.
fn price(
    config: &JudgeConfig,
    provider: &dyn Provider,
    free: bool,
    own: Option<&PriceTable>,
    today: Date,
) -> Option<(&'static str, Price)> {
    if let Some(rates) = config.price {
        return Some((FILE, rates.into()));
    }
    let model = config.base_model.as_ref().unwrap_or(&config.model);
    let of = |prices: &PriceTable| prices.find(provider.priced_as(), kind(provider), model, today);
    // A gateway's model is priced as the model that the user says it is, whoever serves it.
    let named = |prices: &PriceTable| {
        let model = config.base_model.as_deref()?;
        prices.find_any("chat", model, today)
    };
    let embedded = PriceTable::embedded();
    let from_own = |price| ("your own table", price);
    let from_embedded = |price| ("embedded table", price);
    own.and_then(of)
        .map(from_own)
        .or_else(|| of(embedded).map(from_embedded))
        .or_else(|| own.and_then(named).map(from_own))
        .or_else(|| named(embedded).map(from_embedded))
        // Local models are free.
        .or_else(|| (free && !provider.access().needs_key).then_some(("this machine", Price::FREE)))
}

/// The day from which the provider no longer serves a judge's model.
fn retires(
    config: &JudgeConfig,
    provider: &dyn Provider,
    own: Option<&PriceTable>,
) -> Option<Date> {
    let model = config.base_model.as_ref().unwrap_or(&config.model);
    let of = |prices: &PriceTable| {
        prices
            .row(provider.priced_as(), kind(provider), model)?
            .retires
    };
    own.and_then(of).or_else(|| of(PriceTable::embedded()))
}

fn kind(provider: &dyn Provider) -> &'static str {
    if provider.decides() {
        "decisions"
    } else {
        "chat"
    }
}

/// The seed of a request, unless its temperature is 0: then the same answers are expected with any
/// seed.
fn seed_of(body: &Value) -> Option<String> {
    let temperature = find_field(body, &["temperature"], Value::as_f64);
    let seed = find_field(body, &["seed", "random_seed"], Some);
    (temperature != Some(0.0)).then(|| seed.map_or("none".to_owned(), Value::to_string))
}

/// The parameters sent with every call that change the meaning of its answers, and how documents
/// are truncated.
fn params(mut body: Value, cut: DocumentCut) -> String {
    if let Value::Object(body) = &mut body {
        for name in RESERVED.iter().chain(&["safetySettings"]) {
            body.shift_remove(*name);
        }
        for (outer, inner) in [
            ("output_config", "format"),
            ("generationConfig", "responseJsonSchema"),
        ] {
            if let Some(Value::Object(object)) = body.get_mut(outer) {
                object.shift_remove(inner);
            }
        }
        body.insert("max_document_chars".to_owned(), json!(cut.chars));
    }
    identity_of(&body.to_string())
}
