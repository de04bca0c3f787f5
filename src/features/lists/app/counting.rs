//! Whether list calls count in the scores of the project, and the answers that do.

use super::counted_lists::{CountedList, CountedLists};
use super::ranking::pooled_queries;
use super::stored_rankings::StoredRankings;
use crate::app::error::{AppError, invalid};
use crate::client::now_ms;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::number_words::fixed;
use crate::domain::ranking::{CountedAnswer, CountedAnswers};
use crate::domain::rating::RatingModel;
use crate::features::lists::domain::{Block, CountingModel, ListKind, QueryBlocks, estimate};
use crate::features::lists::store::StoredCounting;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, Store};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// What the answers are called.
const NOUN: &str = "list call";

/// Whether lists of a kind count in the scores of one of these queries.
pub fn is_counted(db: &Db, queries: &[QueryKey], kind: ListKind) -> Result<bool> {
    if !db.counting_model()?.is_some_and(|model| model.counts(kind)) {
        return Ok(false);
    }
    let qualifications = db.list_qualifications()?;
    for key in queries {
        let (name, documents) = (db.query(*key)?.id, db.document_ids(*key)?);
        let counted = CountedLists::read(db, &name, &documents, &qualifications)?;
        if counted.lists.iter().any(|of| of.kind == kind) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The list answers that count in the scores of a query; `None` if none count in the project.
pub fn counted_answers(db: &Db, query: QueryKey) -> Result<Option<CountedAnswers>> {
    let Some(model) = db.counting_model()? else {
        return Ok(None);
    };
    let name = db.query(query)?.id;
    if !db.has_list_calls(&name)? {
        return Ok(Some(CountedAnswers {
            noun: NOUN,
            phi: model.battle_phi,
            answers: Vec::new(),
        }));
    }
    let qualifications = db.list_qualifications()?;
    let documents = db.document_ids(query)?;
    let counted = CountedLists::read(db, &name, &documents, &qualifications)?;
    // The judges that vote, in the order of the ensemble, and then those that do not.
    let judges = db.judges_of(query)?.into_iter();
    let mut judges: Vec<String> = judges.map(|(_, judge)| judge.name).collect();
    let answers = counted.lists.into_iter().filter_map(|of| {
        let name = &of.list.list.judge;
        let known = judges.iter().position(|judge| judge == name);
        let seat = known.unwrap_or_else(|| {
            judges.push(name.clone());
            judges.len() - 1
        });
        let block = Block::list(seat, of.kind, &of.order)?;
        Some(CountedAnswer {
            number: of.number,
            shown: shown(&of, &documents),
            uid: of.list.list.uid,
            judge: of.list.list.judge,
            pairs: model.battles(&block)?,
        })
    });
    Ok(Some(CountedAnswers {
        noun: NOUN,
        phi: model.battle_phi,
        answers: answers.collect(),
    }))
}

/// The variance of tastes with which list calls count, relative to that of scores; `None` if none
/// count in the project.
pub fn counted_taste(db: &Db) -> Result<Option<f64>> {
    Ok(db.counting_model()?.map(|model| model.taste))
}

/// The documents in the order shown, each with its place in the answer.
fn shown(of: &CountedList, documents: &[DocId]) -> Vec<(usize, String)> {
    let shown = of.list.list.shown.iter();
    let shown = shown.filter_map(|name| documents.iter().position(|known| known == name));
    shown
        .map(|document| {
            let mut places = of.order.iter();
            let place = places.position(|of| *of == document).unwrap_or(0);
            (document, of.kind.place_words(place))
        })
        .collect()
}

/// The effect of counting list calls.
#[derive(Clone, Debug, PartialEq)]
pub struct CountingOffer {
    pub model: CountingModel,
    /// Lists that count.
    pub lists: usize,
    /// Queries with such lists.
    pub queries: usize,
    /// Answered lists of judges that have not qualified.
    pub unqualified: usize,
}

/// What the weights of list calls are estimated from.
struct CountingInputs {
    pooled: Vec<QueryBlocks>,
    /// The dispersion of battles and the precision of the prior that apply to most of the queries.
    battle_phi: f64,
    lambda: f64,
    /// The model of the project's scores.
    fitted: RatingModel,
    lists: usize,
    queries: usize,
    unqualified: usize,
}

impl CountingInputs {
    fn read(db: &Db) -> Result<Self> {
        let mut asked: BTreeSet<QueryId> = BTreeSet::new();
        asked.extend(db.list_calls(None)?.into_iter().map(|list| list.query));
        let qualifications = db.list_qualifications()?;
        let (mut lists, mut queries, mut unqualified) = (0, 0, 0);
        let mut judges = BTreeSet::new();
        // φ and λ, with the number of queries to which they apply.
        let mut applied: BTreeMap<[u64; 2], ([f64; 2], usize)> = BTreeMap::new();
        for name in &asked {
            let Some(key) = db.known_query(name.as_str())? else {
                continue;
            };
            let documents = db.document_ids(key)?;
            let counted = CountedLists::read(db, name, &documents, &qualifications)?;
            unqualified += counted.unqualified;
            if counted.lists.is_empty() {
                continue;
            }
            lists += counted.lists.len();
            queries += 1;
            judges.extend(counted.lists.into_iter().map(|of| of.list.list.judge));
            let seats = db.judges_of(key)?.len();
            if seats > 0 {
                let settings = db.view_inputs(key)?.1;
                let phi = settings.phi.unwrap_or(1.0 / seats as f64);
                let both = [phi, settings.rating().lambda];
                applied.entry(both.map(f64::to_bits)).or_insert((both, 0)).1 += 1;
            }
        }
        let usual = applied.into_values().rev().max_by_key(|(_, n)| *n);
        let settings = db.settings_in_force()?;
        let [battle_phi, lambda] = match usual {
            Some((both, _)) => both,
            None => {
                let assumed = 1.0 / judges.len().max(1) as f64;
                [settings.phi.unwrap_or(assumed), settings.rating().lambda]
            }
        };
        Ok(Self {
            pooled: pooled_queries(db, asked, &qualifications, &StoredRankings::default())?,
            battle_phi,
            lambda,
            fitted: settings.model,
            lists,
            queries,
            unqualified,
        })
    }
}

/// Estimates the weights of list calls for the scores of the project. Changes nothing.
///
/// # Errors
/// No list call counts, or judges have tastes and the project's model has none.
pub fn offer_counting(store: &Store) -> std::result::Result<CountingOffer, AppError> {
    let CountingInputs {
        pooled,
        battle_phi,
        lambda,
        fitted,
        lists,
        queries,
        unqualified,
    } = store.read_blocking(|db| CountingInputs::read(db))?;
    if lists == 0 {
        return Err(if unqualified > 0 {
            invalid!(
                "no list call counts: the judges have not qualified; run `overrule lists qualify`"
            )
        } else {
            invalid!("there are no answered list calls; run `overrule lists ask`")
        });
    }
    let model = estimate(&pooled);
    if model.taste > 0.0 && fitted != RatingModel::Map {
        return Err(invalid!(
            "judges have tastes ({} of the variance of scores), which the model {fitted} lacks: \
             intervals would be too narrow; use `overrule config project --model map`",
            fixed(model.taste * model.precision, 2)
        ));
    }
    Ok(CountingOffer {
        model: CountingModel::new(battle_phi, lambda, &model, pooled.len()),
        lists,
        queries,
        unqualified,
    })
}

/// Makes list calls count with these weights, or no longer count. Returns whether anything changed.
pub fn set_counting(
    store: &Store,
    model: Option<CountingModel>,
    author: &str,
) -> std::result::Result<bool, AppError> {
    let (author, now_ms) = (author.to_owned(), now_ms());
    let is_changed = store.write_blocking(move |db| {
        // The weights that applied before may be damaged.
        let before = db.list_counting_text()?;
        let text = model.as_ref().map(serde_json::to_string).transpose()?;
        let (old, latest_ms) = before.unwrap_or((None, i64::MIN));
        if old == text {
            return Ok(Some(false));
        }
        let counting = StoredCounting {
            uid: Uuid::now_v7().to_string(),
            model,
            author,
            // Later than any other, whatever clock that was dated by.
            created_ms: now_ms.max(latest_ms.saturating_add(1)),
        };
        db.add_list_counting(&counting)?;
        // Tastes apply to queries without lists, too.
        db.touch_all()?;
        let applies = db.list_counting_text()?.is_some_and(|(now, _)| now == text);
        Ok(applies.then_some(true))
    })?;
    is_changed.ok_or_else(|| {
        invalid!(
            "the project has a decision on list calls with an impossible date, which no other can \
             follow; restore a backup"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::import::ai_scores;

    const BATTLES: &[u8] = include_bytes!("../../../../data/zbench_example.ai_scores.json");

    /// All scores of a project, which must be those of its views.
    fn scores(store: &Store) -> Vec<Vec<Option<f64>>> {
        let read = |db: &mut Db| {
            let mut all = Vec::new();
            for query in db.queries()? {
                let (scores, view) = (db.scores(query.key)?, db.view(query.key)?);
                assert_eq!(scores.as_ref(), Ok(&view.scores()));
                let without_student = db.scores_without_student(query.key)?.unwrap();
                let plain = db.view_without_student(query.key)?.scores();
                assert_eq!(without_student, plain);
                all.push(view.scores());
            }
            Ok(all)
        };
        store.read_blocking(read).unwrap()
    }

    #[test]
    fn tastes_apply_to_queries_without_lists_and_the_switch_restores_every_bit() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("p.db")).unwrap();
        let import = |db: &mut Db| ai_scores::add(db, [BATTLES, BATTLES], "battles", "battles");
        store.write_blocking(import).map(drop).unwrap();
        store.update_estimates().unwrap();
        let before = scores(&store);
        let tastes = CountingModel {
            battle_phi: 0.4,
            taste: 0.5,
            kinds: Vec::new(),
            queries: 1,
        };
        assert!(set_counting(&store, Some(tastes), "ada").unwrap());
        let counted = scores(&store);
        assert!(before.iter().zip(&counted).all(|(x, y)| x != y));
        assert!(set_counting(&store, None, "ada").unwrap());
        assert_eq!(scores(&store), before);
    }
}
