//! The judge report for the screen and the command: each judge's statistics, and agreement between
//! judges.

use super::independence::{PanelReport, panel_report};
use super::rater_data::{DrawnPairs, JudgedQueries, PersonVerdict, RaterData, rater_data};
use super::reasoning_audit::{ReasoningAudit, audit_reasoning};
use crate::app::review::annotator_statistics::{Fraction, annotator_statistics};
use crate::domain::agreement::{self, Share};
use crate::domain::answering_models::AnsweringModel;
use crate::domain::judge_report::{
    AltTest, BothOrders, CardFits, EPSILON, FitSearch, JudgeConclusion, JudgeModel, JudgePair,
    JudgeRecord, JudgeReport, MarginEvidence, PositionCounts, Rating, ReportSums, TooFewItems,
    VoteCases, WeakestJudge, alt_test, alt_test_items, judge_alpha, judge_pairs, margin_evidence,
    people_with_each_other, weakest_judge,
};
use crate::domain::number_words::counted;
use crate::domain::sanitize;
use crate::domain::vote::{JudgeId, Margin, Outcome, VoteRule};
use crate::store::corpus::QueryKey;
use crate::store::judge_calls::JudgeCalls;
use crate::store::{Db, Result, Store, StoreError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::thread;

/// Cards of all judges, and pairwise agreement.
#[derive(Clone, Debug)]
pub struct RaterReport {
    pub rater_data: RaterData,
    /// One card per judge with votes.
    pub cards: Vec<JudgeReport>,
    /// The card of all judges combined, if there are several.
    pub ensemble: Option<JudgeReport>,
    /// Latency and cost of each judge's calls, in the order of the judges in the rater data.
    pub calls: Vec<JudgeCalls>,
    /// Preferences by position of each judge, in the same order.
    pub named: Vec<PositionCounts>,
    /// Answers of each judge on pairs seen in both orders, in the same order.
    pub both_orders: Vec<BothOrders>,
    /// The models named in each judge's votes, in the same order.
    pub models: Vec<Vec<AnsweringModel>>,
    /// Number of votes of each judge cast before its weights were last replaced, in the same order.
    pub replaced: Vec<Option<usize>>,
    /// Result of auditing each judge's reasoning.
    pub audits: Vec<ReasoningAudit>,
    /// Pairwise agreement between everyone, including people, by name.
    pub pairs: Vec<(String, String, JudgePair)>,
    /// Krippendorff's α over the judges.
    pub alpha_judges: Option<agreement::Alpha>,
    /// How often two people agree on a pair that both judged blind.
    pub people_with_each_other: Option<Share>,
    /// Krippendorff's α over the people.
    pub alpha_people: Option<agreement::Alpha>,
    /// The alternative annotator test of each judge that has votes on pairs people judged, by
    /// judge.
    pub alt_tests: BTreeMap<usize, std::result::Result<AltTest, TooFewItems>>,
    /// The effective number of independent judges, if there are several.
    pub independence: Option<PanelReport>,
    /// How often people answer a pair that the queue repeats as they did the first time.
    pub people_with_themselves: Option<Share>,
    /// Whether each judge's margins are informative beyond their direction, by judge, according to
    /// people's verdicts.
    pub margins: BTreeMap<usize, MarginEvidence>,
    /// Whether the project's vote rule uses margins beyond their direction.
    pub uses_margins: bool,
    /// Whether some judges were asked only where that was informative.
    pub selective: bool,
    /// The joint fit of documents and judges, if requested.
    pub joint: Option<JudgeModel>,
    /// The queries, by index.
    pub(super) queries: Vec<QueryKey>,
    /// The judges' votes on pairs that people judged.
    pub(super) reviewed: Vec<Rating>,
}

/// Name of the report part that is cached for the status of the project.
const TELLING_MARGINS: &str = "telling margins";

/// The judges whose margins were informative beyond their direction when the report on the whole
/// project was last computed.
pub fn telling_margins(db: &Db) -> Result<Vec<String>> {
    Ok(db.report_part(TELLING_MARGINS, &[])?.unwrap_or_default())
}

/// The judge cards for one query or the project, without the joint fit. The cached data of a query
/// is recomputed if it is stale, so that memory use does not grow with the number of votes.
///
/// # Errors
/// [`StoreError::Closed`] if the result is no longer wanted, see [`Store::while_wanted`].
pub fn rater_report(store: &Store, scope: Option<QueryKey>) -> Result<RaterReport> {
    let (judged, mut drawn) = store.read_blocking(move |db| {
        Ok((
            JudgedQueries::read(db, scope)?,
            DrawnPairs::read(db, scope)?,
        ))
    })?;
    // Both read all votes the first time, and neither depends on the other.
    let (walked, calls) = thread::scope(|threads| {
        let calls = threads.spawn(|| of_calls(store, &judged));
        let walked = ReportWalk::read(store, &judged, &mut drawn).and_then(|walk| {
            let fits = walk.fits(store, &judged, scope)?;
            Ok((walk, fits))
        });
        (walked, calls.join())
    });
    let (walk, fits) = walked?;
    let crashed = || StoreError::Internal("reading the calls has crashed".to_owned());
    let (calls, audits) = calls.map_err(|_| crashed())??;
    let ids: Vec<JudgeId> = judged.judges.iter().map(|(id, _)| *id).collect();
    let (named, both_orders, replaced, models) = store.read_blocking(move |db| {
        let scope = scope.map(|query| [query]);
        let scope = scope.as_ref().map(|scope| &scope[..]);
        let named = db.position_counts(&ids, scope)?;
        let replaced = ids.iter().map(|id| db.votes_before_replacement(*id));
        let replaced = replaced.collect::<Result<Vec<_>>>()?;
        let mut models = db.answering_models()?;
        let models = ids.iter().map(|id| models.remove(id).unwrap_or_default());
        let models = models.collect();
        Ok((named, db.both_orders(&ids, scope)?, replaced, models))
    })?;
    let (judged, rater_data, selective, rule, repeats) = store.read_blocking(move |db| {
        let data = rater_data(db, &judged, scope, &drawn)?;
        let mut repeats = Fraction::default();
        for annotator in db.queue_annotators(scope)? {
            repeats.join(&annotator_statistics(db, &annotator, scope)?.consistent);
        }
        let rule = db.settings()?.vote_rule;
        Ok((judged, data, db.has_escalated()?, rule, repeats))
    })?;
    let mut report = walk.report(rater_data, judged.keys(), &fits);
    let ratings = report.reviewed.clone();
    report.independence = panel_report(store, &judged, &report.rater_data, ratings, &calls)?;
    report.people_with_themselves = repeats.share();
    (report.calls, report.audits, report.named) = (calls, audits, named);
    (report.both_orders, report.replaced) = (both_orders, replaced);
    report.models = models;
    report.selective = selective;
    report.uses_margins = matches!(rule, VoteRule::Margin | VoteRule::Calibrated);
    if scope.is_none() {
        let telling = report.telling_margins();
        let known: Option<Vec<String>> = kept(store, TELLING_MARGINS, &[])?;
        if known.unwrap_or_default() != telling {
            keep(store, TELLING_MARGINS, Vec::new(), telling)?;
        }
    }
    Ok(report)
}

/// Ratings of judges on pairs that people judged.
type JudgeRatings = Vec<Rating>;

/// The data collected from all queries.
struct ReportWalk {
    sums: ReportSums,
    people: JudgeRatings,
    /// Hash of the queries' revisions.
    state: Sha256,
    /// Data that could not be cached with its query.
    unkept: HashMap<QueryKey, VoteCases>,
}

impl ReportWalk {
    /// Reads every query.
    fn read(store: &Store, judged: &JudgedQueries, drawn: &mut DrawnPairs) -> Result<Self> {
        let mut walk = Self {
            sums: ReportSums::default(),
            people: JudgeRatings::default(),
            state: Sha256::new(),
            unkept: HashMap::new(),
        };
        for (id, _) in &judged.judges {
            walk.state.update(id.0.to_le_bytes());
        }
        let keeps = !store.is_read_only();
        store.tally_all(&judged.keys(), |query, mut now| {
            let place = judged.place(query).unwrap_or(0);
            drawn.add(query, &now.tally);
            now.tally.renumber(judged.numbers(query));
            walk.people.extend(now.tally.reviewed(place));
            walk.sums.add(place, now.tally);
            walk.state.update(query.0.to_le_bytes());
            walk.state.update(now.revision.to_le_bytes());
            if let Some(cases) = now.cases.filter(|_| !keeps) {
                walk.unkept.insert(query, cases);
            }
            true
        })?;
        Ok(walk)
    }

    /// The regressions for all cards, from the cache if nothing has changed.
    fn fits(
        &self,
        store: &Store,
        judged: &JudgedQueries,
        scope: Option<QueryKey>,
    ) -> Result<Vec<CardFits>> {
        let state = self.state.clone().finalize().to_vec();
        let name = scope.map_or("fits by query".to_owned(), |query| {
            format!("fits of {}", query.0)
        });
        if let Some(fits) = kept(store, &name, &state)? {
            return Ok(fits);
        }
        let mut search = FitSearch::new(judged.judges.len());
        let keys = judged.keys();
        while search.goes_on() {
            let mut terms = search.nothing();
            let work = |db: &Db, query| {
                let numbers = judged.numbers(query);
                Ok(match self.unkept.get(&query) {
                    Some(cases) => search.terms(cases, numbers),
                    None => search.terms(&db.kept_cases(query)?, numbers),
                })
            };
            store.read_each(&keys, work, |_, of_query| {
                terms.join(&of_query);
                Ok::<(), StoreError>(())
            })?;
            search.take(terms);
        }
        let fits = search.found();
        keep(store, &name, state, fits.clone())?;
        Ok(fits)
    }

    /// Computes all cards.
    fn report(
        self,
        rater_data: RaterData,
        queries: Vec<QueryKey>,
        fits: &[CardFits],
    ) -> RaterReport {
        let votes = rater_data.person_votes();
        let cards = self.sums.cards(&rater_data.verdicts, &votes, fits);
        let judges = rater_data.judges.len();
        let people = people_ratings(&rater_data);
        let margins = margin_evidence(&self.people, &rater_data.verdicts);
        let alpha_people = judge_alpha(&people);
        let alt_tests = (0..judges)
            .filter_map(|judge| {
                let own = self.people.iter().filter(|rating| rating.judge == judge);
                let own: Vec<Rating> = own.copied().collect();
                let items = || alt_test_items(&own, &votes, &rater_data.random_pairs);
                (!own.is_empty()).then(|| (judge, alt_test(&items(), EPSILON)))
            })
            .collect();
        let reviewed = self.people;
        let on_judged: Vec<Rating> = reviewed.iter().copied().chain(people).collect();
        let with_people = judge_pairs(&on_judged)
            .into_iter()
            .filter(|pair| pair.b >= judges);
        let mut pairs: Vec<JudgePair> = cards.pairs.into_iter().chain(with_people).collect();
        pairs.sort_by_key(|pair| (pair.a, pair.b));
        let name = |at: usize| match at.checked_sub(judges) {
            None => rater_data.judges[at].1.name.clone(),
            Some(person) => rater_data.people.get(person).cloned().unwrap_or_default(),
        };
        let named = pairs
            .into_iter()
            .filter(|pair| pair.n > 0)
            .map(|pair| (name(pair.a), name(pair.b), pair));
        RaterReport {
            pairs: named.collect(),
            alpha_judges: cards.alpha,
            people_with_each_other: people_with_each_other(&votes),
            alpha_people,
            people_with_themselves: None,
            independence: None,
            alt_tests,
            ensemble: (judges > 1 && !cards.judges.is_empty()).then_some(cards.together),
            cards: cards.judges,
            calls: Vec::new(),
            named: Vec::new(),
            both_orders: Vec::new(),
            models: Vec::new(),
            replaced: Vec::new(),
            audits: Vec::new(),
            joint: None,
            selective: false,
            margins,
            uses_margins: false,
            queries,
            reviewed,
            rater_data,
        }
    }
}

impl RaterReport {
    /// The names of the judges whose margins are informative beyond their direction.
    fn telling_margins(&self) -> Vec<String> {
        let telling = self
            .margins
            .iter()
            .filter(|(_, of)| of.suggests_calibration());
        telling
            .filter_map(|(at, _)| Some(self.rater_data.judges.get(*at)?.1.name.clone()))
            .collect()
    }

    /// Number of verdicts that changed after the judges' votes were revealed.
    pub fn changed_since_reveal(&self) -> usize {
        self.rater_data
            .verdicts
            .iter()
            .filter(|v| v.score != v.revealed)
            .count()
    }

    /// The clearly worst judge, if there is one.
    pub fn weakest(&self) -> Option<WeakestJudge> {
        let judges = self.rater_data.judges.len();
        let records: Vec<JudgeRecord<'_>> = (0..judges).map(|at| self.record(at)).collect();
        let pairs = self.pairs.iter().map(|(.., pair)| pair);
        let kappas: Vec<_> = pairs
            .filter(|pair| pair.a < judges && pair.b < judges)
            .filter_map(|pair| Some((pair.a, pair.b, pair.kappa?)))
            .collect();
        weakest_judge(&records, &kappas)
    }

    /// Its name and what sets it apart.
    pub fn weakest_words(&self) -> Option<String> {
        let weakest = self.weakest()?;
        let (_, spec) = self.rater_data.judges.get(weakest.judge)?;
        let name = sanitize::line(&spec.name);
        let words = weakest.reason.words(&self.record(weakest.judge));
        Some(format!("{name}: {words}"))
    }

    /// What is known about the judge with this index.
    pub fn record(&self, judge: usize) -> JudgeRecord<'_> {
        JudgeRecord {
            card: self.cards.iter().find(|card| card.judge == Some(judge)),
            named: self.named.get(judge).copied().unwrap_or_default(),
            both_orders: self.both_orders.get(judge).copied().unwrap_or_default(),
        }
    }

    /// The conclusion about all judges together, if there are several.
    pub fn ensemble_conclusion(&self) -> Option<JudgeConclusion> {
        let ensemble = JudgeRecord {
            card: Some(self.ensemble.as_ref()?),
            named: PositionCounts::default(),
            both_orders: BothOrders::default(),
        };
        Some(ensemble.conclusion())
    }

    /// One sentence that answers how good the judges are.
    pub fn summary(&self) -> String {
        let judges = self.rater_data.judges.iter().enumerate();
        let told: Vec<String> = judges
            .filter_map(|(at, (_, spec))| {
                let conclusion = self.record(at).conclusion();
                let name = sanitize::line(&spec.name);
                (!matches!(conclusion, JudgeConclusion::NotEnough(_)))
                    .then(|| format!("{name} {}.", conclusion.clause()))
            })
            .collect();
        if !told.is_empty() {
            return told.join(" ");
        }
        let (pairs, people) = self.rater_data.blind_pairs();
        let by = match people {
            0 => String::new(),
            1 => " by one person".to_owned(),
            _ => format!(" by {people} people"),
        };
        format!(
            "Not enough to tell how good the judges are: {} judged blind{by}.",
            counted(pairs, "pair")
        )
    }
}

/// Latency, cost and audited reasoning of each judge, from the cache if it has made no call since.
fn of_calls(
    store: &Store,
    judged: &JudgedQueries,
) -> Result<(Vec<JudgeCalls>, Vec<ReasoningAudit>)> {
    let made = store.read_blocking(|db| db.calls_by_judge())?;
    let (mut calls, mut audits) = (Vec::new(), Vec::new());
    for (judge, _) in &judged.judges {
        let (votes, failures) = made.get(judge).copied().unwrap_or_default();
        let state = [votes.to_le_bytes(), failures.to_le_bytes()].concat();
        let part = |what: &str| format!("{what} of {}", judge.0);
        calls.push(part_of(store, part("calls"), &state, *judge, Db::calls_of)?);
        audits.push(part_of(
            store,
            part("reasoning"),
            &state,
            *judge,
            audit_reasoning,
        )?);
    }
    Ok((calls, audits))
}

/// A report part cached for this state, or computed now.
fn part_of<T>(
    store: &Store,
    name: String,
    state: &[u8],
    judge: JudgeId,
    make: fn(&Db, JudgeId) -> Result<T>,
) -> Result<T>
where
    T: Serialize + DeserializeOwned + Clone + Send + 'static,
{
    if let Some(part) = kept(store, &name, state)? {
        return Ok(part);
    }
    let part = store.read_blocking(move |db| make(db, judge))?;
    keep(store, &name, state.to_vec(), part.clone())?;
    Ok(part)
}

fn kept<T>(store: &Store, name: &str, state: &[u8]) -> Result<Option<T>>
where
    T: DeserializeOwned + Send + 'static,
{
    let (name, state) = (name.to_owned(), state.to_vec());
    store.read_blocking(move |db| db.report_part(&name, &state))
}

fn keep<T>(store: &Store, name: &str, state: Vec<u8>, part: T) -> Result<()>
where
    T: Serialize + Send + 'static,
{
    let name = name.to_owned();
    let kept = store.cache(move |db| db.keep_report_part(&name, &state, &part));
    futures::executor::block_on(kept)
}

/// People's verdicts as ratings, for comparison with judges.
fn people_ratings(rater_data: &RaterData) -> Vec<Rating> {
    let judges = rater_data.judges.len();
    let rating = |verdict: &PersonVerdict| {
        let margin = match verdict.outcome? {
            Outcome::A => -1.0,
            Outcome::Tie => 0.0,
            Outcome::B => 1.0,
        };
        Some(Rating {
            query: verdict.query,
            // Agreement is computed per pair.
            battle: 0,
            a: verdict.pair.low(),
            b: verdict.pair.high(),
            judge: judges + verdict.person,
            margin: Margin::new(margin)?,
            swapped: false,
            length_a: 0,
            length_b: 0,
            gap: None,
        })
    };
    rater_data
        .person_verdicts
        .iter()
        .filter_map(rating)
        .collect()
}
