//! Review: a pair is judged blind first, then again with everything in sight.

pub(crate) mod panel;
pub(crate) mod update;
pub(crate) mod view;

use super::spec::ScreenSpec;
use crate::tui::requests;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "review",
    loaded: |model| {
        update::ready(model);
        update::reapply(model);
        requests::pair(model)
    },
    leave: update::leave,
    closed: update::close,
    reason: update::note,
    copy: update::copy,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
mod tests;
