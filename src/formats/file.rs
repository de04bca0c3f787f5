//! Files on disk: checks what kind of file a path names, and creates files that only their owner
//! may read.

#[cfg(feature = "parquet")]
use super::parquet_lines::ParquetLines;
use crate::domain::named::did_you_mean;
use flate2::bufread::MultiGzDecoder;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Cursor, IsTerminal as _, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Stands for standard input when reading.
const STANDARD_INPUT: &str = "-";

/// A path for display.
pub fn display_name(path: &Path) -> String {
    if is_standard_input(path) {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

/// The name of a file without the `.gz` suffix.
pub fn unpacked_name(path: &Path) -> PathBuf {
    if path.extension().is_some_and(|ending| ending == "gz") {
        path.with_extension("")
    } else {
        path.to_owned()
    }
}

pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == STANDARD_INPUT
}

/// Describes a path that is not a regular file; `None` for a regular file.
pub fn odd_kind(found: &Metadata) -> Option<&'static str> {
    if found.is_file() {
        return None;
    }
    if found.is_dir() {
        return Some("a folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let kind = found.file_type();
        let known = [
            (kind.is_fifo(), "a pipe (FIFO)"),
            (kind.is_socket(), "a socket"),
            (kind.is_char_device() || kind.is_block_device(), "a device"),
        ];
        if let Some((_, words)) = known.iter().find(|(is, _)| *is) {
            return Some(words);
        }
    }
    Some("not a regular file")
}

/// Whether two paths lead to the same file, through any links.
pub fn same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let number = |path: &Path| {
            let found = std::fs::metadata(path).ok()?;
            Some((found.dev(), found.ino()))
        };
        number(one).is_some() && number(one) == number(other)
    }
    #[cfg(not(unix))]
    {
        let real = |path: &Path| path.canonicalize().ok();
        real(one).is_some() && real(one) == real(other)
    }
}

/// Opens a regular file for reading. The kind is checked first, because opening a pipe blocks until
/// someone writes to it.
pub fn open(path: &Path) -> io::Result<File> {
    let found = std::fs::metadata(path).map_err(|error| absent(path, error))?;
    match odd_kind(&found) {
        None => File::open(path).map_err(|error| absent(path, error)),
        Some(kind) => Err(odd(kind)),
    }
}

/// Why a file is missing or cannot be read, with a hint.
fn absent(path: &Path, error: io::Error) -> io::Error {
    let words = match error.kind() {
        io::ErrorKind::NotFound => {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            let Ok(entries) = std::fs::read_dir(folder) else {
                let words = format!("there is no folder {}", folder.display());
                return io::Error::new(io::ErrorKind::NotFound, words);
            };
            let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            let mut names: Vec<String> = names.collect();
            names.sort();
            let typed = path.file_name().unwrap_or_default().to_string_lossy();
            format!("there is no such file{}", did_you_mean(&typed, names))
        }
        io::ErrorKind::PermissionDenied => {
            "no permission to read it; change its permissions, or name another file".to_owned()
        }
        _ => return error,
    };
    io::Error::new(error.kind(), words)
}

#[cfg(feature = "parquet")]
fn rows_of_parquet(path: &Path) -> io::Result<Packing> {
    let rows = ParquetLines::new(open(path)?)?;
    Ok(Packing::Parquet(Box::new(rows)))
}

#[cfg(not(feature = "parquet"))]
fn rows_of_parquet(_: &Path) -> io::Result<Packing> {
    let what = "is Parquet, which this overrule was built without; convert it to JSON lines, or \
                build overrule with `cargo install --path . --features parquet`";
    Err(io::Error::new(io::ErrorKind::InvalidData, what))
}

/// The content of a file, decompressed if it is gzip, regardless of its name, and the rows of
/// Parquet as JSON lines; `-` is standard input, which is kept in memory because files are read
/// more than once. `seen` is called with the number of compressed bytes read.
pub fn open_unpacked(
    path: &Path,
    seen: impl Fn(u64) + Send + 'static,
) -> io::Result<BufReader<UnpackedFile>> {
    let source: Box<dyn Read + Send> = if is_standard_input(path) {
        Box::new(Cursor::new(standard_input()?))
    } else {
        Box::new(open(path)?)
    };
    let seen = Box::new(seen);
    let mut packed = BufReader::with_capacity(BUFFER, SeenBytes { source, seen });
    if packed.fill_buf()?.starts_with(PARQUET) {
        if is_standard_input(path) {
            let what = "is Parquet, which is read from a file only; name the file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let rows = rows_of_parquet(path)?;
        let SeenBytes { seen, .. } = packed.into_inner();
        seen(std::fs::metadata(path)?.len());
        return Ok(BufReader::with_capacity(BUFFER, UnpackedFile(rows)));
    }
    let is_packed = packed.fill_buf()?.starts_with(GZIP);
    let file = if is_packed {
        UnpackedFile(Packing::Gzip(Box::new(MultiGzDecoder::new(packed))))
    } else {
        UnpackedFile(Packing::None(packed))
    };
    Ok(BufReader::with_capacity(BUFFER, file))
}

/// Maximum decompressed size of a file that is read whole: a small compressed file can contain many
/// gigabytes.
const LARGEST_WHOLE: u64 = 512 << 20;

/// A file that is read whole; reading fails beyond the maximum size.
struct WholeFile<R> {
    source: R,
    left: u64,
}

impl<R> WholeFile<R> {
    fn new(source: R) -> Self {
        Self {
            source,
            left: LARGEST_WHOLE,
        }
    }
}

impl<R: Read> Read for WholeFile<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            let most = LARGEST_WHOLE >> 20;
            let words = format!("it holds more than {most} MiB, unpacked; split it");
            io::Error::new(io::ErrorKind::FileTooLarge, words)
        })?;
        Ok(read)
    }
}

const BUFFER: usize = 1 << 18;
const PARQUET: &[u8] = b"PAR1";
const GZIP: &[u8] = b"\x1f\x8b";

/// A file's decompressed content.
pub struct UnpackedFile(Packing);

enum Packing {
    None(BufReader<SeenBytes>),
    Gzip(Box<MultiGzDecoder<BufReader<SeenBytes>>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetLines>),
}

impl Read for UnpackedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Packing::None(file) => file.read(into),
            #[cfg(feature = "parquet")]
            Packing::Parquet(rows) => rows.read(into),
            // The decoder returns small pieces, but callers that look at the beginning of a file
            // need enough of it.
            Packing::Gzip(file) => {
                let mut filled = 0;
                while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
                    match file.read(rest).map_err(damaged)? {
                        0 => break,
                        read => filled += read,
                    }
                }
                Ok(filled)
            }
        }
    }
}

fn damaged(error: io::Error) -> io::Error {
    let what = "is compressed with gzip, and cut off or damaged; pack or download it again";
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            io::Error::new(io::ErrorKind::InvalidData, what)
        }
        _ => error,
    }
}

/// Counts the bytes that pass through.
struct SeenBytes {
    source: Box<dyn Read + Send>,
    seen: Box<dyn Fn(u64) + Send>,
}

impl Read for SeenBytes {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        (self.seen)(read as u64);
        Ok(read)
    }
}

/// All of standard input, read once.
fn standard_input() -> io::Result<Arc<[u8]>> {
    static READ: OnceLock<Arc<[u8]>> = OnceLock::new();
    if let Some(read) = READ.get() {
        return Ok(Arc::clone(read));
    }
    let mut input = io::stdin().lock();
    if input.is_terminal() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "is a terminal; send a file into it, or name one",
        ));
    }
    let mut bytes = Vec::new();
    WholeFile::new(&mut input).read_to_end(&mut bytes)?;
    Ok(Arc::clone(READ.get_or_init(|| bytes.into())))
}

pub fn read_to_string(path: &Path) -> io::Result<String> {
    text_of(open(path)?)
}

fn text_of(file: File) -> io::Result<String> {
    io::read_to_string(WholeFile::new(file)).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => io::Error::new(error.kind(), "is not text in UTF-8"),
        _ => error,
    })
}

/// The text of a regular file with a single name: a symbolic or hard link could lead to any other
/// file.
pub fn read_to_string_unlinked(path: &Path) -> io::Result<String> {
    let refused = |words: &str| {
        let words = format!("is {words}; copy the file here instead");
        io::Error::new(io::ErrorKind::InvalidInput, words)
    };
    if std::fs::symlink_metadata(path)?.is_symlink() {
        return Err(refused("a symbolic link"));
    }
    let file = open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let (opened, named) = (file.metadata()?, std::fs::symlink_metadata(path)?);
        // Check that the file has not been replaced in the meantime.
        if (opened.dev(), opened.ino()) != (named.dev(), named.ino()) {
            return Err(refused("a symbolic link"));
        }
        if opened.nlink() > 1 {
            return Err(refused("a file with several names (hard links)"));
        }
    }
    text_of(file)
}

/// Creates or truncates a file that only its owner may read and write, regardless of the umask.
pub fn create(path: &Path) -> io::Result<File> {
    if let Ok(found) = std::fs::metadata(path)
        && let Some(kind) = odd_kind(&found)
    {
        return Err(odd(kind));
    }
    let mut options = OpenOptions::new();
    private(options.write(true).create(true).truncate(true), path)
}

/// Creates a file that only its owner may read and write; [`io::ErrorKind::AlreadyExists`] if it
/// exists.
pub fn create_new(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create_new(true), path)
}

/// Opens a file for appending; if it is created, only its owner may read and write it.
pub fn append(path: &Path) -> io::Result<File> {
    if let Ok(found) = std::fs::metadata(path) {
        return match odd_kind(&found) {
            None => OpenOptions::new().append(true).open(path),
            Some(kind) => Err(odd(kind)),
        };
    }
    private(OpenOptions::new().append(true).create(true), path)
}

fn odd(kind: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("is {kind}; name a regular file"),
    )
}

#[cfg(unix)]
fn private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let file = options.mode(0o600).open(path)?;
    // The umask may have removed the owner's own permissions, and an existing file keeps its old
    // ones.
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Lets only its owner read and write an existing file.
#[cfg(unix)]
pub fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
pub fn make_private(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}
