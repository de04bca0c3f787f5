//! What makes two calls the same: the judge and every character it is sent.

use crate::judge::{Judge, JudgePrompt, JudgeSpec};
use sha2::{Digest, Sha256};

/// The key of a call to a service; none for offline judges, which are quicker than looking.
pub(crate) fn call_key(judge: &dyn Judge, prompt: &JudgePrompt) -> Option<[u8; 32]> {
    (!judge.spec().is_offline()).then(|| key_of(judge.spec(), prompt))
}

/// The hash of a judge and of every character it is sent.
pub(crate) fn key_of(spec: &JudgeSpec, prompt: &JudgePrompt) -> [u8; 32] {
    let mut hash = Sha256::new();
    let parts = [
        &spec.name,
        &spec.provider,
        &spec.model,
        &spec.prompt_hash,
        &spec.params,
        &prompt.system,
        &prompt.user,
    ];
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}
