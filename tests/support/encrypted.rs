//! A server on loopback with a certificate of its own.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::sync::{Arc, Mutex};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

const ANSWER: &str = r#"{"choices":[{"finish_reason":"stop","message":{"content":"{\"thoughts\":[\"x\"],\"score\":1}"}}],"usage":{"prompt_tokens":9,"completion_tokens":9}}"#;

/// A server on a thread of its own: its address, its certificate, and the versions of HTTP that it
/// was spoken to in.
pub(crate) type Encrypted = (String, String, Arc<Mutex<Vec<Version>>>);

pub(crate) fn encrypted(protocols: &[&[u8]]) -> Encrypted {
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
    let url = format!("https://localhost:{port}/v1");
    (url, cert.pem(), versions)
}

async fn answer(
    request: Request<Incoming>,
    seen: Arc<Mutex<Vec<Version>>>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    seen.lock().unwrap().push(request.version());
    request.into_body().collect().await?;
    Ok(Response::new(Full::from(ANSWER)))
}
