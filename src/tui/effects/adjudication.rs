//! What the adjudication screens show, from the project.

use crate::app::adjudication::data::AdjudicationList;
use crate::app::adjudication::data::adjudication_data;
use crate::domain::adjudication::{
    DisagreementRule, JudgeAnswers, PickAnswer, PickMode, PoolAnswer, PoolSet, group_answers,
    summarise_answers,
};
use crate::domain::corpus::DocId;
use crate::judge::OFFLINE;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, StoreError};
use crate::tui::model::{AdjudicationOverview, DocumentEvidence, JudgePick, PickRow};
use std::collections::{BTreeMap, HashSet};

/// The grade from which on the screens take a document as labelled relevant.
const LEVEL: i32 = 1;

/// Figures about picks, labels and rulings.
pub(super) fn overview(
    db: &Db,
    rule: &DisagreementRule,
    roll: AdjudicationList,
    annotator: &str,
) -> Result<AdjudicationOverview> {
    let rows = adjudication_data(db, LEVEL)?;
    let unmeasured = |error: crate::domain::metrics::EvaluationError| {
        StoreError::Corrupt(format!("a ranking cannot be measured: {error}"))
    };
    let corrections = rows.corrections(None);
    let ruled: HashSet<_> = rows
        .rulings
        .iter()
        .filter(|row| row.ruling.annotator == annotator)
        .map(|row| (&row.ruling.query, &row.ruling.document))
        .collect();
    let judges = rows.groups.iter().flat_map(|group| {
        let several = group.orders.len() > 1;
        let orders = group.orders.iter();
        orders.map(move |(order, given)| row(group, several.then_some(*order), given))
    });
    Ok(AdjudicationOverview {
        pools: rows.bench.pools.len(),
        labels: rows.labels.values().map(|grades| grades.len()).sum(),
        judges: judges.collect(),
        offline: rows.groups.iter().all(|group| group.provider == OFFLINE),
        disagreements: rows.items(roll, rule, annotator).map_err(unmeasured)?,
        ruled: ruled.len(),
        in_force: corrections.len(),
        changed: corrections.iter().filter(|one| one.changes()).count(),
        conflicts: rows.settled().1,
        effect: rows.effect(&corrections).map_err(unmeasured)?,
        warning: rows
            .bench
            .labels_stand_first()
            .then_some("the labelled documents stand first in every pool: naming the first slots is always right"),
    })
}

fn row(group: &JudgeAnswers, order: Option<usize>, given: &BTreeMap<usize, PoolAnswer>) -> PickRow {
    let (summary, failed) = summarise_answers(given);
    PickRow {
        name: name(group, order),
        summary,
        failed,
    }
}

/// A judge, with its way of asking and its order where there are several.
fn name(group: &JudgeAnswers, order: Option<usize>) -> String {
    let way = match group.way {
        PickMode::Exactly => "",
        PickMode::AnyNumber => " · open",
        PickMode::PerDocument => " · per document",
    };
    let order = order.map_or(String::new(), |order| format!(" · order {order}"));
    format!("{}{way}{order}", group.judge)
}

/// A document with its query, its label and what the judges said of it.
pub(super) fn document_evidence(
    db: &Db,
    query: QueryKey,
    document: &DocId,
) -> Result<DocumentEvidence> {
    let info = db.query(query)?;
    let at = db.find_document(query, document.as_str())?;
    let pool = db.judging_pool(query, LEVEL)?;
    let (groups, _) = group_answers(db.picks_of(query)?, &PoolSet::new(vec![pool]));
    let mut picks = Vec::new();
    for group in &groups {
        for (order, given) in &group.orders {
            for given in given.values() {
                if let PickAnswer::Picks(_) = given.answer {
                    let proof = given.verdict_on(document).map(|verdict| {
                        let sentence = verdict.sentence.as_deref();
                        let quoted = sentence.map_or(String::new(), |text| format!(" “{text}”"));
                        format!("{}{quoted}", verdict.verdict.name())
                    });
                    let reasons = proof.into_iter().chain(given.thoughts.iter().cloned());
                    picks.push(JudgePick {
                        judge: name(group, (group.orders.len() > 1).then_some(*order)),
                        picked: given.picked().contains(&document),
                        reason: reasons.collect::<Vec<_>>().join("\n"),
                    });
                }
            }
        }
    }
    let rulings = db.rulings_on(query, document)?.into_iter();
    let found = db.documents(query)?.into_iter().nth(at);
    let found = found.ok_or_else(|| StoreError::NotFound("no such document".to_owned()))?;
    Ok(DocumentEvidence {
        query,
        document: document.clone(),
        label: db.label(&info.id, document)?,
        asked: info.text,
        title: found.title,
        text: db.document_text(query, at)?,
        metadata: found.metadata,
        picks,
        rulings: rulings.map(|row| row.ruling).collect(),
    })
}
