//! Reads a folder of Parquet files, such as `part-00000.parquet`, as one file of JSON lines.

use super::file::open;
use super::parquet_lines::ParquetLines;
use super::problem::Problem;
use parquet::schema::types::Type;
use std::ffi::OsStr;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// A file of the folder.
#[derive(Clone, Debug)]
struct Shard {
    path: PathBuf,
    rows: u64,
}

/// The Parquet files of a folder, by name.
#[derive(Clone, Debug)]
pub struct ParquetShards(Vec<Shard>);

impl ParquetShards {
    /// The files whose names end in `.parquet`.
    ///
    /// # Errors
    /// There is none, a folder inside has some too, a file cannot be read, or the columns of a file differ from those of the first
    /// one. The message names the file.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<_>>()?;
        let below = |path: &&PathBuf| path.is_dir() && has_shards(path);
        if let Some(below) = paths.iter().filter(below).min() {
            return Err(invalid(format!(
                "{}: is a folder inside {} and holds Parquet files too; import each folder by itself",
                below.display(),
                folder.display()
            )));
        }
        paths.retain(|path| is_shard(path));
        paths.sort();
        let mut shards = Vec::new();
        let mut first: Option<Type> = None;
        for path in paths {
            let name = path.display().to_string();
            let of_file =
                |error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}"));
            let file = open(&path).map_err(of_file)?;
            let (schema, rows) = ParquetLines::describe(file).map_err(of_file)?;
            match &first {
                None => first = Some(schema),
                Some(first) if first.get_fields() == schema.get_fields() => {}
                Some(first) => {
                    return Err(invalid(format!(
                        "{name}: {}; files with other columns are imported one by one",
                        difference(first, &schema)
                    )));
                }
            }
            shards.push(Shard { path, rows });
        }
        match shards.is_empty() {
            true => Err(invalid(format!(
                "{}: holds no file that ends in .parquet",
                folder.display()
            ))),
            false => Ok(Self(shards)),
        }
    }

    /// Number of files.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The rows of all files as JSON lines, one file after the other.
    pub fn read(&self) -> BufReader<ShardReader> {
        BufReader::new(ShardReader {
            rest: self.0.clone().into_iter(),
            open: None,
        })
    }

    /// A problem at a line of [`Self::read`], as one at a row of its file.
    pub fn place(&self, problem: Problem) -> Problem {
        let Some(line) = problem.line else {
            return problem;
        };
        match self.row(line) {
            Some((path, row)) => {
                Problem::new(&path.display().to_string(), Some(row), problem.message)
            }
            None => problem,
        }
    }

    /// The file and the row, from 1, of a line.
    pub fn row(&self, line: u64) -> Option<(&Path, u64)> {
        let mut before = 0;
        for shard in &self.0 {
            if line <= before + shard.rows {
                return Some((&shard.path, line - before));
            }
            before += shard.rows;
        }
        // Reading stopped in the last file.
        let last = self.0.last()?;
        Some((&last.path, line.saturating_sub(before - last.rows)))
    }
}

/// Whether a folder has Parquet files.
pub fn has_shards(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .any(|path| is_shard(&path))
}

fn is_shard(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("parquet")) && !path.is_dir()
}

/// How the columns of a file differ from those of the first one.
fn difference(first: &Type, other: &Type) -> String {
    let names = |of: &Type| -> Vec<String> {
        of.get_fields()
            .iter()
            .map(|field| field.name().to_owned())
            .collect()
    };
    let (expected, found) = (names(first), names(other));
    if let Some(name) = found.iter().find(|name| !expected.contains(name)) {
        return format!("has a column {name:?}, which the first file lacks");
    }
    if let Some(name) = expected.iter().find(|name| !found.contains(name)) {
        return format!("lacks the column {name:?} of the first file");
    }
    let fields = first.get_fields().iter().zip(other.get_fields());
    let differing = fields.clone().find(|(one, other)| one != other);
    differing.map_or_else(
        || "has other columns than the first file".to_owned(),
        |(field, _)| {
            format!(
                "the column {:?} has another type or place than in the first file",
                field.name()
            )
        },
    )
}

/// The rows of several files as text.
pub struct ShardReader {
    rest: std::vec::IntoIter<Shard>,
    open: Option<ParquetLines>,
}

impl Read for ShardReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(lines) = &mut self.open {
                match lines.read(into)? {
                    0 if !into.is_empty() => self.open = None,
                    read => return Ok(read),
                }
            }
            match self.rest.next() {
                None => return Ok(0),
                Some(shard) => self.open = Some(ParquetLines::new(open(&shard.path)?)?),
            }
        }
    }
}
