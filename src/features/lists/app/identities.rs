//! Finds the list calls of a judge, including those under its former names.

use crate::client::call_key::identity_of;
use crate::judge::JudgeSpec;
use crate::store::{Db, Result};

/// The identities under which the lists of a judge are stored: its own, and those that it had under
/// the names with which it answered, or was asked in an open batch, before it was renamed.
pub(super) fn identities(db: &Db, spec: &JudgeSpec) -> Result<Vec<[u8; 32]>> {
    let mut found = vec![identity_of(spec)];
    let in_batches = db.names_in_batches(&spec.name)?;
    for name in db
        .list_judge_names(&spec.name)?
        .into_iter()
        .chain(in_batches)
    {
        let before = JudgeSpec {
            name,
            ..spec.clone()
        };
        let identity = identity_of(&before);
        if !found.contains(&identity) {
            found.push(identity);
        }
    }
    Ok(found)
}
