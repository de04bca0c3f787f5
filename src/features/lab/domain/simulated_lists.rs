//! Simulated judges that order lists, and campaigns of list calls.

use super::{Noise, SimulatedQuery, Theta};
use crate::domain::battle::Pair;
use crate::domain::named::{UnknownName, named};
use crate::domain::numeric::best_first;
use crate::domain::sampling::SeededRng;
use crate::domain::vote::Outcome;
use crate::features::lists::domain::{
    AnswerForm, Block, KindError, ListKind, ListModel, ListPlan, ListRound, PlanState, QueryBlocks,
    fit_blocks,
};
use std::fmt;
use std::str::FromStr;

/// Judges of a simulated ensemble.
const JUDGES: usize = 3;

/// Number of ranks that the plan *top* cares about.
const TOP: usize = 10;

/// Shares of the variance of a reading in the world *taste*: a judge's own taste, and a taste that
/// all judges share.
const OWN_TASTE: f64 = 0.5;
const SHARED_TASTE: f64 = 0.15;

/// Increase of a reading's variance for each document of a list after the second, in long lists.
const PER_DOCUMENT: f64 = 0.15;

/// In long lists, the advantage of the first document over the last, and the disadvantage of the
/// middle, in units of true scores.
const PRIMACY: f64 = 0.3;
const DIP: f64 = 0.3;

named! {
    "a world", "lowercase";
    /// How simulated judges err in lists.
    #[derive(Default)]
    pub enum ListWorld {
        /// As in battles: two documents of a list are as hard to distinguish as in a battle,
        /// however long the list is.
        #[default]
        Plain,
        /// Errors grow with the length of the list, and judges favor its start and neglect its
        /// middle.
        Long,
        /// As plain, but 50 % of the variance is a judge's persistent taste for a document, and 15 %
        /// a taste that all judges share, in battles and lists.
        Taste,
        /// As long, with a judge's persistent taste in addition, in lists only.
        Adverse,
    }
}

impl ListWorld {
    /// The share of the variance of a battle that is drawn anew for each pair.
    fn fresh(self) -> f64 {
        match self {
            Self::Taste => 1.0 - OWN_TASTE - SHARED_TASTE,
            Self::Plain | Self::Long | Self::Adverse => 1.0,
        }
    }

    fn is_long(self) -> bool {
        matches!(self, Self::Long | Self::Adverse)
    }
}

/// A campaign of list calls: the plan, the kind of list and the number of calls per query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListCampaign {
    pub plan: ListPlan,
    pub kind: ListKind,
    pub calls: usize,
}

/// Why a text is not a campaign.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CampaignError {
    #[error(
        "\"{0}\" is not a campaign: expected PLAN:SIZE:CALLS or PLAN:SIZE:CALLS:ANSWER, such as top:5:60"
    )]
    Malformed(String),
    #[error(transparent)]
    Plan(#[from] UnknownName),
    #[error(transparent)]
    Kind(#[from] KindError),
}

impl fmt::Display for ListCampaign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.plan, self.kind.size(), self.calls)?;
        match self.kind.form() {
            AnswerForm::Order => Ok(()),
            form => write!(f, ":{form}"),
        }
    }
}

impl FromStr for ListCampaign {
    type Err = CampaignError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || CampaignError::Malformed(text.to_owned());
        let mut parts = text.splitn(4, ':');
        let mut part = || parts.next().ok_or_else(malformed);
        let (plan, size, calls) = (part()?, part()?, part()?);
        let form = part().unwrap_or("order").parse()?;
        let size = size.parse().map_err(|_| malformed())?;
        Ok(Self {
            plan: plan.parse()?,
            kind: ListKind::new(size, form)?,
            calls: calls.parse().map_err(|_| malformed())?,
        })
    }
}

/// One simulated query whose judges answer battles and lists.
#[derive(Clone, Debug)]
pub struct ListQuery {
    world: ListWorld,
    query: SimulatedQuery,
    /// Standard deviation of the error in the reading of a document.
    error: f64,
    /// By judge, the orders that it favors.
    leanings: Vec<f64>,
}

impl ListQuery {
    /// Query number `index` of an unlimited series.
    pub fn synthetic(
        world: ListWorld,
        theta: Theta,
        documents: usize,
        seed: u64,
        index: usize,
    ) -> Self {
        let mut noise = Noise::standard(JUDGES);
        noise.errors = 0.0;
        let own = noise.judges.first().map_or(0.0, |judge| judge.own);
        let variance = noise.pair.powi(2) + own.powi(2) + noise.call.powi(2);
        let leanings = noise.judges.iter().map(|judge| judge.order).collect();
        let fresh = world.fresh().sqrt();
        noise.pair *= fresh;
        noise.call *= fresh;
        noise.judges.iter_mut().for_each(|judge| judge.own *= fresh);
        Self {
            world,
            query: SimulatedQuery::synthetic(theta, documents, noise, seed, index),
            error: (variance / 2.0).sqrt(),
            leanings,
        }
    }

    pub fn truth(&self) -> &[f64] {
        self.query.truth()
    }

    fn documents(&self) -> usize {
        self.query.truth().len()
    }

    /// What the judge persistently adds to a document: in units of true scores.
    fn taste(&self, seat: usize, document: usize) -> f64 {
        let name = self.query.name();
        let draw = |of: &str| {
            let words = [of.to_owned(), document.to_string()];
            let names = ["taste", name, &words[0], &words[1]];
            self.error * SeededRng::new(self.query.seed, &names).normal()
        };
        let own = OWN_TASTE.sqrt() * draw(&seat.to_string());
        match self.world {
            ListWorld::Plain | ListWorld::Long => 0.0,
            ListWorld::Taste => own + SHARED_TASTE.sqrt() * draw("all"),
            ListWorld::Adverse => own,
        }
    }

    /// The judge's answer to a list; a list of two is a battle.
    fn answer(&self, seat: usize, kind: ListKind, shown: &[usize], call: usize) -> Option<Block> {
        if let (&[x, y], ListKind::PAIR) = (shown, kind) {
            return self.vote(seat, Pair::new(x, y)?);
        }
        Block::list(seat, kind, &self.order(seat, shown, call))
    }

    /// The documents of a list in the order in which the judge ranks them.
    fn order(&self, seat: usize, shown: &[usize], call: usize) -> Vec<usize> {
        let (names, last) = (call.to_string(), shown.len().saturating_sub(1).max(1));
        let names = ["list", self.query.name(), &seat.to_string(), &names];
        let mut rng = SeededRng::new(self.query.seed, &names);
        let mut variance = self.world.fresh();
        if self.world.is_long() {
            variance *= 1.0 + PER_DOCUMENT * (shown.len() as f64 - 2.0);
        }
        let leaning = self.leanings.get(seat).copied().unwrap_or(0.0);
        let readings: Vec<f64> = shown
            .iter()
            .enumerate()
            .map(|(place, &document)| {
                let place = place as f64 / last as f64;
                let mut position = leaning * (0.5 - place);
                if self.world.is_long() {
                    position += PRIMACY * (0.5 - place) - DIP * 4.0 * place * (1.0 - place);
                }
                self.truth()[document]
                    + self.taste(seat, document)
                    + self.error * variance.sqrt() * rng.normal()
                    + position
            })
            .collect();
        let order = best_first(&readings).into_iter();
        order.map(|at| shown[at]).collect()
    }

    fn vote(&self, seat: usize, pair: Pair) -> Option<Block> {
        let (a, b) = (pair.low(), pair.high());
        let taste = match self.world {
            ListWorld::Taste => self.taste(seat, b) - self.taste(seat, a),
            ListWorld::Plain | ListWorld::Long | ListWorld::Adverse => 0.0,
        };
        let outcome = self.query.vote_with(pair, seat, taste)?;
        let score = match outcome {
            Outcome::A => 0.0,
            Outcome::Tie => 0.5,
            Outcome::B => 1.0,
        };
        Some(Block::vote(seat, a, b, score))
    }

    /// Runs a campaign. The judges take turns. Rounds are planned with a fit under the default
    /// model.
    pub fn play(&self, campaign: &ListCampaign, seed: u64) -> QueryBlocks {
        let documents = self.documents();
        let (mut blocks, mut shown) = (Vec::new(), vec![0; documents]);
        let mut number = 0;
        while blocks.len() < campaign.calls {
            let fit = (number > 0)
                .then(|| fit_blocks(documents, &blocks, &ListModel::default()))
                .flatten();
            let state = PlanState {
                documents,
                shown: &shown,
                fit: fit.as_ref(),
                top: TOP,
            };
            let round = ListRound {
                seed,
                query: self.query.name(),
                number,
            };
            let mut lists = campaign
                .plan
                .next_lists(campaign.kind.size(), &state, &round);
            lists.truncate(campaign.calls - blocks.len());
            let answered = blocks.len();
            for list in &lists {
                let call = blocks.len();
                let answer = self.answer(call % JUDGES, campaign.kind, list, call);
                list.iter().for_each(|document| shown[*document] += 1);
                blocks.extend(answer);
            }
            if blocks.len() == answered {
                break;
            }
            number += 1;
        }
        QueryBlocks { documents, blocks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::candidate_question::{Answer, Question};
    use crate::features::lab::domain::Coverage;
    use crate::features::lists::domain::estimate;
    use crate::features::methods::domain::reranking::{Method, play};

    fn worlds(world: ListWorld, queries: usize) -> Vec<ListQuery> {
        (0..queries)
            .map(|index| ListQuery::synthetic(world, Theta::Gaussian, 20, 0, index))
            .collect()
    }

    fn campaign(size: usize, calls: usize) -> ListCampaign {
        ListCampaign {
            plan: ListPlan::Random,
            kind: ListKind::new(size, AnswerForm::Order).unwrap(),
            calls,
        }
    }

    #[test]
    fn a_campaign_spends_its_calls_and_can_be_repeated() {
        let query = &worlds(ListWorld::Adverse, 1)[0];
        for plan in ListPlan::ALL {
            let campaign = ListCampaign {
                plan,
                ..campaign(5, 17)
            };
            let played = query.play(&campaign, 1);
            assert_eq!(played.blocks.len(), 17);
            assert_eq!(played.blocks, query.play(&campaign, 1).blocks);
        }
        assert_eq!(query.play(&campaign(20, 3), 1).blocks.len(), 3);
    }

    #[test]
    fn campaigns_are_read_back() {
        for text in [
            "top:5:60",
            "swiss:2:150",
            "random:10:30:best-worst",
            "top:5:9:best:2",
        ] {
            assert_eq!(text.parse::<ListCampaign>().unwrap().to_string(), text);
        }
        for bad in [
            "top",
            "top:5",
            "top:x:5",
            "best:5:60",
            "top:1:60",
            "top:5:60:best:5",
        ] {
            assert!(bad.parse::<ListCampaign>().is_err(), "{bad}");
        }
    }

    #[test]
    fn tastes_are_found_where_judges_have_them() {
        // The true variance of tastes is .101 of that of the scores.
        for (world, range) in [
            (ListWorld::Plain, 0.0..0.001),
            (ListWorld::Taste, 0.04..0.2),
        ] {
            let played: Vec<QueryBlocks> = worlds(world, 12)
                .iter()
                .map(|query| query.play(&campaign(5, 60), 0))
                .collect();
            let model = estimate(&played);
            let share = model.taste * model.precision;
            assert!(range.contains(&share), "{world}: {share}");
        }
    }

    #[test]
    fn intervals_hold_the_true_ranks_in_plain_and_long_lists() {
        for world in [ListWorld::Plain, ListWorld::Long] {
            let queries = worlds(world, 24);
            let played: Vec<QueryBlocks> = queries
                .iter()
                .map(|query| query.play(&campaign(5, 40), 0))
                .collect();
            let model = estimate(&played);
            let covered: Vec<Coverage> = queries
                .iter()
                .zip(&played)
                .map(|(query, played)| {
                    let fit = fit_blocks(played.documents, &played.blocks, &model).unwrap();
                    Coverage::of(&fit.scores, &fit.covariance, query.truth()).unwrap()
                })
                .collect();
            let [all, ..] = Coverage::means(&covered).unwrap();
            assert!(all.mean > 0.93, "{world}: {all:?}");
        }
    }

    /// The answers of one judge to the questions of a method about a query in first-stage order.
    fn ranked(query: &ListQuery, method: &Method) -> QueryBlocks {
        let documents = query.documents();
        let mut blocks = Vec::new();
        let mut answer = |question: &Question| {
            let shown = question.shown();
            let (form, count) = match question {
                Question::Select { count, .. } => (AnswerForm::Best(*count), *count),
                _ => (AnswerForm::Order, shown.len()),
            };
            let order = query.order(0, &shown, blocks.len());
            let kind = ListKind::new(shown.len(), form).unwrap();
            blocks.extend(Block::list(0, kind, &order));
            let place = |document: &usize| shown.iter().position(|of| of == document);
            let places = order.iter().take(count).filter_map(place);
            Answer::Numbers(places.map(|at| at as i64 + 1).collect())
        };
        play(&mut *method.strategy(documents, 0, 1), &mut answer).unwrap();
        QueryBlocks { documents, blocks }
    }

    #[test]
    fn intervals_from_existing_rankings_hold_the_true_ranks() {
        for world in [ListWorld::Plain, ListWorld::Long] {
            let mut queries = worlds(world, 24);
            for query in &mut queries {
                query.query = query.query.clone().in_first_stage_order(0.5);
            }
            for name in ["rankgpt:w10:s5", "tourrank:r2"] {
                let method: Method = name.parse().unwrap();
                let played = queries.iter().map(|query| ranked(query, &method));
                let played: Vec<QueryBlocks> = played.collect();
                let model = estimate(&played);
                let covered = queries.iter().zip(&played).map(|(query, played)| {
                    let fit = fit_blocks(played.documents, &played.blocks, &model).unwrap();
                    Coverage::of(&fit.scores, &fit.covariance, query.truth()).unwrap()
                });
                let covered: Vec<Coverage> = covered.collect();
                let [all, ..] = Coverage::means(&covered).unwrap();
                assert!(all.mean > 0.93, "{world}, {name}: {all:?}");
            }
        }
    }
}
