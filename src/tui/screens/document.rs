//! Document screen: its text, its position, and its battles.

pub(crate) mod head;
mod reasons;
mod table;
pub(crate) mod update;
mod view;

use super::spec::{Find, ScreenSpec};

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "numbers",
    crumb: Some(|model, open| open.name(model.document.document)),
    loaded: update::load,
    returned: update::load,
    find: Find::Texts(update::texts),
    reveal: update::reveal,
    copy: update::copy,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
mod tests;
