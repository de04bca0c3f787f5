//! Settings and answers for the unit tests of the wires.

use super::batch::Batch;
use super::http::{Http, Patience, Received};
use super::settings::Settings;
use super::{Connection, Network, Wire};
use crate::judge::price::Prices;
use crate::judge::prompt::{self, Cut, Template};
use crate::judge::{JudgeLimits, JudgeSpec};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};
use secrecy::SecretString;
use serde_json::{Map, Value};

pub(super) fn settings(provider: &str, model: &str) -> Settings {
    let template = Template::parse(prompt::SCORE).unwrap();
    Settings {
        spec: JudgeSpec {
            name: "judge".to_owned(),
            provider: provider.to_owned(),
            model: model.to_owned(),
            prompt_hash: template.hash.clone(),
            params: "{}".to_owned(),
        },
        template,
        cut: Cut { chars: 1000 },
        cap: match provider {
            "anthropic" => 16_000,
            "gemini" => 8192,
            "ollama" => 2048,
            _ => 4096,
        },
        params: Map::new(),
        base_model: model.to_owned(),
        price: Prices::embedded().find(provider, "chat", model, jiff::civil::date(2026, 11, 21)),
        limits: JudgeLimits::default(),
        key_env: "THE_KEY".to_owned(),
    }
}

pub(super) fn received(status: u16, body: &Value) -> Received {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    Received {
        status,
        headers,
        body: body.to_string().into_bytes(),
        sent: 60_000,
        ..Received::default()
    }
}

/// A judge whose server is nowhere.
pub(super) fn network(settings: Settings, wire: Box<dyn Wire>, batch: Option<Batch>) -> Network {
    let base = Url::parse("http://127.0.0.1:9/v1").unwrap();
    let connection = Connection {
        http: Http::new(Patience::default()),
        url: base.clone(),
        base,
        headers: HeaderMap::new(),
        key: Some(SecretString::from(KEY)),
    };
    Network::new(settings, wire, connection, batch)
}

/// A key with everything that is spelt otherwise in JSON and in addresses.
pub(super) const KEY: &str = "sk-secret/0123\"4567+ab";
