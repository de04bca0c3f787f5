//! Prints the table: as Markdown for the manual, in aligned columns for `overrule keys`, as rows
//! for `--json`.

use super::{Command, Scope};
use crate::tui::text::pad_right;
use serde::Serialize;
use std::fmt::Write as _;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyRow {
    pub scope: Scope,
    pub keys: Vec<String>,
    pub command: Command,
    pub doc: &'static str,
}

fn rows_of(scope: Scope) -> impl Iterator<Item = KeyRow> {
    scope.own().iter().map(move |binding| KeyRow {
        scope,
        keys: binding.keys.iter().map(ToString::to_string).collect(),
        command: binding.command,
        doc: binding.command.doc(),
    })
}

pub fn rows() -> Vec<KeyRow> {
    Scope::all().flat_map(rows_of).collect()
}

pub fn markdown() -> String {
    tables(|page, scope| {
        let head = "| Key | Command | |\n| --- | --- | --- |";
        let _ = writeln!(page, "**{scope}**\n\n{head}");
        for KeyRow {
            keys, command, doc, ..
        } in rows_of(scope)
        {
            let _ = writeln!(page, "| `{}` | `{command}` | {doc} |", keys.join("` `"));
        }
    })
}

/// Prints aligned columns for a terminal.
pub fn plain() -> String {
    tables(|page, scope| {
        let _ = writeln!(page, "{scope}");
        for KeyRow {
            keys, command, doc, ..
        } in rows_of(scope)
        {
            let keys = pad_right(&keys.join(" "), 13);
            let _ = writeln!(page, "  {keys} {command:<19} {doc}");
        }
    })
}

/// A table for each scope, separated by blank lines.
fn tables(table: impl Fn(&mut String, Scope)) -> String {
    let pages = Scope::all().map(|scope| {
        let mut page = String::new();
        table(&mut page, scope);
        page
    });
    pages.collect::<Vec<_>>().join("\n")
}
