//! Writes Parquet: rows in groups, compressed with gzip; lists in the layout that Arrow readers
//! expect.

use super::column::{CellKind, Column};
use parquet::basic::{Compression, GzipLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde_json::Value;
use std::io::{self, Write};
use std::sync::Arc;

/// Size of text after which a row group is written, which bounds the memory used.
const GROUP_BYTES: usize = 16 << 20;

pub(super) struct ParquetTable<'a> {
    columns: &'a [Column],
    file: SerializedFileWriter<&'a mut (dyn Write + Send)>,
    rows: Vec<Vec<Value>>,
    bytes: usize,
}

impl<'a> ParquetTable<'a> {
    pub(super) fn new(columns: &'a [Column], out: &'a mut (dyn Write + Send)) -> io::Result<Self> {
        let schema = parse_message_type(&schema(columns)).map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::GZIP(GzipLevel::default()))
            .set_created_by(concat!("overrule ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties));
        Ok(Self {
            columns,
            file: file.map_err(failed)?,
            rows: Vec::new(),
            bytes: 0,
        })
    }

    /// Takes one cell per column, of the column's type.
    pub(super) fn write(&mut self, row: Vec<Value>) -> io::Result<()> {
        self.bytes += row.iter().map(bytes).sum::<usize>();
        self.rows.push(row);
        if self.bytes >= GROUP_BYTES {
            self.write_group().map_err(failed)
        } else {
            Ok(())
        }
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        if !self.rows.is_empty() {
            self.write_group().map_err(failed)?;
        }
        self.file.close().map_err(failed)?;
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for (at, column) in self.columns.iter().enumerate() {
            let cells = || self.rows.iter().filter_map(|row| row.get(at));
            let lists = |part: &dyn Fn(&Value) -> Option<ByteArray>| {
                Leaves::of_lists(*column, cells(), part)
            };
            match column.kind {
                CellKind::Text => {
                    Leaves::of_cells(*column, cells(), text).write::<ByteArrayType, _>(&mut group)
                }
                CellKind::Json => Leaves::of_cells(*column, cells(), |cell| Some(json_text(cell)))
                    .write::<ByteArrayType, _>(&mut group),
                CellKind::Whole | CellKind::Time => {
                    Leaves::of_cells(*column, cells(), Value::as_i64)
                        .write::<Int64Type, _>(&mut group)
                }
                CellKind::Number => Leaves::of_cells(*column, cells(), Value::as_f64)
                    .write::<DoubleType, _>(&mut group),
                CellKind::Flag => Leaves::of_cells(*column, cells(), Value::as_bool)
                    .write::<BoolType, _>(&mut group),
                CellKind::Texts => lists(&text).write::<ByteArrayType, _>(&mut group),
                CellKind::Messages => {
                    let part = |name: &'static str| move |of: &Value| of.get(name).and_then(text);
                    lists(&part("role")).write::<ByteArrayType, _>(&mut group)?;
                    lists(&part("content")).write::<ByteArrayType, _>(&mut group)
                }
            }?;
        }
        group.close()?;
        self.rows.clear();
        self.bytes = 0;
        Ok(())
    }
}

/// The schema in Parquet's schema language.
fn schema(columns: &[Column]) -> String {
    let field = |column: &Column| {
        let name = column.name;
        let repetition = if column.is_optional {
            "optional"
        } else {
            "required"
        };
        let list = |element: &str| {
            format!("{repetition} group {name} (LIST) {{ repeated group list {{ {element} }} }}")
        };
        match column.kind {
            CellKind::Text => format!("{repetition} binary {name} (STRING);"),
            CellKind::Json => format!("{repetition} binary {name} (JSON);"),
            CellKind::Whole => format!("{repetition} int64 {name};"),
            CellKind::Time => format!("{repetition} int64 {name} (TIMESTAMP(MILLIS,false));"),
            CellKind::Number => format!("{repetition} double {name};"),
            CellKind::Flag => format!("{repetition} boolean {name};"),
            CellKind::Texts => list("required binary element (STRING);"),
            CellKind::Messages => list(
                "required group element \
                 { required binary role (STRING); required binary content (STRING); }",
            ),
        }
    };
    let fields: Vec<String> = columns.iter().map(field).collect();
    format!("message row {{ {} }}", fields.join(" "))
}

/// Approximate memory used by a cell.
fn bytes(cell: &Value) -> usize {
    match cell {
        Value::String(text) => text.len(),
        Value::Array(cells) => cells.iter().map(bytes).sum(),
        Value::Object(members) => members.values().map(bytes).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

fn text(cell: &Value) -> Option<ByteArray> {
    cell.as_str().map(ByteArray::from)
}

fn json_text(cell: &Value) -> ByteArray {
    ByteArray::from(cell.to_string().as_str())
}

/// Unwraps I/O errors: the caller reports whether the disk is full.
fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(of_disk) => *of_disk,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// The values of a column of the file, with Parquet's levels.
struct Leaves<T> {
    values: Vec<T>,
    /// Definition levels; only if values or parts of their paths can be missing.
    defined: Option<Vec<i16>>,
    /// Repetition levels: 0 starts a row, 1 continues its list; only for lists.
    repeated: Option<Vec<i16>>,
}

impl<T> Leaves<T> {
    fn of_cells<'c>(
        column: Column,
        cells: impl Iterator<Item = &'c Value> + Clone,
        value: impl Fn(&Value) -> Option<T>,
    ) -> Self {
        let is_there = |cell: &&Value| !cell.is_null();
        let level = |cell: &Value| i16::from(!cell.is_null());
        Self {
            values: cells.clone().filter(is_there).filter_map(value).collect(),
            defined: column.is_optional.then(|| cells.map(level).collect()),
            repeated: None,
        }
    }

    fn of_lists<'c>(
        column: Column,
        cells: impl Iterator<Item = &'c Value>,
        value: &dyn Fn(&Value) -> Option<T>,
    ) -> Self {
        let empty = i16::from(column.is_optional);
        let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        for cell in cells {
            let elements = cell.as_array().map_or(&[][..], Vec::as_slice);
            if elements.is_empty() {
                defined.push(if cell.is_null() { 0 } else { empty });
                repeated.push(0);
            }
            for (at, element) in elements.iter().enumerate() {
                values.extend(value(element));
                defined.push(empty + 1);
                repeated.push(i16::from(at > 0));
            }
        }
        Self {
            values,
            defined: Some(defined),
            repeated: Some(repeated),
        }
    }

    /// Writes the next column of a group; the schema has as many as are written.
    fn write<P: DataType<T = T>, W: Write + Send>(
        self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        let column = group.next_column()?;
        let missing = || ParquetError::General("fewer columns than the schema".to_owned());
        let mut column = column.ok_or_else(missing)?;
        column.typed::<P>().write_batch(
            &self.values,
            self.defined.as_deref(),
            self.repeated.as_deref(),
        )?;
        column.close()
    }
}
