//! `overrule judges`: prints a card for each judge, and pairwise agreement.

mod described;

use crate::app::annotate::progress::replaced_weights;
use crate::app::judge_report::ranking_shift::{RankingShift, ranking_with_responses};
use crate::app::judge_report::rater_data::all_ratings;
use crate::app::judge_report::report::{RaterReport, rater_report};
use crate::app::judge_report::slices::SlicedJudges;
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output;
use crate::cli::output::{clean, or_dash};
use crate::cli::slices::{SliceOptions, slices_table};
use crate::domain::agreement::{Interval, Share};
use crate::domain::answering_models::changed_model;
use crate::domain::judge_report::{
    AltTest, ENOUGH_PAIRS, JudgeReport, ParameterBasis, judge_model,
};
use crate::domain::number_words::{count, fixed, signed};
use crate::domain::sanitize;
use crate::domain::vote::Outcome as Side;
use crate::registry::JUDGES_PANELS;
use crate::store::judge_calls::JudgeCalls;
use anyhow::anyhow;
use clap::Args;
use described::{both_orders, conclusion, described, independence};
use serde_json::{Map, Value, json};

#[derive(Debug, Args)]
#[command(
    after_help = "Agreement compares a judge with the people's verdicts that count, pair by pair: \
they agree if both prefer the same document, or if both say tie. There are four measures:

  raw        every pair counts once
  corrected  each pair is weighted by how likely the queue was to show it, so that judges do not look
             worse because people checked doubtful pairs first. It needs verdicts on random
             controls (policies mixed and random) and ignores verdicts given outside of a queue,
             including imported votes without an `inclusion`.
  blind      every pair counts once, but only if its verdict was given before the votes were shown
  revealed   the verdicts as people changed them after they saw the votes (JSON only); raw and
             corrected use the verdict given before that, if there was one

The sentence about a judge follows from its 95 % intervals. If they are too wide, it says so. \
Below the table, each judge is compared with a person, on the pairs that two or more people judged \
blind: each person in turn is compared with the others, and so is the judge. `as good as a person` \
means that the judge agrees with people at most 5 points less than people do with each other, and \
`worse than a person` that it agrees less, both with 95 % confidence and on at least 20 pairs.

If two judges make the same errors, the second one adds little. `count as 1.29 independent ones` is \
k / (1 + (k - 1) r), with the mean correlation r of the errors of every two of k judges on random \
pairs (controls of a queue, or imported pairs that all state the same `inclusion`, or all pairs if \
people judged all of them) on which people chose a document blind. The lines below it name the judge without which the others give the most \
independent votes for their price, and the best one to add among judges whose votes do not count now.

Intervals resample queries, not battles. `first doc.` is how often the judge prefers the document \
shown first; ties count half, and it is corrected for which documents were shown first, so that an \
unbiased judge is at 50 %. JSON has the same as `position_shift`, from -1 to 1. `flip` is the \
share of pairs shown in both orders on which the judge did not prefer the same document both times.

With --slice FIELD, the agreement of each judge is printed by a field of the queries: the mean over \
queries of the share of pairs on which the judge agrees with people. Each slice is compared with the \
other queries, p-values are corrected by Holm's method within a table, and the worst slice is named.

Students have their own table: how often they agree with unanimous votes, how much the order \
changes their answers, P(tie), and calibration against the fitted scores.

Examples:
  overrule judges
  overrule judges --json | jq '.independent_votes | {value, interval_95, usd_per_1000_independent}'
  overrule judges --slice topic --tags topics.csv
  overrule judges --json | jq '.kappa[] | select(.kappa < 0.4)'"
)]
pub(super) struct JudgesCommand {
    /// Report only on this query
    #[arg(long, value_name = "ID", conflicts_with = "slice")]
    query: Option<String>,
    #[command(flatten)]
    slices: SliceOptions,
    /// Fit documents and judges together: the sharpness (beta) and position bias of each judge
    #[arg(long)]
    joint: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl JudgesCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let query = self.query.clone();
        let (scope, lambda) = store.read_blocking(move |db| {
            let scope = query.map(|query| db.find_query(&query)).transpose()?;
            Ok((scope, db.settings_in_force()?.rating().lambda))
        })?;
        let mut report = rater_report(&store, scope)?;
        if self.joint {
            let (_, ratings) = all_ratings(&store, scope)?;
            report.joint = Some(judge_model(&ratings, lambda).map_err(|error| {
                anyhow!("judges and documents cannot be fitted together: {error}")
            })?);
        }
        let changed = match &report.joint {
            Some(joint) => {
                let judges = report.rater_data.judges.iter().enumerate();
                let responses = judges
                    .map(|(at, (id, _))| (*id, joint.response(at)))
                    .collect();
                Some(store.read_blocking(move |db| ranking_with_responses(db, &responses))?)
            }
            None => None,
        };
        let panels = JUDGES_PANELS.iter().map(|read| read(&store, scope));
        let panels = panels.collect::<Result<_, _>>()?;
        let field = self.slices.field_in(&store)?;
        let slices = field
            .map(|field| report.sliced(&store, &field))
            .transpose()?;
        let report = JudgeReportText(report, changed, panels);
        if self.json {
            let mut printed = report.json();
            printed["slices"] = json!(slices.as_ref().map(SlicedJudges::json));
            return output::json(&printed);
        }
        let mut words = report.words();
        for (_, of) in slices.iter().flat_map(|slices| &slices.judges) {
            let field = slices.as_ref().map_or("", |slices| &slices.field);
            words += &slices_table(of, field, "");
        }
        output::text(&words)
    }
}

/// A part of the report that a feature adds.
pub(crate) struct JudgesPanel {
    /// Its key in JSON.
    pub(crate) key: &'static str,
    pub(crate) json: Value,
    /// Its text; may be empty.
    pub(crate) words: String,
}

/// The report as JSON and as text.
struct JudgeReportText(RaterReport, Option<RankingShift>, Vec<JudgesPanel>);

impl JudgeReportText {
    fn json(&self) -> Value {
        let mut judges: Vec<Value> = Vec::new();
        for (at, (_, spec)) in self.0.rater_data.judges.iter().enumerate() {
            let card = self.0.cards.iter().find(|card| card.judge == Some(at));
            let kind = if spec.is_offline() { "offline" } else { "llm" };
            let mut row = described(&spec.name, kind, card);
            let calls = &self.0.calls[at];
            row["failures"] = calls.failures.values().sum::<usize>().into();
            row["model"] = json!(spec.model);
            row["calls"] = json!(calls);
            row["named"] = json!(self.0.named[at]);
            row["both_orders"] = both_orders(
                &self.0.both_orders[at],
                card.and_then(|card| card.position.as_ref()),
            );
            row["models"] = json!(self.0.models[at]);
            row["votes_before_other_weights"] = json!(self.0.replaced[at]);
            let record = self.0.record(at);
            row["finding"] = json!(record.finding());
            row["conclusion"] = conclusion(&record.conclusion());
            row["reasoning"] = json!(self.0.audits[at]);
            row["margins"] = json!(self.0.margins.get(&at));
            row["alt_test"] = self
                .0
                .alt_tests
                .get(&at)
                .map_or(Value::Null, |of| match of {
                    Ok(test) => self.alt_test_json(test),
                    Err(few) => json!({"refused": few.words(), "items": few.items}),
                });
            if let Some(joint) = &self.0.joint {
                row["joint"] = json!(joint.judges.iter().find(|judge| judge.judge == at));
            }
            judges.push(row);
        }
        for (at, name) in self.0.rater_data.people.iter().enumerate() {
            let own = || {
                self.0
                    .rater_data
                    .person_verdicts
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
            .0
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
        let panels = self.2.iter();
        let panels = panels.map(|panel| (panel.key.to_owned(), panel.json.clone()));
        let mut report = Map::from_iter([("judges".to_owned(), judges.into())]);
        report.extend(panels);
        let others = json!({
            "ensemble": self.ensemble(),
            "people_with_each_other": self.0.people_with_each_other,
            "people_with_themselves": self.0.people_with_themselves,
            "independent_votes": self.0.independence.as_ref().map(independence),
            "kappa": kappa,
            "alpha": {
                "people": self.0.alpha_people.as_ref().map(|alpha| alpha.value),
                "judges": self.0.alpha_judges.as_ref().map(|alpha| alpha.value),
                "people_detail": self.0.alpha_people,
                "judges_detail": self.0.alpha_judges,
            },
            "worst": self.0.weakest().map(|weakest| json!({
                "name": self.0.rater_data.judges.get(weakest.judge).map(|(_, spec)| &spec.name),
                "reason": weakest.reason,
            })),
            "verdicts": self.0.rater_data.verdicts.len(),
            "verdicts_never_blind": self.0.rater_data.never_blind,
            "judges_asked_selectively": self.0.selective,
            "joint_against_equal": self.1.map(|changed| json!({
                "queries": changed.queries,
                "top_changed": changed.top_changed,
                "leaving": changed.leaving,
                "kendall_tau": changed.tau,
            })),
        });
        if let Value::Object(others) = others {
            report.extend(others);
        }
        Value::Object(report)
    }

    fn words(&self) -> String {
        let header = [
            "judge",
            ">first doc.",
            ">flips",
            ">votes",
            ">ties",
            ">failed",
            ">agrees (blind)",
            ">agrees (raw)",
            ">agrees (corrected)",
            ">cycles",
            ">longer",
            ">p50",
            ">$ / 1,000",
        ];
        let mut rows = Vec::new();
        for (at, (_, spec)) in self.0.rater_data.judges.iter().enumerate() {
            let card = self.0.cards.iter().find(|card| card.judge == Some(at));
            rows.push(row(&spec.name, card, Some(&self.0.calls[at])));
        }
        if let Some(card) = &self.0.ensemble {
            rows.push(row("ensemble", Some(card), None));
        }
        let only = self.0.rater_data.judges.len() == 1;
        let mut text = match self.0.weakest_words() {
            Some(words) if only => format!("{words}\n"),
            Some(words) => format!("worst: {words}\n"),
            None => String::new(),
        };
        text.push_str(&self.findings());
        text.push_str(&output::table(&header, &rows));
        text.push_str(&self.revealed_words());
        text.push('\n');
        text.push_str(&self.ceiling_words());
        text.push_str(&self.independence_words());
        text.extend(self.2.iter().map(|panel| panel.words.as_str()));
        let pairs: Vec<Vec<String>> = self
            .0
            .pairs
            .iter()
            .map(|(a, b, pair)| {
                vec![
                    clean(a),
                    clean(b),
                    or_dash(pair.kappa, |kappa| fixed(kappa.value, 3)),
                    range(pair.kappa.and_then(|kappa| kappa.interval), 1.0, 3),
                    pair.n.to_string(),
                ]
            })
            .collect();
        if !pairs.is_empty() {
            text.push_str(&output::table(
                &["Cohen's κ", "", ">κ", ">95 %", ">pairs"],
                &pairs,
            ));
            text.push('\n');
        }
        for (what, alpha) in [
            ("judges", &self.0.alpha_judges),
            ("people", &self.0.alpha_people),
        ] {
            if let Some(alpha) = alpha {
                text.push_str(&format!(
                    "Krippendorff's α over {what}: {} (95 %: {})\n",
                    fixed(alpha.value, 3),
                    range(alpha.interval, 1.0, 3)
                ));
            }
        }
        for (at, audit) in self.0.audits.iter().enumerate() {
            if audit.is_telling() {
                text.push_str(&format!(
                    "{}: reasoning of {}: {}\n",
                    sanitize::line(&self.0.rater_data.judges[at].1.name),
                    counted(audit.votes, "vote"),
                    audit.words(),
                ));
            }
        }
        text.push_str(&self.margin_words());
        if let Some(joint) = &self.0.joint {
            let rows: Vec<Vec<String>> = joint
                .judges
                .iter()
                .map(|judge| {
                    vec![
                        clean(&self.0.rater_data.judges[judge.judge].1.name),
                        fixed(judge.beta, 2),
                        fixed(judge.gamma, 2),
                        or_dash(judge.shift, |shift| signed(shift, 2)),
                        judge.votes.to_string(),
                        basis(judge.basis).to_owned(),
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
            if let Some(changed) = self.1
                && let Some(tau) = changed.tau
            {
                text.push_str(&format!(
                    "with these weights instead of equal ones, the top changes in {} of {} and {} \
                     it; mean Kendall τ {}. \
                     `overrule config project --judge-weights joint` uses them\n",
                    count(changed.top_changed),
                    counted(changed.queries, "query"),
                    match changed.leaving {
                        1 => "1 document leaves".to_owned(),
                        leaving => format!("{} documents leave", count(leaving)),
                    },
                    fixed(tau, 3)
                ));
            }
        }
        if self.0.selective {
            text.push_str(
                "note: later judges were asked only about the harder battles (escalate): κ, α, \
                 consensus and independent votes are of those battles, not of all\n",
            );
        }
        if self.0.rater_data.verdicts.is_empty() {
            text.push_str(
                "no verdict yet, so agreement with people cannot be measured (`overrule queue \
                 --policy mixed`)\n",
            );
        }
        text
    }
}

impl JudgeReportText {
    /// The judges whose margins are informative beyond their direction, and what to do about it.
    fn margin_words(&self) -> String {
        let mut text = String::new();
        let telling = self.0.margins.iter();
        for (at, of) in telling.filter(|(_, of)| of.suggests_calibration()) {
            text.push_str(&format!(
                "{}: people agree with {:.0} % of the larger half of its margins and with {:.0} % \
                 of the smaller (difference {}, 95 %)\n",
                sanitize::line(&self.0.rater_data.judges[*at].1.name),
                100.0 * of.larger,
                100.0 * of.smaller,
                range(of.interval, 100.0, 0),
            ));
        }
        if !text.is_empty() && !self.0.uses_margins {
            text.push_str(
                "the size of these margins has information beyond their direction; `overrule \
                 config project --vote-rule calibrated` counts it\n",
            );
        }
        text
    }

    fn ensemble(&self) -> Option<Value> {
        let card = self.0.ensemble.as_ref()?;
        let mut row = described("ensemble", "ensemble", Some(card));
        row["conclusion"] = json!(self.0.ensemble_conclusion().as_ref().map(conclusion));
        Some(row)
    }

    /// One sentence about each judge, and what is known about the effect of the order on language
    /// models and about changed models.
    fn findings(&self) -> String {
        let mut text = String::new();
        for (at, (_, spec)) in self.0.rater_data.judges.iter().enumerate() {
            let name = sanitize::line(&spec.name);
            text += &format!("{name}: {}\n", self.0.record(at).conclusion().words());
            let both = self.0.both_orders[at].words();
            if let Some(words) = both.filter(|_| !spec.is_offline()) {
                text += &format!("{name} {words}\n");
            }
            if let Some(words) = changed_model(&self.0.models[at]) {
                text += &format!("{name} {words}\n");
            }
            if let Some(votes) = self.0.replaced[at] {
                text += &format!("{name} {}\n", replaced_weights(votes));
            }
        }
        text
    }

    fn alt_test_json(&self, test: &AltTest) -> Value {
        let mut found = json!(test);
        for (row, of) in test.people.iter().enumerate() {
            found["people"][row]["person"] = json!(self.0.rater_data.people.get(of.person));
        }
        found
    }

    /// The results of the alternative annotator test, or why there are none.
    fn alt_test_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, found) in &self.0.alt_tests {
            let name = sanitize::line(&self.0.rater_data.judges[*at].1.name);
            match found {
                Ok(test) => lines.push(format!("{name}, alt-test: {}", test.words())),
                Err(few) if self.0.people_with_each_other.is_some() => {
                    lines.push(format!("{name}, alt-test: {}", few.words()));
                }
                Err(_) => {}
            }
        }
        lines
    }

    /// How the judges compare with a person, and people with themselves.
    fn ceiling_words(&self) -> String {
        let mut lines: Vec<String> = self
            .0
            .rater_data
            .judges
            .iter()
            .enumerate()
            .filter_map(|(at, (_, spec))| {
                let card = self.0.cards.iter().find(|card| card.judge == Some(at));
                let gap = card?.gap?;
                Some(format!(
                    "{}: {}",
                    sanitize::line(&spec.name),
                    gap.sentence()
                ))
            })
            .collect();
        lines.extend(self.alt_test_lines());
        let ensemble = self.0.ensemble.as_ref().and_then(|card| card.gap);
        lines.extend(ensemble.map(|gap| format!("ensemble: {}", gap.sentence())));
        let repeats = self.0.people_with_themselves;
        lines.extend(repeats.map(|share| {
            format!(
                "people repeat their verdict on {:.0} % of {} ({:.0}–{:.0})",
                100.0 * share.value,
                counted(share.n, "repeated pair"),
                100.0 * share.interval.low,
                100.0 * share.interval.high
            )
        }));
        if lines.is_empty() {
            return String::new();
        }
        let lines = lines.join("\n");
        format!("compared with a person, leaving one person out at a time:\n{lines}\n\n")
    }

    /// The effective number of independent judges, and which judge to add or to drop.
    fn independence_words(&self) -> String {
        let Some(panel) = &self.0.independence else {
            return String::new();
        };
        let mut lines = vec![panel.sentence()];
        lines.extend(panel.advice());
        format!("{}\n\n", lines.join("\n"))
    }

    /// The judges' agreement with people's verdicts after the reveal, if it differs.
    fn revealed_words(&self) -> String {
        let data = &self.0.rater_data;
        let mut text = String::new();
        let changed = self.0.changed_since_reveal();
        if changed > 0 {
            let cards = self.0.cards.iter().chain(&self.0.ensemble);
            let share = |card: &JudgeReport| {
                let name = match card.judge {
                    Some(at) => clean(&data.judges[at].1.name),
                    None => "ensemble".to_owned(),
                };
                let raw = card.people.revealed.raw?;
                let range = interval(Some(raw.interval), 100.0, 0);
                Some(format!("{name} {:.0} % ({range})", 100.0 * raw.value))
            };
            let shares: Vec<String> = cards.filter_map(share).collect();
            text.push_str(&format!(
                "{changed} of {} changed after the votes were shown; raw agreement with the \
                 present verdicts: {}\n",
                counted(data.verdicts.len(), "verdict"),
                shares.join(", ")
            ));
        }
        if data.never_blind > 0 {
            text.push_str(&format!(
                "{} of {} not given blind: they count as they are\n",
                count(data.never_blind),
                match data.verdicts.len() {
                    1 => "1 verdict was".to_owned(),
                    all => format!("{} verdicts were", count(all)),
                }
            ));
        }
        text
    }
}

fn row(name: &str, card: Option<&JudgeReport>, calls: Option<&JudgeCalls>) -> Vec<String> {
    let percent = |share: Share| format!("{:.0} %", 100.0 * share.value);
    let share = |share: Option<(f64, Interval)>| {
        or_dash(share, |(value, range)| {
            let range = interval(Some(range), 100.0, 0);
            format!("{:.0} % ({range})", 100.0 * value)
        })
    };
    let people = card.map(|card| card.people.all);
    let (raw, corrected) = (
        people.and_then(|all| all.raw),
        people.and_then(|all| all.corrected),
    );
    let flips = card.and_then(|card| card.flips.as_ref());
    vec![
        clean(name),
        or_dash(card.and_then(|card| card.position.as_ref()), |position| {
            let range = position.first_interval().map_or(String::new(), |range| {
                format!(" ({})", interval(Some(range), 100.0, 0))
            });
            format!("{:.0} %{range}", 100.0 * position.first_share())
        }),
        share(flips.map(|flips| (flips.changed.value, flips.changed.interval))),
        card.map_or(0, |card| card.votes).to_string(),
        or_dash(card.and_then(|card| card.ties), percent),
        or_dash(calls, |calls| {
            calls.failures.values().sum::<usize>().to_string()
        }),
        or_dash(card.and_then(|card| card.people.blind), |blind| {
            if blind.n < ENOUGH_PAIRS {
                format!("{} of {}", blind.part, count(blind.n))
            } else {
                let range = interval(Some(blind.interval), 100.0, 0);
                format!("{:.0} % ({range})", 100.0 * blind.value)
            }
        }),
        share(raw.map(|raw| (raw.value, raw.interval))),
        share(corrected.map(|corrected| (corrected.value, corrected.interval))),
        or_dash(card.filter(|card| card.triads.all > 0), |card| {
            format!("{}/{}", card.triads.cyclic, card.triads.all)
        }),
        or_dash(card.and_then(|card| card.length.longer), percent),
        or_dash(
            calls.and_then(|calls| calls.latency_p50_ms),
            |ms| match ms {
                ..0.5 => "<1 ms".to_owned(),
                _ => format!("{ms:.0} ms"),
            },
        ),
        or_dash(calls.and_then(|calls| calls.usd_per_1000), |usd| {
            format!("{usd:.2}")
        }),
    ]
}

/// What a judge's numbers are based on.
pub(crate) fn basis(basis: ParameterBasis) -> &'static str {
    match basis {
        ParameterBasis::Fitted => "fitted",
        ParameterBasis::TooFewVotes => "too few votes: assumed equal",
        ParameterBasis::NoMaximum => "no maximum: assumed equal",
    }
}

/// The ends of an interval that may extend below zero: `−0.05 to 0.21`.
fn range(interval: Option<Interval>, scale: f64, digits: usize) -> String {
    or_dash(interval, |interval| {
        let end = |value: f64| fixed(scale * value, digits);
        format!("{} to {}", end(interval.low), end(interval.high))
    })
}

/// The ends of an interval of shares: `50–63`.
fn interval(interval: Option<Interval>, scale: f64, digits: usize) -> String {
    or_dash(interval, |interval| {
        format!(
            "{:.digits$}–{:.digits$}",
            scale * interval.low,
            scale * interval.high
        )
    })
}
