//! Asks the user for permission on the terminal.

use super::output;
use crate::app::permissions::Dialog;
use std::io::{self, BufRead as _, IsTerminal as _};

/// The terminal on which this process was started.
#[derive(Debug)]
struct TerminalDialog;

/// The dialog; `None` if nobody would see the question or could answer it.
pub(crate) fn dialog() -> Option<Box<dyn Dialog>> {
    let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    is_terminal.then(|| Box::new(TerminalDialog) as Box<dyn Dialog>)
}

impl Dialog for TerminalDialog {
    fn ask(&self, question: &str) -> Option<bool> {
        output::message(question);
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer).ok()?;
        match answer.trim() {
            "y" | "Y" | "yes" => Some(true),
            "n" | "N" | "no" => Some(false),
            _ => None,
        }
    }

    fn tell(&self, words: &str) {
        output::message(words);
    }
}
