//! A method with everything it asks: its judges by kind of question, its reranker, or the orders of
//! a file.

use super::candidates::{Candidates, Orders, hash_part};
use super::question::{QueryFailure, Target};
use crate::client::call_key::identity_of;
use crate::domain::candidate_question::{Answer, Question};
use crate::domain::corpus::DocId;
use crate::features::methods::domain::MethodRow;
use crate::features::methods::domain::reranking::{Method, MethodKind, Strategy, Validation};
use crate::features::methods::store::anchors_method;
use crate::judge::reranker::{RerankCandidate, Reranker};
use crate::judge::{Judge, JudgeQuestion, PoolText, PresentedPair, PresentedQuestion};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Version of the repair of answers. Rankings from an earlier version are computed again from the
/// stored answers, since it treated an answer without a usable part as the old order.
const REPAIR: &str = "repair 2";

/// A judge with its service index.
pub(super) type AskedJudge = (usize, Arc<dyn Judge>);

/// What a method asks.
#[derive(Clone, Debug)]
pub(super) enum Asks {
    /// Nothing: it uses the first-stage order.
    Nothing,
    /// One judge, configured for the method's kind of question, with this service index.
    Judge {
        service: usize,
        judge: Arc<dyn Judge>,
    },
    /// The judges of an ensemble, using battles.
    Ensemble(Vec<AskedJudge>),
    Reranker {
        service: usize,
        reranker: Arc<Reranker>,
        /// The judges that it may ask, with their service indexes; none unless it is a program that
        /// asks judges.
        judges: Vec<AskedJudge>,
    },
    /// An existing run.
    Orders(Arc<Orders>),
}

/// A candidate that is longer than the limit of a run.
struct LongDocument<'c> {
    document: &'c DocId,
    /// Its length as shown, in characters.
    chars: usize,
    limit: usize,
}

/// One of the methods of a run.
#[derive(Clone, Debug)]
pub(super) struct PreparedMethod {
    /// Its name in results: the method, followed by a slash and the judge if it asks one.
    pub(super) name: String,
    /// Names of the judges or the reranker that it asks.
    pub(super) judges: Vec<String>,
    pub(super) method: Method,
    pub(super) asks: Asks,
    pub(super) seed: u64,
    /// Whether a document that is longer than the limit fails its query and is not truncated.
    pub(super) refuses_long: bool,
    /// Whether it grades the anchors of a scale. A missing grade then does not invalidate the other
    /// grades; it is requested again with the failures.
    pub(super) is_anchors: bool,
}

/// A part of a question: its service index, the subset of candidates if not all, and its target.
pub(super) type QuestionPart = (usize, Option<Range<usize>>, Target);

impl PreparedMethod {
    pub(super) fn new(method: Method, asks: Asks, seed: u64) -> Self {
        let judges: Vec<String> = match &asks {
            Asks::Nothing | Asks::Orders(_) => Vec::new(),
            Asks::Judge { judge, .. } => vec![judge.spec().name.clone()],
            Asks::Reranker {
                reranker, judges, ..
            } if judges.is_empty() => vec![reranker.name().to_owned()],
            Asks::Ensemble(judges) | Asks::Reranker { judges, .. } => judges
                .iter()
                .map(|(_, judge)| judge.spec().name.clone())
                .collect(),
        };
        let name = match &asks {
            Asks::Judge { .. } | Asks::Ensemble(_) => format!("{method}/{}", judges.join("+")),
            Asks::Reranker { judges: asked, .. } if !asked.is_empty() => {
                format!("{method}/{}", judges.join("+"))
            }
            Asks::Nothing | Asks::Reranker { .. } | Asks::Orders(_) => method.to_string(),
        };
        Self {
            name,
            judges,
            refuses_long: method.validation == Validation::Strict,
            method,
            asks,
            seed,
            is_anchors: false,
        }
    }

    /// Converts it to a method that grades the anchors of a scale, whose results are not orders of
    /// pools. `None` unless exactly one judge is asked.
    pub(super) fn for_anchors(self) -> Option<Self> {
        let Asks::Judge { judge, .. } = &self.asks else {
            return None;
        };
        let spec = judge.spec();
        Some(Self {
            name: anchors_method(&spec.name, &identity_of(spec)),
            is_anchors: true,
            ..self
        })
    }

    /// Whether every call goes to a server, so that its usage can be compared with the estimate. A
    /// program that asks judges decides its calls by itself.
    pub(super) fn is_remote(&self) -> bool {
        match &self.asks {
            Asks::Nothing | Asks::Orders(_) => false,
            Asks::Judge { judge, .. } => !judge.spec().is_offline(),
            Asks::Ensemble(judges) => judges.iter().all(|(_, judge)| !judge.spec().is_offline()),
            Asks::Reranker { reranker, .. } => reranker.is_remote(),
        }
    }

    /// The judges that the method's program may ask, with their service indexes.
    pub(super) fn program_judges(&self) -> &[AskedJudge] {
        match &self.asks {
            Asks::Reranker { judges, .. } => judges,
            _ => &[],
        }
    }

    /// Whether a result failed, as a whole or in a required part.
    pub(super) fn has_failed(&self, row: &MethodRow) -> bool {
        let ungraded = || row.scores.iter().flatten().any(Option::is_none);
        row.failure.is_some() || (self.is_anchors && ungraded())
    }

    /// Creates the method's strategy for a query.
    pub(super) fn strategy(&self, candidates: &Candidates) -> Box<dyn Strategy> {
        let looked_at = self.looks_at(candidates);
        if let (true, MethodKind::Pointwise { scale }) = (self.is_anchors, &self.method.kind) {
            return Method::grades(looked_at, *scale);
        }
        let seed = Method::query_seed(self.seed, candidates.query.as_str());
        let judges = match &self.asks {
            Asks::Ensemble(judges) => judges.len(),
            _ => 1,
        };
        self.method.strategy(looked_at, seed, judges)
    }

    /// Why it fails on these candidates before any call, if it does.
    pub(super) fn refusal(&self, candidates: &Candidates) -> Option<QueryFailure> {
        let long = self.refuses_long.then(|| self.longer(candidates).next());
        if let Some(long) = long.flatten() {
            return Some(QueryFailure::DocumentTooLong {
                document: long.document.clone(),
                chars: long.chars,
                limit: long.limit,
            });
        }
        let count = self.method.check_count(self.looks_at(candidates));
        count.err().map(QueryFailure::from)
    }

    /// The candidates that are longer than the limit, as shown to any of those who are asked. None
    /// if it asks nobody.
    fn longer<'c>(&'c self, candidates: &'c Candidates) -> impl Iterator<Item = LongDocument<'c>> {
        let asks = !matches!(self.asks, Asks::Nothing | Asks::Orders(_));
        let limit = candidates.pool.limit.filter(|_| asks);
        let metadata: Vec<_> = self
            .asked_judges()
            .filter_map(|judge| judge.metadata())
            .collect();
        let shown = candidates
            .ids
            .iter()
            .enumerate()
            .take(self.looks_at(candidates));
        shown.filter_map(move |(at, document)| {
            let limit = limit?;
            let text = candidates.pool.documents.get(at)?;
            let with_metadata = metadata
                .iter()
                .filter_map(|fields| Some(fields.with(candidates.pool.metadata.get(at)?, text)));
            let chars = with_metadata
                .filter(|shown| limit.cuts(shown))
                .map(|shown| shown.chars().count())
                .chain(limit.cuts(text).then(|| text.chars().count()))
                .max()?;
            Some(LongDocument {
                document,
                chars,
                limit: limit.chars,
            })
        })
    }

    /// The judges that it asks, or that its program may ask.
    fn asked_judges(&self) -> impl Iterator<Item = &Arc<dyn Judge>> {
        let (one, several): (_, &[AskedJudge]) = match &self.asks {
            Asks::Judge { judge, .. } => (Some(judge), &[]),
            Asks::Ensemble(judges) | Asks::Reranker { judges, .. } => (None, judges),
            Asks::Nothing | Asks::Orders(_) => (None, &[]),
        };
        one.into_iter()
            .chain(several.iter().map(|(_, judge)| judge))
    }

    /// The candidates that are truncated; none if they fail the query instead.
    pub(super) fn cut(&self, candidates: &Candidates) -> Vec<DocId> {
        if self.refuses_long {
            return Vec::new();
        }
        self.longer(candidates)
            .map(|long| long.document.clone())
            .collect()
    }

    /// Number of candidates that it considers.
    pub(super) fn looks_at(&self, candidates: &Candidates) -> usize {
        self.method.looks_at(candidates.ids.len())
    }

    /// The answer that needs no call: the order of a run. Candidates that are missing from the run
    /// follow in their old order. `None` if someone must be asked.
    pub(super) fn own_answer(
        &self,
        candidates: &Candidates,
        question: &Question,
    ) -> Option<Answer> {
        let (Asks::Orders(orders), Question::Score { candidates: asked }) = (&self.asks, question)
        else {
            return None;
        };
        let Some(order) = orders.get(&candidates.query) else {
            let why = "the run does not have this query".to_owned();
            return Some(Answer::Unreadable(why));
        };
        let places: HashMap<&DocId, usize> = order.iter().zip(0..).collect();
        let place = |at: &usize| {
            candidates
                .ids
                .get(*at)
                .and_then(|id| places.get(id))
                .copied()
        };
        if asked.iter().all(|at| place(at).is_none()) {
            let why = "the run has none of this query's candidates".to_owned();
            return Some(Answer::Unreadable(why));
        }
        let scores = asked.iter().zip(0usize..).map(|(at, above)| {
            let rank = place(at).unwrap_or(order.len() + above);
            -(rank as f64)
        });
        Some(Answer::Scores(scores.collect()))
    }

    /// Splits a question into the parts that are asked.
    ///
    /// # Errors
    /// The method's target cannot answer it.
    pub(super) fn parts(
        &self,
        candidates: &Candidates,
        question: &Question,
    ) -> Result<Vec<QuestionPart>, QueryFailure> {
        let cannot = || QueryFailure::CannotAsk;
        match (&self.asks, question) {
            (Asks::Judge { service, judge }, question) => {
                let shown = PresentedQuestion::of(&candidates.pool, question).ok_or_else(cannot)?;
                let asked = JudgeQuestion::Rerank(&shown);
                if !judge.can_answer(asked) {
                    return Err(cannot());
                }
                let prompt = judge.prompt(asked);
                let target = Target::Judge {
                    judge: Arc::clone(judge),
                    shown,
                    prompt,
                    strict: self.method.validation == Validation::Strict,
                };
                Ok(vec![(*service, None, target)])
            }
            (
                Asks::Ensemble(judges) | Asks::Reranker { judges, .. },
                Question::Battle { a, b, judge },
            ) => {
                let (service, judge) = judges.get(*judge).ok_or_else(cannot)?;
                let target = battle_target(&candidates.pool, judge, *a, *b);
                Ok(vec![(*service, None, target)])
            }
            (
                Asks::Reranker {
                    service, reranker, ..
                },
                Question::Score { candidates: asked },
            ) => {
                let limit = candidates.pool.limit;
                let documents: Vec<RerankCandidate> = asked
                    .iter()
                    .filter_map(|at| {
                        let text = candidates.pool.documents.get(*at)?;
                        let text = limit.map_or_else(|| Arc::clone(text), |cut| cut.head_of(text));
                        Some((candidates.ids.get(*at)?.clone(), text))
                    })
                    .collect();
                let query: Arc<str> = Arc::from(candidates.pool.query.as_str());
                let batches = reranker.batches(&query, &documents)?;
                let parts = batches.into_iter().map(|range| {
                    let batch = documents.get(range.clone()).unwrap_or_default();
                    let target = Target::Reranker {
                        reranker: Arc::clone(reranker),
                        query: Arc::clone(&query),
                        candidates: batch.into(),
                    };
                    (*service, Some(range), target)
                });
                Ok(parts.collect())
            }
            _ => Err(cannot()),
        }
    }

    /// Hash of everything that the order depends on: method, seed, judges, and the candidates with
    /// their texts as far as they are shown.
    pub(super) fn identity(&self, candidates: &Candidates) -> [u8; 32] {
        let whole = self.identity_of_whole(candidates);
        let Some(long) = self.longer(candidates).next() else {
            return whole;
        };
        let mut hash = Sha256::new();
        hash.update(whole);
        hash_part(&mut hash, &long.limit.to_string());
        if self.refuses_long {
            hash_part(&mut hash, "refuses long documents");
        }
        hash.finalize().into()
    }

    /// The same with the whole texts, as in results of earlier versions.
    pub(super) fn identity_of_whole(&self, candidates: &Candidates) -> [u8; 32] {
        let mut hash = Sha256::new();
        let mut add = |part: &str| hash_part(&mut hash, part);
        add(&self.method.to_string());
        let asks_judges = matches!(self.asks, Asks::Judge { .. } | Asks::Ensemble(_));
        if asks_judges && !self.is_anchors && self.method.validation == Validation::Repair {
            add(REPAIR);
        }
        if matches!(
            self.method.kind,
            MethodKind::TourRank { .. }
                | MethodKind::Zelo { .. }
                | MethodKind::InfoGain { .. }
                | MethodKind::Mohajer { .. }
        ) {
            add(&self.seed.to_string());
        }
        match &self.asks {
            Asks::Nothing => {}
            Asks::Judge { judge, .. } => add_judge(&mut add, judge.as_ref(), candidates),
            Asks::Ensemble(judges) => {
                judges
                    .iter()
                    .for_each(|(_, judge)| add_judge(&mut add, judge.as_ref(), candidates));
            }
            Asks::Reranker {
                reranker, judges, ..
            } => {
                add(reranker.identity());
                judges
                    .iter()
                    .for_each(|(_, judge)| add_judge(&mut add, judge.as_ref(), candidates));
            }
            Asks::Orders(orders) => {
                let order = orders.get(&candidates.query);
                order.into_iter().flatten().for_each(|id| add(id.as_str()));
            }
        }
        hash.update(candidates.hash);
        hash.finalize().into()
    }
}

/// A question to a judge about a pair of candidates, A first.
pub(super) fn battle_target(
    pool: &Arc<PoolText>,
    judge: &Arc<dyn Judge>,
    a: usize,
    b: usize,
) -> Target {
    let case = PresentedPair {
        pool: Arc::clone(pool),
        first: a,
        second: b,
    };
    Target::Battle {
        judge: Arc::clone(judge),
        prompt: judge.prompt(JudgeQuestion::Pair(&case)),
        case,
    }
}

/// Adds a judge, and whatever it is shown of the candidates in addition to their texts.
fn add_judge(add: &mut impl FnMut(&str), judge: &dyn Judge, candidates: &Candidates) {
    let spec = judge.spec();
    let parts = [
        &spec.name,
        &spec.provider,
        &spec.model,
        &spec.prompt_hash,
        &spec.params,
    ];
    parts.into_iter().for_each(|part| add(part));
    let inputs = judge.inputs();
    if judge.metadata().is_some() || !inputs.is_empty() {
        let metadata = candidates.pool.metadata.iter();
        metadata.for_each(|metadata| add(metadata.as_str()));
    }
    if !inputs.is_empty() {
        let titles = candidates.pool.titles.iter();
        titles.for_each(|title| add(title.as_deref().unwrap_or("")));
        add(candidates.pool.query_fields.as_str());
    }
}
