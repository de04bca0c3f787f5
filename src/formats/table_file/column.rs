//! Columns of a table: their names and types.

use serde_json::Value;

/// The type of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    Text,
    /// A signed 64-bit integer.
    Whole,
    Number,
    /// A moment in milliseconds since the Unix epoch, in UTC.
    Time,
    Flag,
    /// A list of strings.
    Texts,
    /// Messages of a conversation, each with the strings `role` and `content`.
    Messages,
    /// Any JSON, stored as text in formats without such a type. JSON Lines omits it if missing.
    Json,
}

/// A column with its name and type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: CellKind,
    /// Whether a cell may be null.
    pub is_optional: bool,
}

impl Column {
    pub const fn text(name: &'static str) -> Self {
        Self::of(name, CellKind::Text)
    }

    pub const fn whole(name: &'static str) -> Self {
        Self::of(name, CellKind::Whole)
    }

    pub const fn number(name: &'static str) -> Self {
        Self::of(name, CellKind::Number)
    }

    pub const fn flag(name: &'static str) -> Self {
        Self::of(name, CellKind::Flag)
    }

    pub const fn of(name: &'static str, kind: CellKind) -> Self {
        Self {
            name,
            kind,
            is_optional: false,
        }
    }

    /// The same column with optional cells.
    pub const fn or_null(mut self) -> Self {
        self.is_optional = true;
        self
    }

    pub(super) fn takes(&self, cell: &Value) -> bool {
        let is_text = |value: &Value| value.is_string();
        match (self.kind, cell) {
            (_, Value::Null) => self.is_optional,
            (CellKind::Text, cell) => is_text(cell),
            (CellKind::Whole | CellKind::Time, cell) => cell.is_i64(),
            (CellKind::Number, cell) => cell.is_number(),
            (CellKind::Flag, cell) => cell.is_boolean(),
            (CellKind::Texts, Value::Array(texts)) => texts.iter().all(is_text),
            (CellKind::Messages, Value::Array(messages)) => messages.iter().all(|message| {
                ["role", "content"]
                    .iter()
                    .all(|part| message.get(part).is_some_and(is_text))
            }),
            (CellKind::Texts | CellKind::Messages, _) => false,
            (CellKind::Json, _) => true,
        }
    }
}
