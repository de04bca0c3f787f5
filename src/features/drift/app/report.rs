//! Reads what is known about a judge, and says whether it has changed.

use super::pairs::unchanged;
use super::rankings::{METRIC, compare_rankings};
use super::rounds::{Due, REFERENCE_ROUNDS, RoundAnswers, due, latest_set};
use crate::app::error::{AppError, invalid};
use crate::app::frozen_pairs::PoolTexts;
use crate::app::frozen_pairs::origin_sentences;
use crate::app::text_format::{counted, moment_words};
use crate::client::call_key::identity_of;
use crate::client::now_ms;
use crate::domain::agreement::Interval;
use crate::domain::frozen_pair::FrozenPair;
use crate::domain::number_words::{fixed, probability, signed};
use crate::domain::sanitize;
use crate::domain::vote::{Margin, Outcome};
use crate::features::drift::domain::{
    DriftConclusion, ERROR, JudgeCheck, MARGIN, ReferencedAnswer, RightShare, SystemChange,
    conclude,
};
use crate::features::methods::app::rerank::pair_judge::PairJudge;
use crate::features::prompts::app::RegressionSet;
use crate::store::frozen_sets::FrozenSet;
use crate::store::{Db, Result as StoreResult, Store};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A check of a judge: of its votes before the start, or of a round after it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedRound {
    /// From 1.
    pub number: usize,
    /// Pairs that are compared.
    pub pairs: usize,
    /// `None` without pairs.
    #[serde(flatten)]
    pub check: Option<JudgeCheck>,
    /// Whether its votes before the start are checked.
    pub of_votes: bool,
    /// Start of the round in milliseconds since the Unix epoch; `None` for votes.
    pub asked_ms: Option<i64>,
    /// The models and fingerprints that the answers name.
    pub served: BTreeSet<String>,
    /// Pairs of the set without a readable answer in this check, or without two reference answers.
    pub unanswered: usize,
    /// How often the judge agrees with people, if they decided pairs.
    pub right: Option<RightShare>,
}

/// Two rankings of a search system, and their difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRankings {
    pub before: String,
    pub after: String,
    pub metric: &'static str,
    #[serde(flatten)]
    pub change: SystemChange,
    pub shows_change: bool,
}

/// What is known about a judge.
#[derive(Clone, Debug, PartialEq)]
pub struct DriftReport {
    pub set: FrozenSet,
    pub pairs: usize,
    pub conclusion: DriftConclusion,
    /// In the order of their numbers.
    pub checks: Vec<CheckedRound>,
    /// The models and fingerprints that the reference answers name.
    pub reference_served: BTreeSet<String>,
    pub rankings: Option<ComparedRankings>,
    pub due: Due,
    /// Answers that the latest round lacks, about pairs that the judge can still be asked about.
    pub missing: usize,
    /// Whether the judge has the same model, prompt and parameters in the configuration; `None` if
    /// that is not known.
    pub is_as_configured: Option<bool>,
}

/// Reads the report on a judge, and compares two rankings, before and after, if they are named. It is
/// about the judge as it is configured, if that is known and it was asked; otherwise, about the one
/// with this name that was asked last.
///
/// # Errors
/// The judge has no pairs, or the rankings cannot be compared.
pub fn read_report(
    store: &Store,
    judge: &str,
    configured: Option<PairJudge>,
    rankings: Option<[&str; 2]>,
) -> Result<DriftReport, AppError> {
    let name = judge.to_owned();
    let identity = configured.as_ref().map(|of| identity_of(of.judge.spec()));
    let set = store.read_blocking(move |db| match latest_set(db, &name, identity.as_ref())? {
        None if identity.is_some() => latest_set(db, &name, None),
        found => Ok(found),
    })?;
    let set = set.ok_or_else(|| {
        let shown = sanitize::line(judge);
        invalid!(
            "{shown} has no reference answers; `overrule drift {shown} --ask` chooses pairs and \
             asks about them"
        )
    })?;
    let rankings = match rankings {
        Some([before, after]) => {
            let change = compare_rankings(store, before, after)?;
            Some(ComparedRankings {
                before: before.to_owned(),
                after: after.to_owned(),
                metric: METRIC,
                shows_change: change.shows_change(),
                change,
            })
        }
        None => None,
    };
    let decided = RegressionSet::read(store)?;
    let now = now_ms();
    let is_as_configured = identity.map(|identity| identity == set.identity);
    let judge = configured.filter(|_| is_as_configured == Some(true));
    let report =
        store.read_blocking(move |db| report(db, set, judge.as_ref(), &decided, rankings, now))?;
    Ok(DriftReport {
        is_as_configured,
        ..report
    })
}

fn report(
    db: &Db,
    set: FrozenSet,
    judge: Option<&PairJudge>,
    decided: &RegressionSet,
    rankings: Option<ComparedRankings>,
    now: i64,
) -> StoreResult<DriftReport> {
    let pairs = db.drift_pairs(&set.uid)?;
    let rounds = db.drift_rounds(&set.uid)?;
    let people = decisions(db, decided, &pairs)?;
    let due = due(db, &set, &rounds, now, None)?;
    let answers = |number| RoundAnswers::read(db, &set, number, &pairs);
    let references = [answers(0)?, answers(1)?];
    let mut missing: Vec<usize> = references
        .iter()
        .flat_map(|of| of.missing.clone())
        .collect();
    let reference_served = references.iter().flat_map(|of| of.served.clone()).collect();
    let mut checks = Vec::new();
    let votes = RoundAnswers {
        outcomes: pairs
            .iter()
            .map(|of| of.vote.map(Margin::outcome))
            .collect(),
        missing: Vec::new(),
        served: BTreeSet::new(),
    };
    let people = people.as_slice();
    let references = references.map(|of| of.outcomes);
    checks.extend(Some(checked(votes, 1, &references, people)).filter(|of| of.pairs > 0));
    for round in rounds.iter().filter(|of| of.number >= REFERENCE_ROUNDS) {
        let found = answers(round.number)?;
        missing.clone_from(&found.missing);
        missing.retain(|at| references.iter().all(|of| of[*at].is_some()));
        checks.push(CheckedRound {
            asked_ms: Some(round.created_ms),
            ..checked(found, round.number, &references, people)
        });
    }
    let missing = still_asked(db, judge, &pairs, &missing)?;
    let of_judge: Vec<Option<JudgeCheck>> = checks.iter().map(|of| of.check.clone()).collect();
    let is_open = missing > 0 || !due.served.is_empty();
    let conclusion = conclude(&of_judge, is_open, rankings.as_ref().map(|of| &of.change));
    Ok(DriftReport {
        pairs: pairs.len(),
        set,
        conclusion,
        checks,
        reference_served,
        rankings,
        due,
        missing,
        is_as_configured: None,
    })
}

/// How many of the pairs at these places a judge can still be asked about: their texts are as they
/// were. Without the judge, it is only known whether they are in the project.
fn still_asked(
    db: &Db,
    judge: Option<&PairJudge>,
    pairs: &[FrozenPair],
    places: &[usize],
) -> StoreResult<usize> {
    let mut texts = PoolTexts::default();
    let mut count = 0;
    for at in places {
        let is_asked = match judge {
            Some(judge) => unchanged(&mut texts, db, judge, &pairs[*at])?.is_some(),
            None => texts.question(db, &pairs[*at])?.is_some(),
        };
        count += usize::from(is_asked);
    }
    Ok(count)
}

/// The check of a round.
fn checked(
    round: RoundAnswers,
    number: usize,
    references: &[Vec<Option<Outcome>>; 2],
    people: &[Option<Outcome>],
) -> CheckedRound {
    let answered: Vec<(ReferencedAnswer, Option<Outcome>)> = (0..round.outcomes.len())
        .filter_map(|at| {
            let answer = ReferencedAnswer {
                reference: [references[0][at]?, references[1][at]?],
                answer: round.outcomes[at]?,
            };
            Some((answer, people[at]))
        })
        .collect();
    let answers: Vec<ReferencedAnswer> = answered.iter().map(|(of, _)| *of).collect();
    let of_votes = number < REFERENCE_ROUNDS;
    let right = answered
        .iter()
        .filter_map(|(answer, people)| Some((*answer, (*people)?)));
    CheckedRound {
        number,
        pairs: answers.len(),
        check: JudgeCheck::of(number, &answers),
        of_votes,
        asked_ms: None,
        served: round.served,
        unanswered: round.outcomes.len() - answers.len(),
        right: RightShare::of(&right.collect::<Vec<_>>(), of_votes),
    }
}

/// What people decided about each pair, where A is the document shown first.
fn decisions(
    db: &Db,
    decided: &RegressionSet,
    pairs: &[FrozenPair],
) -> StoreResult<Vec<Option<Outcome>>> {
    let mut queries = HashMap::new();
    let mut of_names = BTreeMap::new();
    for (query, of) in &decided.pairs {
        let documents = match queries.get(query) {
            Some(documents) => documents,
            None => queries.entry(*query).or_insert(db.document_ids(*query)?),
        };
        let places = [of.pair.low(), of.pair.high()].map(|at| documents.get(at).cloned());
        let [Some(low), Some(high)] = places else {
            continue;
        };
        of_names.insert((of.query.clone(), low.clone(), high.clone()), of.people);
        of_names.insert((of.query.clone(), high, low), of.people.flipped());
    }
    let decision = |pair: &FrozenPair| {
        let [first, second] = pair.documents.clone();
        of_names.get(&(pair.query.clone(), first, second)).copied()
    };
    Ok(pairs.iter().map(decision).collect())
}

/// The conclusion and the numbers behind it, one sentence each.
pub fn sentences(report: &DriftReport) -> Vec<String> {
    let name = sanitize::line(&report.set.judge);
    let mut words = vec![format!("{}: {name}", report.conclusion.words())];
    words.extend(origin_sentences(
        &report.set,
        report.pairs,
        report.is_as_configured,
        "drift",
    ));
    let shown = report.checks.iter().rev();
    let shows_change = |of: &JudgeCheck| of.shows_change();
    let changed = shown
        .clone()
        .find(|of| of.check.as_ref().is_some_and(shows_change));
    match changed.or_else(|| shown.clone().next()) {
        Some(check) => words.extend(check_words(check)),
        None if report.missing > 0 => {}
        None => words.push(format!(
            "{} of {name} with reference answers, and no check so far: `overrule drift {name} \
             --ask` asks again",
            counted(report.pairs, "pair"),
        )),
    }
    words.extend(
        report
            .rankings
            .as_ref()
            .map(|of| rankings_words(report, of)),
    );
    if report.missing > 0 {
        words.push(format!(
            "the last round lacks {}: `overrule drift {name} --ask` asks again",
            counted(report.missing, "answer")
        ));
    }
    let latest = report.checks.last().and_then(|of| of.check.as_ref());
    if report.conclusion == DriftConclusion::NotEnough
        && latest.is_some_and(|check| !check.excludes_change())
    {
        words.push(format!(
            "an excess of {MARGIN} or more is neither shown nor excluded; each check counts alone, \
             and only `--anew` with a larger `--pairs` adds pairs"
        ));
    }
    if !report.due.served.is_empty() {
        let served: Vec<&str> = report.due.served.iter().map(String::as_str).collect();
        words.push(format!(
            "since the last round it has answered as {} for the first time: check it with \
             `overrule drift {name} --ask`",
            sanitize::line(&served.join(", "))
        ));
    }
    words
}

fn check_words(of: &CheckedRound) -> Vec<String> {
    let Some(check) = &of.check else {
        let when = of.asked_ms.map(moment_words).unwrap_or_default();
        return vec![format!(
            "the check of {when} has no answer that can be compared"
        )];
    };
    let when = match of.asked_ms {
        Some(ms) => format!("in the check of {}, it contradicts", moment_words(ms)),
        None => "its votes before the start contradict".to_owned(),
    };
    let mut words = vec![format!(
        "{when} {} of its reference answers on {}, which contradict each other on {}: excess {} \
         (95 % interval {})",
        probability(check.turned),
        counted(of.pairs, "pair"),
        probability(check.own),
        signed(check.excess, 3),
        interval_words(check.interval),
    )];
    words.push(format!(
        "evidence of a change: {}; {} is enough in check {}, so that all checks together raise a \
         false alarm in at most {} of the cases",
        evidence_words(check.e_value),
        fixed(check.needed, 0),
        of.number,
        probability(ERROR),
    ));
    if let Some(right) = &of.right {
        words.push(format!(
            "it agreed with people on {} of {} that they decided, and later on {}: difference {} \
             (95 % interval {})",
            probability(right.before),
            counted(right.pairs, "pair"),
            probability(right.after),
            signed(right.difference, 3),
            interval_words(right.interval),
        ));
    }
    if of.unanswered > 0 {
        words.push(format!(
            "{} left out, without an answer in this check or two at the start",
            counted(of.unanswered, "pair")
        ));
    }
    words
}

fn rankings_words(report: &DriftReport, of: &ComparedRankings) -> String {
    let [before, after] = [&of.before, &of.after].map(|name| sanitize::line(name));
    let change = &of.change;
    let meaning = match (report.conclusion, of.shows_change) {
        (DriftConclusion::SystemChanged, _) if change.difference < 0.0 => {
            "the system ranks worse for queries like these, as the judges see it"
        }
        (DriftConclusion::SystemChanged, _) => {
            "the system ranks better for queries like these, as the judges see it"
        }
        (DriftConclusion::JudgeChanged, true) => {
            "this difference may come from the judge; have the votes cast again"
        }
        (_, true) => "whether it comes from the judge is not known",
        (_, false) => "no difference is shown for queries like these",
    };
    format!(
        "{after} against {before}: {METRIC} {} over {} (95 % interval {}; evidence {}, {} is \
         enough): {meaning}",
        signed(change.difference, 3),
        counted(change.queries, "query"),
        interval_words(change.interval),
        evidence_words(change.e_value),
        fixed(change.needed, 0),
    )
}

pub(crate) fn interval_words(of: Interval) -> String {
    format!("{} to {}", signed(of.low, 3), signed(of.high, 3))
}

/// An e-value: at most 1,000 exactly.
pub(crate) fn evidence_words(e_value: f64) -> String {
    if e_value > 1e3 {
        "above 1,000".to_owned()
    } else {
        fixed(e_value, 2)
    }
}
