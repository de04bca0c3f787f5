//! Everything that a person has been shown, in order: assignments of queues, and pairs judged
//! outside any queue.

use crate::domain::battle::Pair;
use crate::domain::priority::{Assignment, DrawReason, PairKey};
use crate::store::assignments::{AssignmentRow, query_number};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use std::collections::{HashMap, HashSet};

/// A person's ledger, with verdicts given outside any queue inserted in order.
pub struct AssignmentHistory {
    /// The entries, oldest first.
    pub lines: Vec<(QueryKey, Assignment)>,
    pub(super) again: Vec<AssignmentRow>,
    pub(super) later: Vec<AssignmentRow>,
}

/// Reads everything that a person has been shown.
pub fn assignment_history(
    db: &Db,
    annotator: &str,
    scope: Option<QueryKey>,
) -> Result<AssignmentHistory> {
    let within = |query: QueryKey| scope.is_none_or(|scope| scope == query);
    let mut lines: Vec<AssignmentRow> = db.assignments(annotator)?;
    lines.retain(|line| within(line.query));
    let queued: HashSet<PairKey> = lines.iter().map(|line| line.shown.key).collect();
    let mut dated: Vec<(i64, QueryKey, Assignment)> = lines
        .iter()
        .map(|line| (line.shown_ms, line.query, line.shown))
        .collect();
    let mut numbers: HashMap<QueryKey, u64> = HashMap::new();
    let mut judged: HashSet<PairKey> = HashSet::new();
    let mut outside: HashMap<PairKey, i64> = HashMap::new();
    for stored in db.verdict_rows(scope)? {
        let verdict = &stored.verdict;
        let Some(pair) = Pair::new(verdict.a, verdict.b) else {
            continue;
        };
        if verdict.annotator != annotator {
            continue;
        }
        let query = match numbers.get(&stored.query) {
            Some(number) => *number,
            None => {
                let number = query_number(db.query(stored.query)?.id.as_str());
                *numbers.entry(stored.query).or_insert(number)
            }
        };
        let key = PairKey { query, pair };
        judged.insert(key);
        if stored.shown.is_none() {
            outside.insert(key, verdict.created_ms);
        }
        if !queued.contains(&key) {
            let draw = DrawReason::Priority;
            dated.push((verdict.created_ms, stored.query, Assignment { key, draw }));
        }
    }
    dated.sort_by_key(|(ms, ..)| *ms);
    // A postponed or undone item may have been judged since, outside any queue. A repeat asks for
    // a second verdict, so the first one does not answer it.
    let answered = |line: &AssignmentRow| match line.shown.draw {
        DrawReason::Repeat => outside
            .get(&line.shown.key)
            .is_some_and(|ms| *ms >= line.shown_ms),
        _ => judged.contains(&line.shown.key),
    };
    let waits = |line: &&AssignmentRow| !line.judged && !answered(line);
    let (later, again) = lines
        .iter()
        .filter(waits)
        .cloned()
        .partition(|line| line.later);
    Ok(AssignmentHistory {
        lines: dated
            .into_iter()
            .map(|(_, query, shown)| (query, shown))
            .collect(),
        again,
        later,
    })
}
