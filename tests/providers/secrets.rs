//! Keys: in a header, and nowhere else.

use super::fake_provider::{FakeProvider, Fault};
use super::{KEY, PROVIDERS, call, judge, judge_at};
use overrule::judge::Cause;
use std::io::{Read as _, Write as _};

/// A server that says the same to everybody.
fn parrot(answer: String) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut buffer = vec![0; 65_536];
            let mut read = 0;
            // Head and body may come apart; the documents' lines are in the body.
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

fn http(status: &str, more: &str, body: &str) -> String {
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
            Fault::Unauthorised,
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
    assert_eq!(error.cause, Cause::Unauthorised);
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
            (Cause::BadRequest, true),
            "{error}"
        );
        assert!(error.message.contains("set base_url"), "{error}");
    }
    assert!(elsewhere.requests().is_empty());
}
