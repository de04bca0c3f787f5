//! Reads vectors of documents from a file: JSON lines with names, or NumPy's `.npy` with one row
//! per document.

use super::lines::text_lines;
use super::problem::Problem;
use crate::domain::corpus::{DocId, QueryId};
use serde::Deserialize;
use std::collections::HashMap;
use std::io::{BufRead, Read};

/// Vectors by document, or by query and document if a line names both.
#[derive(Clone, Debug, Default)]
pub struct NamedVectors {
    vectors: HashMap<(Option<QueryId>, DocId), Vec<f64>>,
}

#[derive(Deserialize)]
struct VectorLine {
    #[serde(alias = "query_id")]
    qid: Option<serde_json::Value>,
    #[serde(alias = "id", alias = "doc_id", alias = "document")]
    docno: serde_json::Value,
    #[serde(alias = "embedding")]
    vector: Vec<f64>,
}

/// An identifier, which may be written as a number.
fn name(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

impl NamedVectors {
    /// The vector of a query's document.
    pub fn get(&self, query: &QueryId, document: &DocId) -> Option<&Vec<f64>> {
        let of_query = self.vectors.get(&(Some(query.clone()), document.clone()));
        of_query.or_else(|| self.vectors.get(&(None, document.clone())))
    }

    /// Reads one vector per line: `{"docno": …, "vector": […]}`, with `qid` if a document's vector
    /// depends on the query.
    pub fn read(reader: impl BufRead, file: &str) -> Result<Self, Problem> {
        let mut named = Self::default();
        let mut dimension = None;
        for (at, line) in (1..).zip(text_lines(reader)) {
            let wrong = |what: &str| Problem::new(file, Some(at), what);
            let line = line.map_err(|error| wrong(&error.to_string()))?;
            if line.trim().is_empty() {
                continue;
            }
            let read: VectorLine = serde_json::from_str(&line).map_err(|error| {
                wrong(&format!(
                    "{error}; a line is {{\"docno\": \"d1\", \"vector\": [0.1, 0.2]}}"
                ))
            })?;
            let document = name(&read.docno).ok_or_else(|| wrong("docno: is not a string"))?;
            let query = match &read.qid {
                None => None,
                Some(qid) => Some(name(qid).ok_or_else(|| wrong("qid: is not a string"))?),
            };
            let expected = *dimension.get_or_insert(read.vector.len());
            if read.vector.len() != expected || expected == 0 {
                let found = read.vector.len();
                return Err(wrong(&format!(
                    "vector: has {found} numbers, the first one {expected}; all must come from one \
                     model"
                )));
            }
            let key = (query.map(QueryId::new), DocId::new(document));
            if named.vectors.insert(key, read.vector).is_some() {
                return Err(wrong(
                    "docno: already has a vector on an earlier line; remove one of the lines",
                ));
            }
        }
        Ok(named)
    }

    /// Vectors with the names of a list, one per row.
    pub fn of_rows(names: Vec<(Option<QueryId>, DocId)>, rows: Vec<Vec<f64>>) -> Self {
        let vectors = names.into_iter().zip(rows).collect();
        Self { vectors }
    }
}

/// Reads one document per line, preceded by its query and a tab if a document's vector depends on
/// the query.
pub fn read_names(
    reader: impl BufRead,
    file: &str,
) -> Result<Vec<(Option<QueryId>, DocId)>, Problem> {
    let mut names = Vec::new();
    for (at, line) in (1..).zip(text_lines(reader)) {
        let line = line.map_err(|error| Problem::new(file, Some(at), error))?;
        let line = line.trim_end_matches('\r');
        if line.is_empty() {
            return Err(Problem::new(
                file,
                Some(at),
                "is empty; a line names one document",
            ));
        }
        names.push(match line.split_once('\t') {
            Some((query, document)) => (Some(QueryId::new(query)), DocId::new(document)),
            None => (None, DocId::new(line)),
        });
    }
    Ok(names)
}

/// Maximum length of a header in bytes.
const LONGEST_HEADER: usize = 1 << 16;

/// The rows of a two-dimensional `.npy` file of 4- or 8-byte floating-point numbers in C order
/// (NumPy's format 1.0 to 3.0).
pub fn read_npy(mut reader: impl Read, file: &str) -> Result<Vec<Vec<f64>>, Problem> {
    let wrong = |what: &str| Problem::new(file, None, what);
    let cut = |_| wrong("is cut off; write or download it again");
    let mut start = [0; 8];
    reader.read_exact(&mut start).map_err(cut)?;
    let Some([major, _]) = start
        .strip_prefix(b"\x93NUMPY")
        .and_then(|rest| rest.first_chunk())
    else {
        return Err(wrong("is not a .npy file; numpy.save writes one"));
    };
    let length = match major {
        1 => {
            let mut bytes = [0; 2];
            reader.read_exact(&mut bytes).map_err(cut)?;
            usize::from(u16::from_le_bytes(bytes))
        }
        2 | 3 => {
            let mut bytes = [0; 4];
            reader.read_exact(&mut bytes).map_err(cut)?;
            u32::from_le_bytes(bytes) as usize
        }
        _ => {
            return Err(wrong("has an unknown format; save it with numpy.save"));
        }
    };
    if length > LONGEST_HEADER {
        return Err(wrong("has an invalid header; write it again"));
    }
    let mut header = vec![0; length];
    reader.read_exact(&mut header).map_err(cut)?;
    let header = String::from_utf8_lossy(&header);
    let value = |key: &str| -> Option<&str> {
        let (_, rest) = header.split_once(&format!("'{key}':"))?;
        Some(rest.trim_start())
    };
    let kind = value("descr").and_then(|rest| rest.strip_prefix('\'')?.split('\'').next());
    let width = match kind {
        Some("<f4") => 4,
        Some("<f8") => 8,
        other => {
            return Err(wrong(&format!(
                "holds {}, not 4- or 8-byte floating-point numbers; save vectors.astype('<f4')",
                other.unwrap_or("what is not known")
            )));
        }
    };
    if value("fortran_order").is_none_or(|rest| !rest.starts_with("False")) {
        return Err(wrong(
            "is in Fortran's order; save numpy.ascontiguousarray(vectors)",
        ));
    }
    let shape = value("shape").and_then(|rest| rest.strip_prefix('(')?.split(')').next());
    let shape: Option<Vec<usize>> = shape.map(|shape| {
        let parts = shape
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        parts.filter_map(|part| part.parse().ok()).collect()
    });
    let Some([rows, columns]) = shape.as_deref() else {
        return Err(wrong(
            "is not two-dimensional; expected one row per document",
        ));
    };
    let expected = rows
        .checked_mul(*columns)
        .and_then(|all| all.checked_mul(width));
    let mut bytes = Vec::new();
    let mut numbers = reader.take(expected.map_or(0, |bytes| bytes as u64 + 1));
    numbers.read_to_end(&mut bytes).map_err(cut)?;
    if expected != Some(bytes.len()) || *columns == 0 {
        return Err(wrong(
            "contains more or fewer numbers than its header says; write it again",
        ));
    }
    let numbers: Vec<f64> = match width {
        4 => {
            let (chunks, _) = bytes.as_chunks::<4>();
            chunks
                .iter()
                .map(|four| f64::from(f32::from_le_bytes(*four)))
                .collect()
        }
        _ => {
            let (chunks, _) = bytes.as_chunks::<8>();
            chunks
                .iter()
                .map(|eight| f64::from_le_bytes(*eight))
                .collect()
        }
    };
    if let Some(at) = numbers.iter().position(|number| !number.is_finite()) {
        let row = at / columns;
        return Err(wrong(&format!(
            "row {row} (counted from 0): contains a value that is not a number"
        )));
    }
    Ok(numbers.chunks(*columns).map(<[f64]>::to_vec).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    /// A file as written by `numpy.save`.
    pub(crate) fn npy(header: &str, numbers: &[u8]) -> Vec<u8> {
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(numbers);
        file
    }

    const TWO_BY_TWO: &str = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n";

    fn floats(numbers: &[f32]) -> Vec<u8> {
        numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect()
    }

    #[test]
    fn a_table_of_numpy_is_read_by_rows() {
        let file = npy(TWO_BY_TWO, &floats(&[1.0, 0.5, -2.0, 3.0]));
        assert_eq!(read_npy(&file[..], "v").unwrap(), [[1.0, 0.5], [-2.0, 3.0]]);
        let wide = TWO_BY_TWO.replace("<f4", "<f8").replace("(2, 2)", "(1, 2)");
        let numbers: Vec<u8> = [0.1f64, 7.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(
            read_npy(&npy(&wide, &numbers)[..], "v").unwrap(),
            [[0.1, 7.0]]
        );
    }

    #[rstest]
    #[case(TWO_BY_TWO, &[1.0, 2.0, 3.0], "more or fewer numbers")]
    #[case(TWO_BY_TWO, &[1.0, 2.0, 3.0, f32::NAN], "row 1 (counted from 0)")]
    #[case("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), }", &[], "<i8")]
    #[case("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", &[], "Fortran")]
    #[case("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", &[], "two-dimensional")]
    #[case("{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615, 2), }", &[], "more or fewer")]
    fn other_tables_are_refused(#[case] header: &str, #[case] numbers: &[f32], #[case] why: &str) {
        let told = read_npy(&npy(header, &floats(numbers))[..], "v")
            .unwrap_err()
            .to_string();
        assert!(told.contains(why), "{told}");
    }

    #[test]
    fn vectors_have_names() {
        let lines = "{\"id\": \"d\", \"vector\": [1, 2]}\n\n{\"qid\": 7, \"docno\": \"d\", \"embedding\": [3, 4]}\n";
        let named = NamedVectors::read(lines.as_bytes(), "v").unwrap();
        let of = |query: &str, document: &str| {
            named
                .get(&QueryId::new(query), &DocId::new(document))
                .cloned()
        };
        assert_eq!(of("7", "d"), Some(vec![3.0, 4.0]));
        assert_eq!(of("8", "d"), Some(vec![1.0, 2.0]));
        assert_eq!(of("8", "e"), None);
        let refused = |lines: &str| {
            NamedVectors::read(lines.as_bytes(), "v")
                .unwrap_err()
                .to_string()
        };
        let short = "{\"id\": \"d\", \"vector\": [1, 2]}\n{\"id\": \"e\", \"vector\": [1]}";
        assert!(refused(short).starts_with("v:2: vector: has 1 numbers"));
        let twice = "{\"id\": \"d\", \"vector\": [1]}\n{\"id\": \"d\", \"vector\": [1]}";
        assert!(refused(twice).contains("already has a vector on an earlier line"));
        let marked = format!("\u{feff}{}", lines.replace('\n', "\r\n"));
        let marked = NamedVectors::read(marked.as_bytes(), "v").unwrap();
        assert_eq!(marked.vectors, named.vectors);
        let names = read_names("\u{feff}7\td\r\ne\n".as_bytes(), "n").unwrap();
        let named = NamedVectors::of_rows(names, vec![vec![1.0], vec![2.0]]);
        assert_eq!(
            named.get(&QueryId::new("7"), &DocId::new("d")),
            Some(&vec![1.0])
        );
        assert_eq!(named.get(&QueryId::new("8"), &DocId::new("d")), None);
    }
}
