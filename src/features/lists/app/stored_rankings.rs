//! The answers that methods such as RankGPT and TourRank have received, as answers that may enter the
//! fit of a ranking.

use super::answered::{ListOutcome, outcome};
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::sanitize;
use crate::features::lists::domain::{AnswerForm, Block, ListKind, MAX_LIST};
use crate::features::methods::app::rerank::replay::{ReplayEnd, ReplayedList, ReplayedRanking};
use crate::features::methods::app::rerank::{
    CandidateShuffle, CandidateSource, LongDocuments, MethodChoice, RerankScope, prepare,
};
use crate::features::methods::domain::reranking::{Method, MethodKind, MethodOptions};
use crate::store::Store;
use std::collections::HashMap;

/// The rankings whose answers are used, as they were asked for.
#[derive(Clone, Copy, Debug)]
pub struct RankingsWish<'a> {
    pub methods: &'a [Method],
    /// Names of the judges; if empty, the first available one.
    pub judges: &'a [String],
    pub seed: u64,
    pub candidates: CandidateSource<'a>,
    pub shuffle: Option<&'a CandidateShuffle>,
}

/// The stored answers of rankings by query.
#[derive(Clone, Debug, Default)]
pub struct StoredRankings {
    by_query: HashMap<QueryId, Vec<ReplayedRanking>>,
    pub notes: Vec<String>,
}

/// How far the answers of a method suffice to repeat its rankings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankingUse {
    /// Name of the method and its judge.
    pub method: String,
    /// For the query; `None` if no answer about it is stored.
    pub end: Option<ReplayEnd>,
    /// Number of queries of the project by the end of their rankings. Queries without any stored
    /// answer are not counted.
    pub complete: usize,
    pub stopped: usize,
    pub failed: usize,
}

/// The answers of rankings about a query, each of them counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankingAnswers {
    /// Answers that count.
    pub counted: usize,
    /// Answers that are not valid as given; the methods may have repaired them.
    pub malformed: usize,
    /// Answers about a single document or more documents than a list may show.
    pub other_sizes: usize,
    /// Answers about a document outside the pool.
    pub outside_pool: usize,
}

/// Why an answer of a ranking does not count.
pub(super) enum Uncounted {
    Malformed,
    OtherSize,
    OutsidePool,
}

impl StoredRankings {
    /// Finds the answers of rankings in a project. Calls nobody.
    ///
    /// # Errors
    /// A method does not ask for lists or is named twice, a judge is not configured, its answers are
    /// not stored, or the candidates cannot be read.
    pub fn read(
        store: &Store,
        configuration: &JudgeConfiguration<'_>,
        wish: &RankingsWish<'_>,
    ) -> Result<Self, AppError> {
        let is_list = |kind: &MethodKind| {
            matches!(
                kind,
                MethodKind::RankGpt { .. } | MethodKind::TourRank { .. }
            )
        };
        if let Some(other) = wish.methods.iter().find(|method| !is_list(&method.kind)) {
            return Err(invalid!(
                "--use-rankings: the answers of {:?} are not lists; expected rankgpt or tourrank, such \
                 as rankgpt@20",
                sanitize::line(&other.to_string())
            ));
        }
        let mut methods = wish.methods.iter().enumerate();
        if let Some((_, twice)) = methods.find(|(at, of)| wish.methods[..*at].contains(of)) {
            return Err(invalid!(
                "--use-rankings: {:?} is named twice",
                sanitize::line(&twice.to_string())
            ));
        }
        let prepared = prepare(
            store,
            configuration,
            &MethodChoice {
                methods: wish.methods,
                judges: wish.judges,
                options: MethodOptions::default(),
                seed: wish.seed,
            },
            &RerankScope {
                dataset: None,
                queries: &[],
                candidates: wish.candidates,
                shuffle: wish.shuffle,
                max_queries: None,
                retry_failed: false,
                one_at_a_time: false,
                long_documents: LongDocuments::default(),
            },
        )?;
        if prepared.offline {
            return Err(invalid!(
                "--use-rankings: the answers of offline judges are not stored; name other judges with \
                 --judges"
            ));
        }
        Ok(Self {
            by_query: prepared.plan.replayed(store)?.into_iter().collect(),
            notes: prepared.notes,
        })
    }

    /// The rankings of a query.
    pub(super) fn of(&self, query: &QueryId) -> &[ReplayedRanking] {
        self.by_query.get(query).map_or(&[], Vec::as_slice)
    }

    /// The queries about which answers are stored.
    pub(super) fn queries(&self) -> impl Iterator<Item = &QueryId> {
        let answered = self.by_query.iter();
        answered
            .filter(|(_, rankings)| rankings.iter().any(|ranking| !ranking.lists.is_empty()))
            .map(|(query, _)| query)
    }

    /// How far the answers suffice, by method.
    pub(super) fn uses(&self, query: &QueryId) -> Vec<RankingUse> {
        let of_query = self.of(query);
        let of_method = |ranking: &ReplayedRanking| {
            let all = self.by_query.values().flatten();
            let known = || {
                all.clone()
                    .filter(|of| of.method == ranking.method && !of.is_unknown())
            };
            let complete = known().filter(|of| of.end == ReplayEnd::Complete).count();
            let stopped = known().filter(|of| of.end == ReplayEnd::Stopped).count();
            let mut of_query = of_query.iter();
            let own = of_query.find(|own| own.method == ranking.method && !own.is_unknown());
            RankingUse {
                method: ranking.method.clone(),
                end: own.map(|own| own.end.clone()),
                complete,
                stopped,
                failed: known().count() - complete - stopped,
            }
        };
        // Every query that was ranked has all methods.
        let methods = self.by_query.values().next();
        methods.into_iter().flatten().map(of_method).collect()
    }
}

impl RankingAnswers {
    /// The answers that do not count, in words; `None` without any.
    pub fn uncounted_words(&self) -> Option<String> {
        let parts = [
            (self.malformed, "malformed".to_owned()),
            (
                self.other_sizes,
                format!("about a single document or more than {MAX_LIST}"),
            ),
            (
                self.outside_pool,
                "about documents outside the pool".to_owned(),
            ),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, why)| format!("{count} {why}")).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    pub(super) fn add(&mut self, block: &Result<Block, Uncounted>) {
        *match block {
            Ok(_) => &mut self.counted,
            Err(Uncounted::Malformed) => &mut self.malformed,
            Err(Uncounted::OtherSize) => &mut self.other_sizes,
            Err(Uncounted::OutsidePool) => &mut self.outside_pool,
        } += 1;
    }
}

/// The answer of the judge at a seat, exactly as it was given. `documents` are those of the pool, in
/// its order.
pub(super) fn block_of(
    list: &ReplayedList,
    seat: usize,
    documents: &[DocId],
) -> Result<Block, Uncounted> {
    let form = list.best.map_or(AnswerForm::Order, AnswerForm::Best);
    let kind = ListKind::new(list.shown.len(), form).map_err(|_| Uncounted::OtherSize)?;
    let ListOutcome::Answered(order) = outcome(kind, &list.answer) else {
        return Err(Uncounted::Malformed);
    };
    let place = |at: &usize| {
        let name = list.shown.get(*at)?;
        documents.iter().position(|known| known == name)
    };
    let order: Option<Vec<usize>> = order.iter().map(place).collect();
    order
        .and_then(|order| Block::list(seat, kind, &order))
        .ok_or(Uncounted::OutsidePool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::candidate_question::Answer;

    fn counted(shown: &[&str], best: Option<usize>, numbers: &[i64]) -> Result<Block, Uncounted> {
        let list = ReplayedList {
            key: [0; 32],
            shown: shown.iter().copied().map(DocId::new).collect(),
            best,
            answer: Answer::Numbers(numbers.to_vec()),
        };
        let pool = ["a", "b", "c", "d"].map(DocId::new);
        block_of(&list, 0, &pool)
    }

    fn pairs(block: Result<Block, Uncounted>) -> Vec<(usize, usize, f64)> {
        let Ok(block) = block else {
            panic!("it does not count");
        };
        (block.battles().iter())
            .map(|pair| (pair.a, pair.b, pair.score))
            .collect()
    }

    #[test]
    fn an_answer_counts_as_the_judge_gave_it() {
        let order = counted(&["d", "a", "c"], None, &[2, 3, 1]);
        assert_eq!(
            pairs(order),
            [(0, 2, 0.0), (0, 3, 0.0), (2, 3, 0.0)],
            "a > c > d"
        );
        let best = counted(&["d", "a", "c"], Some(1), &[1]);
        assert_eq!(pairs(best), [(0, 3, 1.0), (2, 3, 1.0)], "d > a, d > c");
    }

    #[test]
    fn an_answer_that_a_method_repairs_does_not_count() {
        let shown = ["a", "b", "c"];
        for numbers in [&[1, 2][..], &[1, 1, 2], &[1, 2, 4], &[]] {
            let block = counted(&shown, None, numbers);
            assert!(matches!(block, Err(Uncounted::Malformed)), "{numbers:?}");
        }
    }

    #[test]
    fn impossible_lists_do_not_count() {
        let block = counted(&["a"], None, &[1]);
        assert!(matches!(block, Err(Uncounted::OtherSize)));
        let block = counted(&["a", "b"], Some(2), &[1, 2]);
        assert!(matches!(block, Err(Uncounted::OtherSize)));
        let block = counted(&["a", "z"], None, &[1, 2]);
        assert!(matches!(block, Err(Uncounted::OutsidePool)));
    }
}
