//! How far a student of the ensemble can be believed: ten figures, each with the battles that it is made of.

mod numbers;
mod plot;
mod shapes;
pub(crate) mod update;
mod view;

use super::spec::ScreenSpec;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "student",
    returned: |model| {
        model.student.battle_cursor = 0;
        Vec::new()
    },
    closed: update::closed,
    offers: update::offers,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
mod tests;
