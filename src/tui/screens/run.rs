//! The run that goes on: what it does, what it costs, how it is steered.

mod judge_table;
pub(crate) mod update;
mod view;

use super::spec::ScreenSpec;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "providers",
    ..ScreenSpec::new(view::view, update::update)
};
