//! The texts presented to a judge: a pool, two of its documents, some, or all of them.

use super::lexical::LexicalAnalysis;
use super::metadata::MetadataFields;
use crate::domain::adjudication::PickRequest;
use crate::domain::candidate_question::{GradeScale, Question};
use crate::domain::corpus::{Document, JsonObject, Query};
use crate::domain::document_cut::DocumentCut;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// Texts that are presented to a judge.
pub trait Presented: Clone {
    /// The same texts, each document with this part of its metadata.
    #[must_use]
    fn showing(&self, fields: &MetadataFields) -> Self;

    /// The texts as a judge that is shown these fields, if any, sees them.
    fn with_fields(&self, fields: Option<&MetadataFields>) -> Cow<'_, Self> {
        fields.map_or(Cow::Borrowed(self), |fields| {
            Cow::Owned(self.showing(fields))
        })
    }
}

/// The texts of a pool, shared by all calls on it.
#[derive(Debug)]
pub struct PoolText {
    pub query: String,
    pub documents: Vec<Arc<str>>,
    /// The metadata of the documents, in the same order, for judges that are shown any.
    pub metadata: Vec<JsonObject>,
    /// The titles of the documents, in the same order, for prompts that show them.
    pub titles: Vec<Option<String>>,
    /// Other members of the query object of the dataset, for prompts that show its narrative.
    pub query_fields: JsonObject,
    /// A hash of the query and of all documents of its pool, whichever of them are here; `None` for
    /// documents that are in no pool.
    pub fingerprint: Option<[u8; 32]>,
    /// The query of the second document, if it differs.
    pub second_query: Option<String>,
    /// How much of each document may be shown; a judge's own limit may be lower.
    pub limit: Option<DocumentCut>,
    analysis: OnceLock<LexicalAnalysis>,
}

impl PoolText {
    pub fn new(query: impl Into<String>, documents: Vec<Arc<str>>) -> Self {
        Self {
            query: query.into(),
            documents,
            metadata: Vec::new(),
            titles: Vec::new(),
            query_fields: JsonObject::default(),
            fingerprint: None,
            second_query: None,
            limit: None,
            analysis: OnceLock::new(),
        }
    }

    /// The same texts with the metadata of the documents.
    #[must_use]
    pub fn with_metadata(self, metadata: Vec<JsonObject>) -> Self {
        Self { metadata, ..self }
    }

    /// The same texts with the titles of the documents and the other members of the query object,
    /// for prompts that show them.
    #[must_use]
    pub fn with_inputs(self, titles: Vec<Option<String>>, query_fields: JsonObject) -> Self {
        Self {
            titles,
            query_fields,
            ..self
        }
    }

    /// The same texts as part of a pool with this query and these hashes of documents.
    #[must_use]
    pub fn in_pool(self, documents: impl Iterator<Item = [u8; 32]>) -> Self {
        let mut hash = Sha256::new();
        hash.update((self.query.len() as u64).to_le_bytes());
        hash.update(self.query.as_bytes());
        documents.for_each(|document| hash.update(document));
        Self {
            fingerprint: Some(hash.finalize().into()),
            ..self
        }
    }

    /// The texts of these documents of a query, with everything that a prompt may show.
    pub fn of_documents<'a>(
        query: &Query,
        documents: impl Iterator<Item = &'a Document> + Clone,
    ) -> Self {
        let texts = documents.clone().map(|of| Arc::from(of.content.as_str()));
        let hashes = documents.clone().map(|of| text_hash(&of.content));
        let metadata = documents.clone().map(|of| of.metadata.clone());
        let titles = documents.map(|of| of.title.clone());
        Self::new(query.text.clone(), texts.collect())
            .with_metadata(metadata.collect())
            .with_inputs(titles.collect(), query.extra.clone())
            .in_pool(hashes)
    }

    /// These documents alone, each with its metadata and its text as one text.
    fn showing(&self, fields: &MetadataFields, shown: impl Iterator<Item = usize>) -> Arc<Self> {
        let none = JsonObject::default();
        let (mut texts, mut metadata, mut titles) = (Vec::new(), Vec::new(), Vec::new());
        for at in shown {
            let text = self.documents.get(at).map_or("", |text| text);
            let of = self.metadata.get(at).unwrap_or(&none);
            texts.push(Arc::from(fields.with(of, text)));
            metadata.push(of.clone());
            titles.push(self.titles.get(at).cloned().flatten());
        }
        Arc::new(Self {
            second_query: self.second_query.clone(),
            limit: self.limit,
            fingerprint: self.fingerprint,
            ..Self::new(self.query.clone(), texts)
                .with_metadata(metadata)
                .with_inputs(titles, self.query_fields.clone())
        })
    }

    /// The same texts, of which at most this much is shown.
    #[must_use]
    pub fn with_limit(self, limit: Option<DocumentCut>) -> Self {
        Self { limit, ..self }
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

    /// The findings of the lexical measures on the pool, computed on first use and cached.
    pub fn analysis(&self) -> &LexicalAnalysis {
        self.analysis.get_or_init(|| {
            let Some(limit) = self.limit else {
                return LexicalAnalysis::new(&self.query, &self.documents);
            };
            let shown = self.documents.iter().map(|text| limit.head_of(text));
            LexicalAnalysis::new(&self.query, &shown.collect::<Vec<_>>())
        })
    }
}

/// The hash of a document's text.
pub fn text_hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

#[derive(Clone, Debug)]
pub struct PresentedPair {
    pub pool: Arc<PoolText>,
    /// Pool index of the document presented as A.
    pub first: usize,
    /// Pool index of the document presented as B.
    pub second: usize,
}

impl Presented for PresentedPair {
    fn showing(&self, fields: &MetadataFields) -> Self {
        Self {
            pool: self
                .pool
                .showing(fields, [self.first, self.second].into_iter()),
            first: 0,
            second: 1,
        }
    }
}

impl PresentedPair {
    /// Text of the document presented as A; empty if the index is outside the pool.
    pub fn first_text(&self) -> &str {
        self.pool.documents.get(self.first).map_or("", |text| text)
    }

    /// The same pair with another text of the document presented as A, or of the other one.
    #[must_use]
    pub fn with_text(&self, of_first: bool, text: String) -> Self {
        let (pool, shown) = (&self.pool, [self.first, self.second]);
        let (first, second) = if of_first {
            (Arc::from(text), Arc::from(self.second_text()))
        } else {
            (Arc::from(self.first_text()), Arc::from(text))
        };
        let metadata = shown.map(|at| pool.metadata.get(at).cloned().unwrap_or_default());
        let titles = shown.map(|at| pool.titles.get(at).cloned().flatten());
        Self {
            pool: Arc::new(PoolText {
                second_query: pool.second_query.clone(),
                limit: pool.limit,
                fingerprint: pool.fingerprint,
                ..PoolText::new(pool.query.clone(), vec![first, second])
                    .with_metadata(metadata.into())
                    .with_inputs(titles.into(), pool.query_fields.clone())
            }),
            first: 0,
            second: 1,
        }
    }

    /// All texts shown to the judge: the queries and both documents.
    pub fn shown_texts(&self) -> Vec<&str> {
        let documents = [self.first_text(), self.second_text()];
        self.pool.queries().chain(documents).collect()
    }

    /// Text of the document presented as B; empty if the index is outside the pool.
    pub fn second_text(&self) -> &str {
        self.pool.documents.get(self.second).map_or("", |text| text)
    }
}

/// A pool in the order in which it is shown to a judge, and the requested picks.
#[derive(Clone, Debug)]
pub struct PresentedPool {
    /// The pool's texts; the first is in slot 1.
    pub pool: Arc<PoolText>,
    /// The requested picks.
    pub ask: PickRequest,
}

impl Presented for PresentedPool {
    fn showing(&self, fields: &MetadataFields) -> Self {
        Self {
            pool: self.pool.showing(fields, 0..self.pool.documents.len()),
            ask: self.ask,
        }
    }
}

impl PresentedPool {
    /// All texts shown to the judge: the query and the documents.
    pub fn shown_texts(&self) -> Vec<&str> {
        let documents = self.pool.documents.iter().map(|text| &**text);
        self.pool.queries().chain(documents).collect()
    }
}

/// A question to a judge.
#[derive(Clone, Copy, Debug)]
pub enum JudgeQuestion<'a> {
    /// Which of two documents is better.
    Pair(&'a PresentedPair),
    /// Which documents of a pool to pick.
    Pool(&'a PresentedPool),
    /// A question of a reranking method.
    Rerank(&'a PresentedQuestion),
}

/// The question that a reranking method asks a judge about its candidates, or a similar one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RerankAsk {
    /// Rank all of them, best first.
    Rank,
    /// Which of the two is better.
    Compare,
    /// Which of the two answers its own query better.
    Link,
    /// Select the `count` best, best first.
    Select { count: usize },
    /// Select the best one.
    Best,
    /// Select the best one and the worst one.
    BestWorst,
    /// How relevant the candidate shown is.
    Grade(GradeScale),
    /// Revise the instructions of a judge, which stand in the place of the query; the candidates are
    /// judgments that people overruled.
    Revise,
}

/// The kinds of reranking questions. A judge is built for one of them, because each has its own
/// prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RerankKind {
    Rank,
    Compare,
    Link,
    Select,
    Best,
    BestWorst,
    YesNo,
    Grade,
    Revise,
}

impl RerankAsk {
    pub fn kind(self) -> RerankKind {
        match self {
            Self::Rank => RerankKind::Rank,
            Self::Compare => RerankKind::Compare,
            Self::Link => RerankKind::Link,
            Self::Select { .. } => RerankKind::Select,
            Self::Best => RerankKind::Best,
            Self::BestWorst => RerankKind::BestWorst,
            Self::Grade(GradeScale::YesNo) => RerankKind::YesNo,
            Self::Grade(GradeScale::ZeroToThree) => RerankKind::Grade,
            Self::Revise => RerankKind::Revise,
        }
    }
}

/// Some candidates of a pool in the order in which they are shown to a judge, and the question
/// about them.
#[derive(Clone, Debug)]
pub struct PresentedQuestion {
    /// The texts of all candidates of the query: prompts contain only those shown; lexical measures
    /// use all of them to weigh words.
    pub pool: Arc<PoolText>,
    /// Pool indexes of the documents shown, the first as number 1 (or as A).
    pub shown: Vec<usize>,
    pub ask: RerankAsk,
}

impl Presented for PresentedQuestion {
    fn showing(&self, fields: &MetadataFields) -> Self {
        Self {
            pool: self.pool.showing(fields, self.shown.iter().copied()),
            shown: (0..self.shown.len()).collect(),
            ask: self.ask,
        }
    }
}

impl PresentedQuestion {
    /// An empty question of that kind, to check whether a judge supports it.
    pub fn example(kind: RerankKind) -> Self {
        let ask = match kind {
            RerankKind::Rank => RerankAsk::Rank,
            RerankKind::Compare => RerankAsk::Compare,
            RerankKind::Link => RerankAsk::Link,
            RerankKind::Select => RerankAsk::Select { count: 1 },
            RerankKind::Best => RerankAsk::Best,
            RerankKind::BestWorst => RerankAsk::BestWorst,
            RerankKind::YesNo => RerankAsk::Grade(GradeScale::YesNo),
            RerankKind::Grade => RerankAsk::Grade(GradeScale::ZeroToThree),
            RerankKind::Revise => RerankAsk::Revise,
        };
        Self {
            pool: Arc::new(PoolText::new("", Vec::new())),
            shown: Vec::new(),
            ask,
        }
    }

    /// How `question` is presented to a judge, given the pool of its candidates; `None` for battles
    /// and scores, which are asked differently.
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

    /// All texts shown to the judge: the queries and the candidates.
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
