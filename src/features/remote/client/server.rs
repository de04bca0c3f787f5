//! A connection to the server.

use super::address::{Address, Tls};
use super::error::ServerError;
use super::passwords::password;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use secrecy::ExposeSecret as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_postgres::config::Host;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Client, NoTls, Notification, Row, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long one request may take, unless set otherwise.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a connection may take, with TLS and the check of the password.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Maximum number of notifications that are waiting to be read; later ones are dropped.
const NOTICES: usize = 64;

/// A connection to the server, which closes on drop.
pub struct Server {
    pub(super) client: Client,
    address: Address,
    connection: JoinHandle<()>,
    pub(super) patience: Duration,
    /// Notifications, until the connection is lost.
    pub(super) notices: mpsc::Receiver<Notification>,
    /// The number of the server's process behind this connection, once it listens.
    pub(super) process: i32,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Server").field(&self.address.name).finish()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl Server {
    /// Connects.
    ///
    /// # Errors
    /// The server does not answer, or it refuses the user.
    pub async fn connect(address: &Address) -> Result<Self, ServerError> {
        let mut config = address.config.clone();
        let host = match config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            _ => "localhost".to_owned(),
        };
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let database = config.get_dbname().unwrap_or_default();
        let known = match &address.password {
            Some(typed) => Some(typed.clone()),
            None => password(&host, port, database, &address.user)?,
        };
        if let Some(found) = known {
            config.password(found.expose_secret());
        }
        let (client, connection, notices) = match &address.tls {
            None => open(address, &config, NoTls).await?,
            Some(tls) => open(address, &config, MakeRustlsConnect::new(trusting(tls)?)).await?,
        };
        let server = Self {
            client,
            address: address.clone(),
            connection,
            patience: REQUEST_TIMEOUT,
            notices,
            process: 0,
        };
        // Otherwise the server keeps the locks of a machine that was cut off for hours.
        let limits = "SET idle_in_transaction_session_timeout = '60s';
            SET tcp_keepalives_idle = 30;
            SET tcp_keepalives_interval = 10;
            SET tcp_keepalives_count = 3";
        server.answer(server.client.batch_execute(limits)).await?;
        Ok(server)
    }

    /// Changes how long one request may take.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Waits for the result of a request, and explains its error.
    pub(super) async fn answer<T>(
        &self,
        request: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, ServerError> {
        self.outcome(in_time(self.patience, request).await)
    }

    /// Explains the error of a request; `None` stands for no answer in time.
    pub(super) fn outcome<T>(
        &self,
        outcome: Option<Result<T, tokio_postgres::Error>>,
    ) -> Result<T, ServerError> {
        match outcome {
            Some(outcome) => outcome.map_err(|error| self.error(&error)),
            None => Err(ServerError::Away {
                server: self.address.name.clone(),
                why: format!("no answer within {} s", self.patience.as_secs()),
            }),
        }
    }

    /// Reads the columns of rows.
    pub(super) fn each<T, C: FromIterator<T>>(
        &self,
        rows: Vec<Row>,
        read: impl FnMut(Row) -> Result<T, tokio_postgres::Error>,
    ) -> Result<C, ServerError> {
        let read = rows.into_iter().map(read).collect::<Result<C, _>>();
        read.map_err(|error| self.error(&error))
    }

    pub(super) fn error(&self, error: &tokio_postgres::Error) -> ServerError {
        ServerError::of(&self.address.name, &self.address.user, error)
    }

    pub fn name(&self) -> &str {
        &self.address.name
    }
}

/// Waits for the result of a request; `None` if there is no answer in time.
pub(super) async fn in_time<T>(patience: Duration, request: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(patience, request).await.ok()
}

/// A client, its connection, and the notifications that arrive on it.
type Opened = (Client, JoinHandle<()>, mpsc::Receiver<Notification>);

async fn open<T>(
    address: &Address,
    config: &tokio_postgres::Config,
    tls: T,
) -> Result<Opened, ServerError>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let connected = in_time(CONNECT_TIMEOUT, config.connect(tls)).await;
    let connected = connected.ok_or_else(|| ServerError::Away {
        server: address.name.clone(),
        why: format!("no answer within {} s", CONNECT_TIMEOUT.as_secs()),
    })?;
    let (client, mut connection) =
        connected.map_err(|error| ServerError::of(&address.name, &address.user, &error))?;
    let (told, notices) = mpsc::channel(NOTICES);
    let connection = tokio::spawn(async move {
        loop {
            let message = std::future::poll_fn(|context| connection.poll_message(context));
            match message.await {
                // Whoever has others to read looks at the project anyway.
                Some(Ok(AsyncMessage::Notification(notice))) => drop(told.try_send(notice)),
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    // The requests report the error too.
                    tracing::debug!(%error, "the connection to the server has ended");
                    return;
                }
                None => return,
            }
        }
    });
    Ok((client, connection, notices))
}

/// A configuration that accepts only certificates of these authorities, for the name of the server.
fn trusting(tls: &Tls) -> Result<ClientConfig, ServerError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let failed = |error: rustls::Error| ServerError::Address(format!("TLS: {error}"));
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    Ok(match tls {
        Tls::System => builder
            .with_platform_verifier()
            .map_err(failed)?
            .with_no_client_auth(),
        Tls::File(path) => builder
            .with_root_certificates(roots(path)?)
            .with_no_client_auth(),
    })
}

fn roots(path: &Path) -> Result<RootCertStore, ServerError> {
    let invalid = |why: String| {
        ServerError::Address(format!(
            "{}: is not a file of certificates in PEM format: {why}",
            path.display()
        ))
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|e| invalid(e.to_string()))? {
        let certificate = certificate.map_err(|error| invalid(error.to_string()))?;
        roots
            .add(certificate)
            .map_err(|error| invalid(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(invalid("it contains no certificate".to_owned()));
    }
    Ok(roots)
}
