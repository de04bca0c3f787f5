//! Many IDs in one allocation.

use crate::domain::corpus::DocId;

/// IDs by position, concatenated: with a `String` each, millions of short IDs would need five times
/// the memory.
#[derive(Clone, Debug, Default)]
pub(super) struct PackedIds {
    text: String,
    ends: Vec<usize>,
}

impl PackedIds {
    pub(super) fn push(&mut self, id: &DocId) {
        self.text.push_str(id.as_str());
        self.ends.push(self.text.len());
    }

    pub(super) fn get(&self, at: usize) -> Option<&str> {
        let start = at
            .checked_sub(1)
            .map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.text.get(start..*self.ends.get(at)?)
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_there() {
        let mut ids = PackedIds::default();
        let names = ["7", "", "é-1"];
        names.iter().for_each(|name| ids.push(&DocId::new(*name)));
        assert_eq!([0, 1, 2].map(|at| ids.get(at).unwrap()), names);
        assert_eq!((ids.len(), ids.get(3)), (3, None));
    }
}
