//! Why the server did not do what was asked.

use crate::domain::sanitize;
use tokio_postgres::error::{Error, SqlState};

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address cannot be used.
    #[error("{0}")]
    Address(String),
    /// Nobody answers, or the connection was lost. Asking again may help.
    #[error("{server}: {why}")]
    Away { server: String, why: String },
    /// The server refuses the user or the password.
    #[error(
        "{server}: {why} (user {user:?}; the password comes from PGPASSWORD or from the password \
         file of PostgreSQL)"
    )]
    Login {
        server: String,
        user: String,
        why: String,
    },
    /// The server asks for a password, and none is known.
    #[error(
        "{server}: asks for the password of {user:?}; set PGPASSWORD, or add it to the password \
         file of PostgreSQL (~/.pgpass)"
    )]
    NoPassword { server: String, user: String },
    /// The database has no tables of Overrule.
    #[error("{0}: has no schema \"overrule\"; create it with `overrule remote init`")]
    NotPrepared(String),
    /// A newer version of Overrule has prepared the database.
    #[error(
        "{server}: was prepared by a newer version of overrule (schema {found}, this version knows \
         {known}); update overrule"
    )]
    Newer {
        server: String,
        found: i32,
        known: i32,
    },
    /// An older version of Overrule has prepared the database.
    #[error(
        "{server}: was prepared by an older version of overrule (schema {found}, this version needs \
         {known}); run `overrule remote init` once"
    )]
    Older {
        server: String,
        found: i32,
        known: i32,
    },
    /// The user lacks a permission.
    #[error("{server}: {why}; ask the owner of the database for the permission")]
    Forbidden { server: String, why: String },
    /// Another process has joined as the same worker, or a curator has released it.
    #[error(
        "{0}: another process works as this worker, or it was released. If this project is a copy \
         of another one, its answers can be merged with `overrule merge`; otherwise run the same \
         command again"
    )]
    Replaced(String),
    /// Any other error of the database.
    #[error("{server}: {why}")]
    Failed { server: String, why: String },
}

impl ServerError {
    /// Explains an error of a statement or a connection.
    pub(super) fn of(server: &str, user: &str, error: &Error) -> Self {
        let server = server.to_owned();
        let Some(database) = error.as_db_error() else {
            let mut causes = vec![error.to_string()];
            let mut cause = std::error::Error::source(error);
            while let Some(deeper) = cause {
                causes.push(deeper.to_string());
                cause = deeper.source();
            }
            causes.dedup();
            let why = sanitize::line(&causes.join(": ")).into_owned();
            if why.contains("password missing") {
                let user = user.to_owned();
                return Self::NoPassword { server, user };
            }
            return Self::Away { server, why };
        };
        let code = database.code();
        let why = sanitize::line(database.message()).into_owned();
        let class = code.code().get(..2).unwrap_or_default();
        if class == "28" {
            let user = user.to_owned();
            Self::Login { server, user, why }
        } else if *code == SqlState::INSUFFICIENT_PRIVILEGE {
            Self::Forbidden { server, why }
        } else if *code == SqlState::INVALID_SCHEMA_NAME || *code == SqlState::UNDEFINED_TABLE {
            Self::NotPrepared(server)
        } else if *code == SqlState::DISK_FULL {
            let why = "the disk of the server is full".to_owned();
            Self::Away { server, why }
        } else if ["08", "40", "53", "57"].contains(&class) || code.code() == "25006" {
            Self::Away { server, why }
        } else {
            Self::Failed { server, why }
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Away { .. })
    }
}
