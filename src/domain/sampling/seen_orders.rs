//! The document orders in which a judge has seen a pair, and the order to show next.

/// The document orders in which a judge has seen a pair, or is about to see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenOrders {
    earlier_first: bool,
    later_first: bool,
}

impl SeenOrders {
    /// Adds an order; `later_first` means that the document later in the pool came first.
    pub fn add(&mut self, later_first: bool) {
        if later_first {
            self.later_first = true;
        } else {
            self.earlier_first = true;
        }
    }

    /// How to show the pair next: as planned if the judge has not seen it, in the other order if it
    /// has seen one, and not at all if it has seen both. Repeating a question would give the same
    /// answer, which is no further evidence.
    pub fn next(self, planned: bool) -> Option<bool> {
        match (self.earlier_first, self.later_first) {
            (false, false) => Some(planned),
            (true, false) => Some(true),
            (false, true) => Some(false),
            (true, true) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_shown_once_in_each_order() {
        for planned in [false, true] {
            let mut seen = SeenOrders::default();
            assert_eq!(seen.next(planned), Some(planned));
            seen.add(planned);
            for again in [false, true] {
                assert_eq!(seen.next(again), Some(!planned));
            }
            seen.add(!planned);
            assert_eq!(seen.next(planned), None);
        }
    }
}
