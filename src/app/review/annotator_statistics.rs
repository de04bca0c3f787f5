//! Statistics on a person's queue verdicts: pace, agreement with the ensemble, consistency, and the
//! effect of revealing the votes.

use super::dissent::combined_outcome;
use crate::domain::agreement::Share;
use crate::domain::battle::Pair;
use crate::domain::vote::Outcome;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use std::collections::{BTreeMap, HashMap};

/// A share, counted query by query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fraction {
    /// Numerator and denominator by query.
    of_query: BTreeMap<QueryKey, (usize, usize)>,
}

impl Fraction {
    fn add(&mut self, query: QueryKey, has: bool) {
        let (part, of) = self.of_query.entry(query).or_default();
        *part += usize::from(has);
        *of += 1;
    }

    /// Adds the counts of another one.
    pub fn join(&mut self, other: &Self) {
        for (query, (part, of)) in &other.of_query {
            let (own_part, own_of) = self.of_query.entry(*query).or_default();
            *own_part += part;
            *own_of += of;
        }
    }

    /// The share with its 95 % interval over queries; `None` if the denominator is zero.
    pub fn share(&self) -> Option<Share> {
        let of_query = self.of_query.values();
        Share::of_clusters(of_query.map(|(part, of)| (*part as f64, *of)))
    }
}

/// Summary of a person's queue verdicts. *Cannot tell* counts as judged and in nothing else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnnotatorStatistics {
    /// Judged pairs, including repeats.
    pub judged: usize,
    /// Blind verdicts that agree with the ensemble, among those on pairs with votes.
    pub agreement: Fraction,
    /// Repeats that were judged as the first time.
    pub consistent: Fraction,
    /// Final verdicts that differ from the blind one, among those that have both.
    pub changed: Fraction,
    /// Number of changed verdicts that now agree with the ensemble.
    pub swayed: usize,
    /// Active seconds on blind verdicts, and the number of timed verdicts.
    pub active: (f64, usize),
    /// Number of pairs that this person has judged and on which people disagree, if conflicts are
    /// listed.
    pub conflicts: usize,
    /// The latest blind verdicts, newest first: the preferred side as shown, and the active
    /// seconds.
    pub recent: Vec<(Outcome, Option<f64>)>,
}

/// Maximum number of verdicts in [`AnnotatorStatistics::recent`].
const RECENT: usize = 12;

/// Minimum number of verdicts for reporting a pace.
const PACE_OF: usize = 5;

/// Active seconds below which a person can hardly have read the documents.
const TOO_FAST_S: f64 = 2.0;

impl AnnotatorStatistics {
    /// Blind verdicts per hour of active time; `None` before there are [`PACE_OF`].
    pub fn per_hour(&self) -> Option<f64> {
        let (seconds, timed) = self.active;
        (timed >= PACE_OF && seconds > 0.0).then(|| timed as f64 / seconds * 3_600.0)
    }

    /// An unobtrusive warning about the latest verdicts.
    pub fn warning(&self) -> Option<&'static str> {
        let mut times: Vec<f64> = self.recent.iter().take(5).filter_map(|(_, s)| *s).collect();
        times.sort_by(f64::total_cmp);
        if times.len() == 5 && times[2] < TOO_FAST_S {
            return Some("your last verdicts took less than two seconds each");
        }
        let same = |outcome| {
            self.recent
                .iter()
                .take(10)
                .filter(|(side, _)| *side == outcome)
                .count()
        };
        if self.recent.len() >= 10 {
            if same(Outcome::A) >= 9 || same(Outcome::B) >= 9 {
                return Some("nine of your last ten verdicts went to the same side of the screen");
            }
            if same(Outcome::Tie) >= 9 {
                return Some("nine of your last ten verdicts were ties");
            }
        }
        None
    }
}

fn turned(outcome: Outcome, turn: bool) -> Outcome {
    match (outcome, turn) {
        (Outcome::A, true) => Outcome::B,
        (Outcome::B, true) => Outcome::A,
        (outcome, _) => outcome,
    }
}

/// A person's statistics for one query or the project.
pub fn annotator_statistics(
    db: &Db,
    annotator: &str,
    scope: Option<QueryKey>,
) -> Result<AnnotatorStatistics> {
    let mut statistics = AnnotatorStatistics::default();
    let mut before: HashMap<(QueryKey, Pair), Outcome> = HashMap::new();
    // For each pair, the latest blind verdict counts, as in the judge report.
    let mut agreed: HashMap<(QueryKey, Pair), Option<bool>> = HashMap::new();
    let mut blind: HashMap<String, Outcome> = HashMap::new();
    // The final verdict on each item, and the ensemble's outcome.
    let mut last: HashMap<String, (QueryKey, Outcome, Option<Outcome>)> = HashMap::new();
    for line in db.queue_verdicts(annotator, scope)? {
        let Some(pair) = Pair::new(line.a, line.b) else {
            continue;
        };
        let turn = line.a > line.b;
        statistics.judged += usize::from(line.blind);
        let Some(said) = line.decision.direction() else {
            continue;
        };
        let said_on_pair = turned(said, turn);
        let ensemble = ensemble_outcome(db, line.query, pair)?;
        if line.blind {
            if let Some(seconds) = line.active_s {
                statistics.active.0 += seconds;
                statistics.active.1 += 1;
            }
            statistics.recent.push((said, line.active_s));
            match before.get(&(line.query, pair)) {
                Some(earlier) if line.draw == "repeat" => {
                    let alike = *earlier == said_on_pair;
                    statistics.consistent.add(line.query, alike);
                }
                _ => {}
            }
            before.insert((line.query, pair), said_on_pair);
            agreed.insert(
                (line.query, pair),
                ensemble.map(|says| says == said_on_pair),
            );
            blind.insert(line.shown, said_on_pair);
        } else {
            last.insert(line.shown, (line.query, said_on_pair, ensemble));
        }
    }
    for ((query, _), agrees) in agreed {
        if let Some(agrees) = agrees {
            statistics.agreement.add(query, agrees);
        }
    }
    for (shown, (query, said, ensemble)) in last {
        if let Some(before) = blind.get(&shown) {
            let changed = *before != said;
            statistics.changed.add(query, changed);
            statistics.swayed += usize::from(changed && ensemble == Some(said));
        }
    }
    statistics.recent.reverse();
    statistics.recent.truncate(RECENT);
    Ok(statistics)
}

/// The combined outcome of the judges that count on a pair, where A is the document earlier in the
/// pool.
fn ensemble_outcome(db: &Db, query: QueryKey, pair: Pair) -> Result<Option<Outcome>> {
    let judges = db.judges_of(query)?;
    let votes = db.pair_margins(query, pair)?.into_iter();
    Ok(combined_outcome(votes.filter_map(|(judge, margin)| {
        judges.iter().any(|(id, _)| *id == judge).then_some(margin)
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics(recent: &[(Outcome, f64)]) -> AnnotatorStatistics {
        AnnotatorStatistics {
            recent: recent.iter().map(|(side, s)| (*side, Some(*s))).collect(),
            ..AnnotatorStatistics::default()
        }
    }

    #[test]
    fn haste_and_a_preferred_side_are_noticed_and_nothing_else() {
        assert!(
            statistics(&[(Outcome::A, 0.8); 5])
                .warning()
                .is_some_and(|w| w.contains("two seconds"))
        );
        assert_eq!(statistics(&[(Outcome::A, 0.8); 4]).warning(), None);
        assert!(
            statistics(&[(Outcome::B, 9.0); 10])
                .warning()
                .is_some_and(|w| w.contains("same side"))
        );
        assert!(
            statistics(&[(Outcome::Tie, 9.0); 10])
                .warning()
                .is_some_and(|w| w.contains("ties"))
        );
        let mut mixed = [(Outcome::A, 9.0); 10];
        mixed[3].0 = Outcome::B;
        mixed[7].0 = Outcome::B;
        assert_eq!(statistics(&mixed).warning(), None);
    }

    #[test]
    fn a_pace_needs_time() {
        assert_eq!(AnnotatorStatistics::default().per_hour(), None);
        let statistics = AnnotatorStatistics {
            active: (60.0, 6),
            ..AnnotatorStatistics::default()
        };
        assert_eq!(statistics.per_hour(), Some(360.0));
    }
}
