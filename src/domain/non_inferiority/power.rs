//! Computes how often the tests decide, exactly, by summing over all possible counts of pairs.

use super::{EarlyTest, GateDecision, LEVEL, PairedCounts};
use std::collections::HashMap;

/// Less probable counts are left out.
const NEGLIGIBLE: f64 = 1e-11;

/// Two judges: the share of pairs about which exactly one is right, the gain of the new judge, and
/// the share about which the old one is right.
#[derive(Clone, Copy)]
pub(crate) struct Judges {
    pub(crate) discordant: f64,
    pub(crate) gain: f64,
    pub(crate) accuracy: f64,
}

impl Judges {
    /// The probabilities that only the new judge is right, and only the old one.
    fn only(self) -> [f64; 2] {
        [self.gain, -self.gain].map(|gain| (self.discordant + gain) / 2.0)
    }
}

/// Binomial probabilities of 0..=n.
fn binomial(n: usize, p: f64) -> Vec<f64> {
    let mut row = vec![1.0];
    for _ in 0..n {
        let mut next = vec![0.0; row.len() + 1];
        for (k, of) in row.iter().enumerate() {
            next[k] += of * (1.0 - p);
            next[k + 1] += of * p;
        }
        row = next;
    }
    row
}

/// The probability that the test of `n` pairs of different queries lets the new judge pass.
pub(crate) fn fixed_passes(n: usize, judges: Judges, margin: f64) -> f64 {
    let [new, old] = judges.only();
    let both = judges.accuracy - old;
    let mut passes = 0.0;
    for (differ, p_differ) in binomial(n, new + old).into_iter().enumerate() {
        if p_differ < NEGLIGIBLE {
            continue;
        }
        let of_same = binomial(n - differ, both / (1.0 - new - old));
        for (only_new, p_new) in binomial(differ, new / (new + old)).into_iter().enumerate() {
            if p_differ * p_new < NEGLIGIBLE {
                continue;
            }
            for (both_right, p_both) in of_same.iter().enumerate() {
                let p = p_differ * p_new * p_both;
                let counts = PairedCounts {
                    both_right,
                    only_new,
                    only_old: differ - only_new,
                    both_wrong: n - differ - both_right,
                };
                if p >= NEGLIGIBLE && counts.interval(LEVEL).unwrap().low > -margin {
                    passes += p;
                }
            }
        }
    }
    passes
}

/// The probability that the early test has let the new judge pass after at most each of these
/// numbers of pairs, which ascend.
pub(crate) fn early_passes(at: &[usize], judges: Judges, margin: f64) -> Vec<f64> {
    let [new, old] = judges.only();
    let steps = [(1.0, new), (-1.0, old), (0.0, 1.0 - new - old)];
    let mut open: HashMap<(usize, usize), (f64, EarlyTest)> =
        HashMap::from([((0, 0), (1.0, EarlyTest::new(margin)))]);
    let (mut passed, mut found) = (0.0, Vec::new());
    for n in 1..=at.last().copied().unwrap_or_default() {
        let mut next: HashMap<(usize, usize), (f64, EarlyTest)> = HashMap::new();
        for ((wins, losses), (p, test)) in open {
            for (d, chance) in steps {
                let state = (wins + usize::from(d > 0.0), losses + usize::from(d < 0.0));
                if p * chance < NEGLIGIBLE {
                    continue;
                }
                // The capital depends on the counts alone, not on the order of the pairs.
                let entry = next.entry(state).or_insert_with(|| {
                    let mut test = test.clone();
                    test.add(d, d);
                    (0.0, test)
                });
                entry.0 += p * chance;
            }
        }
        next.retain(|_, (p, test)| {
            if test.decision() == GateDecision::Pass {
                passed += *p;
            }
            test.decision() == GateDecision::Undecided
        });
        open = next;
        if at.contains(&n) {
            found.push(passed);
        }
    }
    found
}

/// The accuracy of the old judge in the table; the result hardly depends on it.
const ACCURACY: f64 = 0.8;

/// The table of the command's help: the chance to pass at a margin of .10.
pub(crate) fn table() -> String {
    let mut lines = vec![
        "  judges differ on   loss   100 pairs   200 pairs   --early: 100   200   300".to_owned(),
    ];
    for discordant in [0.1, 0.2, 0.3] {
        for gain in [0.0, -0.05, -0.1] {
            let judges = Judges {
                discordant,
                gain,
                accuracy: ACCURACY,
            };
            let fixed = [100, 200].map(|n| percent(fixed_passes(n, judges, 0.1)));
            let early = early_passes(&[100, 200, 300], judges, 0.1);
            let early: Vec<String> = early.into_iter().map(percent).collect();
            lines.push(format!(
                "  {:<16}   {:>4}   {:>9}   {:>9}   {:>12}   {:>3}   {:>3}",
                format!("{:.0} %", 100.0 * discordant),
                if gain == 0.0 {
                    "0".to_owned()
                } else {
                    format!(".{:02.0}", -100.0 * gain)
                },
                fixed[0],
                fixed[1],
                early[0],
                early[1],
                early[2],
            ));
        }
    }
    lines.join("\n")
}

/// A chance in percent, which is never rounded to certainty.
fn percent(chance: f64) -> String {
    crate::domain::number_words::probability(chance).replace(" %", "%")
}

#[test]
fn an_equal_judge_passes_and_a_bad_one_does_not() {
    let judges = |discordant, gain| Judges {
        discordant,
        gain,
        accuracy: ACCURACY,
    };
    for (discordant, by_100, by_200) in [
        (0.1, 0.66..=0.69, 0.93..=0.95),
        (0.2, 0.39..=0.43, 0.70..=0.73),
    ] {
        let found = early_passes(&[100, 200], judges(discordant, 0.0), 0.1);
        assert!(
            by_100.contains(&found[0]) && by_200.contains(&found[1]),
            "{found:?}"
        );
    }
    for discordant in [0.1, 0.2, 0.3] {
        let found = early_passes(&[300], judges(discordant, -0.1), 0.1);
        assert!((0.005..=0.05).contains(&found[0]), "{found:?}");
    }
    for (discordant, expected) in [(0.1, 0.91), (0.2, 0.71)] {
        let found = fixed_passes(100, judges(discordant, 0.0), 0.1);
        assert!((found - expected).abs() < 0.005, "{found}");
        let found = fixed_passes(100, judges(discordant, -0.1), 0.1);
        assert!((0.04..=0.07).contains(&found), "{found}");
    }
}
