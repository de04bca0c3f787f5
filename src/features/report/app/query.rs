//! A query's section: both orders, the scores, and its conspicuous battles.

use super::pairs::{PairReader, contradicts_votes};
use crate::app::battles::QueryBattles;
use crate::app::error::AppError;
use crate::app::picture::{QueryOrders, check_size};
use crate::domain::battle::Pair;
use crate::domain::number_words::{probability, signed};
use crate::domain::sanitize;
use crate::features::report::domain::{ReportTable, ReportedQuery};
use crate::store::Store;
use crate::store::corpus::QueryInfo;
use crate::store::summary_cache::QuerySummary;

/// Maximum number of decided pairs of a query that are shown.
const DECIDED: usize = 30;
/// Number of surprising battles of a query that are shown.
const SURPRISING: usize = 3;

/// The section of a query; `place` is its position in the report, from 1.
pub(super) fn reported_query(
    store: &Store,
    place: usize,
    info: &QueryInfo,
    summary: &QuerySummary,
) -> Result<ReportedQuery, AppError> {
    let (key, id) = (info.key, info.id.as_str().to_owned());
    let (orders, loaded) = store.read_blocking(move |db| {
        let loaded = QueryBattles::load(db, &id, None)?;
        Ok((QueryOrders::read(db, key)?, loaded))
    })?;
    let mut sentences = Vec::new();
    if let Some(share) = summary.settled {
        let settled = if summary.stop {
            "settled"
        } else {
            "not settled"
        };
        sentences.push(format!(
            "The top {} is right with a probability of {}: {settled}.",
            summary.top,
            probability(share)
        ));
    }
    let is_drawable = check_size(orders.documents.len()).is_ok();
    match &orders.comparison {
        Some(comparison) => sentences.extend(comparison.sentences()),
        None => sentences.push("No scores: no battle is judged, or they cannot be fitted.".into()),
    }
    if !is_drawable {
        sentences.push("The query has too many documents for a picture.".to_owned());
    }
    let (decided, surprising) = chosen_pairs(&loaded);
    let decided_more = decided.len().saturating_sub(DECIDED);
    let reader = PairReader::new(store, key, &loaded);
    let shown = |pairs: &[Pair]| {
        let read = pairs.iter().map(|pair| reader.read(*pair));
        read.collect::<Result<Vec<_>, AppError>>()
    };
    Ok(ReportedQuery {
        anchor: format!("query-{place}"),
        id: sanitize::line(info.id.as_str()).into_owned(),
        text: sanitize::line(&info.text).into_owned(),
        sentences,
        orders: match &orders.comparison {
            Some(_) if is_drawable => Some(orders.svg()?),
            _ => None,
        },
        scores: orders.comparison.as_ref().map(|_| scores(&orders)),
        decided: shown(&decided[..decided.len() - decided_more])?,
        decided_more,
        surprising: shown(&surprising)?,
    })
}

/// The decided pairs, those that contradict the votes first, and the most surprising ones without a
/// verdict.
fn chosen_pairs(loaded: &QueryBattles) -> (Vec<Pair>, Vec<Pair>) {
    let mut decided: Vec<Pair> = loaded.said.pairs().into_iter().collect();
    decided.sort_by_key(|pair| !contradicts_votes(loaded, *pair));
    let battles = loaded.view.rows();
    let surprising = loaded.view.most_surprising().iter().filter_map(|at| {
        let battle = battles.battles[*at].battle;
        let pair = Pair::new(battle.a, battle.b)?;
        (!decided.contains(&pair)).then_some(pair)
    });
    let mut chosen: Vec<Pair> = Vec::new();
    for pair in surprising {
        if chosen.len() == SURPRISING {
            break;
        }
        if !chosen.contains(&pair) {
            chosen.push(pair);
        }
    }
    (decided, chosen)
}

fn scores(orders: &QueryOrders) -> ReportTable {
    let columns = [
        ">rank",
        ">hybrid rank",
        "moved",
        ">zELO",
        ">± SE",
        "rank, 95 %",
        "document",
        "title",
    ];
    let dash = || "–".to_owned();
    let changes = orders.comparison.iter().flat_map(|of| &of.changes);
    let rows = changes.map(|change| {
        let standing = change.standing;
        let document = &orders.documents[change.document];
        let certain = if change.is_certain() { "*" } else { "" };
        let title = document.title().unwrap_or(&document.snippet);
        vec![
            standing.rank.to_string(),
            change.hybrid.to_string(),
            format!("{}{certain}", change.movement()),
            signed(standing.zelo, 3),
            standing.se.map_or_else(dash, |se| format!("{se:.3}")),
            standing
                .interval
                .map_or_else(dash, |ranks| format!("{}–{}", ranks.low, ranks.high)),
            sanitize::line(document.id.as_str()).into_owned(),
            sanitize::line(title).into_owned(),
        ]
    });
    ReportTable::new(&columns, rows.collect())
}
