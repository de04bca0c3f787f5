//! Probes judges with lists in two orders, and decides whether their lists may count.

use super::answered::{AnsweredList, PROBE, answered_lists};
use super::ask::ListRun;
use crate::app::error::AppError;
use crate::client::call_key::identity_of;
use crate::client::{RunControl, now_ms};
use crate::domain::agreement::Share;
use crate::domain::battle::Pair;
use crate::domain::judge_report::BothOrders;
use crate::domain::sampling::SeededRng;
use crate::domain::vote::{JudgeId, Outcome};
use crate::features::lists::domain::{ListKind, ProbeFigures, ProbedList, Qualification};
use crate::features::lists::store::{StoredList, StoredQualification};
use crate::features::methods::app::rerank::estimate::CallVolume;
use crate::features::methods::app::rerank::list_judge::{ListQuestion, ask_lists};
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::judge::JudgeSpec;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, Store};
use std::collections::BTreeMap;
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

/// Number of probes of a judge: 30 lists in two orders.
const PROBES: usize = 60;

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
    /// Queries with votes of the judge are preferred: their lists can be compared with these.
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
        let run = &self.run;
        let Some(judge) = run.judges().get(seat) else {
            return Ok(());
        };
        let ids = voters(db, judge.spec())?;
        let (mut queries, mut valid) = (Vec::new(), 0);
        for (key, name) in run.queries() {
            let query = run.read_probes(db, *key, name, seat)?;
            valid += query.lists.len();
            self.open.extend(
                query
                    .lists
                    .iter()
                    .filter(|of| of.reply.is_none())
                    .filter_map(|of| run.repeated(&query, &of.list)),
            );
            let mut voted = Vec::new();
            for id in &ids {
                voted.extend(
                    db.pair_votes_of(*key, *id)?
                        .into_iter()
                        .map(|vote| vote.pair),
                );
            }
            queries.push((query, voted));
        }
        let mut rng = SeededRng::new(run.seed(), &["list probes", &judge.spec().name]);
        rng.shuffle(&mut queries);
        queries.sort_by_key(|(_, voted)| voted.is_empty());
        let with_votes = queries
            .iter()
            .filter(|(_, voted)| !voted.is_empty())
            .count();
        queries.truncate(with_votes.max(1));
        let lists = PROBES.saturating_sub(valid) / 2;
        for at in 0..lists {
            let Some((query, voted)) = queries.get(at % queries.len().max(1)) else {
                break;
            };
            let mut shown =
                probed_documents(query.documents.len(), run.kind().size(), voted, &mut rng);
            let number = valid / 2 + at;
            for _ in 0..2 {
                if let Some(question) = run.question(query, seat, &shown) {
                    self.new
                        .push(run.stored(query, &question, &shown, number, PROBE));
                    self.open.push(question);
                }
                shown.reverse();
            }
        }
        Ok(())
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
                    if qualification.missing == 0 {
                        db.add_list_qualification(&StoredQualification {
                            uid: Uuid::now_v7().to_string(),
                            judge: spec.name.clone(),
                            identity: identity_of(spec),
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
                Ok(found)
            })
            .await?)
    }
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
    let identity = identity_of(spec);
    let ids = voters(db, spec)?;
    let mut lists: BTreeMap<(String, usize), Vec<AnsweredList>> = BTreeMap::new();
    for of in answered_lists(db, None)? {
        if of.list.plan == PROBE && of.list.identity == identity && of.kind == Some(kind) {
            let place = (of.list.query.as_str().to_owned(), of.list.round);
            lists.entry(place).or_default().push(of);
        }
    }
    let (mut probed, mut answered) = (Vec::new(), 0);
    for ((query, _), pair) in &lists {
        let (Some(key), [one, other]) = (db.known_query(query)?, pair.as_slice()) else {
            continue;
        };
        if one.reply.is_none() || other.reply.is_none() {
            continue;
        }
        answered += 2;
        probed.push(probed_list(db, key, &ids, [one, other])?);
    }
    let mut both = BothOrders::default();
    db.both_orders(&ids, None)?
        .into_iter()
        .for_each(|of| both.join(of));
    let swaps = both.flip_share().map(unchanged);
    let figures = ProbeFigures::of(kind, &probed, swaps);
    let missing = PROBES.saturating_sub(answered);
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

fn probed_list(
    db: &Db,
    query: QueryKey,
    ids: &[JudgeId],
    lists: [&AnsweredList; 2],
) -> Result<ProbedList> {
    let documents = db.document_ids(query)?;
    let place = |name| documents.iter().position(|of| of == name);
    let answers = lists.map(|of| {
        let order = of.order()?;
        order.into_iter().map(place).collect::<Option<Vec<usize>>>()
    });
    let shown: Vec<usize> = lists[0].list.shown.iter().filter_map(place).collect();
    let mut votes = Vec::new();
    for id in ids {
        for vote in db.pair_votes_of(query, *id)? {
            let (low, high) = (vote.pair.low(), vote.pair.high());
            if !shown.contains(&low) || !shown.contains(&high) {
                continue;
            }
            match vote.margin.outcome() {
                Outcome::A => votes.push((low, high)),
                Outcome::B => votes.push((high, low)),
                Outcome::Tie => {}
            }
        }
    }
    Ok(ProbedList { answers, votes })
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
