//! Comparison screen: why one document is ranked above another.

pub(crate) mod update;
mod view;

use super::spec::ScreenSpec;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "numbers",
    crumb: Some(|model, open| {
        let (a, b) = (model.comparison.a, model.comparison.b);
        format!("why {} × {}", open.name(a), open.name(b))
    }),
    loaded: update::renew,
    returned: update::renew,
    copy: update::copy,
    ..ScreenSpec::new(view::view, update::update)
};

#[cfg(test)]
mod tests;
