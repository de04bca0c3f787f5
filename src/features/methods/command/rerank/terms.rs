//! The terms of a run of methods: shows the cost, keeps the budget, watches the run, and summarizes
//! the result.

use super::watch;
use crate::app::choose_judges::are_paid;
use crate::app::permissions::{AskedUser, Consent as _};
use crate::app::text_format::{counted, first_names};
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output::{self, clean};
use crate::cli::signals::RunEnd;
use crate::cli::spending::{SpendingOptions, confirm_spending, confirm_spending_on_terminal, usd};
use crate::client::RunControl;
use crate::domain::corpus::QueryId;
use crate::domain::permission::{PermissionRequest, ProgramUse};
use crate::domain::spend::Spend;
use crate::features::methods::app::rerank::estimate::{CallVolume, MethodEstimate};
use crate::features::methods::app::rerank::{PreparedRun, RerankPlan};
use crate::features::methods::domain::{FailureKind, MethodEffort, MethodRow};
use crate::judge::ensemble::NotAllowed;
use crate::judge::{FailureCause, JudgeEnsemble, MAX_CHARGED, OFFLINE_LABEL, provider};
use crate::store::Store;
use serde_json::{Value, json};
use std::sync::Arc;

/// What the user allows a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankingTerms<'o> {
    pub(crate) spending: &'o SpendingOptions,
    pub(crate) json: bool,
    /// The noun for the work on one query, such as `ranking`.
    pub(crate) noun: &'static str,
    /// Whether it may spend money without `--yes` if there is no terminal to ask on.
    pub(crate) unattended: bool,
}

/// A run that may start.
pub(crate) struct AllowedRun {
    pub(crate) plan: RerankPlan,
    notes: Vec<String>,
    #[cfg_attr(
        not(feature = "remote"),
        expect(dead_code, reason = "for work that is shared")
    )]
    pub(crate) ensemble: JudgeEnsemble,
    /// Of the methods, if the run may cost money.
    #[cfg_attr(
        not(feature = "remote"),
        expect(dead_code, reason = "for work that is shared")
    )]
    pub(crate) estimates: Vec<MethodEstimate>,
    pub(crate) control: RunControl,
}

/// A run that has ended or was stopped.
pub(crate) struct EndedRun {
    pub(crate) plan: Arc<RerankPlan>,
    pub(crate) notes: Vec<String>,
    /// Results of the plan's methods for its queries.
    pub(crate) rows: Vec<MethodRow>,
    pub(crate) summary: Vec<MethodSummary>,
    /// The calls that this run made, and what they cost.
    pub(crate) calls: usize,
    pub(crate) spend: Spend,
    ended: RunEnd,
    noun: &'static str,
}

impl RankingTerms<'_> {
    /// Performs a prepared run. `None` after a dry run, which has printed its result.
    pub(crate) fn carry_out(
        self,
        context: &CommandContext,
        store: &Store,
        prepared: PreparedRun,
    ) -> Result<Option<EndedRun>, CommandFailure> {
        let Some(allowed) = self.allow(context, store, prepared)? else {
            return Ok(None);
        };
        let plan = Arc::new(allowed.plan);
        let (ended, progress) = watch::watch(&plan, allowed.control, store, self.noun)?;
        let rows = plan.results(store)?;
        let summary = plan
            .method_names()
            .map(|name| MethodSummary::new(name, &rows))
            .collect();
        Ok(Some(EndedRun {
            plan,
            notes: allowed.notes,
            rows,
            summary,
            calls: progress.calls,
            spend: progress.spend,
            ended,
            noun: self.noun,
        }))
    }

    /// Shows what a prepared run costs, and asks whether to start it. `None` after a dry run, which
    /// has printed its result.
    pub(crate) fn allow(
        self,
        context: &CommandContext,
        store: &Store,
        prepared: PreparedRun,
    ) -> Result<Option<AllowedRun>, CommandFailure> {
        for note in &prepared.notes {
            output::message(&format!("note: {}", clean(note)));
        }
        let budget = self.spending.budget(context, Some(store))?;
        if let Some(budget) = budget {
            prepared.check_budget(budget)?;
        }
        let PreparedRun {
            plan,
            notes,
            ensemble,
            offline,
        } = prepared;
        let paid = plan.asks_servers() && (are_paid(&ensemble) || plan.asks_rerankers());
        let estimates = if self.spending.dry_run || paid {
            MethodEstimate::of(store, &plan)?
        } else {
            Vec::new()
        };
        if self.spending.dry_run {
            self.print_estimate(&plan, &estimates, &notes, &context.consent)?;
            return Ok(None);
        }
        if plan.rankings() > 0 {
            for program in plan.programs() {
                if let Some(used) = program.program() {
                    let request = PermissionRequest::Program(used.clone());
                    if !context.consent.allows(&request, program.name()) {
                        let name = clean(program.name());
                        return Err(usage!("reranker {name:?} {}", NotAllowed(request)));
                    }
                    program.permit();
                }
            }
        }
        if offline {
            output::message(OFFLINE_LABEL);
        }
        if paid && plan.rankings() > 0 {
            let words = describe(&plan, &estimates, self.noun);
            if self.unattended {
                confirm_spending(&words, self.spending.yes)?;
            } else {
                confirm_spending_on_terminal(&words, self.spending.yes)?;
            }
        }
        let control = self.spending.control(context, budget, &ensemble);
        Ok(Some(AllowedRun {
            plan,
            notes,
            ensemble,
            estimates,
            control,
        }))
    }

    fn print_estimate(
        &self,
        plan: &RerankPlan,
        estimates: &[MethodEstimate],
        notes: &[String],
        consent: &AskedUser,
    ) -> CommandResult {
        let programs = plan.programs().filter_map(|reranker| {
            let request = PermissionRequest::Program(reranker.program()?.clone());
            let allowed = consent.answer(&request) == Some(true);
            Some((reranker.name().to_owned(), request, allowed))
        });
        let programs: Vec<_> = programs.collect();
        if self.json {
            return output::json(&json!({
                "queries": plan.queries(),
                "rankings": plan.rankings(),
                "already": plan.already,
                "methods": estimates,
                "programs": programs.iter().filter_map(program_json).collect::<Vec<_>>(),
                "warnings": notes,
            }));
        }
        output::text(&describe(plan, estimates, self.noun))?;
        for (name, request, allowed) in &programs {
            let name = clean(name);
            let state = if *allowed {
                ""
            } else {
                "; you have not allowed it yet"
            };
            output::text(&format!("{name} would {request}{state}\n"))?;
        }
        output::text("dry run: nothing was called and nothing was changed\n")
    }
}

/// A program to be run, and whether the user has allowed it.
fn program_json((name, request, allowed): &(String, PermissionRequest, bool)) -> Option<Value> {
    let PermissionRequest::Program(ProgramUse { folder, command }) = request else {
        return None;
    };
    Some(json!({"method": name, "folder": folder, "command": command, "allowed": allowed}))
}

impl EndedRun {
    /// Reports the remaining work, and returns the corresponding result.
    pub(crate) fn finish(&self) -> CommandResult {
        let summary = &self.summary;
        let queries = self.plan.queries();
        let missing: usize = summary.iter().map(|one| queries - one.effort.queries).sum();
        let failed: usize = summary.iter().map(|one| one.effort.failed).sum();
        for one in summary {
            for failures in &one.failures {
                let queries = counted(failures.queries.len(), "query");
                let remedy = failures.cause.and_then(FailureCause::remedy);
                let remedy = remedy.map(|remedy| format!("; {remedy}"));
                output::message(&format!(
                    "{}: {queries} failed, the first one with: {}{}; failed: {}",
                    clean(&one.method),
                    clean(&failures.first),
                    remedy.unwrap_or_default(),
                    first_names(&failures.names()),
                ));
            }
        }
        let left = counted(missing, self.noun);
        if self.ended.interrupted && missing > 0 {
            output::message(&format!(
                "stopped; {left} missing; run the same command again to resume"
            ));
            return Err(CommandFailure::interrupted());
        }
        output::message(&match (missing, failed) {
            (0, 0) => return Ok(()),
            (0, _) => "failed queries are tried again with --retry-failed".to_owned(),
            _ if self.ended.budget_reached => {
                format!("missing: {left}; the budget is reached; continue with a larger --budget")
            }
            _ => format!("missing: {left}; run the same command again"),
        });
        Err(CommandFailure::incomplete())
    }
}

/// The expected and the maximum effort of questions as a table.
pub(crate) fn volume_table(expected: &CallVolume, most: &CallVolume) -> String {
    let header = [
        ">calls expected",
        ">at most",
        ">tokens in (est.)",
        ">tokens out (est.)",
        ">expected",
        ">at most",
    ];
    let row = vec![
        format!("{:.0}", expected.calls),
        format!("{:.0}", most.calls),
        format!("{:.0}", expected.tokens_input),
        format!("{:.0}", expected.tokens_output),
        usd(expected.usd),
        usd(most.usd),
    ];
    output::table(&header, &[row])
}

/// Describes the effort of the plan.
fn describe(plan: &RerankPlan, estimates: &[MethodEstimate], noun: &str) -> String {
    let mut text = format!(
        "{}, {} to make, {} already there\n",
        counted(plan.queries(), "query"),
        counted(plan.rankings(), noun),
        counted(plan.already, noun),
    );
    let header = [
        "method",
        ">queries",
        ">calls at least",
        ">expected",
        ">at most",
        ">tokens in (est.)",
        ">tokens out (est.)",
        ">at least",
        ">expected",
        ">at most",
    ];
    let rows = estimates.iter().map(|estimate| {
        let calls = |volume: &CallVolume| format!("{:.0}", volume.calls);
        vec![
            clean(&estimate.method),
            estimate.queries.to_string(),
            calls(&estimate.least),
            calls(&estimate.expected),
            calls(&estimate.most),
            format!("{:.0}", estimate.expected.tokens_input),
            format!("{:.0}", estimate.expected.tokens_output),
            usd(estimate.least.usd),
            usd(estimate.expected.usd),
            usd(estimate.most.usd),
        ]
    });
    text.push_str(&output::table(&header, &rows.collect::<Vec<_>>()));
    for estimate in estimates.iter().filter(|estimate| estimate.learnt > 0) {
        text.push_str(&format!(
            "{}: tokens and cost expected from {} in this project\n",
            clean(&estimate.method),
            counted(estimate.learnt, "earlier ranking")
        ));
    }
    for estimate in estimates.iter().filter(|estimate| estimate.program_asks) {
        text.push_str(&format!(
            "{}: the program decides which pairs it asks about; expected and at most are every \
             pair in both orders\n",
            clean(&estimate.method)
        ));
    }
    if let Some(fewest) = estimates
        .iter()
        .filter(|estimate| estimate.measured < estimate.queries)
        .map(|estimate| estimate.measured)
        .min()
    {
        text.push_str(&format!(
            "At least and expected: simulated on {} and scaled to all.\n",
            counted(fewest, "query")
        ));
    }
    if estimates.iter().any(|estimate| estimate.most.calls > 0.0) {
        text.push_str(&format!(
            "At most: every query with the most calls and the longest documents, each call charged \
             {MAX_CHARGED} times at its highest price (once with :strict).\n"
        ));
    }
    if plan.asks_servers() {
        text.push_str(&format!("{}\n", provider::ESTIMATE));
    }
    text
}

/// The results of a method for the plan's queries.
pub(crate) struct MethodSummary {
    pub(crate) method: String,
    pub(crate) effort: MethodEffort,
    failures: Vec<FailuresOfMethod>,
}

/// Queries of a method that failed with the same cause.
struct FailuresOfMethod {
    /// `None` if no call caused the failure.
    cause: Option<FailureCause>,
    kind: FailureKind,
    queries: Vec<QueryId>,
    /// The message of the first failure.
    first: String,
}

impl FailuresOfMethod {
    fn json(&self) -> serde_json::Value {
        json!({
            "cause": self.cause,
            "failure_type": self.kind,
            "queries": self.queries.len(),
            "query_ids": self.queries,
            "first": self.first,
        })
    }

    fn names(&self) -> Vec<&str> {
        self.queries.iter().map(QueryId::as_str).collect()
    }
}

impl MethodSummary {
    fn new(method: &str, rows: &[MethodRow]) -> Self {
        let own = || rows.iter().filter(|row| row.method == method);
        let mut failures: Vec<FailuresOfMethod> = Vec::new();
        for (query, failure) in own().filter_map(|row| Some((&row.query, row.failure.as_ref()?))) {
            let (cause, kind) = (FailureCause::of_error(&failure.message), failure.kind);
            let alike = |known: &&mut FailuresOfMethod| (known.cause, known.kind) == (cause, kind);
            match failures.iter_mut().find(alike) {
                Some(known) => known.queries.push(query.clone()),
                None => failures.push(FailuresOfMethod {
                    cause,
                    kind,
                    queries: vec![query.clone()],
                    first: failure.message.clone(),
                }),
            }
        }
        Self {
            method: method.to_owned(),
            effort: MethodEffort::of(own()),
            failures,
        }
    }

    pub(crate) fn ranked(&self) -> usize {
        self.effort.queries - self.effort.failed
    }

    /// Cost of all queries with a result; `None` if the price of any is unknown.
    pub(crate) fn cost_usd(&self) -> Option<f64> {
        (self.effort.priced == self.effort.queries).then_some(self.effort.cost_usd)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        let effort = &self.effort;
        json!({
            "method": self.method,
            "ranked": self.ranked(),
            "failed": effort.failed,
            "first_failure": self.failures.first().map(|failures| &failures.first),
            "failures": self.failures.iter().map(FailuresOfMethod::json).collect::<Vec<_>>(),
            "calls": effort.calls,
            "shared_calls": effort.shared_calls,
            "failed_calls": effort.failed_calls,
            "tokens": effort.tokens_in + effort.tokens_out,
            "cost_usd": self.cost_usd(),
            "repairs": effort.repairs,
            "truncated_documents": effort.truncated,
            "max_document_chars": effort.document_chars,
            "median_ms": effort.wall_p50_ms,
        })
    }
}
