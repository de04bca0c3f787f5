//! `overrule annotate --pair`: asks the project's judges about one pair of a query.

use super::{AnnotateCommand, cost, watch};
use crate::app::annotate::RunRequest;
use crate::app::annotate::pair_question::PricedQuestion;
use crate::app::choose_judges::{check_budget, is_paid};
use crate::app::run_lock::RunLock;
use crate::app::text_format::first_names;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output::{self, clean};
use crate::cli::spending::confirm_spending;
use crate::domain::battle::Pair;
use crate::domain::ranking::VoteCount;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use serde_json::json;
use std::sync::Arc;

/// The current results for a pair.
struct PairStanding {
    votes: VoteCount,
    /// P(A truly ranks above B), if the fit provides it.
    above: Option<f64>,
}

impl PairStanding {
    fn read(
        store: &Store,
        query: QueryKey,
        (a, b): (usize, usize),
    ) -> Result<Self, CommandFailure> {
        let view = store.read_blocking(move |db| db.view(query))?;
        Ok(Self {
            votes: view.vote_count(a, b),
            above: view.outranks(a, b),
        })
    }
}

impl AnnotateCommand {
    pub(super) fn ask_about_pair(
        &self,
        context: &CommandContext,
        names: &[String],
    ) -> CommandResult {
        let [query, a, b] = names else {
            return Err(usage!("--pair takes a query and two documents"));
        };
        let chosen = context
            .judges(self.spending.insecure_http)
            .choose(&self.judges)?;
        let store = context.open()?;
        let (id, first, second) = (query.clone(), a.clone(), b.clone());
        let (key, a_at, b_at, latest) = store.read_blocking(move |db| {
            let key = db.find_query(&id)?;
            let documents = (
                db.find_document(key, &first)?,
                db.find_document(key, &second)?,
            );
            Ok((key, documents.0, documents.1, db.latest_run()?))
        })?;
        chosen.notes.iter().for_each(|note| output::message(note));
        let Some(pair) = Pair::new(a_at, b_at) else {
            return Err(usage!(
                "--pair: {} is named twice; name two documents",
                clean(a)
            ));
        };
        let usual = &context.config.run;
        let request = RunRequest {
            pin_model: self.pin_model,
            ..RunRequest::continuing(latest, usual)
        };
        let priced = PricedQuestion::of(&store, (key, pair), &chosen.ensemble, &request)?;
        let ensemble = priced.question.ensemble(&chosen.ensemble);
        if self.spending.dry_run {
            if self.json {
                return output::json(&priced.estimate);
            }
            output::text(&cost::describe(&priced.estimate, &ensemble))?;
            return output::text("dry run: nothing was called and nothing was changed\n");
        }
        let budget = self.spending.budget(context, Some(&store))?;
        if let Some(budget) = budget {
            check_budget(budget, &ensemble)?;
        }
        // Held while the question is open and during the run, so that no other run can start in
        // between.
        let lock = Arc::new(RunLock::take(context.project())?);
        if !priced.question.absent.is_empty() {
            let absent = first_names(&priced.question.absent);
            output::message(&format!(
                "not asked, because not configured or not chosen: {absent}"
            ));
        }
        if ensemble.iter().any(|judge| is_paid(judge.as_ref())) {
            confirm_spending(
                &cost::describe(&priced.estimate, &ensemble),
                self.spending.yes,
            )?;
        }
        let before = PairStanding::read(&store, key, (a_at, b_at))?;
        let control = self.spending.control(context, budget, &ensemble);
        let asked = priced.question.request(&request);
        let (outcome, ()) =
            watch::watch(&lock, &store, ensemble, asked, control, self.json, |_| {
                Ok(())
            })?;
        if outcome.cancelled {
            return Err(CommandFailure::interrupted());
        }
        let after = PairStanding::read(&store, key, (a_at, b_at))?;
        if self.json {
            let VoteCount {
                a: for_a,
                b: for_b,
                ties,
            } = after.votes;
            output::json_line(&json!({
                "event": "pair", "query": query, "a": a, "b": b,
                "votes": { "a": for_a, "b": for_b, "ties": ties },
                "above": after.above, "above_before": before.above,
            }))?;
        } else {
            let (query, a, b) = (clean(query), clean(a), clean(b));
            output::text(&format!(
                "query {query}, A {a}, B {b}: {}\nP(A above B) {} (before: {})\n",
                after.votes,
                percent(after.above),
                percent(before.above)
            ))?;
        }
        match outcome.missing {
            Some(0) => Ok(()),
            _ => {
                let why = match (&outcome.model_changed, outcome.budget_reached) {
                    (Some(change), _) => format!("stopped by --pin-model: {change}"),
                    (None, true) => {
                        "the budget is reached; continue with a larger --budget".to_owned()
                    }
                    (None, false) => {
                        "run the same command again to ask the judges that did not answer"
                            .to_owned()
                    }
                };
                output::message(&format!("not every judge has answered; {why}"));
                Err(CommandFailure::incomplete())
            }
        }
    }
}

/// A probability; `–` if there is none.
fn percent(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
}
