//! The alternative annotator test (Calderon, Reichart & Dror 2025, *The Alternative Annotator Test
//! for LLM-as-a-Judge*): may a judge replace people?

use super::Rating;
use super::people_agreement::PersonVote;
use crate::domain::battle::Pair;
use crate::domain::number_words::{counted, fixed};
use crate::domain::sampling::SeededRng;
use crate::domain::vote::Outcome;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Minimum number of items, and of items that a person judged.
pub const FEWEST_ITEMS: usize = 30;
/// The advantage that a judge is granted because it is cheaper than a person: that for skilled
/// annotators in the paper.
pub const EPSILON: f64 = 0.15;
/// False discovery rate over the people.
const FALSE_DISCOVERIES: f64 = 0.05;

/// An item: what people and the judge said about it.
#[derive(Clone, Debug, PartialEq)]
pub struct AltTestItem {
    /// Each person once, with at least two people.
    pub people: Vec<(usize, Outcome)>,
    /// The judge's votes, at least one.
    pub judge: Vec<Outcome>,
}

/// Whether the judge could replace one person.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReplacedPerson {
    pub person: usize,
    pub items: usize,
    /// The share of items on which the judge agrees with the other people at least as much as this
    /// person does.
    pub judge_wins: f64,
    /// The share of items on which this person agrees with them at least as much as the judge.
    pub person_wins: f64,
    /// One-sided p-value of the hypothesis that the person is better by [`EPSILON`] or more.
    pub p: f64,
    /// Whether the hypothesis is rejected, with correction for the number of people.
    pub is_replaced: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AltTest {
    pub items: usize,
    pub epsilon: f64,
    pub people: Vec<ReplacedPerson>,
    /// The share of people whom the judge could replace (ω).
    pub winning_rate: f64,
    /// The mean of `judge_wins` (ρ).
    pub advantage: f64,
    pub passed: bool,
}

/// Too few suitable items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TooFewItems {
    /// Number of random pairs, at most one per query, that two people judged blind.
    pub items: usize,
}

impl TooFewItems {
    pub fn words(self) -> String {
        format!(
            "not run: it needs {FEWEST_ITEMS} random pairs (controls of a queue), one per query, that \
             two people judged blind, and a person who judged {FEWEST_ITEMS} of them; there are {}",
            self.items
        )
    }
}

impl AltTest {
    pub fn words(&self) -> String {
        let replaced = self.people.iter().filter(|of| of.is_replaced).count();
        format!(
            "{} for {replaced} of {} (ω {}, ρ {}, ε {}, {})",
            if self.passed {
                "passes"
            } else {
                "does not pass"
            },
            match self.people.len() {
                1 => "1 person".to_owned(),
                people => format!("{people} people"),
            },
            fixed(self.winning_rate, 2),
            fixed(self.advantage, 2),
            fixed(self.epsilon, 2),
            counted(self.items, "random pair")
        )
    }
}

/// The items for the test of a judge: at most one pair per query, chosen by a hash, from the random
/// pairs that at least two people judged blind. A query is a number, and its pairs are not
/// independent.
pub fn alt_test_items(
    ratings: &[Rating],
    people: &[PersonVote],
    random: &HashSet<(usize, Pair)>,
) -> Vec<AltTestItem> {
    let mut found: BTreeMap<(usize, Pair), AltTestItem> = BTreeMap::new();
    for said in people
        .iter()
        .filter(|of| random.contains(&(of.query, of.pair)))
    {
        let item = found.entry((said.query, said.pair));
        let item = item.or_insert_with(|| AltTestItem {
            people: Vec::new(),
            judge: Vec::new(),
        });
        item.people.push((said.person, said.outcome));
    }
    for (key, outcome) in ratings.iter().filter_map(Rating::on_pair) {
        if let Some(item) = found.get_mut(&key) {
            item.judge.push(outcome);
        }
    }
    let mut of_query: BTreeMap<usize, (usize, AltTestItem)> = BTreeMap::new();
    let suitable = found
        .into_iter()
        .filter(|(_, item)| item.people.len() > 1 && !item.judge.is_empty());
    for ((query, pair), item) in suitable {
        let names = [query, pair.low(), pair.high()].map(|name| name.to_string());
        let [query_name, low, high] = names.each_ref().map(String::as_str);
        let hash = SeededRng::new(0, &["alt-test", query_name, low, high]).below(usize::MAX);
        let known = of_query.get(&query);
        if known.is_none_or(|(known, _)| hash < *known) {
            of_query.insert(query, (hash, item));
        }
    }
    of_query.into_values().map(|(_, item)| item).collect()
}

/// The test of independent items.
///
/// # Errors
/// There are fewer than [`FEWEST_ITEMS`] items, or no person judged as many.
pub fn alt_test(items: &[AltTestItem], epsilon: f64) -> Result<AltTest, TooFewItems> {
    let persons: BTreeSet<usize> = items
        .iter()
        .flat_map(|item| item.people.iter().map(|(person, _)| *person))
        .collect();
    let mut people: Vec<ReplacedPerson> = persons
        .into_iter()
        .filter_map(|person| replaced(items, person, epsilon))
        .collect();
    if items.len() < FEWEST_ITEMS || people.is_empty() {
        return Err(TooFewItems { items: items.len() });
    }
    let rejected = benjamini_yekutieli(&people);
    for at in &rejected {
        people[*at].is_replaced = true;
    }
    let m = people.len() as f64;
    let winning_rate = rejected.len() as f64 / m;
    Ok(AltTest {
        items: items.len(),
        epsilon,
        winning_rate,
        advantage: people.iter().map(|of| of.judge_wins).sum::<f64>() / m,
        passed: winning_rate >= 0.5,
        people,
    })
}

/// The comparison of the judge with one person; `None` with too few items.
fn replaced(items: &[AltTestItem], person: usize, epsilon: f64) -> Option<ReplacedPerson> {
    let scores: Vec<[f64; 2]> = items
        .iter()
        .filter_map(|item| {
            let (_, said) = item.people.iter().find(|(who, _)| *who == person)?;
            let others = || item.people.iter().filter(|(who, _)| *who != person);
            let n = others().count() as f64;
            let agree = |with: Outcome| others().filter(|(_, of)| *of == with).count() as f64 / n;
            let judge = item.judge.iter().map(|of| agree(*of)).sum::<f64>();
            (n > 0.0).then(|| [judge / item.judge.len() as f64, agree(*said)])
        })
        .collect();
    let n = scores.len();
    if n < FEWEST_ITEMS {
        return None;
    }
    let wins = |won: &dyn Fn(f64, f64) -> bool| -> Vec<f64> {
        let won = scores.iter().map(|[judge, person]| won(*judge, *person));
        won.map(|won| f64::from(u8::from(won))).collect()
    };
    let judge_wins = wins(&|judge, person| judge >= person);
    let person_wins = wins(&|judge, person| person >= judge);
    let mean = |of: &[f64]| of.iter().sum::<f64>() / n as f64;
    let differences: Vec<f64> = person_wins
        .iter()
        .zip(&judge_wins)
        .map(|(person, judge)| person - judge)
        .collect();
    Some(ReplacedPerson {
        person,
        items: n,
        judge_wins: mean(&judge_wins),
        person_wins: mean(&person_wins),
        p: below(&differences, mean(&differences), epsilon)?,
        is_replaced: false,
    })
}

/// The one-sided p-value of the t test that the mean of values is at least `bound`.
fn below(values: &[f64], mean: f64, bound: f64) -> Option<f64> {
    let n = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let sd = (squares / (n - 1.0)).sqrt();
    if sd == 0.0 {
        return Some(f64::from(u8::from(mean >= bound)));
    }
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    Some(student.cdf((mean - bound) / (sd / n.sqrt())))
}

/// The hypotheses rejected by Benjamini & Yekutieli's (2001) procedure, as indices.
fn benjamini_yekutieli(people: &[ReplacedPerson]) -> Vec<usize> {
    let m = people.len();
    let harmonic: f64 = (1..=m).map(|at| (at as f64).recip()).sum();
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|a, b| people[*a].p.total_cmp(&people[*b].p));
    let bound = |rank: usize| rank as f64 * FALSE_DISCOVERIES / (m as f64 * harmonic);
    let last = (1..=m)
        .rev()
        .find(|rank| people[order[rank - 1]].p <= bound(*rank));
    order.truncate(last.unwrap_or(0));
    order
}

#[cfg(test)]
mod tests {
    use super::super::tests::rating;
    use super::*;
    use serde::Deserialize;

    const GOLDEN: &str = include_str!("../../../tests/golden/trust/meta.json");

    #[derive(Deserialize)]
    struct Golden {
        tolerance: f64,
        alt_test: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        epsilon: f64,
        rows: Vec<Row>,
        winning_rate: f64,
        advantage: f64,
        passed: bool,
        labels: Option<Vec<Vec<i64>>>,
    }

    #[derive(Deserialize)]
    struct Row {
        n: usize,
        rho_llm: f64,
        rho_human: f64,
        p: f64,
        won: bool,
    }

    fn outcome(label: i64) -> Outcome {
        match label {
            1 => Outcome::A,
            2 => Outcome::B,
            _ => Outcome::Tie,
        }
    }

    #[test]
    fn the_result_is_that_of_the_reference() {
        let golden: Golden = serde_json::from_str(GOLDEN).unwrap();
        let mut labels: Vec<Vec<i64>> = Vec::new();
        let mut checked = 0;
        // The cases with the first 60 battles; those without labels have the labels of the one
        // before.
        for case in &golden.alt_test[..4] {
            labels = case.labels.clone().unwrap_or(labels);
            let items: Vec<AltTestItem> = labels
                .iter()
                .map(|of| AltTestItem {
                    people: (0..3).map(|at| (at, outcome(of[at + 1]))).collect(),
                    judge: vec![outcome(of[4])],
                })
                .collect();
            let found = alt_test(&items, case.epsilon).unwrap();
            assert_eq!(found.passed, case.passed);
            let near = |found: f64, expected: f64| {
                assert!(
                    (found - expected).abs() < golden.tolerance,
                    "{found} {expected}"
                );
            };
            near(found.winning_rate, case.winning_rate);
            near(found.advantage, case.advantage);
            for (found, expected) in found.people.iter().zip(&case.rows) {
                near(found.judge_wins, expected.rho_llm);
                near(found.person_wins, expected.rho_human);
                near(found.p, expected.p);
                assert_eq!((found.items, found.is_replaced), (expected.n, expected.won));
                checked += 1;
            }
        }
        assert_eq!(checked, 12);
    }

    /// Items on which three people agree, except that person 0 is alone on every `of`-th one, and
    /// on which the judge says what the others do.
    fn items(count: usize, of: usize) -> Vec<AltTestItem> {
        (0..count)
            .map(|at| {
                let first = if at % of == 0 { Outcome::A } else { Outcome::B };
                AltTestItem {
                    people: vec![(0, first), (1, Outcome::B), (2, Outcome::B)],
                    judge: vec![Outcome::B],
                }
            })
            .collect()
    }

    #[test]
    fn a_judge_that_agrees_like_a_person_passes_and_few_items_are_refused() {
        let found = alt_test(&items(40, 4), EPSILON).unwrap();
        assert!(found.passed && found.people.iter().all(|of| of.is_replaced));
        assert_eq!(
            found.words(),
            "passes for 3 of 3 people (ω 1.00, ρ 1.00, ε 0.15, 40 random pairs)"
        );
        assert_eq!(
            alt_test(&items(29, 4), EPSILON),
            Err(TooFewItems { items: 29 })
        );
        let against: Vec<AltTestItem> = items(40, 4)
            .into_iter()
            .map(|item| AltTestItem {
                judge: vec![Outcome::Tie],
                ..item
            })
            .collect();
        let found = alt_test(&against, EPSILON).unwrap();
        assert!(!found.passed && found.winning_rate == 0.0);
    }

    #[test]
    fn only_one_random_pair_of_a_query_is_an_item() {
        let (mut ratings, mut people, mut random) = (Vec::new(), Vec::new(), HashSet::new());
        for query in 0..5 {
            for at in 0..4 {
                let pair = Pair::new(2 * at, 2 * at + 1).unwrap();
                ratings.push(Rating {
                    query,
                    ..rating(0, 2 * at, 2 * at + 1, 0.5)
                });
                people.extend((0..2).map(|person| PersonVote {
                    person,
                    query,
                    pair,
                    outcome: Outcome::B,
                }));
                // All pairs of query 4 were shown by priority.
                random.extend((query < 4 && at > 0).then_some((query, pair)));
            }
        }
        let found = alt_test_items(&ratings, &people, &random);
        assert_eq!(found.len(), 4);
        assert!(
            found
                .iter()
                .all(|item| item.people.len() == 2 && item.judge.len() == 1)
        );
        assert!(alt_test_items(&ratings, &people[..1], &random).is_empty());
        assert!(alt_test_items(&[], &people, &random).is_empty());
    }
}
