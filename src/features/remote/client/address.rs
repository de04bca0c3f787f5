//! The address of a PostgreSQL server: `postgres://USER@HOST:PORT/DATABASE`.

use super::error::ServerError;
use crate::domain::sanitize;
use reqwest::Url;
use secrecy::SecretString;
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A valid address, which contains no password as text.
#[derive(Clone, Debug)]
pub struct Address {
    pub(super) config: Config,
    /// The password that the user has typed.
    pub(super) password: Option<SecretString>,
    /// `None` for an unencrypted connection on this machine.
    pub(super) tls: Option<Tls>,
    /// Host, port and database, for messages.
    pub(super) name: String,
    pub(super) user: String,
}

/// The certificates that a server is checked against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tls {
    /// Those that the system trusts.
    System,
    /// Those in a PEM file.
    File(PathBuf),
}

fn invalid(why: impl Into<String>) -> ServerError {
    ServerError::Address(why.into())
}

impl Address {
    /// Parses an address.
    ///
    /// # Errors
    /// It is not the address of one server and database, it contains a password, or the connection
    /// would be unencrypted to another machine.
    pub fn parse(text: &str) -> Result<Self, ServerError> {
        const FORM: &str = "expected an address such as postgres://ada@db.example.org/search";
        let mut url = Url::parse(text.trim()).map_err(|_| invalid(FORM))?;
        if !["postgres", "postgresql"].contains(&url.scheme()) {
            return Err(invalid(FORM));
        }
        let parameters: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        if url.password().is_some() || parameters.iter().any(|(name, _)| name == "password") {
            return Err(invalid(
                "an address must not contain a password: others could read it in the list of \
                 processes; set PGPASSWORD, or add it to the password file of PostgreSQL \
                 (~/.pgpass)",
            ));
        }
        let (mut mode, mut roots) = (None, None);
        let mut rest = Vec::new();
        for (name, value) in parameters {
            match name.as_str() {
                "sslmode" => mode = Some(value),
                "sslrootcert" => roots = Some(PathBuf::from(value)),
                "host" | "port" | "user" | "dbname" | "application_name" => {
                    rest.push((name, value))
                }
                _ => {
                    return Err(invalid(format!(
                        "the parameter {:?} of the address is not supported; supported are host, \
                         port, user, dbname, application_name, sslmode and sslrootcert",
                        sanitize::line(&name)
                    )));
                }
            }
        }
        url.set_query(None);
        if !rest.is_empty() {
            url.query_pairs_mut().extend_pairs(rest);
        }
        let mut config: Config = url
            .as_str()
            .parse()
            .map_err(|error| invalid(format!("{FORM}: {error}")))?;
        let ([host], [] | [_]) = (config.get_hosts(), config.get_ports()) else {
            return Err(invalid(
                "expected the address of one server; for a Unix socket, name its folder as in \
                 postgres:///search?host=/var/run/postgresql",
            ));
        };
        let (host, is_here) = match host {
            Host::Tcp(name) => (name.clone(), is_loopback(name)),
            #[cfg(unix)]
            Host::Unix(folder) => (folder.display().to_string(), true),
        };
        let tls = match (mode.as_deref(), roots) {
            (None | Some("verify-full"), Some(file)) => Some(Tls::File(file)),
            (Some("verify-full"), None) => Some(Tls::System),
            (None, None) => (!is_here).then_some(Tls::System),
            (Some("disable"), None) if is_here => None,
            (Some("disable"), None) => {
                return Err(invalid(format!(
                    "sslmode=disable would send documents and answers unencrypted to {}; omit it",
                    sanitize::line(&host)
                )));
            }
            _ => {
                return Err(invalid(
                    "sslmode must be verify-full (with sslrootcert=FILE for certificates of your \
                     own), or disable for a server on this machine",
                ));
            }
        };
        config.ssl_mode(match tls {
            Some(_) => SslMode::Require,
            None => SslMode::Disable,
        });
        config.connect_timeout(CONNECT_TIMEOUT);
        config.tcp_user_timeout(Duration::from_secs(30));
        config.keepalives_idle(Duration::from_secs(30));
        if config.get_application_name().is_none() {
            config.application_name("overrule");
        }
        let user = match config.get_user() {
            Some(user) => user.to_owned(),
            None => user_of_system().ok_or_else(|| {
                invalid("the address names no user: expected postgres://USER@HOST/DATABASE")
            })?,
        };
        config.user(user.as_str());
        let database = config.get_dbname().unwrap_or(&user).to_owned();
        config.dbname(database.as_str());
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let name = format!("{host}:{port}/{database}");
        Ok(Self {
            config,
            password: None,
            tls,
            name: sanitize::line(&name).into_owned(),
            user,
        })
    }

    /// Uses a password that the user has typed.
    pub fn set_password(&mut self, typed: SecretString) {
        self.password = Some(typed);
    }

    /// Host, port and database, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Whether a host is this machine, whatever the name service says.
fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host
            .parse()
            .is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

fn user_of_system() -> Option<String> {
    ["PGUSER", "USER", "USERNAME"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok())
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tls(text: &str) -> Result<Option<Tls>, String> {
        let address = Address::parse(text).map_err(|error| error.to_string())?;
        assert!(address.config.get_password().is_none());
        Ok(address.tls)
    }

    #[test]
    fn other_machines_are_asked_with_checked_certificates_only() {
        assert_eq!(tls("postgres://a@db.example.org/x"), Ok(Some(Tls::System)));
        let own = "postgres://a@db/x?sslmode=verify-full&sslrootcert=/ca.pem";
        assert_eq!(tls(own), Ok(Some(Tls::File("/ca.pem".into()))));
        for here in ["localhost", "127.0.0.1", "[::1]"] {
            assert_eq!(tls(&format!("postgres://a@{here}:5433/x")), Ok(None));
        }
        assert_eq!(tls("postgres:///x?host=/tmp/socket&user=a"), Ok(None));
        for refused in [
            "postgres://a@db.example.org/x?sslmode=disable",
            "postgres://a@db.example.org/x?sslmode=require",
            "postgres://a@db.example.org/x?sslmode=prefer",
            "postgres://a@127.0.0.1.example.org/x?sslmode=disable",
        ] {
            assert!(tls(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn an_address_names_one_server_and_no_password() {
        for refused in [
            "",
            "db.example.org",
            "http://db/x",
            "postgres://a:secret@localhost/x",
            "postgres://a@localhost/x?password=secret",
            "postgres://a@localhost/x?hostaddr=192.0.2.1",
            "postgres://a@localhost,db.example.org/x",
            "postgres://a@localhost/x?options=-c%20search_path%3Dx",
        ] {
            let error = tls(refused).unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
