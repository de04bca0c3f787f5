//! The keys of a duel, most important first.

use crate::tui::keymap::binding::{Binding, ENTER, TAB, hidden, key, named, shown};
use crate::tui::keymap::command::Command as Do;
use crossterm::event::KeyCode;

#[rustfmt::skip]
pub(super) const KEYS: &[Binding] = &[
    shown(&[ENTER], Do::Open, "read"),
    shown(&[key(' ')], Do::ChooseWhole, "choose"),
    shown(&[named(KeyCode::Backspace), named(KeyCode::Delete)], Do::RemoveChoice, "remove"),
    shown(&[key('0')], Do::NoneServes, "none serves"),
    shown(&[key('a')], Do::PreferLeft, "left"),
    shown(&[key('t')], Do::PreferNeither, "equal"),
    shown(&[key('b')], Do::PreferRight, "right"),
    hidden(&[key('A')], Do::PreferLeftStrongly, "left by far"),
    hidden(&[key('B')], Do::PreferRightStrongly, "right by far"),
    shown(&[key('.')], Do::FinishTask, "done"),
    shown(&[key('n')], Do::NextTask, "next"),
    hidden(&[key('N')], Do::PreviousTask, "previous"),
    shown(&[TAB], Do::NextPane, "tasks"),
    shown(&[key('p')], Do::PauseTask, "pause"),
    shown(&[key('K')], Do::ShowTables, "result"),
    shown(&[key('X')], Do::NewDuel, "new duel"),
    hidden(&[key('H')], Do::Guideline, "guideline"),
    hidden(&[key('1')], Do::Place1, "document 1"),
    hidden(&[key('2')], Do::Place2, "document 2"),
    hidden(&[key('3')], Do::Place3, "document 3"),
    hidden(&[key('4')], Do::Place4, "document 4"),
    hidden(&[key('5')], Do::Place5, "document 5"),
    hidden(&[key('6')], Do::Place6, "document 6"),
    hidden(&[key('7')], Do::Place7, "document 7"),
    hidden(&[key('8')], Do::Place8, "document 8"),
    hidden(&[key('9')], Do::Place9, "document 9"),
];
