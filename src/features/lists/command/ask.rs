//! `overrule lists ask`: asks judges for the order of several documents.

use crate::app::annotate::batch::{BatchSubmission, SubmittedBatch};
use crate::app::annotate::{RunOutcome, RunRequest};
use crate::app::error::AppError;
use crate::app::run_lock::RunLock;
use crate::app::text_format::counted;
use crate::cli::annotate::batch;
use crate::cli::annotate::watch::watch;
use crate::cli::batch::fetch_ended;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output::{self, clean};
use crate::cli::signals::runtime;
use crate::cli::spending::{SpendingOptions, confirm_spending};
use crate::domain::number_words::{count, usd};
use crate::features::lists::app::{
    ListEstimate, ListRun, ListWish, PairMix, PairPrice, ProbePlan, WaitingLists, prepare_lists,
};
use crate::features::lists::domain::{AnswerForm, CallCount, ListKind, ListPlan, PairShare};
use crate::features::methods::app::rerank::estimate::CallVolume;
use crate::features::methods::command::rerank::terms::volume_table;
use crate::features::methods::command::rerank::watch::{AnswersEnd, watch_answers};
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use clap::Args;
use serde_json::json;
use std::sync::Arc;

/// The lists to ask for.
#[derive(Debug, Args)]
pub(super) struct ListOptions {
    /// Number of documents shown, from 3 to 10
    #[arg(long, default_value_t = 5, value_name = "M", value_parser = clap::value_parser!(u8).range(3..=10))]
    size: u8,
    /// The part of the order to ask for: order (all documents), best-worst (these two) or best:K
    #[arg(long, default_value = "order", value_name = "order|best-worst|best:K")]
    answer: AnswerForm,
    /// Judges to ask [default: all of overrule.toml that can order lists]
    #[arg(long, value_delimiter = ',', value_name = "JUDGE,…")]
    pub(super) judges: Vec<String>,
    /// Random seed
    #[arg(long, default_value_t = 0)]
    pub(super) seed: u64,
}

impl ListOptions {
    pub(super) fn kind(&self) -> Result<ListKind, CommandFailure> {
        ListKind::new(usize::from(self.size), self.answer)
            .map_err(|error| usage!("--answer: {error}"))
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "The judges take turns, and every list is shown in a random order. A reply that \
does not name each document exactly once, or exactly the documents asked for, is stored as malformed: \
it is never repaired and not asked again. A call that failed without a reply is asked again by the next run with the same options. \
Answers that the project holds are not bought again.

Plans: random shows all documents equally often. swiss shows neighbors in the order so far. top \
shows the documents whose order matters most for the top ranks. swiss and top wait for the answers of \
a round before they choose the next one.

--mix 20% spends a fifth of the calls on regular battles of pairs that the lists have shown, which every \
judge of the lists judges in both orders. Pairs that they have judged already count.

Examples:
  overrule lists ask --calls 60 --dry-run
  overrule lists ask --calls 60 --mix 20% --budget 5
  overrule lists ask --size 5 --calls 60 --plan top --budget 5
  overrule lists ask --calls 60 --plan random --batch --budget 5
  overrule lists ask --size 10 --answer best:3 --calls 20 --judges gpt,claude --yes"
)]
pub(crate) struct AskCommand {
    #[command(flatten)]
    lists: ListOptions,
    /// How to choose documents
    #[arg(long, default_value = "swiss", value_name = "random|swiss|top")]
    plan: ListPlan,
    /// Number of list calls per query, including those that the project has; with --mix, of all
    /// calls [default: enough to show each document eight times]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    calls: Option<u32>,
    /// Spend this share of the calls on battles of pairs that the lists have shown
    #[arg(long, value_name = "SHARE%")]
    mix: Option<PairShare>,
    /// Ask about this query only; may be repeated
    #[arg(long, value_name = "QUERY")]
    query: Vec<String>,
    /// Use the batch endpoints of the providers: half the price, answers within a day. Submits one
    /// round (with --plan random, all calls); run it again to fetch the answers and continue
    #[arg(long, conflicts_with = "mix")]
    batch: bool,
    #[command(flatten)]
    spending: SpendingOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl AskCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let asking = Asking {
            wish: ListWish {
                kind: self.lists.kind()?,
                judges: self.lists.judges,
                queries: self.query,
                plan: self.plan,
                calls: call_count(self.calls),
                mix: self.mix,
                seed: self.lists.seed,
            },
            spending: &self.spending,
            batch: self.batch,
            json: self.json,
        };
        let store = context.open()?;
        // Two runs must not plan the same calls.
        let lock = self.spending.lock(context)?;
        if self.batch && lock.is_some() {
            fetch_ended(context, &store, self.spending.insecure_http)?;
        }
        let offer = asking.offer(context, &store)?;
        offer.tell();
        let budget = asking.budget(context, Some(&store), &offer)?;
        let Some(lock) = lock else {
            return asking.dry_run(context, &store, &offer);
        };
        asking.confirm(&offer)?;
        asking.ask(context, &store, &Arc::new(lock), (&offer, budget))
    }
}

const NOTHING_TO_ASK: &str = "nothing to ask: the project has all of these list calls";

/// The number of calls that was asked for, or else enough to show each document eight times.
pub(super) fn call_count(calls: Option<u32>) -> CallCount {
    calls.map_or(CallCount::Showing(8), |calls| {
        CallCount::Fixed(calls as usize)
    })
}

/// Which lists to ask for, on which terms, and how to report it.
pub(super) struct Asking<'a> {
    pub(super) wish: ListWish,
    pub(super) spending: &'a SpendingOptions,
    /// Whether to submit the calls to batch endpoints.
    pub(super) batch: bool,
    pub(super) json: bool,
}

/// A run with its price.
pub(super) struct AskingOffer {
    run: Arc<ListRun>,
    estimate: ListEstimate,
    /// The judges as they vote, for batches.
    voters: Option<JudgeEnsemble>,
    mix: Option<PairMix>,
    /// How the project is usually run.
    usual: RunRequest,
    pairs: Option<PairPrice>,
}

impl AskingOffer {
    pub(super) fn mix(&self) -> Option<&PairMix> {
        self.mix.as_ref()
    }

    /// The calls that wait for open batches.
    pub(super) fn waiting(&self, store: &Store) -> Result<WaitingLists, AppError> {
        self.run.waiting(store)
    }

    /// Prints the notes on judges and queries.
    pub(super) fn tell(&self) {
        for note in &self.run.notes {
            output::message(&format!("note: {}", clean(note)));
        }
        if self.run.too_small > 0 {
            output::message(&format!(
                "skipped {} with fewer than {} documents",
                counted(self.run.too_small, "query"),
                self.run.kind().size()
            ));
        }
    }
}

impl Asking<'_> {
    /// Prepares the calls that a project lacks. Changes nothing.
    pub(super) fn offer(
        &self,
        context: &CommandContext,
        store: &Store,
    ) -> Result<AskingOffer, CommandFailure> {
        let judges = context.judges(self.spending.insecure_http);
        let run = Arc::new(prepare_lists(store, &judges, &self.wish)?);
        let voters = if self.batch {
            batch::check(run.judges())?;
            Some(run.voters(&judges)?)
        } else {
            None
        };
        let estimate = run.estimate(store, self.batch)?;
        let mix = PairMix::new(store, &judges, &run)?;
        let latest = store.read_blocking(|db| db.latest_run())?;
        let usual = RunRequest::continuing(latest, &context.config.run);
        let pairs = mix.as_ref().map(|mix| mix.price(store, &usual));
        Ok(AskingOffer {
            run,
            estimate,
            voters,
            pairs: pairs.transpose()?,
            mix,
            usual,
        })
    }

    /// The budget that applies to the project. An error if it cannot be kept.
    pub(super) fn budget(
        &self,
        context: &CommandContext,
        project: Option<&Store>,
        offer: &AskingOffer,
    ) -> Result<Option<f64>, CommandFailure> {
        let budget = self.spending.budget(context, project)?;
        if let Some(budget) = budget {
            offer.run.check_budget(budget)?;
        }
        Ok(budget)
    }

    /// Shows what the calls cost, and asks for confirmation.
    pub(super) fn confirm(&self, offer: &AskingOffer) -> CommandResult {
        let (estimate, pairs) = (&offer.estimate, offer.pairs.as_ref());
        let is_asked = estimate.expected.calls > 0.0 || pairs.is_some_and(|pairs| pairs.calls > 0);
        if is_asked && offer.run.is_paid() {
            confirm_spending(&describe(estimate, pairs, self.batch), self.spending.yes)?;
        }
        Ok(())
    }

    /// Prints the price, and that of the probes that the judges lack.
    pub(super) fn dry_run(
        &self,
        context: &CommandContext,
        store: &Store,
        offer: &AskingOffer,
    ) -> CommandResult {
        // Probes are about all queries.
        let wish = ListWish {
            queries: Vec::new(),
            ..self.wish.clone()
        };
        let judges = context.judges(self.spending.insecure_http);
        let probes = ProbePlan::of(store, &prepare_lists(store, &judges, &wish)?)?;
        self.print_price(&offer.estimate, offer.pairs.as_ref(), &probes)
    }

    /// Makes the calls.
    pub(super) fn ask(
        &self,
        context: &CommandContext,
        store: &Store,
        lock: &Arc<RunLock>,
        (offer, budget): (&AskingOffer, Option<f64>),
    ) -> CommandResult {
        let AskingOffer {
            run,
            estimate,
            mix,
            usual,
            voters,
            ..
        } = offer;
        if let Some(voters) = voters {
            return self.submit(context, store, (offer, voters), budget);
        }
        let end = if estimate.expected.calls > 0.0 {
            let control = self.spending.control(context, budget, run.judges());
            let (project, asked) = (store.clone(), Arc::clone(run));
            let calls = estimate.expected.calls.round() as usize;
            let ask = |control, events| async move { asked.ask(&project, control, events).await };
            watch_answers(control, calls, ask, |missing| *missing)?.0
        } else {
            if estimate.in_batches == 0 {
                output::message(NOTHING_TO_ASK);
            }
            AnswersEnd::default()
        };
        let waiting = offer.waiting(store)?;
        let mut told = json!({
            "calls_made": end.made,
            "missing_answers": end.missing + waiting.later,
            "spent_usd": end.spend.usd(),
            "in_batches": waiting.in_batches,
        });
        let is_stopped = end.report();
        let request = match mix {
            Some(mix) if is_stopped.is_ok() => mix.request(store, usual)?,
            _ => None,
        };
        let battles = match (mix, request) {
            (Some(mix), Some(request)) => {
                let control = self.spending.control(context, budget, mix.judges());
                let judges = mix.judges().clone();
                let finish = |_| Ok(());
                Some(watch(lock, store, judges, request, control, false, finish)?.0)
            }
            _ => None,
        };
        if let Some(battles) = &battles {
            let progress = &battles.progress;
            told["votes_made"] = json!(progress.votes());
            told["missing_votes"] = json!(battles.missing);
            told["spent_usd"] = json!((end.spend + progress.spend()).usd());
        }
        if self.json {
            output::json(&told)?;
        }
        is_stopped?;
        battles.as_ref().map_or(Ok(()), report)?;
        report_waiting(waiting);
        if end.missing > 0 || waiting.in_batches > 0 {
            return Err(CommandFailure::incomplete());
        }
        Ok(())
    }

    /// Tests each judge with one call of the next round, and submits the others in batches.
    fn submit(
        &self,
        context: &CommandContext,
        store: &Store,
        (offer, voters): (&AskingOffer, &JudgeEnsemble),
        budget: Option<f64>,
    ) -> CommandResult {
        let (mut end, mut submitted) = (AnswersEnd::default(), BatchSubmission::default());
        let mut is_stopped = Ok(());
        let run = &offer.run;
        if offer.estimate.expected.calls > 0.0 {
            let control = self.spending.control(context, budget, run.judges());
            let round = runtime()?.block_on(run.plan_round(store))?;
            let tests = round.tests();
            let (project, tested) = (store.clone(), Arc::clone(run));
            let test = |control, events| async move {
                tested.test(&project, round, control, events).await
            };
            let (tested, round) = watch_answers(control, tests, test, |round| round.missing)?;
            end = tested;
            is_stopped = end.report();
            for judge in &round.failed {
                output::message(&format!(
                    "{}: its test call failed, or its answer cannot be read, so nothing was \
                     submitted; run the same command again to test it with another list",
                    clean(judge)
                ));
            }
            if is_stopped.is_ok() {
                let mut tell = |batch: SubmittedBatch| batch::report_submitted(&batch);
                let submit = run.submit(store, &round, voters, budget, &mut tell);
                submitted = runtime()?.block_on(submit)?;
                batch::report(&submitted);
            } else {
                output::message("stopped; nothing was submitted");
            }
        } else if offer.estimate.in_batches == 0 {
            output::message(NOTHING_TO_ASK);
        }
        let waiting = offer.waiting(store)?;
        let left = run.estimate(store, true)?.expected.calls.round() as usize;
        if self.json {
            output::json(&json!({
                "calls_made": end.made,
                "missing_answers": left + waiting.later,
                "spent_usd": end.spend.usd(),
                "in_batches": waiting.in_batches,
                "batches_submitted": submitted.batches,
                "calls_submitted": submitted.calls,
                "budget_reached": end.is_budget_reached() || submitted.budget_reached,
                "troubles": submitted.troubles,
            }))?;
        }
        is_stopped?;
        report_waiting(waiting);
        let budget_reached = end.is_budget_reached() || submitted.budget_reached;
        if left > 0 && !budget_reached {
            output::message(&format!(
                "{} not asked yet; run the same command again to continue",
                counted(left, "list call")
            ));
        }
        if left > 0 || waiting.in_batches > 0 {
            return Err(CommandFailure::incomplete());
        }
        Ok(())
    }

    fn print_price(
        &self,
        estimate: &ListEstimate,
        pairs: Option<&PairPrice>,
        probes: &ProbePlan,
    ) -> CommandResult {
        let (of_probes, _) = probes.estimate();
        if self.json {
            let mut json = serde_json::to_value(estimate).map_err(AppError::failed)?;
            json["probes"] = json!(of_probes);
            if let Some(PairPrice {
                calls,
                usd,
                most_usd,
            }) = pairs
            {
                json["pairs"] = json!({ "calls": calls, "usd": usd, "most_usd": most_usd });
            }
            return output::json(&json);
        }
        output::text(&describe(estimate, pairs, self.batch))?;
        output::text(&compared(estimate, &of_probes))?;
        output::text("dry run: nothing was called and nothing was changed\n")
    }
}

/// The price of votes with the same information, and of the probes that the judges lack.
fn compared(estimate: &ListEstimate, probes: &CallVolume) -> String {
    let (lists, votes) = (&estimate.expected, &estimate.votes);
    if lists.calls == 0.0 {
        return String::new();
    }
    let mut text = format!(
        "lists {}; votes on pairs with the same information if φ is the same: {} calls, {}\n",
        or_unknown(lists.usd),
        count(votes.calls.round() as usize),
        or_unknown(votes.usd)
    );
    if probes.calls > 0.0 {
        text += &format!(
            "lists count only if the judges qualify: {}, {} (`overrule lists qualify`)\n",
            counted(probes.calls.round() as usize, "probe"),
            or_unknown(probes.usd)
        );
    }
    text
}

fn or_unknown(cost: Option<f64>) -> String {
    cost.map_or_else(|| "at an unknown price".to_owned(), usd)
}

fn describe(estimate: &ListEstimate, pairs: Option<&PairPrice>, in_batches: bool) -> String {
    let pairs = pairs.map_or_else(String::new, |pairs| {
        format!(
            "pairs that the lists have shown, in both orders: {}, {} (at most {})\n",
            counted(pairs.calls, "vote"),
            or_unknown(pairs.usd),
            or_unknown(pairs.most_usd)
        )
    });
    let waiting = match estimate.in_batches {
        0 => String::new(),
        calls => format!(
            "{} in open batches; further rounds of these queries are priced after `overrule batch \
             fetch`\n",
            counted(calls, "call")
        ),
    };
    let price = if in_batches {
        "at the batch price, except one call per judge and round, which is made immediately as a \
         test\n"
    } else {
        ""
    };
    format!(
        "{}, {} already there\n{waiting}{}{price}{pairs}",
        counted(estimate.queries, "query"),
        counted(estimate.answered, "answer"),
        volume_table(&estimate.expected, &estimate.most)
    )
}

/// Reports calls that wait for open batches.
fn report_waiting(waiting: WaitingLists) {
    if waiting.in_batches == 0 {
        return;
    }
    let later = match waiting.later {
        0 => String::new(),
        calls => format!(", and {} of later rounds wait for them", count(calls)),
    };
    output::message(&format!(
        "{} in open batches{later}; `overrule batch status` shows their progress, `overrule batch \
         fetch` fetches the answers; then run the same command again to continue",
        counted(waiting.in_batches, "list call")
    ));
}

/// Reports votes that are missing.
fn report(battles: &RunOutcome) -> CommandResult {
    if battles.cancelled {
        return Err(CommandFailure::interrupted());
    }
    if battles.missing == Some(0) {
        return Ok(());
    }
    let missing = battles.missing.map(|votes| counted(votes, "vote"));
    output::message(&format!(
        "incomplete: {} missing; {}",
        missing.as_deref().unwrap_or("votes"),
        if battles.budget_reached {
            "the budget is reached; continue with a larger --budget"
        } else {
            "run the same command again to continue"
        }
    ));
    Err(CommandFailure::incomplete())
}
