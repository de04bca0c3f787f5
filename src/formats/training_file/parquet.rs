//! Parquet: rows in groups, compressed with gzip; messages are a list of two texts, as readers of Arrow know it.

use super::{Cell, Column, ColumnKind, Message, TrainingRows, check};
use parquet::basic::{Compression, GzipLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::parser::parse_message_type;
use std::io::{self, Write};
use std::sync::Arc;

/// Bytes of text after which a group of rows is written: so much is held in memory.
const GROUP_BYTES: usize = 16 << 20;

pub struct ParquetRows<'a> {
    columns: &'a [Column],
    file: SerializedFileWriter<&'a mut (dyn Write + Send)>,
    rows: Vec<Vec<Cell>>,
    bytes: usize,
}

impl<'a> ParquetRows<'a> {
    pub fn new(columns: &'a [Column], out: &'a mut (dyn Write + Send)) -> io::Result<Self> {
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

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for (at, (_, kind)) in self.columns.iter().enumerate() {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            match kind {
                ColumnKind::Text => write_texts(&mut group, cells)?,
                ColumnKind::Number | ColumnKind::OptionalNumber => {
                    write_numbers(&mut group, *kind, cells)?;
                }
                ColumnKind::Messages => {
                    write_messages(&mut group, cells.clone(), |message| message.role)?;
                    write_messages(&mut group, cells, |message| &message.content)?;
                }
            }
        }
        group.close()?;
        self.rows.clear();
        self.bytes = 0;
        Ok(())
    }
}

impl TrainingRows for ParquetRows<'_> {
    fn write(&mut self, row: Vec<Cell>) -> io::Result<()> {
        check(self.columns, &row)?;
        self.bytes += row.iter().map(bytes).sum::<usize>();
        self.rows.push(row);
        match self.bytes >= GROUP_BYTES {
            true => self.write_group().map_err(failed),
            false => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if !self.rows.is_empty() {
            self.write_group().map_err(failed)?;
        }
        self.file.close().map_err(failed)?;
        Ok(())
    }
}

/// The schema in Parquet's own language.
fn schema(columns: &[Column]) -> String {
    let field = |(name, kind): &Column| match kind {
        ColumnKind::Text => format!("required binary {name} (STRING);"),
        ColumnKind::Number => format!("required double {name};"),
        ColumnKind::OptionalNumber => format!("optional double {name};"),
        ColumnKind::Messages => format!(
            "required group {name} (LIST) {{ repeated group list {{ required group element {{
                 required binary role (STRING); required binary content (STRING); }} }} }}"
        ),
    };
    let fields: Vec<String> = columns.iter().map(field).collect();
    format!("message row {{ {} }}", fields.join(" "))
}

fn bytes(cell: &Cell) -> usize {
    match cell {
        Cell::Text(text) => text.len(),
        Cell::Number(_) => 8,
        Cell::Messages(messages) => messages.iter().map(|message| message.content.len()).sum(),
    }
}

/// An error of the disk as it is: whether it is full is said elsewhere.
fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(of_disk) => *of_disk,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// The next column of a group; the schema has as many as are asked for.
fn next<'g, W: Write + Send>(
    group: &'g mut SerializedRowGroupWriter<'_, W>,
) -> Result<SerializedColumnWriter<'g>, ParquetError> {
    let column = group.next_column()?;
    column.ok_or_else(|| ParquetError::General("fewer columns than the schema".to_owned()))
}

fn write_texts<'c, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: impl Iterator<Item = &'c Cell>,
) -> Result<(), ParquetError> {
    let texts = cells.filter_map(|cell| match cell {
        Cell::Text(text) => Some(ByteArray::from(text.as_str())),
        Cell::Number(_) | Cell::Messages(_) => None,
    });
    let texts: Vec<ByteArray> = texts.collect();
    let mut column = next(group)?;
    column
        .typed::<ByteArrayType>()
        .write_batch(&texts, None, None)?;
    column.close()
}

fn write_numbers<'c, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    kind: ColumnKind,
    cells: impl Iterator<Item = &'c Cell>,
) -> Result<(), ParquetError> {
    let numbers = cells.filter_map(|cell| match cell {
        Cell::Number(number) => Some(*number),
        Cell::Text(_) | Cell::Messages(_) => None,
    });
    let numbers: Vec<Option<f64>> = numbers.collect();
    let known: Vec<f64> = numbers.iter().flatten().copied().collect();
    // 1 where there is a number; a column that always has one has no levels.
    let levels: Vec<i16> = numbers
        .iter()
        .map(|number| i16::from(number.is_some()))
        .collect();
    let levels = (kind == ColumnKind::OptionalNumber).then_some(&*levels);
    let mut column = next(group)?;
    column
        .typed::<DoubleType>()
        .write_batch(&known, levels, None)?;
    column.close()
}

fn write_messages<'c, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: impl Iterator<Item = &'c Cell>,
    part: impl Fn(&Message) -> &str,
) -> Result<(), ParquetError> {
    let (mut texts, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    for cell in cells {
        let Cell::Messages(messages) = cell else {
            continue;
        };
        if messages.is_empty() {
            // An empty list is a row without a value.
            defined.push(0);
            repeated.push(0);
        }
        for (at, message) in messages.iter().enumerate() {
            texts.push(ByteArray::from(part(message)));
            defined.push(1);
            // 0 begins a row, 1 goes on with its list.
            repeated.push(i16::from(at > 0));
        }
    }
    let mut column = next(group)?;
    let writer = column.typed::<ByteArrayType>();
    writer.write_batch(&texts, Some(&defined), Some(&repeated))?;
    column.close()
}
