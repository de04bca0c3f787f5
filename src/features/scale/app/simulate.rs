//! Simulates the accuracy of anchors and links.

use crate::features::scale::domain::{ScaleDesign, ScaleWorld, simulated_scale};

/// A design for estimating offsets, in simulated worlds whose queries differ by half as much, or as
/// much, as the documents within a query.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedDesign {
    pub name: &'static str,
    /// Judge calls per query; a link is shared by two queries. `None` if nobody can be asked.
    pub calls: Option<usize>,
    /// Mean and standard error of the correlation with the truth over all documents, for query
    /// levels that vary half as much as documents within a query, and as much.
    pub correlations: [Option<(f64, Option<f64>)>; 2],
}

/// Spread of the query levels relative to the spread within a query.
const LEVELS: [f64; 2] = [0.5, 1.0];
/// Queries per world, and documents per query.
const QUERIES: usize = 60;
const DOCUMENTS: usize = 30;

const fn anchors(count: usize, judges: usize) -> ScaleDesign {
    ScaleDesign::Anchors { count, judges }
}

/// The compared designs: name, calls per query, design, and drift of the judge of the anchors.
const DESIGNS: [(&str, Option<usize>, ScaleDesign, f64); 10] = [
    ("none", Some(0), ScaleDesign::None, 0.0),
    ("3 anchors", Some(3), anchors(3, 1), 0.0),
    ("5 anchors", Some(5), anchors(5, 1), 0.0),
    ("3 anchors × 3 judges", Some(9), anchors(3, 3), 0.0),
    ("5 anchors, drift .5", Some(5), anchors(5, 1), 0.5),
    ("5 anchors, drift 1", Some(5), anchors(5, 1), 1.0),
    ("2 links", Some(3), ScaleDesign::Links(2), 0.0),
    ("4 links", Some(6), ScaleDesign::Links(4), 0.0),
    ("8 links", Some(12), ScaleDesign::Links(8), 0.0),
    ("true levels", None, ScaleDesign::Truth, 0.0),
];

/// Simulates every design in `worlds` worlds, and reports after each design.
pub fn simulate_designs(
    worlds: usize,
    seed: u64,
    mut told: impl FnMut(&SimulatedDesign),
) -> Vec<SimulatedDesign> {
    let mut found = Vec::new();
    for (name, calls, design, drift) in DESIGNS {
        let one = SimulatedDesign {
            name,
            calls,
            correlations: LEVELS.map(|levels| correlation(design, drift, levels, worlds, seed)),
        };
        told(&one);
        found.push(one);
    }
    found
}

/// The mean correlation with the truth over `worlds` worlds, and its standard error.
fn correlation(
    design: ScaleDesign,
    drift: f64,
    levels: f64,
    worlds: usize,
    seed: u64,
) -> Option<(f64, Option<f64>)> {
    let values: Vec<f64> = (0..worlds)
        .filter_map(|world| {
            let world = ScaleWorld {
                queries: QUERIES,
                documents: DOCUMENTS,
                levels,
                drift,
                seed: seed.wrapping_add(world as u64),
            };
            simulated_scale(&world, design)
        })
        .collect();
    mean(&values)
}

fn mean(values: &[f64]) -> Option<(f64, Option<f64>)> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    let error = (values.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt());
    (!values.is_empty()).then_some((mean, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The correlation of a design with the truth over `worlds` worlds, for query levels that vary
    /// half as much as documents within a query, and as much.
    fn correlations(design: ScaleDesign, worlds: usize) -> [f64; 2] {
        LEVELS.map(|levels| {
            let found = correlation(design, 0.0, levels, worlds, 0);
            found.unwrap().0
        })
    }

    /// Results of an independent simulation of the same designs (three worlds).
    #[rstest::rstest]
    #[case(anchors(5, 1), [0.918, 0.928])]
    #[case(ScaleDesign::Links(4), [0.891, 0.925])]
    #[case(ScaleDesign::Links(8), [0.930, 0.947])]
    fn a_design_is_worth_what_the_reference_says(
        #[case] design: ScaleDesign,
        #[case] expected: [f64; 2],
    ) {
        let found = correlations(design, 6);
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() <= 0.01,
                "{design:?}: {found} for {expected}"
            );
        }
    }
}
