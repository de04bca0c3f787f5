//! A pair's votes as they are seen from one of its two documents.

use super::View;
use crate::domain::battle::Pair;
use crate::domain::vote::{JudgeId, Margin};

impl View {
    /// The votes on the battles of `row` and `column`, battle by battle; a margin above 0 says that the row is better.
    pub fn votes_for(
        &self,
        row: usize,
        column: usize,
    ) -> impl Iterator<Item = (JudgeId, Margin)> + '_ {
        let pair = Pair::new(row, column);
        let battles = pair.map_or(&[][..], |pair| self.battles_of(pair)).iter();
        let records = battles.filter_map(|index| self.rows.battles.get(*index));
        records.flat_map(move |record| {
            let turned = record.battle.b != row;
            record.votes.iter().map(move |vote| match turned {
                true => (vote.judge, vote.margin.flipped()),
                false => (vote.judge, vote.margin),
            })
        })
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
