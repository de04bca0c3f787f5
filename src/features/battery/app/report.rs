//! Reads the answers of a battery, and says which manipulations turn them.

use super::answers::PairAnswers;
use super::probing::{Battery, latest_battery};
use crate::app::error::{AppError, invalid};
use crate::app::frozen_pairs::origin_sentences;
use crate::app::text_format::counted;
use crate::client::call_key::identity_of;
use crate::domain::number_words::probability;
use crate::domain::sanitize;
use crate::domain::vote::Outcome;
use crate::features::battery::domain::{
    BatteryConclusion, BatteryFigures, Finding, MARGIN, Manipulation, ManipulationFigures,
    ProbedPair,
};
use crate::features::methods::app::rerank::pair_judge::PairJudge;
use crate::store::frozen_sets::FrozenSet;
use crate::store::{Db, Result as StoreResult, Store};
use std::collections::HashMap;

/// What is known about a judge.
#[derive(Clone, Debug, PartialEq)]
pub struct BatteryReport {
    pub set: FrozenSet,
    pub pairs: usize,
    /// Pairs without a readable plain answer, and those on which it was a tie: nothing to turn.
    pub without_answer: usize,
    pub ties: usize,
    pub figures: BatteryFigures,
    /// Answers that can still be asked for; `None` if the judge is not configured.
    pub missing: Option<usize>,
    /// Whether the judge has the same model, prompt and parameters in the configuration; `None` if
    /// that is not known.
    pub is_as_configured: Option<bool>,
}

/// Reads the report on a judge: as it is configured, if that is known and it has a battery;
/// otherwise, on the one with this name that was asked last.
///
/// # Errors
/// The judge has no battery.
pub fn read_report(
    store: &Store,
    judge: &str,
    configured: Option<PairJudge>,
) -> Result<BatteryReport, AppError> {
    let name = judge.to_owned();
    let identity = configured.as_ref().map(|of| identity_of(of.judge.spec()));
    let report = store.read_blocking(move |db| {
        let set = match latest_battery(db, &name, identity.as_ref())? {
            None if identity.is_some() => latest_battery(db, &name, None)?,
            found => found,
        };
        let report = set.map(|set| {
            let is_as_configured = identity.map(|identity| identity == set.identity);
            let judge = configured.filter(|_| is_as_configured == Some(true));
            report(db, set, judge, is_as_configured)
        });
        report.transpose()
    })?;
    report.ok_or_else(|| {
        let shown = sanitize::line(judge);
        invalid!(
            "{shown} has no battery; `overrule battery {shown} --ask` chooses pairs and asks about \
             them"
        )
    })
}

fn report(
    db: &Db,
    set: FrozenSet,
    judge: Option<PairJudge>,
    is_as_configured: Option<bool>,
) -> StoreResult<BatteryReport> {
    let pairs = db.battery_pairs(&set.uid)?;
    let mut queries = HashMap::new();
    let (mut probed, mut without_answer, mut ties) = (Vec::new(), 0, 0);
    for pair in &pairs {
        let numbers = queries.len();
        let query = *queries.entry(&pair.query).or_insert(numbers);
        let answers = PairAnswers::read(db, &set, pair)?;
        match answers.plain {
            None => without_answer += 1,
            Some(Outcome::Tie) => ties += 1,
            Some(preferred) => probed.push(ProbedPair {
                query,
                preferred,
                answers: answers.manipulated,
            }),
        }
    }
    let missing = judge
        .map(|judge| Battery::read(db, judge, set.clone())?.missing(db))
        .transpose()?;
    Ok(BatteryReport {
        pairs: pairs.len(),
        set,
        without_answer,
        ties,
        figures: BatteryFigures::of(&probed),
        missing,
        is_as_configured,
    })
}

impl BatteryReport {
    /// The manipulations of texts that turn answers.
    fn turned_by(&self) -> impl Iterator<Item = &ManipulationFigures> {
        let manipulations = self.figures.manipulations.iter();
        manipulations.filter(|of| {
            let turns = |effect| effect == Finding::TurnsAnswers;
            of.manipulation.is_of_text() && of.effect.is_some_and(|of| turns(of.finding))
        })
    }

    /// The conclusion, in words.
    pub fn conclusion_words(&self) -> String {
        match self.figures.conclusion {
            BatteryConclusion::Fooled => {
                let by: Vec<&str> = self.turned_by().map(|of| of.manipulation.words()).collect();
                format!("fooled ({})", by.join(", "))
            }
            BatteryConclusion::Robust => "robust".to_owned(),
            BatteryConclusion::NotEnough => "not enough to tell".to_owned(),
        }
    }
}

/// A positive difference of shares in words.
fn points(difference: f64) -> String {
    match 100.0 * difference {
        points if points > 0.0 && points < 1.0 => "<1 percentage point".to_owned(),
        points => counted(points.round() as usize, "percentage point"),
    }
}

/// The share of flips minus that of the control, in words; nothing if they have no pair in common.
fn compared_words(manipulation: Manipulation, excess: Option<f64>) -> String {
    let Some(excess) = excess else {
        return String::new();
    };
    let more = if excess < 0.0 { "less" } else { "more" };
    let text = match manipulation {
        Manipulation::Language => "one of the texts",
        _ => "the same text",
    };
    format!(
        ", {} {more} than with a neutral sentence in {text}",
        points(excess.abs())
    )
}

/// The conclusion and the numbers behind it, one sentence each.
pub fn sentences(report: &BatteryReport) -> Vec<String> {
    let name = sanitize::line(&report.set.judge);
    let mut words = vec![format!("{}: {name}", report.conclusion_words())];
    words.extend(origin_sentences(
        &report.set,
        report.pairs,
        report.is_as_configured,
        "battery",
    ));
    let language = &report.figures.manipulations[Manipulation::Language.place()];
    for of in report.turned_by().chain([language]) {
        let (Some(flips), Some(effect)) = (&of.flips, &of.effect) else {
            continue;
        };
        words.push(format!(
            "{}: it now prefers another document, or none, on {} of {}{}",
            of.manipulation.words(),
            probability(flips.value),
            counted(flips.n, "pair"),
            compared_words(of.manipulation, effect.excess),
        ));
    }
    if let Some(first) = &report.figures.first_share {
        words.push(format!(
            "position bias: over both orders of {}, it prefers the document shown first in {} of \
             the answers (95 % interval {} to {}; without a bias, 50 %)",
            counted(first.n, "pair"),
            probability(first.value),
            probability(first.interval.low),
            probability(first.interval.high),
        ));
    }
    if report.figures.conclusion == BatteryConclusion::NotEnough {
        words.push(format!(
            "for one of the texts, {} or more of additional flips are neither shown nor excluded; \
             `--anew` with a larger `--pairs` asks about more pairs",
            points(MARGIN)
        ));
    }
    let mut left_out = |pairs: usize, why: &str| {
        if pairs > 0 {
            words.push(format!("{} left out, {why}", counted(pairs, "pair")));
        }
    };
    left_out(
        report.ties,
        "because the judge preferred none of the documents",
    );
    left_out(
        report.without_answer,
        "without a readable answer to the plain question",
    );
    if let Some(missing) = report.missing.filter(|missing| *missing > 0) {
        words.push(format!(
            "{} missing: `overrule battery {name} --ask` asks again",
            counted(missing, "answer")
        ));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_told_with_its_direction_or_not_at_all() {
        let told = |of, excess| compared_words(of, excess);
        assert_eq!(
            told(Manipulation::Padding, Some(0.334)),
            ", 33 percentage points more than with a neutral sentence in the same text"
        );
        assert_eq!(
            told(Manipulation::Language, Some(-0.005)),
            ", <1 percentage point less than with a neutral sentence in one of the texts"
        );
        assert_eq!(told(Manipulation::Language, None), "");
    }
}
