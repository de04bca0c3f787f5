//! `overrule compare`: compares two rankings query by query.

use super::command::{CommandContext, CommandResult};
use super::evaluate::{EvaluateCommand, MeasureOptions};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "The same as `overrule evaluate QRELS FIRST --baseline SECOND`. Differences are \
                  first minus second, over the queries
that both rankings have. P-values are two-sided, from the paired randomization test and the paired
t-test. --json has the values of both rankings for each query, and their difference.

Examples:
  overrule compare reranked.trec bm25.trec --truth qrels/test.tsv --metrics ndcg@10
  overrule compare reranked.trec bm25.trec --truth zelo_annotated.jsonl --histogram"
)]
pub(super) struct CompareCommand {
    /// Ranking: a TREC run, or documents with scores
    first: PathBuf,
    /// Ranking to compare it with
    second: PathBuf,
    /// Labels: TREC or BEIR qrels, documents with metadata.grade or scores, or qrels, rulings or
    /// zelo of the project
    #[arg(long, value_name = "TRUTH")]
    truth: PathBuf,
    #[command(flatten)]
    how: MeasureOptions,
}

impl CompareCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        EvaluateCommand::new(self.truth, self.first, self.second, self.how).run(context)
    }
}
