//! Settings and responses for the unit tests of wire formats.

use super::batch::format::BatchFormat;
use super::compatible::{Compatible, SERVERS};
use super::connection::{ApiConnection, ConnectionKey};
use super::http::{Http, Timeouts};
use super::registry::provider_named;
use super::remote_judge::RemoteJudge;
use super::response::HttpResponse;
use super::settings::JudgeSettings;
use super::wire_format::WireFormat;
use crate::domain::document_cut::DocumentCut;
use crate::judge::billing::TermsRange;
use crate::judge::presented::{PoolText, PresentedPair};
use crate::judge::price::PriceTable;
use crate::judge::prompt::{self, Template};
use crate::judge::spec::{JudgeLimits, JudgeSpec};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::sync::Arc;

pub(crate) fn settings(provider: &str, model: &str) -> JudgeSettings {
    let template = Template::parse(prompt::SCORE).unwrap();
    JudgeSettings {
        spec: JudgeSpec {
            name: "judge".to_owned(),
            provider: provider.to_owned(),
            model: model.to_owned(),
            prompt_hash: template.hash.clone(),
            params: "{}".to_owned(),
        },
        template,
        metadata: None,
        cut: DocumentCut { chars: 1000 },
        cap: provider_named(provider).unwrap().limits().cap,
        short_cap: None,
        params: Map::new(),
        seed: None,
        base_model: model.to_owned(),
        price: PriceTable::embedded().find(
            provider,
            "chat",
            model,
            jiff::civil::date(2026, 11, 21),
        ),
        retires: None,
        terms: TermsRange::default(),
        limits: JudgeLimits::default(),
        key_env: "THE_KEY".to_owned(),
        account: provider_named(provider).unwrap().account(),
    }
}

pub(crate) fn received(status: u16, body: &Value) -> HttpResponse {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    HttpResponse {
        status,
        headers,
        body: body.to_string().into_bytes(),
        sent: 60_000,
        ..HttpResponse::default()
    }
}

/// A pair of documents.
pub(crate) fn case() -> PresentedPair {
    let documents = vec!["Aspirin lowers fever.".into(), "Fever is common.".into()];
    PresentedPair {
        pool: Arc::new(PoolText::new("does aspirin lower fever", documents)),
        first: 0,
        second: 1,
    }
}

/// A judge whose server does not exist.
pub(crate) fn network(
    settings: JudgeSettings,
    wire: Box<dyn WireFormat>,
    batch: Option<&'static dyn BatchFormat>,
) -> RemoteJudge {
    let base = Url::parse("http://127.0.0.1:9/v1").unwrap();
    let connection = ApiConnection {
        http: Http::new(Timeouts::default()),
        url: base.clone(),
        base,
        headers: HeaderMap::new(),
        key: Some(ConnectionKey::Fixed(SecretString::from(KEY))),
    };
    RemoteJudge::new(settings, wire, connection, batch)
}

/// The compatible server of that name.
pub(crate) fn server(name: &str) -> Compatible {
    *SERVERS.iter().find(|server| server.name == name).unwrap()
}

/// A key with characters that are escaped in JSON and in URLs.
pub(crate) const KEY: &str = "sk-secret/0123\"4567+ab";
