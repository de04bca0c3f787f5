//! How domain types are stored in columns.

use crate::domain::adjudication::{DisagreementCause, Finding};
use crate::domain::corpus::{DocId, JsonObject, QueryId};
use crate::domain::priority::Policy;
use crate::domain::verdict::{Confidence, Decision, ErrorCause};
use crate::domain::vote::Margin;
use crate::judge::{FailureCause, JudgeSpec};
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde_json::Value;
use std::error::Error;
use std::str::FromStr;

/// Bytes of a call's key that are stored with a vote, enough to rule out collisions.
pub(super) const KEPT_OF_KEY: usize = 16;

/// Reads a value that is stored as a word.
pub(crate) fn read_word<T>(value: ValueRef<'_>) -> FromSqlResult<T>
where
    T: FromStr,
    T::Err: Into<Box<dyn Error + Send + Sync>>,
{
    value
        .as_str()?
        .parse()
        .map_err(|error: T::Err| FromSqlError::Other(error.into()))
}

/// Types that are stored as words.
macro_rules! words {
    ($($name:ty),*) => {$(
        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                read_word(value)
            }
        }
    )*};
}

words!(
    Decision,
    Confidence,
    ErrorCause,
    Policy,
    Finding,
    DisagreementCause
);

/// Types that wrap a text.
macro_rules! texts {
    ($($name:ty),*) => {$(
        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                Ok(Self::new(value.as_str()?))
            }
        }
    )*};
}

texts!(QueryId, DocId);

impl FromSql for JsonObject {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(Self::from_compact(value.as_str()?))
    }
}

impl FromSql for Margin {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::try_from(f64::column_result(value)?)
            .map_err(|error| FromSqlError::Other(error.into()))
    }
}

impl ToSql for FailureCause {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match serde_json::to_value(self) {
            Ok(Value::String(name)) => Ok(name.into()),
            other => Err(rusqlite::Error::ToSqlConversionFailure(
                format!("no name for a cause: {other:?}").into(),
            )),
        }
    }
}

impl FromSql for FailureCause {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = Value::String(value.as_str()?.to_owned());
        serde_json::from_value(name).map_err(|error| FromSqlError::Other(error.into()))
    }
}

/// Reads a judge from five columns of a row: name, provider, model, prompt and parameters.
pub(super) fn judge_spec(row: &Row<'_>, first: usize) -> rusqlite::Result<JudgeSpec> {
    Ok(JudgeSpec {
        name: row.get(first)?,
        provider: row.get(first + 1)?,
        model: row.get(first + 2)?,
        prompt_hash: row.get(first + 3)?,
        params: row.get(first + 4)?,
    })
}
