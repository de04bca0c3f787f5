//! Where a command takes the vectors of documents from.

use super::command::{CommandContext, CommandFailure, usage};
use super::output::{self, ProgressPace};
use super::signals;
use super::spending::confirm_spending;
use crate::app::document_vectors::{DocumentVectors, RowNames};
use crate::app::embeddings::{CachedEmbedder, EmbedError};
use crate::app::error::AppError;
use crate::app::pool::vector_cache;
use crate::app::wording::counted;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Default, Args)]
pub(super) struct VectorOptions {
    /// Embed the texts with this embedder of overrule.toml
    #[arg(long, value_name = "NAME", conflicts_with = "vectors")]
    embed: Option<String>,
    /// Take vectors from a file: JSON lines ({"docno": …, "vector": […]}, with qid where a document has one a query) or .npy
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
    /// Of a .npy file: the documents of its rows, one a line, behind its query and a tab where a document has one a query
    #[arg(long, value_name = "FILE", requires = "vectors")]
    vector_names: Option<PathBuf>,
    /// Where the embedder's vectors are kept [default: embeddings.db beside the project]
    #[arg(long, value_name = "FILE", requires = "embed")]
    vector_cache: Option<PathBuf>,
    /// Let the embedder's key travel unencrypted to another machine
    #[arg(long, requires = "embed")]
    insecure_http: bool,
    /// Do not ask before an embedder that wants a key is called
    #[arg(long, requires = "embed")]
    yes: bool,
    /// Say how many texts would be embedded, and stop
    #[arg(long, requires = "embed")]
    dry_run: bool,
}

/// What came of looking for vectors.
pub(super) enum FoundVectors {
    /// No option names any.
    None,
    Found(DocumentVectors),
    /// It was a dry run, and everything is said.
    DryRun,
}

impl VectorOptions {
    /// The vectors of `texts`. `lines` are the documents of the input's lines, whose order a `.npy` file has where no other
    /// names are given.
    pub(super) fn find(
        &self,
        context: &CommandContext,
        texts: &[&str],
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
        texts: &[&str],
    ) -> Result<FoundVectors, CommandFailure> {
        let embedder = context.judges(self.insecure_http).embedder(name)?;
        let beside = context.project().with_file_name("embeddings.db");
        let cache = self.vector_cache.as_ref().unwrap_or(&beside);
        let cache = vector_cache(cache, self.dry_run)?;
        let runtime = signals::runtime()?;
        // What calls cost goes into the project, where there is one.
        let project = context.project().exists() && !self.dry_run;
        let project = project.then(|| context.open()).transpose()?;
        let control = signals::stop_on_signals(&runtime)?;
        let mut vectors = CachedEmbedder::new(embedder, cache, control, project);
        let (unknown, tokens) = DocumentVectors::need(&vectors, texts).map_err(AppError::from)?;
        let all = counted(texts.len(), "text");
        let words = format!(
            "{} ({}) would embed {unknown} of {all}, about {tokens} tokens",
            output::clean(&vectors.embedder().name),
            output::clean(&vectors.embedder().model),
        );
        if self.dry_run {
            output::message(&format!(
                "{words}\ndry run: nothing was called and nothing was written"
            ));
            return Ok(FoundVectors::DryRun);
        }
        if vectors.embedder().is_paid() && unknown > 0 {
            confirm_spending(&words, self.yes)?;
        }
        let mut pace = ProgressPace::new();
        let found = DocumentVectors::embed(&mut vectors, &runtime, texts, &mut |done| {
            if pace.is_due() {
                output::message(&format!("vectors of {done} of {all}"));
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
            Err(EmbedError::Stopped) => {
                let embedded = counted(origins.embedded, "text");
                output::message(&format!(
                    "stopped; {embedded} embedded, which are kept; run the same command again to resume"
                ));
                Err(CommandFailure::interrupted())
            }
            Err(error) => Err(AppError::from(error).into()),
        }
    }

    /// The files that are read.
    pub(super) fn inputs(&self) -> Vec<(&'static str, &std::path::Path)> {
        let files = [("vectors", &self.vectors), ("names", &self.vector_names)];
        let files = files.into_iter();
        files
            .filter_map(|(what, path)| Some((what, path.as_deref()?)))
            .collect()
    }
}

/// What to do where a command needs vectors and none are named.
pub(super) fn vectors_wanted() -> CommandFailure {
    usage!(
        "vectors of the texts are needed: --embed NAME has an [[embedder]] of overrule.toml make them, --vectors FILE takes them from a file"
    )
}
