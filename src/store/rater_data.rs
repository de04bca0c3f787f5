//! Votes and verdicts as witnesses: the plain rows that judge cards and agreement are computed from.

mod ranking_shift;
mod report;

pub use ranking_shift::RankingShift;
pub use report::RaterReport;

use super::corpus::QueryKey;
use super::{Db, Result, StoreError};
use crate::domain::battle::Pair;
use crate::domain::judge_report::{HumanVerdict, Rating};
use crate::domain::priority::{self, Assignment, Policy};
use crate::domain::reasoning::{FoldedText, conclusion, quotes};
use crate::domain::verdict::Decision;
use crate::domain::vote::{JudgeId, Outcome};
use crate::judge::{FailureCause, JudgeSpec};
use rusqlite::params;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Votes whose reasoning is looked into, of each judge at most.
const AUDITED: usize = 200;

/// What one person says about a pair now.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonVerdict {
    /// The person, an index into [`RaterData::people`].
    pub person: usize,
    /// The query, an index into [`RaterData::queries`].
    pub query: usize,
    /// The two documents.
    pub pair: Pair,
    /// Which way, A being the document earlier in the pool; `None` for *cannot tell*.
    pub outcome: Option<Outcome>,
}

/// Calls of a judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JudgeCalls {
    /// Failed calls not made good, by cause.
    pub failures: BTreeMap<FailureCause, usize>,
    /// Half of the calls took no longer than this, in milliseconds; `None` where none was timed.
    pub latency_p50_ms: Option<f64>,
    /// 95 % of the calls took no longer than this, in milliseconds.
    pub latency_p95_ms: Option<f64>,
    /// Input tokens.
    pub tokens_input: u64,
    /// Output tokens.
    pub tokens_output: u64,
    /// US dollars a thousand votes, failed calls included; `None` where a price is unknown.
    pub usd_per_1000: Option<f64>,
}

/// What looking into a judge's reasoning found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReasoningAudit {
    /// Votes looked into.
    pub votes: usize,
    /// Quotes in them.
    pub quotes: usize,
    /// Quotes that stand in neither document nor in the query.
    pub missing_quotes: usize,
    /// Votes whose reasoning names a better document in plain words.
    pub conclusions: usize,
    /// Of those, the ones whose score says the opposite.
    pub contradictions: usize,
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

impl Db {
    /// Collects votes and verdicts of one query or of the project.
    pub fn rater_data(&self, scope: Option<QueryKey>) -> Result<RaterData> {
        let mut found = RaterData::default();
        let mut judge_index: HashMap<JudgeId, usize> = HashMap::new();
        let mut person: HashMap<String, usize> = HashMap::new();
        let inclusion = self.inclusions(scope)?;
        for (key, name) in self.query_names()? {
            if scope.is_some_and(|scope| scope != key) {
                continue;
            }
            let query = found.queries.len();
            found.queries.push((key, name));
            for (id, spec) in self.judges_of(key)? {
                judge_index.entry(id).or_insert_with(|| {
                    found.judges.push((id, spec));
                    found.judges.len() - 1
                });
            }
            let view = self.view(key)?;
            let lengths = self.lengths(key)?;
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
            self.person_verdicts(key, query, &mut person, &mut found)?;
        }
        Ok(found)
    }

    /// Each person's latest verdict on each pair of a query.
    fn person_verdicts(
        &self,
        key: QueryKey,
        query: usize,
        person: &mut HashMap<String, usize>,
        found: &mut RaterData,
    ) -> Result<()> {
        let mut latest: BTreeMap<(usize, Pair), Option<Outcome>> = BTreeMap::new();
        for stored in self.verdict_rows(Some(key))? {
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
            latest.insert((who, pair), direction(decision));
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
    fn inclusions(
        &self,
        scope: Option<QueryKey>,
    ) -> Result<HashMap<(String, QueryKey, Pair), f64>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT annotator, query, a, b, role = 'import' FROM verdict WHERE ?1 IS NULL OR query = ?1",
        )?;
        let rows = statement.query_map([scope.map(|scope| scope.0)], |row| {
            Ok((
                row.get::<_, String>(0)?,
                QueryKey(row.get(1)?),
                (row.get(2)?, row.get(3)?),
                row.get::<_, Option<bool>>(4)?,
            ))
        })?;
        let mut annotators = HashSet::new();
        let mut found = HashMap::new();
        for row in rows {
            let (annotator, query, (a, b), imported): (String, QueryKey, (usize, usize), _) = row?;
            if let (Some(true), Some(pair)) = (imported, Pair::new(a, b)) {
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
        let (candidates, keys) = self.candidates(Policy::Random, scope)?;
        let frame: HashSet<_> = candidates
            .iter()
            .filter(|candidate| candidate.voted)
            .map(|candidate| candidate.key)
            .collect();
        for annotator in annotators {
            let lines: Vec<Assignment> = self
                .assignment_history(&annotator, scope)?
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

    /// Characters of each document of a query.
    fn lengths(&self, query: QueryKey) -> Result<Vec<usize>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT length(content.text) FROM document JOIN content ON content.id = document.content
             WHERE query = ?1 ORDER BY position",
        )?;
        let rows = statement.query_map([query.0], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// What a judge's calls took and cost.
    pub fn calls_of(&self, judge: JudgeId) -> Result<JudgeCalls> {
        let mut latencies = Vec::new();
        let (mut tokens_input, mut tokens_output, mut votes) = (0, 0, 0usize);
        let mut cost = Some(0.0);
        let mut statement = self.connection.prepare_cached(
            "SELECT latency_ms, tokens_input, tokens_output, cost_usd, 1 FROM vote WHERE judge = ?1
             UNION ALL SELECT NULL, tokens_input, tokens_output, coalesce(cost_usd, 0.0), 0 FROM failure WHERE judge = ?1",
        )?;
        let mut rows = statement.query([judge.0])?;
        while let Some(row) = rows.next()? {
            latencies.extend(row.get::<_, Option<f64>>(0)?);
            tokens_input += row.get::<_, u64>(1)?;
            tokens_output += row.get::<_, u64>(2)?;
            cost = cost
                .zip(row.get::<_, Option<f64>>(3)?)
                .map(|(sum, usd)| sum + usd);
            votes += row.get::<_, usize>(4)?;
        }
        latencies.sort_by(f64::total_cmp);
        let quantile = |share: f64| {
            let at = (share * latencies.len() as f64).ceil() as usize;
            latencies.get(at.saturating_sub(1)).copied()
        };
        let mut failures = BTreeMap::new();
        let mut statement = self.connection.prepare_cached(
            "SELECT cause, count(DISTINCT battle) FROM failure WHERE judge = ?1
             AND NOT EXISTS (SELECT 1 FROM vote WHERE vote.battle = failure.battle AND vote.judge = failure.judge)
             GROUP BY cause",
        )?;
        let rows =
            statement.query_map([judge.0], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
        for row in rows {
            let (cause, count) = row?;
            let cause = serde_json::from_value(serde_json::Value::String(cause))
                .map_err(|error| StoreError::Corrupt(error.to_string()))?;
            failures.insert(cause, count);
        }
        Ok(JudgeCalls {
            failures,
            latency_p50_ms: quantile(0.5),
            latency_p95_ms: quantile(0.95),
            tokens_input,
            tokens_output,
            usd_per_1000: cost
                .filter(|_| votes > 0)
                .map(|usd| 1_000.0 * usd / votes as f64),
        })
    }

    /// US dollars that a battle costs on average: the mean price of a vote of each judge that was asked here, summed. `None`
    /// where a price is unknown or nobody was asked.
    pub fn usd_per_battle(&self) -> Result<Option<f64>> {
        let mut sum = None;
        let mut statement = self.connection.prepare_cached(
            "SELECT CASE WHEN count(*) = count(cost_usd) THEN avg(cost_usd) END FROM vote
             WHERE run IS NOT NULL GROUP BY judge",
        )?;
        let rows = statement.query_map([], |row| row.get::<_, Option<f64>>(0))?;
        for row in rows {
            let Some(usd) = row? else {
                return Ok(None);
            };
            sum = Some(sum.unwrap_or(0.0) + usd);
        }
        Ok(sum)
    }

    /// Looks into the reasoning of some of a judge's votes, the same ones every time.
    pub fn audit(&self, judge: JudgeId) -> Result<ReasoningAudit> {
        let mut statement = self.connection.prepare_cached(
            "SELECT battle.query, battle.a, battle.b, swapped, margin, reasoning, query.text
             FROM vote JOIN battle ON battle.id = vote.battle JOIN query ON query.id = battle.query
             WHERE judge = ?1 AND reasoning != '' ORDER BY (vote.id * 2654435761) % 4294967296 LIMIT ?2",
        )?;
        let mut rows = statement.query(params![judge.0, AUDITED])?;
        let mut audit = ReasoningAudit::default();
        let mut texts: HashMap<(QueryKey, usize), FoldedText> = HashMap::new();
        while let Some(row) = rows.next()? {
            let key = QueryKey(row.get(0)?);
            let (a, b): (usize, usize) = (row.get(1)?, row.get(2)?);
            let swapped: bool = row.get(3)?;
            let margin: f64 = row.get(4)?;
            let reasoning: String = row.get(5)?;
            let query = FoldedText::new(&row.get::<_, String>(6)?);
            for at in [a, b] {
                if let std::collections::hash_map::Entry::Vacant(place) = texts.entry((key, at)) {
                    place.insert(FoldedText::new(&self.document_text(key, at)?));
                }
            }
            audit.votes += 1;
            for quote in quotes(&reasoning) {
                let phrase = &reasoning[quote];
                let stands = [a, b]
                    .iter()
                    .filter_map(|at| texts.get(&(key, *at)))
                    .chain([&query])
                    .any(|text| !text.find(phrase).is_empty());
                audit.quotes += 1;
                audit.missing_quotes += usize::from(!stands);
            }
            let shown = if swapped { -margin } else { margin };
            if let Some(person_verdicts) = conclusion(&reasoning)
                && shown != 0.0
            {
                audit.conclusions += 1;
                audit.contradictions +=
                    usize::from((person_verdicts == Outcome::B) != (shown > 0.0));
            }
        }
        Ok(audit)
    }
}

fn direction(decision: Decision) -> Option<Outcome> {
    let score = decision.score()?;
    Some(if score < 0.5 {
        Outcome::A
    } else if score > 0.5 {
        Outcome::B
    } else {
        Outcome::Tie
    })
}
