//! Chooses the documents of a query to grade in order to estimate its offset.

/// The share of a ranking, from the top, over which anchors are spread: everyone gives grade 0 to
/// documents farther down.
const REACH: f64 = 0.6;

/// Ranks (from 0) for this many anchors in a ranking of `documents`, best first: evenly spaced from
/// the first to the 60 % quantile, without duplicates.
pub fn anchor_places(documents: usize, anchors: usize) -> Vec<usize> {
    let last = (REACH * documents.saturating_sub(1) as f64).round();
    let steps = anchors.saturating_sub(1).max(1) as f64;
    let mut places: Vec<usize> = (0..anchors)
        .map(|at| (last * at as f64 / steps).round() as usize)
        .filter(|place| *place < documents)
        .collect();
    places.dedup();
    places
}

/// The ranks to add to `have` to get as many anchors as [`anchor_places`] would choose: repeatedly
/// the one of its ranks that is farthest from all existing ones. Ascending.
pub fn more_anchor_places(documents: usize, anchors: usize, have: &[usize]) -> Vec<usize> {
    let wanted = anchor_places(documents, anchors);
    let missing = wanted.len().saturating_sub(have.len());
    let mut added: Vec<usize> = Vec::with_capacity(missing);
    for _ in 0..missing {
        let distance = |place: &usize| {
            have.iter()
                .chain(&added)
                .map(|other| other.abs_diff(*place))
                .min()
        };
        let free = wanted.iter().filter(|place| distance(place) != Some(0));
        // In a tie, take the first, which is ranked best.
        let farthest = free
            .rev()
            .max_by_key(|place| distance(place).unwrap_or(usize::MAX));
        added.extend(farthest.copied());
    }
    added.sort_unstable();
    added
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_reach_from_the_top_to_six_tenths() {
        assert_eq!(anchor_places(31, 5), [0, 5, 9, 14, 18]);
        assert_eq!(anchor_places(31, 1), [0]);
        assert_eq!(anchor_places(3, 5), [0, 1]);
        assert_eq!(anchor_places(1, 5), [0]);
        assert_eq!(anchor_places(0, 5), Vec::<usize>::new());
        assert_eq!(anchor_places(9, 0), Vec::<usize>::new());
    }

    #[test]
    fn anchors_that_are_there_count_and_gaps_are_filled() {
        assert_eq!(more_anchor_places(31, 5, &[]), [0, 5, 9, 14, 18]);
        assert_eq!(
            more_anchor_places(31, 5, &[3, 4, 7, 11, 30]),
            Vec::<usize>::new()
        );
        assert_eq!(more_anchor_places(31, 5, &[0, 1, 17]), [5, 9]);
        assert_eq!(more_anchor_places(31, 2, &[0, 5, 9]), Vec::<usize>::new());
        assert_eq!(more_anchor_places(3, 5, &[2]), [0]);
    }
}
