//! Probes judges with lists in two orders, and decides whether their lists may count.

use super::answered::{AnsweredList, PROBE, answered_lists};
use super::ask::{ListRun, QueryLists};
use super::identities::identities;
use crate::app::error::AppError;
use crate::client::{RunControl, now_ms};
use crate::domain::agreement::Share;
use crate::domain::battle::Pair;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::judge_report::BothOrders;
use crate::domain::sampling::SeededRng;
use crate::domain::vote::{JudgeId, Outcome};
use crate::features::lists::domain::{
    ListKind, MIN_QUERIES, ProbeFigures, ProbedQuery, Qualification,
};
use crate::features::lists::store::{StoredList, StoredQualification};
use crate::features::methods::app::rerank::estimate::CallVolume;
use crate::features::methods::app::rerank::list_judge::{ListQuestion, ask_lists};
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::judge::JudgeSpec;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, Store};
use std::collections::{BTreeMap, HashMap, HashSet};
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

/// Number of probes of a judge: 30 lists in two orders.
const PROBES: usize = 60;

/// Maximum number of random lists to draw until one is new.
const MAX_DRAWS: usize = 100;

/// A query of which a list can be probed.
struct QueryProbes {
    query: QueryLists,
    /// The pairs that the judge has voted on.
    voted: Vec<Pair>,
    /// Lists in two orders, answered or to be asked.
    lists: usize,
    next_round: usize,
    known: HashSet<[u8; 32]>,
}

/// The qualification of a judge as far as it is tested.
#[derive(Clone, Debug)]
pub struct JudgeQualification {
    pub judge: String,
    pub kind: ListKind,
    pub figures: ProbeFigures,
    /// Undecided as long as probes are missing.
    pub qualification: Qualification,
    /// Probes without a reply.
    pub missing: usize,
}

/// The remaining probes of some judges.
#[derive(Clone, Debug)]
pub struct ProbePlan {
    run: ListRun,
    /// The calls to make.
    open: Vec<ListQuestion>,
    /// Those of them that are not stored yet.
    new: Vec<StoredList>,
}

impl ProbePlan {
    /// Plans the missing probes of the run's judges. Changes nothing.
    ///
    /// The lists are about as many queries with votes of the judge as possible: they can be compared
    /// with these. If there are too few, queries without votes are added.
    pub fn of(store: &Store, run: &ListRun) -> std::result::Result<Self, AppError> {
        let mut plan = Self {
            run: run.clone(),
            open: Vec::new(),
            new: Vec::new(),
        };
        Ok(store.read_blocking(move |db| {
            for seat in 0..plan.run.judges().len() {
                plan.add(db, seat)?;
            }
            Ok(plan)
        })?)
    }

    /// Number of calls to make.
    pub fn calls(&self) -> usize {
        self.open.len()
    }

    /// The expected effort, and the maximum effort.
    pub fn estimate(&self) -> (CallVolume, CallVolume) {
        let volumes = self.open.iter().map(ListQuestion::estimate);
        let (expected, most): (Vec<CallVolume>, Vec<CallVolume>) = volumes.unzip();
        (expected.into_iter().sum(), most.into_iter().sum())
    }

    fn add(&mut self, db: &Db, seat: usize) -> Result<()> {
        let run = self.run.clone();
        let Some(judge) = run.judges().get(seat) else {
            return Ok(());
        };
        let mut voted: HashMap<QueryKey, Vec<Pair>> = HashMap::new();
        for id in voters(db, judge.spec())? {
            for vote in db.voted_pairs_of(id)? {
                voted.entry(vote.query).or_default().push(vote.pair);
            }
        }
        let probes = db.list_calls(None)?.into_iter();
        let probed: HashSet<QueryId> = probes
            .filter(|of| of.plan == PROBE && run.seat_of(of) == Some(seat))
            .map(|of| of.query)
            .collect();
        let mut rng = SeededRng::new(run.seed(), &["list probes", &judge.spec().name]);
        let mut candidates = run.queries().to_vec();
        rng.shuffle(&mut candidates);
        candidates.sort_by_key(|(key, name)| (!voted.contains_key(key), !probed.contains(name)));
        let with_votes = candidates
            .iter()
            .filter(|(key, _)| voted.contains_key(key))
            .count();
        // As long as there are enough queries, each list is about another one.
        let most = with_votes.clamp(MIN_QUERIES, PROBES / 2);
        let mut queries = Vec::new();
        for (at, (key, name)) in candidates.iter().enumerate() {
            if at >= most && !probed.contains(name) {
                continue;
            }
            let query = run.read_probes(db, *key, name, seat)?;
            let mut lists = in_two_orders(&query.lists);
            lists.retain(|list| list.iter().all(|of| run.is_valid(&query, of)));
            let open = lists.iter().flatten().filter(|of| of.is_outstanding());
            self.open
                .extend(open.filter_map(|of| run.repeated(&query, &of.list)));
            let stored = query.lists.iter().map(|of| &of.list);
            queries.push(QueryProbes {
                voted: voted.remove(key).unwrap_or_default(),
                lists: lists.len(),
                next_round: stored.clone().map(|list| list.round + 1).max().unwrap_or(0),
                known: stored.map(|list| list.key).collect(),
                query,
            });
        }
        let mut lists: usize = queries.iter().map(|of| of.lists).sum();
        queries.truncate(most);
        loop {
            let needed = queries.iter().take(MIN_QUERIES).any(|of| of.lists == 0);
            if lists >= PROBES / 2 && !needed {
                return Ok(());
            }
            let Some(at) = (0..queries.len()).min_by_key(|at| queries[*at].lists) else {
                return Ok(());
            };
            match queries[at].draw(&run, seat, &mut rng) {
                Some(orders) => {
                    for (question, list) in orders {
                        if !db.is_list_being_made(&question.key())? {
                            self.open.push(question);
                        }
                        self.new.push(list);
                    }
                    lists += 1;
                }
                // Nearly all lists of a tiny pool are stored.
                None => drop(queries.remove(at)),
            }
        }
    }

    /// Asks the probes, and stores the qualifications that are complete and new.
    pub async fn ask(
        &self,
        store: &Store,
        author: String,
        control: watch::Receiver<RunControl>,
        events: mpsc::UnboundedSender<RerankEvent>,
    ) -> std::result::Result<Vec<JudgeQualification>, AppError> {
        let new = self.new.clone();
        store
            .write(move |db| {
                new.iter()
                    .try_for_each(|list| db.add_list_call(list).map(drop))
            })
            .await?;
        ask_lists(store, self.run.judges(), &self.open, control, &events).await?;
        let run = self.run.clone();
        Ok(store
            .write(move |db| {
                let mut found = Vec::new();
                for judge in run.judges() {
                    let spec = judge.spec();
                    let qualification = evaluated(db, spec, run.kind())?;
                    // The lists that it answered under another name count with the same result.
                    let identities = match qualification.missing {
                        0 => identities(db, spec)?,
                        _ => Vec::new(),
                    };
                    for identity in identities {
                        db.add_list_qualification(&StoredQualification {
                            uid: Uuid::now_v7().to_string(),
                            judge: spec.name.clone(),
                            identity,
                            size: run.kind().size(),
                            form: run.kind().form().to_string(),
                            result: qualification.qualification,
                            figures: qualification.figures,
                            author: author.clone(),
                            created_ms: now_ms(),
                        })?;
                    }
                    found.push(qualification);
                }
                db.list_answers_changed(None)?;
                Ok(found)
            })
            .await?)
    }
}

impl QueryProbes {
    /// Plans a list that is not stored yet, in two orders. `None` if none was found.
    fn draw(
        &mut self,
        run: &ListRun,
        seat: usize,
        rng: &mut SeededRng,
    ) -> Option<[(ListQuestion, StoredList); 2]> {
        let (documents, size) = (self.query.documents.len(), run.kind().size());
        for _ in 0..MAX_DRAWS {
            let shown = probed_documents(documents, size, &self.voted, rng);
            let reversed: Vec<usize> = shown.iter().rev().copied().collect();
            let one = run.question(&self.query, seat, &shown)?;
            let other = run.question(&self.query, seat, &reversed)?;
            if self.known.contains(&one.key()) || self.known.contains(&other.key()) {
                continue;
            }
            self.known.extend([one.key(), other.key()]);
            let stored = |question: &ListQuestion, shown: &[usize]| {
                run.stored(&self.query, question, shown, self.next_round, PROBE)
            };
            let lists = [stored(&one, &shown), stored(&other, &reversed)];
            self.next_round += 1;
            self.lists += 1;
            let [list, backward] = lists;
            return Some([(one, list), (other, backward)]);
        }
        None
    }
}

/// The lists that were shown in both orders, each with the call in the one and in the other. The
/// same call is one probe, however often it was planned: merged copies may hold it twice.
fn in_two_orders(lists: &[AnsweredList]) -> Vec<[&AnsweredList; 2]> {
    let mut seen = HashSet::new();
    let mut places: BTreeMap<_, [Vec<&AnsweredList>; 2]> = BTreeMap::new();
    for of in lists.iter().filter(|of| seen.insert(of.list.key)) {
        let forward = of.list.shown.clone();
        let backward: Vec<_> = forward.iter().rev().cloned().collect();
        let is_backward = backward < forward;
        let place = (of.list.query.clone(), of.list.round, forward.min(backward));
        places.entry(place).or_default()[usize::from(is_backward)].push(of);
    }
    // The same list of one round with another text is another pair: both are in order of time.
    let pairs = places.into_values().flat_map(|[forward, backward]| {
        let both = forward.into_iter().zip(backward);
        both.map(|(one, other)| [one, other])
    });
    pairs.collect()
}

/// The judges of the project's votes that are this one, whatever prompt it voted with.
fn voters(db: &Db, spec: &JudgeSpec) -> Result<Vec<JudgeId>> {
    let judges = db.all_judges()?.into_iter();
    Ok(judges
        .filter(|(_, known)| {
            (&known.name, &known.provider, &known.model)
                == (&spec.name, &spec.provider, &spec.model)
        })
        .map(|(id, _)| id)
        .collect())
}

/// Documents for a list with many pairs that the judge has voted on: a random one of these pairs,
/// and then the documents with the most votes on pairs with those chosen.
fn probed_documents(
    documents: usize,
    size: usize,
    voted: &[Pair],
    rng: &mut SeededRng,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..documents).collect();
    rng.shuffle(&mut order);
    let mut chosen: Vec<usize> = match voted.get(rng.below(voted.len())) {
        Some(pair) => vec![pair.low(), pair.high()],
        None => Vec::new(),
    };
    while chosen.len() < size {
        let votes = |document: usize| {
            let met = |pair: &&Pair| {
                let (low, high) = (pair.low(), pair.high());
                (low == document && chosen.contains(&high))
                    || (high == document && chosen.contains(&low))
            };
            voted.iter().filter(met).count()
        };
        let free = order.iter().filter(|document| !chosen.contains(document));
        let Some(&next) = free.max_by_key(|document| votes(**document)) else {
            break;
        };
        chosen.push(next);
    }
    rng.shuffle(&mut chosen);
    chosen
}

/// Evaluates the stored probes of a judge as it is configured now.
pub(super) fn evaluated(db: &Db, spec: &JudgeSpec, kind: ListKind) -> Result<JudgeQualification> {
    let known = identities(db, spec)?;
    let ids = voters(db, spec)?;
    let mut lists = answered_lists(db, None)?;
    lists.retain(|of| {
        of.is_probe()
            && of.list.judge == spec.name
            && known.contains(&of.list.identity)
            && of.kind == Some(kind)
    });
    let mut queries: BTreeMap<&QueryId, Vec<[&AnsweredList; 2]>> = BTreeMap::new();
    for list in in_two_orders(&lists) {
        if list.iter().all(|of| of.reply.is_some()) {
            queries.entry(&list[0].list.query).or_default().push(list);
        }
    }
    let mut probed = Vec::new();
    for (name, lists) in queries {
        if let Some(key) = db.known_query(name.as_str())? {
            probed.push(probed_query(db, key, &ids, &lists)?);
        }
    }
    let mut both = BothOrders::default();
    db.both_orders(&ids, None)?
        .into_iter()
        .for_each(|of| both.join(of));
    let swaps = both.flip_share().map(unchanged);
    let figures = ProbeFigures::of(kind, &probed, swaps);
    let missing = PROBES.saturating_sub(figures.calls);
    Ok(JudgeQualification {
        judge: spec.name.clone(),
        kind,
        figures,
        qualification: if missing == 0 {
            figures.qualification()
        } else {
            Qualification::Undecided
        },
        missing,
    })
}

/// The share of answers that did not change.
fn unchanged(flips: Share) -> Share {
    let mut share = flips;
    share.part = share.n as f64 - flips.part;
    share.value = 1.0 - flips.value;
    share.interval.low = 1.0 - flips.interval.high;
    share.interval.high = 1.0 - flips.interval.low;
    share
}

/// The answers about a query, and the judge's votes on its pairs.
fn probed_query(
    db: &Db,
    query: QueryKey,
    ids: &[JudgeId],
    lists: &[[&AnsweredList; 2]],
) -> Result<ProbedQuery> {
    let documents = db.document_ids(query)?;
    let place = |name: &DocId| documents.iter().position(|of| of == name);
    let answer = |of: &AnsweredList| {
        let order = of.order()?;
        order.into_iter().map(place).collect::<Option<Vec<usize>>>()
    };
    let mut votes = Vec::new();
    for id in ids {
        for vote in db.pair_votes_of(query, *id)? {
            let (low, high) = (vote.pair.low(), vote.pair.high());
            match vote.margin.outcome() {
                Outcome::A => votes.push((low, high)),
                Outcome::B => votes.push((high, low)),
                Outcome::Tie => {}
            }
        }
    }
    Ok(ProbedQuery {
        documents: documents.len(),
        lists: lists.iter().map(|list| list.map(answer)).collect(),
        votes,
    })
}

/// Whether the lists of a judge with this identity may count: only if its latest qualification for
/// this kind of list passed.
pub(super) fn is_qualified(
    qualifications: &[StoredQualification],
    identity: &[u8; 32],
    kind: ListKind,
) -> bool {
    let form = kind.form().to_string();
    qualifications
        .iter()
        .filter(|of| of.identity == *identity && of.size == kind.size() && of.form == form)
        .max_by_key(|of| (of.created_ms, &of.uid))
        .is_some_and(|of| of.result == Qualification::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::corpus::{DocId, QueryId};
    use crate::features::lists::app::answered::ListOutcome;

    fn probe(uid: &str, shown: [&str; 3], round: usize, key: u8) -> AnsweredList {
        AnsweredList {
            list: StoredList {
                uid: uid.to_owned(),
                query: QueryId::new("q"),
                judge: "one".to_owned(),
                identity: [0; 32],
                form: "order".to_owned(),
                shown: shown.map(DocId::new).to_vec(),
                plan: PROBE.to_owned(),
                round,
                key: [key; 32],
                created_ms: 0,
            },
            kind: None,
            reply: None,
            outcome: ListOutcome::Outstanding,
        }
    }

    #[test]
    fn a_probe_is_a_list_in_two_orders_however_often_it_was_planned() {
        let (abc, cba, bac, cab) = (
            ["a", "b", "c"],
            ["c", "b", "a"],
            ["b", "a", "c"],
            ["c", "a", "b"],
        );
        let keys = |lists: &[AnsweredList]| {
            let pairs = in_two_orders(lists);
            pairs
                .iter()
                .map(|pair| pair.map(|of| of.list.key[0]))
                .collect::<Vec<_>>()
        };
        // Merged copies: the same two calls twice, and another list in the same round.
        let mut lists = vec![
            probe("1", abc, 0, 1),
            probe("2", cba, 0, 2),
            probe("3", abc, 0, 1),
            probe("4", cba, 0, 2),
            probe("5", cab, 0, 3),
            probe("6", bac, 0, 4),
        ];
        assert_eq!(keys(&lists), [[1, 2], [4, 3]]);
        // The same list with another text, and one order only.
        lists.push(probe("7", abc, 1, 5));
        lists.push(probe("8", cba, 1, 6));
        lists.push(probe("9", bac, 2, 7));
        assert_eq!(keys(&lists), [[1, 2], [4, 3], [5, 6]]);
    }
}
