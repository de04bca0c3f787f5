//! `overrule student sample`: pairs to learn from and to test on.

use crate::app::output_file::write_whole;
use crate::app::student::sample::{DrawnSample, draw_sample};
use crate::app::wording::counted;
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output;
use crate::domain::student::sample::SampleRequest;
use clap::Args;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Writes a JSON line a pair: query, a, b and side (train or test), for `overrule student export --sample`. No document is drawn twice,
also not in different queries, and a query's pairs are all on one side. Each query of a side gives one pair in turn while it can. The
same project, numbers and seed give the same sample. What cannot be had is refused, with the greatest number that can.

Examples:
  overrule student sample --pairs 20 --train 16 --out sample.jsonl
  overrule student sample --pairs 20 --train 16 | jq -r .query | sort | uniq -c"
)]
pub(super) struct SampleCommand {
    /// Pairs in all
    #[arg(long, value_name = "N")]
    pairs: usize,
    /// How many of them are to learn from; the others are to test on [default: four of five]
    #[arg(long, value_name = "N")]
    train: Option<usize>,
    /// What the draw follows from
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Write here instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl SampleCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let drawn = draw_sample(
            &store,
            SampleRequest {
                pairs: self.pairs,
                train: self.train.unwrap_or(self.pairs - self.pairs.div_ceil(5)),
                seed: self.seed,
            },
        )?;
        match &self.out {
            None => {
                let mut out = BufWriter::new(io::stdout().lock());
                drawn.write(&mut out)?;
                out.flush()?;
            }
            Some(path) => {
                context.check_target(path, &[])?;
                write_whole(path, |out| drawn.write(out))?;
                output::message(&format!("wrote {}", path.display()));
            }
        }
        output::message(&describe(&drawn));
        Ok(())
    }
}

fn describe(drawn: &DrawnSample) -> String {
    let (least, most) = drawn.pairs_a_query;
    let each = match least == most {
        true => counted(most, "pair"),
        false => format!("{least} to {}", counted(most, "pair")),
    };
    format!(
        "{}: {} to learn from, {} to test on; {each} a query",
        counted(drawn.lines.len(), "pair"),
        counted(drawn.train_queries, "query"),
        counted(drawn.test_queries, "query")
    )
}
