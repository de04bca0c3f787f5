//! Options for the source of document vectors.

use super::command::{CommandContext, CommandFailure, CommandResult, usage};
use super::output::{self, ProgressPace};
use super::signals;
use super::spending::{budget_in_force, confirm_spending, dollars};
use crate::app::document_vectors::{DocumentText, DocumentVectors, RowNames};
use crate::app::embeddings::{CachedEmbedder, EmbedError, EmbeddingNeed};
use crate::app::error::AppError;
use crate::app::pool::vector_cache;
use crate::app::run_lock::RunLock;
use crate::app::text_format::counted;
use crate::client::RunControl;
use crate::domain::number_words::count;
use clap::Args;
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;

/// On which terms an embedder may be called.
#[derive(Debug, Default, Args)]
pub(crate) struct EmbeddingTerms {
    /// Budget of the project in dollars, including earlier spending; embedding that reaches it ends
    /// with exit code 3 [default: from the project, or the configuration]
    #[arg(long, value_name = "USD", requires = "embed", value_parser = dollars)]
    budget: Option<f64>,
    /// Allow sending the embedder's key unencrypted to another machine
    #[arg(long, requires = "embed")]
    insecure_http: bool,
    /// Do not ask before calling an embedder that needs a key, or before showing the result of a
    /// duel to a participant who has tasks left
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print the number of texts to embed and the cost, and stop
    #[arg(long, requires = "embed")]
    pub(crate) dry_run: bool,
}

impl EmbeddingTerms {
    /// Opens the embedder `name` with its cached vectors, from `cache` or next to the project, and
    /// takes the run lock of the project, if there is one and the embedder is paid.
    pub(crate) fn open(
        &self,
        name: &str,
        cache: Option<&Path>,
        context: &CommandContext,
        runtime: &Runtime,
    ) -> Result<(CachedEmbedder, Option<RunLock>), CommandFailure> {
        let embedder = context.judges(self.insecure_http).embedder(name)?;
        let default = context.project().with_file_name("embeddings.db");
        let cache = vector_cache(cache.unwrap_or(&default), self.dry_run)?;
        // Costs are recorded in the project, if there is one.
        let project = context.has_project() && !self.dry_run;
        let project = project.then(|| context.open()).transpose()?;
        let lock = project.as_ref().filter(|_| embedder.is_paid());
        let lock = lock
            .map(|project| RunLock::take(project.path()))
            .transpose()?;
        let budget = if self.dry_run || !embedder.is_paid() {
            self.budget
        } else {
            budget_in_force(context, self.budget, project.as_ref())?
        };
        let control = RunControl {
            budget_usd: budget,
            ..RunControl::default()
        };
        let control = signals::stop_on_signals(runtime, control)?;
        let vectors = CachedEmbedder::new(embedder, cache, control, project);
        let vectors = vectors.map_err(|error| match error {
            EmbedError::NoPrice(_) => usage!("{error}"),
            error => AppError::from(error).into(),
        })?;
        Ok((vectors, lock))
    }

    /// Asks for confirmation before money is spent.
    pub(crate) fn confirm(&self, vectors: &CachedEmbedder, need: EmbeddingNeed) -> CommandResult {
        if vectors.embedder().is_paid() && need.unknown > 0 {
            confirm_spending(&vectors.describe(need), self.yes)
        } else {
            Ok(())
        }
    }
}

/// The failure of a command whose texts were not all embedded.
pub(super) fn not_embedded(error: EmbedError, embedded: usize) -> CommandFailure {
    let embedded = counted(embedded, "text");
    match error {
        EmbedError::Stopped => {
            output::message(&format!(
                "stopped; {embedded} embedded and kept; run the same command again to resume"
            ));
            CommandFailure::interrupted()
        }
        EmbedError::BudgetReached => {
            output::message(&format!(
                "the budget is reached; {embedded} embedded and kept; continue with a larger \
                 --budget"
            ));
            CommandFailure::incomplete()
        }
        error => AppError::from(error).into(),
    }
}

#[derive(Debug, Default, Args)]
pub(crate) struct VectorOptions {
    /// Embed the texts with this embedder of overrule.toml, or with a model of a server, such as
    /// ollama/all-minilm
    #[arg(long, value_name = "NAME", conflicts_with = "vectors")]
    embed: Option<String>,
    /// Read vectors from a file: JSON lines ({"docno": …, "vector": […]}, with qid for one vector
    /// per query) or .npy
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
    /// For a .npy file, the documents of its rows, one per line, after a query and a tab for one
    /// vector per query
    #[arg(long, value_name = "FILE", requires = "vectors")]
    vector_names: Option<PathBuf>,
    /// File of the vectors [default: embeddings.db next to the project]
    #[arg(long, value_name = "FILE", requires = "embed")]
    vector_cache: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) spending: EmbeddingTerms,
}

/// Result of looking for vectors.
pub(crate) enum FoundVectors {
    /// No option asks for vectors.
    None,
    Found(DocumentVectors),
    /// It was a dry run, whose message has been printed.
    DryRun,
}

impl VectorOptions {
    /// The vectors of `texts`. `lines` names the documents in the order of the input's lines; the
    /// rows of a `.npy` file are in that order if `--vector-names` is not given.
    pub(crate) fn find(
        &self,
        context: &CommandContext,
        texts: &[DocumentText<'_>],
        lines: Option<RowNames>,
    ) -> Result<FoundVectors, CommandFailure> {
        if let Some(path) = &self.vectors {
            let names = match &self.vector_names {
                Some(names) => Some(DocumentVectors::read_names(names)?),
                None => lines,
            };
            return Ok(FoundVectors::Found(DocumentVectors::read(path, names)?));
        }
        match &self.embed {
            Some(name) => self.embedded(name, context, texts),
            None => Ok(FoundVectors::None),
        }
    }

    fn embedded(
        &self,
        name: &str,
        context: &CommandContext,
        texts: &[DocumentText<'_>],
    ) -> Result<FoundVectors, CommandFailure> {
        let runtime = signals::runtime()?;
        let cache = self.vector_cache.as_deref();
        let (mut vectors, _lock) = self.spending.open(name, cache, context, &runtime)?;
        let need = DocumentVectors::need(&vectors, texts).map_err(AppError::from)?;
        let all = counted(texts.len(), "text");
        if self.spending.dry_run {
            output::message(&format!(
                "{}\ndry run: nothing was called and nothing was written",
                vectors.describe(need)
            ));
            return Ok(FoundVectors::DryRun);
        }
        self.spending.confirm(&vectors, need)?;
        let mut pace = ProgressPace::new();
        let found = DocumentVectors::embed(&mut vectors, &runtime, texts, &mut |done| {
            if pace.is_due() {
                output::message(&format!("vectors of {} of {all}", count(done)));
            }
        });
        let origins = vectors.origins();
        runtime.shutdown_background();
        match found {
            Ok(found) => {
                output::message(&format!(
                    "{} embedded, {} known",
                    counted(origins.embedded, "text"),
                    origins.cached
                ));
                Ok(FoundVectors::Found(found))
            }
            Err(error) => Err(not_embedded(error, origins.embedded)),
        }
    }

    /// The input files.
    pub(crate) fn inputs(&self) -> Vec<(&'static str, &std::path::Path)> {
        let files = [("vectors", &self.vectors), ("names", &self.vector_names)];
        let files = files.into_iter();
        files
            .filter_map(|(what, path)| Some((what, path.as_deref()?)))
            .collect()
    }
}

/// The error if a command needs vectors and none are given.
pub(crate) fn vectors_wanted() -> CommandFailure {
    usage!(
        "this needs vectors of the texts: use --embed ollama/all-minilm (after `ollama pull \
         all-minilm`), --embed NAME (an [[embedder]] of overrule.toml) or --vectors FILE"
    )
}
