//! Votes of judges and verdicts of people as ratings: what judge statistics and agreement are computed from.

use crate::app::review::assignment_history;
use crate::app::review::review_queue::candidates;
use crate::domain::battle::Pair;
use crate::domain::judge_report::{HumanVerdict, Rating};
use crate::domain::priority::{self, Assignment, Policy};
use crate::domain::vote::{JudgeId, Outcome};
use crate::judge::JudgeSpec;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What one person says about a pair now.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonVerdict {
    /// The person, an index into [`RaterData::people`].
    pub person: usize,
    /// The query, an index into [`RaterData::queries`].
    pub query: usize,
    pub pair: Pair,
    /// Which way, A being the document earlier in the pool; `None` for *cannot tell*.
    pub outcome: Option<Outcome>,
}

/// Everything that cards are made from.
#[derive(Clone, Debug, Default)]
pub struct RaterData {
    /// The queries, by index.
    pub queries: Vec<(QueryKey, String)>,
    /// The judges, by index.
    pub judges: Vec<(JudgeId, JudgeSpec)>,
    /// The people, by index.
    pub people: Vec<String>,
    /// The votes that count.
    pub ratings: Vec<Rating>,
    /// The verdicts in force, with the probabilities with which queues brought them up.
    pub verdicts: Vec<HumanVerdict>,
    /// What each person says about each pair.
    pub person_verdicts: Vec<PersonVerdict>,
}

/// Collects votes and verdicts of one query or of the project.
pub fn rater_data(db: &Db, scope: Option<QueryKey>) -> Result<RaterData> {
    let mut found = RaterData::default();
    let mut judge_index: HashMap<JudgeId, usize> = HashMap::new();
    let mut person: HashMap<String, usize> = HashMap::new();
    let inclusion = inclusions(db, scope)?;
    for (key, name) in db.query_names()? {
        if scope.is_some_and(|scope| scope != key) {
            continue;
        }
        let query = found.queries.len();
        found.queries.push((key, name));
        for (id, spec) in db.judges_of(key)? {
            judge_index.entry(id).or_insert_with(|| {
                found.judges.push((id, spec));
                found.judges.len() - 1
            });
        }
        let view = db.view(key)?;
        let lengths = db.document_lengths(key)?;
        let length = |at: usize| lengths.get(at).copied().unwrap_or(0);
        let zelo = |at: usize| view.standings.get(at).copied().flatten().map(|s| s.zelo);
        for (battle, record) in view.rows().battles.iter().enumerate() {
            let (a, b) = (record.battle.a, record.battle.b);
            for vote in &record.votes {
                let Some(judge) = judge_index.get(&vote.judge) else {
                    continue;
                };
                found.ratings.push(Rating {
                    query,
                    battle,
                    a,
                    b,
                    judge: *judge,
                    margin: vote.margin,
                    swapped: vote.swapped,
                    length_a: length(a),
                    length_b: length(b),
                    gap: zelo(b).zip(zelo(a)).map(|(b, a)| b - a),
                });
            }
        }
        for verdict in &view.rows().verdicts {
            let pair = Pair::new(verdict.a, verdict.b);
            found.verdicts.push(HumanVerdict {
                query,
                a: verdict.a,
                b: verdict.b,
                score: verdict.decision.score(),
                inclusion: pair.and_then(|pair| {
                    inclusion
                        .get(&(verdict.annotator.clone(), key, pair))
                        .copied()
                }),
            });
        }
        person_verdicts(db, key, query, &mut person, &mut found)?;
    }
    Ok(found)
}

/// Each person's latest verdict on each pair of a query.
fn person_verdicts(
    db: &Db,
    key: QueryKey,
    query: usize,
    person: &mut HashMap<String, usize>,
    found: &mut RaterData,
) -> Result<()> {
    let mut latest: BTreeMap<(usize, Pair), Option<Outcome>> = BTreeMap::new();
    for stored in db.verdict_rows(Some(key))? {
        let verdict = stored.verdict;
        let Some(pair) = Pair::new(verdict.a, verdict.b) else {
            continue;
        };
        let who = *person.entry(verdict.annotator.clone()).or_insert_with(|| {
            found.people.push(verdict.annotator.clone());
            found.people.len() - 1
        });
        let decision = if verdict.a < verdict.b {
            verdict.decision
        } else {
            verdict.decision.flipped()
        };
        latest.insert((who, pair), decision.direction());
    }
    found
        .person_verdicts
        .extend(
            latest
                .into_iter()
                .map(|((person, pair), outcome)| PersonVerdict {
                    person,
                    query,
                    pair,
                    outcome,
                }),
        );
    Ok(())
}

/// With what probability each person's queue brought each pair up. Verdicts that came with a file of votes count
/// alike; others outside of any queue have none.
fn inclusions(db: &Db, scope: Option<QueryKey>) -> Result<HashMap<(String, QueryKey, Pair), f64>> {
    let mut annotators = HashSet::new();
    let mut found = HashMap::new();
    for (annotator, query, pair, imported) in db.verdict_origins(scope)? {
        if let (true, Some(pair)) = (imported, pair) {
            found.insert((annotator, query, pair), 1.0);
        } else {
            annotators.insert(annotator);
        }
    }
    if annotators.is_empty() {
        return Ok(found);
    }
    // Beside verdicts that were asked for one by one, those of a file are a sample of nobody knows what.
    found.clear();
    let (candidates, keys) = candidates(db, Policy::Random, scope)?;
    let frame: HashSet<_> = candidates
        .iter()
        .filter(|candidate| candidate.voted)
        .map(|candidate| candidate.key)
        .collect();
    for annotator in annotators {
        let lines: Vec<Assignment> = assignment_history(db, &annotator, scope)?
            .lines
            .into_iter()
            .map(|(_, shown)| shown)
            .filter(|shown| frame.contains(&shown.key))
            .collect();
        let chances = priority::inclusion_probabilities(frame.len(), &lines);
        for (line, chance) in lines.iter().zip(chances) {
            if let (Some(chance), Some(query)) = (chance, keys.get(&line.key.query)) {
                found.insert((annotator.clone(), *query, line.key.pair), chance);
            }
        }
    }
    Ok(found)
}
