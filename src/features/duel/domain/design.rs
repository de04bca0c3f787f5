//! Williams designs, which balance the positions of documents.

/// Number of squares in a design for this many documents: one for an even number, two for an odd
/// one.
fn squares(documents: usize) -> usize {
    1 + documents % 2
}

/// A row of a square in which every document appears once in every position (Williams 1949). The
/// second square is the first one mirrored. Over all squares of a design, each document appears
/// equally often directly before each other one.
fn row(documents: usize, square: usize, row: usize) -> Vec<usize> {
    // 0, 1, n − 1, 2, n − 2, …: all steps between neighbors differ.
    let first = (0..documents).map(|place| match place % 2 {
        1 => place / 2 + 1,
        _ => documents - place / 2,
    });
    let mut row: Vec<usize> = first.map(|at| (at + row) % documents).collect();
    if square == 1 {
        row.reverse();
    }
    row
}

/// The row for a participant and a query, both from 0. Over as many participants as there are
/// documents, each query has every document once in every position; the same holds for each
/// participant over as many queries. Over twice as many, the neighbors are balanced too. `shift`
/// moves every document to another position unless it is a multiple of the number of documents.
pub(super) fn row_of(
    documents: usize,
    participant: usize,
    query: usize,
    shift: usize,
) -> Vec<usize> {
    if documents == 0 {
        return Vec::new();
    }
    let square = (participant / documents + query / documents) % squares(documents);
    row(documents, square, participant + query + shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// All rows of a design.
    fn williams(documents: usize) -> Vec<Vec<usize>> {
        let squares = 0..squares(documents);
        let rows =
            squares.flat_map(|square| (0..documents).map(move |at| row(documents, square, at)));
        rows.collect()
    }

    /// How often each document is in each position.
    fn places(rows: &[Vec<usize>]) -> BTreeMap<(usize, usize), usize> {
        let mut counts = BTreeMap::new();
        for row in rows {
            for (place, document) in row.iter().enumerate() {
                *counts.entry((place, *document)).or_default() += 1;
            }
        }
        counts
    }

    /// How often each document comes directly before each other one.
    fn neighbors(rows: &[Vec<usize>]) -> BTreeMap<(usize, usize), usize> {
        let mut counts = BTreeMap::new();
        for row in rows {
            for pair in row.windows(2) {
                *counts.entry((pair[0], pair[1])).or_default() += 1;
            }
        }
        counts
    }

    fn all_equal(counts: &BTreeMap<(usize, usize), usize>, cells: usize, times: usize) -> bool {
        counts.len() == cells && counts.values().all(|count| *count == times)
    }

    #[test]
    fn nine_documents_have_eighteen_rows_with_places_and_neighbors_balanced() {
        let rows = williams(9);
        assert_eq!(rows.len(), 18);
        assert_eq!(rows[0], [0, 1, 8, 2, 7, 3, 6, 4, 5]);
        assert!(all_equal(&places(&rows[..9]), 81, 1));
        assert!(all_equal(&places(&rows[9..]), 81, 1));
        assert!(all_equal(&neighbors(&rows), 72, 2));
    }

    #[test]
    fn nine_participants_and_nine_queries_are_a_latin_square_both_ways() {
        for shift in 0..9 {
            for fixed in 0..9 {
                let of_query: Vec<_> = (0..9).map(|p| row_of(9, p, fixed, shift)).collect();
                let of_participant: Vec<_> = (0..9).map(|q| row_of(9, fixed, q, shift)).collect();
                assert!(all_equal(&places(&of_query), 81, 1));
                assert!(all_equal(&places(&of_participant), 81, 1));
            }
        }
        for fixed in 0..18 {
            let of_query: Vec<_> = (0..18).map(|p| row_of(9, p, fixed, 0)).collect();
            let of_participant: Vec<_> = (0..18).map(|q| row_of(9, fixed, q, 0)).collect();
            assert!(all_equal(&neighbors(&of_query), 72, 2));
            assert!(all_equal(&neighbors(&of_participant), 72, 2));
        }
    }

    proptest! {
        #[test]
        fn every_number_of_documents_is_balanced(documents in 2usize..14) {
            let rows = williams(documents);
            let squares = rows.len() / documents;
            prop_assert_eq!(squares, 1 + documents % 2);
            prop_assert!(all_equal(&places(&rows), documents * documents, squares));
            let pairs = documents * (documents - 1);
            prop_assert!(all_equal(&neighbors(&rows), pairs, squares));
        }

        #[test]
        fn a_shift_moves_every_document(
            documents in 2usize..12, participant in 0usize..40, query in 0usize..40, shift in 1usize..11,
        ) {
            let before = row_of(documents, participant, query, 0);
            let after = row_of(documents, participant, query, shift);
            let moved = before.iter().zip(&after).all(|(x, y)| x != y);
            prop_assert_eq!(moved, shift % documents != 0);
        }
    }
}
