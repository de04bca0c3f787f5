//! The table as text: Markdown for the manual, aligned columns for `overrule keys`, rows for `--json`.

use std::fmt::Write;

use serde::Serialize;

use super::{Binding, Command, Scope, own};
use crate::tui::text::pad_right;

/// One binding, ready to serialise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyRow {
    /// Where it holds.
    pub scope: Scope,
    /// The keys as printed.
    pub keys: Vec<String>,
    /// What they run.
    pub command: Command,
    /// What that does.
    pub doc: &'static str,
}

impl From<&Binding> for KeyRow {
    fn from(binding: &Binding) -> Self {
        Self {
            scope: binding.scope,
            keys: binding.keys.iter().map(ToString::to_string).collect(),
            command: binding.command,
            doc: binding.command.doc(),
        }
    }
}

/// Every binding, grouped by scope.
pub fn rows() -> Vec<KeyRow> {
    Scope::ALL
        .into_iter()
        .flat_map(own)
        .map(KeyRow::from)
        .collect()
}

/// A Markdown table for each scope.
pub fn markdown() -> String {
    let mut page = String::new();
    for scope in Scope::ALL {
        let _ = write!(
            page,
            "**{scope}**\n\n| Key | Command | |\n| --- | --- | --- |\n"
        );
        for row in own(scope).map(KeyRow::from) {
            let keys: Vec<String> = row.keys.iter().map(|key| format!("`{key}`")).collect();
            let _ = writeln!(
                page,
                "| {} | `{}` | {} |",
                keys.join(" "),
                row.command,
                row.doc
            );
        }
        page.push('\n');
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// Aligned columns for a terminal.
pub fn plain() -> String {
    let mut page = String::new();
    for scope in Scope::ALL {
        let _ = writeln!(page, "{scope}");
        for row in own(scope).map(KeyRow::from) {
            let keys = pad_right(&row.keys.join(" "), 13);
            let _ = writeln!(page, "  {keys} {:<19} {}", row.command, row.doc);
        }
        page.push('\n');
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}
