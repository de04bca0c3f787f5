//! Builds the judges' cards from the tallies of the queries.

use super::calibration::calibration;
use super::judge_pairs::{JudgeTables, pairs_of};
use super::length_bias::LengthTally;
use super::people_agreement::{PersonVote, people_agreement, people_gap};
use super::position_flips::{FlipTally, position_flips};
use super::position_shift::{ShiftTally, position_shift};
use super::query_tally::VoteTally;
use super::report::MeanSurprise;
use super::{CardFits, HumanVerdict, JudgePair, JudgeReport, LengthBias, QueryTally, Rating};
use crate::domain::agreement::{Alpha, BattleLabels, LabelTable, Share, battle_alpha};
use std::collections::BTreeMap;

/// Sums over all queries.
#[derive(Clone, Debug, Default)]
pub struct ReportSums {
    judges: BTreeMap<usize, JudgeSums>,
    together: VoteSums,
    tables: JudgeTables,
    units: Vec<BattleLabels>,
    reviewed: Vec<Rating>,
    reviewed_together: Vec<Rating>,
}

/// Sums of votes over all queries, and per query where they are used for shares.
#[derive(Clone, Debug, Default)]
struct VoteSums {
    all: VoteTally,
    /// Ties, and votes.
    ties: Vec<(f64, usize)>,
    length: Vec<LengthTally>,
}

impl VoteSums {
    fn add(&mut self, query: &VoteTally) {
        self.all.join(query);
        self.ties
            .push((f64::from(query.ties), query.votes as usize));
        self.length.push(query.length);
    }
}

/// Sums of one judge's votes, per query where the queries are the sampling unit.
#[derive(Clone, Debug, Default)]
struct JudgeSums {
    votes: VoteSums,
    flips: Vec<FlipTally>,
    shift: Vec<(usize, ShiftTally)>,
}

/// The cards of all judges, of all judges together, and the agreement between judges.
#[derive(Clone, Debug)]
pub struct JudgeCards {
    /// The cards of the judges with votes, in ascending order.
    pub judges: Vec<JudgeReport>,
    /// The card of all judges together, with one vote per battle: the mean over the existing votes
    /// of {0, ½, 1}. Its margin is that mean on the scale −1..=1, so its confidence is the
    /// agreement of the judges.
    pub together: JudgeReport,
    /// All pairs of judges that have voted on a common query.
    pub pairs: Vec<JudgePair>,
    pub alpha: Option<Alpha>,
}

impl ReportSums {
    /// Adds a query.
    pub fn add(&mut self, query: usize, tally: QueryTally) {
        self.reviewed.extend(tally.reviewed(query));
        let together = tally.reviewed_together.iter();
        self.reviewed_together
            .extend(together.map(|vote| vote.rating(query)));
        for (judge, own) in tally.judges {
            let sums = self.judges.entry(judge).or_default();
            sums.votes.add(&own.votes);
            sums.flips.push(own.flips);
            sums.shift.push((query, own.shift));
        }
        self.together.add(&tally.ensemble);
        for table in tally.tables {
            let tables = self.tables.entry(table.judges).or_default();
            let counts = table.counts;
            tables.push(LabelTable { query, counts });
        }
        self.units
            .extend(tally.units.into_iter().map(|(unit, times)| BattleLabels {
                query,
                labels: unit.labels,
                squares: unit.squares,
                raters: unit.raters,
                times: times as usize,
            }));
    }

    /// Builds the cards, given the verdicts that count, each person's blind verdicts and the
    /// results of the regressions.
    pub fn cards(
        self,
        verdicts: &[HumanVerdict],
        people: &[PersonVote],
        fits: &[CardFits],
    ) -> JudgeCards {
        let mut reviewed: BTreeMap<usize, Vec<Rating>> = BTreeMap::new();
        for rating in self.reviewed {
            reviewed.entry(rating.judge).or_default().push(rating);
        }
        let judge = |(judge, sums): (usize, JudgeSums)| {
            let own = reviewed.get(&judge).map_or(&[][..], Vec::as_slice);
            let fits = fits.get(judge).copied().unwrap_or_default();
            JudgeReport {
                judge: Some(judge),
                flips: position_flips(&sums.flips),
                position: position_shift(&sums.shift),
                response: fits.response,
                ..card(&sums.votes, own, verdicts, people, fits)
            }
        };
        let fits_together = fits.last().copied().unwrap_or_default();
        JudgeCards {
            judges: self.judges.into_iter().map(judge).collect(),
            together: card(
                &self.together,
                &self.reviewed_together,
                verdicts,
                people,
                fits_together,
            ),
            pairs: pairs_of(&self.tables),
            alpha: battle_alpha(&self.units),
        }
    }
}

fn card(
    votes: &VoteSums,
    reviewed: &[Rating],
    verdicts: &[HumanVerdict],
    people: &[PersonVote],
    fits: CardFits,
) -> JudgeReport {
    let calibration = || calibration(reviewed, verdicts);
    let sums = &votes.all;
    JudgeReport {
        judge: None,
        votes: sums.votes as usize,
        ties: Share::of_clusters(votes.ties.iter().copied()),
        people: people_agreement(reviewed, verdicts),
        gap: people_gap(reviewed, people),
        calibration: sums.confident.then(calibration).flatten(),
        flips: None,
        position: None,
        response: None,
        length: LengthBias {
            longer: LengthTally::share(&votes.length),
            slope: fits.slope,
        },
        triads: sums.triads,
        surprise: (sums.with_gap > 0).then(|| MeanSurprise {
            bits: sums.nats / f64::from(sums.with_gap) / std::f64::consts::LN_2,
            n: sums.with_gap as usize,
        }),
    }
}
