//! The project of one test, with runs on it and their results.

use crate::app::annotate::progress::RunProgress;
use crate::app::annotate::{RunHandle, RunOutcome, RunRequest};
use crate::client::RunControl;
use crate::domain::ranking::View;
use crate::domain::vote::JudgeId;
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use crate::store::outstanding::CallSelection;
use crate::store::vote_details::VoteDetail;
use crate::suites::fixtures::pool;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::sync::watch;

pub(crate) struct Bench {
    _folder: TempDir,
    pub(crate) store: Store,
    pub(crate) keys: Vec<QueryKey>,
}

/// A project with pools of these sizes.
pub(crate) fn bench(sizes: &[usize]) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("overrule.db")).unwrap();
    let pools: Vec<_> = sizes
        .iter()
        .enumerate()
        .map(|(seed, size)| pool(seed as u64, *size))
        .collect();
    let adding = store.write(move |db| {
        pools
            .iter()
            .map(|pool| Ok(db.add_pool(pool, "test")?.key()))
            .collect()
    });
    // Not `write_blocking`, which cannot be used in async tests.
    let keys = futures::executor::block_on(adding).unwrap();
    Bench {
        _folder: folder,
        store,
        keys,
    }
}

impl Bench {
    pub(crate) fn start(
        &self,
        judges: JudgeEnsemble,
        selection: CallSelection,
        control: RunControl,
    ) -> RunHandle {
        let request = RunRequest {
            selection,
            ..RunRequest::default()
        };
        RunHandle::start(self.store.clone(), judges, request, control)
    }

    pub(crate) async fn finish(
        &self,
        judges: JudgeEnsemble,
        selection: CallSelection,
    ) -> RunOutcome {
        self.start(judges, selection, RunControl::default())
            .end
            .await
            .unwrap()
            .unwrap()
    }

    pub(crate) async fn view(&self) -> View {
        let key = self.keys[0];
        self.store.read(move |db| db.view(key)).await.unwrap()
    }

    /// Waits until this many calls have been recorded. Progress is unsuitable, since it omits the
    /// last ones.
    pub(crate) async fn until_recorded(&self, calls: usize) {
        let deadline = Instant::now() + Duration::from_secs(30);
        let recorded = async || -> usize {
            let spent = self.store.read(|db| db.spent()).await.unwrap();
            spent.iter().map(|spent| spent.calls).sum()
        };
        while recorded().await < calls {
            assert!(Instant::now() < deadline, "the run never came so far");
            tokio::task::yield_now().await;
        }
    }

    pub(crate) async fn details(&self) -> Vec<VoteDetail> {
        let key = self.keys[0];
        self.store
            .read(move |db| {
                let seats: Vec<JudgeId> = db.judges_of(key)?.iter().map(|(id, _)| *id).collect();
                let battles = db.rows(key)?.battles;
                let votes = battles
                    .iter()
                    .map(|record| db.battle_votes(record.battle.id, &seats));
                Ok(votes.collect::<Result<Vec<_>, _>>()?.concat())
            })
            .await
            .unwrap()
    }
}

/// Score, standard error, rank and its interval, as bits.
pub(crate) type Bits = (u64, Option<u64>, usize, usize, usize);

/// All standings of a view.
pub(crate) fn bits(view: &View) -> Vec<Option<Bits>> {
    view.standings
        .iter()
        .map(|standing| {
            standing.map(|standing| {
                let interval = standing.interval.unwrap();
                let se = standing.se.map(f64::to_bits);
                (
                    standing.zelo.to_bits(),
                    se,
                    standing.rank,
                    interval.low,
                    interval.high,
                )
            })
        })
        .collect()
}

pub(crate) async fn until(
    progress: &mut watch::Receiver<RunProgress>,
    ready: impl FnMut(&RunProgress) -> bool,
) -> RunProgress {
    let waited = tokio::time::timeout(Duration::from_secs(30), progress.wait_for(ready)).await;
    waited.expect("the run never came so far").unwrap().clone()
}
