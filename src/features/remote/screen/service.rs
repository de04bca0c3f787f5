//! Starts the synchronization of a shared project, and passes on what it tells.

use super::leases::{opened, taken_by};
use super::state::happened;
use crate::app::error::AppError;
use crate::features::remote::app::background::{Background, Event, Order};
use crate::features::remote::app::servers;
use crate::features::remote::client::Address;
use crate::store::Store;
use crate::tui::job::Answer;
use crate::tui::message::{Effect, Msg};
use crate::tui::model::{Model, Subject};
use crate::tui::service::Service;
use crate::tui::slot::Ticket;
use crate::tui::widgets::toast::Level;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Number of events that are waiting to be shown.
const EVENTS: usize = 16;

/// Synchronizes a shared project while it is open.
pub(crate) struct Synchronization;

impl Service for Synchronization {
    fn start(&self, store: Store, person: String, results: mpsc::Sender<Msg>) -> JoinHandle<()> {
        tokio::spawn(async move {
            let url = match server_of(&store).await {
                Ok(Some(url)) => url,
                Ok(None) => return,
                Err(error) => {
                    drop(
                        results
                            .send(Msg::Failed(format!("not synced: {error}")))
                            .await,
                    );
                    return;
                }
            };
            let (orders, taken) = mpsc::unbounded_channel();
            let (told, mut events) = mpsc::channel(EVENTS);
            let begin = message(|model| {
                model.team_mut().begin(orders);
                // Something may have been opened before.
                opened(model);
                Vec::new()
            });
            if results.send(begin).await.is_err() {
                return;
            }
            let background = Background::new(store, url, person, taken, told);
            let show = async {
                while let Some(event) = events.recv().await {
                    if results.send(shown(event)).await.is_err() {
                        return;
                    }
                }
            };
            tokio::join!(background.run(), show);
        })
    }

    fn state(&self, model: &Model) -> Option<(Vec<String>, Level)> {
        model.team().words(model.now)
    }

    fn opened(&self, model: &mut Model) {
        opened(model);
    }

    fn taken_by(&self, model: &Model, subject: &Subject) -> Option<String> {
        taken_by(model, subject)
    }

    fn renamed(&self, model: &mut Model) {
        let name = model.options.annotator.clone();
        model.team().order(Order::Rename(name));
    }
}

/// The server of the project, if it is shared and this person has named one.
async fn server_of(store: &Store) -> Result<Option<Address>, AppError> {
    if store.is_read_only() || store.read(|db| db.shared()).await?.is_none() {
        return Ok(None);
    }
    let path = store.path().to_owned();
    let known = tokio::task::spawn_blocking(move || servers::known(&path));
    let known = known.await.map_err(AppError::failed)??;
    Ok(known.map(|url| Address::parse(&url)).transpose()?)
}

/// A message that changes the model.
fn message(then: impl FnOnce(&mut Model) -> Vec<Effect> + Send + 'static) -> Msg {
    Answer::progress(Ticket::default(), Box::new(then)).into()
}

fn shown(event: Event) -> Msg {
    message(move |model| happened(model, event))
}
