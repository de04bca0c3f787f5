//! Slices: the documents of a query that have the same metadata value, with their mean score.

use super::View;
use std::collections::{HashMap, HashSet};

/// Number of different values from which numbers are grouped.
const MOST_VALUES: usize = 8;

/// Number of groups of numbers.
const GROUPS: usize = 4;

#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// The value, or the range of a group of numbers; `None` for documents without a value.
    pub value: Option<String>,
    /// Pool indexes, ascending.
    pub documents: Vec<usize>,
    /// Number of documents in the top.
    pub in_top: usize,
    /// `None` if no document has a score.
    pub mean: Option<SliceMean>,
}

/// The mean zELO of a slice's documents with a score. The mean over the query is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliceMean {
    pub scored: usize,
    pub zelo: f64,
    /// Its standard error, from the errors of the scores and their covariance; it does not cover
    /// the choice of the documents in the pool.
    pub se: Option<f64>,
}

/// The slices of a query by the values of its documents, highest mean first; those without a mean
/// come last, and within them the larger ones first.
pub fn slices(view: &View, top: usize, values: &[Option<String>]) -> Vec<Slice> {
    let mut by_value: HashMap<Option<String>, Vec<usize>> = HashMap::new();
    for (document, value) in grouped(values).into_iter().enumerate() {
        by_value.entry(value).or_default().push(document);
    }
    let mut slices: Vec<Slice> = by_value
        .into_iter()
        .map(|(value, documents)| Slice {
            value,
            in_top: documents
                .iter()
                .filter_map(|document| view.standings.get(*document).copied().flatten())
                .filter(|standing| standing.rank <= top)
                .count(),
            mean: mean(view, &documents),
            documents,
        })
        .collect();
    let height = |slice: &Slice| slice.mean.map_or(f64::NEG_INFINITY, |mean| mean.zelo);
    slices.sort_by(|x, y| {
        height(y)
            .total_cmp(&height(x))
            .then(y.documents.len().cmp(&x.documents.len()))
            .then_with(|| x.value.cmp(&y.value))
    });
    slices
}

fn mean(view: &View, documents: &[usize]) -> Option<SliceMean> {
    let fit = view.fit.as_ref().ok()?;
    let members: HashSet<usize> = documents.iter().copied().collect();
    let places: Vec<usize> = view
        .entered()
        .iter()
        .enumerate()
        .filter(|(_, document)| members.contains(*document))
        .map(|(place, _)| place)
        .collect();
    let scored = places.len();
    if scored == 0 {
        return None;
    }
    let sum: f64 = places
        .iter()
        .filter_map(|place| fit.scores.get(*place))
        .sum();
    let se = view.covariance().map(|covariance| {
        let variance: f64 = places
            .iter()
            .flat_map(|i| places.iter().map(move |j| covariance.get(*i, *j)))
            .sum();
        variance.max(0.0).sqrt() / scored as f64
    });
    Some(SliceMean {
        scored,
        zelo: sum / scored as f64,
        se,
    })
}

/// Many different numbers become a few ranges with about equally many documents.
fn grouped(values: &[Option<String>]) -> Vec<Option<String>> {
    let distinct: HashSet<&str> = values.iter().flatten().map(String::as_str).collect();
    let numbers: Option<Vec<Option<f64>>> = values
        .iter()
        .map(|value| match value {
            None => Some(None),
            Some(text) => {
                let number: f64 = text.trim().parse().ok()?;
                number.is_finite().then_some(Some(number))
            }
        })
        .collect();
    let Some(numbers) = numbers.filter(|_| distinct.len() > MOST_VALUES) else {
        return values.to_vec();
    };
    let mut sorted: Vec<f64> = numbers.iter().copied().flatten().collect();
    sorted.sort_by(f64::total_cmp);
    // The first number of each group; equal numbers stay together.
    let starts: Vec<f64> = (0..GROUPS)
        .map(|group| sorted[group * sorted.len() / GROUPS])
        .collect();
    let group = |number: f64| starts.iter().rposition(|start| *start <= number);
    let name = |at: usize| {
        let inside: Vec<f64> = sorted
            .iter()
            .copied()
            .filter(|number| group(*number) == Some(at))
            .collect();
        match (inside.first(), inside.last()) {
            (Some(low), Some(high)) if low < high => format!("{low} to {high}"),
            (Some(low), _) => low.to_string(),
            _ => String::new(),
        }
    };
    let names: Vec<String> = (0..GROUPS).map(name).collect();
    numbers
        .into_iter()
        .map(|number| group(number?).map(|at| names[at].clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::battle::{Battle, BattleId};
    use crate::domain::ranking::{BattleRecord, QueryRows, RankingSettings};
    use crate::domain::vote::{JudgeId, Margin, Vote};

    /// Four documents in a chain: each beats the next one.
    fn view() -> View {
        let battles = (0..3).map(|at| BattleRecord {
            battle: Battle {
                id: BattleId(at as i64),
                a: at,
                b: at + 1,
                game: 0,
            },
            votes: vec![Vote {
                judge: JudgeId(1),
                margin: Margin::new(-1.0).unwrap(),
                swapped: false,
            }],
            failed: Vec::new(),
            asked: None,
        });
        let rows = QueryRows {
            documents: 4,
            judges: vec![JudgeId(1)],
            battles: battles.collect(),
            ..QueryRows::default()
        };
        View::new(rows, RankingSettings::default())
    }

    fn texts(values: &[&str]) -> Vec<Option<String>> {
        values
            .iter()
            .map(|value| (!value.is_empty()).then(|| (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_slice_has_the_mean_of_its_documents_and_its_error() {
        let view = view();
        let found = slices(&view, 2, &texts(&["x", "y", "x", ""]));
        let names: Vec<_> = found.iter().map(|slice| slice.value.as_deref()).collect();
        assert_eq!(names, [Some("x"), Some("y"), None]);
        let score = |at: usize| view.standings[at].unwrap().zelo;
        let x = found[0].mean.unwrap();
        assert!((x.zelo - (score(0) + score(2)) / 2.0).abs() < 1e-12);
        assert_eq!((found[0].in_top, x.scored), (1, 2));
        let one = found[2].mean.unwrap();
        assert!((one.se.unwrap() - view.standings[3].unwrap().se.unwrap()).abs() < 1e-12);
        let covariance = view.covariance().unwrap();
        let wanted =
            (covariance.get(0, 0) + covariance.get(2, 2) + 2.0 * covariance.get(0, 2)).sqrt() / 2.0;
        assert!((x.se.unwrap() - wanted).abs() < 1e-12);
    }

    #[test]
    fn all_documents_together_have_the_mean_of_the_query() {
        let found = slices(&view(), 2, &texts(&["", "", "", ""]));
        assert_eq!(found.len(), 1);
        assert!(found[0].mean.unwrap().zelo.abs() < 1e-9);
    }

    #[test]
    fn many_numbers_become_ranges() {
        let values: Vec<String> = (0..12).map(|number| format!("{}", number * 10)).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).chain([""]).collect();
        let groups = grouped(&texts(&values));
        assert_eq!(groups[0].as_deref(), Some("0 to 20"));
        assert_eq!(groups[11].as_deref(), Some("90 to 110"));
        assert_eq!(groups[12], None);
        let few = texts(&["3", "1", "3"]);
        assert_eq!(grouped(&few), few);
        let words = texts(&["a", "b", "c", "d", "e", "f", "g", "h", "i", "10"]);
        assert_eq!(grouped(&words), words);
    }
}
