//! The effect of rulings on labels and rankings, as text.

use crate::app::adjudication::RulingEffect;
use crate::app::text_format::{UNTESTED, counted};
use crate::cli::output::{self, clean, or_dash};
use crate::domain::adjudication::Remeasured;
use crate::domain::number_words::{fixed, signed};

/// The effective rulings, and each ranking before and after.
pub(super) fn describe(effect: &RulingEffect) -> String {
    let mut text = format!(
        "{} applied ({}): {} changed; people differ on {}\n",
        counted(effect.corrections.len(), "ruling"),
        effect.rule,
        counted(effect.changed(), "label"),
        counted(effect.conflicts, "document"),
    );
    for (name, rows) in &effect.rankings {
        let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
        let header = [
            &*clean(name),
            ">before",
            ">after",
            ">difference",
            "95 % interval",
            ">queries",
        ];
        text.push_str(&output::table(&header, &cells));
    }
    if !effect.rankings.is_empty() {
        text.push_str(&format!("{UNTESTED}\n"));
    }
    text
}

fn cells(row: &Remeasured) -> Vec<String> {
    let of = row.difference;
    vec![
        row.metric.to_string(),
        or_dash(row.before, |before| fixed(before.mean, 4)),
        or_dash(row.after, |after| fixed(after.mean, 4)),
        or_dash(of, |of| signed(of.mean_difference, 4)),
        or_dash(of.and_then(|of| of.interval), |(low, high)| {
            format!("{} to {}", signed(low, 4), signed(high, 4))
        }),
        or_dash(of, |of| of.n.to_string()),
    ]
}
