//! What a judge is shown: the texts of a pool, two of its documents, some, or all of them.

use super::lexical::LexicalAnalysis;
use crate::domain::adjudication::PickRequest;
use crate::domain::reranking::{GradeScale, Question};
use std::sync::{Arc, OnceLock};

/// The texts of a pool, shared by all calls on it.
#[derive(Debug)]
pub struct PoolText {
    pub query: String,
    pub documents: Vec<Arc<str>>,
    /// The query that the second of two documents was found for, where that is another one.
    pub second_query: Option<String>,
    analysis: OnceLock<LexicalAnalysis>,
}

impl PoolText {
    pub fn new(query: impl Into<String>, documents: Vec<Arc<str>>) -> Self {
        Self {
            query: query.into(),
            documents,
            second_query: None,
            analysis: OnceLock::new(),
        }
    }

    /// Two queries with a document of each.
    pub fn of_two(first: (String, Arc<str>), second: (String, Arc<str>)) -> Self {
        Self {
            second_query: Some(second.0),
            ..Self::new(first.0, vec![first.1, second.1])
        }
    }

    /// The query, and the second one if there is one.
    fn queries(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.query.as_str()).chain(self.second_query.as_deref())
    }

    /// What the lexical measures find in the pool, worked out at the first request and kept.
    pub fn analysis(&self) -> &LexicalAnalysis {
        self.analysis
            .get_or_init(|| LexicalAnalysis::new(&self.query, &self.documents))
    }
}

#[derive(Clone, Debug)]
pub struct PresentedPair {
    pub pool: Arc<PoolText>,
    /// Pool index of the document presented as A.
    pub first: usize,
    /// Pool index of the document presented as B.
    pub second: usize,
}

impl PresentedPair {
    /// Text of the document presented as A, empty where the index is outside the pool.
    pub fn first_text(&self) -> &str {
        self.pool.documents.get(self.first).map_or("", |text| text)
    }

    /// Every text that the judge is shown: the queries and both documents.
    pub fn shown_texts(&self) -> Vec<&str> {
        let documents = [self.first_text(), self.second_text()];
        self.pool.queries().chain(documents).collect()
    }

    /// Text of the document presented as B, empty where the index is outside the pool.
    pub fn second_text(&self) -> &str {
        self.pool.documents.get(self.second).map_or("", |text| text)
    }
}

/// A pool in the order in which a judge is shown it, and how many of its documents it is asked to pick.
#[derive(Clone, Debug)]
pub struct PresentedPool {
    /// The pool's texts, the first in slot 1.
    pub pool: Arc<PoolText>,
    /// How many.
    pub ask: PickRequest,
}

impl PresentedPool {
    /// Every text that the judge is shown: the query and the documents.
    pub fn shown_texts(&self) -> Vec<&str> {
        let documents = self.pool.documents.iter().map(|text| &**text);
        self.pool.queries().chain(documents).collect()
    }
}

/// What a judge is asked about the candidates of a reranking method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RerankAsk {
    /// Put all of them in order, best first.
    Rank,
    /// Which of the two is better.
    Compare,
    /// Which of the two serves its own query better.
    Link,
    /// Name the `count` best, best first.
    Select { count: usize },
    /// Name the single best.
    Best,
    /// How relevant the one shown is.
    Grade(GradeScale),
}

/// The kinds of reranking questions. A judge is made for one of them, because each has a prompt of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RerankKind {
    Rank,
    Compare,
    Link,
    Select,
    Best,
    YesNo,
    Grade,
}

impl RerankAsk {
    pub fn kind(self) -> RerankKind {
        match self {
            Self::Rank => RerankKind::Rank,
            Self::Compare => RerankKind::Compare,
            Self::Link => RerankKind::Link,
            Self::Select { .. } => RerankKind::Select,
            Self::Best => RerankKind::Best,
            Self::Grade(GradeScale::YesNo) => RerankKind::YesNo,
            Self::Grade(GradeScale::ZeroToThree) => RerankKind::Grade,
        }
    }
}

/// Some candidates of a pool in the order in which a judge is shown them, and what it is asked about them.
#[derive(Clone, Debug)]
pub struct PresentedQuestion {
    /// The texts of all candidates of the query: prompts hold those shown only, lexical measures weigh words by all of them.
    pub pool: Arc<PoolText>,
    /// Pool indices of those shown, the first under number 1 (or as A).
    pub shown: Vec<usize>,
    pub ask: RerankAsk,
}

impl PresentedQuestion {
    /// A question of that kind about nothing, to see whether a judge takes it.
    pub fn example(kind: RerankKind) -> Self {
        let ask = match kind {
            RerankKind::Rank => RerankAsk::Rank,
            RerankKind::Compare => RerankAsk::Compare,
            RerankKind::Link => RerankAsk::Link,
            RerankKind::Select => RerankAsk::Select { count: 1 },
            RerankKind::Best => RerankAsk::Best,
            RerankKind::YesNo => RerankAsk::Grade(GradeScale::YesNo),
            RerankKind::Grade => RerankAsk::Grade(GradeScale::ZeroToThree),
        };
        Self {
            pool: Arc::new(PoolText::new("", Vec::new())),
            shown: Vec::new(),
            ask,
        }
    }

    /// How `question` is put to a judge, whose candidates are the documents of `pool`; `None` for battles and scores, which
    /// are asked otherwise.
    pub fn of(pool: &Arc<PoolText>, question: &Question) -> Option<Self> {
        let (shown, ask) = match question {
            Question::Rank { candidates } => (candidates.clone(), RerankAsk::Rank),
            Question::Compare { a, b } => (vec![*a, *b], RerankAsk::Compare),
            Question::Select { candidates, count } => {
                (candidates.clone(), RerankAsk::Select { count: *count })
            }
            Question::Best { candidates } => (candidates.clone(), RerankAsk::Best),
            Question::Grade { candidate, scale } => (vec![*candidate], RerankAsk::Grade(*scale)),
            Question::Battle { .. } | Question::Score { .. } => return None,
        };
        Some(Self {
            pool: Arc::clone(pool),
            shown,
            ask,
        })
    }

    /// Every text that the judge is shown: the queries and the candidates.
    pub fn shown_texts(&self) -> Vec<&str> {
        self.pool.queries().chain(self.texts()).collect()
    }

    /// The texts shown, in order; empty for an index outside the pool.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let documents = &self.pool.documents;
        let text = |at: &usize| documents.get(*at).map_or("", |text| &**text);
        self.shown.iter().map(text)
    }
}
