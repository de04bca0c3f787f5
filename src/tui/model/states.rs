//! States of screens that no other screen uses, by type.

use super::Model;
use std::any::Any;
use std::fmt::Debug;
use std::sync::OnceLock;

/// The state of one screen.
pub trait ScreenState: Any + Debug + Default + Send + Sync {}

impl<S: Any + Debug + Default + Send + Sync> ScreenState for S {}

trait AnyState: Any + Debug + Send + Sync {}

impl<S: ScreenState> AnyState for S {}

/// One state of each type, created with its default when it is first used.
#[derive(Debug, Default)]
pub struct ScreenStates(OnceLock<Box<Entry>>);

#[derive(Debug)]
struct Entry {
    state: Box<dyn AnyState>,
    others: ScreenStates,
}

impl Entry {
    fn new<S: ScreenState>() -> Box<Self> {
        Box::new(Self {
            state: Box::new(S::default()),
            others: ScreenStates::default(),
        })
    }
}

impl ScreenStates {
    fn get<S: ScreenState>(&self) -> &S {
        let entry = self.0.get_or_init(Entry::new::<S>);
        let state: &dyn Any = &*entry.state;
        match state.downcast_ref() {
            Some(state) => state,
            None => entry.others.get(),
        }
    }

    #[expect(clippy::expect_used, reason = "`get` has created the state")]
    fn get_mut<S: ScreenState>(&mut self) -> &mut S {
        self.get::<S>();
        let entry = self.0.get_mut().expect("an entry");
        let state: &dyn Any = &*entry.state;
        if !state.is::<S>() {
            return entry.others.get_mut();
        }
        let state: &mut dyn Any = &mut *entry.state;
        state.downcast_mut().expect("a state of this type")
    }
}

impl Model {
    /// The state of a screen.
    pub(crate) fn state<S: ScreenState>(&self) -> &S {
        self.states.get()
    }

    pub(crate) fn state_mut<S: ScreenState>(&mut self) -> &mut S {
        self.states.get_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_one_state_that_begins_with_its_default() {
        let mut states = ScreenStates::default();
        assert_eq!(
            (states.get::<u8>(), states.get::<String>()),
            (&0, &String::new())
        );
        *states.get_mut::<u8>() = 3;
        states.get_mut::<String>().push('x');
        states.get_mut::<u16>();
        assert_eq!((states.get::<u8>(), states.get::<u16>()), (&3, &0));
        assert_eq!(states.get::<String>(), "x");
    }
}
