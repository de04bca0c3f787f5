//! `overrule compare`: two rankings, query by query.

use super::command::CommandResult;
use super::evaluate::{EvaluateCommand, MeasureOptions};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "The same as `overrule evaluate QRELS FIRST --baseline SECOND`. Differences are first minus second, over the queries
both have; p-values are two-sided, of the paired randomisation test and the paired t-test.

Example:
  overrule compare reranked.trec bm25.trec --truth qrels/test.tsv --metrics ndcg@10"
)]
pub(super) struct CompareCommand {
    /// A ranking: a run of TREC's, or documents with scores
    first: PathBuf,
    /// The one it is compared with
    second: PathBuf,
    /// The labels: qrels of TREC or BEIR, or documents with metadata.grade
    #[arg(long, value_name = "FILE")]
    truth: PathBuf,
    #[command(flatten)]
    how: MeasureOptions,
}

impl CompareCommand {
    pub(super) fn run(self) -> CommandResult {
        EvaluateCommand::new(self.truth, self.first, self.second, self.how).run()
    }
}
