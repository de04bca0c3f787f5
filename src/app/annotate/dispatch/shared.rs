//! A run that shares its work with others: it plans and asks only the parts that it is given.

use super::Dispatcher;
use crate::app::annotate::error::RunError;
use crate::app::annotate::plan::{enter_plan, enter_round_part, share};
use crate::app::annotate::question_source::SourceTask;
use crate::app::annotate::request::RunRequest;
use crate::app::annotate::rounds::UnfinishedQuery;
use crate::app::annotate::shared_work::{PartKey, WorkPart};
use crate::store::judges::EnsembleId;
use std::sync::Arc;

impl Dispatcher {
    /// Stores the plan of a part's query, and sends the judges to the calls of the part.
    pub(super) async fn enter_part(
        &mut self,
        request: &Arc<RunRequest>,
        ensemble: EnsembleId,
        WorkPart { key, probe }: WorkPart,
    ) -> Result<(), RunError> {
        let PartKey { query, round, part } = key;
        let (specs, judges) = (self.specs(), self.judge_ids());
        let of = Arc::clone(request);
        let plan = self
            .store
            .write(move |db| {
                let judges = (&specs[..], &judges[..]);
                match round {
                    Some(_) => enter_round_part(db, key, &of, ensemble, judges),
                    None => enter_plan(db, query, &of, ensemble, judges, (probe, part)),
                }
            })
            .await?;
        let Some(shared) = &mut self.shared else {
            return Ok(());
        };
        let (place, queries, done) = shared.enter(query);
        (self.progress.queries, self.progress.queries_planned) = (queries, queries);
        self.progress.queries_done = done;
        let judges = self.judges.len();
        self.progress.total += plan.unplanned;
        self.progress.battles += plan.battles;
        self.progress.already += plan.already;
        self.missing += plan.missing;
        let mut open = UnfinishedQuery {
            place,
            calls: vec![0; judges],
            unplanned: plan.unplanned,
            short: false,
        };
        for (judge_index, calls) in plan.calls.into_iter().enumerate() {
            let progress = &mut self.progress.judges[judge_index];
            progress.total += share(plan.unplanned, judges, judge_index);
            if calls == 0 {
                continue;
            }
            let is_skipped = self.skipped_queries.contains(&(judge_index, query));
            if self.judges[judge_index].gone || is_skipped {
                open.short |= !is_skipped || round.is_none();
                continue;
            }
            progress.total += calls;
            self.progress.total += calls;
            open.calls[judge_index] = calls;
            self.waited_for += calls;
            self.judges[judge_index].send(SourceTask {
                place,
                key,
                selection: request.selection,
            });
        }
        self.open.insert(key, open);
        if let Some(rounds) = &mut self.rounds {
            rounds.expect(query);
        }
        self.settle(key).await
    }
}
