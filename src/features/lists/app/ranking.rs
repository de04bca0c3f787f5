//! The ranking of a query from votes, the list calls that count, and the answers of existing
//! rankings.

use super::counted_lists::CountedLists;
use super::stored_rankings::{RankingAnswers, RankingUse, StoredRankings, block_of};
use crate::app::error::{AppError, invalid};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::numeric::best_first;
use crate::domain::rating::{RankInterval, rank_intervals};
use crate::domain::sanitize;
use crate::features::lists::domain::{Block, ListModel, QueryBlocks, estimate, fit_blocks};
use crate::features::lists::store::StoredQualification;
use crate::features::methods::app::rerank::replay::ReplayEnd;
use crate::store::{Db, Result, Store};
use std::collections::{BTreeSet, HashMap};

/// Maximum number of queries that the model is estimated from.
const ESTIMATED_FROM: usize = 50;

/// Seed for the intervals.
const SEED: u64 = 0x5eed;

/// A document with its rank.
#[derive(Clone, Debug)]
pub struct RankedDocument {
    pub document: DocId,
    /// In natural-log strength; the scores sum to 0.
    pub score: f64,
    pub standard_error: f64,
    pub interval: RankInterval,
}

/// A ranking with what it is based on.
#[derive(Clone, Debug)]
pub struct ListRanking {
    /// Best first.
    pub documents: Vec<RankedDocument>,
    pub votes: usize,
    /// Lists that count.
    pub lists: usize,
    /// Answered lists of judges that have not qualified for this kind of list.
    pub unqualified: usize,
    /// Answers of existing rankings.
    pub rankings: RankingAnswers,
    /// The methods of these rankings.
    pub methods: Vec<RankingUse>,
    pub model: ListModel,
    /// Number of queries that the model is estimated from.
    pub estimated_from: usize,
}

/// The answers about one query.
struct JudgedQuery {
    blocks: QueryBlocks,
    votes: usize,
    lists: usize,
    unqualified: usize,
    rankings: RankingAnswers,
}

/// Ranks the documents of a query. Lists count only if their judge has qualified, answers of existing
/// rankings always.
///
/// # Errors
/// There is no such query, no list or answer about it counts, or it has too many documents.
pub fn list_ranking(
    store: &Store,
    query: &str,
    rankings: StoredRankings,
) -> std::result::Result<ListRanking, AppError> {
    let (name, wanted) = (query.to_owned(), query.to_owned());
    let (judged, others, documents, methods, known) = store.read_blocking(move |db| {
        let qualifications = db.list_qualifications()?;
        let wanted = db.query(db.find_query(&wanted)?)?;
        let judged = JudgedQuery::read(db, &wanted.id, &qualifications, &rankings)?;
        let mut asked: BTreeSet<QueryId> = db
            .list_calls(None)?
            .into_iter()
            .map(|list| list.query)
            .collect();
        asked.extend(rankings.queries().cloned());
        asked.remove(&wanted.id);
        let mut others = pooled_queries(db, asked, &qualifications, &rankings)?;
        others.truncate(ESTIMATED_FROM - 1);
        let documents = db.document_ids(wanted.key)?;
        let methods = rankings.uses(&wanted.id);
        let known: Vec<String> = (db.rerank_results_of(wanted.key)?.into_iter())
            .map(|of| sanitize::line(&of.row.method).into_owned())
            .filter(|method| method.starts_with("rankgpt") || method.starts_with("tourrank"))
            .collect();
        Ok((judged, others, documents, methods, known))
    })?;
    let shown = sanitize::line(&name);
    if !judged.is_counted() {
        return Err(if let Some(words) = judged.rankings.uncounted_words() {
            invalid!("no answer of the rankings of {shown:?} counts: {words}")
        } else if let Some(ReplayEnd::Failed(why)) = methods.iter().find_map(|of| of.end.as_ref()) {
            invalid!("the rankings of {shown:?} failed: {why}")
        } else if !methods.is_empty() {
            invalid!(
                "no answer about {shown:?} is stored for --use-rankings: repeat the methods, \
                 judges, seed and candidates of `overrule rerank`; the query has {}",
                if known.is_empty() {
                    "no rankings of rankgpt or tourrank".to_owned()
                } else {
                    format!("the rankings {}", known.join(", "))
                }
            )
        } else if judged.unqualified > 0 {
            invalid!(
                "no list call about {shown:?} counts: its judges have not qualified; run `overrule \
                 lists qualify`"
            )
        } else {
            invalid!("{shown:?} has no answered list calls; run `overrule lists ask`")
        });
    }
    let mut pooled = others;
    pooled.insert(0, judged.blocks);
    let model = estimate(&pooled);
    let fit = pooled
        .first()
        .and_then(|of| fit_blocks(of.documents, &of.blocks, &model))
        .ok_or_else(|| invalid!("{shown:?} has too many documents for intervals"))?;
    let intervals = rank_intervals(&fit.scores, &fit.covariance, SEED);
    let ranked = best_first(&fit.scores).into_iter().filter_map(|at| {
        Some(RankedDocument {
            document: documents.get(at)?.clone(),
            score: fit.scores[at],
            standard_error: fit.covariance.se(at),
            interval: *intervals.get(at)?,
        })
    });
    Ok(ListRanking {
        documents: ranked.collect(),
        votes: judged.votes,
        lists: judged.lists,
        unqualified: judged.unqualified,
        rankings: judged.rankings,
        methods,
        model,
        estimated_from: pooled.len(),
    })
}

/// The answers about the first of these queries with lists or rankings that count, from which the
/// model is estimated.
pub(super) fn pooled_queries(
    db: &Db,
    asked: impl IntoIterator<Item = QueryId>,
    qualifications: &[StoredQualification],
    rankings: &StoredRankings,
) -> Result<Vec<QueryBlocks>> {
    let mut pooled = Vec::new();
    for query in asked {
        if pooled.len() == ESTIMATED_FROM {
            break;
        }
        if db.known_query(query.as_str())?.is_some() {
            let judged = JudgedQuery::read(db, &query, qualifications, rankings)?;
            pooled.extend(judged.is_counted().then_some(judged.blocks));
        }
    }
    Ok(pooled)
}

impl JudgedQuery {
    /// Whether a list or the answer of a ranking counts.
    fn is_counted(&self) -> bool {
        self.lists + self.rankings.counted > 0
    }

    fn read(
        db: &Db,
        name: &QueryId,
        qualifications: &[StoredQualification],
        rankings: &StoredRankings,
    ) -> Result<Self> {
        let key = db.find_query(name.as_str())?;
        let documents = db.document_ids(key)?;
        let mut seats: HashMap<String, usize> = HashMap::new();
        let mut seat = |judge: &str| {
            let next = seats.len();
            *seats.entry(judge.to_owned()).or_insert(next)
        };
        let mut judged = Self {
            blocks: QueryBlocks {
                documents: documents.len(),
                blocks: Vec::new(),
            },
            votes: 0,
            lists: 0,
            unqualified: 0,
            rankings: RankingAnswers::default(),
        };
        let rule = db.settings()?.vote_rule;
        let judges: HashMap<_, _> = db.judges_of(key)?.into_iter().collect();
        for record in db.rows(key)?.battles {
            for vote in record.votes {
                if let Some(judge) = judges.get(&vote.judge) {
                    let score = rule.vote_score(vote.margin, None);
                    let (a, b) = (record.battle.a, record.battle.b);
                    judged
                        .blocks
                        .blocks
                        .push(Block::vote(seat(&judge.name), a, b, score));
                    judged.votes += 1;
                }
            }
        }
        let counted = CountedLists::read(db, name, &documents, qualifications)?;
        judged.unqualified = counted.unqualified;
        // Methods share answers, also with lists.
        let mut seen: BTreeSet<[u8; 32]> =
            counted.lists.iter().map(|of| of.list.list.key).collect();
        for of in counted.lists {
            let block = Block::list(seat(&of.list.list.judge), of.kind, &of.order);
            judged.lists += usize::from(block.is_some());
            judged.blocks.blocks.extend(block);
        }
        for ranking in rankings.of(name) {
            for list in ranking.lists.iter().filter(|list| seen.insert(list.key)) {
                let block = block_of(list, seat(&ranking.judge), &documents);
                judged.rankings.add(&block);
                judged.blocks.blocks.extend(block);
            }
        }
        Ok(judged)
    }
}
