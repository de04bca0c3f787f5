//! `overrule judges`: a card a judge, and who agrees with whom.

use super::{Context, Outcome, output};
use crate::domain::agreement::{self, Interval, Scale, Share};
use crate::domain::judging::{
    Ballot, Card, JudgeModel, JudgePair, cards, ensemble_card, judge_alpha, judge_model,
    judge_pairs,
};
use crate::domain::sanitise;
use crate::domain::vote::{Margin, Outcome as Side};
use crate::store::witnesses::{Audit, Calls, Witnesses};
use anyhow::anyhow;
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The seed of the resampling behind α's intervals.
const SEED: u64 = 0xa1fa;

#[derive(Debug, Args)]
#[command(
    after_help = "Agreement is with the verdicts in force, pair by pair: a judge agrees when it names the person's document, or when both say
tie. `raw` counts every pair once. `corrected` weighs each pair by how a queue brought it up, so that looking at the doubtful
ones first does not make judges look worse than they are; it needs verdicts on the random controls of the policies mixed or
random. Verdicts that came with `import votes` count alike. `flip` is the share of pairs on which a judge that saw both orders did
not name the same document both times. `position_shift` is the mean vote with B shown first minus the mean vote with A
shown first, from -1 to 1: positive favours the document shown first.

Examples:
  overrule judges
  overrule judges --json | jq '.kappa[] | select(.kappa < 0.4)'"
)]
pub(super) struct Judges {
    /// One query instead of the whole project
    #[arg(long, value_name = "ID")]
    query: Option<String>,
    /// Fit documents and judges together: how sharp each judge is (beta) and what the order of presentation does to it
    #[arg(long)]
    joint: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

struct Report {
    witnesses: Witnesses,
    cards: Vec<Card>,
    ensemble: Option<Card>,
    calls: Vec<Calls>,
    audits: Vec<Audit>,
    pairs: Vec<(String, String, JudgePair)>,
    alpha_judges: Option<agreement::Alpha>,
    alpha_people: Option<agreement::Alpha>,
    joint: Option<JudgeModel>,
}

impl Judges {
    pub(super) fn run(self, context: &Context) -> Outcome {
        let store = context.open()?;
        let query = self.query.clone();
        let (witnesses, calls, audits, lambda) = store.read_blocking(move |db| {
            let scope = query.map(|query| db.find_query(&query)).transpose()?;
            let witnesses = db.witnesses(scope)?;
            let ids = witnesses.judges.iter().map(|(id, _)| *id);
            let calls = ids
                .clone()
                .map(|id| db.calls_of(id))
                .collect::<Result<Vec<_>, _>>()?;
            let audits = ids.map(|id| db.audit(id)).collect::<Result<Vec<_>, _>>()?;
            Ok((witnesses, calls, audits, db.settings()?.lambda))
        })?;
        let joint = if self.joint {
            let fitted = judge_model(&witnesses.ballots, lambda);
            Some(fitted.map_err(|error| {
                anyhow!("judges and documents cannot be fitted together: {error}")
            })?)
        } else {
            None
        };
        let report = Report::new(witnesses, calls, audits, joint);
        if self.json {
            Ok(output::json(&report.json())?)
        } else {
            Ok(output::text(&report.words())?)
        }
    }
}

impl Report {
    fn new(
        witnesses: Witnesses,
        calls: Vec<Calls>,
        audits: Vec<Audit>,
        joint: Option<JudgeModel>,
    ) -> Self {
        let cards = cards(&witnesses.ballots, &witnesses.verdicts);
        let ensemble = (witnesses.judges.len() > 1 && !witnesses.ballots.is_empty())
            .then(|| ensemble_card(&witnesses.ballots, &witnesses.verdicts));
        let people = people_ballots(&witnesses);
        let mut all = witnesses.ballots.clone();
        all.extend(people);
        let name = |at: usize| {
            let judges = witnesses.judges.len();
            match at.checked_sub(judges) {
                None => witnesses.judges[at].1.name.clone(),
                Some(person) => witnesses.people.get(person).cloned().unwrap_or_default(),
            }
        };
        let pairs = judge_pairs(&all)
            .into_iter()
            .filter(|pair| pair.n > 0)
            .map(|pair| (name(pair.a), name(pair.b), pair))
            .collect();
        let mut units: BTreeMap<(usize, usize, usize), usize> = BTreeMap::new();
        let mut labels = Vec::new();
        for said in &witnesses.said {
            if let Some(outcome) = said.outcome {
                let next = units.len();
                let key = (said.query, said.pair.low(), said.pair.high());
                let unit = *units.entry(key).or_insert(next);
                labels.push((unit, said.person, number(outcome)));
            }
        }
        Self {
            alpha_judges: judge_alpha(&witnesses.ballots, Some(SEED)),
            alpha_people: agreement::alpha(&agreement::units(labels), Scale::Nominal, Some(SEED)),
            cards,
            ensemble,
            calls,
            audits,
            pairs,
            joint,
            witnesses,
        }
    }

    fn json(&self) -> Value {
        let mut judges: Vec<Value> = Vec::new();
        for (at, (_, spec)) in self.witnesses.judges.iter().enumerate() {
            let card = self.cards.iter().find(|card| card.judge == Some(at));
            let kind = if spec.is_offline() { "offline" } else { "llm" };
            let mut row = described(&spec.name, kind, card);
            let calls = &self.calls[at];
            row["failures"] = calls.failures.values().sum::<usize>().into();
            row["model"] = json!(spec.model);
            row["calls"] = json!(calls);
            row["reasoning"] = json!(self.audits[at]);
            if let Some(joint) = &self.joint {
                row["joint"] = json!(joint.judges.iter().find(|judge| judge.judge == at));
            }
            judges.push(row);
        }
        for (at, name) in self.witnesses.people.iter().enumerate() {
            let own = || {
                self.witnesses
                    .said
                    .iter()
                    .filter(move |said| said.person == at)
            };
            let ties = own().filter(|said| said.outcome == Some(Side::Tie)).count();
            judges.push(json!({
                "name": name, "kind": "human", "votes": own().count(), "ties": ties, "failures": 0,
                "cannot_tell": own().filter(|said| said.outcome.is_none()).count(),
                "agreement": null, "flip": null, "position_shift": null,
            }));
        }
        let kappa: Vec<Value> = self
            .pairs
            .iter()
            .map(|(a, b, pair)| {
                json!({
                    "a": a, "b": b, "n": pair.n,
                    "kappa": pair.kappa.map(|kappa| kappa.value),
                    "interval_95": pair.kappa.and_then(|kappa| kappa.interval),
                    "agree": pair.agree.map(|share| share.value),
                })
            })
            .collect();
        json!({
            "judges": judges,
            "ensemble": self.ensemble.as_ref().map(|card| described("ensemble", "ensemble", Some(card))),
            "kappa": kappa,
            "alpha": {
                "people": self.alpha_people.as_ref().map(|alpha| alpha.value),
                "judges": self.alpha_judges.as_ref().map(|alpha| alpha.value),
                "people_detail": self.alpha_people,
                "judges_detail": self.alpha_judges,
            },
            "verdicts": self.witnesses.verdicts.len(),
        })
    }

    fn words(&self) -> String {
        let header = [
            "judge",
            ">votes",
            ">ties",
            ">failed",
            ">agrees (raw)",
            ">agrees (corrected)",
            ">flips",
            ">position",
            ">cycles",
            ">longer",
            ">p50",
            ">$ / 1,000",
        ];
        let mut rows = Vec::new();
        for (at, (_, spec)) in self.witnesses.judges.iter().enumerate() {
            let card = self.cards.iter().find(|card| card.judge == Some(at));
            rows.push(row(&spec.name, card, Some(&self.calls[at])));
        }
        if let Some(card) = &self.ensemble {
            rows.push(row("ensemble", Some(card), None));
        }
        let mut text = output::table(&header, &rows);
        text.push('\n');
        let pairs: Vec<Vec<String>> = self
            .pairs
            .iter()
            .map(|(a, b, pair)| {
                vec![
                    sanitise::line(a).into_owned(),
                    sanitise::line(b).into_owned(),
                    pair.kappa
                        .map_or("–".to_owned(), |kappa| format!("{:.3}", kappa.value)),
                    interval(pair.kappa.and_then(|kappa| kappa.interval), 1.0, 3),
                    pair.n.to_string(),
                ]
            })
            .collect();
        if !pairs.is_empty() {
            text.push_str(&output::table(
                &["Cohen's κ", "", ">κ", ">95 %", ">battles"],
                &pairs,
            ));
            text.push('\n');
        }
        for (what, alpha) in [
            ("judges", &self.alpha_judges),
            ("people", &self.alpha_people),
        ] {
            if let Some(alpha) = alpha {
                text.push_str(&format!(
                    "Krippendorff's α over {what}: {:.3} (95 %: {})\n",
                    alpha.value,
                    interval(alpha.interval, 1.0, 3)
                ));
            }
        }
        for (at, audit) in self.audits.iter().enumerate() {
            if audit.missing_quotes + audit.contradictions > 0 {
                text.push_str(&format!(
                    "{}: of {} reasonings looked into, {} of {} quotes stand in no text, {} of {} conclusions contradict the score\n",
                    sanitise::line(&self.witnesses.judges[at].1.name),
                    audit.votes, audit.missing_quotes, audit.quotes, audit.contradictions, audit.conclusions,
                ));
            }
        }
        if let Some(joint) = &self.joint {
            let rows: Vec<Vec<String>> = joint
                .judges
                .iter()
                .map(|judge| {
                    vec![
                        sanitise::line(&self.witnesses.judges[judge.judge].1.name).into_owned(),
                        format!("{:.2}", judge.beta),
                        format!("{:.2}", judge.gamma),
                        judge
                            .shift
                            .map_or("–".to_owned(), |shift| format!("{shift:.2}")),
                        judge.votes.to_string(),
                        format!("{:?}", judge.basis),
                    ]
                })
                .collect();
            text.push('\n');
            text.push_str(&output::table(
                &[
                    "joint fit",
                    ">beta",
                    ">gamma",
                    ">shift (zELO)",
                    ">votes",
                    "basis",
                ],
                &rows,
            ));
        }
        if self.witnesses.verdicts.is_empty() {
            text.push_str("no verdict yet: agreement with people needs some (overrule queue --policy mixed)\n");
        }
        text
    }
}

/// People's verdicts as ballots on every battle of their pairs, so that they can be held against judges.
fn people_ballots(witnesses: &Witnesses) -> Vec<Ballot> {
    // By query, earlier and later document: the battles, each with its own A and B.
    type Fought = Vec<(usize, usize, usize)>;
    let mut battles: BTreeMap<(usize, usize, usize), Fought> = BTreeMap::new();
    for ballot in &witnesses.ballots {
        let key = (ballot.query, ballot.a.min(ballot.b), ballot.a.max(ballot.b));
        let known = battles.entry(key).or_default();
        let battle = (ballot.battle, ballot.a, ballot.b);
        if !known.contains(&battle) {
            known.push(battle);
        }
    }
    let judges = witnesses.judges.len();
    // Pairs that no judge voted on are numbered past every battle.
    let mut free = witnesses
        .ballots
        .iter()
        .map(|ballot| ballot.battle + 1)
        .max()
        .unwrap_or(0);
    let mut found = Vec::new();
    for said in &witnesses.said {
        let (low, high) = (said.pair.low(), said.pair.high());
        let Some(margin) = said
            .outcome
            .and_then(|outcome| Margin::new(number(outcome)))
        else {
            continue;
        };
        let on = battles.entry((said.query, low, high)).or_insert_with(|| {
            free += 1;
            vec![(free, low, high)]
        });
        for (battle, a, b) in on.iter().copied() {
            found.push(Ballot {
                query: said.query,
                battle,
                a,
                b,
                judge: judges + said.person,
                margin: if a == low { margin } else { margin.flipped() },
                swapped: false,
                length_a: 0,
                length_b: 0,
                gap: None,
            });
        }
    }
    found
}

fn number(outcome: Side) -> f64 {
    match outcome {
        Side::A => -1.0,
        Side::Tie => 0.0,
        Side::B => 1.0,
    }
}

fn described(name: &str, kind: &str, card: Option<&Card>) -> Value {
    let agreement = card.map(|card| {
        let all = &card.people.all;
        // The interval is of the corrected share where there is one.
        let interval = all
            .corrected
            .map(|share| share.interval)
            .or(all.raw.map(|share| share.interval));
        json!({
            "raw": all.raw.map(|share| share.value),
            "corrected": all.corrected.map(|share| share.value),
            "low": interval.map(|interval| interval.low),
            "high": interval.map(|interval| interval.high),
            "n": all.raw.map_or(0, |share| share.n),
            "raw_interval_95": all.raw.map(|share| share.interval),
            "effective_n": all.corrected.map(|share| share.effective).filter(|n| n.is_finite()),
            "decided": card.people.decided,
        })
    });
    json!({
        "name": name,
        "kind": kind,
        "votes": card.map_or(0, |card| card.votes),
        "ties": card.and_then(|card| card.ties).map_or(0.0, |share| share.part),
        "failures": 0,
        "agreement": agreement,
        "flip": card.and_then(|card| card.flips.as_ref()).map(|flips| json!({
            "rate": flips.changed.value, "n": flips.changed.n, "interval_95": flips.changed.interval,
            "reversed": flips.reversed.value, "softened": flips.softened.value,
        })),
        "position_shift": card.and_then(|card| card.position.as_ref()).map(|shift| shift.value),
        "position": card.and_then(|card| card.position.as_ref()),
        "response": card.and_then(|card| card.response.as_ref()),
        "length": card.map(|card| &card.length),
        "calibration": card.and_then(|card| card.calibration.as_ref()),
        "triads": card.map(|card| card.triads),
        "surprise": card.and_then(|card| card.surprise.as_ref()),
    })
}

fn row(name: &str, card: Option<&Card>, calls: Option<&Calls>) -> Vec<String> {
    let none = || "–".to_owned();
    let share = |share: Option<Share>| {
        share.map_or_else(none, |share| {
            format!(
                "{:.0} % ({})",
                100.0 * share.value,
                interval(Some(share.interval), 100.0, 0)
            )
        })
    };
    let corrected = card
        .and_then(|card| card.people.all.corrected)
        .map_or_else(none, |share| {
            format!(
                "{:.0} % ({})",
                100.0 * share.value,
                interval(Some(share.interval), 100.0, 0)
            )
        });
    vec![
        sanitise::line(name).into_owned(),
        card.map_or(0, |card| card.votes).to_string(),
        card.and_then(|card| card.ties)
            .map_or_else(none, |ties| format!("{:.0} %", 100.0 * ties.value)),
        calls.map_or_else(none, |calls| {
            calls.failures.values().sum::<usize>().to_string()
        }),
        share(card.and_then(|card| card.people.all.raw)),
        corrected,
        share(
            card.and_then(|card| card.flips.as_ref())
                .map(|flips| flips.changed),
        ),
        card.and_then(|card| card.position.as_ref())
            .map_or_else(none, |shift| format!("{:+.3}", shift.value)),
        card.filter(|card| card.triads.all > 0)
            .map_or_else(none, |card| {
                format!("{}/{}", card.triads.cyclic, card.triads.all)
            }),
        card.and_then(|card| card.length.longer)
            .map_or_else(none, |longer| format!("{:.0} %", 100.0 * longer.value)),
        calls
            .and_then(|calls| calls.latency_p50_ms)
            .map_or_else(none, |ms| format!("{ms:.0} ms")),
        calls
            .and_then(|calls| calls.usd_per_1000)
            .map_or_else(none, |usd| format!("{usd:.2}")),
    ]
}

fn interval(interval: Option<Interval>, scale: f64, digits: usize) -> String {
    interval.map_or("–".to_owned(), |interval| {
        format!(
            "{:.digits$}–{:.digits$}",
            scale * interval.low,
            scale * interval.high
        )
    })
}
