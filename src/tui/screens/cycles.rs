//! Cycles screen: A beats B beats C beats A.

pub(crate) mod update;
mod view;

use super::spec::ScreenSpec;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "numbers",
    offers: update::offers,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
mod tests;
