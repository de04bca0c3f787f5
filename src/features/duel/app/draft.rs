//! A draft of a duel: the queries that both rankings contain, and the documents chosen from them.

use super::rankings::find_ranking;
use crate::app::adjudication::data::adjudication_data;
use crate::app::document_vectors::{DocumentText, DocumentVectors};
use crate::app::error::{AppError, invalid};
use crate::app::export::FoundRanking;
use crate::app::text_format::{counted, first_names};
use crate::client::now_ms;
use crate::domain::adjudication::corrected_labels;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::sampling::SeededRng;
use crate::features::duel::domain::sbr::SbrProfile;
use crate::features::duel::domain::{
    Duel, DuelForm, EasyNegative, Nine, NineInput, NineOptions, RankedText, nine, tops,
};
use crate::features::duel::store::DuelKey;
use crate::store::Store;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Parameters of a new duel.
#[derive(Clone, Debug, PartialEq)]
pub struct DuelRequest {
    /// Names of the project's rankings, `original`, methods, or files.
    pub a: String,
    pub b: String,
    pub form: DuelForm,
    /// Number of top documents of each ranking.
    pub top: usize,
    pub profile: SbrProfile,
    pub seed: u64,
    pub controls: bool,
    /// Only these queries; if empty, all queries in both rankings.
    pub queries: Vec<String>,
    /// Maximum number of queries, sampled with the seed.
    pub most: Option<usize>,
    /// The grade from which a document counts as relevant.
    pub level: i32,
}

impl DuelRequest {
    /// A duel over all queries in both rankings, with default parameters.
    pub fn new([a, b]: [String; 2], form: DuelForm, seed: u64) -> Self {
        Self {
            a,
            b,
            form,
            top: Self::usual_top(form),
            profile: SbrProfile::Overrule,
            seed,
            controls: true,
            queries: Vec::new(),
            most: None,
            level: 1,
        }
    }

    /// Default number of top documents of each ranking.
    pub fn usual_top(form: DuelForm) -> usize {
        match form {
            DuelForm::Grid => 4,
            DuelForm::Lists | DuelForm::Interleaved => 10,
        }
    }
}

/// A query of a draft.
#[derive(Clone, Debug)]
pub struct DraftQuery {
    pub query: QueryId,
    pub text: String,
    /// The texts of all documents in either ranking.
    texts: HashMap<DocId, String>,
    /// Best first, without documents outside the pool.
    a: Vec<DocId>,
    b: Vec<DocId>,
    grades: Option<BTreeMap<DocId, i32>>,
}

/// A draft without chosen documents.
#[derive(Clone, Debug)]
pub struct DuelDraft {
    request: DuelRequest,
    /// Name of each ranking.
    a: String,
    b: String,
    queries: Vec<DraftQuery>,
    notes: Vec<String>,
}

/// A draft with its chosen documents.
#[derive(Clone, Debug)]
pub struct DraftedDuel {
    pub duel: Duel,
    /// In the order of the duel's queries.
    pub queries: Vec<DraftQuery>,
    pub negatives: Vec<Option<EasyNegative>>,
    /// Notes on the rankings.
    pub about_rankings: Vec<String>,
}

impl DraftQuery {
    pub fn text_of(&self, document: &DocId) -> &str {
        self.texts.get(document).map_or("", String::as_str)
    }

    fn ranked<'a>(&'a self, order: &'a [DocId]) -> Vec<RankedText<'a>> {
        let ranked = order.iter();
        ranked
            .map(|id| RankedText {
                id,
                text: self.text_of(id),
            })
            .collect()
    }
}

impl DuelDraft {
    /// Reads both rankings and the texts of their documents.
    ///
    /// # Errors
    /// A ranking does not exist, or the rankings have no query in common.
    pub fn read(store: &Store, request: DuelRequest) -> Result<Self, AppError> {
        let a = find_ranking(store, &request.a)?;
        let b = find_ranking(store, &request.b)?;
        let mut notes: Vec<String> = a.notes.iter().chain(&b.notes).cloned().collect();
        if a.orders == b.orders {
            notes.push(match request.form {
                DuelForm::Interleaved => {
                    "the two rankings are the same: credit is even on average, and differs only by \
                     chance"
                        .to_owned()
                }
                DuelForm::Lists => {
                    "the two rankings are the same: any preference is for a side, or chance"
                        .to_owned()
                }
                DuelForm::Grid => {
                    "the two rankings are the same: credit must come out even".to_owned()
                }
            });
        }
        let wanted = wanted_queries(store, &request, &a, &b, &mut notes)?;
        let level = request.level;
        let (orders, wanted_too) = ([a.orders, b.orders], wanted.clone());
        let (queries, missing) = store.read_blocking(move |db| {
            let data = adjudication_data(db, level)?;
            let labels = corrected_labels(&data.labels, &data.corrections(None));
            let (mut queries, mut missing) = (Vec::new(), [0, 0]);
            for query in &wanted_too {
                let pool = db.pool(db.find_query(query.as_str())?)?;
                let documents = pool.documents.into_iter();
                let mut texts: HashMap<DocId, String> =
                    documents.map(|one| (one.id, one.content)).collect();
                let mut lists = [Vec::new(), Vec::new()];
                for ((list, orders), missing) in lists.iter_mut().zip(&orders).zip(&mut missing) {
                    for (document, _) in orders.get(query).into_iter().flatten() {
                        if texts.contains_key(document) {
                            list.push(document.clone())
                        } else {
                            *missing += 1
                        }
                    }
                }
                let [a, b] = lists;
                let ranked: HashSet<&DocId> = a.iter().chain(&b).collect();
                texts.retain(|id, _| ranked.contains(id));
                queries.push(DraftQuery {
                    query: query.clone(),
                    text: pool.query.text,
                    texts,
                    a,
                    b,
                    grades: labels.get(query).cloned(),
                });
            }
            Ok((queries, missing))
        })?;
        for (name, missing) in [&a.name, &b.name].into_iter().zip(missing) {
            if missing > 0 {
                notes.push(format!(
                    "{}: {} not among the candidates of the query in the project: skipped, and ranks \
                     are counted without them",
                    crate::domain::sanitize::line(name),
                    counted(missing, "document")
                ));
            }
        }
        let empty = |query: &DraftQuery| query.a.is_empty() || query.b.is_empty();
        let without: Vec<&str> = queries
            .iter()
            .filter(|query| empty(query))
            .map(|query| query.query.as_str())
            .collect();
        if !without.is_empty() {
            notes.push(format!(
                "skipped {} for which a ranking has no document: {}",
                counted(without.len(), "query"),
                first_names(&without)
            ));
        }
        let queries: Vec<DraftQuery> = queries.into_iter().filter(|one| !empty(one)).collect();
        if queries.is_empty() {
            return Err(invalid!(
                "no query of the project has documents in both rankings; import the texts of their \
                 top documents"
            ));
        }
        Ok(Self {
            request,
            a: a.name,
            b: b.name,
            queries,
            notes,
        })
    }

    /// The texts compared to find an easy negative.
    pub fn texts(&self) -> Vec<DocumentText<'_>> {
        let texts = self.queries.iter().flat_map(|of| {
            of.texts.iter().map(|(document, text)| DocumentText {
                query: &of.query,
                document,
                text,
            })
        });
        DocumentText::distinct(texts.collect())
    }

    /// Chooses the documents.
    pub fn choose(self, vectors: Option<&DocumentVectors>) -> Result<DraftedDuel, AppError> {
        let request = &self.request;
        let options = NineOptions {
            top: request.top,
            profile: request.profile,
            seed: request.seed,
        };
        let (mut chosen, mut negatives, mut notes) = (Vec::new(), Vec::new(), self.notes);
        let mut without_vectors = 0;
        for (place, query) in self.queries.iter().enumerate() {
            let (a, b) = (query.ranked(&query.a), query.ranked(&query.b));
            if request.form != DuelForm::Grid {
                chosen.push(tops(&query.query, &a, &b, request.top));
                negatives.push(None);
                continue;
            }
            let of_query: Option<HashMap<DocId, Vec<f32>>> = vectors.map(|vectors| {
                let found = query.a.iter().chain(&query.b).filter_map(|id| {
                    let vector = vectors.of(&query.query, id, query.text_of(id))?;
                    Some((id.clone(), vector.iter().map(|x| *x as f32).collect()))
                });
                found.collect()
            });
            if let Some(found) = &of_query
                && query
                    .a
                    .iter()
                    .chain(&query.b)
                    .any(|id| !found.contains_key(id))
            {
                without_vectors += 1;
            }
            let Nine {
                chosen: of,
                negative,
            } = nine(
                &NineInput {
                    query: &query.query,
                    place,
                    a: &a,
                    b: &b,
                    grades: query.grades.as_ref(),
                    relevant_from: request.level,
                    vectors: of_query.as_ref(),
                },
                &options,
            );
            chosen.push(of);
            negatives.push(negative);
        }
        if without_vectors > 0 {
            notes.push(format!(
                "{} with documents without a vector: for these, shared word stems measure how \
                 similar texts are",
                counted(without_vectors, "query")
            ));
        }
        Ok(DraftedDuel {
            duel: Duel {
                form: self.request.form,
                a: self.a,
                b: self.b,
                top: self.request.top,
                seed: self.request.seed,
                controls: self.request.controls,
                level: self.request.level,
                queries: chosen,
            },
            queries: self.queries,
            negatives,
            about_rankings: notes,
        })
    }
}

impl DraftedDuel {
    /// Stores the duel in the project.
    pub fn store(&self, store: &Store) -> Result<DuelKey, AppError> {
        let duel = self.duel.clone();
        Ok(store.write_blocking(move |db| db.add_duel(&duel, now_ms()))?)
    }

    /// Notes on how it was created, including why some queries have fewer documents than requested.
    pub fn notes(&self) -> Vec<String> {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for query in &self.duel.queries {
            *reasons.entry(&query.shortfall).or_default() += 1;
        }
        reasons.remove("");
        let short = reasons.into_iter().map(|(reason, queries)| {
            format!(
                "{} with fewer documents than asked for: {}",
                counted(queries, "query"),
                crate::domain::sanitize::line(reason)
            )
        });
        self.about_rankings.iter().cloned().chain(short).collect()
    }
}

/// The queries of a duel, in the project's order.
fn wanted_queries(
    store: &Store,
    request: &DuelRequest,
    a: &FoundRanking,
    b: &FoundRanking,
    notes: &mut Vec<String>,
) -> Result<Vec<QueryId>, AppError> {
    let known = store.read_blocking(|db| db.queries())?;
    let known: Vec<QueryId> = known.into_iter().map(|query| query.id).collect();
    let in_both = |query: &QueryId| a.orders.contains_key(query) && b.orders.contains_key(query);
    if !request.queries.is_empty() {
        for name in &request.queries {
            let query = QueryId::new(name.as_str());
            if !known.contains(&query) {
                return Err(invalid!(
                    "no query {name:?} in the project; `overrule queries` lists them"
                ));
            }
            if !in_both(&query) {
                return Err(invalid!("query {name:?}: is not in both rankings; omit it"));
            }
        }
    }
    let named = |query: &QueryId| {
        let mut names = request.queries.iter();
        request.queries.is_empty() || names.any(|name| name == query.as_str())
    };
    let one_only = a.orders.keys().chain(b.orders.keys());
    let mut one_only: Vec<&QueryId> = one_only.filter(|query| !in_both(query)).collect();
    one_only.sort();
    one_only.dedup();
    if !one_only.is_empty() && request.queries.is_empty() {
        let names: Vec<&str> = one_only.iter().map(|query| query.as_str()).collect();
        notes.push(format!(
            "skipped {} that only one of the rankings has: {}",
            counted(names.len(), "query"),
            first_names(&names)
        ));
    }
    let strange: Vec<&str> = a
        .orders
        .keys()
        .filter(|query| in_both(query) && !known.contains(query))
        .map(QueryId::as_str)
        .collect();
    if !strange.is_empty() && request.queries.is_empty() {
        notes.push(format!(
            "skipped {} missing from the project: {}",
            counted(strange.len(), "query"),
            first_names(&strange)
        ));
    }
    let mut wanted: Vec<QueryId> = known
        .into_iter()
        .filter(|query| in_both(query) && named(query))
        .collect();
    if let Some(most) = request.most.filter(|most| *most < wanted.len()) {
        let draw = |query: &QueryId| {
            SeededRng::new(request.seed, &["duel", "query", query.as_str()]).below(usize::MAX)
        };
        let mut drawn = wanted.clone();
        drawn.sort_by_cached_key(draw);
        drawn.truncate(most);
        let drawn: HashSet<QueryId> = drawn.into_iter().collect();
        wanted.retain(|query| drawn.contains(query));
    }
    Ok(wanted)
}
