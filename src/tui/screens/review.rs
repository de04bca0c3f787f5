//! Review: a pair is judged blind first, then again with everything in sight.

pub(crate) mod keys;
mod panel;
pub(crate) mod state;
pub(crate) mod update;
pub(crate) mod view;

use super::battle;
use super::spec::ScreenSpec;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "review",
    loaded: |model| {
        update::ready(model);
        update::reapply(model);
        battle::load::load(model)
    },
    leave: update::leave,
    closed: update::close,
    reason: update::note,
    copy: update::copy,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
mod tests;
