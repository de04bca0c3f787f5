//! `overrule compare`: compares rankings query by query.

use super::command::{CommandContext, CommandResult};
use super::evaluate::{EvaluateCommand, MeasureOptions};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "The same as `overrule evaluate QRELS FIRST --baseline OTHER …`. Differences are \
                  FIRST minus OTHER, over the queries
that both rankings have. P-values are two-sided, from the paired randomization test and the paired
t-test. With several other rankings, FIRST is compared with each of them, and the p-values of each
metric are corrected by Holm's method. The verdict is better or worse if that p-value is at most .05.

--tost MARGIN tests whether a difference is within ±MARGIN, by two one-sided t-tests (TOST). The
verdict is equal if their p-value is at most .05 and the difference is not significant, and undecided
if neither is shown. Choose the margin before looking at a difference.

--json has the values of both rankings for each query, and their difference.

Examples:
  overrule compare reranked.trec bm25.trec --truth qrels/test.tsv --metrics ndcg@10
  overrule compare new.trec old.trec --truth qrels/test.tsv --metrics ndcg@10 --tost 0.02
  overrule compare a.trec b.trec c.trec d.trec --truth qrels/test.tsv --json
  overrule compare reranked.trec bm25.trec --truth zelo_annotated.jsonl --histogram"
)]
pub(super) struct CompareCommand {
    /// Ranking: a TREC run, or documents with scores
    first: PathBuf,
    /// Rankings to compare it with
    #[arg(required = true, value_name = "OTHER")]
    others: Vec<PathBuf>,
    /// Labels: TREC or BEIR qrels, documents with metadata.grade or scores, or qrels, rulings or
    /// zelo of the project
    #[arg(long, value_name = "TRUTH")]
    truth: PathBuf,
    #[command(flatten)]
    how: MeasureOptions,
}

impl CompareCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        EvaluateCommand::new(self.truth, self.first, self.others, self.how).run(context)
    }
}
