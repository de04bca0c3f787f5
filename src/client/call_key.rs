//! Hashes of a judge and its full prompt, used to detect identical calls.

use crate::judge::{Judge, JudgePrompt, JudgeSpec};
use sha2::{Digest, Sha256};

/// The key of a call to a service, or `None` for offline judges, which answer faster than a lookup.
pub(crate) fn call_key(judge: &dyn Judge, prompt: &JudgePrompt) -> Option<[u8; 32]> {
    (!judge.spec().is_offline()).then(|| key_of(judge.spec(), prompt))
}

/// Hashes a judge and every character it is sent.
pub(crate) fn key_of(spec: &JudgeSpec, prompt: &JudgePrompt) -> [u8; 32] {
    let [name, provider, model, words, params] = parts_of(spec);
    hash_of(&[
        name,
        provider,
        model,
        words,
        params,
        &prompt.system,
        &prompt.user,
    ])
}

/// Hashes a judge: its name and every parameter that changes the meaning of its answers.
pub(crate) fn identity_of(spec: &JudgeSpec) -> [u8; 32] {
    hash_of(&parts_of(spec))
}

fn parts_of(spec: &JudgeSpec) -> [&str; 5] {
    [
        &spec.name,
        &spec.provider,
        &spec.model,
        &spec.prompt_hash,
        &spec.params,
    ]
}

fn hash_of(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}
