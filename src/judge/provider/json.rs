//! JSON of requests and responses: merging parameters, and values at pointers.

use serde_json::{Map, Value};

/// Merges the user's parameters into a request: objects are merged, and an empty string removes a
/// field.
pub(crate) fn merge(body: &mut Value, params: &Map<String, Value>) {
    let Value::Object(body) = body else {
        return;
    };
    for (name, value) in params {
        match (body.get_mut(name), value) {
            (_, Value::String(text)) if text.is_empty() => {
                body.shift_remove(name);
            }
            (Some(inner @ Value::Object(_)), Value::Object(more)) => merge(inner, more),
            _ => {
                body.insert(name.clone(), value.clone());
            }
        }
    }
}

pub(crate) fn text_at(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}

/// A count at a JSON pointer; 0 if missing.
pub(crate) fn count_at(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// A nonnegative integer, also if written as `10.0`.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    let number = value.as_number()?;
    number.as_u64().or_else(|| {
        let number = number.as_f64()?;
        let fits = (0.0..=9e15).contains(&number) && number.fract() == 0.0;
        fits.then_some(number as u64)
    })
}
