//! `overrule student sample`: samples pairs for training and for testing.

use crate::app::annotate::{RunRequest, enter_listed};
use crate::app::choose_judges::are_paid;
use crate::app::output_file::{JSON_LINES, check_ending, write_whole};
use crate::app::run_lock::RunLock;
use crate::app::text_format::counted;
use crate::cli::annotate::cost;
use crate::cli::command::{CommandContext, CommandResult, option_set};
use crate::cli::output::{self, HeldOutput};
use crate::cli::spending::confirm_spending;
use crate::features::student::app::sample::{DrawnSample, draw_sample, plan_sample};
use crate::features::student::domain::sample::{SampleRequest, SampleSplit};
use crate::store::Store;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Writes one JSON line per pair for `overrule student export --sample`: query, a, b and side (train
or test). No document is sampled twice, even in different queries. The queries take turns, one pair
at a time. All pairs of a query are on the same side, or with --split pairs each pair is on a random
side. The same project, numbers and seed give the same sample. If there are too few pairs, the
command fails and prints the maximum.

Without --plan, the pairs are judged ones. With --plan, they are pairs that nobody has judged: the
command prints the cost of judging them, asks if it costs money, and plans them as battles,
without making a call. `overrule annotate --sample FILE` then judges them.

Examples:
  overrule student sample --pairs 20 --train 16 --out sample.jsonl
  overrule student sample --pairs 20 --train 16 | jq -r .query | sort | uniq -c
  overrule student sample --pairs 20 --train 16 --split pairs --out sample.jsonl
  overrule student sample --pairs 40 --train 32 --plan --dry-run
  overrule student sample --pairs 40 --train 32 --plan --out new.jsonl && overrule annotate \
  --sample new.jsonl")]
pub(super) struct SampleCommand {
    /// Total number of pairs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Number of pairs for training; the others are for testing [default: four of five]
    #[arg(long, value_name = "N")]
    train: Option<usize>,
    /// What is divided: queries, with all pairs of a query on one side, or pairs
    #[arg(long, value_name = "WHAT", default_value_t)]
    split: SampleSplit,
    /// Random seed
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Sample pairs that nobody has judged, and plan them as battles
    #[arg(long)]
    plan: bool,
    /// With --plan, judges to use [default: those of overrule.toml, or the offline judges]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", requires = "plan")]
    judges: Vec<String>,
    /// With --plan, print the plan and its cost, and stop
    #[arg(long, requires = "plan")]
    dry_run: bool,
    /// With --plan, do not ask before planning battles that cost money
    #[arg(long, requires = "plan")]
    yes: bool,
    /// With --plan, allow sending keys unencrypted to other machines
    #[arg(long, requires = "plan")]
    insecure_http: bool,
    /// With --dry-run, print JSON
    #[arg(long, requires = "dry_run")]
    json: bool,
    /// Output file [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl SampleCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let pairs = self.pairs as usize;
        let request = SampleRequest {
            pairs,
            train: self.train.unwrap_or(pairs - pairs.div_ceil(5)),
            split: self.split,
            seed: self.seed,
        };
        if let Some(path) = &self.out {
            let printing = option_set(&[(self.json && self.plan, "--json")]);
            context.check_targets([path.as_path()], &[], printing)?;
            check_ending(path, &[JSON_LINES])?;
        }
        if self.plan {
            return self.plan_battles(context, &store, request);
        }
        self.write(&draw_sample(&store, request)?)
    }

    fn write(&self, drawn: &DrawnSample) -> CommandResult {
        match &self.out {
            None => {
                let mut out = HeldOutput::new();
                drawn.write(&mut out)?;
                out.end()?;
            }
            Some(path) => {
                write_whole(path, |out| drawn.write(out))?;
                output::wrote(path);
            }
        }
        output::message(&describe(drawn));
        Ok(())
    }

    fn plan_battles(
        &self,
        context: &CommandContext,
        store: &Store,
        request: SampleRequest,
    ) -> CommandResult {
        let chosen = context.judges(self.insecure_http).choose(&self.judges)?;
        chosen.notes.iter().for_each(|note| output::message(note));
        let ensemble = chosen.ensemble;
        // Held until the end: a run that started while the question is open could use other judges.
        let _lock = if self.dry_run {
            None
        } else {
            Some(RunLock::take(context.project())?)
        };
        let latest = store.read_blocking(|db| db.latest_run())?;
        let usual = RunRequest::continuing(latest, &context.config.run);
        let plan = plan_sample(store, request, &ensemble, &usual)?;
        if self.dry_run {
            if self.json {
                return output::json(&plan.estimate);
            }
            output::text(&format!("{}\n", describe(&plan.drawn)))?;
            output::text(&cost::describe(&plan.estimate, &ensemble))?;
            return output::text("dry run: nothing was called and nothing was changed\n");
        }
        let words = cost::describe(&plan.estimate, &ensemble);
        if are_paid(&ensemble) {
            confirm_spending(&words, self.yes)?
        } else {
            output::message(words.trim_end())
        }
        // Write the file first: battles that no file names would be planned for nothing.
        self.write(&plan.drawn)?;
        enter_listed(store, &ensemble, &plan.request)?;
        let file = self
            .out
            .as_ref()
            .map_or("FILE".into(), |path| path.display().to_string());
        let judges: Vec<&str> = ensemble
            .iter()
            .map(|judge| judge.spec().name.as_str())
            .collect();
        output::message(&format!(
            "planned; judge them with `overrule annotate --sample {file} --judges {}`",
            judges.join(",")
        ));
        Ok(())
    }
}

fn describe(drawn: &DrawnSample) -> String {
    let (least, most) = drawn.pairs_a_query;
    let each = if least == most {
        counted(most, "pair")
    } else {
        format!("{least} to {}", counted(most, "pair"))
    };
    let both = match drawn.both_queries {
        0 => String::new(),
        both => format!("; {} on both sides", counted(both, "query")),
    };
    format!(
        "{}: {} for training, {} for testing; {each} per query{both}",
        counted(drawn.lines.len(), "pair"),
        counted(drawn.train_queries, "query"),
        counted(drawn.test_queries, "query")
    )
}
