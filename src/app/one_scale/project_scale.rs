//! What the answers about anchors make of a project's scores.

use super::{HIGHEST_GRADE, method};
use crate::app::error::AppError;
use crate::app::scored_pools::{
    PeoplesLabels, ScoredPool, all_keys, fit_to_labels, graded_scores, scored_pools,
};
use crate::app::wording::counted;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{GradeModel, Qrels};
use crate::domain::one_scale::{AnchorGrade, Drift, QueryOffset, fit_anchors};
use crate::judge::offline;
use crate::store::corpus::QueryKey;
use crate::store::reranking::{ResultTable, StoredResult};
use crate::store::{Db, Store, StoreError};
use std::collections::{BTreeMap, HashMap};

/// Below this the most probable grade of a document is doubtful.
const SURE: f64 = 0.6;

/// Where the cut points between grades come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutSource {
    /// Fitted to so many labels and rulings on the common scale.
    People { labels: usize },
    /// The judge's own: no person has said what a grade is.
    Judge,
}

/// A project's common scale.
#[derive(Clone, Debug)]
pub struct ProjectScale {
    /// The judge that graded the anchors.
    pub judge: String,
    /// Other judges that graded anchors too, which do not count here.
    pub others: Vec<String>,
    offsets: BTreeMap<QueryId, QueryOffset>,
    /// Grades of absolute scores.
    pub grades: GradeModel,
    pub cuts: CutSource,
    /// Standard deviation of the offsets, in units of zELO.
    pub tau: f64,
    /// How the judge's grades drift between queries against people's; `None` without enough of both.
    pub drift: Option<Drift>,
}

/// A query on the common scale.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaledQuery {
    pub query: QueryId,
    pub offset: QueryOffset,
    /// Documents with a score.
    pub documents: usize,
    /// The expected number of documents that reach the level.
    pub expected_relevant: f64,
    /// Documents whose most probable grade reaches the level.
    pub relevant: usize,
    /// Documents whose most probable grade is doubtful.
    pub doubtful: usize,
}

/// A document on the common scale.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkedDocument {
    pub id: DocId,
    pub zelo: f64,
    /// zELO plus the query's offset.
    pub linked: f64,
    /// Of `linked`; `None` where zELO has no standard error.
    pub se: Option<f64>,
}

impl ProjectScale {
    /// The scale of a project, by the anchors of `judge`, or of the judge that graded those of most queries. `None` where
    /// nobody graded any, or all have the same grade.
    pub fn read(store: &Store, judge: Option<&str>) -> Result<Option<Self>, AppError> {
        // Without anchors nothing is fitted.
        let results = anchor_results(store)?;
        if results.is_empty() {
            return Ok(None);
        }
        let pools = scored_pools(store, &all_keys(store)?)?;
        let labels = PeoplesLabels::read(store)?.corrected();
        Ok(Self::new(&results, &pools, &labels, judge))
    }

    /// The same where the scores of all queries are there already.
    pub fn of(
        store: &Store,
        pools: &[ScoredPool],
        judge: Option<&str>,
    ) -> Result<Option<Self>, AppError> {
        let labels = PeoplesLabels::read(store)?.corrected();
        Ok(Self::new(&anchor_results(store)?, pools, &labels, judge))
    }

    fn new(
        results: &[StoredResult],
        pools: &[ScoredPool],
        labels: &Qrels,
        judge: Option<&str>,
    ) -> Option<Self> {
        let mut queries: BTreeMap<&str, usize> = BTreeMap::new();
        for name in results.iter().filter_map(judge_of) {
            *queries.entry(name).or_default() += 1;
        }
        let most = queries.iter().rev().max_by_key(|(_, count)| **count);
        let chosen = judge.or(most.map(|(name, _)| *name))?;
        let others = queries.keys().filter(|name| **name != chosen);
        let others = others.map(|name| (*name).to_owned()).collect();
        let rows: HashMap<&QueryId, &StoredResult> = results
            .iter()
            .filter(|result| judge_of(result) == Some(chosen))
            .map(|result| (&result.row.query, result))
            .collect();
        let top = labels.values().flat_map(BTreeMap::values).max();
        let top = f64::from(top.copied().unwrap_or(0).max(1));
        let (mut anchors, mut differences) = (Vec::new(), Vec::new());
        for (query, pool) in pools.iter().enumerate() {
            let Some(result) = rows.get(&pool.query) else {
                continue;
            };
            let scores: HashMap<&DocId, f64> = pool
                .documents
                .iter()
                .filter_map(|(id, score)| Some((id, (*score)?)))
                .collect();
            let own = labels.get(&pool.query);
            let shares = result.row.scores.iter().flatten();
            for (id, share) in result.row.order.iter().zip(shares) {
                let Some(share) = *share else { continue };
                if let Some(label) = own.and_then(|own| own.get(id)) {
                    differences.push((query, share * top - f64::from((*label).max(0))));
                }
                if let Some(score) = scores.get(id) {
                    anchors.push(AnchorGrade {
                        query,
                        score: *score,
                        grade: (share * HIGHEST_GRADE).round() as i32,
                    });
                }
            }
        }
        let fitted = fit_anchors(pools.len(), &anchors)?;
        let offsets: BTreeMap<QueryId, QueryOffset> = pools
            .iter()
            .zip(&fitted.offsets)
            .filter_map(|(pool, offset)| Some((pool.query.clone(), (*offset)?)))
            .collect();
        let (peoples, counts) = fit_to_labels(&graded_scores(&shifted(pools, &offsets), labels));
        let (grades, cuts) = match peoples {
            Some(grades) => {
                let labels = counts.labels;
                (grades, CutSource::People { labels })
            }
            None => (fitted.grades, CutSource::Judge),
        };
        Some(Self {
            judge: chosen.to_owned(),
            others,
            offsets,
            grades,
            cuts,
            tau: fitted.tau,
            drift: Drift::of(&differences),
        })
    }

    /// Where a query is; `None` where nothing was measured.
    pub fn offset(&self, query: &QueryId) -> Option<QueryOffset> {
        self.offsets.get(query).copied()
    }

    /// How many of these queries have scores, and no place on the scale.
    pub fn unmeasured(&self, pools: &[ScoredPool]) -> usize {
        let scored = pools.iter().filter(|pool| pool.is_scored());
        let bare = scored.filter(|pool| !self.offsets.contains_key(&pool.query));
        bare.count()
    }

    /// How many queries are on the scale, and the grades that they rest on.
    pub fn size(&self) -> (usize, usize) {
        let anchors = self.offsets.values().map(|offset| offset.anchors);
        (self.offsets.len(), anchors.sum())
    }

    /// Whether an offline judge graded: it compares documents of one query only.
    pub fn is_offline(&self) -> bool {
        offline::NAMES.contains(&self.judge.as_str())
    }

    /// What it rests on, in a sentence.
    pub fn describe(&self) -> String {
        let (queries, anchors) = self.size();
        format!(
            "one scale over queries: {} in {} graded by {}{}; {}",
            counted(anchors, "anchor"),
            counted(queries, "query"),
            self.judge,
            match self.is_offline() {
                true => ", an offline judge, which puts all queries on about one level",
                false => "",
            },
            self.cuts_in_words()
        )
    }

    pub fn cuts_in_words(&self) -> String {
        match self.cuts {
            CutSource::People { labels } => {
                format!("cut points from {}", counted(labels, "label and ruling"))
                    .replace("label and rulings", "labels and rulings")
            }
            CutSource::Judge => {
                "cut points of the judge itself: no person has said what a grade is".to_owned()
            }
        }
    }

    /// The queries that are on the scale, in the order of the pools.
    pub fn queries(&self, pools: &[ScoredPool], level: i32) -> Vec<ScaledQuery> {
        let measured = pools.iter().filter_map(|pool| {
            let offset = self.offset(&pool.query)?;
            let ranking = pool.ranking();
            let mut query = ScaledQuery {
                query: pool.query.clone(),
                offset,
                documents: ranking.len(),
                expected_relevant: 0.0,
                relevant: 0,
                doubtful: 0,
            };
            for (_, score) in ranking {
                let absolute = score + offset.b;
                let (grade, probability) = self.grades.grade(absolute);
                query.expected_relevant += self.grades.at_least(absolute, level);
                query.relevant += usize::from(grade >= level);
                query.doubtful += usize::from(probability < SURE);
            }
            Some(query)
        });
        measured.collect()
    }

    /// The documents of a query with their absolute scores, best first; `None` where the query is not on the scale.
    pub fn documents(
        &self,
        db: &Db,
        key: QueryKey,
    ) -> Result<Option<Vec<LinkedDocument>>, StoreError> {
        let Some(offset) = self.offset(&db.query(key)?.id) else {
            return Ok(None);
        };
        let view = db.view(key)?;
        let documents = db.documents(key)?;
        let linked = view.by_zelo.iter().filter_map(|at| {
            let standing = (*view.standings.get(*at)?)?;
            Some(LinkedDocument {
                id: documents.get(*at)?.id.clone(),
                zelo: standing.zelo,
                linked: standing.zelo + offset.b,
                se: standing.se.map(|se| se.hypot(offset.se)),
            })
        });
        Ok(Some(linked.collect()))
    }
}

/// The pools with absolute scores; queries that are not on the scale are left out.
fn shifted(pools: &[ScoredPool], offsets: &BTreeMap<QueryId, QueryOffset>) -> Vec<ScoredPool> {
    let moved = pools.iter().filter_map(|pool| {
        let b = offsets.get(&pool.query)?.b;
        let mut pool = pool.clone();
        for (_, score) in &mut pool.documents {
            *score = score.map(|score| score + b);
        }
        Some(pool)
    });
    moved.collect()
}

fn anchor_results(store: &Store) -> Result<Vec<StoredResult>, AppError> {
    let mut results = store.read_blocking(|db| db.rerank_results(ResultTable::Anchors))?;
    results.retain(|result| result.row.failure.is_none());
    Ok(results)
}

/// The judge that graded these anchors.
fn judge_of(result: &StoredResult) -> Option<&str> {
    let name = result.row.judges.first()?;
    (result.row.method == format!("{}/{name}", method())).then_some(name)
}
