//! Calls recorded by others: their votes and failures as rows of ours, without the data that was
//! not recorded.

use crate::domain::battle::BattleId;
use crate::domain::vote::{JudgeId, Margin};
use crate::judge::{JudgeSpec, Usage};
use crate::store::votes::{CallOutcome, CallRecord};

/// A judge of which only the name and the votes are known.
pub(super) fn recorded_judge(name: &str, provider: &str, model: &str) -> JudgeSpec {
    JudgeSpec {
        name: name.to_owned(),
        provider: provider.to_owned(),
        model: model.to_owned(),
        prompt_hash: String::new(),
        params: "{}".to_owned(),
    }
}

/// A vote of which only the margin and its reasoning are known.
pub(super) fn recorded_vote(margin: Margin, reasoning: &str) -> CallOutcome {
    CallOutcome::Vote {
        margin,
        reasoning: reasoning.to_owned(),
        model: None,
        stop_reason: None,
        request_id: None,
    }
}

/// A call of which only the outcome is known.
pub(super) fn recorded_call(
    battle: BattleId,
    judge: JudgeId,
    swapped: bool,
    created_ms: i64,
    result: CallOutcome,
) -> CallRecord {
    CallRecord {
        battle,
        judge,
        swapped,
        attempt: 1,
        usage: Usage::default(),
        cost_usd: None,
        latency_ms: None,
        truncated: false,
        call_key: None,
        run: None,
        created_ms,
        raw: None,
        result,
    }
}
