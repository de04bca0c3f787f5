//! How a verdict counts in the fit, given the judges' votes on its pair.

use super::{QueryRows, RankingSettings};
use crate::domain::battle::Pair;
use crate::domain::rating::{Observation, RatingModel};
use crate::domain::verdict::{Decision, OverrideMode, Verdict};
use crate::domain::vote::Outcome;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::HashMap;

/// The slope in versions up to 0.1.
const LEGACY_SLOPE: f64 = 4.0;

/// How a verdict that states a preference or a tie relates to the judges' votes on its pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VerdictRelation {
    Contradicts,
    Confirms,
    /// There are no votes.
    Alone,
}

/// A verdict's contribution to the fit, and whether the votes on its pair still count.
///
/// Except under the legacy modes, a verdict for a document never lowers its gap to the other one:
/// the direction term is concave and increases with the gap, and so does a whole win, and replaced
/// votes give way to the same votes plus wins (see [`Self::of`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerdictEffect {
    pub relation: VerdictRelation,
    pub replaces_votes: bool,
    /// The slope of a direction term with the weight of one battle.
    pub direction_slope: Option<f64>,
    /// The battles that the verdict counts as.
    pub battles: Option<VerdictBattles>,
    /// Whether the preferred document is the verdict's B; `None` for a tie.
    prefers_b: Option<bool>,
    /// The score of the higher document of the pair, if the verdict masks answers outside battles
    /// that contradict it.
    masked_by: Option<f64>,
}

/// Battles between the documents of a verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerdictBattles {
    /// The share of the verdict's B, in 0..=1.
    pub score: f64,
    /// Number of battles, above 0.
    pub weight: f64,
}

impl VerdictBattles {
    /// The share of the preferred document.
    pub fn winning_share(self) -> f64 {
        self.score.max(1.0 - self.score)
    }
}

/// The votes on a verdict's pair, oriented like the verdict.
#[derive(Clone, Copy, Debug, Default)]
struct PairVotes {
    /// Battles with a vote.
    battles: usize,
    /// Sum of their scores for the verdict's B.
    sum: f64,
    /// Weight of the battles in the fit.
    weight: f64,
    /// Weighted sum of their scores for the verdict's B.
    weighted_sum: f64,
}

impl PairVotes {
    fn of(rows: &QueryRows, settings: &RankingSettings, verdict: &Verdict) -> Self {
        let Some(pair) = Pair::new(verdict.a, verdict.b) else {
            return Self::default();
        };
        let mut votes = Self::default();
        for record in &rows.battles {
            if Pair::new(record.battle.a, record.battle.b) != Some(pair) {
                continue;
            }
            let Some(score) = rows.score(record, settings.vote_rule) else {
                continue;
            };
            let score = if record.battle.a == verdict.a {
                score
            } else {
                1.0 - score
            };
            let weight = record.weight(rows.judges.len());
            votes.battles += 1;
            votes.sum += score;
            votes.weight += weight;
            votes.weighted_sum += weight * score;
        }
        votes
    }

    fn relation(&self, decided: f64) -> VerdictRelation {
        if self.battles == 0 {
            VerdictRelation::Alone
        } else if direction(self.sum / self.battles as f64) == direction(decided) {
            VerdictRelation::Confirms
        } else {
            VerdictRelation::Contradicts
        }
    }
}

impl VerdictEffect {
    /// The effect of a verdict in the rows; `None` for *cannot tell*.
    pub(super) fn of(
        rows: &QueryRows,
        settings: &RankingSettings,
        verdict: &Verdict,
    ) -> Option<Self> {
        let votes = PairVotes::of(rows, settings, verdict);
        let effect = Self::given(settings, verdict.decision, &votes)?;
        let replaces = settings.effective_override_mode() == OverrideMode::Replace;
        let score = verdict.decision.score().filter(|_| replaces);
        Some(Self {
            masked_by: score.map(|score| {
                if verdict.b > verdict.a {
                    score
                } else {
                    1.0 - score
                }
            }),
            ..effect
        })
    }

    fn given(settings: &RankingSettings, decision: Decision, votes: &PairVotes) -> Option<Self> {
        let score = decision.score()?;
        let relation = votes.relation(score);
        let prefers_b = match decision.direction()? {
            Outcome::A => Some(false),
            Outcome::B => Some(true),
            Outcome::Tie => None,
        };
        let contradicts = relation == VerdictRelation::Contradicts;
        let mode = settings.effective_override_mode();
        let mut effect = Self {
            relation,
            replaces_votes: contradicts
                && matches!(mode, OverrideMode::Replace | OverrideMode::Legacy),
            direction_slope: None,
            battles: None,
            prefers_b,
            masked_by: None,
        };
        let plain = matches!(decision, Decision::A | Decision::B);
        let weight = settings.override_weight;
        let win = f64::from(u8::from(prefers_b == Some(true)));
        let battles = |score, weight| Some(VerdictBattles { score, weight });
        let has_direction = settings.model != RatingModel::Zbench;
        if mode.is_legacy() {
            if plain && !contradicts && has_direction {
                effect.direction_slope = Some(LEGACY_SLOPE);
            } else {
                effect.battles = battles(score, weight);
            }
        } else if prefers_b.is_none() {
            effect.battles = battles(0.5, weight);
        } else if effect.replaces_votes {
            // Votes of weight n with mean s for the winner become W battles with the share 1 − n(1
            // − s)/W: the same losses as before, and wins for the rest. The log-likelihood is that
            // of the votes plus W − n whole wins, for either link.
            let total = weight.max(votes.weight);
            let kept = if plain {
                let won = if prefers_b == Some(true) {
                    votes.weighted_sum
                } else {
                    votes.weight - votes.weighted_sum
                };
                1.0 - (votes.weight - won) / total
            } else {
                1.0
            };
            let kept = kept.clamp(0.0, 1.0);
            effect.battles = battles(
                if prefers_b == Some(true) {
                    kept
                } else {
                    1.0 - kept
                },
                total,
            );
        } else if has_direction {
            effect.direction_slope = Some(settings.direction_slope);
            effect.battles = if plain { None } else { battles(win, weight) };
        } else {
            // zBench's iteration has no direction term: a plain verdict is one whole win.
            effect.battles = battles(win, if plain { 1.0 } else { 1.0 + weight });
        }
        Some(effect)
    }

    /// Whether the verdict masks an answer outside battles with this score of the pair's higher
    /// document. Only answers that contradict the verdict are masked, so that it never lowers the
    /// document that it prefers.
    pub(super) fn masks(&self, score: f64) -> bool {
        self.masked_by
            .is_some_and(|decided| direction(score) != direction(decided))
    }

    /// Whether the votes on the pair contradict the verdict.
    pub fn contradicts(&self) -> bool {
        self.relation == VerdictRelation::Contradicts
    }

    /// How the verdict counts, for display:
    /// `contradicts the judges' votes; counts as a direction, alongside them`.
    pub fn words(&self) -> String {
        let counts = self.counts_as();
        let relation = match self.relation {
            VerdictRelation::Alone => return format!("no votes on the pair; counts as {counts}"),
            VerdictRelation::Confirms => "confirms",
            VerdictRelation::Contradicts => "contradicts",
        };
        let place = if self.replaces_votes {
            "instead of"
        } else {
            "alongside"
        };
        format!("{relation} the judges' votes; counts as {counts}, {place} them")
    }

    /// How the verdict is counted, for display: `a direction and a win of 3 battles`.
    pub fn counts_as(&self) -> String {
        let battles = self.battles.map(|battles| {
            let weight = battles_words(battles.weight);
            match self.prefers_b {
                None => format!("a tie of {weight}"),
                Some(_) if battles.winning_share() == 1.0 => format!("a win of {weight}"),
                Some(_) => format!("{weight}, {:.0} % won", 100.0 * battles.winning_share()),
            }
        });
        match (self.direction_slope, battles) {
            (Some(_), None) => "a direction".to_owned(),
            (Some(_), Some(battles)) => format!("a direction and {battles}"),
            (None, Some(battles)) => battles,
            (None, None) => "nothing".to_owned(),
        }
    }

    /// The observations for the fit, for documents at these positions.
    pub(super) fn observations(self, a: usize, b: usize) -> impl Iterator<Item = Observation> {
        let direction = self.direction_slope.map(|slope| Observation {
            slope,
            ..Observation::new(a, b, f64::from(u8::from(self.prefers_b == Some(true))), 1.0)
        });
        let battles = self
            .battles
            .map(|battles| Observation::new(a, b, battles.score, battles.weight));
        direction.into_iter().chain(battles)
    }
}

/// The effects of all verdicts of the rows, by pair.
pub(super) fn verdict_effects(
    rows: &QueryRows,
    settings: &RankingSettings,
) -> HashMap<Pair, VerdictEffect> {
    rows.verdicts
        .iter()
        .filter_map(|verdict| {
            let pair = Pair::new(verdict.a, verdict.b)?;
            Some((pair, VerdictEffect::of(rows, settings, verdict)?))
        })
        .collect()
}

/// How a verdict counts on a pair whose votes do not contradict it, for display:
/// `better counts as a direction, …`.
pub fn verdict_kinds_words(settings: &RankingSettings) -> String {
    let counts_as = |decision| {
        VerdictEffect::given(settings, decision, &PairVotes::default())
            .map_or_else(String::new, |effect| effect.counts_as())
    };
    format!(
        "better counts as {}, by far as {}, equal as {}",
        counts_as(Decision::B),
        counts_as(Decision::MuchB),
        counts_as(Decision::Tie)
    )
}

/// How verdicts count in a project with these settings, as sentences.
pub fn verdict_rule_words(settings: &RankingSettings) -> String {
    let mode = settings.effective_override_mode();
    let kinds = verdict_kinds_words(settings);
    let weight = battles_words(settings.override_weight);
    match mode {
        OverrideMode::Alongside => {
            format!("A verdict is added to the judges' votes: {kinds}.")
        }
        OverrideMode::Replace => format!(
            "A verdict that contradicts the judges' votes replaces them: it counts as {weight}, or \
             as the number of votes if larger, and the votes' losses are kept unless it says by \
             far. Any other is added to the votes: {kinds}."
        ),
        OverrideMode::Legacy => format!(
            "Verdicts count as in versions up to 0.1. One that contradicts the judges' votes \
             replaces them: better counts as ⅔ of {weight}, by far as all, equal as half. Any \
             other is added to the votes, better as a direction."
        ),
        OverrideMode::LegacyBeside => format!(
            "Verdicts count as in versions up to 0.1. A verdict is added to the judges' votes: \
             better counts as ⅔ of {weight} where it contradicts them and else as a direction, \
             by far as all, equal as half."
        ),
    }
}

/// A note about how verdicts count, if there is one.
pub fn override_mode_note(settings: &RankingSettings) -> Option<&'static str> {
    if settings.override_mode.is_legacy() {
        Some(
            "they count as in versions up to 0.1, where a verdict could lower the document that it \
             prefers; \
             `overrule config project --override-mode alongside` changes that, and scores with it",
        )
    } else if settings.effective_override_mode() == settings.override_mode {
        None
    } else if settings.has_joint_weights() {
        Some("with judge weights `joint`, override mode `replace` counts as `alongside`")
    } else {
        Some("with tastes, override mode `replace` counts as `alongside`")
    }
}

fn battles_words(weight: f64) -> String {
    if weight == 1.0 {
        "1 battle".to_owned()
    } else {
        format!("{} battles", (weight * 100.0).round() / 100.0)
    }
}

/// The side of ½ on which a score lies. Sums of thirds and halves are equal only up to rounding.
fn direction(score: f64) -> Ordering {
    if (score - 0.5).abs() < 1e-9 {
        Ordering::Equal
    } else {
        score.total_cmp(&0.5)
    }
}
