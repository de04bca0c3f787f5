//! Student screen: the reliability of a student of the ensemble, as ten figures with the battles
//! behind each.

mod jobs;
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
    offers: update::offers,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
mod tests;
