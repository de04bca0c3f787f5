//! Reads a field of queries, by which their values can be grouped: a table with a header, or JSON
//! lines such as BEIR's `queries.jsonl`. Other fields are ignored.

use super::json::{ValueError, string};
use super::jsonl;
use super::lines::{TextLine, TextLines};
use super::object::ObjectReader;
use super::problem::{Problem, quoted};
use super::records::LineRecords;
use super::table_rows::{CellStyle, TableRows};
use crate::domain::corpus::QueryId;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

/// The names of the field that identifies a query, in order of preference.
const QUERY: [&str; 5] = ["query_id", "query-id", "qid", "_id", "query"];

/// A field of the queries of a file.
#[derive(Debug, Default)]
pub struct QueryFields {
    /// Without queries that have no value.
    pub values: BTreeMap<QueryId, String>,
    /// All fields of the file, except the query's id.
    pub names: BTreeSet<String>,
    /// In file order.
    pub problems: Vec<Problem>,
}

impl QueryFields {
    fn add(
        &mut self,
        query: QueryId,
        value: Option<String>,
        problem: impl FnOnce(String) -> Problem,
    ) {
        let Some(value) = value.filter(|value| !value.trim().is_empty()) else {
            return;
        };
        let other = self.values.get(&query).filter(|other| **other != value);
        if let Some(other) = other {
            let what = format!(
                "query {} has {} here and {} above",
                quoted(query.as_str()),
                quoted(&value),
                quoted(other)
            );
            self.problems.push(problem(what));
            return;
        }
        self.values.insert(query, value);
    }
}

/// Reads a whole file. `file` is the file's name in problems.
pub fn read_query_fields(reader: impl BufRead, file: &str, field: &str) -> QueryFields {
    let mut lines = TextLines::new(reader, file);
    let is_json = match lines.next() {
        None => return QueryFields::default(),
        Some(Err(problem)) => {
            return QueryFields {
                problems: vec![problem],
                ..QueryFields::default()
            };
        }
        Some(Ok(line)) => line.bytes.trim_ascii_start().starts_with(b"{"),
    };
    let first = lines.number();
    let rest = lines.into_rest();
    if is_json {
        of_objects(rest, file, field)
    } else {
        of_table(TableSource { rest, file, first }, field)
    }
}

fn of_objects(reader: impl BufRead, file: &str, field: &str) -> QueryFields {
    let mut found = QueryFields::default();
    let parse = |line: &TextLine<'_>| {
        let number = line.number;
        let read = jsonl::record(line, "query", |object| of_object(object, field));
        read.map(|(query, value, names)| Some((number, query, value, names)))
    };
    let (records, problems) = LineRecords::new(reader, file, parse).partition_items();
    for (line, query, value, names) in records {
        found.names.extend(names);
        found.add(query, value, |what| Problem::new(file, Some(line), what));
    }
    found.problems.splice(0..0, problems);
    found.problems.sort_by_key(|problem| problem.line);
    found
}

/// The query of an object, its value of the field, and the names of its other members. Members of
/// `metadata` count as the object's.
fn of_object(
    mut object: ObjectReader<'_, '_>,
    field: &str,
) -> Option<(QueryId, Option<String>, Vec<String>)> {
    let key = QUERY.into_iter().find(|key| object.has(key));
    let query = object.identifier(key.unwrap_or("query_id"))?;
    let metadata = object.nullable("metadata", Ok);
    let mut names: Vec<String> = object.members().map(|(name, _)| name.to_owned()).collect();
    let mut value = object.nullable(field, text);
    if let Some(metadata) = metadata {
        let mut inner = object.enter("metadata", metadata)?;
        names.extend(inner.members().map(|(name, _)| name.to_owned()));
        value = value.or_else(|| inner.nullable(field, text));
    }
    Some((QueryId::new(query), value, names))
}

/// A value as text: a string as it is, anything else as JSON.
fn text(value: &RawValue) -> Result<String, ValueError> {
    Ok(string(value).unwrap_or_else(|_| value.get().to_owned()))
}

struct TableSource<'a, R> {
    rest: R,
    file: &'a str,
    /// The line of the header.
    first: u64,
}

fn of_table<R: BufRead>(source: TableSource<'_, R>, field: &str) -> QueryFields {
    let TableSource {
        mut rest,
        file,
        first,
    } = source;
    let mut found = QueryFields::default();
    let is_by_tab = rest.fill_buf().is_ok_and(|start| {
        start
            .split(|byte| *byte == b'\n')
            .next()
            .is_some_and(|line| line.contains(&b'\t'))
    });
    let delimiter = if is_by_tab { b'\t' } else { b',' };
    let mut rows = TableRows::new(rest, file, first, delimiter, CellStyle::Trimmed);
    let header: Vec<String> = match rows.next() {
        Some(Ok(row)) => row.cells().map(str::to_owned).collect(),
        Some(Err(problem)) => {
            found.problems.push(problem);
            return found;
        }
        None => return found,
    };
    let column = |name: &str| header.iter().position(|cell| cell == name);
    let Some((key, id)) = QUERY
        .into_iter()
        .find_map(|name| Some((name, column(name)?)))
    else {
        let words = format!("expected a header with query_id and {field}");
        found.problems.push(rows.problem(words));
        return found;
    };
    let at = column(field);
    while let Some(row) = rows.next() {
        let cells: Result<Vec<String>, Problem> =
            row.map(|row| row.cells().map(str::to_owned).collect());
        match cells {
            Err(problem) => found.problems.push(problem),
            Ok(cells) if cells.len() != header.len() => {
                let words = format!(
                    "has {} cells where the header has {}",
                    cells.len(),
                    header.len()
                );
                found.problems.push(rows.problem(words));
            }
            Ok(cells) => {
                let query = cells.get(id).map_or("", String::as_str);
                if query.is_empty() {
                    found
                        .problems
                        .push(rows.problem(format!("{key}: is empty")));
                    continue;
                }
                let value = at.and_then(|at| cells.get(at)).cloned();
                found.add(QueryId::new(query), value, |what| rows.problem(what));
            }
        }
    }
    found
        .names
        .extend(header.into_iter().filter(|name| name != key));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn read(text: &str) -> (Vec<(String, String)>, Vec<String>) {
        let found = read_query_fields(text.as_bytes(), "f", "topic");
        let values = found.values.into_iter();
        (
            values
                .map(|(query, value)| (query.as_str().to_owned(), value))
                .collect(),
            found.problems.iter().map(Problem::to_string).collect(),
        )
    }

    #[rstest]
    #[case::comma("query_id,topic,more\nq1,cars,1\nq2,\"sea, sand\",2\nq3,,3\n")]
    #[case::tab("\nquery-id\ttopic\nq1\tcars\nq2\tsea, sand\n")]
    #[case::lines(
        "{\"qid\":\"q1\",\"topic\":\"cars\"}\n{\"qid\":\"q2\",\"topic\":\"sea, sand\"}\n"
    )]
    #[case::beir(
        "{\"_id\":\"q1\",\"text\":\"t\",\"metadata\":{\"topic\":\"cars\"}}\n{\"_id\":\"q2\",\"text\":\"t\",\"metadata\":{\"topic\":\"sea, sand\"}}\n{\"_id\":\"q3\",\"text\":\"t\",\"metadata\":{\"topic\":null}}"
    )]
    fn tables_and_lines_say_the_same(#[case] text: &str) {
        let pair = |query: &str, value: &str| (query.to_owned(), value.to_owned());
        let expected = vec![pair("q1", "cars"), pair("q2", "sea, sand")];
        assert_eq!(read(text), (expected, vec![]));
    }

    #[rstest]
    #[case::no_query("topic,name\ncars,x", "f:1: expected a header with query_id and topic")]
    #[case::twice(
        "query_id,topic\nq,cars\nq,sea",
        "f:3: query \"q\" has \"sea\" here and \"cars\" above"
    )]
    #[case::cells("query_id,topic\nq,cars,1", "f:2: has 3 cells where the header has 2")]
    #[case::nobody("query_id,topic\n,cars", "f:2: query_id: is empty")]
    #[case::member("{\"topic\":\"cars\"}", "f:1: query_id: is missing")]
    #[case::json("{\"qid\":\"q\"}\n{\"qid\":", "f:2: the file is cut off")]
    fn problems_name_the_line(#[case] text: &str, #[case] expected: &str) {
        let (_, problems) = read(text);
        assert!(problems[0].starts_with(expected), "{problems:?}");
    }
}
