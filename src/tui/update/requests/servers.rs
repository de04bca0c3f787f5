//! Looks for servers on this machine that could be judges.

use crate::app::error::AppError;
use crate::app::init::discovery::{FoundServer, servers_here};
use crate::tui::job::{Job, JobContext, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::slot::Slot;

const SERVERS: Slot = Slot::shared("servers");

/// Asks the usual servers on this machine for their models.
#[derive(Debug, PartialEq)]
struct FindServers;

impl Task for FindServers {
    type Answer = Vec<FoundServer>;
    const AFTER_WRITES: bool = false;

    fn run(self, _: &JobContext) -> Result<Vec<FoundServer>, AppError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(runtime.block_on(servers_here()))
    }
}

impl Model {
    /// Looks for servers if the offline judges are used only because there are no others.
    pub(crate) fn find_servers(&mut self) -> Vec<Effect> {
        if !self.options.look_for_servers {
            return Vec::new();
        }
        let job = Job::task(FindServers, |model, servers| {
            model.servers = servers;
            Vec::new()
        });
        vec![job.latest(&mut self.jobs, SERVERS).into()]
    }
}
