//! Which game of a pair a vote belongs to.

use crate::domain::battle::{BattleId, Pair};
use crate::domain::vote::{JudgeId, Margin};
use crate::formats::votes::{ExternalVote, text_hash};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};

#[derive(Default)]
pub(super) struct PairGames(Vec<StoredGame>);

struct StoredGame {
    battle: BattleId,
    /// Position of its document A.
    a: usize,
    number: u32,
    votes: Vec<KnownVote>,
}

struct KnownVote {
    judge: JudgeId,
    first: usize,
    /// Oriented to the battle.
    margin: Margin,
    reasoning: [u8; 32],
    /// Whether a line of the file stands for it.
    met: bool,
}

/// A vote of the file, as it lies in a game.
pub(super) struct VoteInGame {
    judge: JudgeId,
    /// Position of the document called `a`.
    a: usize,
    /// Position of the document that was shown first.
    first: usize,
    /// Negative prefers `a`.
    score: Margin,
    reasoning: [u8; 32],
}

impl VoteInGame {
    pub(super) fn new(judge: JudgeId, vote: &ExternalVote, a: usize, b: usize) -> Self {
        Self {
            judge,
            a,
            first: if vote.swapped { b } else { a },
            score: vote.score,
            reasoning: text_hash(&vote.reasoning),
        }
    }

    fn margin(&self, game: &StoredGame) -> Margin {
        match game.a == self.a {
            true => self.score,
            false => self.score.flipped(),
        }
    }
}

/// Where a vote found its place.
pub(super) struct PlacedVote {
    pub(super) battle: BattleId,
    /// Oriented to the battle.
    pub(super) margin: Margin,
    /// Whether the battle's B was shown first.
    pub(super) swapped: bool,
}

impl PairGames {
    /// The pair's battles as the project has them.
    pub(super) fn stored(db: &Db, query: QueryKey, pair: Pair) -> Result<Self> {
        let games = db.games(query, pair.low(), pair.high())?.into_iter();
        let games = games.map(|game| StoredGame {
            battle: game.battle,
            a: game.a,
            number: game.game,
            votes: game
                .votes
                .into_iter()
                .map(|(vote, reasoning)| KnownVote {
                    judge: vote.judge,
                    first: match vote.swapped {
                        true => pair.other(game.a).unwrap_or(game.a),
                        false => game.a,
                    },
                    margin: vote.margin,
                    reasoning: text_hash(&reasoning),
                    met: false,
                })
                .collect(),
        });
        Ok(Self(games.collect()))
    }

    /// Whether the same vote is there, word for word, and no other line stands for it. From now on one does.
    pub(super) fn matches(&mut self, vote: &VoteInGame) -> bool {
        for game in &mut self.0 {
            let margin = vote.margin(game);
            let same = game.votes.iter_mut().find(|known| {
                !known.met
                    && (known.judge, known.first, known.margin) == (vote.judge, vote.first, margin)
                    && known.reasoning == vote.reasoning
            });
            if let Some(known) = same {
                known.met = true;
                return true;
            }
        }
        false
    }

    /// The first game that the judge has not voted in and whose voters saw the same document first, or else another game,
    /// which `begin` adds with document `a` as its A.
    pub(super) fn place(
        &mut self,
        vote: &VoteInGame,
        begin: impl FnOnce(u32) -> Result<BattleId>,
    ) -> Result<PlacedVote> {
        let free = self.0.iter().position(|game| {
            let shown_alike = game.votes.iter().any(|known| known.first == vote.first);
            let voted = game.votes.iter().any(|known| known.judge == vote.judge);
            !voted && (shown_alike || game.votes.is_empty())
        });
        let mut game = match free {
            Some(at) => self.0.remove(at),
            None => {
                let number = self.0.iter().map(|game| game.number + 1).max().unwrap_or(0);
                StoredGame {
                    battle: begin(number)?,
                    a: vote.a,
                    number,
                    votes: Vec::new(),
                }
            }
        };
        let margin = vote.margin(&game);
        game.votes.push(KnownVote {
            judge: vote.judge,
            first: vote.first,
            margin,
            reasoning: vote.reasoning,
            met: true,
        });
        let placed = PlacedVote {
            battle: game.battle,
            margin,
            swapped: vote.first != game.a,
        };
        self.0.insert(free.unwrap_or(self.0.len()), game);
        Ok(placed)
    }
}
