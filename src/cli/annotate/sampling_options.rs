//! Options of a run that is played in rounds.

use crate::app::annotate::RunRequest;
use crate::app::import::datasets::CheckedDataset;
use crate::cli::command::{CommandFailure, CommandResult, usage};
use crate::config::RunConfig;
use crate::domain::judge_set::MAX_JUDGES;
use crate::domain::sampling::adaptive::{AdaptivePlan, JudgeChoice, Sampler, Strategy};
use crate::judge::JudgeEnsemble;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(next_help_heading = "Sampling")]
pub(super) struct SamplingOptions {
    /// How to choose pairs: cycles (at random), swiss (neighbors in the current ranking), eig (most
    /// informative about all scores) or top (most informative about the top ranks). For scores used
    /// as training targets, use swiss or eig
    #[arg(long)]
    sampler: Option<Sampler>,
    /// Which judges to ask about a pair: all, rotate (one at a time, in turn) or escalate (one, and
    /// a further one if that is more informative than a new pair; with eig and top)
    #[arg(long)]
    judging: Option<JudgeChoice>,
    /// With top, the weight of pairs that cannot reach the top, 0 to 1 [default: 0.3]
    #[arg(long, value_name = "SHARE")]
    focus: Option<f64>,
    /// With top, the number of top ranks [default: 10]
    #[arg(long, value_name = "RANKS")]
    top: Option<usize>,
    /// Pairs per round, or calls with escalate [default: one per document, or one per two documents
    /// if all judges are asked]
    #[arg(long, value_name = "N")]
    round: Option<usize>,
    /// Budget in battles per document, including earlier ones; a battle is one call to each judge
    /// [default: --cycles]
    #[arg(long, value_name = "B")]
    battles: Option<f64>,
    /// With swiss, eig and top, choose pairs without votes by the predictions of the project's
    /// student. Does not change scores
    #[arg(long, value_enum, value_name = "PRIOR")]
    prior: Option<PriorName>,
    /// Maximum number of calls, including earlier ones
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_calls: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PriorName {
    None,
    Student,
}

impl SamplingOptions {
    /// The adaptive plan set by the options or the configuration; `None` for the plain plan. Reads
    /// the dataset's pools if calls have to be divided among documents (`--max-calls`).
    pub(super) fn plan(
        &self,
        dataset: &CheckedDataset,
        ensemble: &JudgeEnsemble,
        request: &RunRequest,
        usual: &RunConfig,
    ) -> Result<Option<AdaptivePlan>, CommandFailure> {
        let sampler = self.sampler.unwrap_or(usual.sampler);
        let judging = self.judging.unwrap_or(usual.judging);
        let top = (self.focus.is_some(), self.top.is_some());
        if sampler != Sampler::Top && top != (false, false) {
            return Err(usage!(
                "--{} goes with --sampler top, not with {}",
                if top.0 { "focus" } else { "top" },
                sampler
            ));
        }
        let student = self.prior == Some(PriorName::Student);
        if student && sampler == Sampler::Cycles {
            return Err(usage!(
                "--prior student goes with --sampler swiss, eig or top: random cycles do not look \
                 at scores"
            ));
        }
        let sized = self.round.is_some() || self.battles.is_some() || self.max_calls.is_some();
        if Strategy::new(sampler, judging) == Strategy::default() && !sized {
            return Ok(None);
        }
        let usual = usual.strategy(sampler, judging);
        let strategy = Strategy {
            floor: self.focus.unwrap_or(usual.floor),
            top: self.top.unwrap_or(usual.top),
            size: self.round.or(usual.size),
            ..usual
        };
        let plan = AdaptivePlan {
            strategy,
            battles: self.battles.unwrap_or(request.cycles as f64),
            student,
        };
        let plan = plan
            .checked()
            .map_err(|why| usage!("sampling: {why}{}", self.overruling()))?;
        if ensemble.len() > MAX_JUDGES {
            return Err(usage!(
                "{} judges: rounds are planned for {MAX_JUDGES} at most; name fewer with --judges",
                ensemble.len()
            ));
        }
        let Some(most) = self.max_calls else {
            return Ok(Some(plan));
        };
        let documents = dataset.pools()?.map(|pool| {
            let documents = pool.documents.len();
            request
                .depth
                .map_or(documents, |depth| depth.min(documents))
        });
        let ensembles = documents.sum::<usize>() * ensemble.len();
        Ok(Some(AdaptivePlan {
            battles: plan.battles.min(most as f64 / ensembles.max(1) as f64),
            ..plan
        }))
    }

    /// What overrides an option that is set in the configuration, in parentheses; empty if no
    /// option is given.
    fn overruling(&self) -> &'static str {
        match (self.sampler, self.judging) {
            (Some(_), None) => " (--judging overrules the configuration's [run] judging)",
            (None, Some(_)) => " (--sampler overrules the configuration's [run] sampler)",
            _ => "",
        }
    }
}

/// Rejects rounds in batches.
pub(super) fn check_batch(plan: Option<&AdaptivePlan>) -> CommandResult {
    if plan.is_none() {
        return Ok(());
    }
    Err(usage!(
        "--batch: a batch answers within a day, and each round waits for the votes of the one \
         before; leave out --batch, \
         or take the plain plan (--sampler cycles --judging all, and no other option of sampling)"
    ))
}
