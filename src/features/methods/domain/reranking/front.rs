//! Computes Pareto fronts of cost and quality.

/// Which points, each a cost and a quality, are not dominated: no other point has at most its cost
/// and at least its quality, with one of them better.
pub fn pareto_front(points: &[(f64, f64)]) -> Vec<bool> {
    let beats = |(cost, quality): (f64, f64), (other_cost, other_quality): (f64, f64)| {
        cost <= other_cost
            && quality >= other_quality
            && (cost < other_cost || quality > other_quality)
    };
    let on_front = points
        .iter()
        .map(|point| !points.iter().any(|other| beats(*other, *point)));
    on_front.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_what_nothing_beats() {
        let points = [
            (0.0, 0.4),
            (1.0, 0.8),
            (8.0, 0.8),
            (2.0, 0.7),
            (40.0, 0.9),
            (1.0, 0.8),
        ];
        let front = [true, true, false, false, true, true];
        assert_eq!(pareto_front(&points), front);
        assert!(pareto_front(&[]).is_empty());
    }
}
