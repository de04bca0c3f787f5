//! The effective number of independent judges of a project, its price, and which judge to add or to
//! drop.

use super::rater_data::{JudgedQueries, RaterData};
use crate::domain::agreement::Interval;
use crate::domain::judge_report::{
    IndependenceUnknown, JudgePanel, PairErrors, PanelChange, Rating, judge_panel, pair_errors,
};
use crate::domain::number_words::{counted, fixed, signed, usd};
use crate::domain::sanitize;
use crate::domain::vote::JudgeId;
use crate::judge::JudgeSpec;
use crate::store::judge_calls::JudgeCalls;
use crate::store::stale_votes::is_earlier;
use crate::store::{Result, Store};
use std::collections::BTreeSet;

/// A judge whose votes are counted, or whose votes are stored but do not count.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelJudge {
    pub spec: JudgeSpec,
    /// US dollars per thousand votes, if the price is known.
    pub usd_per_1000: Option<f64>,
}

/// The judges of a project as independent votes.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelReport {
    /// The judges whose votes count, and then those whose votes do not count now.
    pub judges: Vec<PanelJudge>,
    /// Indices of the judges whose votes count.
    pub members: Vec<usize>,
    pub panel: std::result::Result<JudgePanel, IndependenceUnknown>,
}

/// The errors of the project's judges on pairs that were not selected by their votes. `None` for
/// fewer than two judges.
///
/// `ratings` are the votes that count on pairs that people judged, and `calls` those of the judges
/// in the rater data.
pub(super) fn panel_report(
    store: &Store,
    judged: &JudgedQueries,
    data: &RaterData,
    mut ratings: Vec<Rating>,
    calls: &[JudgeCalls],
) -> Result<Option<PanelReport>> {
    let of_members = data.judges.iter().zip(calls);
    let mut judges: Vec<PanelJudge> = of_members
        .map(|((_, spec), calls)| PanelJudge {
            spec: spec.clone(),
            usd_per_1000: calls.usd_per_1000,
        })
        .collect();
    let count = judges.len();
    if count < 2 {
        return Ok(None);
    }
    let pairs = data.unselected_pairs(&ratings);
    let queries: BTreeSet<usize> = pairs.iter().map(|(query, _)| *query).collect();
    let keys: Vec<_> = queries
        .into_iter()
        .filter_map(|place| Some((place, judged.queries.get(place)?.0)))
        .collect();
    let counting: BTreeSet<JudgeId> = data.judges.iter().map(|(id, _)| *id).collect();
    let set_aside = store.read_blocking(move |db| {
        let mut found = Vec::new();
        for (id, spec) in db.all_judges()? {
            // Earlier versions of a judge cannot be chosen again.
            if counting.contains(&id) || is_earlier(&spec) {
                continue;
            }
            let mut votes = Vec::new();
            for (place, key) in &keys {
                let own = db.margins_of(*key, id)?;
                votes.extend(own.into_iter().map(|vote| (*place, vote)));
            }
            if !votes.is_empty() {
                found.push((spec, db.calls_of(id)?.usd_per_1000, votes));
            }
        }
        Ok(found)
    })?;
    for (spec, usd_per_1000, votes) in set_aside {
        let judge = judges.len();
        ratings.extend(votes.into_iter().map(|(query, (a, b, margin))| Rating {
            query,
            // Errors are computed per pair.
            battle: 0,
            a,
            b,
            judge,
            margin,
            swapped: false,
            length_a: 0,
            length_b: 0,
            gap: None,
        }));
        judges.push(PanelJudge { spec, usd_per_1000 });
    }
    let errors = pair_errors(&ratings, &data.verdicts, &pairs, judges.len());
    Ok(Some(PanelReport::of(judges, count, &errors)))
}

impl PanelReport {
    /// The report on the first `counting` judges, with the others as candidates.
    fn of(judges: Vec<PanelJudge>, counting: usize, errors: &[PairErrors]) -> Self {
        let members: Vec<usize> = (0..counting).collect();
        let candidates: Vec<usize> = (counting..judges.len()).collect();
        let prices: Vec<Option<f64>> = judges.iter().map(|of| of.usd_per_1000).collect();
        Self {
            panel: judge_panel(errors, &members, &candidates, &prices),
            judges,
            members,
        }
    }

    /// US dollars for a thousand votes of each of the judges whose votes count.
    pub fn usd_per_1000_battles(&self) -> Option<f64> {
        let prices = self.members.iter().map(|at| self.judges[*at].usd_per_1000);
        prices.sum()
    }

    /// US dollars per thousand independent votes, with the interval.
    pub fn usd_per_1000_independent(&self) -> Option<(f64, Option<Interval>)> {
        let (usd, votes) = (
            self.usd_per_1000_battles()?,
            self.panel.as_ref().ok()?.together,
        );
        let interval = votes.interval.map(|of| Interval {
            low: usd / of.high,
            high: usd / of.low,
        });
        Some((usd / votes.value, interval))
    }

    pub fn name(&self, judge: usize) -> &str {
        self.judges.get(judge).map_or("", |of| &of.spec.name)
    }

    /// The name, followed by `@` and the model or the prompt if other judges have the same name.
    pub fn full_name(&self, judge: usize) -> String {
        let name = sanitize::line(self.name(judge)).into_owned();
        let Some(spec) = self.judges.get(judge).map(|of| &of.spec) else {
            return name;
        };
        let others = self
            .judges
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != judge);
        let alike: Vec<&JudgeSpec> = others
            .map(|(_, of)| &of.spec)
            .filter(|of| of.name == spec.name)
            .collect();
        let (model, prompt) = (
            sanitize::line(&spec.model),
            sanitize::line(&spec.prompt_hash),
        );
        if alike.is_empty() {
            name
        } else if alike.iter().all(|of| of.model != spec.model) {
            format!("{name}@{model}")
        } else if alike.iter().all(|of| of.prompt_hash != spec.prompt_hash) {
            format!("{name}@{prompt}")
        } else {
            format!("{name}@{model} with prompt {prompt}")
        }
    }

    /// The change by the judge that is best dropped.
    pub fn drop(&self) -> Option<&PanelChange> {
        let panel = self.panel.as_ref().ok()?;
        panel.without.iter().find(|of| Some(of.judge) == panel.drop)
    }

    /// The change by the judge that is best added.
    pub fn add(&self) -> Option<&PanelChange> {
        let panel = self.panel.as_ref().ok()?;
        panel.with.iter().find(|of| Some(of.judge) == panel.add)
    }

    /// The number of independent votes and its price, in one sentence.
    pub fn sentence(&self) -> String {
        let panel = match &self.panel {
            Ok(panel) => panel,
            Err(unknown) => {
                return format!(
                    "not enough to tell how many independent judges {} count as: {}.",
                    counted(self.members.len(), "judge"),
                    unknown.words(|judge| self.full_name(judge))
                );
            }
        };
        let price = self
            .usd_per_1000_independent()
            .filter(|(usd, _)| *usd > 0.0);
        let price = price.map_or(String::new(), |(price, interval)| {
            let interval = interval.map_or(String::new(), |of| {
                format!(" ({}–{})", usd(of.low), usd(of.high))
            });
            format!("; {}{interval} per 1,000 independent votes", usd(price))
        });
        format!(
            "{}, by their errors on {} of {}{price}.",
            panel.together.words(),
            counted(panel.together.pairs, "pair"),
            counted(panel.together.queries, "query"),
        )
    }

    /// Which judge to drop and which to add.
    pub fn advice(&self) -> Vec<String> {
        let Ok(panel) = &self.panel else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        let with_people = |change: &PanelChange| {
            format!(
                "agree with people in {:.0} % of their votes instead of {:.0} %",
                100.0 * change.after.agreement,
                100.0 * change.before.agreement
            )
        };
        if let Some(change) = self.drop() {
            let saved = self
                .usd_per_1000_battles()
                .filter(|all| *all > 0.0)
                .and_then(|all| {
                    let own = self.judges[change.judge].usd_per_1000?;
                    Some(format!(", and cost {:.0} % less", 100.0 * own / all))
                });
            lines.push(format!(
                "If you drop a judge, drop {}: it adds {} independent votes{}. The others count as {} and {}{}.",
                self.full_name(change.judge),
                fixed(change.adds, 2),
                votes_interval(change),
                fixed(change.after.value, 2),
                with_people(change),
                saved.unwrap_or_default(),
            ));
        } else if !panel.without.is_empty() {
            lines.push("Which judge to drop: not enough to tell.".to_owned());
        }
        if let Some(change) = self.add() {
            let price = self.judges[change.judge].usd_per_1000;
            let price = price
                .filter(|usd| *usd > 0.0)
                .map(|price| format!(", for {} per 1,000 votes", usd(price)));
            lines.push(format!(
                "If you add a judge, add {}, whose votes do not count now: it adds {} independent votes{}{}. With \
                 it, the judges {}.",
                self.full_name(change.judge),
                fixed(change.adds, 2),
                votes_interval(change),
                price.unwrap_or_default(),
                with_people(change),
            ));
        } else if !panel.with.is_empty() {
            lines.push(format!(
                "Which of {} to add, whose votes do not count now: not enough to tell.",
                counted(panel.with.len(), "judge")
            ));
        }
        lines
    }

    /// What each judge adds, one per line: `gpt  +0.08 (+0.05 to +0.12)`.
    pub fn contributions(&self) -> Vec<(String, String)> {
        let Ok(panel) = &self.panel else {
            return Vec::new();
        };
        let line = |change: &PanelChange, what: &str| {
            let name = self.full_name(change.judge);
            let votes = signed(change.adds, 2);
            (
                name,
                format!("{what} {votes} independent votes{}", votes_interval(change)),
            )
        };
        let own = panel.without.iter().map(|of| line(of, "adds"));
        let others = panel.with.iter().map(|of| line(of, "would add"));
        own.chain(others).collect()
    }
}

/// ` (+0.05 to +0.12)`, if there is an interval.
fn votes_interval(change: &PanelChange) -> String {
    change.interval.map_or(String::new(), |of| {
        format!(" ({} to {})", signed(of.low, 2), signed(of.high, 2))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(judges: &[[&str; 3]]) -> PanelReport {
        let judge = |[name, model, prompt]: &[&str; 3]| PanelJudge {
            spec: JudgeSpec {
                name: (*name).to_owned(),
                provider: "openai".to_owned(),
                model: (*model).to_owned(),
                prompt_hash: (*prompt).to_owned(),
                params: String::new(),
            },
            usd_per_1000: None,
        };
        PanelReport::of(judges.iter().map(judge).collect(), 1, &[])
    }

    #[test]
    fn judges_of_the_same_name_are_told_apart_by_model_and_prompt() {
        let names = |report: &PanelReport| -> Vec<String> {
            (0..report.judges.len())
                .map(|at| report.full_name(at))
                .collect()
        };
        let apart = report(&[
            ["gpt", "5", "aa"],
            ["gpt", "4", "aa"],
            ["claude", "4", "aa"],
        ]);
        assert_eq!(names(&apart), ["gpt@5", "gpt@4", "claude"]);
        let prompts = report(&[["gpt", "5", "aa"], ["gpt", "5", "bb"]]);
        assert_eq!(names(&prompts), ["gpt@aa", "gpt@bb"]);
        let both = report(&[["gpt", "5", "aa"], ["gpt", "5", "bb"], ["gpt", "4", "aa"]]);
        assert_eq!(names(&both), ["gpt@5 with prompt aa", "gpt@bb", "gpt@4"]);
    }
}
