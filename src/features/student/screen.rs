//! Student screen: the reliability of a student of the ensemble, as ten figures with the battles
//! behind each.

pub mod battles;
mod jobs;
pub mod judges;
mod numbers;
mod plot;
mod shapes;
pub mod state;
pub(crate) mod update;
mod view;

use crate::tui::screens::spec::ScreenSpec;

pub(crate) const SPEC: ScreenSpec = ScreenSpec {
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
