//! The list of queries.

mod columns;
pub(crate) mod update;
mod view;
mod welcome;

use super::spec::{Find, ScreenSpec};

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    returned: update::returned,
    find: Find::Rows(|model| (&mut model.queries.cursor, &mut model.queries.filter)),
    click: update::click,
    ..ScreenSpec::new(view::view, update::update)
};
