//! Encrypted servers: whose certificate is trusted, and what is spoken with them.

use super::desk::{Desk, KEY, told};
use super::{call, judge_at};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use overrule::judge::{FailureCause, Retry};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::sync::{Arc, Mutex};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

const ANSWER: &str = r#"{"choices":[{"finish_reason":"stop","message":{"content":"{\"thoughts\":[\"x\"],\"score\":1}"}}],"usage":{"prompt_tokens":9,"completion_tokens":9}}"#;

/// A server with a certificate of its own, on a thread of its own.
struct Encrypted {
    url: String,
    certificate: String,
    versions: Arc<Mutex<Vec<Version>>>,
}

fn encrypted(protocols: &[&[u8]]) -> Encrypted {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let versions = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&versions);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, seen) = (acceptor.clone(), Arc::clone(&seen));
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else {
                        return;
                    };
                    let two = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    let service = service_fn(move |request| answer(request, Arc::clone(&seen)));
                    let io = TokioIo::new(stream);
                    if two {
                        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                        drop(server.serve_connection(io, service).await);
                    } else {
                        let server = hyper::server::conn::http1::Builder::new();
                        drop(server.serve_connection(io, service).await);
                    }
                });
            }
        });
    });
    Encrypted {
        url: format!("https://localhost:{port}/v1"),
        certificate: cert.pem(),
        versions,
    }
}

async fn answer(
    request: Request<Incoming>,
    seen: Arc<Mutex<Vec<Version>>>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    seen.lock().unwrap().push(request.version());
    request.into_body().collect().await?;
    Ok(Response::new(Full::from(ANSWER)))
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_stops_the_judge_at_once() {
    let server = encrypted(&[b"h2", b"http/1.1"]);
    let judge = judge_at("openai", "gpt-6.1-terra", &server.url, "");
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
    assert!(server.versions.lock().unwrap().is_empty());
}

/// Which certificates are trusted is the system's business; on Linux a variable can name one more.
#[cfg(target_os = "linux")]
#[test]
fn http_2_is_spoken_where_the_server_speaks_it() {
    for (protocols, version) in [
        (
            &[b"h2".as_slice(), b"http/1.1"] as &[&[u8]],
            Version::HTTP_2,
        ),
        (&[b"http/1.1"], Version::HTTP_11),
    ] {
        let server = encrypted(protocols);
        let desk = Desk::new("");
        let text = format!(
            "[[judge]]\nname = \"gpt\"\nprovider = \"openai\"\nmodel = \"gpt-6.1-terra\"\nbase_url = {:?}\n",
            server.url
        );
        std::fs::write(desk.path("overrule.toml"), text).unwrap();
        std::fs::write(desk.path("own.pem"), &server.certificate).unwrap();
        let doctor = desk
            .command(&["doctor"])
            .env("SSL_CERT_FILE", desk.path("own.pem"))
            .output()
            .unwrap();
        let said = told(&doctor);
        assert_eq!(*server.versions.lock().unwrap(), [version], "{said}");
        assert!(!said.contains(KEY));
    }
}
