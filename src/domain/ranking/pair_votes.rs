//! A pair's votes, as seen from one of its two documents.

use super::View;
use crate::domain::battle::Pair;
use crate::domain::vote::{JudgeId, Margin, Outcome};
use std::fmt;

/// The votes on a pair, with one of its documents as A and the other as B. All output uses the
/// wording of its `Display`: `A 3 : 0 B`, `A 1 : 1 B · 1 tie`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VoteCount {
    pub a: usize,
    pub b: usize,
    pub ties: usize,
}

impl VoteCount {
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::A => self.a += 1,
            Outcome::B => self.b += 1,
            Outcome::Tie => self.ties += 1,
        }
    }

    pub fn votes(self) -> usize {
        self.a + self.b + self.ties
    }

    /// The share of A in 0..=1, counting ties as half; `None` without votes.
    pub fn share(self) -> Option<f64> {
        let points = (2 * self.a + self.ties) as f64;
        (self.votes() > 0).then(|| points / (2 * self.votes()) as f64)
    }
}

impl fmt::Display for VoteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.votes() == 0 {
            return f.write_str("no votes");
        }
        write!(f, "A {} : {} B", self.a, self.b)?;
        match self.ties {
            0 => Ok(()),
            1 => f.write_str(" · 1 tie"),
            ties => write!(f, " · {ties} ties"),
        }
    }
}

impl FromIterator<Outcome> for VoteCount {
    fn from_iter<I: IntoIterator<Item = Outcome>>(outcomes: I) -> Self {
        let mut count = Self::default();
        outcomes.into_iter().for_each(|outcome| count.add(outcome));
        count
    }
}

/// The share of A as a bar of `columns` characters, A's part and B's: heavy from the left, light to
/// the right.
pub fn share_bar(share: f64, columns: usize) -> (String, String) {
    let heavy = (share.clamp(0.0, 1.0) * columns as f64).round() as usize;
    ("━".repeat(heavy), "─".repeat(columns - heavy))
}

/// The effect of the order of the documents on a judge's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderEffect {
    /// The judge gives the same answer in both orders.
    None,
    /// A tie in one order, a preference in the other.
    TieOnce,
    /// One document in one order, the other document in the other.
    Flip,
}

impl View {
    /// The votes on the battles of `row` and `column`, battle by battle; a positive margin means
    /// that the row is better.
    pub fn votes_for(
        &self,
        row: usize,
        column: usize,
    ) -> impl Iterator<Item = (JudgeId, Margin)> + '_ {
        let pair = Pair::new(row, column);
        let battles = pair.map_or(&[][..], |pair| self.battles_of(pair)).iter();
        battles
            .filter_map(|index| self.rows.battles.get(*index))
            .flat_map(move |record| {
                let turned = record.battle.b != row;
                record.votes.iter().map(move |vote| {
                    if turned {
                        (vote.judge, vote.margin.flipped())
                    } else {
                        (vote.judge, vote.margin)
                    }
                })
            })
    }

    /// Counts the votes on the battles of two documents.
    pub fn vote_count(&self, a: usize, b: usize) -> VoteCount {
        self.votes_for(b, a)
            .map(|(_, margin)| margin.outcome())
            .collect()
    }

    /// A judge's margins on a pair with `a` shown first and with `b` shown first, including probes;
    /// negative margins prefer `a`. `None` for an order in which the judge was not asked.
    pub fn margins_by_order(&self, judge: JudgeId, a: usize, b: usize) -> [Option<Margin>; 2] {
        let mut found = [None; 2];
        let Some(pair) = Pair::new(a, b) else {
            return found;
        };
        let battles = self.battles_of(pair).iter();
        let battles = battles.filter_map(|index| self.rows.battles.get(*index));
        let probes = self.rows.probes.iter();
        let probes = probes.filter(|one| Pair::new(one.battle.a, one.battle.b) == Some(pair));
        for record in battles.chain(probes) {
            let turned = record.battle.a != a;
            for vote in record.votes.iter().filter(|vote| vote.judge == judge) {
                let margin = if turned {
                    vote.margin.flipped()
                } else {
                    vote.margin
                };
                // The first vote in each order counts.
                found[usize::from(vote.swapped != turned)].get_or_insert(margin);
            }
        }
        found
    }

    /// The effect of the order of the documents on a judge's answer on a pair; `None` if it was
    /// asked in one order only.
    pub fn order_effect(&self, judge: JudgeId, a: usize, b: usize) -> Option<OrderEffect> {
        let [one, other] = self.margins_by_order(judge, a, b);
        let (one, other) = (one?.outcome(), other?.outcome());
        Some(match (one, other) {
            _ if one == other => OrderEffect::None,
            (Outcome::Tie, _) | (_, Outcome::Tie) => OrderEffect::TieOnce,
            _ => OrderEffect::Flip,
        })
    }

    /// The query's judges that prefer different documents of a pair in the two orders.
    pub fn flips(&self, a: usize, b: usize) -> impl Iterator<Item = JudgeId> + '_ {
        self.rows
            .judges
            .iter()
            .copied()
            .filter(move |judge| self.order_effect(*judge, a, b) == Some(OrderEffect::Flip))
    }

    /// A judge's mean margin over the pair's battles.
    pub fn mean_margin(&self, judge: JudgeId, row: usize, column: usize) -> Option<f64> {
        let votes = self.votes_for(row, column);
        let (sum, count) = votes
            .filter(|(by, _)| *by == judge)
            .fold((0.0, 0u32), |(sum, count), (_, margin)| {
                (sum + margin.get(), count + 1)
            });
        (count > 0).then(|| sum / f64::from(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn votes_read_the_same_from_both_sides() {
        let outcomes = [Outcome::A, Outcome::Tie, Outcome::A, Outcome::B];
        let count: VoteCount = outcomes.into_iter().collect();
        assert_eq!(count.to_string(), "A 2 : 1 B · 1 tie");
        assert_eq!(count.share(), Some(0.625));
        let turned = VoteCount {
            a: count.b,
            b: count.a,
            ..count
        };
        assert_eq!(turned.to_string(), "A 1 : 2 B · 1 tie");
        assert_eq!(turned.share(), Some(0.375));
        assert_eq!(VoteCount::default().to_string(), "no votes");
        assert_eq!(VoteCount::default().share(), None);
    }

    #[test]
    fn a_bar_is_as_long_as_asked_and_divided_by_the_share() {
        assert_eq!(share_bar(1.0, 4), ("━━━━".to_owned(), String::new()));
        assert_eq!(share_bar(0.25, 4), ("━".to_owned(), "───".to_owned()));
        assert_eq!(share_bar(-3.0, 2), (String::new(), "──".to_owned()));
    }
}
