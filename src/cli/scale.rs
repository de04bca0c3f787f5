//! `overrule scale`: one scale over queries, asked for and shown.

use super::command::{CommandContext, CommandFailure, CommandResult, usage};
use super::output::{self, clean};
use super::rerank::{describe, watch};
use super::signals::RunEnd;
use super::spending::confirm_spending;
use crate::app::choose_judges::{check_budget, is_paid};
use crate::app::one_scale::{
    AnchorRequest, CutSource, ProjectScale, RELEVANT, ScaledQuery, prepare_anchors,
};
use crate::app::rerank::RerankPlan;
use crate::app::rerank::estimate::MethodEstimate;
use crate::app::run_lock::RunLock;
use crate::app::scored_pools::{all_keys, scored_pools};
use crate::app::wording::counted;
use crate::client::RunControl;
use crate::domain::one_scale::{Drift, ENOUGH_RULINGS};
use crate::judge::OFFLINE_LABEL;
use crate::store::Store;
use clap::Args;
use serde_json::{Value, json};
use std::sync::Arc;

/// Anchors a query at most: further ones tell little, and a drifting judge's nothing.
const MOST_ANCHORS: u64 = 50;

#[derive(Debug, Args)]
#[command(
    after_help = "zELO has mean 0 in each query, so scores of different queries have no common zero. Anchors give them one: a few documents of each
query, spread over its ranking, are graded 0 to 3 by one judge, each by itself. From the grades follows an offset b of each query;
zELO + b is called zelo_linked. Where labels or rulings are there (30 or more of scored documents), cut points between grades
are fitted to them on that scale; else they are the judge's own.

Answers are in the project before they count. The same command goes on where it stopped and buys nothing twice; a query keeps its
anchors when its scores move. Take a judge of another vendor than those of the battles.

Examples:
  overrule scale --anchors 5 --judge gpt --dry-run     what it would cost
  overrule scale --anchors 5 --judge gpt --budget 2    asks, then shows
  overrule scale                                       each query's offset and how many relevant documents to expect
  overrule scale --documents --query q1 --json         absolute scores and the probability of each grade"
)]
pub(super) struct ScaleCommand {
    /// Have this many documents of each query graded; 5 are usual
    #[arg(long, value_name = "N", requires = "judge", value_parser = clap::value_parser!(u64).range(2..=MOST_ANCHORS))]
    anchors: Option<u64>,
    /// The judge that grades; without --anchors: whose grades are used [default: the one that graded most queries]
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
    /// Only this query, repeatable
    #[arg(long, value_name = "ID")]
    query: Vec<String>,
    /// The grade from which on a document counts as relevant
    #[arg(long, value_name = "GRADE", default_value_t = RELEVANT, value_parser = clap::value_parser!(i32).range(1..=3))]
    level: i32,
    /// One row a document: absolute score, and the probability of each grade
    #[arg(long)]
    documents: bool,
    /// Also ask again about queries that failed
    #[arg(long, requires = "anchors")]
    retry_failed: bool,
    /// Calls in flight at most
    #[arg(long, requires = "anchors")]
    concurrency: Option<usize>,
    /// Dollars that the project may have spent in all; a run that reaches them ends with exit code 3
    #[arg(long, value_name = "USD", requires = "anchors")]
    budget: Option<f64>,
    /// Do not ask before money is spent
    #[arg(long)]
    yes: bool,
    /// Let keys travel unencrypted to other machines
    #[arg(long)]
    insecure_http: bool,
    /// Say what would be asked and what it would cost, and stop
    #[arg(long, requires = "anchors")]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ScaleCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let asked = match (self.anchors, &self.judge) {
            (Some(count), Some(judge)) => {
                match self.ask(context, &store, count as usize, judge)? {
                    Some(asked) => asked,
                    None => return Ok(()),
                }
            }
            _ => Asked::default(),
        };
        let Some(scale) = ProjectScale::read(&store, self.judge.as_deref())? else {
            // What is missing explains it where a run was cut short.
            finish(&asked)?;
            return Err(usage!(
                "nothing was measured that goes beyond one query, or all anchors have one grade: scores of different queries have no \
                 common zero; `overrule scale --anchors 5 --judge NAME` asks for one"
            ));
        };
        self.show(&store, &scale)?;
        finish(&asked)
    }

    /// Has anchors graded. `None` after a dry run.
    fn ask(
        &self,
        context: &CommandContext,
        store: &Store,
        count: usize,
        judge: &str,
    ) -> Result<Option<Asked>, CommandFailure> {
        // What another run is buying must not be planned here too.
        let _lock = match self.dry_run {
            true => None,
            false => Some(RunLock::take(context.project())?),
        };
        let request = AnchorRequest {
            judge,
            count,
            queries: &self.query,
            retry_failed: self.retry_failed,
        };
        let judges = context.judges(self.insecure_http);
        let prepared = prepare_anchors(store, &judges, &request)?;
        for note in &prepared.notes {
            output::message(&format!("note: {}", clean(note)));
        }
        if let Some(budget) = self.budget {
            check_budget(budget, &prepared.ensemble)?;
        }
        let plan = prepared.plan;
        let paid = plan.asks_servers() && prepared.ensemble.iter().any(|one| is_paid(one.as_ref()));
        let estimates = match self.dry_run || paid {
            true => MethodEstimate::of(store, &plan)?,
            false => Vec::new(),
        };
        if self.dry_run {
            print_estimate(&plan, &estimates, &prepared.notes, self.json)?;
            return Ok(None);
        }
        if paid && plan.rankings() > 0 {
            confirm_spending(&describe(&plan, &estimates), self.yes)?;
        }
        let concurrency = self.concurrency.unwrap_or(context.config.run.concurrency);
        let control = RunControl {
            concurrency: concurrency.max(1),
            budget_usd: self.budget,
            ..RunControl::default()
        };
        let plan = Arc::new(plan);
        let ended = watch::watch(&plan, control, store)?;
        let rows = plan.results(store)?;
        let failures = rows.iter().filter_map(|row| row.failure.clone());
        let failures: Vec<String> = failures.collect();
        Ok(Some(Asked {
            missing: plan.queries() - rows.len(),
            failed: failures.len(),
            first_failure: failures.into_iter().next(),
            ended,
        }))
    }

    fn show(&self, store: &Store, scale: &ProjectScale) -> CommandResult {
        if scale.is_offline() {
            output::message(OFFLINE_LABEL);
        }
        let keys = all_keys(store)?;
        let pools = scored_pools(store, &keys)?;
        let mut rows = scale.queries(&pools, self.level);
        for name in &self.query {
            if !rows.iter().any(|row| row.query.as_str() == name) {
                return Err(usage!(
                    "--query: {:?} is not on the scale; it has no anchors by {}",
                    clean(name),
                    clean(&scale.judge)
                ));
            }
        }
        let wanted = |query: &str| self.query.is_empty() || self.query.iter().any(|q| q == query);
        rows.retain(|row| wanted(row.query.as_str()));
        let unmeasured = scale.unmeasured(&pools);
        let mut documents = Vec::new();
        if self.documents {
            for (key, pool) in keys.iter().zip(&pools) {
                if wanted(pool.query.as_str()) {
                    let (key, scale) = (*key, scale.clone());
                    let found = store.read_blocking(move |db| scale.documents(db, key))?;
                    documents.extend(found.into_iter().flatten().map(|one| (&pool.query, one)));
                }
            }
        }
        if self.json {
            let mut told = summary_json(scale, &rows, unmeasured, self.level);
            if let (true, Some(told)) = (self.documents, told.as_object_mut()) {
                let documents = documents.iter().map(|(query, one)| {
                    let (grade, probability) = scale.grades.grade(one.linked);
                    let each = [0, 1, 2, 3].map(|level| exactly(scale, one.linked, level));
                    json!({
                        "query": query, "document": one.id, "zelo": one.zelo, "zelo_linked": one.linked, "zelo_linked_se": one.se,
                        "probabilities": each,
                        "expected_grade": scale.grades.gain(one.linked), "grade": grade, "probability": probability,
                    })
                });
                told.insert("documents".to_owned(), documents.collect());
            }
            return output::json(&told);
        }
        if self.documents {
            let header = [
                "query",
                "document",
                ">zELO",
                ">zelo_linked",
                ">SE",
                ">P(0)",
                ">P(1)",
                ">P(2)",
                ">P(3)",
                ">expected grade",
                ">grade",
            ];
            let cells = documents.iter().map(|(query, one)| {
                let mut row = vec![
                    clean(query.as_str()),
                    clean(one.id.as_str()),
                    format!("{:+.2}", one.zelo),
                    format!("{:+.2}", one.linked),
                    one.se
                        .map_or_else(|| "–".to_owned(), |se| format!("{se:.2}")),
                ];
                row.extend(
                    [0, 1, 2, 3].map(|level| format!("{:.2}", exactly(scale, one.linked, level))),
                );
                let (grade, probability) = scale.grades.grade(one.linked);
                row.push(format!("{:.2}", scale.grades.gain(one.linked)));
                row.push(format!(
                    "{grade}{}",
                    if probability < 0.6 { "?" } else { "" }
                ));
                row
            });
            output::text(&output::table(&header, &cells.collect::<Vec<_>>()))?;
            output::message("? after a grade: it is less than 60 % sure");
        } else {
            output::text(&table(&rows))?;
        }
        words(scale, &rows, unmeasured, self.level)
            .iter()
            .for_each(|line| output::message(&clean(line)));
        Ok(())
    }
}

/// The probability of exactly this grade.
fn exactly(scale: &ProjectScale, score: f64, level: i32) -> f64 {
    scale.grades.at_least(score, level) - scale.grades.at_least(score, level + 1)
}

/// What came of asking.
#[derive(Default)]
struct Asked {
    missing: usize,
    failed: usize,
    first_failure: Option<String>,
    ended: RunEnd,
}

fn finish(asked: &Asked) -> CommandResult {
    if let Some(why) = &asked.first_failure {
        output::message(&format!(
            "{} failed, the first one with: {}; --retry-failed asks again",
            counted(asked.failed, "query"),
            clean(why)
        ));
    }
    let queries = counted(asked.missing, "query");
    if asked.ended.interrupted && asked.missing > 0 {
        output::message(&format!(
            "stopped; {queries} not asked about, and the same command goes on"
        ));
        return Err(CommandFailure::interrupted());
    }
    match (asked.missing, asked.failed) {
        (0, 0) => return Ok(()),
        (0, _) => {}
        _ if asked.ended.budget_reached => output::message(&format!(
            "missing: {queries}; the budget is reached; go on with a larger --budget"
        )),
        _ => output::message(&format!("missing: {queries}; run the same command again")),
    }
    Err(CommandFailure::incomplete())
}

fn print_estimate(
    plan: &RerankPlan,
    estimates: &[MethodEstimate],
    notes: &[String],
    as_json: bool,
) -> CommandResult {
    if as_json {
        return output::json(&json!({
            "queries": plan.queries(),
            "to_ask": plan.rankings(),
            "already": plan.already,
            "estimates": estimates,
            "warnings": notes,
        }));
    }
    output::text(&describe(plan, estimates))?;
    output::text("dry run: nothing was called and nothing was changed\n")
}

fn table(rows: &[ScaledQuery]) -> String {
    let header = [
        "query",
        ">offset b",
        ">SE",
        ">anchors",
        ">documents",
        ">expected relevant",
        ">graded relevant",
        ">grade unsure",
    ];
    let rows = rows.iter().map(|row| {
        vec![
            clean(row.query.as_str()),
            format!("{:+.2}", row.offset.b),
            format!("{:.2}", row.offset.se),
            row.offset.anchors.to_string(),
            row.documents.to_string(),
            format!("{:.1}", row.expected_relevant),
            row.relevant.to_string(),
            row.doubtful.to_string(),
        ]
    });
    output::table(&header, &rows.collect::<Vec<_>>())
}

/// The mean number of relevant documents to expect in a query.
fn mean_relevant(rows: &[ScaledQuery]) -> Option<f64> {
    let sum: f64 = rows.iter().map(|row| row.expected_relevant).sum();
    (!rows.is_empty()).then(|| sum / rows.len() as f64)
}

fn words(scale: &ProjectScale, rows: &[ScaledQuery], unmeasured: usize, level: i32) -> Vec<String> {
    let bare = rows.iter().filter(|row| row.relevant == 0).count();
    let mut lines = vec![format!(
        "{bare} of {} {} no document of grade {level} or more (expected {:.1} relevant a query); {}",
        counted(rows.len(), "query"),
        if bare == 1 || rows.len() == 1 {
            "has"
        } else {
            "have"
        },
        mean_relevant(rows).unwrap_or_default(),
        scale.cuts_in_words()
    )];
    lines.push(format!(
        "{}; queries differ by a standard deviation of {:.2} in units of zELO",
        scale.describe(),
        scale.tau
    ));
    if unmeasured > 0 {
        lines.push(format!(
            "{} with scores not on the scale; `overrule scale --anchors` with the same judge asks about them",
            counted(unmeasured, "query")
        ));
    }
    if !scale.others.is_empty() {
        lines.push(format!(
            "anchors of {} are not used; --judge takes them",
            scale.others.join(", ")
        ));
    }
    lines.push(drift_words(scale.drift));
    lines
}

fn drift_words(drift: Option<Drift>) -> String {
    let few = |rulings: usize| {
        format!(
            "whether the judge drifts between queries is not known: {} of {ENOUGH_RULINGS} anchors with a label or a ruling",
            rulings
        )
    };
    match drift {
        None => few(0),
        Some(drift) if !drift.is_known() => few(drift.rulings),
        Some(drift) => format!(
            "drift of the judge between queries: {:.2} of what it errs within them ({} with a label or a ruling in {}){}",
            drift.ratio(),
            counted(drift.rulings, "anchor"),
            counted(drift.queries, "query"),
            match drift.is_too_large() {
                true =>
                    "; warning: above 0.8 its anchors tell little of how queries compare, and more of them would tell no more: take another judge",
                false => "",
            }
        ),
    }
}

fn summary_json(
    scale: &ProjectScale,
    rows: &[ScaledQuery],
    unmeasured: usize,
    level: i32,
) -> Value {
    let (cuts, labels) = match scale.cuts {
        CutSource::People { labels } => ("people", Some(labels)),
        CutSource::Judge => ("judge", None),
    };
    let queries = rows.iter().map(|row| {
        json!({
            "query": row.query,
            "b": row.offset.b,
            "se": row.offset.se,
            "anchors": row.offset.anchors,
            "documents": row.documents,
            "expected_relevant": row.expected_relevant,
            "graded_relevant": row.relevant,
            "unsure": row.doubtful,
        })
    });
    json!({
        "judge": scale.judge,
        "other_judges": scale.others,
        "offline": scale.is_offline(),
        "level": level,
        "cut_points": {"from": cuts, "labels": labels},
        "tau": scale.tau,
        "queries_not_measured": unmeasured,
        "without_relevant": rows.iter().filter(|row| row.relevant == 0).count(),
        "expected_relevant": mean_relevant(rows),
        "drift": scale.drift.map(|drift| json!({
            "ratio": Some(drift.ratio()).filter(|ratio| ratio.is_finite() && drift.is_known()),
            "between": drift.between,
            "within": drift.within,
            "rulings": drift.rulings,
            "too_large": drift.is_known().then(|| drift.is_too_large()),
        })),
        "queries": queries.collect::<Vec<_>>(),
    })
}
