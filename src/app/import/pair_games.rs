//! Decides which game of a pair a vote belongs to.

use crate::domain::battle::{BattleId, PROBE_GAME, Pair};
use crate::domain::vote::{JudgeId, Margin};
use crate::formats::votes::{ExternalVote, text_hash};
use crate::store::corpus::QueryKey;
use crate::store::vote_details::VoteReasoning;
use crate::store::{Db, Result};

#[derive(Default)]
pub(super) struct PairGames(Vec<StoredGame>);

struct StoredGame {
    battle: BattleId,
    /// Position of its document A.
    a: usize,
    number: u32,
    partial: bool,
    votes: Vec<KnownVote>,
}

struct KnownVote {
    judge: JudgeId,
    first: usize,
    /// From A to B of the battle.
    margin: Margin,
    /// `None` for an embedded judge's reasoning, which follows from its margin.
    reasoning: Option<[u8; 32]>,
    /// Whether a line of the file already matches it.
    met: bool,
}

/// A vote to be assigned to a game.
pub(super) struct VoteInGame {
    pub(super) judge: JudgeId,
    /// Position of the document called `a`.
    a: usize,
    /// Position of the document shown first.
    first: usize,
    /// Negative if `a` is better.
    score: Margin,
    reasoning: [u8; 32],
    /// Number of the game that it was exported from.
    game: Option<u32>,
}

impl VoteInGame {
    /// A vote with its score and the hash of its reasoning, on the documents at `a` and `b`.
    pub(super) fn new(
        judge: JudgeId,
        vote: &ExternalVote,
        (score, reasoning): (Margin, [u8; 32]),
        a: usize,
        b: usize,
    ) -> Self {
        Self {
            judge,
            a,
            first: if vote.swapped { b } else { a },
            score,
            reasoning,
            game: vote.exported.as_ref().map(|place| place.game),
        }
    }

    fn margin(&self, game: &StoredGame) -> Margin {
        if game.a == self.a {
            self.score
        } else {
            self.score.flipped()
        }
    }
}

/// The battle assigned to a vote.
pub(super) struct PlacedVote {
    pub(super) battle: BattleId,
    /// From A to B of the battle.
    pub(super) margin: Margin,
    /// Whether the battle's B was shown first.
    pub(super) swapped: bool,
    /// Whether the battle is meant only for the judges that have voted in it.
    pub(super) partial: bool,
}

impl PairGames {
    /// The pair's battles in the project.
    pub(super) fn stored(db: &Db, query: QueryKey, pair: Pair) -> Result<Self> {
        let games = db.games(query, pair.low(), pair.high())?.into_iter();
        let games = games.map(|game| StoredGame {
            battle: game.battle,
            a: game.a,
            number: game.game,
            partial: game.partial,
            votes: game
                .votes
                .into_iter()
                .map(|(vote, reasoning)| KnownVote {
                    judge: vote.judge,
                    first: if vote.swapped {
                        pair.other(game.a).unwrap_or(game.a)
                    } else {
                        game.a
                    },
                    margin: vote.margin,
                    reasoning: (reasoning != VoteReasoning::Unkept)
                        .then(|| text_hash(reasoning.text())),
                    met: false,
                })
                .collect(),
        });
        Ok(Self(games.collect()))
    }

    /// Whether an identical vote exists that no other line matches. It is then marked as matched.
    pub(super) fn matches(&mut self, vote: &VoteInGame) -> bool {
        for game in &mut self.0 {
            let margin = vote.margin(game);
            let same = game.votes.iter_mut().find(|known| {
                !known.met
                    && (known.judge, known.first, known.margin) == (vote.judge, vote.first, margin)
                    && known.reasoning.is_none_or(|known| known == vote.reasoning)
            });
            if let Some(known) = same {
                known.met = true;
                return true;
            }
        }
        false
    }

    /// The battle that the vote belongs to, which now contains it; `begin` adds a battle with
    /// document `a` as its A.
    pub(super) fn place(
        &mut self,
        vote: &VoteInGame,
        begin: impl FnOnce(u32) -> Result<BattleId>,
    ) -> Result<PlacedVote> {
        let at = self.game_of(vote, begin)?;
        let game = &mut self.0[at];
        let margin = vote.margin(game);
        game.votes.push(KnownVote {
            judge: vote.judge,
            first: vote.first,
            margin,
            reasoning: Some(vote.reasoning),
            met: true,
        });
        Ok(PlacedVote {
            battle: game.battle,
            margin,
            swapped: vote.first != game.a,
            partial: game.partial,
        })
    }

    /// The battle with this number in which a call failed, and its document A; `None` if one of the
    /// judge's rows has a vote there by now.
    pub(super) fn place_failure(
        &mut self,
        judges: &[JudgeId],
        number: u32,
        a: usize,
        begin: impl FnOnce(u32) -> Result<BattleId>,
    ) -> Result<Option<(BattleId, usize)>> {
        if let Some(game) = self.0.iter().find(|game| game.number == number) {
            let voted = game.votes.iter().any(|known| judges.contains(&known.judge));
            return Ok((!voted).then_some((game.battle, game.a)));
        }
        let at = self.begin(number, false, a, begin)?;
        Ok(Some((self.0[at].battle, a)))
    }

    /// The game that the vote was exported from, or else the first one in which the judge has not
    /// voted, whatever the order of documents, or else a new game; a probe only if it was exported
    /// from one. A judge's repeated answer is not requested from the others: such a game counts in
    /// proportion to the share of the ensemble that has voted in it.
    fn game_of(
        &mut self,
        vote: &VoteInGame,
        begin: impl FnOnce(u32) -> Result<BattleId>,
    ) -> Result<usize> {
        let open = |game: &StoredGame| game.votes.iter().all(|known| known.judge != vote.judge);
        if let Some(number) = vote.game {
            match self.0.iter().position(|game| game.number == number) {
                Some(at) if open(&self.0[at]) => return Ok(at),
                Some(_) => {}
                None => return self.begin(number, false, vote.a, begin),
            }
        }
        let counts = |game: &StoredGame| game.number != PROBE_GAME;
        let open_battle = |game: &StoredGame| counts(game) && open(game);
        if let Some(at) = self.0.iter().position(open_battle) {
            return Ok(at);
        }
        let next = self
            .0
            .iter()
            .filter(|game| counts(game))
            .map(|game| game.number + 1)
            .max()
            .unwrap_or(0);
        self.begin(next, next > 0, vote.a, begin)
    }

    fn begin(
        &mut self,
        number: u32,
        partial: bool,
        a: usize,
        begin: impl FnOnce(u32) -> Result<BattleId>,
    ) -> Result<usize> {
        self.0.push(StoredGame {
            battle: begin(number)?,
            a,
            number,
            partial,
            votes: Vec::new(),
        });
        Ok(self.0.len() - 1)
    }
}
