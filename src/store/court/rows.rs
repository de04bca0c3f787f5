//! What the label court's rows amount to.

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::court::{
    Bench, Correction, Dispute, DocketRule, Grades, Group, LeftOut, Remeasured, Ruling, answers,
    corrected, corrections, disputes, docket, measures, remeasure, settle, weigh,
};
use crate::domain::metrics::{EvaluationError, Qrels, Resampling, Rules, Run};
use crate::domain::verdict::FinalRule;
use crate::store::corpus::QueryKey;
use crate::store::rulings::{Circumstances, StoredRuling};
use std::collections::{HashMap, HashSet};

/// Everything that the label court works on.
#[derive(Clone, Debug)]
pub struct CourtRows {
    /// The row of each pool of the bench.
    pub keys: Vec<QueryKey>,
    /// The pools with their labels.
    pub bench: Bench,
    /// Every label, of documents in no pool too.
    pub labels: Qrels,
    /// Rankings by name; [`super::FIRST_STAGE`] or [`super::IN_ORDER`] of the pools alone where none has been imported.
    pub rankings: Vec<(String, Run)>,
    /// The answers, judge by judge.
    pub groups: Vec<Group>,
    /// Answers that say nothing about the pools.
    pub left_out: LeftOut,
    /// Rulings that stand, earliest first.
    pub rulings: Vec<StoredRuling>,
    /// How the ruling in force follows from what several people said.
    pub rule: FinalRule,
    /// The grade from which on a document is labelled relevant.
    pub level: i32,
}

/// A disagreement to be ruled on.
#[derive(Clone, Debug, PartialEq)]
pub struct Matter {
    /// The query.
    pub query: QueryKey,
    /// Its identifier.
    pub query_id: QueryId,
    /// The document.
    pub document: DocId,
    /// On what label and picks differ.
    pub dispute: Dispute,
    /// The disagreements that it was drawn from at random, where it is a control; 0 for one that comes by its place.
    pub control_of: usize,
}

/// Which documents are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roll {
    /// Those on which label and picks differ and the annotator has not ruled.
    #[default]
    Open,
    /// Those on which the annotator has ruled, the latest first.
    Ruled,
    /// Those on which people go different ways.
    Parted,
}

impl CourtRows {
    /// How rankings are measured.
    pub fn rules(&self) -> Rules {
        Rules {
            relevant_from: self.level,
            ..Rules::default()
        }
    }

    /// The grades of a label that is turned.
    fn grades(&self) -> Grades {
        let grades = self.labels.values().flat_map(|grades| grades.values());
        Grades::of(grades.max().copied())
    }

    /// How the label of a document and the answers about it stand.
    pub fn circumstances(&self, query: QueryKey, document: &DocId) -> Circumstances {
        let place = self.keys.iter().position(|key| *key == query);
        let Some((at, pool)) = place.and_then(|at| Some((at, self.bench.pools.get(at)?))) else {
            return Circumstances::default();
        };
        let mut about = Circumstances {
            grade: self
                .labels
                .get(&pool.query)
                .and_then(|grades| grades.get(document).copied()),
            ..Circumstances::default()
        };
        if let Some(slot) = pool
            .slots
            .iter()
            .position(|slot| slot.document == *document)
        {
            let positive = pool.slots[slot].positive;
            for (_, picks) in answers(&self.groups, &self.bench)
                .iter()
                .filter(|(pool, _)| *pool == at)
            {
                about.answers += 1;
                about.against += usize::from(picks.contains(&slot) != positive);
            }
        }
        about
    }

    /// What label and picks differ on, with its impact on the rankings.
    ///
    /// # Errors
    /// A ranking that cannot be measured.
    pub fn disputes(&self) -> Result<Vec<Dispute>, EvaluationError> {
        let answers = answers(&self.groups, &self.bench);
        let mut found = disputes(&self.bench.pools, &answers);
        let rankings: Vec<&Run> = self.rankings.iter().map(|(_, run)| run).collect();
        let (grades, rules) = (self.grades(), self.rules());
        weigh(
            &mut found,
            &self.bench.pools,
            &self.labels,
            grades,
            &rankings,
            &rules,
        )?;
        Ok(found)
    }

    /// The disagreements in the order of `rule`; those that `annotator` has ruled on are left out.
    ///
    /// # Errors
    /// A ranking that cannot be measured.
    pub fn docket(
        &self,
        rule: &DocketRule,
        annotator: Option<&str>,
    ) -> Result<Vec<Matter>, EvaluationError> {
        let disputes = self.disputes()?;
        let ruled: HashSet<(&QueryId, &DocId)> = self
            .rulings
            .iter()
            .filter(|row| Some(row.ruling.annotator.as_str()) == annotator)
            .map(|row| (&row.ruling.query, &row.ruling.document))
            .collect();
        let matter = |(at, control): (usize, bool)| {
            let dispute = disputes.get(at)?.clone();
            let pool = self.bench.pools.get(dispute.pool)?;
            let document = &pool.slots.get(dispute.slot)?.document;
            (!ruled.contains(&(&pool.query, document))).then(|| Matter {
                query: self.keys.get(dispute.pool).copied().unwrap_or_default(),
                query_id: pool.query.clone(),
                document: document.clone(),
                control_of: if control { disputes.len() } else { 0 },
                dispute,
            })
        };
        let order = docket(&disputes, &self.bench.pools, rule);
        Ok(order.into_iter().filter_map(matter).collect())
    }

    /// The documents that are called, those to be ruled on in the order of `rule`.
    ///
    /// # Errors
    /// A ranking that cannot be measured.
    pub fn called(
        &self,
        roll: Roll,
        rule: &DocketRule,
        annotator: &str,
    ) -> Result<Vec<Matter>, EvaluationError> {
        let latest = self
            .rulings
            .iter()
            .rev()
            .map(|row| (row.query, &row.ruling));
        let mut seen = HashSet::new();
        let mut once = |query, ruling: &Ruling| seen.insert((query, ruling.document.clone()));
        let mut matters = Vec::new();
        match roll {
            Roll::Open => return self.docket(rule, Some(annotator)),
            Roll::Ruled => {
                for (query, ruling) in latest.filter(|(_, ruling)| ruling.annotator == annotator) {
                    if once(query, ruling) {
                        matters.extend(self.matter(query, ruling));
                    }
                }
            }
            Roll::Parted => {
                let mut last: HashMap<_, HashMap<&str, bool>> = HashMap::new();
                for row in &self.rulings {
                    let ruling = &row.ruling;
                    let of = last.entry((row.query, &ruling.document)).or_default();
                    match ruling.finding.side() {
                        Some(side) => of.insert(&ruling.annotator, side),
                        None => of.remove(ruling.annotator.as_str()),
                    };
                }
                for (query, ruling) in latest {
                    let sides = last.get(&(query, &ruling.document));
                    let parted = sides.is_some_and(|sides| {
                        sides.values().any(|side| *side) && sides.values().any(|side| !side)
                    });
                    if parted && once(query, ruling) {
                        matters.extend(self.matter(query, ruling));
                    }
                }
            }
        }
        Ok(matters)
    }

    /// A document that has been ruled on, as it stands.
    fn matter(&self, query: QueryKey, ruling: &Ruling) -> Option<Matter> {
        let pool = self.keys.iter().position(|key| *key == query)?;
        let slots = &self.bench.pools.get(pool)?.slots;
        let slot = slots
            .iter()
            .position(|slot| slot.document == ruling.document)?;
        let about = self.circumstances(query, &ruling.document);
        Some(Matter {
            query,
            query_id: ruling.query.clone(),
            document: ruling.document.clone(),
            dispute: Dispute {
                pool,
                slot,
                positive: slots[slot].positive,
                against: about.against,
                answers: about.answers,
                impact: 0.0,
            },
            control_of: 0,
        })
    }

    /// The rulings in force, and on how many documents people go different ways.
    pub fn settled(&self) -> (Vec<Ruling>, usize) {
        let standing: Vec<Ruling> = self.rulings.iter().map(|row| row.ruling.clone()).collect();
        settle(&self.rule, &standing)
    }

    /// What each ruling in force makes of its label, with its own grades unless there are others for all.
    pub fn corrections(&self, grades: Option<Grades>) -> Vec<Correction> {
        corrections(&self.labels, self.settled().0, grades)
    }

    /// Each ranking under the labels as they are and with `corrections`.
    ///
    /// # Errors
    /// A ranking that cannot be measured.
    pub fn effect(
        &self,
        corrections: &[Correction],
    ) -> Result<Vec<(String, Vec<Remeasured>)>, EvaluationError> {
        let after = corrected(&self.labels, corrections);
        let (metrics, rules) = (measures(), self.rules());
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
