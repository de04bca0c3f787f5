//! ranx's JSON: one object of queries, each an object of documents with their scores, or with their grades.

use super::problem::{Problem, quoted};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{Qrels, RankedRun};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::io::{self, BufRead};

/// The numbers of a file by query and document, in the order of the file.
#[derive(Debug)]
pub struct RanxNumbers(BTreeMap<QueryId, Vec<(DocId, f64)>>);

/// How the problem of a name that is there twice ends.
const TWICE: &str = "occurs twice; keep one";

/// Reads a whole file; `file` is what the problem calls it.
///
/// # Errors
/// What is no such object, or names a query or a document twice.
pub fn read_ranx(mut reader: impl BufRead, file: &str) -> Result<RanxNumbers, Problem> {
    let mut text = String::new();
    reader.read_to_string(&mut text).map_err(|error| {
        let what = match error.kind() {
            io::ErrorKind::InvalidData => "is not UTF-8 text; save it as UTF-8".to_owned(),
            _ => format!("cannot be read: {error}"),
        };
        Problem::new(file, None, &what)
    })?;
    let bare = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let read: Result<Once<QueryId, Once<DocId, f64>>, _> = serde_json::from_str(bare);
    let read = read.map_err(|error| {
        let words = error.to_string();
        let what = words
            .rfind(" at line ")
            .map_or(words.as_str(), |end| &words[..end]);
        let expected = r#"{"QUERY":{"DOCUMENT":NUMBER}}"#;
        let what = match what.ends_with(TWICE) {
            true => what.to_owned(),
            false => format!("{what}; ranx's form is {expected}"),
        };
        Problem::new(file, Some(error.line() as u64), &what)
    })?;
    let queries = read.0.into_iter();
    Ok(RanxNumbers(
        queries.map(|(query, of)| (query, of.0)).collect(),
    ))
}

impl RanxNumbers {
    /// The numbers as scores. Queries without documents are left out.
    pub fn run(self) -> RankedRun {
        let ranked = self.0.into_iter();
        ranked
            .filter(|(_, documents)| !documents.is_empty())
            .collect()
    }

    /// The numbers as grades, which have to be whole.
    pub fn qrels(self, file: &str) -> Result<Qrels, Problem> {
        let mut qrels = Qrels::new();
        for (query, documents) in self.0 {
            let mut grades = BTreeMap::new();
            for (document, value) in documents {
                let whole = value.fract() == 0.0 && value.abs() <= f64::from(i32::MAX);
                if !whole {
                    let what = format!(
                        "the grade {value} of document {} of query {} is not a whole number; scores belong in a run",
                        quoted(document.as_str()),
                        quoted(query.as_str())
                    );
                    return Err(Problem::new(file, None, &what));
                }
                grades.insert(document, value as i32);
            }
            qrels.insert(query, grades);
        }
        Ok(qrels)
    }
}

/// An object's members in order, each name once.
struct Once<K, V>(Vec<(K, V)>);

impl<'de, K, V> Deserialize<'de> for Once<K, V>
where
    K: Deserialize<'de> + Clone + Eq + std::hash::Hash + fmt::Display,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OnceVisitor<K, V>(std::marker::PhantomData<(K, V)>);

        impl<'de, K, V> Visitor<'de> for OnceVisitor<K, V>
        where
            K: Deserialize<'de> + Clone + Eq + std::hash::Hash + fmt::Display,
            V: Deserialize<'de>,
        {
            type Value = Once<K, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of queries, each with its documents and their numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let (mut members, mut seen) = (Vec::new(), HashSet::new());
                while let Some((name, value)) = map.next_entry::<K, V>()? {
                    if !seen.insert(name.clone()) {
                        let name = quoted(&name.to_string());
                        return Err(A::Error::custom(format!("{name} {TWICE}")));
                    }
                    members.push((name, value));
                }
                Ok(Once(members))
            }
        }

        deserializer.deserialize_map(OnceVisitor(std::marker::PhantomData))
    }
}

/// Whether ranx's JSON holds scores by its beginning, where a number has a fraction, or else grades. `None` where it does not
/// begin as ranx's does, with an object of objects of numbers.
pub(super) fn holds_scores(start: &str) -> Option<bool> {
    let inside = start.trim_start().strip_prefix('{')?;
    let (_, rest) = member(inside)?;
    let inside = rest.strip_prefix('{')?;
    // A first query without documents has a brace here.
    if let Some(rest) = inside.trim_start().strip_prefix('}') {
        return Some(has_fractions(rest));
    }
    // All members of the first query are numbers, as far as they can be seen: one of a dataset has a text too.
    let mut left = inside;
    while let Some((_, value)) = member(left) {
        let end = value.find([',', '}']);
        let number = value.get(..end.unwrap_or(value.len()))?;
        if !number.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            return None;
        }
        left = match end {
            Some(at) if value[at..].starts_with(',') => &value[at + 1..],
            _ => break,
        };
    }
    member(inside).map(|(_, value)| has_fractions(value))
}

/// A member's name, still escaped, and what follows its colon.
fn member(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim_start().strip_prefix('"')?;
    let mut escaped = false;
    let end = rest.find(|symbol| {
        let ends = symbol == '"' && !escaped;
        escaped = symbol == '\\' && !escaped;
        ends
    })?;
    let (name, rest) = rest.split_at_checked(end)?;
    let value = rest.strip_prefix('"')?.trim_start().strip_prefix(':')?;
    Some((name, value.trim_start()))
}

/// Whether a number outside the quotes has a fraction or an exponent.
fn has_fractions(text: &str) -> bool {
    let pieces = text.split('"').step_by(2);
    let outside: BTreeSet<char> = pieces.flat_map(str::chars).collect();
    ['.', 'e', 'E'].iter().any(|sign| outside.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(r#"{"q1":{"d1":1,"d2":0}}"#, Some(false))]
    #[case("{\n  \"q_1\": {\n    \"d.e\": 0.9,", Some(true))]
    #[case(r#"{"q":{"e.5":3, "d": -2}, "#, Some(false))]
    #[case(r#"{"q":{},"r":{"d":1e-3}}"#, Some(true))]
    #[case(r#"{"query":{"id":"q","query":"x"},"documents":[]}"#, None)]
    #[case(r#"{"scored_pairs":[]}"#, None)]
    #[case(r#"{"query":{"id":1048585,"query":"how long"},"documents":[]}"#, None)]
    #[case(r#"{"query":{"qid":7.5,"text":"how, long"}"#, None)]
    #[case(r#"{"q":{"d":1, "e":2"#, Some(false))]
    #[case("{}", None)]
    fn recognized_by_its_beginning(#[case] start: &str, #[case] expected: Option<bool>) {
        assert_eq!(holds_scores(start), expected);
    }

    #[test]
    fn numbers_become_scores_or_grades_and_nothing_comes_twice() {
        let run = read_ranx(r#"{"q":{"b":1,"a":2.5},"none":{}}"#.as_bytes(), "r")
            .unwrap()
            .run();
        let ranked = [(DocId::new("b"), 1.0), (DocId::new("a"), 2.5)];
        assert_eq!(run[&QueryId::new("q")], ranked);
        assert_eq!(run.len(), 1);
        let qrels = |text: &str| read_ranx(text.as_bytes(), "q")?.qrels("q");
        assert_eq!(
            qrels(r#"{"q":{"a":2}}"#).unwrap()[&QueryId::new("q")][&DocId::new("a")],
            2
        );
        for (text, words) in [
            (r#"{"q":{"a":0.5}}"#, "q: the grade 0.5 of document \"a\""),
            ("{\"q\":{\"a\":1,\n\"a\":2}}", "q:2: \"a\" occurs twice"),
            (r#"{"q":{},"q":{}}"#, "q:1: \"q\" occurs twice"),
            (r#"{"q":[1]}"#, "q:1: invalid type"),
            (r#"{"q":{"a":1}"#, "q:1: EOF"),
        ] {
            let found = qrels(text).unwrap_err().to_string();
            assert!(found.starts_with(words), "{found}");
        }
    }
}
