//! A server with an untrusted certificate.

use super::{call, judge_at};
use crate::judge::{FailureCause, Retry};
use crate::suites::encrypted::encrypted;

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_stops_the_judge_at_once() {
    let (url, _, versions) = encrypted(&[b"h2", b"http/1.1"]);
    let judge = judge_at("openai", "gpt-6.1-terra", &url, "");
    let error = call(judge.as_ref()).await.unwrap_err();
    assert_eq!(
        (error.cause, error.retry),
        (FailureCause::Connection, Retry::Never)
    );
    assert!(error.stops_judge && !error.exchange.sent, "{error:?}");
    let begins = "the certificate of localhost:";
    assert!(error.message.starts_with(begins), "{error}");
    for part in ["is not trusted: ", "; "] {
        assert!(error.message.contains(part), "{part} in {error}");
    }
    assert!(versions.lock().unwrap().is_empty());
}
