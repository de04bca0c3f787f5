//! Adapts a judge to its server: servers and gateways reject parameters that others require, each
//! with a different message. A request that was rejected for one of our parameters is sent again
//! without it. The user's own parameters are never removed, so rejecting them is an error.

use super::complaint::NOT_TAKEN;
use super::error_body::ErrorBody;
use super::repetition::repeats_itself;
use super::settings::JudgeSettings;
use crate::judge::call::{CallError, FailureCause};
use serde_json::Value;

/// Number of characters of an error message that are read: some servers repeat the request in it,
/// which may contain anything.
const COMPLAINT: usize = 400;

/// The features that a server does not support, one bit each, and the number of steps down;
/// initially 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learnt(u32);

/// Something that a server rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Logprobs,
    Temperature,
    Seed,
    /// The field of the output limit: the server needs the other name.
    CapField,
    /// A separate system prompt: it is put before the user's message.
    System,
    /// A switch for reasoning or a reasoning level.
    Thinking,
    /// A request not to store the call.
    Store,
    /// A short output limit: the model reasons first, or needs more words.
    ShortAnswer,
    /// Log-probabilities that were requested and not rejected, but did not arrive.
    SilentLogprobs,
    /// Bounds of lists and strings in the schema of an answer.
    Bounds,
    /// A request not to write to the cache.
    CacheMode,
}

/// Every refusal with its description.
const REFUSALS: [(Refusal, &str); 11] = [
    (
        Refusal::Logprobs,
        "gives no log-probabilities: each letter counts as a whole vote",
    ),
    (Refusal::Temperature, "takes no temperature"),
    (Refusal::Seed, "takes no seed"),
    (
        Refusal::CapField,
        "needs another name for the limit of an answer",
    ),
    (
        Refusal::System,
        "has no system role: the instructions precede the message",
    ),
    (Refusal::Thinking, "does not know thinking"),
    (Refusal::Store, "does not know `store`"),
    (
        Refusal::ShortAnswer,
        "needs more room for an answer than most models: the limit is raised",
    ),
    (
        Refusal::SilentLogprobs,
        "answered without the log-probabilities asked for: such a letter counts as a whole vote",
    ),
    (
        Refusal::Bounds,
        "has a server that does not bound the length of answers",
    ),
    (
        Refusal::CacheMode,
        "does not know `prompt_cache_options`: writes to the cache may be charged",
    ),
];

/// The bits of the steps down in the form of the answer.
const RUNG: u32 = 0b11 << 16;
const ONE_RUNG: u32 = 1 << 16;
/// The bits of the rejected efforts.
const EFFORT: u32 = 0b11 << 18;
const ONE_EFFORT: u32 = 1 << 18;

impl Learnt {
    /// The state for a server that rejects everything.
    pub(crate) const EVERYTHING: Self = Self(u32::MAX);

    pub(crate) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    pub(crate) fn has(self, refusal: Refusal) -> bool {
        self.0 & 1 << refusal as u32 != 0
    }

    #[must_use]
    pub(crate) fn with(self, refusal: Refusal) -> Self {
        Self(self.0 | 1 << refusal as u32)
    }

    /// Whether answers need more tokens than those of most models.
    pub(crate) fn needs_room(self) -> bool {
        self.has(Refusal::ShortAnswer)
    }

    /// Number of steps down in the form of the answer, 0 to 3.
    pub(crate) fn rung(self) -> u8 {
        ((self.0 & RUNG) / ONE_RUNG) as u8
    }

    #[must_use]
    pub(crate) fn with_next_rung(self) -> Self {
        match self.0 & RUNG {
            RUNG => self,
            _ => Self(self.0 + ONE_RUNG),
        }
    }

    /// Number of rejected efforts, 0 to 3.
    pub(crate) fn efforts(self) -> usize {
        ((self.0 & EFFORT) / ONE_EFFORT) as usize
    }

    #[must_use]
    pub(crate) fn with_efforts(self, refused: usize) -> Self {
        let refused = (refused as u32).min(EFFORT / ONE_EFFORT);
        Self(self.0 & !EFFORT | (refused * ONE_EFFORT))
    }

    /// Notes about the server, to be appended to the judge's name.
    pub(crate) fn words(self) -> Vec<&'static str> {
        let mut words: Vec<_> = REFUSALS
            .iter()
            .filter(|(refusal, _)| self.has(*refusal))
            .map(|(_, words)| *words)
            .collect();
        if self.rung() > 0 {
            words.push(
                "has a server that does not enforce the whole schema: the prompt describes the \
                 form of answers",
            );
        }
        if self.efforts() > 0 {
            words.push("takes no such reasoning effort: another or none is sent");
        }
        words
    }
}

/// The remaining alternatives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StepsLeft {
    /// Whether another form of the answer can be requested.
    pub(crate) rung: bool,
    /// Number of efforts that can be tried, the last of which is to send none.
    pub(crate) efforts: usize,
}

/// The updated state after `error`, if the server rejected one of our parameters in `request`, or
/// truncated an answer because our limit was too low.
pub(crate) fn learn(
    learnt: Learnt,
    settings: &JudgeSettings,
    request: &Value,
    left: StepsLeft,
    error: &CallError,
) -> Option<Learnt> {
    if error.cause == FailureCause::Truncated {
        // With more room, the answer would only continue to repeat itself.
        let looped = error.raw.as_deref().is_some_and(repeats_itself);
        let short = settings.template.answer.is_word() || settings.least_cap() < settings.cap;
        return (short && !looped && !learnt.needs_room())
            .then(|| learnt.with(Refusal::ShortAnswer));
    }
    let status = error.exchange.status?;
    if !matches!(status, 400 | 404 | 422 | 500 | 501) {
        return None;
    }
    let body = ErrorBody::read(error.raw.as_deref()?.as_bytes());
    let start: String = body.message.chars().take(COMPLAINT).collect();
    let complaint = Complaint {
        // The server rejects the field that it names first; the rest often explains when it would
        // accept that field.
        words: format!("{} {start} {}", body.param, body.code).to_lowercase(),
        request,
        params: &settings.params,
    };
    if status == 404 {
        let unmet = complaint.says("no endpoints found") && complaint.says("parameter");
        return unmet.then(|| complaint.next(learnt, left)).flatten();
    }
    if complaint.says("logprob") && complaint.is_ours(&["logprobs", "responseLogprobs"]) {
        return Some(learnt.with(Refusal::Logprobs));
    }
    let system = [
        "system role",
        "role 'system'",
        "role: system",
        "role \"system\"",
    ];
    if system.iter().any(|words| complaint.says(words)) && !learnt.has(Refusal::System) {
        return Some(learnt.with(Refusal::System));
    }
    let caps = ["max_tokens", "max_completion_tokens"];
    let cap = caps.iter().find(|name| request.get(**name).is_some());
    if let Some(sent) = cap
        && caps.iter().any(|name| complaint.says(name))
        && complaint.is_unknown()
        && complaint.is_ours(&[*sent])
        && !learnt.has(Refusal::CapField)
    {
        return Some(learnt.with(Refusal::CapField));
    }
    if complaint.is_ours(&["output_config"])
        && (complaint.says("output_config") || complaint.says("effort"))
    {
        return without_output_config(learnt, left, &complaint);
    }
    // An internal server error does not count unless it names the field: some servers crash on
    // unsupported fields.
    let named = ["response_format", "json_schema", "json_object", "grammar"];
    let own_error = status == 500 && !named.iter().any(|name| complaint.says(name));
    let fields: [(&str, &[&str], Refusal); 5] = [
        (
            "prompt_cache",
            &["prompt_cache_options"],
            Refusal::CacheMode,
        ),
        ("think", &["think", "thinkingConfig"], Refusal::Thinking),
        ("temperature", &["temperature"], Refusal::Temperature),
        ("seed", &["seed", "random_seed"], Refusal::Seed),
        ("store", &["store"], Refusal::Store),
    ];
    let fields = fields
        .into_iter()
        .filter(|(_, names, _)| !own_error && complaint.is_ours(names))
        .filter_map(|(word, _, refusal)| Some((complaint.place(word)?, learnt.with(refusal))));
    let efforts = ["reasoning_effort", "reasoning.effort"];
    let effort = efforts.iter().find_map(|word| complaint.place(word));
    let effort = effort.and_then(|place| {
        let refused = if complaint.is_unknown() && body.code != "unsupported_value" {
            // The field itself is unknown.
            left.efforts
        } else {
            (learnt.efforts() + 1).min(left.efforts)
        };
        (learnt.efforts() < refused).then(|| (place, learnt.with_efforts(refused)))
    });
    if let Some((_, next)) = fields.chain(effort).min_by_key(|(place, _)| *place) {
        return Some(next);
    }
    if own_error || !complaint.about_form() {
        return None;
    }
    if complaint.is_about_bounds() && !learnt.has(Refusal::Bounds) {
        return Some(learnt.with(Refusal::Bounds));
    }
    left.rung.then(|| learnt.with_next_rung())
}

/// Removes the part of Anthropic's `output_config` that is rejected; both parts if neither is
/// named.
fn without_output_config(
    learnt: Learnt,
    left: StepsLeft,
    complaint: &Complaint<'_>,
) -> Option<Learnt> {
    let (effort, form) = (
        complaint.says("effort"),
        complaint.says("format") || complaint.says("schema"),
    );
    let mut next = learnt;
    if effort || !form {
        next = next.with_efforts(left.efforts);
    }
    if (form || !effort) && left.rung {
        next = next.with_next_rung();
    }
    (next != learnt).then_some(next)
}

/// A server's message about a request.
struct Complaint<'a> {
    /// In lowercase.
    words: String,
    request: &'a Value,
    /// The user's parameters.
    params: &'a serde_json::Map<String, Value>,
}

impl Complaint<'_> {
    fn says(&self, words: &str) -> bool {
        self.words.contains(words)
    }

    /// Whether one of the fields is in the request without having been set by the user.
    fn is_ours(&self, names: &[&str]) -> bool {
        const INNER: [&str; 3] = ["", "/options", "/generationConfig"];
        let sent = |name: &&str| {
            INNER.iter().any(|outer| {
                let sent = self.request.pointer(&format!("{outer}/{name}")).is_some();
                let users = match outer.strip_prefix('/') {
                    None => self.params.get(*name),
                    Some(outer) => self.params.get(outer).and_then(|of| of.get(*name)),
                };
                sent && users.is_none()
            })
        };
        names.iter().any(sent)
    }

    /// The position of the first occurrence of a word.
    fn place(&self, word: &str) -> Option<usize> {
        self.words.find(word)
    }

    /// Whether a field itself is rejected, not its value.
    fn is_unknown(&self) -> bool {
        NOT_TAKEN.iter().any(|words| self.says(words))
    }

    fn about_form(&self) -> bool {
        const FORM: [&str; 8] = [
            "response_format",
            "json_schema",
            "json_object",
            "schema",
            "grammar",
            "structured",
            "maxitems",
            "maxlength",
        ];
        FORM.iter().any(|word| self.says(word))
    }

    /// Whether the bounds of lists and strings in the schema are rejected, not schemas in general.
    fn is_about_bounds(&self) -> bool {
        let named = self.says("maxitems") || self.says("maxlength");
        let schema = self.says("schema") || self.says("grammar");
        let sent = self.request.to_string().contains("\"maxItems\"");
        sent && (named || schema && !self.is_unknown())
    }

    /// The next parameter to remove if a gateway reports that no provider supports all parameters,
    /// without naming the unsupported one.
    fn next(&self, learnt: Learnt, left: StepsLeft) -> Option<Learnt> {
        for (names, refusal) in [
            (&["seed", "random_seed"][..], Refusal::Seed),
            (&["logprobs"], Refusal::Logprobs),
            (&["temperature"], Refusal::Temperature),
        ] {
            if self.is_ours(names) {
                return Some(learnt.with(refusal));
            }
        }
        left.rung.then(|| learnt.with_next_rung())
    }
}
