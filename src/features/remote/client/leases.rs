//! Leases of items: what people have open, so that two of them do not judge the same thing by
//! accident. The server's clock decides when a lease expires.

use super::error::ServerError;
use super::server::Server;
use super::team::SharedProject;
use crate::features::remote::store::Item;
use tokio_postgres::Row;
use uuid::Uuid;

/// A person with a copy of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lessee<'a> {
    pub copy: Uuid,
    pub person: &'a str,
}

/// An item that a person has open.
#[derive(Clone, Debug, PartialEq)]
pub struct Lease {
    pub person: String,
    pub query: String,
    pub documents: Vec<String>,
    /// The name of the screen.
    pub place: String,
    /// Since it was opened, in seconds.
    pub held_s: f64,
}

impl Server {
    /// Leases an item, which `slots` people are to judge and may have one lease each of, or extends
    /// the lease. For an annotator, those who have judged it count too.
    /// Returns whether the person has it now.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn lease_item(
        &self,
        project: &SharedProject,
        item: &Item,
        slots: i32,
        by: Lessee<'_>,
        place: &str,
    ) -> Result<bool, ServerError> {
        let row = self
            .answer(self.client.query_one(
                "SELECT overrule.lease_item($1, $2, $3, $4, $5, $6, $7, $8)",
                &[
                    &project.id,
                    &item.hash,
                    &slots,
                    &by.copy,
                    &by.person,
                    &item.query,
                    &item.documents,
                    &place,
                ],
            ))
            .await?;
        row.try_get(0).map_err(|error| self.error(&error))
    }

    /// Ends all leases of a copy, except for one item.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn release_items(
        &self,
        project: &SharedProject,
        by: Lessee<'_>,
        except: Option<&Item>,
    ) -> Result<(), ServerError> {
        let except = except.map(|item| &item.hash);
        self.answer(self.client.execute(
            "SELECT overrule.release_items($1, $2, $3, $4)",
            &[&project.id, &by.copy, &by.person, &except],
        ))
        .await?;
        Ok(())
    }

    /// The leases that have not expired, the oldest first.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn leases(&self, project: &SharedProject) -> Result<Vec<Lease>, ServerError> {
        let rows = self
            .answer(self.client.query(
                "SELECT person, query, documents, place, extract(epoch FROM now() - since)::float8
                 FROM overrule.lease WHERE project = $1 AND until > now()
                 ORDER BY since, person",
                &[&project.id],
            ))
            .await?;
        let lease = |row: Row| {
            Ok(Lease {
                person: row.try_get(0)?,
                query: row.try_get(1)?,
                documents: row.try_get(2)?,
                place: row.try_get(3)?,
                held_s: row.try_get(4)?,
            })
        };
        self.each(rows, lease)
    }
}
