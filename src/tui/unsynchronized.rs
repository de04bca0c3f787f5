//! Says that this build does not synchronize the open project, if it is shared.

use super::job::Answer;
use super::message::Msg;
use super::model::{Model, Subject};
use super::service::Service;
use super::slot::Ticket;
use super::text::counted;
use super::widgets::toast::Level;
use crate::app::unsynchronized::WITHOUT_SERVER;
use crate::store::Store;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Whether the open project is shared.
#[derive(Debug, Default)]
struct IsShared(bool);

pub(crate) struct NoSynchronization;

impl Service for NoSynchronization {
    fn start(&self, store: Store, _: String, results: mpsc::Sender<Msg>) -> JoinHandle<()> {
        tokio::spawn(async move {
            let tell = match store.read(|db| db.waiting_changes()).await {
                Ok(None) => return,
                Ok(Some(waiting)) => told(waiting),
                Err(error) => Msg::Failed(format!("not synced: {error}")),
            };
            // Nobody listens any more if the workbench has been closed.
            drop(results.send(tell).await);
        })
    }

    fn state(&self, model: &Model) -> Option<(Vec<String>, Level)> {
        let words = ["not synced by this build", "not synced"].map(str::to_owned);
        let IsShared(is_shared) = model.state();
        is_shared.then(|| (words.to_vec(), Level::Warn))
    }

    fn opened(&self, _: &mut Model) {}

    fn taken_by(&self, _: &Model, _: &Subject) -> Option<String> {
        None
    }

    fn renamed(&self, _: &mut Model) {}
}

/// Tells the person how many changes wait in the file.
fn told(waiting: usize) -> Msg {
    let then = move |model: &mut Model| {
        *model.state_mut() = IsShared(true);
        let verb = if waiting == 1 { "waits" } else { "wait" };
        let waiting = counted(waiting, "change");
        model.say(
            Level::Warn,
            &format!("{waiting} of this shared project {verb} in its file: {WITHOUT_SERVER}"),
        );
        Vec::new()
    };
    Answer::progress(Ticket::default(), Box::new(then)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::verdict::Decision;
    use crate::store::Db;
    use crate::store::corpus::QueryKey;
    use crate::store::verdicts::NewVerdict;
    use crate::suites::screens::bench::Bench;

    /// What the service tells at the start.
    fn started(bench: &Bench) -> Option<Msg> {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let (results, mut told) = mpsc::channel(1);
            let started = NoSynchronization.start(bench.store.clone(), "ada".to_owned(), results);
            started.await.unwrap();
            told.recv().await
        })
    }

    #[test]
    fn a_shared_project_says_what_waits_in_its_file() {
        let mut bench = Bench::judged(120, 40);
        assert!(started(&bench).is_none());
        let share = |db: &mut Db| {
            db.change(
                "INSERT INTO sync (id, project, copy, reached) VALUES (1, x'00', x'01', '0')",
                [],
            )?;
            let verdict = NewVerdict::open(QueryKey(1), 0, 1, Decision::A, "ada");
            db.add_verdict(&verdict).map(drop)
        };
        bench.store.write_blocking(share).unwrap();
        bench.tell(started(&bench).unwrap());
        let toast = bench.model.toast.as_ref().unwrap().text.clone();
        assert!(
            toast.starts_with("1 change of this shared project waits"),
            "{toast}"
        );
        assert!(toast.ends_with("--features remote`"), "{toast}");
        let shot = bench.shot();
        assert!(shot.contains("not synced by this build"), "{shot}");
    }
}
