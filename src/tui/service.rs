//! Services of features that run in the background while the workbench is open.

use super::message::Msg;
use super::model::{Model, Subject};
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

    /// The person has opened something else, or something to decide on was closed.
    fn opened(&self, model: &mut Model);

    /// Who is deciding on it now, if no more people are wanted; a name as stored.
    fn taken_by(&self, model: &Model, subject: &Subject) -> Option<String>;

    /// Decisions are stored under another name from now on.
    fn renamed(&self, model: &mut Model);
}
