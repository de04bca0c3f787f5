//! The data of adjudication: labeled pools, judges' picks, rulings, and everything derived from
//! them.

use crate::domain::adjudication::{
    Disagreement, DisagreementRule, Finding, IgnoredAnswers, JudgeAnswers, LabelCorrection,
    PoolSet, Remeasured, Ruling, RulingGrades, corrected_labels, find_disagreements, group_answers,
    has_conflict, label_corrections, latest_by_annotator, measure_impact, order_disagreements,
    remeasure, remeasured_metrics, rulings_in_force, valid_answers,
};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{EvaluationError, EvaluationRules, Qrels, RankedRun, Resampling};
use crate::domain::retrieval::PoolSlot;
use crate::domain::verdict::FinalRule;
use crate::store::corpus::QueryKey;
use crate::store::rulings::{RulingContext, StoredRuling};
use crate::store::{Db, StoreError};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Name of the first stage in a project without an imported ranking.
pub const FIRST_STAGE: &str = "first stage";
/// Name of the dataset's order if the first-stage ranks are unknown.
pub const IN_ORDER: &str = "order of the dataset";

/// The data of adjudication.
#[derive(Clone, Debug)]
pub struct AdjudicationData {
    /// The row ID of each pool in `pool_set`.
    pub keys: Vec<QueryKey>,
    pub pool_set: PoolSet,
    /// All labels, including those of documents in no pool.
    pub labels: Qrels,
    /// Rankings by name. If none has been imported, [`FIRST_STAGE`] or [`IN_ORDER`], derived from
    /// the pools.
    pub rankings: Vec<(String, RankedRun)>,
    /// The answers, grouped by judge.
    pub groups: Vec<JudgeAnswers>,
    /// Answers without information about the pools.
    pub left_out: IgnoredAnswers,
    /// Postponed rulings, by person and document, numbered from the earliest.
    pub postponed: HashMap<(String, QueryKey, DocId), usize>,
    /// Current rulings, earliest first.
    pub rulings: Vec<StoredRuling>,
    /// The rule that combines several people's rulings.
    pub rule: FinalRule,
    /// The grade from which a document counts as labeled relevant.
    pub level: i32,
    /// Number of ranks that count as the top in the project.
    pub top: usize,
}

/// A disagreement to rule on.
#[derive(Clone, Debug, PartialEq)]
pub struct AdjudicationItem {
    pub query: QueryKey,
    pub query_id: QueryId,
    pub document: DocId,
    /// The disagreement between label and picks.
    pub dispute: Disagreement,
    /// For controls, the number of disagreements from which it was randomly drawn; 0 if it was not
    /// drawn at random.
    pub control_of: usize,
    /// Each person's finding, if the item is listed because people disagree.
    pub said: Vec<(String, Finding)>,
}

/// Which documents are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AdjudicationList {
    /// Documents on which label and picks differ and the annotator has not ruled.
    #[default]
    Open,
    /// Documents on which the annotator has ruled, latest first.
    Ruled,
    /// Documents on which people disagree.
    Contested,
}

impl AdjudicationData {
    /// The rules for evaluating rankings.
    pub fn rules(&self) -> EvaluationRules {
        EvaluationRules {
            relevant_from: self.level,
            ..EvaluationRules::default()
        }
    }

    /// The grades that a ruling assigns.
    fn grades(&self) -> RulingGrades {
        let grades = self.labels.values().flat_map(|grades| grades.values());
        RulingGrades::of(grades.max().copied())
    }

    /// The disagreements between labels and picks, with their impact on the rankings.
    ///
    /// # Errors
    /// A ranking cannot be evaluated.
    pub fn disputes(&self) -> Result<Vec<Disagreement>, EvaluationError> {
        let answers = valid_answers(&self.groups, &self.pool_set);
        let mut found = find_disagreements(&self.pool_set.pools, &answers);
        let rankings: Vec<&RankedRun> = self.rankings.iter().map(|(_, run)| run).collect();
        let (grades, rules) = (self.grades(), self.rules());
        measure_impact(
            &mut found,
            &self.pool_set.pools,
            &self.labels,
            grades,
            &rankings,
            &rules,
            self.top,
        )?;
        Ok(found)
    }

    /// The disagreements in the order of `rule`, without those that `annotator` has ruled on, and
    /// with those that they postponed at the end, in the order in which they were postponed.
    ///
    /// # Errors
    /// A ranking cannot be evaluated.
    pub fn open_items(
        &self,
        rule: &DisagreementRule,
        annotator: Option<&str>,
    ) -> Result<Vec<AdjudicationItem>, EvaluationError> {
        let disputes = self.disputes()?;
        let ruled: HashSet<(&QueryId, &DocId)> = self
            .rulings
            .iter()
            .filter(|row| Some(row.ruling.annotator.as_str()) == annotator)
            .map(|row| (&row.ruling.query, &row.ruling.document))
            .collect();
        let item = |(at, control): (usize, bool)| {
            let dispute = disputes.get(at)?.clone();
            let pool = self.pool_set.pools.get(dispute.pool)?;
            let document = &pool.slots.get(dispute.slot)?.document;
            (!ruled.contains(&(&pool.query, document))).then(|| AdjudicationItem {
                query: self.keys.get(dispute.pool).copied().unwrap_or_default(),
                query_id: pool.query.clone(),
                document: document.clone(),
                control_of: if control { disputes.len() } else { 0 },
                said: Vec::new(),
                dispute,
            })
        };
        let order = order_disagreements(&disputes, &self.pool_set.pools, rule);
        let mut items: Vec<AdjudicationItem> = order.into_iter().filter_map(item).collect();
        if let Some(annotator) = annotator {
            // Items that were not postponed (`None`) come first, in the order of `rule`.
            items.sort_by_cached_key(|item| {
                let postponed = (annotator.to_owned(), item.query, item.document.clone());
                self.postponed.get(&postponed).copied()
            });
        }
        Ok(items)
    }

    /// The listed documents; those to rule on in the order of `rule`.
    ///
    /// # Errors
    /// A ranking cannot be evaluated.
    pub fn items(
        &self,
        list: AdjudicationList,
        rule: &DisagreementRule,
        annotator: &str,
    ) -> Result<Vec<AdjudicationItem>, EvaluationError> {
        let latest = |said: &Vec<&Ruling>| said.last().map(|ruling| ruling.created_ms);
        let standing = self.standing();
        let mut documents = latest_by_annotator(&standing);
        match list {
            AdjudicationList::Open => return self.open_items(rule, Some(annotator)),
            AdjudicationList::Ruled => {
                for said in &mut documents {
                    said.retain(|ruling| ruling.annotator == annotator);
                }
            }
            AdjudicationList::Contested => documents.retain(|said| has_conflict(said)),
        }
        documents.sort_by_key(|said| Reverse(latest(said)));
        let rows: HashMap<&str, &StoredRuling> = self
            .rulings
            .iter()
            .map(|row| (row.ruling.uid.as_str(), row))
            .collect();
        let item = |said: &Vec<&Ruling>| {
            let mut item = self.item_of(rows.get(said.last()?.uid.as_str())?)?;
            if list == AdjudicationList::Contested {
                let each = said.iter();
                let each = each.map(|ruling| (ruling.annotator.clone(), ruling.finding));
                item.said = each.collect();
            }
            Some(item)
        };
        Ok(documents.iter().filter_map(item).collect())
    }

    /// A document with a ruling, in its state at the time of the ruling.
    fn item_of(&self, row: &StoredRuling) -> Option<AdjudicationItem> {
        let ruling = &row.ruling;
        let pool = self.pool_set.place(&ruling.query)?;
        let slots = &self.pool_set.pools.get(pool)?.slots;
        let slot = slots
            .iter()
            .position(|slot| slot.document == ruling.document)?;
        Some(AdjudicationItem {
            query: row.query,
            query_id: ruling.query.clone(),
            document: ruling.document.clone(),
            dispute: Disagreement {
                pool,
                slot,
                positive: slots[slot].positive,
                against: row.about.against,
                answers: row.about.answers,
                impact: 0.0,
            },
            control_of: 0,
            said: Vec::new(),
        })
    }

    fn standing(&self) -> Vec<Ruling> {
        self.rulings.iter().map(|row| row.ruling.clone()).collect()
    }

    /// The effective rulings, and the number of documents on which people disagree.
    pub fn settled(&self) -> (Vec<Ruling>, usize) {
        rulings_in_force(&self.rule, &self.standing())
    }

    /// The correction that each effective ruling makes to its label, with the ruling's own grades
    /// unless `grades` overrides them.
    pub fn corrections(&self, grades: Option<RulingGrades>) -> Vec<LabelCorrection> {
        label_corrections(&self.labels, self.settled().0, grades)
    }

    /// Each ranking under the current labels and under the corrected ones.
    ///
    /// # Errors
    /// A ranking cannot be evaluated.
    pub fn effect(
        &self,
        corrections: &[LabelCorrection],
    ) -> Result<Vec<(String, Vec<Remeasured>)>, EvaluationError> {
        let after = corrected_labels(&self.labels, corrections);
        let (metrics, rules) = (remeasured_metrics(self.top), self.rules());
        let rankings = self.rankings.iter();
        rankings
            .map(|(name, run)| {
                let how = Resampling::of(run.len());
                let rows = remeasure(run, &self.labels, &after, &metrics, &rules, &how)?;
                Ok((name.clone(), rows))
            })
            .collect()
    }
}

/// The pools that judges were asked about, with all answers; documents count as labeled relevant
/// from the grade `level`.
pub fn adjudication_data(db: &Db, level: i32) -> Result<AdjudicationData, StoreError> {
    let labels = db.labels()?;
    let picks = db.picks()?;
    let mut keys = Vec::new();
    let mut pools = Vec::new();
    let mut asked: HashSet<&QueryId> = picks.iter().map(|record| &record.query).collect();
    asked.extend(labels.keys());
    for info in db.queries()? {
        if asked.contains(&info.id) {
            keys.push(info.key);
            let grades = labels.get(&info.id);
            pools.push(db.slots(info.key, info.id, grades, level)?);
        }
    }
    let pool_set = PoolSet::new(pools);
    let mut rankings = db.rankings()?;
    if rankings.is_empty() {
        rankings.extend(found(&pool_set).map(|(name, run)| (name.to_owned(), run)));
    }
    let (groups, left_out) = group_answers(picks, &pool_set);
    Ok(AdjudicationData {
        keys,
        pool_set,
        labels,
        rankings,
        groups,
        left_out,
        postponed: db.postponed_rulings()?.into_iter().zip(0..).collect(),
        rulings: db.standing_rulings()?,
        rule: db.final_rule()?,
        level,
        top: db.settings()?.top,
    })
}

/// The label of a document and the answers about it, as context of a ruling.
pub fn ruling_context(
    db: &Db,
    query: QueryKey,
    document: &DocId,
    level: i32,
) -> Result<RulingContext, StoreError> {
    let pool = db.judging_pool(query, level)?;
    let (id, slots) = (pool.query.clone(), pool.slots.clone());
    let pool_set = PoolSet::new(vec![pool]);
    let (groups, _) = group_answers(db.picks_of(query)?, &pool_set);
    let answers = valid_answers(&groups, &pool_set);
    let slot = slots.iter().position(|slot| slot.document == *document);
    let against = slot.map_or(0, |slot| {
        answers
            .iter()
            .filter_map(|answer| answer.says(slot))
            .filter(|picked| *picked != slots[slot].positive)
            .count()
    });
    let said = slot.map_or(0, |slot| {
        answers
            .iter()
            .filter_map(|answer| answer.says(slot))
            .count()
    });
    Ok(RulingContext {
        grade: db.label(&id, document)?,
        against,
        answers: said,
        ..RulingContext::default()
    })
}

/// The known order in which the documents of the pools were retrieved: by first-stage rank, or the
/// dataset's order if no document has a rank.
fn found(pool_set: &PoolSet) -> Option<(&'static str, RankedRun)> {
    let ranked = |rank: fn(usize, &PoolSlot) -> Option<usize>| {
        let pools = pool_set.pools.iter().map(|pool| {
            let places = pool.slots.iter().enumerate();
            let ranked: Vec<(DocId, f64)> = places
                .filter_map(|(at, slot)| Some((slot.document.clone(), -(rank(at, slot)? as f64))))
                .collect();
            (pool.query.clone(), ranked)
        });
        let run: RankedRun = pools.filter(|(_, ranked)| !ranked.is_empty()).collect();
        run
    };
    let by_rank = ranked(|_, slot| slot.rank);
    if !by_rank.is_empty() {
        return Some((FIRST_STAGE, by_rank));
    }
    let by_place = ranked(|at, _| Some(at + 1));
    (!by_place.is_empty()).then_some((IN_ORDER, by_place))
}
