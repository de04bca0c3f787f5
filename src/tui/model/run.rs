//! The run that goes on, or the last one.

use crate::app::annotate::progress::RunProgress;
use crate::client::RunControl;
use crate::store::corpus::QueryKey;

#[derive(Debug, Default)]
pub struct RunScreen {
    /// The latest progress, of the last run where none is going on.
    pub progress: Option<RunProgress>,
    pub running: bool,
    /// The one query that the run is about, where it is not about the project.
    pub only: Option<QueryKey>,
    pub control: RunControl,
    pub ended: Option<String>,
    /// The judge that is dropped or taken back on a key.
    pub chosen_judge: usize,
    /// First line of the log that is shown, from the end.
    pub log_scroll: usize,
}
