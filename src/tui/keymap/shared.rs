//! The keys that work everywhere, in overlays with a list, and in text inputs.

use super::binding::{BACK_TAB, Binding, ENTER, ESC, TAB, ctrl, hidden, key, named, shown};
use super::command::Command as Do;
use crossterm::event::KeyCode;

#[rustfmt::skip]
pub(crate) const GLOBAL: &[Binding] = &[
    shown(&[key('?')], Do::Help, "help"),
    shown(&[key('/')], Do::Filter, "filter"),
    hidden(&[key('M')], Do::Manual, "manual"),
    hidden(&[key('~')], Do::Tour, "tour"),
    shown(&[key(':')], Do::Palette, "commands"),
    shown(&[key('u')], Do::Undo, "undo"),
    shown(&[key('U'), ctrl('r')], Do::Redo, "redo"),
    shown(&[key('p')], Do::PauseRun, "pause"),
    shown(&[key('r')], Do::ShowRun, "run"),
    shown(&[ESC], Do::Back, "back"),
    shown(&[key('q'), ctrl('c')], Do::Quit, "quit"),
    hidden(&[ENTER], Do::Open, "open"),
    hidden(&[key('c')], Do::NextRamp, "colors"),
    hidden(&[key('y')], Do::Copy, "copy"),
    hidden(&[named(KeyCode::Down), key('j')], Do::Down, "down"),
    hidden(&[named(KeyCode::Up), key('k')], Do::Up, "up"),
    hidden(&[named(KeyCode::Left), key('h')], Do::Left, "left"),
    hidden(&[named(KeyCode::Right), key('l')], Do::Right, "right"),
    hidden(&[key('g'), named(KeyCode::Home)], Do::First, "first"),
    hidden(&[key('G'), named(KeyCode::End)], Do::Last, "last"),
    hidden(&[named(KeyCode::PageDown), ctrl('d')], Do::PageDown, "page down"),
    hidden(&[named(KeyCode::PageUp), ctrl('u')], Do::PageUp, "page up"),
    hidden(&[TAB], Do::NextPane, "next pane"),
    hidden(&[BACK_TAB], Do::PreviousPane, "pane back"),
    hidden(&[key('(')], Do::BorderBack, "border back"),
    hidden(&[key(')')], Do::BorderForward, "border"),
    hidden(&[ctrl('l')], Do::Redraw, "redraw"),
    hidden(&[ctrl('z')], Do::Suspend, "suspend"),
];

#[rustfmt::skip]
pub(crate) const SEARCH: &[Binding] = &[
    shown(&[key('n')], Do::NextMatch, "next match"),
    shown(&[key('N')], Do::PreviousMatch, "previous"),
    shown(&[key('/')], Do::Filter, "other words"),
    shown(&[ESC], Do::Back, "end search"),
];

#[rustfmt::skip]
pub(crate) const LIST: &[Binding] = &[
    shown(&[ENTER], Do::Open, "choose"),
    shown(&[ESC, key('q')], Do::Back, "close"),
];

#[rustfmt::skip]
pub(crate) const INPUT: &[Binding] = &[
    shown(&[ENTER], Do::Submit, "accept"),
    shown(&[ESC], Do::Cancel, "cancel"),
];
