//! Notifications: the server tells at once which project another connection has changed.

use super::error::ServerError;
use super::server::Server;
use super::team::SharedProject;

impl Server {
    /// Lets the server tell this connection about changes of projects.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn listen(&mut self) -> Result<(), ServerError> {
        self.answer(self.client.batch_execute("LISTEN overrule"))
            .await?;
        let row = self
            .answer(self.client.query_one("SELECT pg_backend_pid()", &[]))
            .await?;
        self.process = row.try_get(0).map_err(|error| self.error(&error))?;
        Ok(())
    }

    /// Waits until another connection has changed a project. Can be canceled and called again.
    ///
    /// # Errors
    /// The connection was lost.
    pub async fn noticed(&mut self, project: &SharedProject) -> Result<(), ServerError> {
        let project = project.id.to_string();
        while let Some(notice) = self.notices.recv().await {
            if notice.process_id() != self.process && notice.payload() == project {
                // One look at the project finds what all of them are about.
                while self.notices.try_recv().is_ok() {}
                return Ok(());
            }
        }
        Err(ServerError::Away {
            server: self.name().to_owned(),
            why: "the connection was lost".to_owned(),
        })
    }
}
