//! Matrix screen: the battles of a query.

mod cell_details;
mod cells;
mod numbers;
pub(crate) mod overview;
pub(crate) mod update;
mod view;

use super::spec::{Find, ScreenSpec};
use crate::domain::sanitise;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "numbers",
    crumb: Some(|_, open| sanitise::line(open.info.id.as_str()).into_owned()),
    find: Find::Document,
    copy: update::copy,
    click: update::click,
    offers: update::offers,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
mod tests;
