//! `overrule nine`: chooses the documents that a duel of two rankings shows to people.

use crate::app::output_file::{CSV, check_ending, write_whole};
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, option_set};
use crate::cli::output;
use crate::cli::output::clean;
use crate::cli::vector_options::{FoundVectors, VectorOptions};
use crate::domain::number_words::fixed;
use crate::features::duel::app::export::write_nine;
use crate::features::duel::app::{DraftedDuel, DuelDraft, DuelRequest};
use crate::features::duel::domain::sbr::SbrProfile;
use crate::features::duel::domain::{DuelForm, Source};
use crate::features::duel::store::DuelKey;
use crate::store::Store;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
For each query that both rankings contain, the rankings take turns: each takes its best document
that is not yet taken, until it has --top documents. Documents with the same text count as one. The ninth
document is an easy negative: it is not known to be relevant (by labels or rulings), is not an
ungraded document among the first ten of a ranking, and is the least similar to the others, by
vectors (--embed, --vectors) or else by shared word stems. If there is no such document, or a
ranking is too short, the query has fewer documents, and the reason is printed.

--profile original chooses as the authors' script does: the first --top of A, then the first --top
others of B, then a document of B without a label, which may be relevant.

The duel is stored, and `overrule duel` opens it. The output says how many documents came from
which ranking but names none, so you can still take part after reading it. --csv and --json
contain everything.

Examples:
  overrule nine --a bm25-overrule --b bm25-overrule-sbr
  overrule nine --a original --b rankgpt@20 --queries 20 --csv nine.csv
  overrule nine --a bm25-overrule --b other.trec --embed minilm --query 36 --query 49")]
pub(crate) struct NineCommand {
    #[command(flatten)]
    rankings: RankingOptions,
    /// Number of documents from each ranking
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=4))]
    top: u32,
    /// Rules: overrule or original
    #[arg(long, default_value_t)]
    profile: SbrProfile,
    #[command(flatten)]
    vectors: VectorOptions,
    /// Write the documents to this file, in the columns of the authors
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Which rankings are held against each other, and on which queries.
#[derive(Debug, Args)]
struct RankingOptions {
    /// Ranking: of the project, original, a method that was run, or a run file
    #[arg(long, value_name = "RANKING")]
    a: String,
    /// The other ranking
    #[arg(long, value_name = "RANKING")]
    b: String,
    #[command(flatten)]
    draw: DrawOptions,
}

/// On which queries, and how they are drawn.
#[derive(Debug, Args)]
pub(super) struct DrawOptions {
    /// Use only this query (repeatable)
    #[arg(long, value_name = "QUERY")]
    query: Vec<String>,
    /// Number of queries to sample [default: all that both rankings have]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    queries: Option<u32>,
    /// Random seed [default: from the configuration]
    #[arg(long)]
    seed: Option<u64>,
    /// Omit control tasks (repeats, identical lists and attention questions, used from five queries
    /// on)
    #[arg(long)]
    no_controls: bool,
    /// Lowest relevant grade
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
}

impl DrawOptions {
    /// The request for a duel between rankings `a` and `b`.
    pub(crate) fn request(
        self,
        context: &CommandContext,
        [a, b]: [String; 2],
        form: DuelForm,
        top: usize,
        profile: SbrProfile,
    ) -> DuelRequest {
        DuelRequest {
            a,
            b,
            form,
            top,
            profile,
            seed: self.seed.unwrap_or(context.config.run.seed),
            controls: !self.no_controls,
            queries: self.query,
            most: self.queries.map(|most| most as usize),
            level: self.level,
        }
    }
}

impl NineCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        if let Some(path) = &self.csv {
            let printing = option_set(&[(self.json, "--json")]);
            context.check_targets([path.as_path()], &self.vectors.inputs(), printing)?;
            check_ending(path, &[CSV])?;
        }
        let store = context.open()?;
        let RankingOptions { a, b, draw } = self.rankings;
        let (profile, top) = (self.profile, self.top as usize);
        let request = draw.request(context, [a, b], DuelForm::Grid, top, profile);
        let Some((key, drafted)) = make(context, &store, request, &self.vectors)? else {
            return Ok(());
        };
        if let Some(path) = &self.csv {
            write_whole(path, |out| write_nine(&drafted, profile, out))?;
            output::wrote(path);
        }
        if self.json {
            output::json(&as_json(key, &drafted))?;
        } else {
            output::text(&table(&drafted))?;
        }
        output::message(&format!(
            "duel {} is in {}: `overrule duel` opens it, `overrule duel --result` shows the result",
            key.0,
            context.project().display()
        ));
        Ok(())
    }
}

/// Chooses the documents of a duel, stores it, and prints notes about it; `None` if vectors were
/// only to be counted.
pub(crate) fn make(
    context: &CommandContext,
    store: &Store,
    request: DuelRequest,
    vectors: &VectorOptions,
) -> Result<Option<(DuelKey, DraftedDuel)>, CommandFailure> {
    let draft = DuelDraft::read(store, request)?;
    let vectors = match vectors.find(context, &draft.texts(), None)? {
        FoundVectors::DryRun => return Ok(None),
        FoundVectors::None => None,
        FoundVectors::Found(vectors) => Some(vectors),
    };
    let drafted = draft.choose(vectors.as_ref())?;
    let key = drafted.store(store)?;
    for note in drafted.notes() {
        output::message(&format!("note: {note}"));
    }
    Ok(Some((key, drafted)))
}

fn table(drafted: &DraftedDuel) -> String {
    let duel = &drafted.duel;
    let rows = duel
        .queries
        .iter()
        .zip(&drafted.negatives)
        .map(|(query, negative)| {
            let of = |source: Source| {
                let documents = query.documents.iter();
                documents
                    .filter(|one| one.source == source)
                    .count()
                    .to_string()
            };
            let both = query
                .documents
                .iter()
                .filter(|one| query.came_from(one) == (true, true));
            vec![
                clean(query.query.as_str()),
                query.documents.len().to_string(),
                of(Source::TopOfA),
                of(Source::TopOfB),
                both.count().to_string(),
                negative.map_or_else(
                    || "none".to_owned(),
                    |one| format!("{} by {}", fixed(one.similarity, 2), one.likeness),
                ),
                clean(&query.shortfall),
            ]
        });
    let header = [
        "query",
        ">documents",
        ">from A",
        ">from B",
        ">in both",
        "easy negative: similarity",
        "why fewer",
    ];
    format!(
        "A {}\nB {}\n{}",
        clean(&duel.a),
        clean(&duel.b),
        output::table(&header, &rows.collect::<Vec<_>>())
    )
}

fn as_json(key: DuelKey, drafted: &DraftedDuel) -> Value {
    let duel = &drafted.duel;
    let queries = duel.queries.iter().zip(&drafted.negatives);
    let queries = queries.map(|(query, negative)| {
        json!({
            "query": query.query,
            "documents": query.documents,
            "depth": query.depth,
            "easy_negative": negative,
            "shortfall": query.shortfall,
        })
    });
    json!({
        "duel": key.0,
        "form": duel.form,
        "a": duel.a,
        "b": duel.b,
        "top": duel.top,
        "seed": duel.seed,
        "controls": duel.controls,
        "level": duel.level,
        "queries": queries.collect::<Vec<_>>(),
        "notes": drafted.about_rankings,
    })
}
