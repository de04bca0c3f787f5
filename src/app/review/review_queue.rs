//! A person's review queue: the next pairs by policy, mixed with controls, repeats and gold items.

use super::assignment_history::assignment_history;
use super::dissent::pairs_against;
use crate::domain::battle::Pair;
use crate::domain::priority::{
    Assignment, DrawReason, PairKey, Policy, QueueCandidate, QueueDesign, QueueEntry,
    QueueSelection, build_queue,
};
use crate::domain::sampling::SeededRng;
use crate::domain::vote::JudgeId;
use crate::registry::{self, OfferedBattle};
use crate::store::assignments::{AssignmentRow, query_number};
use crate::store::corpus::QueryKey;
use crate::store::priority_cache::PolicyPriorities;
use crate::store::{Db, Result};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

#[derive(Clone, Debug, PartialEq)]
pub struct QueueRequest {
    pub policy: Policy,
    /// One query, or the whole project.
    pub scope: Option<QueryKey>,
    /// Only pairs of these queries, if set.
    pub only: Option<HashSet<QueryKey>>,
    /// The person who judges.
    pub annotator: String,
    /// Random seed for ties, controls and repeats.
    pub seed: u64,
    /// Maximum number of items.
    pub limit: usize,
    /// Share of gold items among the items, in 0..=1.
    pub gold: f64,
    /// Share of the pairs judged by others that this person also judges, in 0..=1.
    pub overlap: f64,
    /// Only pairs on which people disagree.
    pub conflicts: bool,
    /// Only pairs on which this judge disagrees with the others.
    pub against: Option<JudgeId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueItemState {
    Fresh,
    /// It was judged, and the verdict was undone.
    Again,
    /// It was shown, but a later item was answered instead.
    PassedOver,
    /// It was postponed.
    Later,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueItem {
    pub query: QueryKey,
    pub pair: Pair,
    pub draw: DrawReason,
    /// Its priority on the policy's own scale, if it has one.
    pub priority: Option<f64>,
    pub standing: QueueItemState,
}

impl QueueItem {
    /// The pair as shown, document A first. The sides are drawn from seed, annotator and pair, so
    /// they are the same after a restart; for a repeat, they are drawn again.
    pub fn sides(&self, seed: u64, annotator: &str) -> (usize, usize) {
        let again = match self.draw {
            DrawReason::Repeat => "again",
            _ => "",
        };
        let (low, high) = (self.pair.low(), self.pair.high());
        let pair = format!("{}/{low}/{high}", self.query.0);
        let purpose = ["side", annotator, &pair, again];
        match SeededRng::new(seed, &purpose).below(2) {
            1 => (high, low),
            _ => (low, high),
        }
    }
}

/// The queue: first items whose verdict was undone or that were passed over, then the design's
/// order, then postponed items.
pub fn build_review_queue(db: &Db, request: &QueueRequest) -> Result<Vec<QueueItem>> {
    if !request.conflicts
        && let Some(offered) = registry::offered_battles(db, request.policy)?
    {
        return offered_queue(db, request, offered);
    }
    let ledger = assignment_history(db, &request.annotator, request.scope)?;
    let design = QueueDesign::new(request.policy, request.seed, &request.annotator);
    let others = if request.overlap > 0.0 {
        judged_by_others(db, &request.annotator)?
    } else {
        HashSet::new()
    };
    let shown: Vec<Assignment> = ledger.lines.iter().map(|(_, shown)| *shown).collect();
    let conflicts = if request.conflicts {
        Some(conflicts(db, request.scope)?)
    } else {
        None
    };
    // These requests may need any pair, or change priorities.
    let needs_all = request.conflicts
        || request.against.is_some()
        || !others.is_empty()
        || (request.gold > 0.0 && !db.gold(request.scope)?.is_empty())
        // The priorities of stale queries should be computed only once.
        || (design.has_controls() && !db.without_priorities(request.scope)?.is_empty());
    let (mut candidates, keys, entries);
    if needs_all {
        (candidates, keys) = all_candidates(db, request.policy, request.scope)?;
        if let Some(judge) = request.against {
            let against = pairs_against(db, judge)?;
            candidates.retain(|candidate| {
                let query = keys.get(&candidate.key.query);
                query.is_some_and(|query| against.contains(&(*query, candidate.key.pair)))
            });
        }
        if let Some(conflicts) = &conflicts {
            candidates = conflicting_candidates(candidates, &keys, conflicts);
        }
        if !others.is_empty() {
            for candidate in &mut candidates {
                let query = keys.get(&candidate.key.query).copied();
                let wanted = is_overlapping(request.seed, request.overlap, candidate.key);
                if wanted
                    && query.is_some_and(|query| others.contains(&(query, candidate.key.pair)))
                {
                    candidate.priority = Some(f64::MAX);
                }
            }
        }
        entries = build_queue(&candidates, &shown, &design, draw_limit(request));
    } else {
        candidates = Vec::new();
        (entries, keys) = selected_entries(db, request, &shown, &design)?;
    }
    let waiting = |line: &AssignmentRow, standing| QueueItem {
        query: line.query,
        pair: line.shown.key.pair,
        draw: line.shown.draw,
        priority: None,
        standing,
    };
    let mut items: Vec<QueueItem> = ledger
        .again
        .iter()
        .map(|line| {
            if line.was_judged {
                waiting(line, QueueItemState::Again)
            } else {
                waiting(line, QueueItemState::PassedOver)
            }
        })
        .collect();
    for entry in entries {
        if let Some(query) = keys.get(&entry.key.query) {
            items.push(QueueItem {
                query: *query,
                pair: entry.key.pair,
                draw: entry.draw,
                // Its priority is not the reason for its position.
                priority: entry
                    .priority
                    .filter(|priority| *priority < f64::MAX && !request.conflicts),
                standing: QueueItemState::Fresh,
            });
        }
    }
    items.extend(
        ledger
            .later
            .iter()
            .map(|line| waiting(line, QueueItemState::Later)),
    );
    let gold = if request.conflicts || request.against.is_some() {
        Vec::new()
    } else {
        open_gold(db, request, &shown, &candidates)?
    };
    mix_in(&mut items, gold, request.gold);
    if let Some(conflicts) = &conflicts {
        items.retain(|item| conflicts.contains(&(item.query, item.pair)));
    }
    if let Some(only) = &request.only {
        items.retain(|item| only.contains(&item.query));
    }
    items.truncate(request.limit);
    Ok(items)
}

/// The battles that a feature offers, in its order. Postponed ones come last.
fn offered_queue(
    db: &Db,
    request: &QueueRequest,
    offered: Vec<OfferedBattle>,
) -> Result<Vec<QueueItem>> {
    let ledger = assignment_history(db, &request.annotator, request.scope)?;
    let of = |rows: &[AssignmentRow]| -> HashSet<(QueryKey, Pair)> {
        rows.iter()
            .map(|row| (row.query, row.shown.key.pair))
            .collect()
    };
    let (later, again) = (of(&ledger.later), of(&ledger.again));
    let undone = ledger.again.iter().filter(|row| row.was_judged).cloned();
    let undone = of(&undone.collect::<Vec<_>>());
    let against = match request.against {
        Some(judge) => Some(pairs_against(db, judge)?),
        None => None,
    };
    let mut items: Vec<QueueItem> = offered
        .into_iter()
        .filter(|(query, pair, ..)| {
            request.scope.is_none_or(|scope| scope == *query)
                && request
                    .only
                    .as_ref()
                    .is_none_or(|only| only.contains(query))
                && against
                    .as_ref()
                    .is_none_or(|of| of.contains(&(*query, *pair)))
        })
        .map(|(query, pair, draw, priority)| {
            let place = (query, pair);
            let standing = if later.contains(&place) {
                QueueItemState::Later
            } else if undone.contains(&place) {
                QueueItemState::Again
            } else if again.contains(&place) {
                QueueItemState::PassedOver
            } else {
                QueueItemState::Fresh
            };
            QueueItem {
                query,
                pair,
                draw,
                priority,
                standing,
            }
        })
        .collect();
    items.sort_by_key(|item| item.standing == QueueItemState::Later);
    items.truncate(request.limit);
    Ok(items)
}

/// The pairs on which people disagree.
fn conflicts(db: &Db, scope: Option<QueryKey>) -> Result<HashSet<(QueryKey, Pair)>> {
    Ok(db
        .conflicts(scope)?
        .into_iter()
        .filter_map(|(query, a, b)| Some((query, Pair::new(a, b)?)))
        .collect())
}

/// Number of pairs that this person has judged and on which people disagree; their own queue does
/// not contain them.
pub fn judged_conflicts(db: &Db, annotator: &str, scope: Option<QueryKey>) -> Result<usize> {
    let conflicts = conflicts(db, scope)?;
    let judged: HashSet<(QueryKey, Pair)> = db
        .standing_verdicts(scope)?
        .into_iter()
        .filter(|stored| stored.verdict.annotator == annotator)
        .filter_map(|stored| Some((stored.query, Pair::new(stored.verdict.a, stored.verdict.b)?)))
        .collect();
    Ok(conflicts.intersection(&judged).count())
}

/// The pairs on which people disagree, as candidates. For the policies, a pair is done once anyone
/// has judged it, and a pair without a battle is not a candidate; here both are included.
fn conflicting_candidates(
    candidates: Vec<QueueCandidate>,
    keys: &HashMap<u64, QueryKey>,
    conflicts: &HashSet<(QueryKey, Pair)>,
) -> Vec<QueueCandidate> {
    let known: HashMap<PairKey, QueueCandidate> = candidates
        .into_iter()
        .map(|candidate| (candidate.key, candidate))
        .collect();
    let numbers: HashMap<QueryKey, u64> =
        keys.iter().map(|(number, key)| (*key, *number)).collect();
    conflicts
        .iter()
        .filter_map(|(query, pair)| {
            let key = PairKey {
                query: *numbers.get(query)?,
                pair: *pair,
            };
            let known = known.get(&key);
            Some(QueueCandidate {
                key,
                priority: known.and_then(|known| known.priority).or(Some(0.0)),
                voted: known.is_some_and(|known| known.voted),
            })
        })
        .collect()
}

/// Pairs as candidates, and the query of each query number.
type Candidates = (Vec<QueueCandidate>, HashMap<u64, QueryKey>);

/// All pairs as candidates, from the cache; stale queries are recomputed.
fn all_candidates(db: &Db, policy: Policy, scope: Option<QueryKey>) -> Result<Candidates> {
    let (mut candidates, mut keys) = (Vec::new(), HashMap::new());
    for (query, name) in queries_in(db, scope)? {
        let number = query_number(&name);
        keys.insert(number, query);
        candidates.extend(db.policy_priorities(query, policy)?.candidates(number));
    }
    Ok((candidates, keys))
}

/// Each query, or the one of the scope, with its name.
fn queries_in(db: &Db, scope: Option<QueryKey>) -> Result<Vec<(QueryKey, String)>> {
    let mut queries = db.query_names()?;
    queries.retain(|(query, _)| scope.is_none_or(|scope| scope == *query));
    Ok(queries)
}

/// The number of entries from which a request takes its items: random draws must be made from all
/// pairs.
fn draw_limit(request: &QueueRequest) -> usize {
    match request.only {
        Some(_) => usize::MAX,
        None => request.limit,
    }
}

/// The entries of a queue that changes no priorities, and the query of each query number. Random
/// controls are drawn from all pairs. By priority, the most urgent pairs of each query are read
/// first, and the others only of queries where they can be urgent enough.
fn selected_entries(
    db: &Db,
    request: &QueueRequest,
    shown: &[Assignment],
    design: &QueueDesign,
) -> Result<(Vec<QueueEntry>, HashMap<u64, QueryKey>)> {
    let limit = if design.has_controls() {
        draw_limit(request)
    } else {
        request.limit
    };
    let mut selection = QueueSelection::new(shown, design, limit);
    let mut keys = HashMap::new();
    if design.has_controls() {
        let all = db.all_pairs(request.scope)?;
        let of_query = all.queries().map(|(key, name, pairs)| {
            let query = query_number(name);
            keys.insert(query, key);
            (query, pairs)
        });
        let of_query: Vec<_> = of_query.collect();
        for (query, pairs) in &of_query {
            selection.count(*query, pairs.clone());
        }
        for (query, pairs) in of_query {
            selection.draw(query, pairs);
        }
    }
    if request.policy == Policy::Random {
        // No pair has a priority.
        return Ok((selection.entries(), keys));
    }
    // A design with controls takes pairs of other queries too.
    let only = request.only.as_ref().filter(|_| !design.has_controls());
    let mut others = Vec::new();
    db.each_urgent(request.scope, request.policy, |urgent| {
        if only.is_some_and(|only| !only.contains(&urgent.query)) {
            return;
        }
        let number = query_number(&urgent.name);
        keys.insert(number, urgent.query);
        for one in &urgent.pairs {
            selection.add(QueueCandidate {
                key: PairKey {
                    query: number,
                    pair: one.pair,
                },
                priority: Some(one.priority),
                voted: one.voted,
            });
        }
        let lowest = urgent.pairs.last().map(|last| last.priority);
        others.push((urgent.bound, lowest, number, urgent.query));
    })?;
    // After some queries, the others cannot contribute any more.
    others.retain(|(bound, ..)| selection.wants(*bound));
    others.sort_unstable_by(|x, y| y.0.total_cmp(&x.0));
    for (bound, lowest, number, query) in others {
        if selection.wants(bound) {
            let is_other = |candidate: &QueueCandidate| {
                let known = candidate.priority.zip(lowest);
                known.is_none_or(|(priority, lowest)| priority.total_cmp(&lowest).is_lt())
            };
            let priorities = db.policy_priorities(query, request.policy)?;
            let candidates = priorities.candidates(number).filter(is_other);
            candidates.for_each(|candidate| selection.add(candidate));
        }
    }
    let mut entries = selection.entries();
    if design.has_controls() {
        // Controls were drawn without their priorities.
        let mut read: HashMap<QueryKey, PolicyPriorities> = HashMap::new();
        for entry in &mut entries {
            let query = keys.get(&entry.key.query).copied();
            let wanted = query.filter(|query| {
                let only = request.only.as_ref();
                entry.priority.is_none() && only.is_none_or(|only| only.contains(query))
            });
            if let (DrawReason::Control { .. }, Some(query)) = (entry.draw, wanted) {
                let priorities = match read.entry(query) {
                    Entry::Occupied(read) => read.into_mut(),
                    Entry::Vacant(new) => new.insert(db.policy_priorities(query, request.policy)?),
                };
                entry.priority = priorities.priority_of(entry.key.pair);
            }
        }
    }
    Ok((entries, keys))
}

/// The gold items that a person has not been shown, in an order determined by the seed.
fn open_gold(
    db: &Db,
    request: &QueueRequest,
    shown: &[Assignment],
    candidates: &[QueueCandidate],
) -> Result<Vec<QueueItem>> {
    if request.gold <= 0.0 {
        return Ok(Vec::new());
    }
    let seen: HashSet<PairKey> = shown.iter().map(|line| line.key).collect();
    let numbers: HashMap<QueryKey, u64> = db
        .query_names()?
        .into_iter()
        .map(|(key, name)| (key, query_number(&name)))
        .collect();
    let mut items = Vec::new();
    for (query, gold) in db.gold(request.scope)? {
        let (Some(pair), Some(number)) = (Pair::new(gold.a, gold.b), numbers.get(&query)) else {
            continue;
        };
        let key = PairKey {
            query: *number,
            pair,
        };
        if !seen.contains(&key) {
            items.push(QueueItem {
                query,
                pair,
                draw: DrawReason::Priority,
                // The same priority as without gold, so that it cannot be distinguished from other
                // items.
                priority: candidates
                    .iter()
                    .find(|candidate| candidate.key == key)
                    .and_then(|candidate| candidate.priority)
                    .filter(|priority| *priority < f64::MAX),
                standing: QueueItemState::Fresh,
            });
        }
    }
    SeededRng::new(request.seed, &["gold", &request.annotator]).shuffle(&mut items);
    Ok(items)
}

/// The pairs with a current verdict of someone else.
fn judged_by_others(db: &Db, annotator: &str) -> Result<HashSet<(QueryKey, Pair)>> {
    let standing = db.standing_verdicts(None)?.into_iter();
    Ok(standing
        .filter(|stored| stored.verdict.annotator != annotator)
        .filter_map(|stored| {
            let verdict = &stored.verdict;
            Some((stored.query, Pair::new(verdict.a, verdict.b)?))
        })
        .collect())
}

/// Inserts a gold item after every 1/`share` items.
fn mix_in(items: &mut Vec<QueueItem>, gold: Vec<QueueItem>, share: f64) {
    if share <= 0.0 || gold.is_empty() {
        return;
    }
    let stretch = (1.0 / share).round().max(1.0) as usize;
    let mut gold = gold.into_iter();
    let known: HashSet<(QueryKey, Pair)> = gold
        .as_slice()
        .iter()
        .map(|item| (item.query, item.pair))
        .collect();
    items.retain(|item| !known.contains(&(item.query, item.pair)));
    let mut mixed = Vec::with_capacity(items.len() + gold.len());
    for (at, item) in items.drain(..).enumerate() {
        if (at + 1) % stretch == 0 {
            mixed.extend(gold.next());
        }
        mixed.push(item);
    }
    mixed.extend(gold);
    *items = mixed;
}

/// Whether several people are to judge a pair, given the share of such pairs.
pub fn is_overlapping(seed: u64, overlap: f64, key: PairKey) -> bool {
    share_of(seed, key) < overlap
}

/// A fixed pseudo-random number in 0..1 for a pair.
fn share_of(seed: u64, key: PairKey) -> f64 {
    let pair = format!("{}/{}/{}", key.query, key.pair.low(), key.pair.high());
    SeededRng::new(seed, &["overlap", &pair]).unit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(low: usize) -> QueueItem {
        QueueItem {
            query: QueryKey(1),
            pair: Pair::new(low, 99).unwrap_or_else(|| unreachable!()),
            draw: DrawReason::Priority,
            priority: None,
            standing: QueueItemState::Fresh,
        }
    }

    fn lows(items: &[QueueItem]) -> Vec<usize> {
        items.iter().map(|item| item.pair.low()).collect()
    }

    #[test]
    fn gold_comes_at_its_rate_and_never_twice() {
        let mut items: Vec<QueueItem> = (0..7).map(item).collect();
        mix_in(&mut items, vec![item(20), item(3), item(21)], 1.0 / 3.0);
        assert_eq!(lows(&items), [0, 1, 20, 2, 4, 5, 3, 6, 21]);
        let mut items: Vec<QueueItem> = (0..3).map(item).collect();
        mix_in(&mut items, vec![item(20)], 0.0);
        assert_eq!(lows(&items), [0, 1, 2]);
    }

    #[test]
    fn the_overlap_is_the_share_that_is_asked_for() {
        let key = |low: usize| PairKey {
            query: 5,
            pair: Pair::new(low, 5_000).unwrap_or_else(|| unreachable!()),
        };
        let inside = (0..2_000)
            .filter(|low| share_of(1, key(*low)) < 0.2)
            .count();
        assert!((350..450).contains(&inside), "{inside}");
        assert_eq!(share_of(1, key(3)).to_bits(), share_of(1, key(3)).to_bits());
    }
}
