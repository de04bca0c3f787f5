//! Votes of judges and verdicts of people as ratings: what judge statistics and agreement are computed from.

use crate::app::review::assignment_history;
use crate::app::review::review_queue::candidates;
use crate::domain::battle::Pair;
use crate::domain::judge_report::{HumanVerdict, Rating};
use crate::domain::priority::{self, Assignment, Policy};
use crate::domain::vote::{JudgeId, Outcome};
use crate::judge::JudgeSpec;
use crate::store::corpus::QueryKey;
use crate::store::verdicts::{IMPORTED, StoredVerdict};
use crate::store::{Db, Result};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What one person said about a pair before seeing the judges' votes, where they judged it blind; what they say of it
/// now where they did not.
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
    /// The verdicts in force as they were given blind, where they were, with the probabilities with which their pairs were
    /// drawn where those are known.
    pub verdicts: Vec<HumanVerdict>,
    /// Verdicts in force that were never given blind.
    pub never_blind: usize,
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
        let said = SaidOnQuery::load(db, key)?;
        for verdict in &view.rows().verdicts {
            let Some(last) = said.rows.get(&verdict.uid) else {
                continue;
            };
            let first = said.first_word(last);
            found.never_blind += usize::from(!first.blind);
            found.verdicts.push(HumanVerdict {
                query,
                a: first.verdict.a,
                b: first.verdict.b,
                score: first.verdict.decision.score(),
                revealed: last.verdict.seen_from(first.verdict.a).score(),
                inclusion: inclusion.of(first),
            });
        }
        person_verdicts(&said, query, &mut person, &mut found);
    }
    Ok(found)
}

/// What the people said of a query, and has not been taken back, by identifier.
struct SaidOnQuery {
    rows: HashMap<String, StoredVerdict>,
    /// The identifiers of those that no other stands for, earliest first.
    standing: Vec<String>,
}

impl SaidOnQuery {
    fn load(db: &Db, key: QueryKey) -> Result<Self> {
        let standing = db.standing_verdicts(Some(key))?.into_iter();
        let rows = db.verdict_rows(Some(key))?.into_iter();
        Ok(Self {
            standing: standing.map(|row| row.verdict.uid).collect(),
            rows: rows.map(|row| (row.verdict.uid.clone(), row)).collect(),
        })
    }

    /// The verdict that one stands for and that was given before the judges' votes were shown: the latest such one, or the
    /// verdict itself where there is none.
    fn first_word<'a>(&'a self, last: &'a StoredVerdict) -> &'a StoredVerdict {
        let mut at = Some(last);
        while let Some(row) = at {
            if row.blind {
                return row;
            }
            at = row.replaces.as_ref().and_then(|uid| self.rows.get(uid));
        }
        last
    }
}

/// What each person says about each pair of a query.
fn person_verdicts(
    said: &SaidOnQuery,
    query: usize,
    person: &mut HashMap<String, usize>,
    found: &mut RaterData,
) {
    let mut latest: BTreeMap<(usize, Pair), Option<Outcome>> = BTreeMap::new();
    for last in said.standing.iter().filter_map(|uid| said.rows.get(uid)) {
        let verdict = &said.first_word(last).verdict;
        let Some(pair) = Pair::new(verdict.a, verdict.b) else {
            continue;
        };
        let who = *person.entry(verdict.annotator.clone()).or_insert_with(|| {
            found.people.push(verdict.annotator.clone());
            found.people.len() - 1
        });
        latest.insert((who, pair), verdict.seen_from(pair.low()).direction());
    }
    let verdicts = latest
        .into_iter()
        .map(|((person, pair), outcome)| PersonVerdict {
            person,
            query,
            pair,
            outcome,
        });
    found.person_verdicts.extend(verdicts);
}

/// With what probability pairs came to be judged, where that is known.
struct InclusionChances {
    /// Of the pairs that queues laid before people.
    drawn: HashMap<(String, QueryKey, Pair), f64>,
}

impl InclusionChances {
    /// The probability behind a verdict: what its queue's design gives, or what its line of an imported file states. A
    /// verdict given outside of any queue has none, even where a queue has shown the person the same pair.
    fn of(&self, row: &StoredVerdict) -> Option<f64> {
        if row.role.as_deref() == Some(IMPORTED) {
            return row.inclusion;
        }
        row.shown.as_ref()?;
        let pair = Pair::new(row.verdict.a, row.verdict.b)?;
        let place = (row.verdict.annotator.clone(), row.query, pair);
        self.drawn.get(&place).copied()
    }
}

/// The chances of what was drawn so far, for everyone who has answered an item of a queue.
fn inclusions(db: &Db, scope: Option<QueryKey>) -> Result<InclusionChances> {
    let mut drawn = HashMap::new();
    let annotators = db.queue_annotators(scope)?;
    if annotators.is_empty() {
        return Ok(InclusionChances { drawn });
    }
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
                drawn.insert((annotator.clone(), *query, line.key.pair), chance);
            }
        }
    }
    Ok(InclusionChances { drawn })
}
