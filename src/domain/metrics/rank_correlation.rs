//! Measures the similarity of two rankings of the same documents.

/// Kendall's τ-b of two lists of scores, in −1..=1: concordant minus discordant pairs over the
/// geometric mean of the numbers of untied pairs in each (Kendall 1945). Takes quadratic time.
///
/// `None` for lists of different lengths, for a list whose values are all equal, and if a value is
/// not a number.
pub fn kendall_tau_b(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() || x.iter().chain(y).any(|value| value.is_nan()) {
        return None;
    }
    let (mut agree, mut untied_x, mut untied_y) = (0i64, 0i64, 0i64);
    for (at, (xi, yi)) in x.iter().zip(y).enumerate() {
        for (xj, yj) in x.iter().zip(y).take(at) {
            let (dx, dy) = (sign(xi, xj), sign(yi, yj));
            agree += dx * dy;
            untied_x += dx * dx;
            untied_y += dy * dy;
        }
    }
    let tau = agree as f64 / (untied_x as f64 * untied_y as f64).sqrt();
    tau.is_finite().then(|| tau.clamp(-1.0, 1.0))
}

fn sign(x: &f64, y: &f64) -> i64 {
    i64::from(x > y) - i64::from(x < y)
}
