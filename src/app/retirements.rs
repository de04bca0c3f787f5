//! Models that their providers retire.

use crate::client::today;
use crate::domain::number_words::counted;
use crate::domain::sanitize;
use crate::judge::{Judge, JudgeEnsemble};
use jiff::civil::Date;

/// A model is warned about from this many days before it is retired.
const WARNED_DAYS: i64 = 365;

/// The warnings about models of these judges that are retired or soon will be.
pub fn retirements(ensemble: &JudgeEnsemble) -> Vec<String> {
    ensemble
        .iter()
        .filter_map(|judge| retirement_of(judge.as_ref()))
        .collect()
}

/// The warning about the model of a judge, if it is retired or soon will be.
pub fn retirement_of(judge: &dyn Judge) -> Option<String> {
    let spec = judge.spec();
    retirement(&spec.name, &spec.model, judge.retires()?, today())
}

/// The warning about a model, on a day.
pub fn retirement(judge: &str, model: &str, retires: Date, today: Date) -> Option<String> {
    let days = days_between(today, retires);
    let when = match days {
        ..=-1 => format!("was retired on {retires}"),
        0 => format!("is retired on {retires}, today"),
        1..=WARNED_DAYS => {
            let left = usize::try_from(days).unwrap_or_default();
            format!("will be retired on {retires}, in {}", counted(left, "day"))
        }
        _ => return None,
    };
    Some(format!(
        "{} (judge {}) {when}; a replacement is a different judge, whose votes must be paid \
         for again",
        sanitize::line(model),
        sanitize::line(judge)
    ))
}

/// Days from one day to another, negative if the other is earlier.
pub fn days_between(from: Date, to: Date) -> i64 {
    i64::from(from.until(to).map_or(0, |span| span.get_days()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn a_model_is_warned_about_before_and_after_it_is_retired() {
        let today = date(2026, 11, 26);
        let words = |retires| retirement("gpt", "gpt-4.1", retires, today);
        let soon = words(date(2027, 1, 14)).unwrap();
        assert!(soon.contains("gpt-4.1 (judge gpt) will be retired on 2027-01-14, in 49 days"));
        assert!(words(date(2026, 11, 27)).unwrap().contains("in 1 day;"));
        assert!(
            words(today)
                .unwrap()
                .contains("is retired on 2026-11-26, today")
        );
        assert!(
            words(date(2026, 10, 23))
                .unwrap()
                .contains("was retired on 2026-10-23")
        );
        assert_eq!(words(date(2028, 3, 11)), None);
    }
}
