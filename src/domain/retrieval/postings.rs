//! A term's documents in packed form.

/// Maximum number of bytes per entry.
const ENTRY: usize = 10;

/// The documents that contain a term, with its count, by ascending document, as variable-length
/// numbers (LEB128): the distance from the previous document, then the count.
#[derive(Clone, Debug, Default)]
pub(super) struct Postings {
    bytes: Vec<u8>,
    /// The smallest document that may come next.
    next: u32,
    documents: u32,
}

impl Postings {
    /// Appends a document, which must come after all others.
    pub(super) fn push(&mut self, document: u32, count: u32) {
        if self.bytes.capacity() - self.bytes.len() < ENTRY {
            // Grow by a quarter instead of doubling: most of an index is long lists.
            self.bytes.reserve_exact(ENTRY + self.bytes.len() / 4);
        }
        put(&mut self.bytes, document.saturating_sub(self.next));
        put(&mut self.bytes, count);
        self.next = document.saturating_add(1);
        self.documents += 1;
    }

    pub(super) fn documents(&self) -> usize {
        self.documents as usize
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let mut bytes = self.bytes.iter();
        let mut next = 0;
        std::iter::from_fn(move || {
            let document = next + take(&mut bytes)?;
            next = document + 1;
            Some((document, take(&mut bytes)?))
        })
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take<'a>(bytes: &mut impl Iterator<Item = &'a u8>) -> Option<u32> {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let byte = bytes.next()?;
        number |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(entries in prop::collection::btree_map(0u32..=u32::MAX - 1, 1u32.., 0..40)) {
            let mut postings = Postings::default();
            for (document, count) in &entries {
                postings.push(*document, *count);
            }
            prop_assert_eq!(postings.documents(), entries.len());
            prop_assert!(postings.iter().eq(entries));
        }
    }
}
