//! Keys are sent in a header and appear nowhere else.

use super::{KEY, PROVIDERS, call, judge, judge_at, with_sources};
use crate::embedding::Embedder;
use crate::judge::FailureCause;
use crate::judge::ensemble::JudgesFile;
use crate::suites::fake_provider::{FakeProvider, Fault};
use std::io::{Read as _, Write as _};

/// A server with the same response for everyone.
pub(crate) fn parrot(answer: String) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut buffer = vec![0; 65_536];
            let mut read = 0;
            // Head and body may arrive separately; the documents' lines are in the body.
            while !String::from_utf8_lossy(&buffer[..read]).contains("[[/document B") {
                match stream.read(&mut buffer[read..]) {
                    Ok(0) | Err(_) => break,
                    Ok(more) => read += more,
                }
            }
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    url
}

pub(crate) fn http(status: &str, more: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n{body}"
    )
}

#[tokio::test]
async fn a_key_is_in_no_error_no_print_and_no_address() {
    let fake = FakeProvider::start();
    for (provider, ..) in PROVIDERS {
        let judge = judge(&fake, provider, "");
        for fault in [
            Fault::Unauthorized,
            Fault::Quota,
            Fault::Server500,
            Fault::Reset,
            Fault::Prose,
            Fault::Refusal,
        ] {
            fake.fail_next(&[fault]);
            let shown = match call(judge.as_ref()).await {
                Ok(reply) => format!("{reply:?}"),
                Err(error) => format!("{error:?} {error}"),
            };
            assert!(!shown.contains(KEY), "{provider}, {fault:?}: {shown}");
        }
        let shown = format!("{judge:?} {:?} {:?}", judge.spec(), judge.limits());
        assert!(!shown.contains(KEY), "{provider}: {shown}");
    }
    for request in fake.requests() {
        assert!(!request.target.contains(KEY) && !request.body.to_string().contains(KEY));
        let carrying = request
            .headers
            .iter()
            .filter(|(_, value)| value.contains(KEY))
            .count();
        assert!(carrying <= 1, "{request:?}");
    }
}

#[tokio::test]
async fn a_server_that_repeats_the_key_is_not_repeated() {
    let body = format!("{{\"error\":{{\"message\":\"wrong key {KEY}\",\"code\":null}}}}");
    let answer = http("401 Unauthorized", "", &body);
    let judge = judge_at("openai", "gpt-6.1-terra", &parrot(answer), "");
    let error = call(judge.as_ref()).await.unwrap_err();
    assert_eq!(error.cause, FailureCause::Unauthorized);
    assert!(!format!("{error:?}").contains(KEY), "{error:?}");
    assert!(error.message.contains("wrong key [key]"), "{error:?}");
    let body = format!(
        "{{\"choices\":[{{\"finish_reason\":\"stop\",\"message\":{{\"content\":\"{KEY}\"}}}}]}}"
    );
    let judge = judge_at(
        "openai",
        "gpt-6.1-terra",
        &parrot(http("200 OK", "", &body)),
        "",
    );
    assert_eq!(call(judge.as_ref()).await.unwrap().text, "[key]");
}

/// The server responds once it has read this.
const SAID: &str = "[[/document B";

#[tokio::test]
async fn an_embedder_tells_no_key_and_keeps_vectors_whose_count_makes_no_sense() {
    let embedder = |answer: String| {
        let text = format!(
            "[[embedder]]\nname = \"e\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = {:?}\n",
            parrot(answer)
        );
        let file = JudgesFile::parse(&text).unwrap();
        with_sources(|sources| Embedder::new(&file.embedders[0], sources).unwrap())
    };
    let texts = [SAID.to_owned()];
    for status in ["401 Unauthorized", "500 Oops", "200 OK"] {
        let body = format!("{{\"error\":{{\"message\":\"key {KEY}\"}}}}");
        let id = format!("x-request-id: {KEY}\r\n");
        let error = embedder(http(status, &id, &body))
            .embed(&texts)
            .await
            .unwrap_err();
        assert!(!format!("{error:?}").contains(KEY), "{error:?}");
        assert!(
            error.raw.as_ref().unwrap().contains("key [key]"),
            "{error:?}"
        );
        assert_eq!(error.exchange.request_id.as_deref(), Some("[key]"));
        assert!(error.exchange.sent);
    }
    for (count, tokens) in [
        ("12", Some(12)),
        ("-12", None),
        ("1e300", None),
        ("\"x\"", None),
    ] {
        let body = format!(
            "{{\"data\":[{{\"index\":0,\"embedding\":[3,4]}}],\"usage\":{{\"prompt_tokens\":{count}}}}}"
        );
        let embedded = embedder(http("200 OK", "", &body))
            .embed(&texts)
            .await
            .unwrap();
        assert_eq!(
            (embedded.vectors.len(), embedded.exchange.usage.input),
            (1, tokens.unwrap_or(0)),
            "{count}"
        );
    }
}

#[tokio::test]
async fn a_redirect_elsewhere_is_refused_and_says_where() {
    let elsewhere = FakeProvider::start();
    for status in [
        "301 Moved Permanently",
        "302 Found",
        "307 Temporary Redirect",
        "308 Permanent Redirect",
    ] {
        let location = format!("location: {}/chat/completions\r\n", elsewhere.v1());
        let judge = judge_at(
            "openai",
            "gpt-6.1-terra",
            &parrot(http(status, &location, "")),
            "",
        );
        let error = call(judge.as_ref()).await.unwrap_err();
        assert_eq!(
            (error.cause, error.stops_judge),
            (FailureCause::BadRequest, true),
            "{error}"
        );
        assert!(error.message.contains("set base_url"), "{error}");
    }
    assert!(elsewhere.requests().is_empty());
}
