//! Rows of numbers in scratch files instead of main memory: appended once, then read in order, or
//! in sorted order, as often as needed.

use std::cmp::Ordering;

/// Bytes that are read or written at once.
const CHUNK: usize = 1 << 16;
/// Bytes that are read at once of each run while sorted runs are merged.
const RUN_CHUNK: usize = 1 << 14;
/// Rows that are sorted in main memory. Only more of them are written to the file.
const RUN: usize = 1 << 16;
/// Bytes per number.
const NUMBER: usize = size_of::<f64>();

/// A scratch file that cannot be written or read, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpoolError(pub String);

impl SpoolError {
    pub(super) fn damaged() -> Self {
        Self("a temporary file has changed while it was used; run the command again".to_owned())
    }
}

/// Where scratch files come from.
pub trait Scratch: Sync {
    /// A new, empty file.
    fn file(&self) -> Result<Box<dyn ScratchFile>, SpoolError>;
}

/// Bytes that are appended, and read at any place.
pub trait ScratchFile: Send + Sync {
    fn append(&mut self, bytes: &[u8]) -> Result<(), SpoolError>;

    /// Reads as many bytes as `into` has, starting with the one at `place`.
    fn read(&self, place: u64, into: &mut [u8]) -> Result<(), SpoolError>;
}

/// Scratch files in main memory, for few rows.
#[derive(Clone, Copy, Debug)]
pub struct InMemory;

impl Scratch for InMemory {
    fn file(&self) -> Result<Box<dyn ScratchFile>, SpoolError> {
        Ok(Box::new(Vec::new()))
    }
}

impl ScratchFile for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) -> Result<(), SpoolError> {
        self.extend_from_slice(bytes);
        Ok(())
    }

    fn read(&self, place: u64, into: &mut [u8]) -> Result<(), SpoolError> {
        let bytes = usize::try_from(place).ok().and_then(|at| self.get(at..));
        let bytes = bytes.and_then(|bytes| bytes.get(..into.len()));
        into.copy_from_slice(bytes.ok_or_else(SpoolError::damaged)?);
        Ok(())
    }
}

/// Rows of `N` numbers in the order in which they were added.
pub struct Spool<const N: usize> {
    file: Box<dyn ScratchFile>,
    /// Number of bytes in the file.
    stored: u64,
    /// The last rows, which are not in the file yet.
    tail: Vec<u8>,
}

impl<const N: usize> Spool<N> {
    const ROW: usize = N * NUMBER;

    pub fn new(scratch: &dyn Scratch) -> Result<Self, SpoolError> {
        Ok(Self {
            file: scratch.file()?,
            stored: 0,
            tail: Vec::new(),
        })
    }

    #[inline]
    pub fn push(&mut self, row: [f64; N]) -> Result<(), SpoolError> {
        for number in row {
            self.tail.extend_from_slice(&number.to_le_bytes());
        }
        if self.tail.len() >= CHUNK {
            self.file.append(&self.tail)?;
            self.stored += self.tail.len() as u64;
            self.tail.clear();
        }
        Ok(())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.stored as usize / Self::ROW + self.tail.len() / Self::ROW
    }

    /// Visits the rows in order.
    pub fn each(&self, mut visit: impl FnMut([f64; N])) -> Result<(), SpoolError> {
        let mut buffer = vec![0; CHUNK / Self::ROW * Self::ROW];
        let mut place = 0;
        while place < self.stored {
            let left = usize::try_from(self.stored - place).unwrap_or(usize::MAX);
            let chunk = buffer.len().min(left);
            let chunk = &mut buffer[..chunk];
            self.file.read(place, chunk)?;
            chunk
                .chunks_exact(Self::ROW)
                .map(decoded)
                .for_each(&mut visit);
            place += chunk.len() as u64;
        }
        let tail = self.tail.chunks_exact(Self::ROW);
        tail.map(decoded).for_each(visit);
        Ok(())
    }
}

#[inline]
fn decoded<const N: usize>(bytes: &[u8]) -> [f64; N] {
    let (numbers, _) = bytes.as_chunks::<NUMBER>();
    let mut row = [0.0; N];
    // Indexes instead of `zip`, whose constructor is a call that costs as much as a short list.
    for at in 0..N.min(numbers.len()) {
        row[at] = f64::from_le_bytes(numbers[at]);
    }
    row
}

/// Sorts rows by their first numbers; rows with equal ones stay in the order in which they were
/// added.
pub struct Sorter<const N: usize> {
    /// Number of leading numbers to sort by.
    keys: usize,
    runs: Spool<N>,
    /// Number of rows of each run in `runs`.
    lengths: Vec<usize>,
    run: Vec<[f64; N]>,
}

/// Sorted rows.
pub struct Sorted<const N: usize>(Sorter<N>);

#[inline]
fn order<const N: usize>(keys: usize, x: &[f64; N], y: &[f64; N]) -> Ordering {
    for at in 0..keys.min(N) {
        match x[at].total_cmp(&y[at]) {
            Ordering::Equal => (),
            order => return order,
        }
    }
    Ordering::Equal
}

impl<const N: usize> Sorter<N> {
    pub fn new(scratch: &dyn Scratch, keys: usize) -> Result<Self, SpoolError> {
        Ok(Self {
            keys,
            runs: Spool::new(scratch)?,
            lengths: Vec::new(),
            run: Vec::new(),
        })
    }

    pub fn push(&mut self, row: [f64; N]) -> Result<(), SpoolError> {
        if self.run.len() == RUN {
            self.sort_run();
            self.lengths.push(self.run.len());
            for row in self.run.drain(..) {
                self.runs.push(row)?;
            }
        }
        self.run.push(row);
        Ok(())
    }

    pub fn sorted(mut self) -> Sorted<N> {
        self.sort_run();
        Sorted(self)
    }

    fn sort_run(&mut self) {
        let keys = self.keys;
        self.run.sort_by(|x, y| order(keys, x, y));
    }
}

impl<const N: usize> Sorted<N> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.0.runs.len() + self.0.run.len()
    }

    /// Visits the rows in order: merges the runs.
    pub fn each(&self, mut visit: impl FnMut([f64; N])) -> Result<(), SpoolError> {
        let mut start = 0;
        let mut runs: Vec<Run<'_, N>> = Vec::with_capacity(self.0.lengths.len() + 1);
        for rows in &self.0.lengths {
            runs.push(Run::Stored(StoredRun::new(&self.0.runs, start, *rows)));
            start += rows;
        }
        runs.push(Run::InMemory(self.0.run.iter()));
        let heads = runs.iter_mut().map(Run::next);
        let mut merged = Tournament::new(self.0.keys, heads.collect::<Result<_, _>>()?);
        while let Some((row, run)) = merged.first() {
            visit(row);
            let next = runs.get_mut(run).map_or(Ok(None), Run::next)?;
            merged.replace_first(next);
        }
        Ok(())
    }
}

/// Rows of a sorted run that are not merged yet.
enum Run<'a, const N: usize> {
    Stored(StoredRun<'a, N>),
    InMemory(std::slice::Iter<'a, [f64; N]>),
}

impl<const N: usize> Run<'_, N> {
    #[inline]
    fn next(&mut self) -> Result<Option<[f64; N]>, SpoolError> {
        match self {
            Self::Stored(rows) => rows.next(),
            Self::InMemory(rows) => Ok(rows.next().copied()),
        }
    }
}

struct StoredRun<'a, const N: usize> {
    runs: &'a Spool<N>,
    /// The place of the next chunk, and the end of the run, in bytes.
    place: usize,
    end: usize,
    chunk: Vec<u8>,
    /// Number of bytes of the chunk that are merged.
    done: usize,
}

impl<'a, const N: usize> StoredRun<'a, N> {
    fn new(runs: &'a Spool<N>, start: usize, rows: usize) -> Self {
        let place = start * Spool::<N>::ROW;
        Self {
            runs,
            place,
            end: place + rows * Spool::<N>::ROW,
            chunk: Vec::new(),
            done: 0,
        }
    }

    #[inline]
    fn next(&mut self) -> Result<Option<[f64; N]>, SpoolError> {
        let row = Spool::<N>::ROW;
        if self.done == self.chunk.len() {
            let most = RUN_CHUNK / row * row;
            self.chunk.resize(most.min(self.end - self.place), 0);
            self.runs.read(self.place, &mut self.chunk)?;
            self.place += self.chunk.len();
            self.done = 0;
        }
        let bytes = self.chunk.get(self.done..self.done + row);
        self.done += bytes.map_or(0, <[u8]>::len);
        Ok(bytes.map(decoded))
    }
}

impl<const N: usize> Spool<N> {
    /// Reads bytes from the file and from the rows that are not in it yet.
    fn read(&self, place: usize, into: &mut [u8]) -> Result<(), SpoolError> {
        let stored = usize::try_from(self.stored).map_err(|_| SpoolError::damaged())?;
        let (of_file, of_tail) = into.split_at_mut(into.len().min(stored.saturating_sub(place)));
        if !of_file.is_empty() {
            self.file.read(place as u64, of_file)?;
        }
        let from = (place + of_file.len()).saturating_sub(stored);
        let tail = self.tail.get(from..from + of_tail.len());
        of_tail.copy_from_slice(tail.ok_or_else(SpoolError::damaged)?);
        Ok(())
    }
}

/// The first rows of runs and the order of the next one among them: a tree of losers (Knuth, TAOCP
/// 3, § 5.4.1), which compares one row per level.
struct Tournament<const N: usize> {
    keys: usize,
    /// The first row of each run, unless it has ended.
    heads: Vec<Option<[f64; N]>>,
    /// By match, the run that has lost it, once it was played. The winners of matches 2i and 2i + 1
    /// meet in match i; the run at an index enters at that index plus the number of runs.
    losers: Vec<Option<usize>>,
    winner: usize,
}

impl<const N: usize> Tournament<N> {
    fn new(keys: usize, heads: Vec<Option<[f64; N]>>) -> Self {
        let mut found = Self {
            keys,
            losers: vec![None; heads.len()],
            heads,
            winner: 0,
        };
        (0..found.heads.len()).for_each(|run| found.play(run));
        found
    }

    /// The first of all rows, with its run.
    #[inline]
    fn first(&self) -> Option<([f64; N], usize)> {
        let head = self.heads.get(self.winner).copied().flatten();
        head.map(|row| (row, self.winner))
    }

    /// Replaces the first of all rows by the next one of its run.
    #[inline]
    fn replace_first(&mut self, next: Option<[f64; N]>) {
        if let Some(head) = self.heads.get_mut(self.winner) {
            *head = next;
            self.play(self.winner);
        }
    }

    /// Plays the matches of a run and of those that win against it.
    #[inline]
    fn play(&mut self, run: usize) {
        let mut winner = run;
        let mut at = usize::midpoint(run, self.heads.len());
        while at > 0 {
            match self.losers[at] {
                // The opponent comes later.
                None => {
                    self.losers[at] = Some(winner);
                    return;
                }
                Some(other) if self.is_before(other, winner) => {
                    self.losers[at] = Some(winner);
                    winner = other;
                }
                Some(_) => (),
            }
            at /= 2;
        }
        self.winner = winner;
    }

    #[inline]
    fn is_before(&self, run: usize, other: usize) -> bool {
        match (&self.heads[run], &self.heads[other]) {
            (Some(x), Some(y)) => order(self.keys, x, y).then(run.cmp(&other)).is_lt(),
            (row, _) => row.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;

    #[test]
    fn rows_are_read_as_they_were_added() {
        let mut spool = Spool::<3>::new(&InMemory).unwrap();
        let row = |at: usize| [at as f64, -0.0, f64::NAN];
        for count in [0, 7, 9_000] {
            (spool.len()..count).for_each(|at| spool.push(row(at)).unwrap());
            let mut found = Vec::new();
            spool.each(|row| found.push(row.map(f64::to_bits))).unwrap();
            let expected = (0..count).map(|at| row(at).map(f64::to_bits));
            assert!(expected.eq(found), "{count}");
        }
    }

    #[test]
    fn rows_are_sorted_as_in_memory_and_ties_keep_their_order() {
        let mut rng = SeededRng::new(1, &["rows"]);
        for count in [0, 5, RUN, RUN + 1, 3 * RUN + 99] {
            let rows: Vec<[f64; 3]> = (0..count)
                .map(|at| [rng.below(50) as f64 - 25.0, rng.below(3) as f64, at as f64])
                .collect();
            for keys in [1, 2] {
                let mut sorter = Sorter::new(&InMemory, keys).unwrap();
                rows.iter().for_each(|row| sorter.push(*row).unwrap());
                let sorted = sorter.sorted();
                let mut expected = rows.clone();
                expected.sort_by(|x, y| order(keys, x, y));
                let mut found = Vec::new();
                sorted.each(|row| found.push(row)).unwrap();
                assert_eq!(sorted.len(), count);
                assert!(found == expected, "{count}, {keys}");
            }
        }
    }
}
