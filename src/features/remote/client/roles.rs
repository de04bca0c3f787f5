//! The rights of annotators, curators and workers: roles of PostgreSQL and row-level security.

use super::error::ServerError;
use super::server::{Server, in_time};

/// Statements that can be run again.
const ROLES: &str = include_str!("../../../../assets/remote/roles.sql");

impl Server {
    /// The statements of [`Server::grant_roles`].
    pub fn role_statements() -> String {
        format!("BEGIN;\n{ROLES}COMMIT;\n")
    }

    /// Whether rights were granted to the roles.
    pub async fn has_roles(&self) -> Result<bool, ServerError> {
        let has = "SELECT relrowsecurity FROM pg_class WHERE oid = 'overrule.judgment'::regclass";
        let row = self.answer(self.client.query_one(has, &[])).await?;
        row.try_get(0).map_err(|error| self.error(&error))
    }

    /// Creates the roles, unless they exist, and grants their rights on the tables of this version.
    ///
    /// # Errors
    /// The user does not own the tables or may not create roles.
    pub async fn grant_roles(&mut self) -> Result<(), ServerError> {
        let patience = self.patience * 10;
        let granted = async {
            let transaction = self.client.transaction().await?;
            transaction.batch_execute(ROLES).await?;
            transaction.commit().await
        };
        let granted = in_time(patience, granted).await;
        self.outcome(granted)
    }
}
