//! Services of features that run in the background while the workbench is open.

use super::message::Msg;
use super::model::Model;
use super::widgets::toast::Level;
use crate::store::Store;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// A service of a feature. It must never make a key press wait.
pub(crate) trait Service: Sync {
    /// Starts it for a project and a person, in a runtime. It ends when the model is gone.
    fn start(&self, store: Store, person: String, results: mpsc::Sender<Msg>) -> JoinHandle<()>;

    /// Its state for the header, from the longest words to the shortest, which may be empty; `None`
    /// if it does nothing in this project.
    fn state(&self, model: &Model) -> Option<(Vec<String>, Level)>;

    /// Decisions are stored under another name from now on.
    fn renamed(&self, model: &mut Model);
}
