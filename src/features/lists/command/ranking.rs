//! `overrule lists ranking`: ranks a query by votes and the list calls that count.

use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output::{self, clean};
use crate::domain::number_words::{fixed, signed};
use crate::features::lists::app::{ListRanking, RankedDocument, list_ranking};
use clap::Args;
use serde_json::{Value, json};

#[derive(Debug, Args)]
#[command(
    after_help = "Lists count only if their judge has passed `overrule lists qualify` for this kind \
of list, with the same model, prompt and parameters. All votes of the query count. Verdicts of people \
do not: the scores of the project are those of `overrule matrix`, in which lists count after \
`overrule lists count`.

The dispersion of votes and lists, the tastes of judges and the variance of scores are estimated from \
this query and up to 49 others with lists that count.

Examples:
  overrule lists ranking --query q1
  overrule lists ranking --query q1 --json | jq -r '.documents[].id'"
)]
pub(crate) struct RankingCommand {
    /// The query to rank
    #[arg(long, value_name = "QUERY")]
    query: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl RankingCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let ranking = list_ranking(&store, &self.query)?;
        if self.json {
            output::json(&self.as_json(&ranking))
        } else {
            output::text(&as_text(&ranking))
        }
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
            "precision": ranking.model.precision,
            "taste_variance": ranking.model.taste,
            "dispersions": phi.collect::<Vec<_>>(),
            "estimated_from_queries": ranking.estimated_from,
            "documents": documents.collect::<Vec<_>>(),
        })
    }
}

fn as_text(ranking: &ListRanking) -> String {
    let model = &ranking.model;
    let phi: Vec<String> = model
        .phi
        .iter()
        .map(|(kind, phi)| {
            let what = match kind.size() {
                2 => "votes".to_owned(),
                size => format!("lists of {size} ({})", kind.form()),
            };
            format!("{} for {what}", fixed(*phi, 2))
        })
        .collect();
    let mut text = format!(
        "{} and {}; dispersion φ: {}; tastes of judges: {}\n",
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
