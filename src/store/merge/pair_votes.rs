//! Decides where a vote of the other file belongs: in which battle of its pair, or nowhere because
//! this project already has it.
//!
//! Two projects may have asked a judge about the same pair in different orders. Both answers were
//! given and both count, each as a separate battle. An answer to the same question, about the same
//! pair in the same order, is not counted again.

use crate::domain::battle::{PROBE_GAME, SECOND_GAME};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use std::collections::{BTreeMap, HashMap};

type PairKey = (usize, usize);

/// The battles of a query in this project, with the order in which each judge saw the documents.
pub(super) struct PairVotes {
    battles: HashMap<i64, StoredBattle>,
    games: HashMap<PairKey, BTreeMap<u32, i64>>,
    /// By pair and judge.
    votes: HashMap<(PairKey, i64), Vec<CastVote>>,
}

struct CastVote {
    battle: i64,
    /// Whether the later document of the pool was shown first.
    later_first: bool,
    /// Whether it is already matched to a vote of the other file.
    matched: bool,
}

#[derive(Clone, Copy)]
struct StoredBattle {
    a: usize,
    b: usize,
    game: u32,
}

impl StoredBattle {
    fn pair(self) -> PairKey {
        (self.a.min(self.b), self.a.max(self.b))
    }
}

/// Where a vote belongs.
pub(super) enum VotePlace {
    /// In this battle, in which the judge has not voted.
    Open(i64),
    /// In a new battle with this game number.
    NewGame(u32),
    /// Nowhere: the judge's vote in this battle answers the same question.
    Answered(i64),
}

/// The battle in this project that corresponds to one of the other file.
pub(super) struct BattleHere {
    pub(super) id: i64,
    /// Pool position of its document A.
    pub(super) a: usize,
    /// Whether it is a probe that becomes the pair's second battle because it is one in the other
    /// file.
    pub(super) promote: bool,
}

impl PairVotes {
    pub(super) fn read(db: &Db, query: QueryKey) -> Result<Self> {
        let mut found = Self {
            battles: HashMap::new(),
            games: HashMap::new(),
            votes: HashMap::new(),
        };
        let battles: Vec<(i64, usize, usize, u32)> = db.all(
            "SELECT id, a, b, game FROM battle WHERE query = ?1",
            [query.0],
            |row| row.try_into(),
        )?;
        for (id, a, b, game) in battles {
            found.add_battle(id, (a, b), game);
        }
        let votes: Vec<(i64, i64, bool)> = db.all(
            "SELECT vote.battle, vote.judge, vote.swapped FROM battle JOIN vote
             ON vote.battle = battle.id
             WHERE battle.query = ?1",
            [query.0],
            |row| row.try_into(),
        )?;
        for (battle, judge, swapped) in votes {
            found.cast(battle, judge, swapped, false);
        }
        Ok(found)
    }

    pub(super) fn add_battle(&mut self, id: i64, (a, b): (usize, usize), game: u32) {
        let battle = StoredBattle { a, b, game };
        self.battles.insert(id, battle);
        self.games
            .entry(battle.pair())
            .or_default()
            .insert(game, id);
    }

    /// Adds a vote of the other file.
    pub(super) fn add_vote(&mut self, battle: i64, judge: i64, swapped: bool) {
        self.cast(battle, judge, swapped, true);
    }

    fn cast(&mut self, battle: i64, judge: i64, swapped: bool, matched: bool) {
        if let Some(of) = self.battles.get(&battle) {
            let vote = CastVote {
                battle,
                later_first: swapped != (of.a > of.b),
                matched,
            };
            self.votes.entry((of.pair(), judge)).or_default().push(vote);
        }
    }

    /// The battle that corresponds to a pair's battle with this game number. A probe and a second
    /// battle ask the same question and correspond to each other; a pair has only one of them.
    pub(super) fn battle(&self, (a, b): (usize, usize), game: u32) -> Option<BattleHere> {
        let games = self.games.get(&(a.min(b), a.max(b)))?;
        let same = match game {
            PROBE_GAME => Some(SECOND_GAME),
            SECOND_GAME => Some(PROBE_GAME),
            _ => None,
        };
        let other = || games.get(&same?);
        let id = *games.get(&game).or_else(other)?;
        let stored = self.battles.get(&id)?;
        Some(BattleHere {
            id,
            a: stored.a,
            promote: game == SECOND_GAME && stored.game == PROBE_GAME,
        })
    }

    /// Records that a probe has become the second battle of its pair.
    pub(super) fn promoted(&mut self, id: i64) {
        if let Some(StoredBattle { a, b, .. }) = self.battles.get(&id).copied() {
            if let Some(games) = self.games.get_mut(&(a.min(b), a.max(b))) {
                games.remove(&PROBE_GAME);
            }
            self.add_battle(id, (a, b), SECOND_GAME);
        }
    }

    /// The documents A and B of a battle.
    pub(super) fn documents(&self, battle: i64) -> Option<(usize, usize)> {
        self.battles.get(&battle).map(|of| (of.a, of.b))
    }

    /// Where a vote belongs that was cast in the battle that is `battle` here. For a judge that
    /// ignores the order (`unordered`), both orders are the same question. Each vote of this
    /// project matches only one of the other file, since recorded votes may contain several answers
    /// to the same question.
    pub(super) fn place(
        &mut self,
        battle: i64,
        judge: i64,
        swapped: bool,
        unordered: bool,
    ) -> VotePlace {
        let Some(of) = self.battles.get(&battle) else {
            return VotePlace::Open(battle);
        };
        let later_first = swapped != (of.a > of.b);
        let games = self.games.get(&of.pair());
        let cast = self.votes.entry((of.pair(), judge)).or_default();
        let is_same = |vote: &CastVote| {
            let same_order = vote.later_first == later_first && !unordered;
            !vote.matched && (same_order || unordered && vote.battle == battle)
        };
        let here = |vote: &&mut CastVote| is_same(vote) && vote.battle == battle;
        let same = match cast.iter_mut().find(here) {
            Some(same) => Some(same),
            None => cast.iter_mut().find(|vote| is_same(vote)),
        };
        if let Some(same) = same {
            same.matched = true;
            return VotePlace::Answered(same.battle);
        }
        let is_open = |id: i64| cast.iter().all(|vote| vote.battle != id);
        if is_open(battle) {
            return VotePlace::Open(battle);
        }
        let counted = || {
            games
                .into_iter()
                .flatten()
                .filter(|(game, _)| **game != PROBE_GAME)
        };
        match counted().find(|(_, id)| is_open(**id)) {
            Some((_, id)) => VotePlace::Open(*id),
            None => VotePlace::NewGame(counted().map(|(game, _)| game + 1).max().unwrap_or(0)),
        }
    }
}
