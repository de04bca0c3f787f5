//! Judges and people's verdicts: the data besides votes from which judge statistics and agreement
//! are computed.

use crate::app::review::assignment_history;
use crate::domain::battle::Pair;
use crate::domain::judge_report::{HumanVerdict, PersonVote, QueryTally, Rating};
use crate::domain::priority::{self, Assignment, DrawReason};
use crate::domain::verdict::ErrorCause;
use crate::domain::vote::{JudgeId, Outcome};
use crate::judge::JudgeSpec;
use crate::store::corpus::QueryKey;
use crate::store::judges::EnsembleId;
use crate::store::verdicts::{IMPORTED, StoredVerdict};
use crate::store::{Db, Result, Store, StoreError};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A person's verdict on a pair: the one given before the judges' votes were revealed if it was
/// blind, or else the current one.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonVerdict {
    /// Index of the person in [`RaterData::people`].
    pub person: usize,
    /// Index of the query in the project.
    pub query: usize,
    pub pair: Pair,
    /// The preferred document, where A is the one earlier in the pool; `None` for *cannot tell*.
    pub outcome: Option<Outcome>,
    /// Whether it was given before the judges' votes were revealed.
    pub blind: bool,
}

/// The judges, and people's verdicts.
#[derive(Clone, Debug, Default)]
pub struct RaterData {
    /// The judges, by index.
    pub judges: Vec<(JudgeId, JudgeSpec)>,
    /// The people, by index.
    pub people: Vec<String>,
    /// The effective verdicts, as first given blind if they were, with the probability with which
    /// their pair was drawn if it is known.
    pub verdicts: Vec<HumanVerdict>,
    /// Number of effective verdicts that were never given blind.
    pub never_blind: usize,
    /// Each person's verdict on each pair.
    pub person_verdicts: Vec<PersonVerdict>,
    /// The pairs that were drawn at random for a person, by index of the query: the controls of
    /// queues, and imported pairs if all of them state the same inclusion probability.
    pub random_pairs: HashSet<(usize, Pair)>,
    /// Number of pairs with votes of judges.
    pub voted_pairs: usize,
}

impl RaterData {
    /// The pairs with a verdict that was given blind, and the number of people who gave one.
    pub fn blind_pairs(&self) -> (usize, usize) {
        let votes = self.person_votes();
        let pairs: HashSet<_> = votes.iter().map(|said| (said.query, said.pair)).collect();
        let people: HashSet<usize> = votes.iter().map(|said| said.person).collect();
        (pairs.len(), people.len())
    }

    /// The pairs that people judged blind and that were not selected by how judges voted: all of them
    /// if they are all pairs with votes, or else the random ones. `ratings` are the votes on pairs that
    /// people judged.
    pub fn unselected_pairs(&self, ratings: &[Rating]) -> HashSet<(usize, Pair)> {
        let blind = self.person_verdicts.iter().filter(|said| said.blind);
        let judged: HashSet<(usize, Pair)> = blind.map(|said| (said.query, said.pair)).collect();
        let voted: HashSet<(usize, Pair)> = ratings
            .iter()
            .filter_map(|of| Some((of.query, Pair::new(of.a, of.b)?)))
            .filter(|pair| judged.contains(pair))
            .collect();
        if voted.len() == self.voted_pairs {
            judged
        } else {
            self.random_pairs.clone()
        }
    }

    /// Each person's blind verdicts other than *cannot tell*.
    pub fn person_votes(&self) -> Vec<PersonVote> {
        let blind = self.person_verdicts.iter().filter(|said| said.blind);
        blind
            .filter_map(|said| {
                Some(PersonVote {
                    person: said.person,
                    query: said.query,
                    pair: said.pair,
                    outcome: said.outcome?,
                })
            })
            .collect()
    }
}

/// The queries of a report, and the judges whose votes count there.
pub struct JudgedQueries {
    pub queries: Vec<(QueryKey, Option<EnsembleId>)>,
    /// The judges, by index.
    pub judges: Vec<(JudgeId, JudgeSpec)>,
    /// The judge indices of each ensemble's members.
    numbers: HashMap<EnsembleId, Vec<usize>>,
}

impl JudgedQueries {
    /// Reads one query or all.
    pub fn read(db: &Db, scope: Option<QueryKey>) -> Result<Self> {
        let queries = db.queries_with_ensembles(scope)?;
        let mut judges: Vec<(JudgeId, JudgeSpec)> = Vec::new();
        let mut numbers = HashMap::new();
        for ensemble in queries.iter().filter_map(|(_, ensemble)| *ensemble) {
            if numbers.contains_key(&ensemble) {
                continue;
            }
            let mut of_ensemble = Vec::new();
            for judge in db.ensemble_judges(ensemble)? {
                let known = judges.iter().position(|(id, _)| *id == judge.0);
                of_ensemble.push(known.unwrap_or_else(|| {
                    judges.push(judge);
                    judges.len() - 1
                }));
            }
            numbers.insert(ensemble, of_ensemble);
        }
        Ok(Self {
            queries,
            judges,
            numbers,
        })
    }

    pub fn keys(&self) -> Vec<QueryKey> {
        self.queries.iter().map(|(key, _)| *key).collect()
    }

    /// The index of a query.
    pub fn place(&self, query: QueryKey) -> Option<usize> {
        let found = self.queries.binary_search_by_key(&query, |(key, _)| *key);
        found.ok()
    }

    /// The judge indices of the members of a query's ensemble.
    pub fn numbers(&self, query: QueryKey) -> &[usize] {
        let ensemble = self.place(query).and_then(|place| self.queries[place].1);
        ensemble
            .and_then(|ensemble| self.numbers.get(&ensemble))
            .map_or(&[], Vec::as_slice)
    }
}

/// The votes that count, for one query or the project, all in memory; used to fit judges and
/// documents jointly.
pub fn all_ratings(store: &Store, scope: Option<QueryKey>) -> Result<(RaterJudges, Vec<Rating>)> {
    let judged = store.read_blocking(move |db| JudgedQueries::read(db, scope))?;
    let mut ratings = Vec::new();
    let work = |db: &Db, query| db.ratings(query);
    store.read_each(&judged.keys(), work, |query, own| {
        let (place, numbers) = (judged.place(query).unwrap_or(0), judged.numbers(query));
        ratings.extend(own.into_iter().map(|rating| Rating {
            query: place,
            judge: numbers[rating.judge],
            ..rating
        }));
        Ok::<_, StoreError>(())
    })?;
    Ok((judged.judges, ratings))
}

/// Judges, by index.
pub type RaterJudges = Vec<(JudgeId, JudgeSpec)>;

/// Collects the verdicts of one query or of the project.
pub fn rater_data(
    db: &Db,
    judged: &JudgedQueries,
    scope: Option<QueryKey>,
    drawn: &DrawnPairs,
) -> Result<RaterData> {
    let mut found = RaterData {
        judges: judged.judges.clone(),
        voted_pairs: drawn.frame,
        ..RaterData::default()
    };
    let mut person: HashMap<String, usize> = HashMap::new();
    let inclusion = drawn.chances();
    let controls = drawn.controls();
    found.random_pairs = controls
        .filter_map(|(key, pair)| Some((judged.place(key)?, pair)))
        .collect();
    let (mut imported, mut stated) = (Vec::new(), HashSet::new());
    for (key, said) in SaidOnQuery::load(db, scope)? {
        let Some(query) = judged.place(key) else {
            continue;
        };
        for row in said.rows.values().filter(|row| is_imported(row)) {
            let pair = Pair::new(row.verdict.a, row.verdict.b);
            imported.extend(pair.map(|pair| (query, pair)));
            stated.insert(row.inclusion.map(f64::to_bits));
        }
        for verdict in &db.verdicts_in_force(key)? {
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
                blind: first.blind,
                inclusion: inclusion.of(first),
            });
        }
        person_verdicts(&said, query, &mut person, &mut found);
    }
    if stated.len() == 1 && !stated.contains(&None) {
        found.random_pairs.extend(imported);
    }
    Ok(found)
}

fn is_imported(row: &StoredVerdict) -> bool {
    row.role.as_deref() == Some(IMPORTED)
}

/// A verdict that counts, as it was first given.
#[derive(Clone, Debug)]
pub struct FirstVerdict {
    pub first: StoredVerdict,
    /// Why the judges' votes differ, and the note, which may have been given later.
    pub cause: Option<ErrorCause>,
    pub note: Option<String>,
    /// The probability with which the pair was drawn, if it is known.
    pub inclusion: Option<f64>,
}

/// The verdicts that count, as they were first given, by query.
pub fn first_verdicts(store: &Store) -> Result<Vec<FirstVerdict>> {
    let (keys, mut drawn) = store.read_blocking(|db| {
        let queries = JudgedQueries::read(db, None)?.keys();
        Ok((queries, DrawnPairs::read(db, None)?))
    })?;
    store.tally_all(&keys, |query, now| {
        drawn.add(query, &now.tally);
        true
    })?;
    store.read_blocking(move |db| {
        let inclusion = drawn.chances();
        let mut found = Vec::new();
        for (key, said) in SaidOnQuery::load(db, None)? {
            for verdict in db.verdicts_in_force(key)? {
                let Some(last) = said.rows.get(&verdict.uid) else {
                    continue;
                };
                let first = said.first_word(last);
                found.push(FirstVerdict {
                    first: first.clone(),
                    cause: last.cause.or(first.cause),
                    note: last
                        .verdict
                        .note
                        .clone()
                        .or_else(|| first.verdict.note.clone()),
                    inclusion: inclusion.of(first),
                });
            }
        }
        Ok(found)
    })
}

/// The verdicts on a query that were not undone, by identifier.
#[derive(Default)]
struct SaidOnQuery {
    rows: HashMap<String, StoredVerdict>,
    /// The identifiers of verdicts that no other one replaces, earliest first.
    standing: Vec<String>,
}

impl SaidOnQuery {
    /// The verdicts of each query that has any.
    fn load(db: &Db, scope: Option<QueryKey>) -> Result<BTreeMap<QueryKey, Self>> {
        let mut found: BTreeMap<QueryKey, Self> = BTreeMap::new();
        for row in db.standing_verdicts(scope)? {
            let said = found.entry(row.query).or_default();
            said.standing.push(row.verdict.uid);
        }
        for row in db.verdict_rows(scope)? {
            let said = found.entry(row.query).or_default();
            said.rows.insert(row.verdict.uid.clone(), row);
        }
        Ok(found)
    }

    /// The verdict replaced by this one that was given before the judges' votes were revealed: the
    /// latest such verdict, or the verdict itself if there is none.
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

/// Adds each person's verdict on each pair of a query.
fn person_verdicts(
    said: &SaidOnQuery,
    query: usize,
    person: &mut HashMap<String, usize>,
    found: &mut RaterData,
) {
    let mut latest: BTreeMap<(usize, Pair), (Option<Outcome>, bool)> = BTreeMap::new();
    for last in said.standing.iter().filter_map(|uid| said.rows.get(uid)) {
        let StoredVerdict { verdict, blind, .. } = said.first_word(last);
        let Some(pair) = Pair::new(verdict.a, verdict.b) else {
            continue;
        };
        let who = *person.entry(verdict.annotator.clone()).or_insert_with(|| {
            found.people.push(verdict.annotator.clone());
            found.people.len() - 1
        });
        latest.insert(
            (who, pair),
            (verdict.seen_from(pair.low()).direction(), *blind),
        );
    }
    let verdicts = latest
        .into_iter()
        .map(|((person, pair), (outcome, blind))| PersonVerdict {
            person,
            query,
            pair,
            outcome,
            blind,
        });
    found.person_verdicts.extend(verdicts);
}

/// The probabilities with which pairs were selected, if known.
struct InclusionChances {
    /// For pairs selected by queues.
    drawn: HashMap<(String, QueryKey, Pair), f64>,
}

impl InclusionChances {
    /// The probability behind a verdict: from the design of its queue, or stated in its line of an
    /// imported file. A verdict given outside any queue has none, even if a queue has shown the
    /// person the same pair.
    fn of(&self, row: &StoredVerdict) -> Option<f64> {
        if is_imported(row) {
            return row.inclusion;
        }
        row.shown.as_ref()?;
        let pair = Pair::new(row.verdict.a, row.verdict.b)?;
        let place = (row.verdict.annotator.clone(), row.query, pair);
        self.drawn.get(&place).copied()
    }
}

/// The pairs shown by queues, and the number of pairs they were drawn from.
#[derive(Default)]
pub struct DrawnPairs {
    /// All pairs shown to each annotator, oldest first.
    shown: Vec<(String, Vec<(QueryKey, Assignment)>)>,
    /// The pairs of `shown`, by query.
    pairs: HashMap<QueryKey, HashSet<Pair>>,
    /// Those pairs that a judge has voted on.
    voted: HashSet<(QueryKey, Pair)>,
    /// Number of pairs with votes of judges.
    frame: usize,
}

impl DrawnPairs {
    /// Reads the pairs shown so far to everyone who has answered a queue item; pairs with votes are
    /// added later.
    pub fn read(db: &Db, scope: Option<QueryKey>) -> Result<Self> {
        let mut drawn = Self::default();
        for annotator in db.queue_annotators(scope)? {
            let lines = assignment_history(db, &annotator, scope)?.lines;
            for (query, shown) in &lines {
                let pairs = drawn.pairs.entry(*query).or_default();
                pairs.insert(shown.key.pair);
            }
            drawn.shown.push((annotator, lines));
        }
        Ok(drawn)
    }

    /// Adds the pairs of a query that judges have voted on.
    pub fn add(&mut self, query: QueryKey, tally: &QueryTally) {
        self.frame += tally.voted();
        let voted = self
            .pairs
            .get(&query)
            .into_iter()
            .flatten()
            .filter(|pair| tally.has_voted(**pair));
        self.voted.extend(voted.map(|pair| (query, *pair)));
    }

    /// The pairs that a queue drew at random for someone.
    fn controls(&self) -> impl Iterator<Item = (QueryKey, Pair)> + '_ {
        let lines = self.shown.iter().flat_map(|(_, lines)| lines);
        lines
            .filter(|(_, line)| matches!(line.draw, DrawReason::Control { .. }))
            .map(|(query, line)| (*query, line.key.pair))
    }

    /// The probabilities of the pairs drawn so far.
    fn chances(&self) -> InclusionChances {
        let mut drawn = HashMap::new();
        for (annotator, shown) in &self.shown {
            let in_frame = shown
                .iter()
                .filter(|(query, line)| self.voted.contains(&(*query, line.key.pair)));
            let (queries, lines): (Vec<QueryKey>, Vec<Assignment>) = in_frame.copied().unzip();
            let chances = priority::inclusion_probabilities(self.frame, &lines);
            for ((query, line), chance) in queries.iter().zip(&lines).zip(chances) {
                if let Some(chance) = chance {
                    drawn.insert((annotator.clone(), *query, line.key.pair), chance);
                }
            }
        }
        InclusionChances { drawn }
    }
}
