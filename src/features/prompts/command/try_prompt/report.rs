//! The result of a trial as text and as JSON.

use crate::app::text_format::counted;
use crate::cli::output::{self, clean, or_dash};
use crate::domain::agreement::{Interval, SurveyShare};
use crate::domain::number_words::{fixed, signed, usd};
use crate::domain::spend::Spend;
use crate::domain::verdict::ErrorCause;
use crate::domain::vote::{Margin, Outcome};
use crate::features::prompts::app::trial::{
    HeldOutLooks, JudgeFigures, LOOKS_BEFORE_FRESH_PAIRS, TrialReading, TriedPair,
};
use crate::features::prompts::command::set::{Names, outcome_name};
use crate::features::prompts::domain::{PairChange, p_words};
use serde_json::{Value, json};

pub(super) struct TrialReport<'a> {
    pub(super) reading: &'a TrialReading,
    /// The spending of this command.
    pub(super) spend: Spend,
    pub(super) names: &'a Names,
}

impl TrialReport<'_> {
    pub(super) fn json(&self) -> Value {
        let TrialReading {
            trial,
            result,
            looks,
        } = self.reading;
        let examples = trial.examples.iter().map(|of| {
            json!({
                "query": of.query, "low": of.pair.low(), "high": of.pair.high(),
                "overruled": of.is_overruled,
            })
        });
        let pairs = result.pairs.iter().map(|pair| self.pair_json(pair));
        json!({
            "judge": trial.request.judge,
            "model": trial.judge.judge.spec().model,
            "old_prompt": trial.old.1.prompt_hash,
            "old_model": trial.old.1.model,
            "prompt": trial.prompt.hash,
            "part": trial.request.part,
            "set": trial.request.pairs,
            "sentence": self.reading.sentence(),
            "result": self.comparison_json(),
            "old": result.old,
            "new": result.new,
            "missing_answers": result.missing,
            "unreadable_answers": result.unreadable,
            "left_out": trial.left_out,
            "examples": examples.collect::<Vec<_>>(),
            "examples_of": trial.request.examples_of,
            "pairs": pairs.collect::<Vec<_>>(),
            "looks": looks,
            "cost_usd": result.cost_usd,
            "spent_usd": self.spend.told_usd(),
        })
    }

    fn pair_json(&self, pair: &TriedPair) -> Value {
        let [a, b] = self.names.of(pair.query, &pair.decided);
        json!({
            "query": pair.decided.query,
            "a": a,
            "b": b,
            "change": pair.change,
            "people": outcome_name(pair.decided.people),
            "old_margin": pair.old.margin,
            "new_margin": pair.new_margin,
            "inclusion": pair.decided.inclusion,
            "gold": pair.decided.is_gold,
            "cause": pair.decided.cause,
            "note": pair.decided.note,
        })
    }

    /// The comparison, without a p-value and a conclusion if there is no test.
    fn comparison_json(&self) -> Value {
        let mut found = json!(self.reading.comparison());
        if !self.reading.is_test() {
            for name in ["mcnemar_p", "query_p", "conclusion", "expected_verdicts"] {
                found[name] = Value::Null;
            }
        }
        found
    }

    pub(super) fn text(&self) -> String {
        let found = &self.reading.result.comparison;
        let mut text = format!("{}\n\n", self.reading.sentence());
        let table = [
            vec![
                "old right".to_owned(),
                found.both_right.to_string(),
                found.broken.to_string(),
            ],
            vec![
                "old wrong".to_owned(),
                found.fixed.to_string(),
                found.both_wrong.to_string(),
            ],
        ];
        text += &output::table(&["", ">new right", ">new wrong"], &table);
        if let Some(p) = found.query_p.filter(|_| self.reading.is_test()) {
            text += &format!(
                "some queries have several pairs; randomization test over queries: p = {}\n",
                p_words(p)
            );
        }
        text += "\n";
        text += &output::table(&["", ">old", ">new"], &self.figures());
        text += &self.difference();
        text += &self.causes();
        text += &self.changed();
        text + &self.remarks()
    }

    fn figures(&self) -> Vec<Vec<String>> {
        let (old, new) = (&self.reading.result.old, &self.reading.result.new);
        let found = &self.reading.result.comparison;
        let both = |name: &str, of: &dyn Fn(&JudgeFigures) -> String| {
            vec![name.to_owned(), of(old), of(new)]
        };
        vec![
            vec![
                agreement_name(&found.old),
                agreement(&found.old),
                agreement(&found.new),
            ],
            both("flips when swapped", &|of| {
                or_dash(of.order, |order| {
                    let share = or_dash(order.flips, |share| percent(share.value));
                    format!("{share} of {}", order.pairs)
                })
            }),
            both("lean to the first document", &|of| {
                or_dash(of.order, |order| signed(order.lean, 2))
            }),
            both("ties", &|of| or_dash(of.ties, percent)),
            both("failed or unreadable", &|of| or_dash(of.invalid, percent)),
            both("tokens per call", &|of| {
                or_dash(of.tokens_per_call, |tokens| fixed(tokens, 0))
            }),
            both("cost of 1,000 votes", &|of| or_dash(of.usd_per_1000, usd)),
        ]
    }

    fn difference(&self) -> String {
        let Some(difference) = self.reading.result.comparison.difference else {
            return String::new();
        };
        let interval = or_dash(difference.interval, |of| {
            format!("{} to {}", signed(of.low, 2), signed(of.high, 2))
        });
        format!(
            "change of agreement with people: {} (95 % over queries: {interval})\n",
            signed(difference.value, 2)
        )
    }

    fn causes(&self) -> String {
        let causes = &self.reading.result.comparison.causes;
        if !causes.iter().any(|of| of.cause.is_some()) {
            return String::new();
        }
        let rows: Vec<Vec<String>> = causes
            .iter()
            .map(|of| {
                vec![
                    or_dash(of.cause.map(ErrorCause::words), str::to_owned),
                    of.fixed.to_string(),
                    of.still_wrong.to_string(),
                ]
            })
            .collect();
        let header = ["cause of the overrule", ">fixed", ">still wrong"];
        format!("\n{}", output::table(&header, &rows))
    }

    fn changed(&self) -> String {
        let is_changed =
            |pair: &&TriedPair| matches!(pair.change, PairChange::Fixed | PairChange::Broken);
        let rows: Vec<Vec<String>> = self
            .reading
            .result
            .pairs
            .iter()
            .filter(is_changed)
            .map(|pair| self.changed_row(pair))
            .collect();
        if rows.is_empty() {
            return String::new();
        }
        let header = ["change", "query", "a", "b", "people", "old", "new", "note"];
        format!("\n{}", output::table(&header, &rows))
    }

    fn changed_row(&self, pair: &TriedPair) -> Vec<String> {
        let [a, b] = self.names.of(pair.query, &pair.decided);
        let answer = |margin: Margin| match margin.outcome() {
            Outcome::Tie => "tie".to_owned(),
            side => format!("{} {}", outcome_name(side), fixed(margin.get().abs(), 2)),
        };
        vec![
            pair.change.words().to_owned(),
            clean(pair.decided.query.as_str()),
            clean(&a),
            clean(&b),
            outcome_name(pair.decided.people).to_owned(),
            answer(pair.old.margin),
            or_dash(Margin::new(pair.new_margin), answer),
            or_dash(pair.decided.note.as_deref(), clean),
        ]
    }

    fn remarks(&self) -> String {
        let (left_out, result) = (&self.reading.trial.left_out, &self.reading.result);
        let mut lines = Vec::new();
        for (count, why) in [
            (left_out.without_vote, "the judge has not voted on"),
            (left_out.in_prompt, "whose query or texts are in the prompt"),
            (left_out.in_held_out, "with a text of the held-out part"),
        ] {
            if count > 0 {
                lines.push(format!("left out: {} {why}", counted(count, "pair")));
            }
        }
        if result.unreadable > 0 {
            lines.push(format!(
                "{} cannot be read and count as no vote: --retry-failed asks again",
                counted(result.unreadable, "answer")
            ));
        }
        for of in &self.reading.trial.examples {
            lines.push(format!(
                "example in the prompt: {}, documents {} and {}",
                clean(of.query.as_str()),
                of.pair.low() + 1,
                of.pair.high() + 1
            ));
        }
        if let Some(looks) = self.reading.looks {
            lines.push(look_words(looks));
        }
        lines.push(format!(
            "prompt {}; the answers cost {}, of which this command spent {}",
            self.reading.trial.prompt.hash,
            or_dash(result.cost_usd, usd),
            self.spend.words()
        ));
        format!("\n{}\n", lines.join("\n"))
    }
}

fn look_words(looks: HeldOutLooks) -> String {
    let look = if looks.is_new {
        format!("this is look {} at the held-out part", looks.looks)
    } else {
        format!(
            "this result was recorded before; {} at the held-out part so far",
            counted(looks.looks, "look")
        )
    };
    let corrected = format!(
        "with Holm's correction over {}: p = {}",
        counted(looks.versions, "version"),
        p_words(looks.holm_p)
    );
    let fresh = if looks.looks >= LOOKS_BEFORE_FRESH_PAIRS {
        "; judge fresh pairs before the next one: after ten looks, the held-out part no longer \
         tests a prompt independently"
    } else {
        ""
    };
    format!("{look}; {corrected}{fresh}")
}

/// Whether the agreement is weighted.
fn is_weighted(share: &SurveyShare) -> bool {
    share.without_probability == 0 && share.corrected.is_some()
}

fn agreement_name(share: &SurveyShare) -> String {
    let how = if is_weighted(share) {
        "weighted"
    } else {
        "not weighted"
    };
    format!("agreement with people, {how}")
}

fn agreement(share: &SurveyShare) -> String {
    let with = |value: f64, of: Interval| {
        format!(
            "{} ({:.0}–{:.0})",
            percent(value),
            100.0 * of.low,
            100.0 * of.high
        )
    };
    let weighted = share.corrected.filter(|_| is_weighted(share));
    match weighted {
        Some(of) => with(of.value, of.interval),
        None => or_dash(share.raw, |of| with(of.value, of.interval)),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
