//! `overrule lists ranking`: ranks a query by votes, the list calls that count, and the answers of
//! existing rankings.

use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output::{self, clean};
use crate::domain::number_words::{fixed, signed};
use crate::features::lists::app::{
    ListRanking, RankedDocument, RankingUse, RankingsWish, StoredRankings, list_ranking,
};
use crate::features::lists::domain::ListKind;
use crate::features::methods::app::rerank::replay::ReplayEnd;
use crate::features::methods::command::rerank::CandidateOptions;
use crate::features::methods::domain::reranking::Method;
use crate::store::Store;
use clap::Args;
use serde_json::{Value, json};

#[derive(Debug, Args)]
#[command(
    after_help = "Lists count only if their judge has passed `overrule lists qualify` for this kind \
of list, with the same model, prompt and parameters. All votes of the query count. Verdicts of people \
do not: the scores of the project are those of `overrule matrix`, in which lists count after \
`overrule lists count`.

The dispersion of votes and lists, the tastes of judges and the variance of scores are estimated from \
this query and up to 49 others with lists that count or rankings.

--use-rankings adds the answers that rankgpt and tourrank have received in `overrule rerank`, for this \
command only: an order of a window, or the best of a group. Give the method, judges, seed and \
candidates as in that command. Nobody is called: the methods are repeated with the stored answers, up \
to questions without one. An answer that a method had to repair does not count. These judges need not \
have qualified, and rankgpt shows the documents in the order of its earlier answers, not in a random \
order: if its judge favors documents shown first, the scores do, too, and the intervals do not show \
it. tourrank shuffles its groups.

Examples:
  overrule lists ranking --query q1
  overrule lists ranking --query q1 --use-rankings rankgpt@20,tourrank@20:r2 --judges gpt
  overrule lists ranking --query q1 --json | jq -r '.documents[].id'"
)]
pub(crate) struct RankingCommand {
    /// The query to rank
    #[arg(long, value_name = "QUERY")]
    query: String,
    /// Add the stored answers of these methods: rankgpt or tourrank, with options as in `overrule
    /// rerank`
    #[arg(long, value_delimiter = ',', value_name = "METHOD,…")]
    use_rankings: Vec<Method>,
    /// Judges of --use-rankings [default: the first judge]
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAME,…",
        requires = "use_rankings"
    )]
    judges: Vec<String>,
    /// Random seed of --use-rankings [default: from the configuration]
    #[arg(long, requires = "use_rankings")]
    seed: Option<u64>,
    #[command(flatten)]
    candidates: CandidateOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl RankingCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let rankings = self.rankings(context, &store)?;
        for note in &rankings.notes {
            output::message(&format!("note: {}", clean(note)));
        }
        let ranking = list_ranking(&store, &self.query, rankings)?;
        if self.json {
            output::json(&self.as_json(&ranking))
        } else {
            output::text(&as_text(&ranking))
        }
    }

    fn rankings(
        &self,
        context: &CommandContext,
        store: &Store,
    ) -> Result<StoredRankings, CommandFailure> {
        if self.use_rankings.is_empty() {
            if self.candidates.is_set() {
                return Err(usage!(
                    "--candidates and --shuffle-candidates need --use-rankings"
                ));
            }
            return Ok(StoredRankings::default());
        }
        let shuffle = self.candidates.shuffle();
        let wish = RankingsWish {
            methods: &self.use_rankings,
            judges: &self.judges,
            seed: self.seed.unwrap_or(context.config.run.seed),
            candidates: self.candidates.source(),
            shuffle: shuffle.as_ref(),
        };
        // Nothing is sent, so keys are safe at any address.
        let judges = context.judges_without_asking(true);
        Ok(StoredRankings::read(store, &judges, &wish)?)
    }

    fn as_json(&self, ranking: &ListRanking) -> Value {
        let documents = ranking.documents.iter().map(|of| {
            json!({
                "id": of.document,
                "rank": of.interval.rank,
                "low": of.interval.low,
                "high": of.interval.high,
                "score": of.score,
                "standard_error": of.standard_error,
            })
        });
        let phi = ranking.model.phi.iter().map(|(kind, phi)| {
            json!({ "size": kind.size(), "answer_form": kind.form().to_string(), "phi": phi,
                    "at_limit": ranking.model.is_limited(*kind) })
        });
        json!({
            "query": self.query,
            "votes": ranking.votes,
            "lists": ranking.lists,
            "lists_not_counted": ranking.unqualified,
            "rankings": (!ranking.methods.is_empty()).then(|| rankings_json(ranking)),
            "precision": ranking.model.precision,
            "taste_variance": ranking.model.taste,
            "dispersions": phi.collect::<Vec<_>>(),
            "estimated_from_queries": ranking.estimated_from,
            "documents": documents.collect::<Vec<_>>(),
        })
    }
}

fn rankings_json(ranking: &ListRanking) -> Value {
    let methods = ranking.methods.iter().map(|of| {
        json!({
            "method": of.method,
            "state": match &of.end {
                None => "no_answers",
                Some(ReplayEnd::Complete) => "complete",
                Some(ReplayEnd::Stopped) => "incomplete",
                Some(ReplayEnd::Failed(_)) => "failed",
            },
            "complete_queries": of.complete,
            "incomplete_queries": of.stopped,
            "failed_queries": of.failed,
        })
    });
    let answers = &ranking.rankings;
    json!({
        "answers": answers.counted,
        "malformed": answers.malformed,
        "other_sizes": answers.other_sizes,
        "outside_pool": answers.outside_pool,
        "methods": methods.collect::<Vec<_>>(),
    })
}

/// How far the answers of a method suffice.
fn use_words(of: &RankingUse) -> String {
    let this = match &of.end {
        None => "no stored answer about this query".to_owned(),
        Some(ReplayEnd::Complete) => "complete".to_owned(),
        Some(ReplayEnd::Stopped) => "incomplete, as questions have no stored answer".to_owned(),
        Some(ReplayEnd::Failed(why)) => format!("failed: {}", clean(why)),
    };
    format!(
        "{}: {this}; of all queries, {} complete, {} incomplete, {} failed\n",
        clean(&of.method),
        of.complete,
        of.stopped,
        of.failed
    )
}

fn as_text(ranking: &ListRanking) -> String {
    let model = &ranking.model;
    let phi: Vec<String> = model
        .phi
        .iter()
        .map(|(kind, phi)| {
            let what = if *kind == ListKind::PAIR {
                "votes".to_owned()
            } else {
                format!("lists of {} ({})", kind.size(), kind.form())
            };
            format!("{} for {what}", fixed(*phi, 2))
        })
        .collect();
    let mut text = format!(
        "{}{} and {}; dispersion φ: {}; tastes of judges: {}\n",
        if ranking.methods.is_empty() {
            String::new()
        } else {
            format!(
                "{} of rankings, ",
                counted(ranking.rankings.counted, "answer")
            )
        },
        counted(ranking.lists, "list"),
        counted(ranking.votes, "vote"),
        phi.join(", "),
        if model.taste > 0.0 {
            format!(
                "{} of the variance of scores",
                fixed(model.taste * model.precision, 2)
            )
        } else {
            "no clear evidence".to_owned()
        },
    );
    if model.phi.keys().any(|kind| model.is_limited(*kind)) {
        text += "note: answers contradict each other so little that φ is at its lower limit; \
                 the distances of scores are not known well\n";
    }
    if ranking.unqualified > 0 {
        text += &format!(
            "not counted: {} of judges that have not qualified\n",
            counted(ranking.unqualified, "list")
        );
    }
    text.extend(ranking.methods.iter().map(use_words));
    if let Some(words) = ranking.rankings.uncounted_words() {
        text += &format!("answers of rankings not counted: {words}\n");
    }
    let header = [">rank", "95 % interval", "document", ">score", ">± se"];
    let row = |of: &RankedDocument| {
        vec![
            of.interval.rank.to_string(),
            format!("{}–{}", of.interval.low, of.interval.high),
            clean(of.document.as_str()),
            signed(of.score, 2),
            fixed(of.standard_error, 2),
        ]
    };
    let rows: Vec<Vec<String>> = ranking.documents.iter().map(row).collect();
    text + "\n" + &output::table(&header, &rows)
}
