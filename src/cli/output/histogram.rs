//! Prints histograms of a metric as text.

use super::clean;
use crate::domain::metrics::MetricDistribution;
use crate::domain::number_words::fixed;

/// Maximum length of a bar in columns.
const LONGEST: usize = 40;

/// One histogram after the other, a line for each tenth of 0..=1.
pub(crate) fn histograms(distributions: &[MetricDistribution]) -> String {
    distributions.iter().map(histogram).collect()
}

fn histogram(of: &MetricDistribution) -> String {
    let counts: [usize; 10] = of.counts();
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let mean = of.mean().map_or("–".to_owned(), |mean| fixed(mean, 4));
    let mut text = format!(
        "\n{}: n {}, mean {mean}\n",
        clean(&of.name),
        of.values.len()
    );
    for (tenth, count) in counts.iter().enumerate() {
        let (low, high) = (tenth as f64 / 10.0, (tenth + 1) as f64 / 10.0);
        let bar = "█".repeat((count * LONGEST).div_ceil(most));
        let line = format!("{} to {}  {bar} {count}", fixed(low, 1), fixed(high, 1));
        text.push_str(&line);
        text.push('\n');
    }
    text
}
