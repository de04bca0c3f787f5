//! The schema `overrule` of a database, and its versions.

use super::error::ServerError;
use super::server::{Server, in_time};

/// Numbered migrations, which are never changed.
const MIGRATIONS: [&str; 6] = [
    include_str!("../../../../assets/remote/0001.sql"),
    include_str!("../../../../assets/remote/0002.sql"),
    include_str!("../../../../assets/remote/0003.sql"),
    include_str!("../../../../assets/remote/0004.sql"),
    include_str!("../../../../assets/remote/0005.sql"),
    include_str!("../../../../assets/remote/0006.sql"),
];

/// A key for a lock that keeps two processes from preparing a database at the same time.
const LOCK: i64 = 0x6f76_6572_7275_6c65;

/// The schema of Overrule, with the table of its versions.
const VERSIONS: &str = "CREATE SCHEMA IF NOT EXISTS overrule;
CREATE TABLE overrule.version (
    number integer PRIMARY KEY,
    applied timestamptz NOT NULL DEFAULT now()
);
";

impl Server {
    /// The statements of [`Server::prepare`] for a new database.
    pub fn statements() -> String {
        let migrations = (1..).zip(MIGRATIONS).map(|(number, statements)| {
            format!("{statements}INSERT INTO overrule.version (number) VALUES ({number});\n")
        });
        format!(
            "BEGIN;\n{VERSIONS}\n{}COMMIT;\n",
            migrations.collect::<String>()
        )
    }

    /// Creates the schema or brings it up to date. Returns whether anything was changed.
    ///
    /// # Errors
    /// The user may not create it, or a newer version of Overrule has created it.
    pub async fn prepare(&mut self) -> Result<bool, ServerError> {
        let patience = self.patience;
        let prepared = async {
            let transaction = self.client.transaction().await?;
            transaction
                .execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])
                .await?;
            let exists = transaction
                .query_one("SELECT to_regclass('overrule.version') IS NOT NULL", &[])
                .await?
                .try_get(0)?;
            let before: i32 = if exists {
                transaction
                    .query_one("SELECT coalesce(max(number), 0) FROM overrule.version", &[])
                    .await?
                    .try_get(0)?
            } else {
                transaction.batch_execute(VERSIONS).await?;
                0
            };
            for (number, statements) in (1i32..).zip(MIGRATIONS).skip(before.max(0) as usize) {
                transaction.batch_execute(statements).await?;
                transaction
                    .execute(
                        "INSERT INTO overrule.version (number) VALUES ($1)",
                        &[&number],
                    )
                    .await?;
            }
            transaction.commit().await?;
            Ok(before)
        };
        let before = in_time(patience, prepared).await;
        let before = self.outcome(before)?;
        self.check_version(before.max(MIGRATIONS.len() as i32))?;
        Ok((before as usize) < MIGRATIONS.len())
    }

    /// Checks that the database was prepared for this version of Overrule.
    pub async fn check(&self) -> Result<(), ServerError> {
        let version = "SELECT coalesce(max(number), 0) FROM overrule.version";
        let row = self.answer(self.client.query_one(version, &[])).await?;
        self.check_version(row.try_get(0).map_err(|error| self.error(&error))?)
    }

    fn check_version(&self, found: i32) -> Result<(), ServerError> {
        let (server, known) = (self.name().to_owned(), MIGRATIONS.len() as i32);
        match found {
            _ if found > known => Err(ServerError::Newer {
                server,
                found,
                known,
            }),
            _ if found < known => Err(ServerError::Older {
                server,
                found,
                known,
            }),
            _ => Ok(()),
        }
    }
}
