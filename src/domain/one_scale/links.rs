//! Links: battles of documents of different queries, each for its own query, and the offsets that they tell.

use crate::domain::rating::{Observation, RatingError, RatingModel, RatingOptions, fit};
use crate::domain::sampling::{SeededRng, plan};

/// The precision of the prior of an offset, in units of zELO. Shrinking further made few links worse (SCIENCE2 §4).
const PRIOR: f64 = 0.05;

/// Two documents of different queries, each as (query, document).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub a: (usize, usize),
    pub b: (usize, usize),
}

/// A link that was asked about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnsweredLink {
    pub link: Link,
    /// The share of the answers, in 0..=1, by which `b` serves its query better.
    pub share: f64,
}

/// The links of one round, by seed: every query takes part in two, where there are three queries or more.
///
/// A link's first document is drawn at random; the second is the one whose absolute score, as far as it is known from
/// `offsets`, is nearest. The best documents of two queries never meet: both owe their place to luck too, which would
/// draw all queries together.
pub fn choose_links(scores: &[Vec<f64>], offsets: &[f64], seed: u64, round: usize) -> Vec<Link> {
    let offset = |query: usize| offsets.get(query).copied().unwrap_or(0.0);
    let pairs = plan(seed, "links", scores.len(), round + 1);
    let links = pairs.iter().filter(|pair| pair.cycle == round);
    let links = links.filter_map(|planned| {
        let (first, second) = (planned.pair.low(), planned.pair.high());
        let (own, other) = (scores.get(first)?, scores.get(second)?);
        if own.is_empty() || other.len() < 2 {
            return None;
        }
        let names = [first, second, round].map(|number| number.to_string());
        let [x, y, z] = names.each_ref().map(String::as_str);
        let at = SeededRng::new(seed, &["link", x, y, z]).below(own.len());
        let absolute = own.get(at)? + offset(first);
        let top = |scores: &[f64]| {
            let numbered = scores.iter().enumerate();
            numbered.max_by(|x, y| x.1.total_cmp(y.1)).map(|(at, _)| at)
        };
        let barred = (top(own) == Some(at)).then(|| top(other)).flatten();
        let distance = |score: f64| (score + offset(second) - absolute).abs();
        let nearest = other
            .iter()
            .enumerate()
            .filter(|(document, _)| Some(*document) != barred)
            .min_by(|x, y| distance(*x.1).total_cmp(&distance(*y.1)))?
            .0;
        Some(Link {
            a: (first, at),
            b: (second, nearest),
        })
    });
    links.collect()
}

/// Offsets of queries from links: Bradley–Terry over the queries, with the gap of the two zELOs as a known offset
/// (SCIENCE §8). Their mean is 0; a query without links has 0.
///
/// # Errors
/// Scores or shares that are not finite.
pub fn fit_links(scores: &[Vec<f64>], answers: &[AnsweredLink]) -> Result<Vec<f64>, RatingError> {
    let score = |(query, document): (usize, usize)| {
        let own = scores.get(query).and_then(|own| own.get(document));
        own.copied().unwrap_or(0.0)
    };
    let observed = answers.iter().map(|answer| {
        let Link { a, b } = answer.link;
        Observation {
            offset: score(b) - score(a),
            ..Observation::new(a.0, b.0, answer.share, 1.0)
        }
    });
    let observed: Vec<Observation> = observed.collect();
    let options = RatingOptions {
        model: RatingModel::Map,
        lambda: PRIOR,
    };
    Ok(fit(scores.len(), &observed, &options, None)?.scores)
}
