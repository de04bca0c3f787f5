//! The names of the screens.

use super::binding::Binding;
use crate::registry;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The bindings of each screen: its own, then those that features add to it.
static KEYS: LazyLock<HashMap<Screen, Vec<Binding>>> = LazyLock::new(|| {
    let keys = |screen: Screen| {
        let own = registry::screen(screen).keys().iter();
        let added = registry::ADDED_KEYS.iter().copied().flatten();
        let added = added.filter(|(on, _)| *on == screen);
        own.chain(added.map(|(_, binding)| binding))
            .copied()
            .collect()
    };
    Screen::all().map(|screen| (screen, keys(screen))).collect()
});

/// A screen, identified by its name in the header, in `overrule keys --json` and in the
/// configuration.
///
/// The module of each screen adds a constant with its name, such as `Screen::MATRIX`, and defines
/// its behavior; `registry::SCREENS` lists all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Screen(&'static str);

impl Screen {
    pub(crate) const fn named(name: &'static str) -> Self {
        Self(name)
    }

    /// In the order of the printed key tables.
    pub fn all() -> impl Iterator<Item = Self> {
        registry::SCREENS.iter().map(|screen| screen.id())
    }

    pub fn name(self) -> &'static str {
        self.0
    }

    pub fn heading(self) -> &'static str {
        registry::screen(self).heading()
    }

    pub(super) fn keys(self) -> &'static [Binding] {
        KEYS.get(&self).map_or(&[], Vec::as_slice)
    }
}
