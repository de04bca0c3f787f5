//! Finds the judge of a name that has voted on the regression set.

use super::set_texts::SetVotes;
use crate::app::judge_report::rater_data::JudgedQueries;
use crate::domain::battle::Pair;
use crate::domain::vote::JudgeId;
use crate::features::prompts::domain::DecidedPair;
use crate::judge::JudgeSpec;
use crate::store::corpus::QueryKey;
use crate::store::stale_votes::is_earlier;
use crate::store::{Db, StoreError};
use std::collections::HashSet;

/// A judge with its votes on pairs of the set.
pub(super) struct VotingJudge {
    pub(super) id: JudgeId,
    pub(super) spec: JudgeSpec,
    pub(super) votes: SetVotes,
}

/// The judge with this name that has voted on most pairs of the set, and its votes. Judges that
/// count for some query come first. Votes that were set aside are left out: their judge was shown
/// other data than a trial would show it.
pub(super) fn voting_judge(
    db: &Db,
    name: &str,
    set: &[(QueryKey, DecidedPair)],
) -> Result<Option<VotingJudge>, StoreError> {
    let named = |judges: Vec<(JudgeId, JudgeSpec)>| {
        judges
            .into_iter()
            .filter(|(_, spec)| spec.name == name && !is_earlier(spec))
            .collect::<Vec<_>>()
    };
    let counting = named(JudgedQueries::read(db, None)?.judges);
    let others = named(db.all_judges()?);
    for judges in [counting, others] {
        let mut best: Option<VotingJudge> = None;
        for (id, spec) in judges {
            let votes = votes_on(db, id, set)?;
            if votes.len() > best.as_ref().map_or(0, |best| best.votes.len()) {
                best = Some(VotingJudge { id, spec, votes });
            }
        }
        if best.is_some() {
            return Ok(best);
        }
    }
    Ok(None)
}

fn votes_on(
    db: &Db,
    judge: JudgeId,
    set: &[(QueryKey, DecidedPair)],
) -> Result<SetVotes, StoreError> {
    let wanted: HashSet<(QueryKey, Pair)> = set.iter().map(|(key, of)| (*key, of.pair)).collect();
    let queries: HashSet<QueryKey> = set.iter().map(|(key, _)| *key).collect();
    let mut votes = SetVotes::new();
    for query in queries {
        for vote in db.pair_votes_of(query, judge)? {
            let place = (query, vote.pair);
            if wanted.contains(&place) {
                votes.entry(place).or_insert(vote);
            }
        }
    }
    Ok(votes)
}
