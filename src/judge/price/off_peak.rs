//! Lower prices at off-peak times.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// Half hours of a day.
const SLOTS: u8 = 48;

/// Prices of calls at off-peak times, as in the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OffPeak {
    pub input: f64,
    pub output: f64,
    pub(super) cached: Option<f64>,
    windows: Vec<Window>,
}

/// Hours on some days of the week.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Window {
    hours_utc: HourRanges,
    weekdays: Vec<IsoWeekday>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum HourRanges {
    One(HourRange),
    Several(Vec<HourRange>),
}

/// A range such as `10:00-00:00`, in half hours from midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct HourRange {
    from: u8,
    to: u8,
}

/// A day of the week: 1 is Monday, 7 is Sunday.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
struct IsoWeekday(u8);

/// The off-peak half hours of a week in UTC: one bit mask per day, Monday first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OffPeakHours([u64; 7]);

impl OffPeak {
    pub(super) fn hours(&self) -> OffPeakHours {
        let mut hours = OffPeakHours::default();
        for window in &self.windows {
            let ranges = match &window.hours_utc {
                HourRanges::One(range) => std::slice::from_ref(range),
                HourRanges::Several(ranges) => ranges,
            };
            let mask = ranges
                .iter()
                .flat_map(|range| range.from..range.to)
                .fold(0, |mask, slot| mask | 1 << slot);
            for day in &window.weekdays {
                if let Some(day) = hours.0.get_mut(usize::from(day.0) - 1) {
                    *day |= mask;
                }
            }
        }
        hours
    }
}

impl OffPeakHours {
    pub(super) fn contain(&self, time: Timestamp) -> bool {
        let time = time.to_zoned(TimeZone::UTC);
        let day = time.weekday().to_monday_zero_offset();
        let slot = time.hour() * 2 + time.minute() / 30;
        usize::try_from(day)
            .ok()
            .and_then(|day| self.0.get(day))
            .is_some_and(|mask| mask >> slot & 1 == 1)
    }
}

impl TryFrom<String> for HourRange {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let slot = |time: &str| -> Option<u8> {
            let (hour, minute) = time.split_once(':')?;
            let hour = hour.parse::<u8>().ok().filter(|hour| *hour < 24)?;
            match minute {
                "00" => Some(2 * hour),
                "30" => Some(2 * hour + 1),
                _ => None,
            }
        };
        text.split_once('-')
            .and_then(|(from, to)| {
                let (from, to) = (slot(from)?, slot(to)?);
                // Midnight at the end is the end of the day.
                let to = if to == 0 { SLOTS } else { to };
                (from < to).then_some(Self { from, to })
            })
            .ok_or_else(|| {
                format!("{text:?}: expected full or half hours of one day, such as \"16:30-00:00\"")
            })
    }
}

impl From<HourRange> for String {
    fn from(range: HourRange) -> Self {
        let time = |slot: u8| format!("{:02}:{:02}", slot / 2 % 24, slot % 2 * 30);
        format!("{}-{}", time(range.from), time(range.to))
    }
}

impl TryFrom<u8> for IsoWeekday {
    type Error = String;

    fn try_from(day: u8) -> Result<Self, String> {
        if (1..=7).contains(&day) {
            Ok(Self(day))
        } else {
            Err(format!("{day}: expected a weekday from 1 (Monday) to 7"))
        }
    }
}

impl From<IsoWeekday> for u8 {
    fn from(day: IsoWeekday) -> Self {
        day.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(hours: serde_json::Value, weekdays: serde_json::Value) -> Result<OffPeak, String> {
        let windows = json!([{"hours_utc": hours, "weekdays": weekdays}]);
        serde_json::from_value(json!({"input": 1.0, "output": 2.0, "windows": windows}))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn hours_of_the_week_are_in_utc() {
        let peak = parsed(json!(["00:00-01:00", "10:30-00:00"]), json!([1, 2])).unwrap();
        let hours = peak.hours();
        // 23 November 2026 is a Monday.
        for (time, off_peak) in [
            ("2026-11-23T00:59:59Z", true),
            ("2026-11-23T01:00:00Z", false),
            ("2026-11-23T10:29:59Z", false),
            ("2026-11-23T10:30:00Z", true),
            ("2026-11-24T23:59:59Z", true),
            ("2026-11-25T00:00:00Z", false),
            ("2026-11-23T11:00:00+01:00", false),
        ] {
            assert_eq!(hours.contain(time.parse().unwrap()), off_peak, "{time}");
        }
        let whole_day = parsed(json!("00:00-00:00"), json!([7])).unwrap().hours();
        assert!(whole_day.contain("2026-11-29T12:00:00Z".parse().unwrap()));
        assert!(!whole_day.contain("2026-11-28T23:59:59Z".parse().unwrap()));
    }

    #[test]
    fn invalid_windows_are_refused_and_valid_ones_written_back() {
        for (hours, weekdays) in [
            (json!("24:00-01:00"), json!([1])),
            (json!("00:15-01:00"), json!([1])),
            (json!("10:00-09:00"), json!([1])),
            (json!("01:00-02:00"), json!([0])),
            (json!("01:00-02:00"), json!([8])),
        ] {
            assert!(parsed(hours.clone(), weekdays).is_err(), "{hours}");
        }
        let range = HourRange::try_from("16:30-00:00".to_owned()).unwrap();
        assert_eq!(String::from(range), "16:30-00:00");
    }
}
